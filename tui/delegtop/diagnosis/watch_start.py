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
        return self.is_past(forest, handle, forest.delegation(handle).ended_at)

    def is_past(self, forest: Forest, handle: Handle, moment: Millis | None) -> bool:
        """Whether that was so of one that became known later before anybody watched it: a host that is reached later is
        watched from then on."""
        if handle < self.known or moment is None:
            return False
        host = forest.word_of(handle)
        return moment < max(host.own(self.at) - _SKEW, host.met_at or 0)
