"""A ledger that is taken into another tells the same as its events, also after it was bytes."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.histories import distinct, events, here, moment
from tests.property.test_ledger_order import picture

from delegtop.base.clock import Millis
from delegtop.model.events import Deviation, Event, HostBeat, HostMet, Surveyed
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.packed_ledger import pack_ledger, unpack_ledger

NOW = moment(22)


def ledger_of(batch: Sequence[Event]) -> Ledger:
    ledger = Ledger()
    ledger.apply(batch, set(), set(), set(), set())
    return ledger


def facts(batch: list[Event]) -> list[Event]:
    return [event for event in distinct(here(batch)) if not isinstance(event, HostMet | HostBeat | Deviation)]


@settings(max_examples=150)
@given(st.lists(events, max_size=24), st.lists(st.integers(0, 3), min_size=24, max_size=24))
def test_tells_the_same_as_its_events(batch: list[Event], whose: list[int]) -> None:
    told = facts(batch)
    plain = Forest()
    plain.apply(told)
    plain.advance(NOW)
    forest = Forest()
    for number in range(4):
        own = [event for event, each in zip(told, whose, strict=False) if each == number]
        if number % 2:
            forest.apply(own)
        else:
            forest.absorb(ledger_of(own))
    forest.advance(NOW)
    assert picture(forest) == picture(plain)
    assert list(forest.sleeps(Millis(0))) == list(plain.sleeps(Millis(0)))


@settings(max_examples=100)
@given(st.lists(events, max_size=24), st.lists(events, max_size=6))
def test_bytes_are_the_same_ledger_again(batch: list[Event], later: list[Event]) -> None:
    told = [event for event in facts(batch) if not isinstance(event, Surveyed)]
    data = pack_ledger(ledger_of(told))
    assert data is not None
    found = unpack_ledger(data)
    assert found is not None
    plain, forest = Forest(), Forest()
    plain.apply(told)
    forest.absorb(found)
    for each in (plain, forest):
        each.apply(facts(later))
        each.advance(NOW)
    assert picture(forest) == picture(plain)


@settings(max_examples=100)
@given(st.lists(events, max_size=12), st.integers(0, 10_000), st.integers(0, 7))
def test_damaged_bytes_are_a_ledger_or_none(batch: list[Event], at: int, bit: int) -> None:
    data = bytearray(pack_ledger(ledger_of([each for each in facts(batch) if not isinstance(each, Surveyed)])) or b"")
    data[at % len(data)] ^= 1 << bit
    found: Any = unpack_ledger(bytes(data))
    assert found is None or isinstance(found, Ledger)
    assert unpack_ledger(bytes(data[: len(data) // 2])) is None
