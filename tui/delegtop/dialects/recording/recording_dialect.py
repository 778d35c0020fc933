"""Recordings that `delegtop record` makes, and the one in a bundle: what other sources told, told once more.

Every event keeps the place it first stood at. What a crash tore off, and what is damaged, is named and left out.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, tzinfo
from sys import getsizeof, intern
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from delegtop.base import machine
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import HostFile, Origin, of_host
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.recording import MAGIC
from delegtop.dialects.recording.tape import (
    VERSION,
    Damaged,
    Header,
    Part,
    Place,
    TapeBeat,
    TapeEvents,
    TapeSource,
    encode,
    event,
    parse,
    unframe,
)
from delegtop.dialects.signature import Signature
from delegtop.model.events import LOCALHOST, Deviation, Event, HostBeat, HostMet, Started
from delegtop.sources.records import TORN, Line, Unreadable, excerpt

DAMAGED = "damaged record"
MISSING = "a part of the recording is missing"
NEWER = "recorded by a newer version"
UNKNOWN = "unknown record"
HUGE = "a number larger than any time"
ENDLESS = "a record longer than any"
UNNAMED = "a name of a log that is too long, or one too many"
LONGEST_NAME = 4_096
_LONGEST_RECORD = 64 * 1024 * 1024
"""Bytes of a record that came in parts: no document that is read is longer."""
_BESIDES = 100
"""Bytes that a text takes in a table, besides its own."""
_LONGEST_BEAT = 600_000
"""Milliseconds. One who promises less is taken for somebody who lets himself be heard of that often."""
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

    def __init__(self, zone: tzinfo = UTC, host: str = "") -> None:
        """With `host`, all that is told is of that one, whatever it says itself."""
        super().__init__(zone)
        self._sources: dict[int, HostFile] = {}
        self._given = self._host = host
        self._own_name = ""
        """What the host of the recording calls itself."""
        self._beat = 0
        self.via = ""
        """By what name ssh reaches the host."""
        self.offset: Callable[[], int] = lambda: 0
        """Tells by how much the clock of whoever receives it is ahead of the host's."""
        self.room: int | None = None
        """Bytes that names of sources may still take; None for as many as there are."""
        self.is_full = False
        """Whether there were more."""
        self._parts: list[str] = []
        self._taken = 0
        """Bytes that they take."""
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
            return self._name(line, record)
        if type(record) is TapeBeat and self._host and not record.behind:
            lasts = self._beat + self._beat // 2
            return (HostBeat(record.at, of_host(self._host), lasts, self.offset()),)
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
        number = next((number for number, file in list(self._sources.items()) if file == origin.file), None)
        return None if number is None else msgspec.json.encode((number, origin.line, origin.offset))

    def _name(self, line: Line, source: TapeSource) -> Sequence[Unreadable]:
        """What is told by that number from then on is of this source; what is told of none is counted."""
        file = (self._given or machine.plain(source.host) or self._host, intern(source.name))
        if self._sources.get(source.number) == file:
            return ()
        if self.room is not None:
            left = self.room - room_for(source.name)
            if len(source.name) > LONGEST_NAME or left < 0:
                self.is_full = self.is_full or left < 0
                self._sources.pop(source.number, None)
                return (Unreadable(line.origin, UNNAMED, excerpt(line.data)),)
            self.room = left
        self._sources[source.number] = file
        return ()

    def _begin(self, line: Line, header: Header) -> Sequence[Event | Unreadable]:
        self._sources.clear()
        self._host = self._given or machine.called(header.host, header.machine)
        self._own_name, self._beat = header.host, min(max(header.beat, 0), _LONGEST_BEAT)
        if header.version > VERSION:
            return (Unreadable(line.origin, NEWER, f"form {header.version} by {header.by}, this reads form {VERSION}"),)
        if not self._host:
            return ()
        limits = msgspec.json.encode(header.limits).decode() if header.limits else ""
        return (HostMet(header.at, of_host(self._host), bool(self._beat), limits, self.via),)

    def _join(self, line: Line, part: Part) -> Sequence[Event | Unreadable]:
        if part.number == 1:
            self._parts, self._taken = [], 0
        if part.number != len(self._parts) + 1:
            return (Unreadable(line.origin, MISSING, f"part {part.number} of {part.of}"),)
        self._taken += room_for(part.text)
        if self._taken > _LONGEST_RECORD:
            self._parts = []
            return (Unreadable(line.origin, ENDLESS, f"part {part.number} of {part.of}"),)
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
            if here.host:
                told = [self._there(each) for each in told]
            told += [
                Unreadable(self._origin(lost.place or record.at), lost.reason, lost.excerpt) for lost in record.lost
            ]
        except KeyError as error:
            return (Unreadable(line.origin, MISSING, f"the name of source {error}"),)
        return told

    def _there(self, told: Event | Unreadable) -> Event | Unreadable:
        """What a host calls itself is not what it is called here: its own processes are not those of this machine. And
        what a file says of how to reach a host is not believed: commands are made with it."""
        if isinstance(told, HostMet):
            return replace(told, via="")
        if isinstance(told, Started) and told.host in (LOCALHOST, self._own_name) and told.host is not None:
            return replace(told, host=told.origin.host)
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
        host, name = self._sources[number]
        return Origin(name, line, offset, host)


def room_for(text: str) -> int:
    """Bytes that it takes to keep a text among others."""
    return getsizeof(text) + _BESIDES


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
