"""A stream kept in a temporary file, so that it is read, and read again, like any other file."""

import io
import os
import sys
import threading
from typing import BinaryIO

from delegtop.base.system_errors import reason_within
from delegtop.sources.text_identity.text_trace import first_data

_CHUNK = 64 * 1024


class Spool:
    """Copies a byte stream into an unlinked temporary file, in a thread of its own, until it ends."""

    def __init__(self, stream: BinaryIO) -> None:
        import tempfile  # only standard input is kept so

        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it lives as long as the spool
        self.fd = self._file.fileno()
        self._stream = stream
        self._moved = threading.Event()
        self._lock = threading.Lock()
        self._size = 0
        self.finished = False
        self.error = ""
        """Why it ended early; empty if it did not."""
        threading.Thread(target=self._copy, name="delegtop-spool", daemon=True).start()

    @classmethod
    def stdin(cls) -> "Spool":
        return cls(sys.stdin.buffer)

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes, and whether that is all there will be."""
        finished = self.finished
        data = os.pread(self.fd, size, 0)
        if data[:1] == b"\0" and (start := first_data(self.fd, 0, self._size)) is not None:
            return os.pread(self.fd, size, start), False
        return data, finished and len(data) < size

    def wait(self, timeout: float) -> None:
        """Until something arrived, at most that many seconds."""
        self._moved.wait(timeout)
        self._moved.clear()

    def close(self) -> None:
        """Keep nothing more. A thread that still waits for the stream ends with the next bytes or the process."""
        with self._lock:
            self._file.close()

    def _copy(self) -> None:
        try:
            while data := self._next():
                with self._lock:
                    if self._file.closed:
                        break
                    while data:  # at a place of its own: whoever reads the file may move the descriptor's
                        written = os.pwrite(self.fd, data, self._size)
                        self._size += written
                        data = data[written:]
                self._moved.set()
        except (OSError, ValueError) as error:
            self.error = reason_within(error)
        finally:
            self.finished = True
            self._moved.set()

    def _next(self) -> bytes:
        """What is there now, without waiting for a whole block."""
        try:
            return os.read(self._stream.fileno(), _CHUNK)
        except io.UnsupportedOperation:
            return self._stream.read(_CHUNK)
