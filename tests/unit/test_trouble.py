"""Trouble is kept up by pieces and always equals what a look at everything would find."""

from hypothesis import given
from hypothesis import strategies as st

from delegtop.app.trouble import Trouble
from delegtop.clock import Millis
from delegtop.model.delegation import PROBLEMS, SEVERITY
from delegtop.model.events import Ended, Ending, Event, Heard, Noted, Outcome, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.origin import Origin

PLACE = Origin("x", 1, 0)
ids = st.integers(0, 12)
starts = st.tuples(ids, st.none() | ids).map(
    lambda pair: Started(
        f"s{pair[0]}", Millis(1_000 + pair[0]), PLACE, agent="a", parent=None if pair[1] is None else f"s{pair[1]}"
    )
)
ends = st.tuples(ids, st.sampled_from(list(Outcome))).map(
    lambda pair: Ended(f"s{pair[0]}", Millis(5_000), PLACE, pair[1], Ending.RETURN)
)
reviews = st.tuples(ids, st.sampled_from(["look", ""]), st.integers(5_000, 5_900)).map(
    lambda note: Noted(f"s{note[0]}", Millis(note[2]), PLACE, "review", note[1])
)


def is_problem(forest: Forest, handle: Handle) -> bool:
    return forest.needs_review(handle) or forest.state(handle) in PROBLEMS


def worst_of(forest: Forest, handle: Handle) -> int:
    """By looking at the whole subtree."""
    found = -1 if forest.needs_review(handle) else SEVERITY[forest.state(handle)]
    for child in forest.children(handle):
        worst = worst_of(forest, child)
        found = min(found, worst) if worst <= max(SEVERITY[state] for state in PROBLEMS) else found
    return found


@given(st.lists(st.lists(starts | ends | reviews, max_size=6), max_size=8))
def test_after_settling_every_rank_is_the_worst_of_its_subtree(batches: list[list[Event]]) -> None:
    forest = Forest()
    trouble = Trouble(forest)
    trouble.rank_subtrees(True)
    for events in batches:
        change = forest.apply(events)
        later = forest.advance(Millis(6_000))
        trouble.update(change.touched | later, moved=bool(change.moved or change.added))
    trouble.settle()
    handles = range(len(forest))
    assert {handle for handle in handles if is_problem(forest, handle)} == trouble.problems.keys()
    assert [trouble.rank(handle) for handle in handles] == [worst_of(forest, handle) for handle in handles]


def test_one_that_waits_for_a_person_is_a_problem_before_all_others() -> None:
    forest = Forest()
    place = Origin("log", 1, 0)
    forest.apply([
        Started("late", Millis(0), place, timeout=1_000),
        Started("asks", Millis(0), place),
        Heard("asks", Millis(60_000), place, phase=Phase.PERMISSION),
    ])  # fmt: skip
    forest.advance(Millis(61_000))
    trouble = Trouble(forest)
    trouble.update([0, 1])
    assert sorted(trouble.problems, key=trouble.rank) == [1, 0]
