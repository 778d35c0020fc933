"""Whatever is told in whatever order, all can be judged, and who holds up others is at the end of their path."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests import judging
from tests.telling import forest_at

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis import recovery
from delegtop.diagnosis.assessment import Urgency
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.path_ends import JudgedEnds
from delegtop.diagnosis.verdicts import Kind
from delegtop.model.events import Ended, Ending, Event, Heard, Noted, Outcome, Phase, Resumed, Started
from delegtop.model.states import OPEN

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


@given(st.lists(events, max_size=40), st.integers(0, 3_000))
@settings(max_examples=100, deadline=None)
def test_all_can_be_judged_and_who_holds_up_others_is_at_the_end_of_their_path(told: list[Event], minutes: int) -> None:
    forest = forest_at(T0 + minutes * MINUTE, told)
    ends = JudgedEnds(forest)
    for handle in range(len(forest)):
        verdict = judging.verdict(forest, handle)
        assert verdict is None or forest.state(handle) in OPEN
        if verdict is not None:
            assert judging.message(forest, verdict)
            assert verdict.waits_on == ends.of(handle) or verdict.waits_on is None
            assert verdict.waits_on is not None or verdict.kind is not Kind.WAITING_ON_CHILD
        found = judging.assessed(forest, handle)
        assert found.sentence(forest.shown_at)
        assert len(found.short) <= 20
        for above in found.blocks:
            assert ends.of(above) in (handle, None)
        assert found.urgency is not Urgency.AT_WORK or not found.blocks
        case = Case(forest, handle)
        assert all(step.words for step in recovery.todo(case, judging.found(forest, handle)))
        recovery.salvage(case.facts)
