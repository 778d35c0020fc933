"""Whoever is in trouble, comes out of it, ends or moves: all places name the same child that a parent waits on, the one
that ranks first of all it waits for and that are at least likely in trouble."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.telling import at, ended, forest_at, heard, place, started

from delegtop.diagnosis.assessment import PRESSING, assess
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.path_ends import JudgedEnds
from delegtop.diagnosis.verdicts import Certainty
from delegtop.model.events import Event, Noted, Outcome, Phase, Resumed
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle

IDS = [f"s{number}" for number in range(8)]
ids = st.sampled_from(IDS)
tops = st.lists(st.integers(0, 6), min_size=7, max_size=7)
"""Below whom each but the first begins, counted from it upwards."""
ways = ("asks", "answer", "model", "works", "loops", "stops looping", "review", "ends", "goes on", "moves")
steps = st.lists(st.tuples(ids, st.sampled_from(ways), ids, st.sampled_from([0, 0, 0.5, 7, 12])), max_size=25)


def told(id: str, way: str, other: str, minute: float) -> list[Event]:
    phases = {"asks": Phase.PERMISSION, "answer": Phase.ANSWER, "model": Phase.MODEL}
    match way:
        case "works":
            return [heard(id, minute, Phase.TOOL, "bash")]
        case "loops" | "stops looping" | "review":
            kind = "review" if way == "review" else "loop"
            return [Noted(id, at(minute), place("notes"), kind, "" if way.startswith("stops") else "round and round")]
        case "ends":
            return [ended(id, minute, Outcome.FAILED if other < "s4" else Outcome.COMPLETED)]
        case "goes on":
            return [Resumed(id, at(minute), place()), heard(id, minute)]
        case "moves":
            return [started(id, -1, parent=other)]
    return [heard(id, minute, phases[way])]


def first_by_hand(forest: Forest, handle: Handle, found: Assessments) -> Handle | None:
    """Of all that is waited for below it, what ranks first in the order of looking, if something presses and is more
    than possible."""
    pending, first = [handle], None
    for each in pending:
        pending += [child for child in forest.offspring(each) if forest.state(child) in ACTIVE]
    for each in pending[1:]:
        known = found.of(each)
        presses = known.urgency in PRESSING and known.certainty is not Certainty.POSSIBLE
        if presses and (first is None or known.key < first):
            first = known.key
    return forest.blocker(handle) if first is None else first[-1]


@settings(max_examples=300, deadline=None)
@given(tops, steps)
def test_all_name_the_one_that_ranks_first(tops: list[int], steps: list[tuple[str, str, str, float]]) -> None:
    forest = Forest()
    parents = [IDS[number - min(up, number - 1) - 1] for number, up in enumerate(tops, 1)]
    events: list[Event] = [started(IDS[0]), *(started(i, parent=p) for i, p in zip(IDS[1:], parents, strict=True))]
    minute: float = 1
    forest.apply(events)
    forest.advance(at(minute))
    kept = Assessments(forest)
    kept.update()
    for id, way, other, pause in steps:
        events += (more := told(id, way, other, minute))
        change = forest.apply(more)
        minute += pause
        lives = change.lives.union(change.added, forest.advance(at(minute)))
        kept.touch(change.touched, lives)
        kept.update()
        fresh = forest_at(at(minute), events)
        judged = JudgedEnds(fresh)
        for handle in range(len(forest)):
            end = kept.end_of_path(handle)
            assert end == judged.of(handle) == first_by_hand(forest, handle, kept)
            found = assess(Case(fresh, handle, ends=judged))
            assert (kept.of(handle).key, kept.of(handle).blocks) == (found.key, found.blocks)
            waiting = forest.state(handle) in ACTIVE
            if waiting and end is not None and kept.of(end).problem:
                assert handle in kept.of(end).blocks
