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
from delegtop.base.system_errors import reason_within
from delegtop.sources.file_status import FileStatus, State
from delegtop.sources.inode import Stamp, settled, stamp_of
from delegtop.sources.lines import OVERSIZE, oversize
from delegtop.sources.records import Line, Unreadable, excerpt, fault
from delegtop.sources.text_identity.text_trace import TAIL, UNENDED, TextTrace, key_of
from delegtop.sources.text_identity.unpacked_text import Reached, UnpackedTexts
from delegtop.sources.unpack import Spoilt, is_hole
from delegtop.sources.unzip import blocks

LINE_LIMIT = 1024 * 1024
UNTERMINATED = "unterminated"
ENDLESS = "endless line"
ENDLESS_FROM = 64 * 1024 * 1024
"""A line this long is no line, and what follows it is not worth waiting for."""
_HEAD = 1024
_WINDOW = 2 * LINE_LIMIT


class Packed:
    """One compressed log. One thread polls; `raw` may be asked by any."""

    is_text: ClassVar = True

    def __init__(
        self,
        path: str,
        *,
        limit: int = LINE_LIMIT,
        endless: int = ENDLESS_FROM,
        texts: UnpackedTexts | None = None,
    ) -> None:
        """With `texts` nothing is read here that was read elsewhere, or under another name."""
        self.path = path
        self._texts = texts
        self._trace: TextTrace | None = None
        self._told: TextTrace | None = None
        """The trace that others were let know of."""
        self._known: Reached | None = None
        """What of the text was known before, and from where."""
        self._is_open = False
        """The offset stands inside a line whose beginning was delivered."""
        self._limit = limit
        self._endless = endless
        self._seen: tuple[int, Stamp] | None = None
        self._offset = self._line = 0
        self._fragment = -1
        """Where a last line ends that is no whole record and was told so: its other half may follow."""
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
            if self._seen == (found.st_ino, stamp_of(found)) and not self._is_orphaned():
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
            self._state, self._wrong = "unreadable", reason_within(error)
            return
        stamp = settled(stamp_of(found))
        self._seen = stamp and (found.st_ino, stamp)

    def _lines(self, file: BinaryIO) -> Generator[Line | Unreadable, None, None]:
        """The lines of the text that are new. What spoils it is told once, however often the file changes."""
        before, self._wrong = self._wrong, ""
        if not self._continues(file) or self._is_further_elsewhere(file):
            self._begin(file)
        self._state = "live"
        if self._known is not None and self._known.is_copy:
            return
        file.seek(0)
        try:
            yield from self._new_lines(file)
        except Spoilt as spoilt:
            self._wrong = str(spoilt)
            self._state = "live" if self._offset else "unreadable"
            if before != self._wrong:
                yield Unreadable(self._here(), spoilt.reason, spoilt.detail)

    def _begin(self, file: BinaryIO) -> None:
        """From the top, or from where the text was read before."""
        self._offset = self._line = self._read = 0
        self._digest, self._is_open = blake2b(), False
        self._trace = None
        self._known = known = self._reached(file)
        if known is not None and not known.is_copy:
            self._trace = known.trace.clone()
            self._offset, self._line, self._is_open = known.offset, known.line, known.is_open
            left = self._offset
            for block in _readable(file, self._size):
                self._digest.update(block[:left])
                left -= min(left, len(block))

    def _is_further_elsewhere(self, file: BinaryIO) -> bool:
        """Whether the text went on in another file before it was compressed anew."""
        known = self._reached(file)
        return known is not None and (known.is_copy or known.offset > self._offset)

    def _reached(self, file: BinaryIO) -> Reached | None:
        return None if self._texts is None else self._texts.reached(self.path, lambda: _readable(file, self._size))

    def _is_orphaned(self) -> bool:
        """Whether what it only repeats was not read to its end before it was gone."""
        known = self._known
        return known is not None and known.is_copy and known.trace.home is None and known.trace.offset < known.size

    def repeats(self, source: str) -> bool:
        """Whether the text goes on from one whose lines carry this very name."""
        return self._known is not None and any(name is source for name in self._known.trace.sources)

    def _new_lines(self, file: BinaryIO) -> Generator[Line | Unreadable, None, None]:
        line, length, digest = bytearray(), 0, self._digest.copy()
        texts = self._texts
        read = None if texts is None else _Window(self._trace, self._offset, is_told=self._trace is self._told)
        try:
            for block in _from(blocks(file, self._size), self._offset):
                self._read = file.tell()
                if read is not None:
                    read.take(block)
                for part in BytesIO(block):
                    if part[0] == 0 and (not length or is_hole(part)):  # where a line is torn if it is in one
                        if length:
                            yield from self._finish(bytes(line), length, digest.copy(), ends=False)
                            line, length = bytearray(), 0
                        part = self._pass_over(part, digest)
                    digest.update(part)
                    length += len(part)
                    if len(line) <= self._limit:
                        line += part
                    if part.endswith(b"\n"):
                        yield from self._finish(bytes(line[:-1]), length, digest.copy())
                        line, length = bytearray(), 0
                if length > self._endless:
                    raise Spoilt(ENDLESS, f"line {self._line + 1} has more than {self._endless:,} bytes and no end")
                if read is not None:
                    read.reached(self._offset, self._line)
            if length:
                yield from self._finish_last(bytes(line), length, digest)
        finally:  # whoever stops listening has had the lines up to here
            if read is not None and texts is not None:
                self._trace = self._told = read.remember(self._offset, self._line, self._is_open, texts, self.path)

    def _pass_over(self, part: bytes, digest: blake2b) -> bytes:
        """Go on behind the hole with which a part begins; gives what follows it."""
        text = b"" if is_hole(part) else part.lstrip(b"\0")
        hole = len(part) - len(text)
        digest.update(part[:hole])
        self._offset += hole
        self._digest = digest.copy()
        return text

    def _finish_last(self, line: bytes, length: int, digest: blake2b) -> Generator[Line | Unreadable, None, None]:
        """A last line without its end counts if it is whole. Of half a record the rest may stand elsewhere."""
        if length > self._limit or self._is_open or not line.lstrip().startswith(b"{") or not fault(line):
            yield from self._finish(line, length, digest, ends=False)
        elif self._fragment != self._offset + length:
            self._fragment = self._offset + length
            yield Unreadable(self._here(), UNTERMINATED, excerpt(line))

    def _finish(
        self, line: bytes, length: int, digest: blake2b, *, ends: bool = True
    ) -> Generator[Line | Unreadable, None, None]:
        """The line that ends here. Whoever stops listening after it goes on behind it."""
        here, goes_on = self._here(), self._is_open
        self._line += ends
        self._offset += length
        self._digest, self._is_open = digest, not ends
        if length > self._limit + 1:
            yield Unreadable(here, OVERSIZE, oversize(length, self._limit))
        elif not goes_on or line.strip(b"\0\r\t "):
            yield Line(here, line)

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
    """The first bytes of the text behind a hole, and whether that is all of it; OSError if there is none to be had."""
    data = bytearray()
    with _open(path) as file:
        try:
            for block in blocks(file, os.fstat(file.fileno()).st_size):
                data += block if data or not is_hole(block) else b""
                data = data if data[:1] != b"\0" else data.lstrip(b"\0")
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


class _Window:
    """The end of what was read of a text, by which its trace goes on."""

    def __init__(self, trace: TextTrace | None, offset: int, *, is_told: bool) -> None:
        self._is_told = trace is not None and is_told and trace.home is None
        self._trace = trace if trace is None or self._is_told else trace.clone()  # whoever adopted it goes its own way
        self._data = bytearray(trace.tail if trace else b"")
        self._base = offset - len(self._data)
        self._is_whole = not offset if trace is None else trace.offset == offset

    def take(self, block: bytes) -> None:
        if len(self._data) > _WINDOW:  # of a line too long to keep, or of a hole
            self._pass_over(self._base + len(self._data) - TAIL)
        if self._trace is None and is_hole(block):
            self._base += len(block)
            return
        self._data += block
        if self._trace is None:
            text = self._data.lstrip(b"\0")
            self._trace = TextTrace(key_of(bytes(text[:_HEAD])), self._base + len(self._data) - len(text))

    def _pass_over(self, end: int) -> None:
        trace = self._trace
        if trace is None or not self._is_whole:
            self._drop(end - self._base)
        elif end > trace.offset:
            trace.oversize = trace.offset if trace.oversize is None else trace.oversize
            self._go_on(end, trace.line, marked=False)

    def reached(self, offset: int, line: int) -> None:
        """The lines up to there were delivered."""
        trace = self._trace
        if trace is None or not self._is_whole or offset <= trace.offset:
            return
        trace.oversize = None
        self._go_on(offset, line)

    def remember(self, offset: int, line: int, is_open: bool, texts: UnpackedTexts, path: str) -> TextTrace | None:
        """Let others know what was read; gives the trace to go on by."""
        self.reached(offset, line)
        trace = self._trace
        if trace is None or not self._is_whole or not trace.head:
            return None
        trace.open = is_open
        if not self._is_told:
            trace.key = UNENDED if is_open and not line else trace.key
            texts.add(trace, path)
        texts.end_first_line(trace)
        return trace

    def _go_on(self, offset: int, line: int, *, marked: bool = True) -> None:
        if (trace := self._trace) is not None:
            trace.advance(bytes(self._data[: offset - self._base]), self._base, offset, line, marked=marked)
            self._drop(offset - len(trace.tail) - self._base)

    def _drop(self, count: int) -> None:
        self._base += count
        del self._data[:count]


def _readable(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The text from its beginning, as far as it can be read."""
    file.seek(0)
    with suppress(Spoilt):
        yield from blocks(file, size)


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
