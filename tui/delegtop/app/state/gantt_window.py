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
        self.grows = False
        """Whether it shows what is open, as long as that is."""
        self.fits = False
        """Whether it fits itself to the tree under the cursor."""
        self.follows = False
        """Whether now keeps its place, while it neither grows nor fits."""
        self._set_at = forest.shown_at
        """The moment that the window was put where it is."""
        self._fitted: tuple[Handle | None, int] | None = None

    def settle(self, root: Handle | None, extent: TimeWindow | None) -> None:
        """Time has passed, or the cursor is in another tree: `extent` is how long that lasts."""
        self._go_along()
        if self.grows and not self._is_filled(self._forest.shown_at):
            self.show_open()
        if not self.fits or extent is None:
            return
        if (root, extent.start) != self._fitted or not self._is_filled(extent.end):
            self._fitted = root, extent.start
            self.window = around(_wide(extent))

    def _is_filled(self, end: int) -> bool:
        """Whether what ends then fills enough of it, and ends in it."""
        return _STALE <= (end - self.window.start) / max(self.window.span, 1) <= 1

    def show_open(self) -> None:
        """From the first start of what is open until now; where nothing is, the tree under the cursor."""
        starts = [start for handle, _ in self._forest.in_states(ACTIVE) if (start := self._forest.times(handle)[0])]
        if not starts:
            self.fit()
            return
        now = self._forest.shown_at
        self.show(TimeWindow(Millis(max(min(starts), now - _LONGEST)), now))
        self.grows = True

    def fit(self) -> None:
        """The tree under the cursor again."""
        self.fits, self.grows, self._fitted = True, False, None

    def show(self, extent: TimeWindow) -> None:
        """From there to there."""
        self._take(around(_wide(extent), before=0.04, after=0.08))

    def zoom(self, factor: float, at: int) -> None:
        self._go_along()
        self._take(self.window.zoomed(factor, at))

    def shift(self, by: int) -> None:
        self._go_along()
        self._take(self.window.shifted(by))

    def go_to_now(self) -> None:
        """Now in view, and to stay there."""
        now = self._forest.shown_at
        self._take(self.window.shifted(now - self.window.start - round(self.window.span * _NOW_AT)))

    def _go_along(self) -> None:
        """Now keeps its place, if it is to."""
        passed, self._set_at = self._forest.shown_at - self._set_at, self._forest.shown_at
        if self.follows and not (self.grows or self.fits):
            self.window = self.window.shifted(passed)

    def _take(self, window: TimeWindow) -> None:
        """The operator's own window, as of now. It goes along with time if now is in it."""
        self.window, self._set_at = window, self._forest.shown_at
        self.grows = self.fits = False
        self.follows = window.holds(self._forest.shown_at)


def _wide(extent: TimeWindow) -> TimeWindow:
    """What took no time at all is still seen with its surroundings."""
    return TimeWindow(extent.start, max(extent.end, extent.start + _NARROWEST))
