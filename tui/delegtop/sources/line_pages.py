"""Whole lines of a file from any place on, forwards or backwards: what somebody reads is a page of it, not all.

Lines that are read from the end have no number: `number_of` counts when somebody asks.
"""

import os
from pathlib import Path
from typing import Self

from delegtop.base.origin import Origin
from delegtop.sources.records import Line

BLOCK = 256 * 1024
"""Bytes that are read at once."""


class FileBytes:
    """A file that is read here and there."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self.size = os.fstat(self._fd).st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def read(self, start: int, end: int) -> bytes:
        parts = []
        while start < end and (part := os.pread(self._fd, end - start, start)):
            parts.append(part)
            start += len(part)
        return b"".join(parts)


def lines_before(file: FileBytes, end: int, size: int) -> tuple[int, bytes]:
    """Whole lines that end there, and where they begin: about so many bytes, or one line that is longer."""
    while True:
        start = max(end - size, 0)
        data = file.read(start, end)
        if start == 0:
            return 0, data
        cut = data.find(b"\n", 0, -1) + 1
        if cut:
            return start + cut, data[cut:]
        size *= 4


def lines_after(file: FileBytes, start: int, end: int) -> bytes:
    """Whole lines that begin there."""
    size = BLOCK
    while True:
        stop = min(start + size, end)
        data = file.read(start, stop)
        if stop >= end or not data:
            return data
        cut = data.rfind(b"\n") + 1
        if cut:
            return data[:cut]
        size *= 4


def split(path: str, data: bytes, start: int) -> list[Line]:
    """The lines of these bytes, which begin at that place."""
    lines: list[Line] = []
    for line in data.split(b"\n"):
        if line:
            lines.append(Line(Origin(path, 0, start), line.rstrip(b"\r")))
        start += len(line) + 1
    return lines


def number_of(path: str, offset: int) -> int:
    """Which line stands at that place, counted from 1; 0 if the file cannot be read."""
    count = 1
    try:
        with Path(path).open("rb") as file:
            while offset > 0 and (data := file.read(min(offset, 1 << 20))):
                count += data.count(b"\n")
                offset -= len(data)
    except OSError:
        return 0
    return count
