"""What some sessions told, in one block: as it is kept, and as it waits to be told and written."""

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.feed.kept_session import KeptSession, Moments, SessionBlock, packed_files, unpack_block
from delegtop.model.events import Described, Event, Started
from delegtop.model.store.ledger import Ledger


def block(*ids: str) -> SessionBlock:
    ledger = Ledger()
    found = SessionBlock(ledger)
    for row, id in enumerate(ids):
        add(found, id, row)
    return found


def add(found: SessionBlock, id: str, row: int) -> None:
    place = Origin(f"/logs/{id}.jsonl", 1, 0)
    told: list[Event] = [
        Started(id, Millis(row), place, agent="claude"),
        Described(id, Millis(row), place, title=f"work of {id}"),
    ]
    found.ledger.apply(told, set(), set(), set(), set())
    found.put(KeptSession(id, packed_files(()), (), (), [row], row, 1), Moments(), [])


def told(found: SessionBlock) -> list[tuple[str, str | None]]:
    ledger = found.told_by(found.sessions)
    return [(ledger.ids[row], ledger.delegation(row).title) for row in ledger]


def test_what_was_packed_by_others_is_not_packed_once_more_unless_more_comes_into_it() -> None:
    data = block("s1", "s2").pack()
    assert data is not None
    found = unpack_block(data)
    assert found is not None
    assert found.pack() is data
    add(found, "s3", 2)
    more = found.pack()
    assert more is not None
    again = unpack_block(more)
    assert again is not None
    assert told(again) == [("s1", "work of s1"), ("s2", "work of s2"), ("s3", "work of s3")]


def test_what_waits_pressed_tells_the_same() -> None:
    data = block("s1", "s2").pack()
    assert data is not None
    known, found, own = unpack_block(data), unpack_block(data), block("s1", "s2")
    assert known is not None
    assert found is not None
    for each in (found, own):
        each.press()
        each.press()
        assert isinstance(each._ledger, bytes)
        assert told(each) == told(known)
        assert each.ledger.starts.told(0, "s1") == known.ledger.starts.told(0, "s1")
