"""Wake-ups. Polling is the truth; watchfiles only shortens the wait.

Its notifications stop without a word when a queue overflows, when a folder is removed and made again, on some file
systems altogether. So a wake-up says no more than "look now", and the longest wait between two looks is short anyway.
"""

import atexit
import os
import threading
import weakref
from collections.abc import Iterable, Sequence

from delegtop.base.clock import monotonic
from delegtop.base.system_errors import reason_of

FAST = 0.03
SLOW = 0.25
IDLE = 1.0
_HOT = 3.0
_SHARE = 40
_STEP = 50
_DEBOUNCE = 100
"""Milliseconds. The defaults would hold back changes for up to 1.6 s when many files are written at once.
Looking so often costs less than a thousandth of a core."""
_LAST_STEP = 2.0
"""Seconds: many steps, for a machine under load; a file system that does not answer must not hold the program."""


def interval(quiet: float) -> float:
    """Seconds until the next look, `quiet` seconds after something last grew: soon at first, then ever later: what has
    rested for a minute is not waited for by quarters of a second."""
    return FAST if quiet < _HOT else min(max(quiet / _SHARE, SLOW), IDLE)


class Pace:
    """How soon to look again: at once while something grows, seldom when nothing does."""

    def __init__(self) -> None:
        self._moved_at = float("-inf")

    def moved(self) -> None:
        """Something grew just now."""
        self._moved_at = monotonic()

    def interval(self) -> float:
        return interval(monotonic() - self._moved_at)


class Waker:
    """A thread that waits for changes in folders and wakes whoever waits."""

    def __init__(self) -> None:
        self._stirred = threading.Event()
        self._stop = threading.Event()
        self._watched: int | None = None
        """The digest of the folders: of thousands, what is kept has to be little."""
        self._watching = False
        self.trouble = ""
        """Why changes are not reported, though somebody asked for it."""
        self._changes: list[str] = []
        self._nudged = False

    @property
    def mode(self) -> str:
        """`watching` while changes are reported, `polling` while only looking tells."""
        return "watching" if self._watching else "polling"

    def watch(self, directories: Sequence[str]) -> None:
        """Watch these folders themselves, not what lies below them, from now on."""
        wanted = [found for directory in directories if (found := _identity(directory))]
        digest = hash(tuple(wanted)) if wanted else None
        if digest == self._watched:
            return
        self._stop.set()
        self._stop = threading.Event()
        self._watched = digest
        self._watching = False
        if wanted:
            arguments = ([directory for directory, *_ in wanted], self._stop)
            thread = threading.Thread(target=self._run, args=arguments, name="delegtop-waker", daemon=True)
            _watching[thread] = self._stop
            thread.start()

    def wait(self, timeout: float) -> bool:
        """Until something stirs, at most that many seconds; whether something did."""
        return self._stirred.wait(timeout)

    def wake(self) -> None:
        """As if something had stirred."""
        self._stirred.set()

    def nudge(self) -> None:
        """Let whoever waits go on, though nothing has stirred here."""
        self._nudged = True
        self._stirred.set()

    def stirred(self) -> bool:
        """Whether anything has stirred since this was last asked."""
        was, nudged = self._stirred.is_set(), self._nudged
        self._stirred.clear()
        self._nudged = False
        return was and (not nudged or bool(self._changes))

    def grown(self) -> Sequence[str]:
        """The files that were written to since this was last asked; an empty name for any other change."""
        grown, self._changes = self._changes, []
        return grown

    def close(self) -> None:
        """Stop watching. The thread ends by itself within a step; only the end of the program waits for it."""
        self._stop.set()
        self._stirred.set()
        self._watching = False

    def _run(self, directories: list[str], stop: threading.Event) -> None:
        try:
            self._follow(directories, stop)
        except Exception as error:  # noqa: BLE001 - no watches left, a folder gone, an odd file system: polling goes on
            self._watching = False
            self.trouble = reason_of(error)
        if not stop.is_set():  # it ended by itself: try again when asked next
            self._watching = False
            self._watched = None

    def _follow(self, directories: list[str], stop: threading.Event) -> None:
        from watchfiles import Change, watch  # costs something to import, and the first look needs no watching

        self._watching = not stop.is_set()
        for changes in watch(
            *directories,
            watch_filter=None,
            step=_STEP,
            debounce=_DEBOUNCE,
            stop_event=stop,
            recursive=False,
            raise_interrupt=False,
        ):
            self.trouble = ""
            self._tell([path if change is Change.modified else "" for change, path in changes])

    def _tell(self, changes: Iterable[str]) -> None:
        self._changes += changes
        self._stirred.set()


_watching: weakref.WeakKeyDictionary[threading.Thread, threading.Event] = weakref.WeakKeyDictionary()
"""Every thread that watches, with what stops it."""


@atexit.register
def _end_watching() -> None:
    """Let every thread leave watchfiles' native code before the interpreter goes: one cut off in there ends the program
    with a segmentation fault after all its work was done.
    """
    watching = list(_watching.items())
    for _, stop in watching:
        stop.set()
    for thread, _ in watching:
        if thread.ident is not None:  # a signal may come before it was started
            thread.join(_LAST_STEP)


def _identity(directory: str) -> tuple[str, int, int] | None:
    """The folder and its inode: one that was removed and made again must be watched anew."""
    try:
        found = os.stat(directory)  # noqa: PTH116 - plain strings, asked at every scan
    except OSError:
        return None
    return directory, found.st_dev, found.st_ino
