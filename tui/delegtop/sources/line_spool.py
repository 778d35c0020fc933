"""Lines that came from elsewhere, kept in temporary files without a name so that they can be read again.

There is a bound to how much is kept; what is oldest goes first. One thread appends, any may read.
"""

import os
import tempfile
import threading
from collections.abc import Iterator
from typing import IO, NamedTuple

MOST = 256 * 1024 * 1024
"""Bytes that are kept."""
_PIECES = 4
_BLOCK = 256 * 1024


class _Piece(NamedTuple):
    """A part of it: where it begins, and its file."""

    start: int
    file: IO[bytes]


class LineSpool:
    """Whole lines by their offset, counted from the first that ever came."""

    def __init__(self, most: int = MOST) -> None:
        self._room = max(most // _PIECES, 1)
        self._pieces: list[_Piece] = []
        self._lock = threading.Lock()
        self.size = 0
        """Where the next line will stand."""

    @property
    def start(self) -> int:
        """Where the oldest line stands that is still there."""
        with self._lock:
            return self._pieces[0].start if self._pieces else self.size

    def append(self, lines: bytes) -> None:
        """Keep whole lines. OSError if the disk is full."""
        with self._lock:
            if not self._pieces or self.size - self._pieces[-1].start >= self._room:
                self._pieces.append(_Piece(self.size, tempfile.TemporaryFile(buffering=0)))  # noqa: SIM115 - it lives as long as the spool
                while len(self._pieces) > _PIECES:
                    self._pieces.pop(0).file.close()
            start, file = self._pieces[-1]
            done = 0
            while done < len(lines):
                done += os.pwrite(file.fileno(), lines[done:], self.size - start + done)
            self.size += len(lines)

    def lines(self, offset: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Every line from there on, without its newline, and where it stands; what is no longer there is left out."""
        offset, rest = max(offset, self.start), b""
        while data := self._read(offset + len(rest), end):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield offset, line
                offset += len(line) + 1

    def _read(self, offset: int, end: int | None) -> bytes:
        with self._lock:
            stop = self.size if end is None else min(end, self.size)
            piece = next((each for each in reversed(self._pieces) if each.start <= offset), None)
            if piece is None or offset >= stop:
                return b""
            following = next((each.start for each in self._pieces if each.start > piece.start), stop)
            return os.pread(piece.file.fileno(), min(_BLOCK, stop - offset, following - offset), offset - piece.start)

    def close(self) -> None:
        with self._lock:
            for piece in self._pieces:
                piece.file.close()
            self._pieces.clear()
