"""What several places tell of one delegation, packed and as it was again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Started, Trust
from delegtop.model.session_manner import PROC_START
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.packed_places import agreed, pack_starts, unpack_starts
from delegtop.model.store.starts import Starts

SOURCE = "/logs/run.jsonl"
ELSEWHERE = Origin("/logs/other.jsonl", 3, 1 << 40, "gpu1")
FIRST = Started(
    "s1",
    Millis(1_700_000_000_000),
    Origin(SOURCE, 92, 285_421),
    agent="explorer",
    task="",
    path=("lead", "explorer"),
    depth=0,
    parent="s0",
    refs=(("session_id", "s0"), ("tool_use_id", "s1")),
    product="claude-code",
)
SECOND = Started("s1", None, ELSEWHERE, path=(), timeout=5, pid=7, trust=Trust.MODEL, listed=True, guessed=True)
BEYOND = Started("s1", Millis(1 << 70), Origin(SOURCE, 1, 1 << 80))


def test_starts_are_what_they_were() -> None:
    assert unpack_starts(pack_starts((FIRST, SECOND)), "s1") == (FIRST, SECOND)


def test_a_start_with_a_number_past_all_use_is_what_it_was() -> None:
    assert unpack_starts(pack_starts((FIRST, BEYOND)), "s1") == (FIRST, BEYOND)


def test_every_fact_of_a_start_is_kept() -> None:
    told = Started(
        "s1",
        Millis(1),
        ELSEWHERE,
        "agent",
        "/command",
        "caller",
        "task",
        ("a", "b"),
        2,
        3,
        Millis(4),
        "s0",
        5,
        "host",
        (("name", "id"),),
        Trust.EPOCH,
        True,
        "product",
        True,
    )
    named = Started.__struct_fields__[-len(Started.__struct_defaults__) :]
    defaults = dict(zip(named, Started.__struct_defaults__, strict=True))
    assert all(getattr(told, name) != default for name, default in defaults.items())
    assert unpack_starts(pack_starts((told, FIRST)), "s1") == (told, FIRST)


def test_two_texts_at_one_path_are_told_apart() -> None:
    other = SOURCE.encode().decode()
    starts = FIRST, Started("s1", Millis(1), Origin(other, 1, 0))
    first, second = unpack_starts(pack_starts(starts), "s1")
    assert first.origin.source is SOURCE
    assert second.origin.source is other


def test_a_delegation_told_of_twice_has_the_ids_of_both() -> None:
    ledger = Ledger()
    more = Started("s1", FIRST.at, ELSEWHERE, parent="s0", refs=(("agent_id", "a1"),), product="claude-code")
    for event in (FIRST, more):
        ledger.apply([event], set(), set(), set(), set())
    assert ledger.delegation(0).refs == (("agent_id", "a1"), *FIRST.refs)
    assert not ledger.starts.refs
    assert ledger.starts.told(0, "s1") == (replace(FIRST, task=None), more)


_few = st.sampled_from([None, "", "one", "other"])
_moments = st.sampled_from([None, Millis(0), Millis(1_000), Millis(60_000)])
_told = st.builds(
    Started,
    st.just("s1"),
    _moments,
    st.builds(Origin, st.sampled_from(["x", "y"]), st.integers(1, 3), st.just(0), st.sampled_from(["", "gpu1"])),
    agent=_few,
    command=st.sampled_from([None, "one"]),
    path=st.sampled_from([None, (), ("one",), ("one", "other")]),
    depth=st.sampled_from([None, 0, 1]),
    timeout=st.sampled_from([None, 0, 1]),
    deadline=st.sampled_from([None, Millis(60_000)]),
    parent=_few,
    pid=st.sampled_from([None, None, 7]),
    refs=st.lists(
        st.tuples(st.sampled_from(["session_id", "agent_id", PROC_START]), st.sampled_from("ab")), max_size=2
    ).map(tuple),
    trust=st.sampled_from(Trust),
    listed=st.booleans(),
    guessed=st.booleans(),
)


@settings(max_examples=200)
@given(st.lists(_told, min_size=2, max_size=4))
def test_a_delegation_is_the_same_if_all_that_is_told_of_its_start_is_unpacked(told: list[Started]) -> None:
    ledger = Ledger()
    ledger.apply(told, set(), set(), set(), set())
    found = ledger.delegation(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Starts, "agreed", lambda _starts, _row: None)
        assert ledger.delegation(0) == found


def test_starts_agree_where_one_is_silent_and_the_others_say_the_same() -> None:
    silent, other = replace(FIRST, agent=None, refs=()), replace(FIRST, agent="tester")
    assert agreed(pack_starts((silent, FIRST, FIRST))) == ([FIRST.origin] * 3, [*FIRST.refs[::-1]] * 2)
    assert agreed(pack_starts((silent, FIRST, other))) is None
    assert agreed(pack_starts((FIRST, BEYOND))) is None
