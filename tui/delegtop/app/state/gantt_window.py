"""Through what window of time the operator looks at the bars. No widget, no painting."""

from delegtop.base.clock import HOUR, SECOND, Millis
from delegtop.model.forest import Forest
from delegtop.model.history.time_window import TimeWindow, around
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle

_STALE = 0.7
"""A window is fitted anew when so little of it is still filled."""
_NOW_AT = 0.85
"""Where in the window now stands after going to it."""
_NARROWEST = 10 * SECOND
_LONGEST = 24 * HOUR
"""What has been open for longer begins left of the window."""


class GanttWindow:
    """A window on what is open now, until the operator takes it elsewhere or wants it to fit a tree."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.window = TimeWindow(forest.shown_at - HOUR, forest.shown_at)
        self.fits = False
        """Whether it fits itself to the tree under the cursor."""
        self.follows = False
        """Whether now keeps its place, while it does not fit itself."""
        self._now = forest.shown_at
        self._fitted: tuple[Handle | None, int] | None = None

    def settle(self, root: Handle | None, extent: TimeWindow | None) -> None:
        """Time has passed, or the cursor is in another tree: `extent` is how long that lasts."""
        passed, self._now = self._forest.shown_at - self._now, self._forest.shown_at
        if not self.fits:
            if self.follows:
                self.window = self.window.shifted(passed)
            return
        if extent is None:
            return
        filled = (extent.end - self.window.start) / max(self.window.span, 1)
        if (root, extent.start) != self._fitted or not _STALE <= filled <= 1:
            self._fitted = root, extent.start
            self.window = around(_wide(extent))

    def show_open(self) -> None:
        """From the first start of what is open until now; where nothing is, the tree under the cursor."""
        starts = [start for handle, _ in self._forest.in_states(ACTIVE) if (start := self._forest.times(handle)[0])]
        if not starts:
            self.fit()
            return
        now = self._forest.shown_at
        self.show(TimeWindow(Millis(max(min(starts), now - _LONGEST)), now))

    def fit(self) -> None:
        """The tree under the cursor again."""
        self.fits, self._fitted = True, None

    def show(self, extent: TimeWindow) -> None:
        """From there to there."""
        self._take(around(_wide(extent), before=0.04, after=0.08))

    def zoom(self, factor: float, at: int) -> None:
        self._take(self.window.zoomed(factor, at))

    def shift(self, by: int) -> None:
        self._take(self.window.shifted(by))

    def go_to_now(self) -> None:
        """Now in view, and to stay there."""
        now = self._forest.shown_at
        self._take(self.window.shifted(now - self.window.start - round(self.window.span * _NOW_AT)))

    def _take(self, window: TimeWindow) -> None:
        """The operator's own window. It goes along with time if now is in it."""
        self.window, self.fits = window, False
        self.follows = window.holds(self._forest.shown_at)


def _wide(extent: TimeWindow) -> TimeWindow:
    """What took no time at all is still seen with its surroundings."""
    return TimeWindow(extent.start, max(extent.end, extent.start + _NARROWEST))
