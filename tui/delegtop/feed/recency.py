"""When a file last told of something, by its own records: a clone and a copy give every file the time of the copying.

Only the end of a log is looked at, and the whole of a document.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import tzinfo
from itertools import chain
from typing import Any

from msgspec.structs import replace

from delegtop.base.clock import DAY, MINUTE, Millis, WallClock, parse_time
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample, Unit
from delegtop.dialects.kit.clones import names_day, newest
from delegtop.dialects.kit.coerce import moment
from delegtop.dialects.recording import MAGIC
from delegtop.feed.formats import Formats
from delegtop.feed.process_watch import lives
from delegtop.model.events import Ended, Event, Started
from delegtop.sources import history
from delegtop.sources.discover import growth_of, is_lock
from delegtop.sources.records import Line, Record, Unreadable, records
from delegtop.sources.text_identity.text_ends import TextEnds, ends

DOCUMENT = 16 * 1024 * 1024
"""A longer document is taken to be as old as its file."""
_LAST = 4 * 1024
"""Bytes in which the last record most often stands."""
_STAMP = lazy_pattern(
    rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?"
    rb"|(?<![\w.-])1\d{9}(?:\d{3}){0,3}(?![\w-])"
)
_DIGITS = len("1700000000000")


class Recency:
    """What each file told last. One that has not changed is not asked again."""

    def __init__(self, formats: Formats, zone: tzinfo, since: Millis) -> None:
        self._formats, self._zone, self._since = formats, zone, since
        self._known: dict[str, tuple[tuple[int, int], Millis | None]] = {}

    def told(self, path: str) -> Millis | None:
        """The last moment it tells of, which is now if its process is there; of one that lies within the window any.
        None if it tells of none."""
        try:
            found = os.stat(path)  # noqa: PTH116 # as the window does
            stamp = growth_of(path, found)
            known = self._known.get(path)
            if known is None or known[0] != stamp:
                known = stamp, self._ask(path, Millis(found.st_mtime_ns // 1_000_000))
                self._known[path] = known
        except OSError:  # its reader says what is wrong
            return None
        return known[1]

    def _ask(self, path: str, written: Millis) -> Millis | None:
        found = ends(path)
        sample = Sample(path, found.head, found.whole)
        if sample.is_database:
            return self._of_rows(sample)
        # A recording also says when it was made.
        if MAGIC not in found.head[: 2 * len(MAGIC)] and (at := self._lately(found.tail, written)) is not None:
            return at
        dialect = self._formats.of(sample) if found.head or is_lock(path) else None
        if dialect is None:
            return None
        if dialect.unit_of(sample) is Unit.LINES:
            return self._by(dialect, list(_lines(path, found)), written)
        data = found.head if found.whole else history.head(path, DOCUMENT)[0]
        return self._by(dialect, [Line(Origin(path, 1, 0), data, written)], written)

    def _of_rows(self, sample: Sample) -> Millis | None:
        """When a row of a database was written last; of those within the window any."""
        from delegtop.sources.database import columns_of  # few files are databases
        from delegtop.sources.row_reader import RowReader

        dialect = self._formats.of(replace(sample, columns=columns_of(sample.path)))
        if dialect is None or dialect.unit_of(sample) is not Unit.DATABASE:
            return None
        newest: Millis | None = None
        with closing(RowReader(sample.path, dialect.queries)) as rows:
            for mark in rows.latest():
                if (at := moment(mark)) is not None:
                    newest = max(at, newest or at)
                    if at >= self._since:
                        break
        return newest

    def _lately(self, text: bytes, written: Millis) -> Millis | None:
        """A moment within the window that stands in the text: then nothing else matters."""
        for match in chain(_STAMP.finditer(text[-_LAST:]), _STAMP.finditer(text)):
            at = self._moment(match[0].decode())
            if at is not None and self._since <= at <= written + DAY:
                return at
        return None

    def _moment(self, text: str) -> Millis | None:
        if "-" in text:
            return parse_time(text, self._zone)
        return Millis(int(text.ljust(_DIGITS, "0")[:_DIGITS]))

    def _by(self, dialect: type[Dialect], lines: Sequence[Line], written: Millis) -> Millis | None:
        """What the format makes of it. Where it waits for other files, the times that stand there count.

        A format without times takes the file's for them, which tells nothing. One that writes down only days was
        written on the last of them.
        """
        reader = dialect(self._zone)
        events = [event for line in lines for event in _read(reader, line)]
        if _goes_on(events) and not dialect.second_hand:
            return WallClock().now()
        until = Millis(written + MINUTE)  # the clock that files are stamped by lags behind, if only by a tick
        if not events:
            return newest(_values(lines), until, self._zone)
        moments = [at for event in events if (at := getattr(event, "at", None)) is not None and at <= until]
        last = [list(value.values()) for value in _values(lines[-1:])]
        own = [[field for field in fields if isinstance(field, str)] for fields in last]  # not what it is about
        if names_day(own, written, self._zone):
            return written
        at = max(moments) if moments else newest(own, written, self._zone)
        return None if any(line.at == at for line in lines[:1]) else at


def _values(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [record.value for line in lines for record in records(line) if isinstance(record, Record)]


def _goes_on(events: Sequence[Event]) -> bool:
    """Whether a process is still there that was not told to have ended: silence is no end."""
    open = {event.id: event for event in events if isinstance(event, Started)}
    for event in events:
        if isinstance(event, Ended):
            open.pop(event.id, None)
    return any(map(lives, open.values()))


def _read(reader: Dialect, line: Line) -> list[Event]:
    try:
        return [event for event in reader.read(line) if not isinstance(event, Unreadable)]
    except Exception:  # noqa: BLE001 - the formats of other people may fail in any way; reading it tells how
        return []


def _lines(path: str, found: TextEnds) -> Iterator[Line]:
    """The lines of the beginning, which say whose log it is, and of the end; those that are cut are left out."""
    first, last = found.head, b""
    if not found.whole:
        first, last = first[: first.rfind(b"\n") + 1], found.tail[found.tail.find(b"\n") + 1 :]
    at = 0
    for number, data in enumerate((*first.split(b"\n"), *last.split(b"\n")), 1):
        if data:
            yield Line(Origin(path, number, at), data)
        at += len(data) + 1
