"""A ledger as bytes: what several rows have in common is one thing again, and what is damaged is no ledger."""

from collections.abc import Sequence

import msgspec
from tests.telling import place

from delegtop.base.clock import Millis
from delegtop.model.events import Ended, Ending, Event, Outcome, Started
from delegtop.model.store.absorbing import absorb
from delegtop.model.store.archive import press
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.packed_ledger import pack_ledger, unpack_ledger

TOLD: list[Event] = [
    Started("child", Millis(20), place(), parent="parent", agent="tester"),
    Started("parent", Millis(10), place(), agent="tester"),
    Started("orphan", Millis(30), place(), parent="nobody", agent="other"),
    Ended("child", Millis(40), place(), Outcome.COMPLETED, Ending.RETURN),
]


def ledger_of(told: Sequence[Event]) -> Ledger:
    ledger = Ledger()
    ledger.apply(told, set(), set(), set(), set())
    return ledger


def again(ledger: Ledger) -> Ledger:
    data = pack_ledger(ledger)
    assert data is not None
    found = unpack_ledger(data)
    assert found is not None
    return found


def test_the_parent_that_is_named_is_the_id_of_its_row() -> None:
    found = again(ledger_of(TOLD))
    assert found.starts.parent[0] is found.ids[1]
    assert found.starts.parent == ["parent", None, "nobody"]


def test_rows_that_are_alike_have_one_shape_which_is_found_by_its_path() -> None:
    paths = [("main",), ("main", "one"), ("main", "one"), ("main", "two")]
    ledger = ledger_of([Started(f"d{row}", Millis(row), place(), path=path) for row, path in enumerate(paths)])
    found = again(ledger)
    assert found.starts.shape[1] is found.starts.shape[2]
    for each in (ledger, found):
        assert each.starts.rows_on({("main", "one")}) == {1, 2}
        assert each.starts.rows_on({("main",), ("main", "two"), ("other",)}) == {0, 3}
        assert each.starts.rows_on({("other",)}) == set()
    both = Ledger()
    for other in (found, again(ledger_of([Started("more", Millis(9), place(), path=("main", "one"))]))):
        absorb(both, other, set(), set(), set(), set())
    assert both.starts.shape[4] is both.starts.shape[1]
    assert both.starts.rows_on({("main", "one")}) == {1, 2, 4}


def test_a_shape_told_twice_is_damage() -> None:
    data = pack_ledger(ledger_of(TOLD))
    assert data is not None
    columns, stores, beside = msgspec.msgpack.decode(press().decompress(data))
    starts = stores[0]
    shape_numbers, shapes = starts[0][0]
    assert unpack_ledger(press().compress(msgspec.msgpack.encode([columns, stores, beside]))) is not None
    starts[0][0] = (shape_numbers, [shapes[0]] * len(shapes))
    assert unpack_ledger(press().compress(msgspec.msgpack.encode([columns, stores, beside]))) is None
