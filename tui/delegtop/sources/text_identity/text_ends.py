"""How the text of a file begins and how it ends, whatever lies between."""

import os
from collections import deque
from typing import NamedTuple

from delegtop.sources.discover import is_packed

END = 64 * 1024
"""Bytes of each."""
TEXT = 64 * 1024 * 1024
"""So much of a compressed text is unpacked to come to its end."""


class TextEnds(NamedTuple):
    """The first and the last bytes of a text."""

    head: bytes
    whole: bool
    """Whether the head is all there is."""
    tail: bytes


def ends(path: str) -> TextEnds:
    """The ends of a file, unpacked if it is compressed; OSError if it cannot be read."""
    return _unpacked(path) if is_packed(path) else _plain(path)


def _plain(path: str) -> TextEnds:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        head = os.pread(fd, END, 0)
        return TextEnds(head, len(head) == size, head if size <= END else os.pread(fd, END, size - END))
    finally:
        os.close(fd)


def _unpacked(path: str) -> TextEnds:
    from delegtop.sources import packed  # few files are

    head, whole = packed.head(path, END)
    last = [head] if whole else deque(packed.text(path, TEXT), 2)
    return TextEnds(head, whole, b"".join(last)[-END:])
