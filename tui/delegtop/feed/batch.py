"""What a feed tells at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from delegtop.base.clock import Millis
from delegtop.model.events import Event
from delegtop.model.store.ledger import Ledger

if TYPE_CHECKING:
    from delegtop.model.call_durations import CallsOfOne
    from delegtop.model.forest import Forest


class Batch(Struct, frozen=True):
    """Events that arrived together."""

    events: Sequence[Event]
    at: Millis | None = None
    """The moment in the past at which all this is known; None for the present."""
    forest: "Forest | None" = None
    """Everything as it was just before, in place of whatever was known: time has leapt."""
    ledger: Ledger | None = None
    """What whole files told, in place of their events."""
    moments: list[Event] = []
    """Of the ledger, for who hears of events: what a timeline is made of."""
    calls: "Sequence[CallsOfOne] | None" = None
    """Of sessions that were read in an earlier run: how long their calls took, in place of most signs of life."""

    @property
    def size(self) -> int:
        """About how much there is to take in."""
        return len(self.events) + (len(self.ledger) if self.ledger is not None else 0)
