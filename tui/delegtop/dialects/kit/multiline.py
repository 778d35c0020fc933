"""JSON objects that an append-only file holds over several lines, although each should stand on one.

Lines are held back while an object is open and given on as one once it is closed. What never closes is given on line
by line, so nothing is lost and nothing comes twice.
"""

from typing import Any

import msgspec

from delegtop.base.origin import Origin
from delegtop.sources.records import Line

LINES = 2_000
BYTES = 1_000_000
"""An object that is longer than this is none."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_skim = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Unfinished:
    """The lines of the object that is open now."""

    def __init__(self) -> None:
        self._held: list[Line] = []
        self._depth = 0
        self._size = 0

    @property
    def is_open(self) -> bool:
        return bool(self._held)

    def take(self, line: Line) -> tuple[list[Line], int]:
        """The lines that can be read now, and over how many lines of the file the last of them was spread."""
        if not self._held and _is_object(line.data):
            return [line], 1
        depth = _balance(line.data)
        if not self._held:
            if depth is None or depth <= 0 or not line.data.lstrip().startswith(b"{"):
                return [line], 1
            return self._hold(line, depth)
        if depth is None or self._depth + depth < 0 or self._too_long(line) or _is_whole(line.data):
            held = self.give_up()
            later, spread = self.take(line)
            return [*held, *later], spread
        return self._hold(line, depth)

    def give_up(self) -> list[Line]:
        """The held lines, each by itself: what they began was never finished."""
        held, self._held = self._held, []
        self._depth = self._size = 0
        return held

    def _hold(self, line: Line, depth: int) -> tuple[list[Line], int]:
        self._held.append(line)
        self._depth += depth
        self._size += len(line.data)
        if self._depth > 0:
            return [], 0
        held = self.give_up()
        first = held[0].origin
        return [Line(Origin(first.source, first.line, first.offset), b"\n".join(each.data for each in held))], len(held)

    def _too_long(self, line: Line) -> bool:
        return len(self._held) >= LINES or self._size + len(line.data) > BYTES


def _is_object(data: bytes) -> bool:
    """True for a line that is one whole object, as nearly all are: decoding tells that much sooner than counting."""
    try:
        _skim(data)
    except (ValueError, RecursionError):
        return False
    return True


def _balance(data: bytes) -> int | None:
    """How many more brackets the line opens than it closes; None if it ends within a text, as a torn line does."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    pieces = data.split(b'"')
    if len(pieces) % 2 == 0:
        return None
    outside = b"".join(pieces[::2])
    return outside.count(b"{") + outside.count(b"[") - outside.count(b"}") - outside.count(b"]")


def _is_whole(data: bytes) -> bool:
    """True for a line that is an object with something in it and starts at the margin: a new entry after a torn one."""
    if not data.startswith(b'{"'):
        return False
    try:
        return len(_decode(data)) > 2
    except (ValueError, RecursionError):
        return False
