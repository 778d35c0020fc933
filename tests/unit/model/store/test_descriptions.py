"""What delegations are called: the earliest word stays, whatever came first, and tells where it was said."""

import random
from itertools import permutations

import pytest
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Described
from delegtop.model.store.column_store import RowsMoved
from delegtop.model.store.descriptions import Descriptions
from delegtop.model.store.frozen import Freezer, thaw_into
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.origin_column import SourceNumbers
from delegtop.model.store.packed_ledger import pack_ledger, unpack_ledger

SOURCE = "/logs/run.jsonl"
HERE, LATER, ELSEWHERE = Origin(SOURCE, 1, 0), Origin(SOURCE, 2, 90), Origin("/logs/other.jsonl", 3, 1 << 40, "gpu1")
TOLD = (
    Described("s1", Millis(5), HERE, title="look", prompt="look here"),
    Described("s1", Millis(4), ELSEWHERE, title="search", model="opus"),
    Described("s1", None, HERE, title="found", cwd="/srv", branch="main"),
    Described("s1", Millis(4), LATER, title="sought", version="1"),
    Described("s1", Millis(9), LATER, name="finder", prompt="look there"),
    Described("s1", Millis(4), LATER, title="sought", name="x", version="2"),
)


def made() -> Descriptions:
    return Descriptions(SourceNumbers())


def told(found: Descriptions, row: int = 0) -> list[Described]:
    return sorted(found.events(row, "s1"), key=lambda each: (each.at is None, each.at or 0, each.origin))


@pytest.mark.parametrize("seed", range(4))
def test_it_says_the_same_in_whatever_order_and_however_often_it_is_told(seed: int) -> None:
    plain = _by_hand()
    for order in permutations(TOLD):
        found = made()
        for event in (*order, *random.Random(seed).choices(order, k=3)):
            found.take(0, event)
        assert found.words(0) == tuple(word for word, _ in plain)
        assert {each for event in told(found) for each in _said(event)} == {each for each in plain if each[0]}


def _by_hand() -> list[tuple[str | None, tuple[bool, int, Origin] | None]]:
    """The earliest of each, from all at once."""
    found: list[tuple[str | None, tuple[bool, int, Origin] | None]] = []
    for fact in ("title", "name", "model", "version", "prompt", "cwd", "branch"):
        said = sorted(
            ((each.at is None, each.at or 0, each.origin), word) for each in TOLD if (word := getattr(each, fact))
        )
        found.append((said[0][1], said[0][0]) if said else (None, None))
    return found


def _said(event: Described) -> list[tuple[str | None, tuple[bool, int, Origin]]]:
    order = (event.at is None, event.at or 0, event.origin)
    words = (event.title, event.name, event.model, event.version, event.prompt, event.cwd, event.branch)
    return [(word, order) for word in words if word]


def test_what_was_told_before_tells_nothing_new() -> None:
    found = made()
    assert found.take(3, TOLD[0])
    assert not found.take(3, TOLD[0])
    assert not found.take(3, replace(TOLD[0], at=Millis(6), title="later"))
    assert not made().take(0, Described("s1", Millis(5), HERE))


def test_who_was_told_of_by_nobody_has_no_words() -> None:
    found = made()
    found.take(2, TOLD[0])
    assert found.word(0, "title") is None
    assert found.word(9, "title") is None
    assert not any(found.words(9))
    assert [*found.events(0, "s0")] == []
    assert [*found.described()] == [2]
    assert [*found.described(3)] == []


def test_the_words_of_one_record_share_its_place() -> None:
    found = made()
    found.take(0, TOLD[0])
    assert len(found._sayings) == 1
    assert [*found.events(0, "s1")] == [TOLD[0]]


def test_a_place_at_which_nothing_is_said_any_more_is_used_again() -> None:
    found = made()
    for at in range(9, 0, -1):
        found.take(0, Described("s1", Millis(at), Origin(SOURCE, at, 0), title=f"at {at}"))
    assert len(found._sayings) == 1
    assert told(found) == [Described("s1", Millis(1), Origin(SOURCE, 1, 0), title="at 1")]


def test_numbers_past_all_use_are_the_largest_and_are_told_again_as_such() -> None:
    beyond = Described("s1", Millis(1 << 70), Origin(SOURCE, -5, 1 << 80), title="far")
    found, again = made(), made()
    assert found.take(0, beyond)
    assert not found.take(0, beyond)
    for event in found.events(0, "s1"):
        again.take(0, event)
    assert told(again) == told(found)


@pytest.mark.parametrize("rows", [range(6), [4, 1, 2], range(1, 5)])
def test_rows_of_another_are_those_that_they_were(rows: "range | list[int]") -> None:
    other, found = made(), made()
    for at in range(40):
        found.take(1, replace(TOLD[at % len(TOLD)], origin=Origin(f"/logs/{at}.jsonl", 1, 0)))
    before = told(found, 1)
    for row, event in ((4, TOLD[0]), (4, TOLD[1]), (1, TOLD[2]), (4, TOLD[4]), (2, TOLD[3])):
        other.take(row, event)
    found.append_rows(other, RowsMoved(rows, 3))
    assert told(found, 1) == before
    for at, row in enumerate(rows, 3):
        assert told(found, at) == told(other, row)
        assert found.words(at) == other.words(row)
    assert found.is_whole()
    assert found.take(3 + len(rows), TOLD[5])


def test_a_moment_keeps_its_words() -> None:
    ledger, again = Ledger(), Ledger()
    _fold(ledger, TOLD[:3])
    frozen = Freezer().freeze(ledger)
    words = ledger.delegation(0)
    _fold(ledger, TOLD[3:])
    thaw_into(again, frozen)
    again.handles = {"s1": 0}  # whoever thaws tells who is who
    assert again.delegation(0) == words
    _fold(again, TOLD[3:])
    assert again.delegation(0) == ledger.delegation(0)
    assert told(again.descriptions) == told(ledger.descriptions)


def test_a_packed_one_whose_words_lie_nowhere_is_no_ledger() -> None:
    ledger = Ledger()
    _fold(ledger, TOLD)
    whole = pack_ledger(ledger)
    assert whole is not None
    assert unpack_ledger(whole) is not None
    ledger.descriptions._sayings.before[0] = 0  # a chain without an end
    broken = pack_ledger(ledger)
    assert broken is not None
    assert unpack_ledger(broken) is None


def _fold(ledger: Ledger, events: tuple[Described, ...]) -> None:
    ledger.apply(events, set(), set(), set(), set())
