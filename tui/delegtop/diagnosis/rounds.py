"""Rounds: whose turn it is to be judged. Time alone changes verdicts, so who is open is looked at now and then."""

from collections.abc import Iterable
from typing import NamedTuple

from delegtop.clock import MINUTE, SECOND, Millis
from delegtop.model.delegation import ACTIVE, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

EVERY = 10 * SECOND
"""Between two looks at one that is open and that nothing was heard of."""
AGAIN = 2 * SECOND
"""Between two looks at a busy one, unless its state changes."""
MOST = 200
"""Quiet ones that are looked at in one round: thousands of them take their turns."""
_SKEW = MINUTE
"""Clocks of two machines may differ by so much."""


class Beginning(NamedTuple):
    """When somebody began to watch, and how many delegations were known then."""

    at: Millis = Millis(0)
    known: int = 0

    def is_before(self, forest: Forest, handle: Handle) -> bool:
        """Whether one that became known later was over by then: a log that is found late tells of long ago."""
        return handle >= self.known and self.is_past(forest.delegation(handle).ended_at)

    def is_past(self, moment: Millis | None) -> bool:
        return moment is not None and moment < self.at - _SKEW


class Rounds:
    """Remembers when each open delegation was last judged, the longest ago first."""

    def __init__(self) -> None:
        self._judged: dict[Handle, tuple[Millis, State]] = {}
        self._postponed: set[Handle] = set()

    def due(self, forest: Forest, changed: Iterable[Handle]) -> list[Handle]:
        """Those to judge now, of which `changed` have changed since the last call."""
        pending, self._postponed = self._postponed.union(changed), set()
        due = {handle for handle in pending if not self._is_busy(forest, handle)}
        self._postponed = pending - due
        for handle, (at, _) in self._judged.items():
            if forest.now - at < EVERY or len(due) >= len(pending) + MOST:
                break
            due.add(handle)
        for handle in due:
            self._judged.pop(handle, None)
            if forest.state(handle) in ACTIVE:
                self._judged[handle] = forest.now, forest.state(handle)
        return sorted(due)

    def _is_busy(self, forest: Forest, handle: Handle) -> bool:
        at, state = self._judged.get(handle, (None, None))
        return at is not None and forest.state(handle) is state and forest.now - at < AGAIN
