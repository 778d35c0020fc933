"""Whatever is told in whatever order, all can be judged, and the queue of problems ends where a fresh look does."""

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.app.triage.queue import Queue
from delegtop.clock import MINUTE, Millis
from delegtop.diagnosis import recovery
from delegtop.diagnosis.problems import Problem, held_up, problem
from delegtop.diagnosis.verdicts import Kind, root_blocker, verdict
from delegtop.model.events import Ended, Ending, Event, Heard, Noted, Outcome, Phase, Resumed, Started
from delegtop.model.forest import Forest
from delegtop.origin import Origin

T0 = 1_700_000_000_000
PLACE = Origin("log", 1, 0)
ids = st.integers(0, 7).map("s{}".format)
moments = st.integers(0, 90).map(lambda minute: Millis(T0 + minute * MINUTE))
products = st.sampled_from([None, "codex", "claude-code", "proofchecker"])
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Started, ids, st.none() | moments, st.just(PLACE), agent=st.sampled_from(["a", "b", "planner"]),
        parent=st.none() | ids, task=st.sampled_from([None, "7"]), product=products,
        timeout=st.sampled_from([None, MINUTE, 30 * MINUTE]),
    ),
    st.builds(Heard, ids, st.none() | moments, st.just(PLACE), tool=st.sampled_from([None, "bash"]),
              phase=st.none() | st.sampled_from(Phase)),
    st.builds(Ended, ids, st.none() | moments, st.just(PLACE), st.sampled_from(Outcome), st.sampled_from(Ending)),
    st.builds(Noted, ids, moments, st.just(PLACE), st.sampled_from(["loop", "review", "salvage"]),
              st.sampled_from(["x", ""])),
    st.builds(Resumed, ids, moments, st.just(PLACE)),
)  # fmt: skip


def fresh(forest: Forest) -> list[Problem]:
    found = (problem(forest, handle, forest.now) for handle in range(len(forest)))
    return sorted((each for each in found if each is not None), key=lambda each: each.key)


@given(st.lists(st.tuples(st.lists(events, max_size=12), st.integers(0, 3_000)), max_size=6))
@settings(max_examples=200)
def test_the_queue_is_what_a_fresh_look_finds(batches: list[tuple[list[Event], int]]) -> None:
    forest, now = Forest(), T0
    queue = Queue(forest)
    with patch("delegtop.app.triage.queue._REST", -1.0):
        for told, minutes in batches:
            forest.apply(told)
            now += max(minutes, 1) * MINUTE
            forest.advance(Millis(now))
            queue.settle(60)
        assert [each.handle for each in queue.problems()] == [each.handle for each in fresh(forest)]


@given(st.lists(events, max_size=40), st.integers(0, 3_000))
@settings(max_examples=200)
def test_all_can_be_judged_and_a_blocker_is_at_the_end_of_its_path(told: list[Event], minutes: int) -> None:
    forest = Forest()
    forest.apply(told)
    forest.advance(Millis(T0 + minutes * MINUTE))
    for handle in range(len(forest)):
        found = verdict(forest, handle, forest.now)
        if found is not None:
            assert found.message
            assert (found.waits_on is None) == (found.kind is not Kind.WAITING_ON_CHILD)
        blocking = root_blocker(forest, handle)
        assert blocking is None or forest.blocker(blocking) is None
        for above in held_up(forest, handle):
            assert forest.blocker(above) in (handle, None)
        facts = forest.delegation(handle)
        recovery.steps(forest, handle, found.kind if found else None, (), facts)
        recovery.salvage(facts)
