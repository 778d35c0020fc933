"""What a command printed, so much of it as is kept: the end, where its return stands."""

import re
from collections import deque

from delegtop.base.clock import monotonic
from delegtop.base.text import line

ACTIVITY = 200
"""Characters of output a heartbeat carries, at most."""
KEPT = 1024 * 1024
"""Bytes of output that are searched for a return: the last of them."""
_GLANCE = 4 * 1024
_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class KeptOutput:
    """The end of an output, and when the last of it came."""

    def __init__(self, keep: int = KEPT) -> None:
        self.heard_at = 0.0
        """When the last output came, by the monotonic clock; 0 if none did."""
        self.dropped = 0
        """Bytes that came first and are not kept."""
        self._keep = keep
        self._kept: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        self.heard_at = monotonic()
        self._kept.append(data)
        self._size += len(data)
        while self._size - len(self._kept[0]) >= self._keep:
            self._size -= len(self._kept[0])
            self.dropped += len(self._kept.popleft())

    def text(self) -> str:
        """All that is kept; a terminal ends its lines in another way."""
        return b"".join(self._kept.copy()).decode("utf-8", "replace").replace("\r\n", "\n")

    def last_line(self) -> str:
        """The last line that says something, without colours and no longer than an activity may be."""
        end = b""
        for piece in reversed(self._kept.copy()):
            end = piece + end
            if len(end) >= _GLANCE:
                break
        lines = _ESCAPES.sub(b"", end[-_GLANCE:]).decode("utf-8", "replace").splitlines()
        return line(next((each.strip() for each in reversed(lines) if each.strip()), ""))[:ACTIVITY]
