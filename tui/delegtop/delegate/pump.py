"""Output on its way from a process to ours: passed on byte by byte as it comes, its end remembered."""

import os
import select
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import NoReturn

from delegtop.delegate.kept_output import KeptOutput

_CHUNK = 64 * 1024
_SETTLED = 0.05
"""Seconds without output after which everything that a process wrote before it ended has come: a terminal takes a
moment to hand it over, a pipe none."""
_LAST = 1024 * 1024
"""Bytes that a process may have left in a pipe when it ended: no pipe holds more."""


class OutputPump(Thread):
    """Reads one end, writes the other, in a thread of its own: a slow reader of ours holds up nobody but the writer.

    When our reader leaves, the pump leaves too, and the process learns of it as if there had been no pump between.
    """

    def __init__(self, source: int, target: int, kept: KeptOutput) -> None:
        super().__init__(name="delegtop pump", daemon=True)
        self.kept = kept
        self.ended = False
        self.source: int | None = source
        """What it reads from; None once that has ended."""
        self.target = target
        self._tell: Callable[[], None] = lambda: None
        self._wake, self._waker = os.pipe()
        self._leaving = False

    def begin(self, tell: Callable[[], None]) -> None:
        """Pass on from now on; `tell` is called when it has ended."""
        self._tell = tell
        self.start()

    def run(self) -> None:
        try:
            if not self._pass_on():
                return
        except OSError:
            pass  # the reader is gone, or a terminal was closed; closing our end tells the process
        finally:
            self.ended = True
            self._tell()
        if self.source is not None:
            os.close(self.source)
            self.source = None

    def _pass_on(self) -> bool:
        """Read to the end; False if the pump is to leave before."""
        source, left = self.source, _LAST
        if source is None:
            return True
        while True:
            ready = select.select([source, self._wake], [], [], _SETTLED if self._leaving else None)[0]
            if source in ready:
                try:
                    data = os.read(source, _CHUNK)
                except BlockingIOError:  # a terminal that had something and has not
                    continue
                if not data:
                    return True
                self.kept.add(data)
                write_all(self.target, data)
                left -= len(data) if self._leaving else 0
            elif self._leaving and not ready:
                return False
            if self._wake in ready:
                os.read(self._wake, 1)
            if left <= 0:
                return False

    def leave(self) -> None:
        """The process has ended, and somebody it left behind keeps its output: pass on what is there, then stop."""
        if not self._leaving:
            self._leaving = True
            os.write(self._waker, b"\0")


def write_all(target: int, data: bytes) -> None:
    """Write it all, however slowly it is read."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:  # somebody made the terminal or pipe we share non-blocking
            select.select([], [target], [])


def leave_behind(pumps: Sequence[OutputPump], *needed: int) -> None:
    """Leave a small process for output that outlives its command, as it would have gone on without us between.

    No pump is running any more, so nothing else of this process is needed in the new one but what is said to be.
    """
    routes = {pump.source: pump.target for pump in pumps if pump.source is not None}
    if routes and os.fork() == 0:
        _forward(routes, needed)


def _forward(routes: dict[int, int], needed: Sequence[int]) -> NoReturn:
    """Pass on until everybody has closed it."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        kept = {*routes, *routes.values(), *needed}
        for fd in range(_MOST_OPEN):
            if fd not in kept:
                with suppress(OSError):
                    os.close(fd)
        while routes:
            for source in select.select([*routes], [], [])[0]:
                try:
                    data = os.read(source, _CHUNK)
                    write_all(routes[source], data)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data:
                    os.close(source)
                    del routes[source]
    finally:
        os._exit(0)


_MOST_OPEN = 1024
