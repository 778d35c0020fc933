"""One ledger taken into another: whole columns for whom the other does not know yet, and events for the rest.

A file that need not be read again, and what another process has read, come as ledgers of their own. What is known then
is what all their events would have told, in whatever order.
"""

from collections.abc import Iterator
from itertools import compress

from delegtop.base.clock import MINUTE, Millis
from delegtop.model.events import Event, Heard
from delegtop.model.store.column_store import RowsMoved
from delegtop.model.store.details import NOWHERE
from delegtop.model.store.ends import OPEN
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.retelling import listed, retold

_IS_OPEN = bytes(by == OPEN & 0xFF for by in range(0x100))
"""By a byte of the column that tells by what each ended."""


def absorb(
    ledger: Ledger,
    other: Ledger,
    touched: set[Handle],
    started: set[Handle],
    ended: set[Handle],
    noted: set[Handle],
) -> None:
    """As `Ledger.apply` with all that the other was told."""
    handles, first = ledger.handles, len(ledger)
    if isinstance(handles, dict):
        known = [row for row, id in enumerate(other.ids) if id in handles] if first else []
    else:
        known = [*other]  # columns that are borrowed cannot be cut and lengthened
    rows = range(len(other)) if not known else sorted({*other}.difference(known))
    if rows:
        ledger.append_rows(other, RowsMoved(rows, first))
        new = range(first, len(ledger))
        all_new = {*new}
        touched |= all_new
        started |= all_new
        # Of a log that is over nearly all have ended: to leave out the others takes a fraction of adding these.
        is_open = ledger.ends.by[first : new.stop].tobytes().translate(_IS_OPEN)
        ended |= all_new.difference(compress(new, is_open))
        ended.update(handle for handle in ledger.faulty if handle >= first)
        noted.update(ledger.descriptions.described(first))
        noted.update(handle for handle in ledger.detailed if handle >= first)
    ledger.pulse.minutes.update(other.pulse.minutes)
    # Registries are known by rows, so those in one are told once more.
    again = sorted({*known, *other.registries.rows})
    events = [event for row in again for event in retold(other, row)]
    ledger.apply([*events, *listed(other)], touched, started, ended, noted)


def all_retold(ledger: Ledger) -> Iterator[Event]:
    """What tells all that a ledger knows, for whoever takes events alone."""
    for row in ledger:
        yield from retold(ledger, row)
    yield from listed(ledger)
    signs = [sign for sign in map(ledger.last_sign, ledger) if sign.at is not None]
    if signs:
        last = max(signs, key=lambda sign: sign.at or 0)
        for minute in ledger.pulse.minutes:
            if (at := minute * MINUTE) < (last.at or 0):
                yield Heard(last.id, Millis(at), NOWHERE)
