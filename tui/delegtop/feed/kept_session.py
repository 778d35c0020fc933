"""Sessions at rest in the form in which they are kept between two runs: their files, and which rows of a
block are theirs.

What many of them told lies in one block, a ledger of them all: to take in its columns costs hardly more than to take
in those of one. Signs of life are in it as a ledger folds them, into the last one and the most that was used.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask
from delegtop.dialects import load
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.packed_files import Kept, PackedFiles, packed
from delegtop.model.call_durations import CallsOfOne
from delegtop.model.events import Awaited, Deviation, Ended, Event, Noted, Resumed, Started
from delegtop.model.sleep_detector import SleepDetector
from delegtop.model.store.archive import press, unpress
from delegtop.model.store.column_store import RowsMoved
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.numbers import SharedWords
from delegtop.model.store.packed_ledger import pack_ledger, unpack_ledger
from delegtop.sources.inode import Look
from delegtop.sources.records import Unreadable

T = TypeVar("T")
Family = tuple[str, str]
"""A format, and what of it one reader reads."""
LAYOUT = 5
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

    def kept(self) -> Kept:
        """The same as the shelf keeps it."""
        return Kept(*self._health(self.look), look=hash(self.look), key=self.key, format=load(self.format))

    @property
    def is_plain(self) -> bool:
        """Whether nothing is to be told of it but its numbers."""
        return not (self.unreadable or self.deviations or self.reasons or self.examples)

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


class RecalledFiles:
    """What is known of the files of a session, as the shelf has it for who looks once: to pack it, as for who looks
    again and again, would take as long as to find that they are what they were."""

    __slots__ = ("_files",)

    def __init__(self, files: Sequence[KeptFile]) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: str) -> bool:
        return any(file.path == path for file in self._files)

    def __iter__(self) -> Iterator[Kept]:
        return (file.kept() for file in self._files)

    def statuses(self) -> Iterator[SourceStatus]:
        return (file.status(file.look) for file in self._files)

    @property
    def odd(self) -> Sequence[SourceStatus]:
        """Those in which something was wrong."""
        return [file.status(file.look) for file in self._files if not file.is_plain]

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum([file.look[2] for file in self._files])

    def packed(self) -> PackedFiles:
        """For who looks again."""
        return packed(self)


def has_secret(value: object) -> bool:
    """Whether any text in it would be masked on a screen."""
    return any((_is_masked if len(text) <= _SHORT else _would_be)(text) for text in _texts(value))


def _would_be(text: str) -> bool:
    return mask(text) != text


_is_masked = lru_cache(512)(_would_be)
"""Of names of tools and models, folders and titles most sessions have the same."""


def forget_masked() -> None:
    """Nothing more is kept for now."""
    _is_masked.cache_clear()


_SHORT = 200
"""Characters: what is longer is hardly said twice, and would be kept here."""


def fields_of(events: Iterable[Event]) -> set[Any]:
    """All that stands in them but for places and moments, each once: a whole history is looked at for secrets."""
    return {value for event in events for value in _fields_of(type(event))(event)}


_SEVERAL = frozenset({list, tuple, set})
_PLAIN = frozenset({str, int, bool, float, type(None)})


@cache
def _fields_of(kind: type[Struct]) -> Callable[[object], tuple[Any, ...]]:
    names = [name for name in kind.__struct_fields__ if name not in ("origin", "at")]
    found = attrgetter(*names)
    return found if len(names) > 1 else lambda each: (found(each),)


def _texts(value: object) -> set[str]:
    """All in it, each once; what stands in what lies equally deep is looked at together."""
    found, level = set[str](), [value]
    while level:
        found.update([each for each in level if each.__class__ is str])
        deeper: list[Any] = []
        for each in level:
            if each.__class__ not in _PLAIN:
                deeper += each if each.__class__ in _SEVERAL else _parts(each)
        level = deeper
    return found


def _parts(each: object) -> Iterable[Any]:
    if isinstance(each, Struct) and not isinstance(each, Origin):
        return _fields_of(type(each))(each)
    if isinstance(each, str):
        return (str(each),)
    return each if isinstance(each, (list, tuple, set)) else ()


class Moments(Struct, frozen=True, gc=False, array_like=True):
    """What a ledger folds away of what a timeline is made of: it has the last of them."""

    notes: list[Noted] = []
    waits: list[Awaited] = []
    resumed: list[Resumed] = []
    ends: list[Ended] = []
    """Of who has several, or was given work again."""

    def all(self) -> Iterator[Event]:
        return chain(self.notes, self.waits, self.resumed, self.ends)


class KeptSession(Struct, frozen=True, gc=False, array_like=True):
    """All files with the id of one session in their paths, or one log that belongs to none."""

    name: str
    """By where its files lie."""
    packed_files: Raw
    """Packed: there may be thousands, and few are asked about."""
    others: tuple[KeptFile, ...]
    """Those of no known format: they tell nothing, unless they change."""
    running: tuple[Started, ...]
    """The starts of those whose process a log names, and of which no end was told since."""
    minutes: list[int]
    """In which there was anything of it: the first, and then from one to the next."""
    first: int
    """Its first row in the ledger of the block."""
    count: int
    has_secret: bool = False
    """It is not written down."""
    family: Family | None = None
    """Of its files, if their reader also reads other sessions."""

    @property
    def rows(self) -> range:
        return range(self.first, self.first + self.count)

    def files(self) -> tuple[KeptFile, ...]:
        """ValueError if they are none."""
        try:
            return _unpack_files(self.packed_files)
        except msgspec.MsgspecError as error:
            raise ValueError("no files") from error


def packed_files(files: Sequence[KeptFile]) -> Raw:
    """As a session keeps them; UnicodeEncodeError or OverflowError if that cannot be."""
    return Raw(_pack(files))


class _PackedBlock(Struct, frozen=True, gc=False, array_like=True):
    sessions: bytes
    ledger: bytes
    moments: bytes
    """What few ask for, as the next."""
    calls: bytes


_pack = msgspec.msgpack.Encoder().encode
_unpack_packed = msgspec.msgpack.Decoder(_PackedBlock).decode
_unpack_sessions = msgspec.msgpack.Decoder(list[KeptSession]).decode
_unpack_files = msgspec.msgpack.Decoder(tuple[KeptFile, ...]).decode
_unpack_moments = msgspec.msgpack.Decoder(list[Moments]).decode
_unpack_calls = msgspec.msgpack.Decoder(list[list[CallsOfOne]]).decode
_unpack_calls_of_one = msgspec.msgpack.Decoder(list[CallsOfOne]).decode
_LEVEL = 3
LARGEST = 128 * 1024 * 1024
"""Bytes of each part of a block: a file that somebody else made may hold any number of them, pressed."""


class SessionBlock:
    """What some sessions told, in one ledger, and what there is of each beside it."""

    def __init__(self, ledger: Ledger | None = None, sessions: Iterable[KeptSession] = ()) -> None:
        self._ledger: Ledger | bytes = Ledger() if ledger is None else ledger
        """Packed while nobody asks for it."""
        self.sessions = [*sessions]
        self._moments: list[Moments] | bytes = []
        """Of each session, pressed until somebody asks for it."""
        self._calls: list[Raw | list[CallsOfOne]] | bytes = []
        """Those of each session are packed, where they can be, until somebody asks for them."""
        self._packed: bytes | None = None
        """All of it as it was packed by others, as long as nothing more has come into it."""

    @property
    def ledger(self) -> Ledger:
        """ValueError if it cannot be unpacked, though it could be packed."""
        if isinstance(self._ledger, bytes):
            found = unpack_ledger(self._ledger, SharedWords())
            if found is None:
                raise ValueError("no ledger")
            self._ledger = found
        return self._ledger

    @property
    def rows(self) -> int:
        """How many delegations all of them tell of."""
        return self.sessions[-1].rows.stop if self.sessions else 0

    def press(self) -> None:
        """Nothing more comes into it, and it waits to be told or written: packed it takes a tenth of the room."""
        if not isinstance(self._ledger, bytes):
            known = _unpack_packed(self._packed).ledger if self._packed is not None else pack_ledger(self._ledger)
            self._ledger = known or self._ledger

    def ids(self, session: KeptSession) -> list[str]:
        """Of all that it tells of."""
        return self.ledger.ids[session.first : session.first + session.count]

    def moments(self) -> list[Moments]:
        """What few ask for; ValueError if it is none."""
        if isinstance(self._moments, bytes):
            self._moments = _unpressed(self._moments, _unpack_moments)
        return self._moments

    def calls(self) -> list[list[CallsOfOne]]:
        """How long the calls of each session took; the same."""
        found = self._unpacked_calls()
        self._calls = [*found]
        return found

    def _unpacked_calls(self) -> list[list[CallsOfOne]]:
        if isinstance(self._calls, bytes):
            return _unpressed(self._calls, _unpack_calls)
        return [_unpack_calls_of_one(each) if isinstance(each, Raw) else each for each in self._calls]

    def is_known(self, ids: Iterable[str]) -> bool:
        """Whether it tells of any of these."""
        find = self.ledger.find
        return any(find(id) is not None for id in ids)

    def part(self, sessions: Sequence[KeptSession]) -> "SessionBlock":
        """Some of them alone."""
        found = SessionBlock()
        found.add(self, sessions)
        return found

    def put(self, session: KeptSession, moments: Moments, calls: list[CallsOfOne]) -> None:
        """What stands beside the rows of one more."""
        self._packed = None
        self.sessions.append(session)
        self.moments().append(moments)
        if isinstance(self._calls, bytes):
            self._calls = [*self._unpacked_calls()]
        self._calls.append(_packed_calls(calls))

    def add(self, other: "SessionBlock", sessions: Sequence[KeptSession]) -> None:
        """Some sessions of another one, none of which tells of an id that is known here."""
        moments, calls = other.moments(), other._unpacked_calls()
        first, rows = len(self.ledger), [row for session in sessions for row in session.rows]
        self.ledger.append_rows(other.ledger, RowsMoved(rows, first))
        number = {session.name: at for at, session in enumerate(other.sessions)}
        for session in sessions:
            at = number[session.name]
            self.put(replace(session, first=first), moments[at], calls[at])
            first += session.count

    def told_by(self, sessions: Sequence[KeptSession]) -> Ledger:
        """What these told alone."""
        ledger = self.ledger
        if len(sessions) < len(self.sessions):
            ledger = Ledger()
            ledger.append_rows(self.ledger, RowsMoved([row for session in sessions for row in session.rows], 0))
        ledger.pulse = SleepDetector(minute for session in sessions for minute in accumulate(session.minutes))
        return ledger

    def pack(self) -> bytes | None:
        """None if something in it cannot be kept: half a character, a number past all use, too much. The ledger stays
        as it is: another thread may be taking it in."""
        if self._packed is not None:
            return self._packed
        try:
            calls = self._unpacked_calls() if isinstance(self._calls, bytes) else self._calls
            parts = _pack(self.sessions), _pack(self.moments()), _pack(calls)
        except (UnicodeEncodeError, OverflowError):
            return None
        ledger = self._ledger if isinstance(self._ledger, bytes) else pack_ledger(self._ledger)
        if ledger is None or max(map(len, parts)) > LARGEST:
            return None
        pressed = [bytes(press().compress(part, _LEVEL)) for part in parts]
        return _pack(_PackedBlock(pressed[0], ledger, *pressed[1:]))


def unpack_block(data: bytes, words: SharedWords | None = None) -> SessionBlock | None:
    """The block, in these words as far as they are its own; None if it is none."""
    try:
        packed = _unpack_packed(data)
        ledger, sessions = unpack_ledger(packed.ledger, words), _unpressed(packed.sessions, _unpack_sessions)
    except ValueError:
        return None
    if ledger is None or not all(0 <= each.first <= each.first + each.count <= len(ledger) for each in sessions):
        return None
    block = SessionBlock(ledger, sessions)
    block._moments, block._calls, block._packed = packed.moments, packed.calls, data
    return block


def _packed_calls(calls: list[CallsOfOne]) -> Raw | list[CallsOfOne]:
    """As they are where they cannot be packed: whoever packs the block finds that out."""
    try:
        return Raw(_pack(calls))
    except (UnicodeEncodeError, OverflowError):
        return calls


def _unpressed(data: bytes, unpack: Callable[[bytes], T]) -> T:
    try:
        return unpack(unpress(data, LARGEST))
    except Exception as error:  # what presses has errors of its own, and one is as good as another here
        raise ValueError("no part of a block") from error


def minutes_told(minutes: Iterable[int]) -> list[int]:
    """As they are kept."""
    return [after - before for before, after in pairwise((0, *sorted(minutes)))]
