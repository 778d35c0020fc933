"""A delegation told again: the fewest events that tell all a ledger knows of it.

Every fold of a ledger is a maximum or a union, so these events make another ledger know the same, whatever else it is
told, and in whatever order.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from delegtop.base.origin import Origin
from delegtop.model.events import Event, Surveyed
from delegtop.model.store.ledger import Handle, Ledger


def retold(ledger: Ledger, handle: Handle, host: str = "") -> Iterator[Event]:
    """All that tells of one delegation, which is on that host."""
    for event in _told(ledger, handle):  # of some it is not kept where they were told
        known = event.origin.host == host
        yield event if known else replace(event, origin=replace(event.origin, host=host))


def _told(ledger: Ledger, handle: Handle) -> Iterator[Event]:
    id = ledger.ids[handle]
    yield from ledger.starts.told(handle, id)
    yield from ledger.descriptions.events(handle, id)
    yield from ledger.details(handle).events(id)
    yield ledger.last_sign(handle)
    yield from ledger.ends.told(handle, id)
    yield from ledger.faults(handle)
    for (host, source), at in ledger.registries.listings(handle):
        yield Surveyed(at, Origin(source, 1, 0, host), (id,))


def listed(ledger: Ledger) -> Iterator[Event]:
    """The last snapshot of every registry: who has left one is told by who is in it."""
    for (host, source), at, present in ledger.registries.latest():
        yield Surveyed(at, Origin(source, 1, 0, host), tuple(sorted(ledger.ids[handle] for handle in present)))
