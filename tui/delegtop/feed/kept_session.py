"""What the files of a session at rest told, in the form in which it is kept between two runs.

The ledger folds signs of life into the last one and the most that was used, so of thousands only that is kept, and in
which minutes there were any. All else is kept as it was told.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask
from delegtop.dialects import load
from delegtop.feed.dormant_sessions import Kept
from delegtop.feed.followed_file import SourceStatus
from delegtop.model.call_durations import CallsOfOne
from delegtop.model.events import (
    Awaited,
    Described,
    Deviation,
    Ended,
    Erred,
    Event,
    Heard,
    Noted,
    Resumed,
    Sighted,
    Started,
)
from delegtop.model.store.archive import press, unpress
from delegtop.model.store.details import NOWHERE
from delegtop.sources.inode import Look
from delegtop.sources.records import Unreadable

_OfOne = Started | Described | Noted | Awaited | Sighted | Resumed | Heard | Erred | Ended
LAYOUT = 2
"""Another one whenever what is below changes, or what a dialect tells."""


class KeptProblem(Struct, frozen=True, gc=False, array_like=True):
    """An unreadable line, or something in a readable one that does not fit its format."""

    is_deviation: bool
    origin: Origin
    kind: str
    words: str

    def told(self) -> Unreadable | Deviation:
        return (Deviation if self.is_deviation else Unreadable)(self.origin, self.kind, self.words)


class KeptFile(Struct, frozen=True, gc=False, array_like=True):
    """One file: what it looked like when it was read to its end, and what was counted in it."""

    path: str
    look: Look
    digest: int
    """Of all that stands in it."""
    key: int = 0
    """The digest of its first line; 0 for a document."""
    format: str = ""
    """By name; empty if it has none that is known."""
    records: int = 0
    unreadable: int = 0
    deviations: int = 0
    reasons: dict[str, int] = {}
    examples: tuple[KeptProblem, ...] = ()

    def status(self, look: Look) -> SourceStatus:
        """Its health, now that it looks like this."""
        return SourceStatus(*self._health(look))

    def kept(self, look: Look) -> Kept:
        """The same as the shelf keeps it."""
        return Kept(*self._health(look), look=hash(look), key=self.key, format=load(self.format))

    def _health(self, look: Look) -> tuple[Any, ...]:
        """In the order of the fields of a `SourceStatus`, without the last."""
        _, _, size, written, _ = look
        examples = tuple(each.told() for each in self.examples) if self.examples else ()
        counts = self.deviations, self.reasons, examples, size, size, Millis(written // 1_000_000)
        return self.path, self.format, self.records, self.unreadable, "live", "", *counts


def kept_file(status: SourceStatus, look: Look, digest: int, key: int) -> KeptFile:
    return KeptFile(
        status.path,
        look,
        digest,
        key,
        status.dialect or "",
        status.records,
        status.unreadable,
        status.deviations,
        dict(status.reasons),
        tuple(_problem(each) for each in status.examples),
    )


def _problem(each: Unreadable | Deviation) -> KeptProblem:
    if isinstance(each, Deviation):
        return KeptProblem(True, each.origin, each.kind, each.detail)
    return KeptProblem(False, each.origin, each.reason, each.excerpt)


class Told(Struct, frozen=True, gc=False, array_like=True):
    """What the files of a session told, by kind: one piece of work for the decoder."""

    starts: list[Started] = []
    words: list[Described] = []
    notes: list[Noted] = []
    waits: list[Awaited] = []
    sights: list[Sighted] = []
    resumed: list[Resumed] = []
    signs: list[Heard] = []
    """The last of each."""
    errors: list[Erred] = []
    ends: list[Ended] = []
    minutes: list[int] = []
    """In which there were signs of life: the first, and then from one to the next."""
    order: list[str] = []
    """The ids as they were first told of: what else is equal stands in this order."""
    running: list[Started] = []
    """Those whose process a log names, and of which no end was told since."""

    def ids(self) -> set[str]:
        """All that it tells of."""
        told: tuple[Sequence[_OfOne], ...] = (self.starts, self.words, self.notes, self.waits, self.sights)
        more: tuple[Sequence[_OfOne], ...] = (self.resumed, self.signs, self.errors, self.ends)
        return {event.id for events in (*told, *more) for event in events}

    def events(self, known: set[int]) -> Iterator[Event]:
        """All of it, with a sign of life for each minute that is not known yet; the last ones come after these."""
        for id in self.order:
            yield Heard(id, None, NOWHERE)
        if self.minutes:
            last = max(self.signs, key=lambda sign: sign.at or 0)
            for minute in accumulate(self.minutes):
                if minute not in known:
                    known.add(minute)
                    yield Heard(last.id, Millis(minute * MINUTE), NOWHERE)
        yield from chain(self.starts, self.words, self.notes, self.waits, self.sights, self.resumed)
        yield from chain(self.signs, self.errors, self.ends)


def told_by(
    events: Iterable[Event], signs: list[Heard], minutes: Iterable[int], order: list[str], running: list[Started]
) -> Told | None:
    """The same in the form that is kept; None if there is something in it for which there is no place."""
    told = Told(signs=signs, order=order, running=running)
    places: dict[type[Event], list[Any]] = {
        Started: told.starts,
        Described: told.words,
        Noted: told.notes,
        Awaited: told.waits,
        Sighted: told.sights,
        Resumed: told.resumed,
        Erred: told.errors,
        Ended: told.ends,
    }
    for event in events:
        place = places.get(type(event))
        if place is None:
            return None
        place.append(event)
    told.minutes.extend(after - before for before, after in pairwise((0, *sorted(minutes))))
    return told


def holds_secret(told: Told, others: Iterable[object], files: Sequence[KeptFile]) -> bool:
    """Whether anything in it would be masked on a screen."""
    values = {*told.order}
    for name in Told.__struct_fields__:
        events = getattr(told, name)
        if events and isinstance(events[0], Struct):
            values.update(chain.from_iterable(map(_fields_of(type(events[0])), events)))
    return has_secret((values, others, [each.words for file in files for each in file.examples]))


def has_secret(value: object) -> bool:
    """Whether any text in it would be masked on a screen."""
    return any(mask(text) != text for text in {*_texts(value)})


_NUMBERS = frozenset({int, bool, float, type(None)})


@cache
def _fields_of(kind: type[Struct]) -> Callable[[object], tuple[Any, ...]]:
    """What gives all that one of a kind holds but its place and its moment: a whole history is looked at."""
    return attrgetter(*(name for name in kind.__struct_fields__ if name not in ("origin", "at")))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | set):
        for each in value:
            if each.__class__ is str:
                yield each
            elif each.__class__ not in _NUMBERS:
                yield from _texts(each)
    elif isinstance(value, Struct) and not isinstance(value, Origin):
        yield from _texts(_fields_of(type(value))(value))


class KeptSession(Struct, frozen=True, gc=False, array_like=True):
    """All files with the id of one session in their paths, or one log that belongs to none; and what they told."""

    files: tuple[KeptFile, ...]
    others: tuple[KeptFile, ...]
    """Those of no known format: they tell nothing, unless they change."""
    told: bytes
    """Pressed."""
    calls: bytes
    """How long their calls took, which few ask for; pressed."""


_pack = msgspec.msgpack.Encoder().encode
_unpack_session = msgspec.msgpack.Decoder(KeptSession).decode
_unpack_told = msgspec.msgpack.Decoder(Told).decode
_unpack_calls = msgspec.msgpack.Decoder(list[CallsOfOne]).decode
_LEVEL = 3
LARGEST = 128 * 1024 * 1024
"""Bytes that a session told at most: a file that somebody else made may hold any number of them, pressed."""


def pack(
    files: Sequence[KeptFile], others: Sequence[KeptFile], told: Told, calls: Sequence[CallsOfOne]
) -> bytes | None:
    """A session as it is kept; None if something in it cannot be: half a character, a number past all use, too much."""
    try:
        packed, counts = _pack(told), _pack(calls)
        if len(packed) + len(counts) > LARGEST:
            return None
        compress = press().compress
        pressed = compress(packed, _LEVEL), compress(counts, _LEVEL)
        return _pack(KeptSession(tuple(files), tuple(others), *pressed))
    except (UnicodeEncodeError, OverflowError):
        return None


def unpack(data: bytes) -> KeptSession | None:
    """The session; None if it is none."""
    try:
        return _unpack_session(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def unpack_told(pressed: bytes) -> Told | None:
    try:
        return _unpack_told(unpress(pressed, LARGEST))
    except Exception:  # noqa: BLE001 # what presses has errors of its own, and one is as good as another here
        return None


def unpack_calls(pressed: bytes) -> list[CallsOfOne] | None:
    try:
        return _unpack_calls(unpress(pressed, LARGEST))
    except Exception:  # noqa: BLE001 # as above
        return None
