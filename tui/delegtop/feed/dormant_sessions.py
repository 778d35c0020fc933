"""The shelf: sessions that were read to their end and have been quiet for long.

Of thousands of old files hardly one is ever written again, so of each only its stamp and its counts are kept. When one
changes, all files of its session are taken down and read again from their top: the ledger folds away what it knows.

Only files with a session's id in their path are put away. A log without one may go on for years, and would be read
again from its top whenever something new stands at its end.
"""

import contextlib
import os
from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Container, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import astuple

from delegtop.base.clock import Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample
from delegtop.feed.followed_file import FollowedFile, SourceStatus, source_for
from delegtop.feed.formats import Formats, can_forget
from delegtop.feed.packed_files import Kept, PackedFiles, packed
from delegtop.feed.recent_window import session_of, unit_of
from delegtop.feed.resting_logs import RestingLogs
from delegtop.sources import history
from delegtop.sources.inode import Look, look_of
from delegtop.sources.records import Line
from delegtop.sources.snapshot import Snapshot
from delegtop.sources.tail import Tail
from delegtop.sources.text_identity.text_trace import key_of

if TYPE_CHECKING:
    from delegtop.feed.kept_session import RecalledFiles

QUIET = 3_600_000
"""Milliseconds after the last writing. Whoever resumes a session does so sooner, or much later."""
SAMPLE = 64 * 1024
_FEW = 64
"""So many keys are put in their places one by one; more are put in order with all others."""

Session = PackedFiles | tuple[str, ...]
"""The files that tell of one session; of a log that is its own the path."""


class Resting(NamedTuple):
    """A file that may be put away."""

    reading: FollowedFile
    status: SourceStatus
    look: Look
    key: int


def resting(
    readings: Collection[FollowedFile], tail: Tail, busy: Container[str], mixed: Set[Dialect]
) -> Iterator[tuple[str, list[Resting]]]:
    """The sessions that may be put away, with all their files.

    If a reader of several sessions also reads a file that does not say whose it is, all of them stay: it may be theirs.
    """
    sessions: dict[str, list[FollowedFile]] = {}
    for reading in readings:
        session = session_of(reading.path)
        if session is not None and session not in busy:
            sessions.setdefault(session, []).append(reading)
    until, borrowed = quiet_until(), tail.borrowed()
    for session, files in sessions.items():
        readers, paths = {reading.dialect for reading in files}, {reading.path for reading in files}
        if mixed.isdisjoint(readers) and borrowed.isdisjoint(paths):
            found = [rest for reading in files if (rest := _rest(reading, tail, until)) is not None]
            if len(found) == len(files):
                yield session, found


def quiet_until() -> Millis:
    """What was written later may be written on."""
    return Millis(WallClock().now() - QUIET)


def _rest(reading: FollowedFile, tail: Tail, until: Millis) -> Resting | None:
    """The file if it was read to its end, is plain, and was not written since then."""
    if not can_forget(reading.dialect, reading.path):
        return None
    if reading.source is None:
        known = tail.at_rest(reading.path)
        look, key = known or (None, 0)
        file = tail.status(reading.path)
    elif isinstance(reading.source, Snapshot) and type(reading.dialect).vanished is Dialect.vanished:
        look, key, file = reading.source.at_rest(), 0, reading.source.status()
    else:
        return None
    if look is None or file.changed_at is None or file.changed_at > until:
        return None
    return Resting(reading, reading.status(file), look, key)


class DormantSessions:
    """Files by path and by session. One thread puts away and takes down; any may look."""

    def __init__(self) -> None:
        self._sessions: dict[str, PackedFiles | RecalledFiles] = {}
        self._keys = array("q")
        """The first lines of all logs that were ever put away, in order: as a set they would cost ten times as much."""
        self._late: set[int] = set()
        """Those that are not among them yet."""
        self._count = self._size = 0
        self.logs = RestingLogs()
        """Those that belong to no session."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self._size + self.logs.size

    def __len__(self) -> int:
        return self._count + len(self.logs)

    def __contains__(self, path: str) -> bool:
        files = self._sessions.get(unit_of(path)) if self._sessions else None
        return (files is not None and path in files) or path in self.logs

    def _packed(self, session: str) -> PackedFiles | None:
        """The files of a session, for who asks for more than how they are."""
        files = self._sessions.get(session)
        if files is None or isinstance(files, PackedFiles):
            return files
        now = self._sessions[session] = files.packed()
        return now

    def _all(self) -> Iterator[tuple[str, PackedFiles]]:
        """The same of all sessions."""
        for session in list(self._sessions):
            if (files := self._packed(session)) is not None:
                yield session, files

    def session_of(self, path: str) -> str | None:
        """The session of that file if there is something of it here."""
        session = session_of(path)
        return session if session in self._sessions else None

    def of_family(self, format: type[Dialect], family: str) -> set[str]:
        """The sessions with a file that the reader of that family has read."""
        return {
            session
            for session, files in self._all()
            if any(kept.format is format and format.family(kept.path) == family for kept in files)
        }

    def put(self, session: str, files: Sequence[Resting]) -> None:
        """Keep what there is to know of the files of a session."""
        known = {kept.path: kept for kept in self._packed(session) or ()}
        new = [
            Kept(*astuple(status), look=hash(look), key=key, format=type(reading.dialect))
            for reading, status, look, key in files
        ]
        self._keep(session, packed({**known, **{kept.path: kept for kept in new}}.values()))
        self._late.update([kept.key for kept in new if kept.key])

    def put_again(self, session: str, files: "PackedFiles | RecalledFiles", keys: Iterable[int]) -> None:
        """The same of a session that was read in an earlier run, with the first lines of its logs."""
        self._keep(session, files)
        self._late.update(keys)

    def _keep(self, session: str, files: "PackedFiles | RecalledFiles") -> None:
        """Keep these of a session and no others."""
        before = self._sessions.get(session)
        if before is not None:
            self._count, self._size = self._count - len(before), self._size - before.size
        if len(files):
            self._sessions[session] = files
            self._count, self._size = self._count + len(files), self._size + files.size
        elif before is not None:
            del self._sessions[session]

    def knows_any(self, keys: Collection[int]) -> bool:
        """Whether a log with one of these first lines was put away."""
        return not self._late.isdisjoint(keys) or any(_find(self._keys, key) is not None for key in keys)

    def take_down(self, session: str) -> Sequence[str]:
        """The files of a session, which are kept no longer; those that are gone stay. A log is its own session."""
        if self.logs.take(session):
            return (session,)
        files = [*(self._packed(session) or ())]
        self._keep(session, packed([kept for kept in files if not kept.is_there]))
        return [kept.path for kept in files if kept.is_there]

    def strike(self, path: str) -> None:
        """A file has turned up: if one of that name in its session is gone, it has moved, and counts where it is."""
        session = session_of(path) or ""
        name = path[path.find(session) :]
        files = [*(self._packed(session) or ())]
        stay = [kept for kept in files if kept.status != "gone" or not kept.path.endswith(name)]
        if len(stay) < len(files):
            self._keep(session, packed(stay))

    def changed(self, files: Iterable[str]) -> set[str]:
        """The sessions of which a file is not what it was, by all files that there are. One that is gone changes
        nothing."""
        self._settle()
        found: set[str] = set()
        for session, known in self._all():
            is_changed, now = known.looked_at()
            if now is not known:
                self._sessions[session] = now
            if is_changed:
                found.add(session)
        return found.union(self.logs.changed(files))

    def twin(self, head: bytes, files: Iterable[str]) -> str | None:
        """The session of a log with the same first line, of all files that there are: only its text can tell whether a
        file is a copy of it."""
        key = key_of(head)
        if (log := self.logs.like(key, files)) is not None:
            return log
        self._settle()
        at = _find(self._keys, key)
        if at is None:
            return None
        for session, known in self._all():
            if any(kept.key == key and kept.is_there for kept in known):
                return session
        del self._keys[at]
        return None

    def _settle(self) -> None:
        """Put the keys that came last among the others."""
        if len(self._late) > _FEW:
            self._keys = array("q", sorted([*self._keys, *self._late]))
        else:
            for key in self._late:
                insort(self._keys, key)
        self._late.clear()

    # -- for people ------------------------------------------------------------------------------------------------

    def statuses(self) -> "list[SourceStatus | PackedFiles | RecalledFiles]":
        """The health of every file."""
        return [*self._sessions.values(), *self.logs.statuses()]

    def raw(self, origin: Origin) -> bytes | None:
        """The very line, read again from a file that is what it was."""
        if self.logs.is_unchanged(origin.source):
            return history.line_at(origin.source, origin.offset)
        files = self._packed(unit_of(origin.source))
        kept = files.get(origin.source) if files is not None else None
        try:
            if kept is None or hash(look_of(os.stat(origin.source))) != kept.look:  # noqa: PTH116 # once for a question
                return None
        except OSError:
            return None
        if kept.key:
            return history.line_at(origin.source, origin.offset)
        return history.entry_at(origin) or history.whole(origin.source)

    def session(self, path: str) -> Session:
        """All files of the session that a file belongs to: another object whenever it was put away anew."""
        if path in self.logs:
            return (path,)
        return self._packed(unit_of(path)) or ()

    def read_again(self, session: Session, formats: Formats) -> dict[str, FollowedFile]:
        """All files of a session, read once more by readers of their own."""
        found: dict[str, FollowedFile] = {}
        for each in session:
            path = each if isinstance(each, str) else each.path
            with contextlib.suppress(OSError):  # gone
                sample = Sample(path, *history.head(path, SAMPLE))
                dialect = formats.of(sample) if isinstance(each, str) else each.format
                if dialect is None:
                    continue
                source = source_for(path, dialect, sample)
                found[path] = FollowedFile(path, formats.reader(dialect, path), source)
        tail = Tail()
        for line in tail.poll([path for path, reading in found.items() if reading.is_log]):
            if isinstance(line, Line):
                found[line.origin.source].read(line)
        tail.close()
        for reading in found.values():
            for line in reading.poll():
                if isinstance(line, Line):
                    reading.read(line)
        return found


def _find(keys: "array[int]", key: int) -> int | None:
    """Where it stands among them."""
    at = bisect_left(keys, key)
    return at if at < len(keys) and keys[at] == key else None
