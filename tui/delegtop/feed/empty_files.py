"""Files that were empty when last looked at: of one that is filled and deleted before the next look, that is said.

The last few are kept open, so that it is seen and not guessed: most empty files that vanish were never written to.
"""

import os
from collections import deque
from collections.abc import Collection
from contextlib import suppress

from delegtop.base.clock import WallClock, wall
from delegtop.feed.followed_file import SourceStatus
from delegtop.sources.file_status import GAP

_OPEN = 16
_TOLD = 20


class EmptyFiles:
    """The last few empty files, and which of them were filled and lost."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self.lost: deque[SourceStatus] = deque(maxlen=_TOLD)

    def keep(self, path: str) -> None:
        """It is empty now."""
        self.let_go(path)
        if len(self._open) >= _OPEN:
            self.let_go(next(iter(self._open)))
        with suppress(OSError):  # none to spare
            self._open[path] = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def let_go(self, path: str) -> None:
        """It is read now, or of no interest."""
        if (fd := self._open.pop(path, None)) is not None:
            os.close(fd)

    def look(self, present: Collection[str]) -> None:
        """Say which are gone with something in them that nobody has read."""
        for path in [path for path in self._open if path not in present]:
            found = os.fstat(self._open[path])
            if found.st_size and not found.st_nlink:
                gap = f"{GAP}: at {wall(WallClock().now())} it was gone with {found.st_size:,} bytes nobody read"
                self.lost.append(SourceStatus(path, None, 0, 0, "gone", gap))
            self.let_go(path)

    def close(self) -> None:
        for path in list(self._open):
            self.let_go(path)
