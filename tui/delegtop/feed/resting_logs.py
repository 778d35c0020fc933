"""Logs that were read to their end, where there are very many: of one that rests only what it looks like is kept, and
of one that is gone that it was there.

When one that rests changes it is read again from its top: the ledger folds away what it knows, and it is small. What
belongs together with other files is put away with its session (`dormant_sessions`).
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator

import msgspec

from delegtop.base.clock import Millis, WallClock
from delegtop.feed.followed_file import FollowedFile, SourceStatus
from delegtop.sources.inode import Look, look_of
from delegtop.sources.tail import Tail

FOLLOWED = 1_000
"""So many files are followed, however quiet they are."""
QUIET = 60_000
"""Milliseconds after the last writing."""
LARGEST = 256 * 1024
"""Bytes: a larger log is not read twice for the sake of memory."""


_FOLDERS = 200
ELSEWHERE = "other folders"


class RestingLog(msgspec.Struct, frozen=True):
    """A log that may rest."""

    path: str
    look: Look
    key: int
    """The digest of its first line, by which a copy of it is known."""
    status: SourceStatus


def at_rest(readings: Collection[FollowedFile], tail: Tail) -> list[RestingLog]:
    """Those that may rest, so that no more are followed than is many; the oldest first."""
    excess = len(readings) - FOLLOWED
    if excess <= 0:
        return []
    until, borrowed = Millis(WallClock().now() - QUIET), tail.borrowed()
    found = [
        RestingLog(reading.path, *known, status)
        for reading in readings
        if reading.is_plain
        and reading.path not in borrowed
        and (known := tail.at_rest(reading.path)) is not None
        and (status := reading.status(tail.status(reading.path))).size <= LARGEST
        and (status.changed_at or until) <= until
    ]
    return sorted(found, key=lambda log: log.status.changed_at or 0)[:excess]


class _Sum(msgspec.Struct):
    """What is told of the logs in one folder."""

    files: int = 0
    records: int = 0
    deviations: int = 0
    size: int = 0
    changed_at: Millis = Millis(0)
    gaps: int = 0

    def add(self, records: int, deviations: int, size: int, changed_at: Millis | None, *, gap: bool = False) -> None:
        self.files += 1
        self.records += records
        self.deviations += deviations
        self.size += size
        self.changed_at = max(self.changed_at, changed_at or Millis(0))
        self.gaps += gap

    def status(self, folder: str, state: str, words: str) -> SourceStatus:
        return SourceStatus(
            folder,
            None,
            self.records,
            0,
            state,
            words,
            self.deviations,
            size=self.size,
            read=self.size,
            changed_at=self.changed_at,
        )


class _Bucket:
    """Some of the logs, by the digests of their paths, in order."""

    def __init__(self) -> None:
        self.paths, self.looks, self.keys = array("q"), array("q"), array("I")
        self.records, self.deviations = array("H"), array("H")

    @property
    def columns(self) -> "tuple[array[int], ...]":
        return self.paths, self.looks, self.keys, self.records, self.deviations

    def keep(self, seen: bytearray) -> None:
        for at in range(len(self.paths) - 1, -1, -1):
            if not seen[at]:
                self.take(at)

    def put(self, *values: int) -> None:
        at = bisect_left(self.paths, values[0])
        for column, value in zip(self.columns, values, strict=True):
            column.insert(at, value)

    def take(self, at: int) -> None:
        for column in self.columns:
            del column[at]


_BUCKETS = 512
_MOST = 0xFFFF
"""Of what is told by one of them: it is not large."""
_KEY_BITS = 31
"""Of the digest of a first line the lower ones are left out: two that share the rest are looked at, and told apart."""


class RestingLogs:
    """Logs by the digest of their paths: 24 bytes each, beside the name in the pressed list of its folder."""

    def __init__(self) -> None:
        self._buckets: list[_Bucket] = []
        self._count = 0
        self._folders: dict[str, _Sum] = {}

    def __len__(self) -> int:
        return self._count

    def __contains__(self, path: str) -> bool:
        return self._find(path) is not None

    def _find(self, path: str) -> tuple[_Bucket, int] | None:
        """Where it stands."""
        if not self._buckets:
            return None
        digest = hash(path)
        bucket = self._buckets[digest % _BUCKETS]
        at = bisect_left(bucket.paths, digest)
        return (bucket, at) if at < len(bucket.paths) and bucket.paths[at] == digest else None

    def put(self, log: RestingLog) -> None:
        if not self._buckets:
            self._buckets = [_Bucket() for _ in range(_BUCKETS)]
        digest, status = hash(log.path), log.status
        records, deviations = min(status.records, _MOST), min(status.deviations, _MOST)
        self._buckets[digest % _BUCKETS].put(digest, hash(log.look), log.key >> _KEY_BITS, records, deviations)
        self._count += 1
        self._sum(log.path).add(records, deviations, status.size, status.changed_at)

    def take(self, path: str) -> bool:
        """It rests no longer; False if it did not."""
        found = self._find(path)
        if found is None:
            return False
        bucket, at = found
        told = self._sum(path)
        told.files -= 1
        told.records, told.deviations = told.records - bucket.records[at], told.deviations - bucket.deviations[at]
        bucket.take(at)
        self._count -= 1
        return True

    def changed(self, paths: Iterable[str]) -> list[str]:
        """Those of all paths there are that are not what they were. What is not among them is forgotten."""
        if not self._count:
            return []
        changed = list[str]()
        seen = {bucket: bytearray(len(bucket.paths)) for bucket in self._buckets}
        self._folders = {}
        for path in paths:
            found = self._find(path)
            if found is None:
                continue
            bucket, at = found
            seen[bucket][at] = 1
            try:
                status = os.stat(path)  # noqa: PTH116 # thousands of files at every scan
            except OSError:
                changed.append(path)  # its reader says what is wrong
                continue
            written = Millis(status.st_mtime_ns // 1_000_000)
            self._sum(path).add(bucket.records[at], bucket.deviations[at], status.st_size, written)
            if hash(look_of(status)) != bucket.looks[at]:
                changed.append(path)
        if sum(each.count(1) for each in seen.values()) < self._count:
            for bucket, there in seen.items():
                bucket.keep(there)
            self._count = sum(len(bucket.paths) for bucket in self._buckets)
        return changed

    def is_unchanged(self, path: str) -> bool:
        """Whether it rests, and is what it was."""
        found = self._find(path)
        try:
            return found is not None and hash(look_of(os.stat(path))) == found[0].looks[found[1]]  # noqa: PTH116 # as above
        except (OSError, IndexError):  # it is gone, or others are taken from here by the thread that reads
            return False

    def like(self, key: int, paths: Iterable[str]) -> str | None:
        """One of the paths that rests, with a first line of that digest."""
        key >>= _KEY_BITS
        if not any(key in bucket.keys for bucket in self._buckets):
            return None
        found = ((path, self._find(path)) for path in paths)
        return next((path for path, place in found if place and place[0].keys[place[1]] == key), None)

    def statuses(self) -> Iterator[SourceStatus]:
        """Their health, by folder: there may be a million."""
        for folder, told in list(self._folders.items()):
            if told.files:
                yield told.status(folder, "live", f"{told.files:,} log{'s' if told.files > 1 else ''} at rest")

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(told.size for told in list(self._folders.values()))

    def _sum(self, path: str) -> _Sum:
        return self._folders.setdefault(_folder(path), _Sum())


def gone(readings: Collection[FollowedFile], tail: Tail) -> list[FollowedFile]:
    """The logs that are gone for good, so that no more are kept than is many; the oldest first."""
    excess = len(readings) - FOLLOWED
    return [each for each in readings if each.is_plain and tail.is_over(each.path)][: max(excess, 0)]


class GoneLogs:
    """How many were read and are gone, by folder."""

    def __init__(self) -> None:
        self._folders: dict[str, _Sum] = {}

    def put(self, status: SourceStatus) -> None:
        folder = _folder(status.path)
        if folder not in self._folders and len(self._folders) >= _FOLDERS:
            folder = ELSEWHERE
        told = self._folders.setdefault(folder, _Sum())
        told.add(status.records, status.deviations, 0, status.changed_at, gap=bool(status.detail))

    def statuses(self) -> Iterator[SourceStatus]:
        for folder, told in list(self._folders.items()):
            words = f"{told.files:,} log{'s were' if told.files > 1 else ' was'} read and {_are(told.files)} gone"
            yield told.status(folder, "gone", words + (f"; at {told.gaps:,} a possible gap" if told.gaps else ""))


def _are(count: int) -> str:
    return "are" if count > 1 else "is"


def _folder(path: str) -> str:
    return os.path.dirname(path) or "."  # noqa: PTH120 # as above
