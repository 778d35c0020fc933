"""The critical paths and extents of the trees in view, worked out between frames and not more often than worth it."""

from collections.abc import Generator, Iterable, Mapping, Sequence

from delegtop.base.clock import monotonic
from delegtop.model.forest import Forest
from delegtop.model.history.critical_path import CriticalPath, Piece, trace
from delegtop.model.history.extent import tree_extent
from delegtop.model.history.time_window import TimeWindow
from delegtop.model.store.ledger import Handle

_REST = 20
"""A path is followed anew after so many times the time it took: so it costs a twentieth of a core at the most."""
_NO_PIECES: Mapping[Handle, tuple[Piece, ...]] = {}


class _Known:
    """What is known of one tree, and when to look again."""

    def __init__(self) -> None:
        self.extent: TimeWindow | None = None
        self.pieces = _NO_PIECES
        self.due = 0.0
        self.spent = 0.0
        self.tracing: Generator[None, None, CriticalPath] | None = None


class CriticalPaths:
    """Critical paths by root."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._epoch = forest.epoch
        self._known: dict[Handle, _Known] = {}

    def extent(self, root: Handle) -> TimeWindow | None:
        """From when to when the whole tree lasts, as far as it is known yet."""
        known = self._known.get(root)
        return known.extent if known else None

    def pieces(self, root: Handle, handle: Handle) -> Sequence[Piece]:
        """The pieces of a delegation on the path of its root."""
        known = self._known.get(root)
        return known.pieces.get(handle, ()) if known else ()

    def follow(self, roots: Iterable[Handle], seconds: float) -> bool:
        """Bring these up to date for about that long and forget all others; True once there is no more to do."""
        if self._epoch != self._forest.epoch:  # another moment, in which these numbers mean other delegations
            self._epoch = self._forest.epoch
            self._known.clear()
        self._known = {root: self._known.get(root) or _Known() for root in roots}
        until = monotonic() + seconds
        finished = [self._advance(root, known, until) for root, known in self._known.items()]
        return all(finished)

    def _advance(self, root: Handle, known: _Known, until: float) -> bool:
        began = monotonic()
        if known.tracing is None:
            if began < known.due:
                return True
            known.tracing, known.spent = trace(self._forest, root), 0.0
            known.extent = tree_extent(self._forest, root)
        while monotonic() < until:
            try:
                next(known.tracing)
            except StopIteration as done:
                known.pieces, known.tracing = done.value.by_delegation(), None
                spent = known.spent + monotonic() - began
                known.due = monotonic() + _REST * spent
                return True
        known.spent += monotonic() - began
        return False
