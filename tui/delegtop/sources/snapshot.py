"""A whole document that is rewritten or replaced: only a whole valid one counts, the last good one stays."""

import os
from pathlib import Path

import msgspec

from delegtop.clock import Millis, iso, sleep
from delegtop.origin import Origin
from delegtop.sources.record import Line, Unreadable, excerpt
from delegtop.sources.status import FileStatus

_LIMIT = 64 * 1024 * 1024
_TRIES = 4
_PAUSE = 0.005

_Stamp = tuple[int, int, int, int]


class Snapshot:
    """One document. `poll` gives it whenever it is a new whole one."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.good_at: Millis | None = None
        self._seen: _Stamp | None = None
        self._data = b""
        self._why = ""
        self._size = 0

    def poll(self) -> Line | Unreadable | None:
        """The document if it changed and is whole; what is wrong with it, once; None if there is nothing new."""
        for _ in range(_TRIES):
            stamp = _stamp(self.path)
            if stamp is None:
                self._why = "not found"
                return None
            if stamp == self._seen:
                return None
            data = self._read(stamp)
            if data is not None and _stamp(self.path) == stamp and _is_whole(data):
                return self._take(data, stamp)
            sleep(_PAUSE)
        return self._refuse(stamp, data)

    def status(self) -> FileStatus:
        state = "stale" if self._why else "live"
        detail = self._why
        if self._why and self.good_at is not None:
            detail = f"{self._why}; showing the one of {iso(self.good_at)}"
        return FileStatus(
            self.path,
            "unreadable" if self._why and self.good_at is None else state,
            detail,
            self._size,
            self._size,
            self.good_at,
        )  # type: ignore[arg-type]  # a literal either way

    def _read(self, stamp: _Stamp) -> bytes | None:
        if stamp[2] > _LIMIT:
            return None
        try:
            return Path(self.path).read_bytes()
        except OSError:
            return None

    def _take(self, data: bytes, stamp: _Stamp) -> Line:
        self._seen, self._why, self._size = stamp, "", stamp[2]
        at = Millis(stamp[3] // 1_000_000)
        # A rewrite within one tick of the file clock is still a later one.
        self.good_at = at if self.good_at is None or at > self.good_at else Millis(self.good_at + 1)
        return Line(Origin(self.path, 1, 0), data, self.good_at)

    def _refuse(self, stamp: _Stamp, data: bytes | None) -> Unreadable | None:
        before, self._seen = self._seen, stamp
        first = not self._why
        self._why = "empty" if data == b"" else "not a whole JSON document"
        return Unreadable(Origin(self.path, 1, 0), self._why, excerpt(data or b"")) if first or before is None else None


def _stamp(path: str) -> _Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116 # asked at every poll
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _is_whole(data: bytes) -> bool:
    try:
        msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
