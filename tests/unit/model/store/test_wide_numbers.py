"""Columns begin with few bytes a number; what does not fit is kept all the same, at every moment and in every form."""

from collections.abc import Callable

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Event, Heard, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.store.absorbing import absorb
from delegtop.model.store.frozen import Freezer, thaw_into
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.packed_ledger import pack_ledger, unpack_ledger


def event(number: int, *, source: int = 0, offset: int = 0, tool: int = 0) -> list[Event]:
    at, origin = Millis(1_000 + number), Origin(f"{source}.jsonl", number + 1, offset)
    return [
        Started(id=f"s{number}", at=at, origin=origin, agent="writer"),
        Heard(f"s{number}", at, origin, tool=f"tool {tool}", mode=f"mode {tool}"),
    ]


def told(*groups: list[Event]) -> Ledger:
    ledger = Ledger()
    add(ledger, *groups)
    return ledger


def add(ledger: Ledger, *groups: list[Event]) -> None:
    ledger.apply([event for group in groups for event in group], set(), set(), set(), set())


def facts(ledger: Ledger) -> list[object]:
    return [ledger.delegation(row) for row in ledger]


FEW = [event(number) for number in range(5)]
WIDE = {
    "sources": [event(number, source=number) for number in range(5, 300)],
    "offsets": [event(5, offset=1 << 40), event(6, offset=-7)],
    "tools": [event(number, tool=number) for number in range(5, 300)],
}
wide = pytest.mark.parametrize("more", WIDE.values(), ids=WIDE)


def kept(ledger: Ledger) -> Ledger:
    data = pack_ledger(ledger)
    assert data is not None
    again = unpack_ledger(data)
    assert again is not None
    return again


def thawed(ledger: Ledger) -> Ledger:
    again = Ledger()
    thaw_into(again, Freezer().freeze(ledger))
    again.handles = {id: row for row, id in enumerate(again.ids)}
    return again


def absorbed(ledger: Ledger) -> Ledger:
    again = Ledger()
    absorb(again, ledger, set(), set(), set(), set())
    return again


FORMS: list[Callable[[Ledger], Ledger]] = [kept, thawed, absorbed]


@wide
@pytest.mark.parametrize("form", FORMS)
def test_what_does_not_fit_is_kept(more: list[list[Event]], form: Callable[[Ledger], Ledger]) -> None:
    ledger = told(*FEW, *more)
    assert facts(form(ledger)) == facts(ledger)
    assert {each.started_origin for each in map(ledger.delegation, ledger)} == {start.origin for start, _ in FEW + more}
    assert {each.tool for each in map(ledger.delegation, ledger)} == {sign.tool for _, sign in FEW + more}  # type: ignore[union-attr]  # each is a Heard


@wide
@pytest.mark.parametrize("form", FORMS)
def test_what_does_not_fit_may_come_later(more: list[list[Event]], form: Callable[[Ledger], Ledger]) -> None:
    ledger = form(told(*FEW))
    add(ledger, *more)
    assert facts(ledger) == facts(told(*FEW, *more))


@wide
def test_a_moment_before_it_came_stays_what_it_was(more: list[list[Event]]) -> None:
    ledger = told(*FEW)
    before = Freezer().freeze(ledger)
    add(ledger, *more)
    after, rows = Freezer().freeze(ledger, before), len(FEW)
    for moment, expected in ((before, told(*FEW)), (after, told(*FEW, *more))):
        again = Ledger()
        thaw_into(again, moment)
        assert facts(again) == facts(expected)
    assert len(ledger) > rows


@wide
def test_a_ledger_with_wide_columns_is_taken_behind_one_with_narrow_ones_and_the_other_way_round(
    more: list[list[Event]],
) -> None:
    for first, second in ((FEW, more), (more, FEW)):
        ledger = told(*first)
        absorb(ledger, told(*second), set(), set(), set(), set())
        assert facts(ledger) == facts(told(*first, *second))


@pytest.mark.parametrize("asked", [-(10**12), 10**12])
def test_a_number_of_questions_beyond_belief_is_kept_within_it(asked: int) -> None:
    forest = Forest()
    forest.apply([Heard("sess_a", Millis(1), Origin("log", 1, 0), phase=Phase.PERMISSION, asked=asked)])
    assert (forest.delegation(0).asked or 0) >= 0
