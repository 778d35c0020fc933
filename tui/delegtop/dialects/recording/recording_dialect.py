"""Recordings that `delegtop record` makes, and the one in a bundle: what other sources told, told once more.

Every event keeps the place it first stood at. What a crash tore off, and what is damaged, is named and left out.
"""

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import ClassVar

import msgspec

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.recording import MAGIC
from delegtop.dialects.recording.tape import (
    VERSION,
    Damaged,
    Header,
    Part,
    Place,
    TapeEvents,
    TapeSource,
    encode,
    event,
    parse,
    unframe,
)
from delegtop.dialects.signature import Signature
from delegtop.model.events import Deviation, Event
from delegtop.sources.records import TORN, Line, Unreadable, excerpt

DAMAGED = "damaged record"
MISSING = "a part of the recording is missing"
NEWER = "recorded by a newer version"
UNKNOWN = "unknown record"
HUGE = "a number larger than any time"
_HUGE = lazy_pattern(rb"[:,\[]-?\d{19}")
_SEAM = b'}{"crc":"'
"""Between two records that lack the newline. Quotes within a text are escaped, so no text has it."""


class Recording(Dialect):
    """Reads recordings."""

    name: ClassVar[str] = "recording"
    title: ClassVar[str] = "delegtop recording"
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((MAGIC,)),)
    about: ClassVar[About] = About(
        "delegtop record and delegtop bundle",
        "`*.delegtop`, `*.delegtop.gz`, `incident*.zip`",
        "all that the recorded sources told",
        Basis.OWN,
    )
    files: ClassVar[tuple[str, ...]] = ("*.delegtop", "*.delegtop.*", "incident*.zip")
    second_hand: ClassVar[bool] = True

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._sources: dict[int, str] = {}
        self._parts: list[str] = []
        self._joined: tuple[Origin, TapeEvents] | None = None
        """The last record that came in parts, and the place of its last part."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 100 if sample.head[16 : 16 + len(MAGIC)] == MAGIC else 0

    def read(self, line: Line) -> Sequence[Event | Unreadable]:
        if _SEAM in line.data:
            return [told for record in _unglued(line) for told in self._read(record)]
        return self._read(line)

    def _read(self, line: Line) -> Sequence[Event | Unreadable]:
        try:
            record = unframe(line.data)
        except Damaged as damaged:
            return (_torn(line, str(damaged)),) if line.data.strip(b"\0 \r\t") else ()
        if type(record) is TapeEvents:
            return self._events(line, record)
        if type(record) is Part:
            return self._join(line, record)
        if type(record) is Header:
            return self._begin(line, record)
        if type(record) is TapeSource:
            self._sources[record.number] = record.name
        return () if record is not None else (_strange(line),)

    def retell(self, line: Line) -> Sequence[Event | Unreadable]:
        records = [self._record(each) for each in _unglued(line)]
        return [told for record in records if record is not None for told in self._events(line, record)]

    def original(self, line: Line) -> Line:
        record = next((record for each in _unglued(line) if (record := self._record(each)) is not None), None)
        if record is None or record.at[0] not in self._sources:
            return Line(line.origin, b"")
        return Line(self._origin(record.at), record.data or (record.raw or "").encode(), record.seen)

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - ids stand in the records
        return encode(id)[1:-1]

    def place(self, origin: Origin) -> bytes | None:
        number = next((number for number, name in list(self._sources.items()) if name == origin.source), None)
        return None if number is None else msgspec.json.encode((number, origin.line, origin.offset))

    def _begin(self, line: Line, header: Header) -> Sequence[Event | Unreadable]:
        self._sources.clear()
        if header.version > VERSION:
            return (Unreadable(line.origin, NEWER, f"form {header.version} by {header.by}, this reads form {VERSION}"),)
        return ()

    def _join(self, line: Line, part: Part) -> Sequence[Event | Unreadable]:
        if part.number == 1:
            self._parts = []
        if part.number != len(self._parts) + 1:
            return (Unreadable(line.origin, MISSING, f"part {part.number} of {part.of}"),)
        self._parts.append(part.text)
        if part.number < part.of:
            return ()
        record = parse("".join(self._parts))
        self._parts = []
        if type(record) is not TapeEvents:
            return (Deviation(line.origin, UNKNOWN, ""),)
        self._joined = line.origin, record
        return self._events(line, record)

    def _events(self, line: Line, record: TapeEvents) -> Sequence[Event | Unreadable]:
        """What the record tells, every event at the place it first stood."""
        try:
            here = self._origin(record.at)
            told: list[Event | Unreadable] = [event(found, here, self._origin) for found in record.events]
            told += [
                Unreadable(self._origin(lost.place or record.at), lost.reason, lost.excerpt) for lost in record.lost
            ]
        except KeyError as error:
            return (Unreadable(line.origin, MISSING, f"the name of source {error}"),)
        return told

    def _record(self, line: Line) -> TapeEvents | None:
        if self._joined is not None and self._joined[0] == line.origin:
            return self._joined[1]
        try:
            record = unframe(line.data)
        except Damaged:
            return None
        return record if type(record) is TapeEvents else None

    def _origin(self, place: Place) -> Origin:
        number, line, offset = place
        return Origin(self._sources[number], line, offset)


def _unglued(line: Line) -> list[Line]:
    """The records of a line: one, unless newlines were lost."""
    first, *others = line.data.split(_SEAM)
    if not others:
        return [line]
    pieces = [first, *(_SEAM[1:] + other for other in others)]
    whole = [piece + b"}" for piece in pieces[:-1]] + pieces[-1:]
    return [Line(line.origin, data) for data in whole]


def _strange(line: Line) -> Deviation | Unreadable:
    """A line that was written so: what it says is impossible, or only known to another version."""
    if _HUGE.search(line.data):
        return Unreadable(line.origin, HUGE, excerpt(line.data))
    return Deviation(line.origin, UNKNOWN, excerpt(line.data))


def _torn(line: Line, why: str) -> Unreadable:
    """A line that lacks its end was torn; any other was changed after it was written."""
    return Unreadable(line.origin, TORN if not line.data.endswith(b"}") else DAMAGED, why)
