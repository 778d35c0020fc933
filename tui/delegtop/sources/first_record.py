"""The first record of a log that begins with something else, or with a record too long to tell the format by."""

import os
from collections.abc import Collection, Iterator

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.sources.discover import is_packed
from delegtop.sources.records import fault
from delegtop.sources.text_identity.text_trace import first_data

FURTHEST = 4 * 1024 * 1024
"""So much of a text is searched at most, holes not counted: what has no record in there is no log."""
TRIES = 200
"""So many lines are looked at that begin like one."""
_BLOCK = 256 * 1024
_START = lazy_pattern(rb"(?<=[\n\0])\{")


class FirstRecords:
    """Finds them. How far a text was searched is remembered: most are no logs, and may grow for years."""

    def __init__(self) -> None:
        self._searched: dict[str, _Search] = {}

    def sample(self, path: str, size: int) -> bytes:
        """So many bytes from the first record on, if not all of it is among the first; nothing if there is none yet."""
        try:
            if is_packed(path):
                return _packed_sample(path, size)
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            found = os.fstat(fd)
            search = self._searched.get(path)
            if search is None or search.inode != found.st_ino or search.at > found.st_size:
                search = self._searched[path] = _Search(found.st_ino)
            return search.go_on(fd, found.st_size, size)
        finally:
            os.close(fd)

    def keep(self, paths: Collection[str]) -> None:
        """Remember nothing of others."""
        self._searched = {path: search for path, search in self._searched.items() if path in paths}


class _Search:
    """How far one file was searched."""

    def __init__(self, inode: int) -> None:
        self.inode = inode
        self.at = self._spent = self._tries = 0
        self._found: int | None = None

    def go_on(self, fd: int, there: int, size: int) -> bytes:
        for start in self._starts(fd, there) if self._found is None else (self._found,):
            data = os.pread(fd, size, start)
            line, newline, _ = data.partition(b"\n")
            if not newline and len(data) == size:
                from delegtop.sources.line_outline import outline  # few lines are that long

                line = outline(fd, start, size)
                if line and not fault(line):
                    self._found = start
                    return line + b"\n"
            elif not newline:
                self.at = start  # not finished yet
                return b""
            elif not fault(line):
                self._found = start
                return data if start + len(line) >= size else b""  # else it was looked at already
        return b""

    def _starts(self, fd: int, there: int) -> Iterator[int]:
        """Where lines begin like records, also behind a hole."""
        while self._spent < FURTHEST and (at := first_data(fd, self.at, there)) is not None:
            before = b"\0" if at > self.at or not at else os.pread(fd, 1, at - 1)
            block = os.pread(fd, min(_BLOCK, there - at), at)
            self.at = at + len(block)
            self._spent += len(block)
            for match in _START.finditer(before + block):
                self._tries += 1
                if self._tries > TRIES:
                    self._spent = FURTHEST
                    return
                yield at + match.start() - 1


def _packed_sample(path: str, size: int) -> bytes:
    from delegtop.sources import packed  # few files are

    text = b"\n" + b"".join(packed.text(path, FURTHEST)).lstrip(b"\0")
    for tries, match in enumerate(_START.finditer(text)):
        data = text[match.start() : match.start() + size]
        line, newline, _ = data.partition(b"\n")
        if newline and not fault(line):
            return data if match.start() + len(line) > size else b""
        if tries >= TRIES:
            break
    return b""
