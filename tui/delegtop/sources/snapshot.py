"""A whole document that is rewritten or replaced: only a whole valid one counts, and the last good one stays."""

import os
import stat
from collections.abc import Iterator
from typing import ClassVar, Literal

from delegtop.base.clock import Millis, WallClock, sleep, wall
from delegtop.base.origin import Origin
from delegtop.base.system_errors import reason_within
from delegtop.sources import history
from delegtop.sources.file_status import FileStatus
from delegtop.sources.inode import Look, look_of
from delegtop.sources.records import Line, Unreadable, excerpt, fault
from delegtop.sources.text_identity.text_trace import digest_of

LIMIT = 64 * 1024 * 1024
_TRIES = 5
_PAUSE = 0.004
_SETTLED = 20
"""Milliseconds: file times may be as coarse as a clock tick."""


class Snapshot:
    """One document. `poll` gives it whenever there is a new whole one."""

    is_text: ClassVar = False
    __slots__ = (
        "_any_text",
        "_digest",
        "_gone",
        "_limit",
        "_seen",
        "_settled",
        "_since",
        "_size",
        "_wrong",
        "good_at",
        "path",
    )

    def __init__(self, path: str, *, limit: int = LIMIT, any_text: bool = False) -> None:
        self.path = path
        self._any_text = any_text
        self.good_at: Millis | None = None
        """When the last good one was written."""
        self._limit = limit
        self._seen: Look | None = None
        self._digest = 0
        self._settled = True
        self._size = 0
        self._wrong = ""
        self._since = Millis(0)
        self._gone = False

    def poll(self) -> Iterator[Line | Unreadable]:
        """A new whole document, or what is wrong with one that stays wrong, once."""
        if (found := self._look()) is not None:
            yield found

    def raw(self, origin: Origin) -> bytes | None:
        """The part of the document that stands there; the whole of it if the place names no part."""
        return history.entry_at(origin) or history.whole(origin.source)

    def at_rest(self) -> Look | None:
        """What the file looks like if the last good one is in it and nothing is in doubt; None otherwise."""
        seen = self._seen
        if seen is None or self._gone or self._wrong or not self._settled or self.good_at != seen[3] // 1_000_000:
            return None
        return seen

    @property
    def digest(self) -> int:
        """Of all that stands in a file that is at rest."""
        return self._digest

    def close(self) -> None:
        """Nothing is kept open."""

    def _look(self) -> Line | Unreadable | None:
        """A new whole document; or what is wrong with one that stays wrong, once; or None if nothing is new.

        A document that is being written is read again until it stands still between two looks.
        """
        before: Look | None = None
        for attempt in range(_TRIES):
            if attempt:
                sleep(_PAUSE)
            try:
                data, stamp = self._read()
            except FileNotFoundError:
                self._gone = True
                return None
            except OSError as error:
                return self._refuse(reason_within(error), b"", None)
            self._gone = False
            if data is None and stamp is not None:
                return None
            if data is None or stamp is None:
                continue
            if stamp == self._seen and digest_of(data) == self._digest:
                self._settled = _is_settled(stamp)
                return None
            wrong = self._fault(data) if len(data) <= self._limit else f"larger than {self._limit:,} bytes"
            if not wrong:
                return self._take(data, stamp)
            if stamp == before:  # it stands still, so it is not being written
                return self._refuse(wrong, data, stamp)
            before = stamp
        self._stale("being rewritten")
        return None

    def status(self) -> FileStatus:
        if self._gone:
            return FileStatus(self.path, "gone", self._kept("not found"), self._size, self._size, self.good_at)
        if not self._wrong:
            return FileStatus(self.path, "live", "", self._size, self._size, self.good_at)
        detail = f"{self._wrong} since {wall(self._since)}"
        state: Literal["stale", "unreadable"] = "stale" if self.good_at is not None else "unreadable"
        return FileStatus(self.path, state, self._kept(detail), self._size, self._size, self.good_at)

    def _fault(self, data: bytes) -> str:
        return "" if self._any_text else fault(data)

    def _kept(self, detail: str) -> str:
        return detail if self.good_at is None else f"{detail}; showing the one of {wall(self.good_at)}"

    def _read(self) -> tuple[bytes | None, Look | None]:
        """The bytes and their stamp; no bytes if they are known already; neither if they changed meanwhile."""
        if self._seen is not None and self._settled:
            found = os.stat(self.path)  # noqa: PTH116 - asked at every poll
            if look_of(found) == self._seen:
                return None, self._seen
        fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(0, "not a regular file")
            data, look = _read_all(fd, min(found.st_size, self._limit) + 1), look_of(found)
            unchanged = look_of(os.fstat(fd)) == look
        finally:
            os.close(fd)
        return (data, look) if unchanged else (None, None)

    def _take(self, data: bytes, stamp: Look) -> Line:
        written = Millis(stamp[3] // 1_000_000)
        self._seen, self._digest, self._settled = stamp, digest_of(data), _is_settled(stamp)
        self._wrong, self._size = "", len(data)
        # A rewrite within one tick of the file clock is still a later one.
        self.good_at = written if self.good_at is None or written > self.good_at else Millis(self.good_at + 1)
        return Line(Origin(self.path, 1, 0), data, self.good_at)

    def _refuse(self, wrong: str, data: bytes, stamp: Look | None) -> Unreadable | None:
        known = self._wrong == wrong
        self._seen, self._digest = stamp, digest_of(data)
        self._settled = stamp is not None and _is_settled(stamp)
        self._stale(wrong)
        return None if known else Unreadable(Origin(self.path, 1, 0), wrong, excerpt(data))

    def _stale(self, wrong: str) -> None:
        if not self._wrong:
            self._since = WallClock().now()
        self._wrong = wrong


def _is_settled(stamp: Look) -> bool:
    return not 0 <= WallClock().now() - stamp[4] // 1_000_000 < _SETTLED


def _read_all(fd: int, most: int) -> bytes:
    parts = []
    while most > 0 and (part := os.read(fd, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
