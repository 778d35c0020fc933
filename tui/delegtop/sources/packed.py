"""A compressed log read as lines. Such a file is written once and left alone, so it is read again only if it changed.

Places are counted in the text inside, so that an origin names the same line before and after compression.
"""

import os
import stat
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from typing import BinaryIO, ClassVar

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.sources.file_status import FileStatus, State
from delegtop.sources.inode import Stamp, settled, stamp_of
from delegtop.sources.lines import OVERSIZE, oversize
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.unpack import Spoilt
from delegtop.sources.unzip import blocks

LINE_LIMIT = 1024 * 1024
ENDLESS = "endless line"
ENDLESS_FROM = 64 * 1024 * 1024
"""A line this long is no line, and what follows it is not worth waiting for."""


class Packed:
    """One compressed log. One thread polls; `raw` may be asked by any."""

    is_text: ClassVar = True

    def __init__(self, path: str, *, limit: int = LINE_LIMIT, endless: int = ENDLESS_FROM) -> None:
        self.path = path
        self._limit = limit
        self._endless = endless
        self._seen: tuple[int, Stamp] | None = None
        self._offset = self._line = 0
        self._digest = blake2b()
        """Of the text up to the offset: a rewritten file that begins with it goes on, any other begins anew."""
        self._wrong = ""
        self._state: State = "live"
        self._size = self._read = 0
        self._written: Millis | None = None
        self._running: Generator[Line | Unreadable, None, None] | None = None

    def poll(self) -> Iterator[Line | Unreadable]:
        """Every line not given before, if the file changed. One left early goes on behind the last line taken."""
        if self._running is not None:
            self._running.close()
        self._running = self._poll()
        return self._running

    def status(self) -> FileStatus:
        return FileStatus(self.path, self._state, self._wrong, self._size, self._read, self._written)

    def raw(self, origin: Origin) -> bytes | None:
        """The line at that place, read again; None if it is no longer there."""
        try:
            with _open(self.path) as file:
                return self._line_at(blocks(file, os.fstat(file.fileno()).st_size), origin.offset)
        except (OSError, Spoilt):
            return None

    def about(self, needle: bytes, most: int) -> list[Line]:
        """The last lines that hold the needle, read again; what was polled stays polled."""
        found = Packed(self.path, limit=self._limit, endless=self._endless).poll()
        return list(deque((line for line in found if isinstance(line, Line) and needle in line.data), most))

    def close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    def _poll(self) -> Generator[Line | Unreadable, None, None]:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - asked at every poll
            if self._seen == (found.st_ino, stamp_of(found)):
                return
            with _open(self.path) as file:
                found = os.fstat(file.fileno())
                self._size, self._written = found.st_size, Millis(found.st_mtime_ns // 1_000_000)
                self._state = "loading"
                yield from self._lines(file)
                self._read = self._size
        except FileNotFoundError:
            self._state, self._wrong = "gone", "not found"
            return
        except OSError as error:
            self._state, self._wrong = "unreadable", error.strerror or str(error)
            return
        stamp = settled(stamp_of(found))
        self._seen = stamp and (found.st_ino, stamp)

    def _lines(self, file: BinaryIO) -> Generator[Line | Unreadable, None, None]:
        """The lines of the text that are new. What spoils it is told once, however often the file changes."""
        before, self._wrong = self._wrong, ""
        if not self._continues(file):
            self._offset = self._line = self._read = 0
            self._digest = blake2b()
        file.seek(0)
        try:
            yield from self._new_lines(file)
            self._state = "live"
        except Spoilt as spoilt:
            self._wrong = str(spoilt)
            self._state = "live" if self._line else "unreadable"
            if before != self._wrong:
                yield Unreadable(self._here(), spoilt.reason, spoilt.detail)

    def _new_lines(self, file: BinaryIO) -> Generator[Line | Unreadable, None, None]:
        line, length, digest = bytearray(), 0, self._digest.copy()
        for block in _from(blocks(file, self._size), self._offset):
            self._read = file.tell()
            for part in BytesIO(block):
                digest.update(part)
                length += len(part)
                if len(line) <= self._limit:
                    line += part
                if part.endswith(b"\n"):
                    yield self._finish(bytes(line[:-1]), length, digest.copy())
                    line, length = bytearray(), 0
            if length > self._endless:
                raise Spoilt(ENDLESS, f"line {self._line + 1} has more than {self._endless:,} bytes and no end")
        if length:
            yield self._finish(bytes(line), length, digest)

    def _finish(self, line: bytes, length: int, digest: blake2b) -> Line | Unreadable:
        """The line that ends here. Whoever stops listening after it goes on behind it."""
        here = self._here()
        self._line += 1
        self._offset += length
        self._digest = digest
        if length <= self._limit + 1:
            return Line(here, line)
        return Unreadable(here, OVERSIZE, oversize(length, self._limit))

    def _here(self) -> Origin:
        return Origin(self.path, self._line + 1, self._offset)

    def _continues(self, file: BinaryIO) -> bool:
        """Whether the text begins with what was read of it before."""
        if not self._offset:
            return False
        digest, left = blake2b(), self._offset
        try:
            for block in blocks(file, self._size):
                digest.update(block[:left])
                left -= min(left, len(block))
                if not left:
                    return digest.digest() == self._digest.digest()
        except Spoilt:
            return False
        return False

    def _line_at(self, text: Iterator[bytes], offset: int) -> bytes | None:
        line = bytearray()
        for block in _from(text, offset):
            line += block
            end = line.find(b"\n")
            if end >= 0 or len(line) > self._limit:
                return bytes(line[: end if end >= 0 else self._limit])
        return bytes(line) or None


def head(path: str, size: int) -> tuple[bytes, bool]:
    """The first bytes of the text, and whether that is all of it; OSError if there is none to be had."""
    data = bytearray()
    with _open(path) as file:
        try:
            for block in blocks(file, os.fstat(file.fileno()).st_size):
                data += block
                if len(data) > size:
                    return bytes(data[:size]), False
        except Spoilt as spoilt:
            if not data:
                raise OSError(0, str(spoilt)) from spoilt
            return bytes(data[:size]), False
    return bytes(data), True


def text(path: str, limit: int) -> Iterator[bytes]:
    """The text a block at a time, as far as it can be read and at most about that much of it."""
    length = 0
    with _open(path) as file, suppress(Spoilt):
        for block in blocks(file, os.fstat(file.fileno()).st_size):
            yield block
            length += len(block)
            if length > limit:
                return


def _from(text: Iterator[bytes], offset: int) -> Iterator[bytes]:
    for block in text:
        if offset < len(block):
            yield block[offset:]
        offset -= min(offset, len(block))


def _open(path: str) -> BinaryIO:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    file = open(fd, "rb", buffering=0)  # noqa: PTH123, SIM115 - a descriptor, and the caller closes it
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        file.close()
        raise OSError(0, "not a regular file")
    return file
