"""Work between frames: however much there is of it, keys are looked at and pictures drawn between two slices."""

from collections.abc import Callable

from delegtop.app.state.frame_pace import FramePump, after

SLICE = 0.008
"""Seconds one slice may take."""
_GAP = 0.001


class IdleWork:
    """One kind of work. However often it is asked for, it waits for its turn once."""

    def __init__(self, pump: FramePump, work: Callable[[], object], gap: float = _GAP) -> None:
        """`work` does a slice, and asks again if there is more; `gap` is the seconds before it."""
        self._pump, self._work, self._gap = pump, work, gap
        self.waits = False
        """Whether a slice is on its way."""

    def ask(self, gap: float | None = None) -> None:
        """There is something to do: do it soon, unless that is on its way."""
        if not self.waits:
            self.waits = True
            after(self._pump, self._gap if gap is None else gap, self._turn)

    def _turn(self) -> None:
        self.waits = False
        self._work()
