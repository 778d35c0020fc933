"""A filter being applied: a big forest is sifted a slice at a time, so that typing a query never holds the screen."""

from delegtop.base.clock import monotonic
from delegtop.model.forest import Forest
from delegtop.model.query import FilterQuery
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle

_AT_A_TIME = 16


class IncrementalFilter:
    """Answers whether a delegation matches; what was sifted in advance is answered from memory, once."""

    def __init__(self, query: FilterQuery, forest: Forest, *, only_open: bool = False) -> None:
        self.query, self.only_open = query, only_open
        self._forest = forest
        self._found = bytearray()
        self._from_memory = True

    @property
    def share(self) -> float:
        """How much of the forest has been sifted."""
        return len(self._found) / max(len(self._forest), 1)

    def sift(self, seconds: float) -> bool:
        """Work for about that long; True when there is nothing left."""
        until, count = monotonic() + seconds, len(self._forest)
        while len(self._found) < count:
            if not len(self._found) % _AT_A_TIME and monotonic() > until:
                return False
            self._found.append(self._matches(len(self._found)))
        return True

    def forget(self) -> None:
        """From now on look afresh: facts change."""
        self._from_memory, self._found = False, bytearray()

    def __call__(self, handle: Handle) -> bool:
        if self._from_memory and handle < len(self._found):
            return bool(self._found[handle])
        return self._matches(handle)

    def _matches(self, handle: Handle) -> bool:
        if self.only_open and self._forest.state(handle) not in ACTIVE:
            return False
        return self.query.matches(self._forest, handle)

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.query) or self.only_open
