"""Of the signs of life of a session only the last are kept, and what is left of the others."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.feed.bounded_facts import bounded
from delegtop.feed.kept_session import fields_of, has_secret
from delegtop.feed.session_gathering import LastSigns, SessionGathering
from delegtop.model.events import Ended, Ending, Fault, Heard, Outcome, Phase, Report, Resumed
from delegtop.model.store.ledger import Ledger
from delegtop.model.usage import Usage

_SECRET = "ghp_" + "Ab1" * 12
few = st.integers(0, 3)
usages = st.lists(st.builds(Usage, st.sampled_from("mn"), few, few), max_size=2, unique_by=lambda each: each.account)
signs = st.builds(
    Heard,
    st.sampled_from("ab"),
    st.none() | st.integers(0, 200_000).map(Millis),
    st.builds(Origin, st.sampled_from("xy"), few, few),
    st.sampled_from([None, "builds", "reads"]),
    tokens=st.none() | few,
    cost=st.none() | few.map(float),
    phase=st.sampled_from([None, Phase.TOOL]),
    due=st.none() | few.map(Millis),
    used=st.none() | usages.map(tuple),
    whole=st.booleans(),
)


_PLACE = Origin("y", 0, 0)


@settings(max_examples=60)
@given(st.lists(st.lists(signs, max_size=8), max_size=4))
@example(
    [
        [
            Heard("a", None, Origin("x", 0, 0)),
            Heard("a", Millis(0), _PLACE),
            Heard("a", Millis(0), _PLACE, phase=Phase.TOOL),
        ]
    ]
)
def test_what_is_kept_of_them_is_what_a_ledger_makes_of_all(batches: list[list[Heard]]) -> None:
    kept, all_of_them = LastSigns(), Ledger()
    for batch in batches:
        kept.take(batch)
        all_of_them.apply(batch, set(), set(), set(), set())
    folded = Ledger()
    folded.apply(kept.all(), set(), set(), set(), set())
    expected = {all_of_them.ids[handle]: all_of_them.last_sign(handle) for handle in all_of_them}
    assert {folded.ids[handle]: folded.last_sign(handle) for handle in folded} == expected
    assert kept.minutes == {*all_of_them.pulse.minutes}


def test_calls_are_kept_under_the_names_that_events_have() -> None:
    """However long those are that a log tells."""
    long, gathered = "x" * 5_000, SessionGathering()
    heard = gathered.calls.of("log.jsonl", long)
    heard.hear(Phase.TOOL, long, None, Millis(1_000), Millis(1_000), 0)
    heard.hear(Phase.MODEL, None, None, Millis(4_000), None, 0)
    (told,) = gathered.all_calls()
    event = bounded(Heard(long, Millis(1_000), Origin("log.jsonl", 1, 0), tool=long))
    assert (told.id, told.spreads[0].tool) == (event.id, event.tool)
    assert len(told.id) < len(long)


def test_a_secret_is_found_wherever_in_an_event_it_stands() -> None:
    """Also where it is all that the event says."""
    where, at = Origin("log.jsonl", 1, 0), Millis(1_000)
    for event in (
        Resumed(_SECRET, at, where),
        Heard("a", at, where, doing=f"uses {_SECRET}"),
        Heard("a", at, where, used=(Usage(_SECRET, 1, 2),)),
        Ended("a", at, where, Outcome.FAILED, Ending.RETURN, Report(errors=(Fault(message=f"not {_SECRET}"),))),
    ):
        assert has_secret(fields_of([event])), event
        assert has_secret([event]), event
        assert not has_secret(fields_of([Heard("a", at, where, doing="reads", used=(Usage("m", 1, 2),))]))
