"""A stream kept in a temporary file, so that it is read, and read again, like any other file."""

import os
import sys
import tempfile
import threading
from typing import BinaryIO

_CHUNK = 64 * 1024


class Spool:
    """Copies a byte stream into an unlinked temporary file, in a thread of its own."""

    def __init__(self, stream: BinaryIO) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 # it lives as long as the spool
        self.fd = self._file.fileno()
        self._stream = stream
        self._moved = threading.Event()
        self.finished = False
        threading.Thread(target=self._copy, name="delegtop-spool", daemon=True).start()

    @classmethod
    def stdin(cls) -> "Spool":
        return cls(sys.stdin.buffer)

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes, and whether that is all there will be."""
        finished = self.finished
        data = os.pread(self.fd, size, 0)
        return data, finished and len(data) < size

    def wait(self, timeout: float) -> None:
        self._moved.wait(timeout)
        self._moved.clear()

    def close(self) -> None:
        if self.finished:
            self._file.close()

    def _copy(self) -> None:
        try:
            while data := os.read(self._stream.fileno(), _CHUNK):
                self._file.write(data)
                self._file.flush()
                self._moved.set()
        finally:
            self.finished = True
            self._moved.set()
