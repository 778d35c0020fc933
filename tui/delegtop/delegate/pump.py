"""Output on its way from a process to ours: passed on byte by byte as it comes, its end remembered."""

import os
import re
import select
from collections import deque
from collections.abc import Callable
from threading import Thread

from delegtop.base.clock import monotonic

_CHUNK = 64 * 1024
_GLANCE = 4 * 1024
_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class OutputPump(Thread):
    """Reads one end, writes the other, in a thread of its own: a slow reader of ours holds up nobody but the writer.

    When our reader leaves, the pump leaves too, and the process learns of it as if there had been no pump between.
    """

    def __init__(self, source: int, target: int, keep: int, tell: Callable[[], None]) -> None:
        super().__init__(name="delegtop pump", daemon=True)
        self.heard_at = 0.0
        """When the last output came, by the monotonic clock; 0 if none did."""
        self.ended = False
        self._source = source
        self._target = target
        self._keep = keep
        self._tell = tell
        self._kept: deque[bytes] = deque()
        self._size = 0

    def run(self) -> None:
        try:
            while data := os.read(self._source, _CHUNK):
                self._remember(data)
                self._write(data)
        except OSError:
            pass  # the reader is gone; closing the pipe tells the process
        finally:
            os.close(self._source)
            self.ended = True
            self._tell()

    def tail(self) -> bytes:
        """The last of the output, at most about as much as is kept."""
        return b"".join(self._kept.copy())

    def last_line(self) -> str:
        """The last line of the output that is not empty, without colours."""
        lines = _ESCAPES.sub(b"", self.tail()[-_GLANCE:]).decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _remember(self, data: bytes) -> None:
        self.heard_at = monotonic()
        self._kept.append(data)
        self._size += len(data)
        while self._size - len(self._kept[0]) >= self._keep:
            self._size -= len(self._kept.popleft())

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._target, view) :]
            except BlockingIOError:  # somebody made the terminal or pipe we share non-blocking
                select.select([], [self._target], [])
