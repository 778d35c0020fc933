"""What the subtree of the selected row used, added up no more often than it is cheap."""

from delegtop.base.clock import monotonic
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.rollup import Totals, total

_SHARE = 50
"""Adding up may take one part in so many of the time."""


class SubtreeTotals:
    """The sum of one subtree at a time: whoever looks at another row asks for another sum."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._handle: Handle | None = None
        self._totals = Totals()
        self._due = 0.0

    def of(self, handle: Handle) -> Totals:
        began = monotonic()
        if handle != self._handle or began >= self._due:
            self._handle, self._totals = handle, total(self._forest, handle)
            self._due = monotonic() + _SHARE * (monotonic() - began)
        return self._totals
