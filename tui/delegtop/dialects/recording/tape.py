"""The wire form of a recording: one JSON object a line, each with a checksum in front (docs/recording.md).

A line is whole or it is not: whatever a crash tears is told by its checksum, and the next line can be read again.
Events are written with the names of their fields and without what is not set, so that another version still reads
them. Places are numbers, because a path in every event would be longer than the event.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from zlib import crc32

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import astuple

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.text import as_json
from delegtop.model.events import (
    Awaited,
    Described,
    Deviation,
    Ended,
    Erred,
    Event,
    Heard,
    HostBeat,
    HostMet,
    Noted,
    ProcessSeen,
    Resumed,
    Sighted,
    Started,
    Surveyed,
)

VERSION = 1
LARGEST = 512 * 1024
"""A record of more bytes is written in parts: a line of a megabyte is too long for who reads logs."""
PART = 200_000
"""Characters of one part; each may take four bytes."""
_HEAD = b'{"crc":"'
_AFTER = len(_HEAD) + 8
_TAG = "is"

_KEPT = Meta(ge=-(1 << 63), le=(1 << 63) - 1)
"""Numbers that a column of the store can hold: a record with another is none that delegtop wrote."""
Moment = Annotated[Millis, _KEPT]

_Number = Annotated[int, _KEPT]
Place = tuple[_Number, _Number, _Number]
"""The number of the source, the line, and the offset."""
Mark = tuple[int, int, int]
"""Of a log that grows: how many bytes of it are told, the checksum of exactly these, and that of what they told. It is
handed back by who wants to go on from there, and means nothing to anybody else."""


def _mirror(kind: type[Event]) -> type[Struct]:
    """How one kind of event is written: its place comes last, and only if it is not that of the record."""
    hints = get_type_hints(kind, include_extras=True)
    fields: list[Any] = []
    for field in msgspec.structs.fields(kind):
        if field.name != "origin":
            named = (field.name, _kept(hints[field.name]))
            fields.append(named if field.default is NODEFAULT else (*named, field.default))
    fields.append(("place", Place | None, None))
    name = kind.__name__
    return msgspec.defstruct(
        name, fields, tag_field=_TAG, tag=name.lower(), frozen=True, gc=False, omit_defaults=True, module=__name__
    )


def _kept(hint: Any) -> Any:
    """The same type, its numbers no larger than a column holds."""
    if get_origin(hint) in (Union, UnionType):
        return reduce(or_, map(_kept, get_args(hint)))
    return Annotated[hint, _KEPT] if hint in (int, Millis) else hint


def _index(kind: type[Event]) -> int:
    return [field.name for field in msgspec.structs.fields(kind)].index("origin")


_KINDS: tuple[type[Event], ...] = (
    *(Started, Heard, Described, Noted, Awaited, Sighted, ProcessSeen),
    *(Resumed, Erred, Ended, Surveyed, HostMet, HostBeat, Deviation),
)
_MIRRORS = {kind: (_mirror(kind), _index(kind)) for kind in _KINDS}
_REAL: dict[type[Struct], tuple[Callable[..., Event], int]] = {
    mirror: (kind, index) for kind, (mirror, index) in _MIRRORS.items()
}
_AnyEvent: Any = reduce(or_, _REAL)


class Header(Struct, frozen=True, tag_field=_TAG, tag="recording", omit_defaults=True):
    """The first record."""

    version: int
    by: str
    at: Moment
    limits: dict[str, Any] = {}
    """What the agent files said that deadlines come from, by the name of the agent."""
    host: str = ""
    """What the machine is called on which it was made."""
    machine: str = ""
    """By what that user's home on that machine is known again."""
    beat: int = 0
    """Milliseconds between two beats of a stream; 0 if it has none."""
    can: tuple[str, ...] = ()
    """What a stream can be asked on its other side."""


class TapeSource(Struct, frozen=True, tag_field=_TAG, tag="source", omit_defaults=True):
    """From here on that number means this source."""

    number: int
    name: str
    host: str = ""
    """Where it lies, if not where this was recorded: one who watches several hosts can record them."""


class TapeBeat(Struct, frozen=True, tag_field=_TAG, tag="beat", omit_defaults=True):
    """In a stream: all that is known up to this moment is told."""

    at: Moment
    behind: bool = False
    """It is not: there is more to be read that was there before. Only that somebody is there is told."""
    marks: dict[str, Mark] = {}
    """How much is told, of the sources of which it is more than before, by their numbers."""


class TapeLine(Struct, frozen=True, tag_field=_TAG, tag="line", omit_defaults=True):
    """In a stream: a line that was asked for."""

    ask: int
    text: str | None = None
    """None if it is not there, or not to be had."""


class Lost(Struct, frozen=True, omit_defaults=True):
    """Something on the line that could not be read."""

    reason: str
    excerpt: str = ""
    place: Place | None = None


class TapeEvents(Struct, frozen=True, tag_field=_TAG, tag="told", omit_defaults=True):
    """One line of a source and all it tells."""

    at: Place
    seen: Moment
    events: tuple[_AnyEvent, ...] = ()
    lost: tuple[Lost, ...] = ()
    raw: str | None = None
    data: bytes | None = None
    """The line itself if it is no text."""


class Part(Struct, frozen=True, tag_field=_TAG, tag="part"):
    """A piece of a record that is too long for one line."""

    number: int
    of: int
    text: str


class End(Struct, frozen=True, tag_field=_TAG, tag="end"):
    """The recording ended here on purpose."""

    at: Moment
    records: int


Written = Header | TapeSource | TapeEvents | TapeBeat | TapeLine | Part | End

_plain = msgspec.json.Encoder().encode
_decode: Callable[[bytes | str], Written] = msgspec.json.Decoder(Written).decode


class Damaged(Exception):  # noqa: N818 - reads better where it is raised
    """The line is not what was written."""


def encode(value: object) -> bytes:
    """It as JSON that may be printed: what logs hold must not reach the terminal of who looks into a recording."""
    return as_json(_plain(value))


def frames(record: Written) -> Iterator[bytes]:
    """The lines of one record, each with its newline."""
    data = encode(record)
    if len(data) <= LARGEST:
        yield _frame(data)
        return
    text = data.decode()
    pieces = range(0, len(text), PART)
    for number, start in enumerate(pieces, 1):
        yield _frame(encode(Part(number, len(pieces), text[start : start + PART])))


def _frame(data: bytes) -> bytes:
    rest = b'",' + data[1:]
    return b"%b%08x%b\n" % (_HEAD, crc32(rest), rest)


def unframe(line: bytes) -> Written | None:
    """The record on a line; `Damaged` if it is not whole, None if it is a kind that this version does not know."""
    if not line.startswith(_HEAD):
        raise Damaged("no checksum")
    rest = line[_AFTER:]
    try:
        given = int(line[len(_HEAD) : _AFTER], 16)
    except ValueError:
        raise Damaged("no checksum") from None
    if crc32(rest) != given:
        raise Damaged("the checksum does not fit")
    return parse(b"{" + rest[2:])


def parse(data: bytes | str) -> Written | None:
    """The record in JSON; None if this version cannot read it."""
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None


def written(event: Event, here: Place, place: Place) -> Struct:
    """An event as it is written in a record of the place `here`."""
    mirror, index = _MIRRORS[type(event)]
    values = astuple(event)
    return mirror(*values[:index], *values[index + 1 :], None if place == here else place)


def event(found: Struct, here: Origin, origin_of: Callable[[Place], Origin]) -> Event:
    """The event that was written in a record whose line stood `here`."""
    kind, index = _REAL[type(found)]
    values = astuple(found)
    place = values[-1]
    return kind(*values[:index], here if place is None else origin_of(place), *values[index:-1])
