"""What is kept of the files of one session that was put away, in a few bytes: there may be thousands, and they are only
looked at all together.

As objects they would take five hundred bytes each, most of it for a path that has nearly all in common with the one
before, and for numbers. A file in which something was wrong stays the object it is.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.common_beginning import in_common
from delegtop.base.system_errors import reason_within
from delegtop.base.text import is_utf8
from delegtop.dialects import Dialect
from delegtop.feed.followed_file import SourceStatus
from delegtop.sources.inode import look_of


class Kept(SourceStatus, frozen=True, gc=False, kw_only=True):
    """What is kept of one file: how it was when it was put away, or how it is if it cannot be looked at."""

    look: int
    """The digest of what it looks like."""
    key: int
    """The digest of its first line, by which a copy of it is known; 0 for a document."""
    format: type[Dialect]

    @property
    def is_there(self) -> bool:
        return self.status == "live"

    @property
    def is_plain(self) -> bool:
        """Whether nothing is to be told of it but its numbers."""
        wrong = self.unreadable or self.deviations or self.reasons or self.examples or self.detail
        read = self.read == self.size and self.changed_at is not None and self.dialect == self.format.name
        return self.is_there and read and not wrong and is_utf8(self.path)


class PackedFile(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A file in which nothing was wrong."""

    shared: int
    """How many characters its path has in common with that of the file before."""
    rest: str
    format: int
    """Its number."""
    records: int
    size: int
    changed_at: Millis
    look: int
    key: int


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[PackedFile | int]).decode
_formats: list[type[Dialect]] = []
"""By number."""


class PackedFiles(msgspec.Struct, frozen=True, gc=False, eq=False):
    """The files of one session, in their order. It does not change, and is like no other: whoever keeps something else,
    or the same anew, makes another one."""

    rows: bytes
    digests: bytes
    """Of their paths, to know them by without unpacking anything."""
    odd: tuple[Kept, ...]
    """Those that are not packed; in their place stands which."""

    def __len__(self) -> int:
        return len(memoryview(self.digests).cast("q"))

    def __contains__(self, path: str) -> bool:
        return hash(path) in memoryview(self.digests).cast("q")

    def __iter__(self) -> Iterator[Kept]:
        for path, row in self._placed():
            if isinstance(row, Kept):
                yield row
                continue
            format = _formats[row.format]
            yield Kept(
                path,
                format.name,
                row.records,
                0,
                "live",
                size=row.size,
                read=row.size,
                changed_at=row.changed_at,
                look=row.look,
                key=row.key,
                format=format,
            )

    def statuses(self) -> Iterator[SourceStatus]:
        return iter(self)

    def _placed(self) -> Iterator[tuple[str, PackedFile | Kept]]:
        path = ""
        for row in _unpack(self.rows):
            if isinstance(row, int):
                kept = self.odd[row]
                path = kept.path
                yield path, kept
            else:
                path = path[: row.shared] + row.rest
                yield path, row

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(row.size for _, row in self._placed())

    def get(self, path: str) -> Kept | None:
        return next((kept for kept in self if kept.path == path), None) if path in self else None

    def looked_at(self) -> "tuple[bool, PackedFiles]":
        """Whether one of them is not what it was, and how they are now. One that is gone changes nothing."""
        is_changed, news = False, dict[int, tuple[str, str]]()
        for number, (path, row) in enumerate(self._placed()):
            status, detail = (row.status, row.detail) if isinstance(row, Kept) else ("live", "")
            try:
                look = hash(look_of(os.stat(path)))  # noqa: PTH116 # thousands of files at every scan
            except (FileNotFoundError, NotADirectoryError):
                told = "gone", "not found"
            except OSError as error:
                told = "unreadable", reason_within(error)
            else:
                told = ("live", "") if status != "live" else (status, detail)
                # Of one that is there again the rest of its session may have been taken down meanwhile.
                is_changed = is_changed or status != "live" or look != row.look
            if told != (status, detail):
                news[number] = told
        return is_changed, self._with(news) if news else self

    def _with(self, news: Mapping[int, tuple[str, str]]) -> "PackedFiles":
        """Some of them with another status and detail."""
        told = ((kept, *news.get(number, (kept.status, kept.detail))) for number, kept in enumerate(self))
        return packed([replace(kept, status=status, detail=detail) for kept, status, detail in told])


def packed(files: Iterable[Kept]) -> PackedFiles:
    rows: list[PackedFile | int] = []
    digests = array("q")
    odd: list[Kept] = []
    before = ""
    for kept in files:
        path, at = kept.path, kept.changed_at
        if kept.is_plain and at is not None:
            shared = in_common(before, path)
            number = _number(kept.format)
            rows.append(PackedFile(shared, path[shared:], number, kept.records, kept.size, at, kept.look, kept.key))
        else:
            rows.append(len(odd))
            odd.append(kept)
        digests.append(hash(path))
        before = path
    return PackedFiles(_pack(rows), digests.tobytes(), tuple(odd))


def _number(format: type[Dialect]) -> int:
    if format not in _formats:
        _formats.append(format)
    return _formats.index(format)
