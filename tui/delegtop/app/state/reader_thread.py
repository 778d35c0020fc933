"""The reader thread: it polls the feed and hands batches to the screen through a bounded queue.

A full queue stops the reader until somebody asks for more than is in it: that is the backpressure, and the files
themselves are the buffer. While much is to be read the queue is short, so that reading and taking in take turns: two
threads that are at work at once only take the interpreter from each other, a thousand times a second. The thread never
waits where it cannot be woken, so quitting is prompt, and a failure ends as words on the screen.
"""

import gc
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from delegtop.base.clock import monotonic
from delegtop.base.system_errors import reason_of
from delegtop.feed.batch import Batch
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Readable
from delegtop.model.store.column_growth import give_back, share_one_heap

_QUEUED, _IN_TURN = 32, 2
"""Batches that wait to be taken, at most; and once so many have been read and there is more, few enough to be in the
processor's cache."""
_WAIT = 1.0
"""Seconds. Whatever happens wakes the feed earlier; looking oftener would only keep an idle machine awake."""
_NAP = 0.01
_FIRST = 0.1
"""Seconds in which the first rows are painted before a history is looked through: both at once take much longer."""
_STATUS_EVERY, _STATUS_SHARE = 0.5, 300
"""Seconds between two looks at how each source is, and so many times as long as one takes: of thousands hardly one is
ever another than it was."""
_SELDOM, _SOON, _NEVER = 5_000, 4, 1_000_000
"""New objects that may be garbage before the collector looks at them, which are few enough for a key to wait; looks
before it looks once more at what stayed of them; and before it looks at everything."""
_FAST_SWITCH = 0.0005


class Reader:
    """One feed, read in a thread. `wake` is called from that thread when there is something to look at."""

    def __init__(self, feed: Readable, wake: Callable[[], None]) -> None:
        self.feed = feed
        self.loading = True
        """True until everything that was there at the start has been taken from the queue."""
        self.failure = ""
        """Why the thread ended, if it failed."""
        self.progress = (0, 0)
        self.statuses: Sequence[SourceStatus] = ()
        self._wake = wake
        self._batches: SimpleQueue[Batch] = SimpleQueue()
        self._is_full = self._is_awaited = False
        self._asks: SimpleQueue[None] = SimpleQueue()
        """Told when somebody asks for more than is in a full queue."""
        self._caught_up = False
        self._behind = False
        self._rest_until = self._look_from = float("-inf")
        self._given, self._in_one = 0, False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="delegtop-reader", daemon=True)
        self._progress_from = self._status_from = 0.0
        self._haste = _Haste()
        feed.rest_with(self._rest)

    def start(self) -> None:
        self._haste.begin()
        share_one_heap()
        self._thread.start()

    @property
    def started(self) -> bool:
        return self._thread.ident is not None

    def stop(self, timeout: float = 0.3) -> bool:
        """Ask the thread to end; True if it did in time."""
        self._stop.set()
        self._asks.put(None)
        self.feed.wake()
        self._haste.end()
        self._haste.usual()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def busy(self) -> bool:
        """Whether what was there at the start, or the history behind it, is still being read."""
        return self.loading or self._behind

    def tidy(self) -> None:
        """Nobody waits for a key: look through what loading and judging made, if both are over, once."""
        self._haste.tidy()

    def page_closed(self) -> None:
        """A page that lay over the monitor is gone: its room is needed for the next."""
        self._haste.page_closed()

    def rest(self, seconds: float) -> None:
        """Read nothing for that long: the operator comes first."""
        self._rest_until = monotonic() + seconds

    def look_after(self, seconds: float) -> None:
        """Do not look again before that: what is found meanwhile nobody would draw. All that the look finds is told in
        one."""
        self._look_from = monotonic() + seconds

    @property
    def waiting(self) -> bool:
        """Is there a batch to take, or would there be one if somebody asked?"""
        return self._is_full or not self._batches.empty()

    def take(self, seconds: float = 0.0) -> Batch | None:
        """The next batch, if there is one or one comes within that time."""
        caught_up = self._caught_up
        try:
            return self._batches.get_nowait()
        except Empty:
            if self._is_full:
                self._is_full = False
                self._asks.put(None)
        if seconds > 0 and not caught_up:
            with suppress(Empty):
                return self._awaited(seconds)
        self.loading = self.loading and not caught_up
        if not self.loading and not self._behind:
            self._haste.end()
        return None

    def _awaited(self, seconds: float) -> Batch:
        self._is_awaited = True
        try:
            return self._batches.get(timeout=seconds)
        finally:
            self._is_awaited = False

    def _run(self) -> None:
        try:
            self._poll()
            self._behind = self.feed.is_behind
            self._caught_up = True
            self._publish(force=True)
            while not self._stop.is_set():
                self.feed.wait(_WAIT)
                delay = self._look_from - monotonic()
                if self._stop.wait(max(delay, 0.0)):
                    break
                self._in_one = delay > 0
                self._poll()
                if self._in_one:
                    self._in_one = False
                    self._wake()
                self._behind = self.feed.is_behind
        except Exception as error:  # noqa: BLE001 -- whatever stops the reader is told on the screen, not lost in a thread
            self.failure = f"reading stopped: {type(error).__name__}: {reason_of(error)}"
            self._behind, self._caught_up = False, True  # nothing more comes
            self._wake()
        finally:
            self.feed.close()

    def _poll(self) -> None:
        for batch in self.feed.poll():
            if not self._put(batch):
                return
            self._publish()
        self._publish()

    def _put(self, batch: Batch) -> bool:
        if self._stop.is_set():
            return False
        in_turn = self.busy and not self._in_one and self._given >= _QUEUED
        most = _IN_TURN if in_turn else _QUEUED
        is_full = self._is_full = self._batches.qsize() + 1 >= most
        self._batches.put(batch)
        if not self._is_awaited and (not self._in_one or is_full):
            self._wake()
        if not self._given and self.feed.is_behind:
            self.rest(_FIRST)
        self._given += 1
        if is_full:
            self._asks.get()
        self._rest()
        return not self._stop.is_set()

    def _rest(self) -> None:
        while monotonic() < self._rest_until and not self._stop.wait(_NAP):
            pass

    def _publish(self, *, force: bool = False) -> None:
        """Progress and health, seldom enough to cost nothing."""
        began = monotonic()
        if self.loading and (force or began >= self._progress_from):
            self._progress_from = began + _STATUS_EVERY
            self.progress = self.feed.progress()
        if began < self._status_from and not force:
            return
        statuses = self.feed.statuses()
        if statuses != self.statuses or force:
            self.statuses = statuses
            if not self._in_one:
                self._wake()
        ended = monotonic()
        self._status_from = ended + max(_STATUS_EVERY, _STATUS_SHARE * (ended - began))


class _Haste:
    """Loading makes many objects that stay, so garbage is looked for seldom and among the newest alone, and not among
    what the program is made of. All that was made meanwhile is looked through once, when nobody waits for a key.

    The short switch interval lets the screen answer keys while the reader is busy. What reading needed for a while and
    what stays lie mixed, so the system is given back what is free in between.
    """

    def __init__(self) -> None:
        self._interval = 0.0
        self._thresholds: tuple[int, int, int] | None = None
        self._leaves_alone = False

    def begin(self) -> None:
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(_FAST_SWITCH)
        self._thresholds = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(_SELDOM, _SOON, _NEVER)
        gc.enable()

    def end(self) -> None:
        if not self._interval:
            return
        give_back()
        sys.setswitchinterval(self._interval)
        self._interval = 0.0

    def page_closed(self) -> None:
        """A page is garbage in circles, of some thousand objects. Were several to wait for the collector, what is read
        would come to lie between them, and none of their room could be given back. Until all is read, what was looked
        through once is then left alone; later little is left to look through."""
        gc.collect()
        if self._thresholds is not None:
            gc.freeze()
            self._leaves_alone = True

    def tidy(self) -> None:
        if self._interval or self._thresholds is None:
            return
        if self._leaves_alone:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
        give_back()  # pages that were looked at meanwhile are among it
        self.usual()

    def usual(self) -> None:
        """Look for garbage as any program does."""
        if self._thresholds is not None:
            gc.set_threshold(*self._thresholds)
            self._thresholds = None
