"""The index of finished sessions: what was read to its end and has been quiet for long is not read again in another
run, as long as all of its files look as they did.

It is the shelf (`dormant_sessions`), made to last. A session that is found in the index goes on the shelf, and what it
told is told when all else has been read. Whatever is in doubt (a file more or less, another look and another text, a
copy, an id that others tell of too) is read from its top.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

import delegtop
from delegtop import __version__
from delegtop.base.clock import Millis, WallClock
from delegtop.base.paths import index_place
from delegtop.dialects import OWN, Dialect, load, plugins
from delegtop.feed.dormant_sessions import Resting, quiet_until
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.kept_session import (
    LAYOUT,
    Family,
    KeptFile,
    KeptSession,
    RecalledFiles,
    SessionBlock,
    forget_masked,
    kept_file,
    unpack_block,
)
from delegtop.feed.log_index import LogIndex
from delegtop.feed.packed_files import PackedFiles
from delegtop.feed.recent_window import Looks, folder_of, session_of, unit_of
from delegtop.feed.session_gathering import SessionGathering
from delegtop.model.call_durations import CallsOfOne
from delegtop.model.events import Event, Started
from delegtop.model.store import packed_ledger
from delegtop.model.store.archive import press
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.numbers import SharedWords
from delegtop.sources.inode import Look, look_of
from delegtop.sources.snapshot import Snapshot
from delegtop.sources.tail import Tail
from delegtop.sources.text_identity.text_trace import file_digest

if TYPE_CHECKING:
    from delegtop.feed.index_apart import IndexApart
    from delegtop.feed.index_file import IndexFile

MOST = 1_000
"""Delegations of a block: whoever asks for one session unpacks all of them."""
_THIN = MOST // 2
"""A block with fewer is written anew with what is new: each run may add one."""

T = TypeVar("T")
Place = tuple[SessionBlock, KeptSession]
"""Where it stands what a session told."""
Knows = Callable[[Collection[int]], bool]
"""Whether a text with one of these first lines was read, or need not be."""


class KnownFiles(msgspec.Struct, frozen=True):
    """The files of a unit, none of which need be read."""

    paths: Sequence[str]
    kept: PackedFiles | RecalledFiles
    """What the shelf keeps of them."""
    keys: Collection[int]
    """The first lines of the logs among them."""


class Recalled(NamedTuple):
    """What sessions told that are in the index."""

    ledger: Ledger
    running: Sequence[Started]
    """The starts of those whose process is still to be looked for."""
    moments: list[Event]
    """What a timeline is made of, for who asks for it."""
    calls: Sequence[CallsOfOne]
    """How long their calls took, for who asks for it."""


class SessionIndex:
    """One thread asks and tells. Nothing is written before `close`."""

    lends: ClassVar[bool] = True
    """Whether other processes may read a part of what is not known, where it is much."""

    def __init__(
        self, file: "IndexFile | IndexApart | None", *, logs: bool = True, moments: bool = False, calls: bool = False
    ) -> None:
        self._file = file
        self._asks_moments, self._asks_calls = moments, calls
        self.logs = LogIndex(file if logs else None)
        """Logs that belong to no session; None are kept, and all are read, for who wants to hear of each event."""
        self.is_holding = False
        """Whether what a session tells is told once all of it is there, so that each delegation of it is folded once:
        for who looks at nothing before all is read."""
        self._gathered: dict[str, SessionGathering] = {}
        self._spilt: list[SessionGathering] = []
        """What was held of those that are not kept after all."""
        self._owners: dict[Family, dict[str, str]] = {}
        """Which unit told of an id, where one reader reads several."""
        self._waiting: dict[str, Place] = {}
        """What is not told yet."""
        self._reading: FollowedFile | None = None
        """The file that is being read, and where what it told begins in the batch."""
        self._first = 0
        self._block = SessionBlock()
        """What is kept from now on."""
        self._new: dict[str, Place] = {}
        self._packed: list[tuple[bytes, list[str]]] = []
        """The same of what nothing more comes into, in whole blocks with the names of their sessions."""
        self._thin: list[Place] = []
        """What is kept in blocks in which there is room."""
        self._new_logs: dict[str, bytes] = {}
        self._gone: set[str] = set()
        self._names: dict[str, str] = {}
        """Under which name a unit is kept."""

    # -- what is known -----------------------------------------------------------------------------------------------

    def recall(
        self, paths: Iterable[str], busy: Collection[str], knows: Knows, looks: Looks
    ) -> Iterator[tuple[str, KnownFiles]]:
        """The units of these new files that need not be read; none of `busy`, and none with a text that `knows`
        knows. Who is in `looks` was looked at just now. What is known of logs is noted for when they are opened."""
        units: dict[str, set[str]] = {}
        words = SharedWords()
        for path in map(words.__getitem__, paths):
            units.setdefault(unit_of(path), set()).add(path)
        self.logs.recall(unit for unit in units if unit in units[unit])
        names = {_name(unit, found): unit for unit, found in units.items() if unit not in busy}
        for data in self._file.find_blocks(names, WallClock().now()) if self._file is not None else ():
            # Who looks once is gone before the room would be missed that is taken by words of which there are several.
            block = unpack_block(data, None if self.is_holding else words)
            if block is None or not self._is_asked_for(block):
                continue
            is_thin = block.rows < _THIN
            for session in block.sessions:
                unit = names.get(session.name)
                if unit is not None and (files := self._take_over(unit, (block, session), units[unit], knows, looks)):
                    if is_thin:
                        self._thin.append((block, session))
                    yield unit, files

    def _is_asked_for(self, block: SessionBlock) -> bool:
        """Whether all is there that is asked for."""
        try:
            asked = [*(block.moments() if self._asks_moments else ()), *(block.calls() if self._asks_calls else ())]
        except ValueError:
            return False
        return len(asked) == len(block.sessions) * (self._asks_moments + self._asks_calls)

    def _take_over(
        self, unit: str, place: Place, paths: Collection[str], knows: Knows, looks: Looks
    ) -> KnownFiles | None:
        """The files of a unit, if they are what they were when they told this."""
        files = _unchanged(place[1], paths, looks)
        if files is None or knows(keys := [file.key for file in files if file.key]):
            return None
        self._waiting[unit], self._names[unit] = place, place[1].name
        kept = RecalledFiles(files)
        return KnownFiles([file.path for file in files], kept if self.is_holding else kept.packed(), keys)

    def take_back(self, unit: str, place: Place, paths: Collection[str], knows: Knows) -> KnownFiles | None:
        """The same of what another process has just read; it is kept from now on."""
        files = self._take_over(unit, place, {*paths}, knows, Looks())
        if files is not None:
            self._note(unit, place)
            place[0].press()  # it is told once all is read
        return files

    @property
    def is_waiting(self) -> bool:
        """Whether something is still to be told."""
        return bool(self._waiting)

    def holds(self, unit: str) -> bool:
        """Whether what it told is still to be told."""
        return unit in self._waiting

    def forget(self, unit: str) -> None:
        """It is read from its top."""
        self._waiting.pop(unit, None)
        if (gathered := self._gathered.pop(unit, None)) is not None:
            self._spoil(gathered)

    def doubtful(self) -> list[str]:
        """The units that tell of ids which others tell of too: they may have to do with each other."""
        doubts: set[str] = set()
        for unit, (block, session) in self._waiting.items():
            if session.family is not None:
                doubts |= self._own(session.family, unit, block.ids(session))
        return [unit for unit in self._waiting if unit in doubts]

    def tell(self) -> Iterator[Recalled]:
        """What those told that are not in doubt, block by block."""
        blocks: dict[SessionBlock, list[KeptSession]] = {}
        for block, session in self._waiting.values():
            blocks.setdefault(block, []).append(session)
        self._waiting = {}
        for block, sessions in blocks.items():
            sessions.sort(key=lambda each: each.first)
            running = [started for session in sessions for started in session.running]
            ledger = block.told_by(sessions)
            moments = [*self._moments(block, sessions, ledger)] if self._asks_moments else []
            yield Recalled(ledger, running, moments, _calls(block, sessions) if self._asks_calls else ())
            del ledger
            if block is not self._block:
                self._set_aside(block)

    def _moments(self, block: SessionBlock, sessions: Sequence[KeptSession], ledger: Ledger) -> Iterator[Event]:
        yield from _ends_of(ledger)
        for _, moments in _of(sessions, block, block.moments()):
            yield from moments.all()

    def _own(self, family: Family, unit: str, ids: Iterable[str]) -> set[str]:
        """Note whose the ids are; the units that have to do with each other."""
        owners, shared = self._owners.setdefault(family, {}), set[str]()
        for id in ids:
            if (owner := owners.setdefault(id, unit)) != unit:
                shared |= {owner, unit}
        return shared

    # -- what is learned ---------------------------------------------------------------------------------------------

    def begin(self, path: str, written: Millis | None) -> None:
        """The file is read from its top. What was written lately is not kept, and so not gathered."""
        unit = unit_of(path)
        gathered = self._gathered.get(unit)
        if gathered is None:
            gathered = self._gathered[unit] = SessionGathering()
        gathered.paths.add(path)
        if written is None or written > quiet_until():
            self._spoil(gathered)

    def gathering(self, reading: FollowedFile) -> SessionGathering | None:
        """What holds back what the file tells; None if it is told at once."""
        return self._gathered.get(unit_of(reading.path)) if self.is_holding else None

    def follow(self, batch: Sequence[Event], reading: FollowedFile, *, is_top: bool) -> None:
        """What comes into the batch from now on is read of this file. If that begins at its top once more, another text
        stands in it than the one that was told of."""
        self._take(batch)
        self._reading, self._first = reading, len(batch)
        if is_top and (reading.records or reading.unreadable):
            self._let_go(unit_of(reading.path))

    def take(self, batch: Sequence[Event]) -> None:
        """The batch is complete."""
        self._take(batch)
        self._first = 0

    def _take(self, batch: Sequence[Event]) -> None:
        if self._reading is not None and (events := batch[self._first :]):
            gathered = self._gathered.get(unit_of(self._reading.path))
            self._gather(self._reading, gathered, events, is_counted=False)

    def hold(self, reading: FollowedFile, gathered: SessionGathering, events: Sequence[Event]) -> None:
        """What the file told, and nobody else is told yet."""
        if events:
            self._gather(reading, gathered, events, is_counted=reading.dialect.counts_calls)

    def spilt(self) -> Iterator[tuple[list[Event], Recalled]]:
        """What was held of sessions that are not kept after all, and is to be told now: what is said of no delegation
        alone, and all else as if it was known."""
        spilt, self._spilt = self._spilt, []
        for gathered in spilt:
            if gathered.holds_any:
                rest, ledger = gathered.told()
                moments = [*_ends_of(ledger), *gathered.moments().all()] if self._asks_moments else []
                yield rest, Recalled(ledger, (), moments, gathered.all_calls() if self._asks_calls else ())
            gathered.let_go()

    def spill(self) -> None:
        """Nothing more is held back."""
        for gathered in self._gathered.values():
            self._spoil(gathered)
        self.is_holding = False

    def _spoil(self, gathered: SessionGathering) -> None:
        """It is not kept; what it holds is told, if that is not done."""
        if not gathered.is_spoilt:
            gathered.is_spoilt = True
            self._give_up(gathered)

    def _give_up(self, gathered: SessionGathering) -> None:
        if self.is_holding:
            self._spilt.append(gathered)
        else:
            gathered.let_go()

    def _gather(
        self, reading: FollowedFile, gathered: SessionGathering | None, events: Sequence[Event], *, is_counted: bool
    ) -> None:
        """Calls are counted by what was told, unless its reader did that."""
        if gathered is not None and not gathered.is_spoilt:
            ids: Collection[str] = gathered.take(events, is_counted=is_counted)
            if gathered.is_spoilt:
                self._give_up(gathered)
        else:
            ids = _ids(events)
        if ids and (family := _shared_family(type(reading.dialect), reading.path)) is not None:
            for each in self._own(family, unit_of(reading.path), ids):
                self._let_go(each)

    def _let_go(self, unit: str) -> None:
        if (gathered := self._gathered.get(unit)) is not None:
            self._spoil(gathered)
        if (name := self._names.get(unit)) is not None:
            self._new.pop(name, None)
            self._gone.add(name)

    def keep(self, unit: str, files: Sequence[Resting], unknown: Sequence[str], digest: Callable[[str], int]) -> None:
        """All files of a unit are at rest: keep what they told, if nothing is in doubt."""
        gathered = self._gathered.pop(unit, None)
        if gathered is None or gathered.is_spoilt:
            return
        session = self._kept(unit, gathered, files, unknown, digest)
        if session is None:
            self._spoil(gathered)
            return
        place = self._block, session
        self._note(unit, place)
        if self.is_holding:
            self._tell_later(unit, place)

    def _tell_later(self, unit: str, place: Place) -> None:
        """What it told was held back."""
        self._waiting[unit] = place

    def _kept(
        self,
        unit: str,
        gathered: SessionGathering,
        files: Sequence[Resting],
        unknown: Sequence[str],
        digest: Callable[[str], int],
    ) -> KeptSession | None:
        """The session in the block of what is kept; None if something is in doubt."""
        if gathered.paths != {file.reading.path for file in files} or not all(map(_can_keep, files)):
            return None
        kept: list[KeptFile] = []
        for file in files:
            source = file.reading.source
            if source is not None and not isinstance(source, Snapshot):
                return None
            whole = digest(file.reading.path) if source is None else source.digest
            kept.append(kept_file(file.status, file.look, whole, file.key))
        beside = [KeptFile(path, look, 0) for path in unknown if (look := _look_at(path)) is not None]
        if len(beside) < len(unknown):
            return None
        if self._block.rows >= MOST or self._block.is_known(gathered.ids):
            if not self.is_holding:  # else it is told soon
                self._finish(self._block)
            self._block = SessionBlock()
        name, first = _name(unit, {*gathered.paths, *unknown}), files[0].reading
        return gathered.keep_in(self._block, name, kept, beside, _shared_family(type(first.dialect), first.path))

    def _finish(self, block: SessionBlock) -> None:
        """Nothing more comes into it, and it waits to be written: packed it takes a tenth of the room. One that is kept
        only in part is packed with others."""
        if not self._set_aside(block):
            block.press()

    def _set_aside(self, block: SessionBlock) -> bool:
        """Pack it, if all of it is to be written."""
        names = [session.name for session in block.sessions]
        is_whole = all(name in self._new and self._new[name][0] is block for name in names)
        if not is_whole or (data := block.pack()) is None:
            return False
        self._packed.append((data, names))
        for name in names:
            del self._new[name]
        return True

    def _unpacked(self) -> Iterator[Place]:
        """Of blocks of which something was let go, or told anew, since they were packed, the rest."""
        packed, self._packed = self._packed, []
        for data, names in packed:
            if self._new.keys().isdisjoint(names) and self._gone.isdisjoint(names):
                self._packed.append((data, names))
            elif (block := unpack_block(data)) is not None:
                yield from ((block, each) for each in block.sessions if each.name not in self._gone)

    def _note(self, unit: str, place: Place) -> None:
        """It is written down, unless there is a secret in it."""
        name = place[1].name
        if not place[1].has_secret:
            self._names[unit], self._new[name] = name, place
            self._gone.discard(name)

    def keep_logs(self, readings: Mapping[str, FollowedFile], tail: Tail) -> None:
        """Keep what logs told that belong to no session."""
        self._new_logs.update(self.logs.keep(readings, tail))

    def close(self) -> None:
        """Write down what is new."""
        if self._file is not None and (self._new or self._packed or self._new_logs or self._gone):
            thin = [place for place in self._thin if place[1].name not in self._gone] if self._new else []
            places = {place[1].name: place for place in (*thin, *self._unpacked())}
            blocks = [*self._packed, *packed_blocks({**places, **self._new}.values())]
            self._file.write(self._new_logs, blocks, self._gone, WallClock().now())
        self._new, self._packed, self._new_logs, self._gone, self._thin = {}, [], {}, set(), []
        forget_masked()


def packed_blocks(places: Iterable[Place]) -> list[tuple[bytes, list[str]]]:
    """These sessions in blocks of their own as they are kept, with the names of those in each."""
    return [*_packed(_blocks(places))]


def _blocks(places: Iterable[Place]) -> Iterator[SessionBlock]:
    """None of them tells of an id twice."""
    blocks: dict[SessionBlock, list[KeptSession]] = {}
    for block, session in places:
        blocks.setdefault(block, []).append(session)
    mixed = SessionBlock()
    for block, sessions in blocks.items():
        if len(sessions) == len(block.sessions) and block.rows >= _THIN:
            yield block
            continue
        with suppress(ValueError):  # what was packed is none, or what stands beside it
            ids = {id for session in sessions for id in block.ids(session)}
            if mixed.sessions and (mixed.rows + len(ids) > MOST or mixed.is_known(ids)):
                yield mixed
                mixed = SessionBlock()
            mixed.add(block, sessions)
    if mixed.sessions:
        yield mixed


def _packed(blocks: Iterable[SessionBlock]) -> Iterator[tuple[bytes, list[str]]]:
    """What cannot be kept is found by halves."""
    for block in blocks:
        data = block.pack()
        if data is not None:
            yield data, [session.name for session in block.sessions]
        elif (count := len(block.sessions)) > 1:
            halves = block.sessions[: count // 2], block.sessions[count // 2 :]
            yield from _packed(block.part(half) for half in halves)


def _ends_of(ledger: Ledger) -> Iterator[Event]:
    """Those that a ledger has in whole."""
    for row in ledger:
        yield from ledger.ends.told(row, ledger.ids[row])
        yield from ledger.faults(row)


def _of(sessions: Iterable[KeptSession], block: SessionBlock, beside: Sequence[T]) -> Iterator[tuple[KeptSession, T]]:
    """What stands beside these in their block."""
    wanted = {session.name for session in sessions}
    return ((each, found) for each, found in zip(block.sessions, beside, strict=True) if each.name in wanted)


def _calls(block: SessionBlock, sessions: Iterable[KeptSession]) -> list[CallsOfOne]:
    return [one for _, calls in _of(sessions, block, block.calls()) for one in calls]


OpenIndex = Callable[[], SessionIndex | None]


def open_index(*, logs: bool, moments: bool, calls: bool, apart: bool) -> SessionIndex | None:
    """The index of this user, with `apart` by another process; None where other packages read logs too: nobody knows
    when what they tell changes."""
    if plugins():
        return None
    if apart:
        from delegtop.feed.index_apart import IndexApart  # who looks once needs no other process

        return SessionIndex(IndexApart(index_place(), context()), logs=logs, moments=moments, calls=calls)
    from delegtop.feed.index_file import IndexFile  # who asks another process has no need of SQLite

    return SessionIndex(IndexFile(index_place(), context()), logs=logs, moments=moments, calls=calls)


def context() -> str:
    """Says by what was read what is kept: what another version told is not asked for."""
    return f"{LAYOUT} {packed_ledger.LAYOUT} {__version__} {press().__name__} {_edited()}"


_ABOVE = frozenset(
    {"act", "app", "cli", "delegate", "demo", "mcp_server", "notify", "observation", "page_server", "report", "search"}
    | {"testing", "__pycache__"}
)
"""What lies above the feed, or beside it (the layers in `pyproject.toml`), has no part in what is told."""


@cache
def _edited() -> int:
    """When this program was last changed, where it runs from its sources: whoever works on a format sees what it tells
    now."""
    package = Path(delegtop.__file__).parent
    if package.parent.name in ("site-packages", "dist-packages"):
        return 0
    newest = 0
    for folder, below, names in os.walk(package):  # hundreds of files at every start
        below[:] = [name for name in below if name not in _ABOVE]
        times = [os.stat(f"{folder}/{name}").st_mtime_ns for name in names if name.endswith(".py")]  # noqa: PTH116 # as above
        newest = max(newest, *times, 0)
    return newest


def _name(unit: str, paths: Collection[str]) -> str:
    """By where its files lie: the same session may lie in two places, and a path may be one from here."""
    first = min(paths)
    place = os.path.abspath(folder_of(first))  # noqa: PTH100 # thousands of them
    return f"{place}\n{unit}\n{'' if first.startswith('/') else first}"


def _unchanged(kept: KeptSession, paths: Collection[str], looks: Looks) -> Sequence[KeptFile] | None:
    """Its files as they are now, if these are all there are, and none is another than it was."""
    try:
        files = kept.files()
    except ValueError:
        return None
    if not files or {file.path for file in (*files, *kept.others)} != paths:
        return None
    if any(_look_at(file.path) != file.look for file in kept.others):
        return None
    if not {file.format for file in files} <= OWN.keys():
        return None
    if looks.agree(files):  # as nearly always
        return files
    found: list[KeptFile] = []
    for file in files:
        look = _look(file, looks.get(file.path))
        if look is None:
            return None
        found.append(replace(file, look=look))
    return found


def _look(file: KeptFile, look: Look | None) -> Look | None:
    """What the file looks like now, if it is as it was: by its look, else by all that stands in it. A backup that was
    put back, and one that was merely touched, look otherwise. Of a document, which has no key, the time of the file
    may be part of what it tells."""
    look = _look_at(file.path) if look is None else look
    if look is None or look == file.look:
        return look
    is_as_good = look[2] == file.look[2] and (file.key or look[3] == file.look[3])
    return look if is_as_good and _digest(file.path, look) == file.digest else None


def _look_at(path: str) -> Look | None:
    try:
        return look_of(os.stat(path))  # noqa: PTH116 # thousands of files
    except (OSError, ValueError):
        return None


def _digest(path: str, look: Look) -> int | None:
    """The digest of all that stands in a file, if it looks like this before and after."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        whole = file_digest(fd, 0, look[2])
        return whole if look_of(os.fstat(fd)) == look else None
    except OSError:
        return None
    finally:
        os.close(fd)


def _can_keep(file: Resting) -> bool:
    """Whether one of delegtop's own formats read it, first hand, and nothing in it hangs on other sessions."""
    dialect = file.reading.dialect
    is_own = dialect.name in OWN and type(dialect) is load(dialect.name)
    is_whole = file.status.status == "live" and not file.status.detail
    return is_own and is_whole and not dialect.second_hand and dialect.is_apart(file.reading.path)


def _shared_family(dialect: type[Dialect], path: str) -> Family | None:
    """The family of a file whose reader also reads other sessions."""
    family = dialect.family(path)
    return None if family == path or session_of(family) else (dialect.name, family)


def _ids(events: Iterable[Event]) -> set[str]:
    return {id for event in events if (id := getattr(event, "id", None)) is not None}
