"""Frames: a change shows at once; only when changes keep coming does the screen hold to so many frames a second."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from delegtop.base.clock import monotonic


class FramePump(Protocol):
    """Anything of Textual's that takes messages."""

    def call_next(self, callback: Callable[[], Any]) -> None: ...


def after(pump: FramePump, delay: float, callback: Callable[[], Any]) -> None:
    """As `set_timer`, without the task that it makes for every timer, and never lost.

    A timer of Textual's that is overdue when it begins counts as one that was missed. On a busy machine a millisecond
    passes before it begins, and whatever waits for it waits for ever.
    """
    asyncio.get_running_loop().call_later(delay, pump.call_next, callback)


class After(Protocol):
    """Call something after a delay, as Textual's `set_timer` does."""

    def __call__(self, delay: float, callback: Callable[[], object]) -> object: ...


BURST = 6
"""So many frames may follow each other quickly before the rate counts."""
QUICKLY = 1 / 60
LULL = 0.5
"""Seconds within which they count as one burst; longer where so many frames take longer."""
LOADING, UNWATCHED = 5, 2
"""Frames a second while a big log loads, and if nobody is at the keys: every frame is time taken from loading it."""
_SOONEST = 0.5
"""The part of the time between two frames that goes by in any case."""
STREAM, UNTOUCHED = 200, 3.0
"""Events a second from which on nobody can read along, and seconds after which nobody is at the keys."""
STREAMING = 2.75
"""Frames a second in a stream that nobody touches: each shows more, and no more is to be seen in many."""


def pace(rate: float, *, loading: bool, arriving: int, untouched: float) -> float:
    """Frames a second where `rate` is wanted: by whether all is read, how many events came in the last second, and for
    how many seconds nobody pressed a key."""
    if loading:
        return UNWATCHED if untouched >= UNTOUCHED else LOADING
    return min(rate, STREAMING) if arriving >= STREAM and untouched >= UNTOUCHED else rate


class Frames:
    """Leading edge at once, the rest coalesced."""

    def __init__(self, rate: float, draw: Callable[[], None], after: After) -> None:
        self.rate = rate
        """Frames a second, at most."""
        self._draw, self._after = draw, after
        self._frames: deque[float] = deque([float("-inf")] * BURST, BURST)
        self.coming = False
        """Whether a frame is on its way that will show whatever changes until then."""

    def request(self) -> None:
        """Something changed: draw now, or as soon as the last frame is old enough."""
        if self.coming:
            return
        now = monotonic()
        is_burst = now - self._frames[0] < max(LULL, BURST / self.rate)
        rest = self._frames[-1] + (1 / self.rate if is_burst else min(QUICKLY, 1 / self.rate)) - now
        if rest <= 0:
            self._frame()
            return
        self.coming = True
        self._after(rest, self._frame)

    def hasten(self) -> None:
        """All that the next frame is to show is there: it need not wait for its full turn."""
        if not self.coming and monotonic() - self._frames[-1] > _SOONEST / self.rate:
            self._frame()
        else:
            self.request()

    def _frame(self) -> None:
        self.coming = False
        self._draw()
        self._frames.append(monotonic())
