"""A line that is too long to keep, without its long texts: who it is of, what it is and when is in the short ones.

A result of twenty megabytes still says which call it ends. Its bytes pass once, in bounded memory, and nothing is
decoded but what is left.
"""

import os
import re
from collections.abc import Iterator

TEXT = 4_096
"""Bytes of one text that are kept."""
_BLOCK = 1 << 20
_CUT = "…".encode()
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
"""A text up to its quote, or to a backslash at which the block ends."""
_WHOLE = re.compile(rb"(?:[^\\]|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)
_HALF = re.compile(rb"(?<!\\)(?:\\\\)*(?P<half>\\u[dD][89abAB][0-9a-fA-F]{2})$")
"""Half of a character that is written as two numbers."""


def outline(fd: int, start: int, limit: int) -> bytes:
    """The line that starts there, with every long text cut; nothing if more than `limit` bytes are left of it, or if
    it does not end."""
    kept = bytearray()
    text: bytearray | None = None
    """The text that the block ends in, as far as it is kept."""
    rest = b""
    for block in _blocks(fd, start):
        data, at = rest + block, 0
        rest = b""
        while at < len(data):
            if text is None:
                quote = data.find(b'"', at)
                kept += data[at : quote + 1 if quote >= 0 else len(data)]
                at = quote + 1 if quote >= 0 else len(data)
                text = bytearray() if quote >= 0 else None
                continue
            end = _end(data, at)
            if len(text) <= TEXT:
                text += data[at : min(end, at + TEXT + 1)]
            if end == len(data):
                break
            if data[end : end + 1] == b"\\":  # what it guards is in the next block
                rest = data[end:]
                break
            kept += _cut(text) + b'"'
            text, at = None, end + 1
        if len(kept) > limit:
            return b""
    return b"" if text is not None else bytes(kept)


def _end(data: bytes, at: int) -> int:
    inside = _INSIDE.match(data, at)
    return inside.end() if inside else at


def _cut(text: bytearray) -> bytes:
    if len(text) <= TEXT:
        return bytes(text)
    whole = _WHOLE.match(text[:TEXT])
    short = whole[0] if whole else b""
    if (half := _HALF.search(short)) is not None:
        short = short[: half.start("half")]
    return short.decode("utf-8", "ignore").encode() + _CUT


def _blocks(fd: int, at: int) -> Iterator[bytes]:
    """The bytes up to the end of the line."""
    while block := os.pread(fd, _BLOCK, at):
        line, newline, _ = block.partition(b"\n")
        yield line
        if newline:
            return
        at += len(block)
