"""What several places tell of one delegation, packed and as it was again."""

from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Started, Trust
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.packed_places import pack_starts, unpack_starts

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
