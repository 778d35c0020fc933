"""Wake-ups: polling is the truth, watchfiles only shortens the wait."""

import threading
from collections.abc import Sequence

from delegtop.clock import monotonic

_FAST = 0.02
_SLOW = 0.25
_IDLE = 1.0


class Pace:
    """How soon to look again: at once while something grows, seldom when nothing does."""

    def __init__(self) -> None:
        self._moved_at = -1e9

    def moved(self) -> None:
        self._moved_at = monotonic()

    def interval(self) -> float:
        quiet = monotonic() - self._moved_at
        return _FAST if quiet < 1 else _SLOW if quiet < 30 else _IDLE


class Waker:
    """A thread that waits for changes in folders and wakes whoever waits."""

    def __init__(self) -> None:
        self._stirred = threading.Event()
        self._stop = threading.Event()
        self._directories: tuple[str, ...] = ()
        self._thread: threading.Thread | None = None
        self.mode = "polling"

    def watch(self, directories: Sequence[str]) -> None:
        """Watch these from now on."""
        wanted = tuple(directories)
        if wanted == self._directories or not wanted:
            return
        self._directories = wanted
        self._stop.set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(wanted, self._stop), name="delegtop-waker", daemon=True)
        self._thread.start()

    def stirred(self) -> bool:
        """Has anything stirred since the last time this was asked?"""
        was = self._stirred.is_set()
        self._stirred.clear()
        return was

    def wait(self, timeout: float) -> bool:
        """Until something stirs, at most that long."""
        return self._stirred.wait(timeout)

    def close(self) -> None:
        self._stop.set()

    def _run(self, directories: tuple[str, ...], stop: threading.Event) -> None:
        from watchfiles import watch

        try:
            self.mode = "watching"
            for _ in watch(
                *directories, watch_filter=None, step=200, debounce=300, stop_event=stop, raise_interrupt=False
            ):
                self._stirred.set()
        except (OSError, RuntimeError):
            self.mode = "polling"
