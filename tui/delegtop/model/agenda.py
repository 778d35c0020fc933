"""The agenda: at what moment time alone will change a delegation's state."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from delegtop.base.clock import Millis
from delegtop.model.store.ledger import Handle

_FEW = 1_000


class Agenda:
    """A heap of moments. An entry that has been overtaken by events is found out when its moment comes, or thrown out
    with the others once most are such."""

    def __init__(self) -> None:
        self._moments: list[tuple[Millis, Handle]] = []
        self._next: dict[Handle, Millis] = {}

    def set(self, handle: Handle, at: Millis | None) -> None:
        """Look at it again at that moment; None means that time cannot change it."""
        if at is None:
            self._next.pop(handle, None)
        elif self._next.get(handle) != at:
            self._next[handle] = at
            heappush(self._moments, (at, handle))
            if len(self._moments) > _FEW + 2 * len(self._next):
                self._moments = [(at, handle) for handle, at in self._next.items()]
                heapify(self._moments)

    def next(self) -> Millis | None:
        """The first moment to come; None if time changes nothing any more."""
        while self._moments and self._next.get(self._moments[0][1]) != self._moments[0][0]:
            heappop(self._moments)
        return self._moments[0][0] if self._moments else None

    def due(self, now: Millis) -> Iterator[Handle]:
        """Every delegation whose moment has come, once."""
        while self._moments and self._moments[0][0] <= now:
            at, handle = heappop(self._moments)
            if self._next.get(handle) == at:
                del self._next[handle]
                yield handle
