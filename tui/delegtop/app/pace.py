"""Frames: the first change shows at once, then the screen changes at most so many times a second."""

from collections.abc import Callable
from typing import Protocol

from delegtop.clock import monotonic


class After(Protocol):
    """Call something after a delay, as Textual's `set_timer` does."""

    def __call__(self, delay: float, callback: Callable[[], None]) -> object: ...


class Frames:
    """Leading edge at once, the rest coalesced."""

    def __init__(self, rate: float, draw: Callable[[], None], after: After) -> None:
        self.rate = rate
        """Frames a second, at most."""
        self._draw, self._after = draw, after
        self._last = 0.0
        self._coming = False

    def request(self) -> None:
        """Something changed: draw now, or as soon as the last frame is old enough."""
        if self._coming:
            return
        rest = self._last + 1 / self.rate - monotonic()
        if rest <= 0:
            self._frame()
            return
        self._coming = True
        self._after(rest, self._frame)

    def _frame(self) -> None:
        self._coming = False
        self._draw()
        self._last = monotonic()
