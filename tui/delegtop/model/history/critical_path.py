"""The critical path of a tree: the delegations that determined when its root ended, or still do.

From the end backwards: the root could not end before the child that ended last, that one not before the last of its
own children, and so on down. Before the start of that child, the one that had ended last by then is next. What lies
between two children is the parent's own work. So the pieces follow one another without gap or overlap from the start
of the root to its end, each the work of one delegation alone, and making any other one faster would change nothing.

While the root is open its end is now, and the last piece is the active chain: what `Forest.blocker` finds.

Clocks differ and logs have holes, so:
- a child that ended up to `SKEW` after its parent still counts as the last of it; one that ended later did not hold
  it up, and a child that started before its parent counts from the parent's start on;
- where a delegation has no start, the first start of its children stands for it; where it has no end (and no parent
  that still waits for it), the last sign of life of it or of anything below it does;
- what still cannot be placed in time is left out.
"""

from collections.abc import Generator
from heapq import heapify, heappop
from typing import NamedTuple

import msgspec

from delegtop.base.clock import SECOND, Millis
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, State
from delegtop.model.store.ledger import Handle

SKEW = 5 * SECOND
"""By so much the clocks of two writers may differ."""
STRIDE = 256
"""Delegations that are looked at between two pauses."""


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A stretch of the path: all of it is the work of this delegation."""

    handle: Handle
    start: Millis
    end: Millis


class CriticalPath(msgspec.Struct, frozen=True):
    """The pieces, oldest first. Each begins where the one before it ends."""

    pieces: tuple[Piece, ...] = ()

    @property
    def start(self) -> Millis | None:
        return self.pieces[0].start if self.pieces else None

    @property
    def end(self) -> Millis | None:
        return self.pieces[-1].end if self.pieces else None

    def by_delegation(self) -> dict[Handle, tuple[Piece, ...]]:
        """The pieces of each delegation that is on the path."""
        found: dict[Handle, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.handle, []).append(piece)
        return {handle: tuple(pieces) for handle, pieces in found.items()}


def critical_path(forest: Forest, root: Handle) -> CriticalPath:
    """The critical path of the tree below `root`, up to `now_of` it; without pieces if its times are not known."""
    tracing = trace(forest, root)
    while True:
        try:
            next(tracing)
        except StopIteration as done:
            found: CriticalPath = done.value
            return found


def trace(forest: Forest, root: Handle) -> Generator[None, None, CriticalPath]:
    """The same a little at a time: it pauses now and then, for who has a screen to draw in between."""
    signs = _Signs(forest)
    span = yield from _span(forest, root, signs)
    pieces: list[Piece] = []
    open_frames: list[_Frame] = []
    if span is not None:
        open_frames.append((yield from _look_into(forest, root, *span, signs)))
    steps = 0
    while open_frames:  # from the latest moment to the first, so the pieces come in order
        frame = open_frames[-1]
        child = frame.next_child()
        alone_since = frame.start if child is None else child.last
        if alone_since < frame.later:
            pieces.append(Piece(frame.handle, alone_since, frame.later))
        if child is None:
            open_frames.pop()
        else:
            frame.later = child.first
            open_frames.append((yield from _look_into(forest, child.handle, child.first, child.last, signs)))
        steps += 1
        if not steps % STRIDE:
            yield
    return CriticalPath(tuple(reversed(pieces)))


class _Stretch(NamedTuple):
    """A child, from when to when it can have held its parent up. The one that held it up longest is the least."""

    rank: tuple[int, bool, bool, int, str]
    first: Millis
    last: Millis
    handle: Handle


class _Frame:
    """A delegation on the path, and how far back in time it has been followed."""

    def __init__(self, handle: Handle, start: Millis, end: Millis, children: list[_Stretch]) -> None:
        self.handle, self.start, self.later = handle, start, end
        self._children = children
        heapify(children)

    def next_child(self) -> _Stretch | None:
        """The child that had ended last by then. One still at work did not hold up what followed."""
        while self._children:
            child = heappop(self._children)
            if child.first < child.last <= self.later:
                return child
        return None


class _Signs:
    """The last sign of life of those that never ended, or of anything below them."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._known: dict[Handle, Millis | None] = {}

    def of(self, handle: Handle) -> Generator[None, None, Millis | None]:
        forest, known = self._forest, self._known
        pending = [] if handle in known else [handle]
        endless: list[Handle] = []
        while pending:
            endless.append(pending.pop())
            children = forest.offspring(endless[-1])
            pending += [child for child in children if child not in known and forest.times(child)[2] is None]
            if not len(endless) % STRIDE:
                yield
        for number, each in enumerate(reversed(endless), 1):  # children before their parents
            below = (known[child] if child in known else forest.times(child)[2] for child in forest.offspring(each))
            known[each] = max((at for at in (forest.times(each)[1], *below) if at is not None), default=None)
            if not number % STRIDE:
                yield
        return known[handle]


def _look_into(
    forest: Forest, handle: Handle, start: Millis, end: Millis, signs: _Signs
) -> Generator[None, None, _Frame]:
    """The children that fit between start and end."""
    found: list[_Stretch] = []
    is_open = end == forest.now_of(handle)
    for number, child in enumerate(list(forest.offspring(handle)), 1):
        last = forest.times(child)[2]
        if last is None:
            last = end if is_open and forest.state(child) in ACTIVE else (yield from signs.of(child))
        stretch = _stretch(forest, child, last, start, end)
        if stretch is not None:
            found.append(stretch)
        if not number % STRIDE:
            yield
    return _Frame(handle, start, end, found)


def _stretch(forest: Forest, child: Handle, last: Millis | None, start: Millis, end: Millis) -> _Stretch | None:
    first = _first(forest, child)
    if first is None or last is None or first >= end or last > end + SKEW:
        return None
    last, state = min(last, end), forest.state(child)
    # Of several that are open now the same comes first as in `Forest.blocker`.
    rank = (-last, state not in ACTIVE, state is not State.OVERDUE, first, forest.birth(child)[2])
    return _Stretch(rank, max(first, start), last, child)


def _span(forest: Forest, root: Handle, signs: _Signs) -> Generator[None, None, tuple[Millis, Millis] | None]:
    """From when to when the root lasted; up to now while it is active."""
    start, end = _first(forest, root), forest.times(root)[2]
    if end is None:
        end = forest.now_of(root) if forest.state(root) in ACTIVE else (yield from signs.of(root))
    return (start, end) if start is not None and end is not None and start < end else None


def _first(forest: Forest, handle: Handle) -> Millis | None:
    start = forest.times(handle)[0]
    if start is not None:
        return start
    starts = (forest.times(child)[0] for child in forest.offspring(handle))
    return min((each for each in starts if each is not None), default=None)
