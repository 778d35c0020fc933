"""The catalogue: which files there are, in which format each is read, which are of no known one or put away.

A file gets a dialect by the shape of its first bytes and keeps it.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.system_errors import reason_within
from delegtop.dialects import Dialect, Sample
from delegtop.feed.dormant_sessions import DormantSessions, Resting, resting
from delegtop.feed.empty_files import EmptyFiles
from delegtop.feed.followed_file import FollowedFile, SourceStatus, source_for
from delegtop.feed.formats import Formats, can_forget
from delegtop.feed.lending import SessionLending
from delegtop.feed.recent_window import FEW, Looks, RecentWindow, folder_of, session_of, unit_of
from delegtop.feed.resting_logs import GoneLogs, at_rest, gone
from delegtop.feed.source_statuses import SourceStatuses, StatusPart
from delegtop.model.store.column_growth import give_back
from delegtop.sources import history
from delegtop.sources.discover import Roots, Scan, growth_of, is_lock, is_packed
from delegtop.sources.file_status import FileStatus
from delegtop.sources.first_record import FirstRecords
from delegtop.sources.spool import Spool
from delegtop.sources.tail import Tail
from delegtop.sources.text_identity.text_trace import key_of

if TYPE_CHECKING:
    from delegtop.feed.session_index import OpenIndex, Recalled, SessionIndex

SAMPLE = 64 * 1024
WORTH = 4 * 1024 * 1024
"""Bytes: fewer are read sooner than it is found out that they need not be."""
STDIN = "-"
Sift = Callable[[Sequence[str]], list[str]]
"""Of new files, those that are to be read: for whoever knows the others, and wants every word of these."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class FileCatalogue:
    """All files of one look. One thread changes it; the readings and the shelf may be looked at by any."""

    def __init__(
        self,
        roots: Roots,
        formats: Formats,
        window: RecentWindow,
        tail: Tail,
        spool: Spool | None,
        index: "OpenIndex | None" = None,
        sift: Sift | None = None,
    ) -> None:
        self._sift = sift
        self.readings: dict[str, FollowedFile] = {}
        self.shelf = DormantSessions()
        self.waiting: list[str] = []
        """New files that are not yet looked at, in their order."""
        self._roots = roots
        self._formats = formats
        self._window = window
        self._tail = tail
        self._spool = spool
        self.index: SessionIndex | None = None
        """What is known from earlier runs, if there is so much to read that it is worth asking."""
        self._open_index = index
        self._lending: SessionLending | None = None
        """Others who read a part of it, where it is much."""
        self._may_lend = True
        self._order: dict[str, int] | None = {}
        """In which order files turned up; None for who follows them."""
        self.keeps_order = False
        """Whether they are told of in that order: for who reads once."""
        self.holds_back = False
        """Whether what a session tells may be told once all of it is there: nobody sees anything before the end."""
        self.rest: Callable[[], None] = lambda: None
        """Called between two files or sessions: there may be thousands, and others in a hurry."""
        self._scan = Scan()
        self._left_out: tuple[SourceStatus, ...] = ()
        self._unknown: dict[str, tuple[tuple[int, int], str]] = {}
        """Files without a dialect: size and time at the last try, and what came of it."""
        self._refused: dict[str, str] = {}
        """Those of them that cannot be read, and why."""
        self._empty = EmptyFiles()
        self._first = FirstRecords()
        self._gone = GoneLogs()
        self._sessions: dict[str, str | None] = {}
        """Of new files, as far as their paths say so: each is asked about whenever others were read."""
        self._copied: set[str] = set()
        """Sessions of which there may be copies: they are not put away again."""
        self._mixed: set[Dialect] = set()
        """Readers of several sessions that also read a file of which nobody knows whose it is."""

    # -- what there is ---------------------------------------------------------------------------------------------

    def glance(self) -> None:
        """Find what changed last, and nothing else."""
        if self._sift is None:  # who leaves files out wants to see all of a session at once
            self.waiting = self._window.admit(self._roots.newest())
            self._number(self.waiting)

    def look_round(self) -> tuple[str, ...]:
        """Find everything that is new, and what of the things put away has changed; gives the folders looked into."""
        self._scan = self._roots.scan()
        self.rest()
        if self._unknown:
            self._unknown = {path: self._unknown[path] for path in self._scan.files if path in self._unknown}
        if self._refused:
            self._refused = {path: why for path, why in self._refused.items() if path in self._unknown}
        self._first.keep(self._unknown)
        self._empty.look(self._unknown)
        known = {*self.waiting, *self._unknown, *(self._lending.lent if self._lending is not None else ())}
        looks = Looks()
        found: Iterable[str] = self._scan.files
        if self.shelf or self.readings or known:  # else all is new
            found = (
                path for path in found if path not in self.shelf and path not in self.readings and path not in known
            )
        admitted = self._window.admit(found, looks if self.index is not None or self._open_index is not None else None)
        if self._sift is not None:
            admitted = self._sift(admitted)
        self.waiting += admitted
        self._number(admitted)
        is_new = bool(admitted)
        self.rest()
        for session in self.shelf.changed(self._scan.files):
            self._take_down(session)
        if self._open_index is not None and _is_much(self.waiting):
            self.index, self._open_index, is_new = self._open_index(), None, True
            if self.index is not None:
                self.index.is_holding = self.holds_back and self._sift is None  # who leaves out some hears of all
        if self.index is not None and is_new and self._sift is None:
            self._recall(self.index, looks)
            if self._may_lend and self.index.lends:
                self._may_lend, self._lending = False, SessionLending.begun(self.waiting, looks)
        self._left_out = tuple(self._too_old())
        return self._roots.directories()

    def _number(self, paths: Iterable[str]) -> None:
        """They have just turned up."""
        if self._order is not None:
            for path in paths:
                self._order.setdefault(path, len(self._order))

    def _recall(self, index: "SessionIndex", looks: Looks) -> None:
        """Put on the shelf what is known from an earlier run."""
        busy = {unit_of(path) for path in (*self.readings, *self._unknown)} | self._window.alive | self._copied
        if self.shelf:
            busy.update(session for path in self.waiting if (session := self.shelf.session_of(path)))
        known = set[str]()
        # Two that are copies of each other are known if others read each alone: only the first goes on the shelf.
        for session, files in index.recall(self.waiting, busy, self._knows_any, looks):
            self.shelf.put_again(session, files.kept, files.keys)
            known.update(files.paths)
        self.waiting = [path for path in self.waiting if path not in known]

    def _lend(self, lending: "SessionLending", index: "SessionIndex") -> None:
        """Let others read what waits last, and take back what they have read; where nothing else waits, wait for it."""
        busy = {unit_of(path) for path in (*self.readings, *self._unknown)} | self._window.alive | self._copied
        self.waiting = lending.lend(self.waiting, busy)
        for unit, paths, loaded in lending.returned(idle=not self.waiting, rest=self.rest):
            self.rest()
            is_new = unit not in self._window.alive and unit not in self._copied
            files = index.take_back(unit, loaded, paths, self._knows_any) if loaded is not None and is_new else None
            if files is None:
                self.waiting += paths
            else:
                self.shelf.put_again(unit, files.kept, files.keys)
                self.waiting += [path for path in paths if path not in self.shelf]  # those of no known format
        if not self.waiting and not lending.has_lent:
            lending.end()
            self._lending = None

    def _knows_any(self, keys: Collection[int]) -> bool:
        """Whether a text with one of these first lines was read, or need not be."""
        return self._tail.knows_any(keys) or self.shelf.knows_any(keys)

    @property
    def is_lent(self) -> bool:
        """Whether others are still reading."""
        return self._lending is not None and self._lending.has_lent

    @property
    def has_recalled(self) -> bool:
        """Whether something that is known is still to be told."""
        return self.index is not None and self.index.is_waiting

    def recalled(self) -> "Iterator[Recalled]":
        """What the files told that are known from an earlier run, once all others were read."""
        if self.index is None or self.waiting or self.is_lent:
            return
        for session in self.index.doubtful():
            if paths := self.shelf.take_down(session):  # else it was read in this run
                self.waiting += paths
                self.index.forget(session)
        yield from self.index.tell()

    def is_unread(self, path: str) -> bool:
        """Whether it is a log that is not read now, and may be if it changes."""
        return path in self._unknown or path in self.shelf or path in self._window.left_out

    def open_some(self, *, again: bool) -> bool:
        """Open a portion of the new files, and `again` all of no known format; True if there is something to read."""
        unknown = list(self._unknown) if again or len(self._unknown) <= FEW else []
        # Every poll with new files looks at all known ones, so the portions grow with what is known.
        many = max(FEW, len(self.readings) // 2, len(self.shelf) // 8, len(self._unknown) // 2)
        kept = len(self.shelf)
        if self._lending is not None and self.index is not None:
            many = min(many, FEW)  # so that others can be given something to do in between
            self._lend(self._lending, self.index)
        fresh, self.waiting = self.waiting[:many], self.waiting[many:]
        for path in dict.fromkeys((*unknown, *fresh, *self._stdin())):
            if path not in self.readings and path not in self.shelf:
                self.rest()
                self._open(path)
        return bool(fresh) or len(self.shelf) < kept

    def _stdin(self) -> Sequence[str]:
        return () if self._spool is None else (STDIN,)

    def _open(self, path: str) -> None:
        if path == STDIN and self._spool is not None:
            self._settle(path, Sample(path, *self._spool.head(SAMPLE)))
            return
        try:
            found = os.stat(path)  # noqa: PTH116 # a Path for each file of each poll would cost more than the stat
            stamp = growth_of(path, found) if self._roots.expects(path) else (found.st_size, found.st_ino)
            if path in self._unknown and self._unknown[path][0] == stamp:
                return
            self._unknown[path] = (stamp, "empty")
            self._refused.pop(path, None)
            if found.st_size or is_lock(path):
                self._empty.let_go(path)
                self._settle(path, sample_of(path), Millis(found.st_mtime_ns // 1_000_000))
            else:
                self._empty.keep(path)
        except FileNotFoundError:
            self._unknown[path] = ((-1, -1), "gone: not found")
        except OSError as error:
            self._refused[path] = reason_within(error)
            self._unknown[path] = ((-1, -1), f"unreadable: {reason_within(error)}")

    def _settle(self, path: str, sample: Sample, written: Millis | None = None) -> None:
        """Find the format of a file by how it begins, and of a database by its tables."""
        if sample.is_database and path != STDIN:
            from delegtop.sources.database import columns_of  # few files are

            sample = msgspec.structs.replace(sample, columns=columns_of(path))
        dialect = self._formats.of(sample) or self._otherwise(sample)
        if dialect is None or not (sample.head or self._formats.is_forced or is_lock(path)):
            if sample.head.strip():
                stamp = self._unknown.get(path, ((0, 0), ""))[0]
                self._unknown[path] = (stamp, "unrecognised: no known log format")
            return
        self._unknown.pop(path, None)
        source = None if path == STDIN else source_for(path, dialect, sample, self._window.since, self._tail)
        if source is None and (twin := self.shelf.twin(sample.head, self._scan.files)) is not None:
            # It is read first, and stays: perhaps this one is only a copy of it.
            is_told = self.index is None or not self.index.holds(twin)
            self._copied.add(twin)
            self._take_down(twin)
            if is_told:
                self.waiting.append(path)
                return
        if (session := self.shelf.session_of(path)) is not None:
            self.shelf.strike(path)
            self._take_down(session)
        reader = self._formats.reader(dialect, path)
        if session_of(path) is None and can_forget(reader, path):
            self._mix(reader, path)
        self.readings[path] = FollowedFile(path, reader, source)
        if self.index is not None:
            if session_of(path) is not None:
                self.index.begin(path, written)
            if source is None and path != STDIN:
                self.index.logs.opened(self.readings[path], key_of(sample.head))

    def _otherwise(self, sample: Sample) -> type[Dialect] | None:
        """The format of a log that is spelled in UTF-16, or by its first record if that is not at its beginning."""
        if sample.is_database or not sample.head:
            return None
        if sample.head.startswith(_UTF16):
            spelled = sample.head.decode("utf-16", "replace").encode()
            if (found := self._formats.of(msgspec.structs.replace(sample, head=spelled))) is not None:
                return found
        later = b"" if sample.whole or sample.path == STDIN else self._first.sample(sample.path, SAMPLE)
        return self._formats.of(Sample(sample.path, later, False)) if later else None

    def _mix(self, reader: Dialect, path: str) -> None:
        """The file does not say whose it is: it may tell of any session that its reader has read."""
        if reader not in self._mixed:
            self._mixed.add(reader)
            for session in self.shelf.of_family(type(reader), reader.family(path)):
                self._take_down(session)

    @property
    def closed(self) -> Mapping[str, str]:
        """The files and folders that nobody can read, and why."""
        return {**self._scan.unreadable, **self._refused}

    # -- what has long been quiet ----------------------------------------------------------------------------------

    def tidy(self, *, lasting: bool) -> None:
        """Put away the sessions that are read and have been quiet for long; and where this lasts, single logs too."""
        for session, files in self._resting():
            self.rest()
            self._keep(session, files)
            self.shelf.put(session, files)
            for reading in [file.reading for file in files]:
                self._leave(reading)
                if reading.is_log:
                    self._tail.forget(reading.path)
        if lasting:  # who looks once wants to know of every file
            self._tidy_logs()

    def _resting(self) -> list[tuple[str, list[Resting]]]:
        known, waiting = self._sessions, self.waiting
        sessions = self._sessions = {path: known[path] if path in known else session_of(path) for path in waiting}
        busy = {session for session in sessions.values() if session} | self._window.alive | self._copied
        nobodys = [path for path, session in sessions.items() if session is None]
        mixed = self._mixed | self._formats.readers_of(nobodys)
        return list(resting(self.readings.values(), self._tail, busy, mixed))

    def keep_all(self) -> None:
        """Keep for other runs what has been quiet for long and is not put away."""
        if self.index is not None:
            self.keep_resting()
            self.index.keep_logs(self.readings, self._tail)
            self.index.close()

    def keep_resting(self) -> None:
        """The sessions among it."""
        for session, files in self._resting():
            self.rest()
            self._keep(session, files)

    def keep_once(self) -> None:
        """The same for who goes on to follow: of what there was to begin with all is read. What comes from now on is
        folded once anyway."""
        if self.index is not None:
            self.keep_all()
            self.index = None
            give_back()
        self._order = None

    def _keep(self, session: str, files: Sequence[Resting]) -> None:
        """Keep for other runs what the files of a session told."""
        if self.index is not None:
            unknown = [path for path in self._unknown if unit_of(path) == session]
            self.index.keep(session, files, unknown, self._tail.digest)

    def _tidy_logs(self) -> None:
        """Where there are very many logs, follow no longer what is gone, and what rests only from afar."""
        for reading in gone(self.readings.values(), self._tail):
            self._gone.put(reading.status(self._status_of(reading)))
            self._leave(reading)
            self._tail.forget_gone(reading.path)
        for log in at_rest(self.readings.values(), self._tail):
            if log.path not in self._copied:
                self.shelf.logs.put(log)
                self._leave(self.readings[log.path])
                self._tail.forget(log.path)

    def _leave(self, reading: FollowedFile) -> None:
        del self.readings[reading.path]
        self._formats.forget(reading.dialect, reading.path)

    def _take_down(self, session: str) -> None:
        """One of its files changed: read all of them again, from their top."""
        if self.index is not None:
            self.index.forget(session)
        for path in self.shelf.take_down(session):
            self._open(path)

    def close(self) -> None:
        if self._lending is not None:
            self._lending.end()
        self._empty.close()
        for reading in self.readings.values():
            reading.close()

    # -- health ----------------------------------------------------------------------------------------------------

    def progress(self) -> tuple[int, int]:
        """Bytes read, and bytes known to be there."""
        statuses = [self._status_of(reading) for reading in list(self.readings.values())]
        kept = self.shelf.size
        return kept + sum(status.read for status in statuses), kept + sum(status.size for status in statuses)

    def statuses(self) -> Iterator[StatusPart]:
        """The health of every source, named ones that are not there included."""
        read = [reading.status(self._status_of(reading)) for reading in list(self.readings.values())]
        yield self._in_order([*read, *self.shelf.statuses()])
        yield from self._gone.statuses()
        yield self._in_order([*self._unread()])
        known = self.readings.keys() | self._unknown.keys()
        yield from [status for status in list(self._empty.lost) if status.path not in known]
        for path, why in self._scan.skipped.items():
            yield SourceStatus(path, None, 0, 0, "skipped", why)
        for path, why in self._scan.unreadable.items():
            yield SourceStatus(path, None, 0, 0, "unreadable", why)
        for path in self._scan.missing:
            yield SourceStatus(path, None, 0, 0, "missing", "not found")
        yield from self._left_out
        for name, why in self._formats.broken.items():
            yield SourceStatus(f"format {name}", None, 0, 0, "skipped", why)
        if self._spool is not None and STDIN not in self.readings and STDIN not in self._unknown:
            yield SourceStatus(STDIN, None, 0, 0, "empty", "nothing on standard input yet")

    def _unread(self) -> Iterator[SourceStatus]:
        """The files without a dialect."""
        for path, (stamp, why) in list(self._unknown.items()):
            if self._roots.expects(path):
                status, _, detail = why.partition(": ")
                yield SourceStatus(path, None, 0, 0, status, detail, size=max(stamp[0], 0))

    def _in_order(self, found: Iterable[StatusPart]) -> SourceStatuses:
        """In the order in which they turned up, so that it tells nothing of what was read, put away or known before.
        Whoever follows them, or has still some to read, need not wait for that."""
        is_settled = self.keeps_order and not (self.waiting or self.is_lent or self.has_recalled)
        return SourceStatuses(found, self._order if is_settled else None)

    def _too_old(self) -> Iterator[SourceStatus]:
        """The files outside the window, by the folder of their sessions: there may be thousands."""
        folders: dict[str, list[Millis]] = {}
        for path, written in self._window.left_out.items():
            folders.setdefault(folder_of(path), []).append(written)
        for folder, times in folders.items():
            count = f"{len(times)} file{'s' if len(times) > 1 else ''} {self._window.why()}"
            yield SourceStatus(folder, None, 0, 0, "left out", count, changed_at=max(times))
        for place, (files, told) in self._window.offers.items():
            count = f"{files} file{'s' if files > 1 else ''} in which nothing is alive"
            yield SourceStatus(place, None, 0, 0, "left out", count, told_at=told)

    def _status_of(self, reading: FollowedFile) -> FileStatus:
        return reading.source.status() if reading.source else self._tail.status(reading.path)


def _is_much(paths: Sequence[str]) -> bool:
    """Whether there is so much in them that it is worth asking what is known of it."""
    found = 0
    for path in paths:
        if found >= WORTH:
            break
        with suppress(OSError):
            found += os.stat(path).st_size  # noqa: PTH116 # as above
    return found >= WORTH


def sample_of(path: str) -> Sample:
    """How a file begins, unpacked if it is compressed; OSError if it cannot be read."""
    if is_packed(path):
        from delegtop.sources import packed  # few files are

        return Sample(path, *packed.head(path, SAMPLE))
    return Sample(path, *history.head(path, SAMPLE))
