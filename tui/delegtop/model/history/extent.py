"""From when to when a delegation or a whole tree lasted, for those who want to see all of it at once."""

from collections import deque

from delegtop.base.clock import Millis
from delegtop.model.forest import Forest
from delegtop.model.history.time_window import TimeWindow, hull
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle

MOST = 1_000
"""So many delegations of a tree are looked at, those near the root first: they last longest."""


def extent(forest: Forest, handle: Handle) -> TimeWindow | None:
    """From its start to its end, its last sign of life or, while it is active, now; None if no moment is known.

    A deadline that is still to come is part of it, if it is not too far away to see the rest beside it.
    """
    first, seen, last = forest.times(handle)
    is_active = forest.state(handle) in ACTIVE
    end = last if last is not None else forest.now_of(handle) if is_active else seen
    start = first if first is not None else seen if seen is not None else end
    if start is None or end is None:
        return None
    end = Millis(max(start, end))
    deadline = forest.deadline(handle)
    if is_active and deadline is not None and end < deadline.at <= end + (end - start):
        end = deadline.at
    return TimeWindow(start, end)


def tree_extent(forest: Forest, root: Handle) -> TimeWindow | None:
    """The same for everything below it too."""
    reached: list[Handle] = []
    pending = deque((root,))
    while pending and len(reached) < MOST:
        reached.append(pending.popleft())
        pending.extend(child for child, _ in zip(forest.offspring(reached[-1]), range(MOST), strict=False))
    return hull(found for handle in reached if (found := extent(forest, handle)) is not None)
