"""When somebody began to watch: what was so before is no news."""

from typing import NamedTuple

from delegtop.base.clock import MINUTE, Millis
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle

_SKEW = MINUTE
"""Clocks of two machines may differ by so much."""


class Beginning(NamedTuple):
    """The moment, and how many delegations were known then."""

    at: Millis = Millis(0)
    known: int = 0

    def is_before(self, forest: Forest, handle: Handle) -> bool:
        """Whether one that became known later was over by then: a log that is found late tells of long ago."""
        return handle >= self.known and self.is_past(forest.delegation(handle).ended_at)

    def is_past(self, moment: Millis | None) -> bool:
        return moment is not None and moment < self.at - _SKEW
