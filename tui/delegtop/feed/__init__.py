"""The feed: sources → dialects → batches of events. Live reading and one-off reading take the same way.

A file gets a dialect by the shape of its first bytes and keeps it. Whatever cannot be read is counted at its source,
with examples that name file and line; it never stops the rest.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo

import msgspec

from delegtop.clock import Clock, FrozenClock, Millis, monotonic
from delegtop.dialects import Sample
from delegtop.feed.formats import Formats
from delegtop.feed.horizon import Horizon, after
from delegtop.feed.minder import Minder
from delegtop.feed.past import Past
from delegtop.feed.reading import Reading, SourceStatus, source_for
from delegtop.feed.shelf import Shelf, resting
from delegtop.feed.window import FEW, Window, folder_of, session_of
from delegtop.model.delegation import Delegation
from delegtop.model.events import Deviation, Ended, Event, Heard, Started
from delegtop.model.forest import Forest
from delegtop.origin import Origin
from delegtop.sources import history
from delegtop.sources.discover import Roots, Scan, is_packed
from delegtop.sources.packed import head as packed_head
from delegtop.sources.record import Line, Unreadable
from delegtop.sources.spool import Spool
from delegtop.sources.status import FileStatus
from delegtop.sources.tail import Tail
from delegtop.sources.watch import Pace, Waker

__all__ = ["Batch", "Feed", "SourceStatus", "Witness", "after"]

BATCH = 1_000
"""Events. Larger batches fall out of the processor's cache before they are folded."""
BATCH_SECONDS = 0.05
RESCAN_SECONDS = 2.0
SETTLING_SECONDS = 0.25
"""After folders came or went: until they are watched, what appears in them is only found by looking."""
HOT_SECONDS = 10.0
"""Of more than a few files, only those that grew lately are looked at in every poll; the rest wait for a sign."""
TIDY_SECONDS = 60.0
SAMPLE = 64 * 1024
STDIN = "-"
_WAL = "-wal"
"""What a database is called to which a program writes first."""


Witness = Callable[[Line | None, Sequence[Event | Unreadable]], None]
"""Is told every line with all it tells, in the order of reading; without a line, what no line tells."""


class Batch(msgspec.Struct, frozen=True):
    """Events that arrived together."""

    events: list[Event]
    at: Millis | None = None
    """The moment in the past at which all this is known; None for the present."""
    forest: Forest | None = None
    """Everything as it was just before, in place of whatever was known: time has leapt."""


class Feed:
    """All sources of one look. One thread polls it; `raw` and `history` may be asked by any."""

    def __init__(
        self,
        sources: Sequence[str],
        *,
        clock: Clock,
        format: str | None = None,
        zone: tzinfo = UTC,
        since: Millis | None = None,
        exclude: Sequence[str] = (),
        awaited: Sequence[str] = (),
        witness: Witness | None = None,
    ) -> None:
        self._clock = clock
        self._horizon = Horizon(clock) if isinstance(clock, FrozenClock) else None
        self._witness = witness
        self._formats = Formats(format, zone)
        named = [source for source in sources if source != STDIN]
        self._has_files = bool(named or awaited)
        self._roots = Roots(named, self._formats.file_names, exclude, awaited)
        self._window = Window(since)
        self._waiting: list[str] = []
        """New files that are not yet looked at, in their order."""
        self._spool = Spool.stdin() if STDIN in sources else None
        self._tail = Tail(clock=clock)
        if self._spool is not None:
            self._tail.attach(STDIN, self._spool.fd)
        self._waker = Waker()
        self._pace = Pace()
        self._scan = Scan()
        self._left_out: tuple[SourceStatus, ...] = ()
        self._scanned_at = -RESCAN_SECONDS
        self._glancing = False
        self._rest: Callable[[], None] = lambda: None
        self._rescan_after = RESCAN_SECONDS
        self._folders: tuple[str, ...] = ()
        self._folders_changed_at = 0.0
        self._readings: dict[str, Reading] = {}
        self._unknown: dict[str, tuple[tuple[int, int], str]] = {}
        """Files without a dialect: size and time at the last try, and what came of it."""
        self._shelf = Shelf()
        self._tidies = witness is None
        self._tidied_at = 0.0
        self._copied: set[str] = set()
        """Sessions of which there may be copies: they are not put away again."""
        self._minder = Minder(clock)
        self._past = Past(self._readings, self._tail, self._shelf, self._formats, STDIN)

    # -- reading ---------------------------------------------------------------------------------------------------

    def poll(self) -> Iterator[Batch]:
        """Everything that is new now, in batches."""
        if self._scanned_at < 0 and self._window.since is not None:
            # What runs now is shown before a long history is looked through.
            self._waiting, self._scanned_at = self._window.admit(self._roots.newest()), monotonic()
            self._glancing = True
            yield from self._look()
            self._glancing, self._scanned_at = False, -RESCAN_SECONDS
        yield from self._look()

    def _look(self) -> Iterator[Batch]:
        whole = self._rescan() or len(self._readings) <= FEW
        recently = monotonic() - HOT_SECONDS
        due = [reading for reading in list(self._readings.values()) if whole or reading.heard_at > recently]
        logs = [reading.path for reading in due if reading.is_log]
        yield from self._translate(self._tail.poll(logs, whole=whole))
        yield from self._translate(found for reading in due for found in reading.poll())
        yield from self._batches_of(event for reading in due for event in reading.vanished(self._clock.now()))
        yield from self._batches_of(self._minder.gone())
        if whole and self._tidies and not self._glancing and monotonic() - self._tidied_at > TIDY_SECONDS:
            self._tidy()
        if self._horizon is not None and not self._waiting and (settled := list(self._horizon.settle())):
            yield Batch(settled)

    def read_all(self) -> Iterator[Batch]:
        """Everything there is, to the end of standard input and with last lines that lack their newline."""
        yield from self.poll()
        while self._waiting:
            yield from self.poll()
        while self._spool is not None and not self._spool.finished:
            self._spool.wait(0.1)
            yield from self.poll()
        yield from self.poll()
        yield from self._translate(self._tail.flush())
        if self._horizon is not None:
            yield Batch(list(self._horizon.settle()))

    @property
    def is_behind(self) -> bool:
        """Whether there are files that nobody has looked at yet."""
        return bool(self._waiting) or self._glancing

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come: standard input was the only source, and all of it has been read."""
        return self._spool is not None and self._spool.finished and not self._has_files

    def _batches_of(self, events: Iterator[Event]) -> Iterator[Batch]:
        if told := list(events):
            if self._witness is not None:
                self._witness(None, told)
            yield Batch(told)

    def _translate(self, lines: Iterator[Line | Unreadable]) -> Iterator[Batch]:
        batch: list[Event] = []
        limit = monotonic() + BATCH_SECONDS
        horizon, witness = self._horizon, self._witness
        path: str | None = None
        reading: Reading
        for number, line in enumerate(lines):
            source = line.origin.source
            if source is not path:
                path, reading = source, self._readings[source]
                read, reading.heard_at = reading.read, monotonic()
            if isinstance(line, Unreadable):
                reading.note(line)
                if witness is not None:
                    witness(None, (line,))
                continue
            told = read(line)
            if witness is not None:
                witness(reading.dialect.original(line), told)
            if horizon is None and len(told) == 1 and type(told[0]) is Heard:  # the bulk of every log
                reading.records += 1
                batch.append(told[0])
            else:
                reading.records += self._take(reading, told, batch, horizon)
            # The clock is asked only every 64 lines: it costs a quarter of one.
            if len(batch) >= BATCH or (not number & 63 and monotonic() > limit):
                self._pace.moved()
                yield Batch(batch)
                batch, limit = [], monotonic() + BATCH_SECONDS
        if batch:
            self._pace.moved()
            yield Batch(batch)

    def _take(
        self, reading: Reading, told: Sequence[Event | Unreadable], batch: list[Event], horizon: Horizon | None
    ) -> bool:
        """Count what one line tells and put it into the batch; True if it is a record."""
        is_record = False
        for event in told:
            if isinstance(event, Unreadable):
                reading.note(event)
                continue
            is_record = True
            known = (event,) if horizon is None else horizon.let(event)
            if known is None:
                reading.later += 1
                continue
            if isinstance(event, Deviation):
                reading.note(event)
            elif isinstance(event, (Started, Ended)) and not reading.dialect.second_hand:
                self._minder.mind(event)
                if isinstance(event, Started) and event.pid is not None:
                    self._window.keep(event.id)
            batch += known
        return is_record

    # -- which files, in which format ------------------------------------------------------------------------------

    def _rescan(self) -> bool:
        """Look for new files if it is time to; True if it was, or if there still are some."""
        due = (self._waker.stirred() and not self._only_grew(self._waker.grown())) or (
            monotonic() - self._scanned_at >= self._rescan_after
        )
        if due:
            self._look_round()
        again = list(self._unknown) if due or len(self._unknown) <= FEW else []
        # Every poll with new files looks at all known ones, so the portions grow with what is known.
        many = max(FEW, len(self._readings) // 2, len(self._shelf) // 8)
        fresh, self._waiting = self._waiting[:many], self._waiting[many:]
        kept = len(self._shelf)
        for path in (*again, *fresh):
            if path not in self._readings and path not in self._shelf:
                self._rest()
                self._try_dialects(path)
        if fresh:
            self._tidied_at = 0.0
        if self._spool is not None and STDIN not in self._readings:
            sample = Sample(STDIN, *self._spool.head(SAMPLE))
            self._settle(STDIN, sample)
        return due or bool(fresh) or len(self._shelf) < kept

    def _only_grew(self, paths: Sequence[str]) -> bool:
        """Whether all that happened is that files grew which are being read: then there is nothing new to look for."""
        readings = [self._readings.get(path) or self._readings.get(path.removesuffix(_WAL)) for path in paths]
        for reading in readings:
            if reading is not None:
                reading.heard_at = monotonic()
        return bool(readings) and None not in readings

    def _look_round(self) -> None:
        began = monotonic()
        self._scan = self._roots.scan()
        if self._unknown:
            self._unknown = {path: self._unknown[path] for path in self._scan.files if path in self._unknown}
        known = {*self._waiting, *self._unknown}
        self._waiting += self._window.admit(
            path
            for path in self._scan.files
            if path not in self._shelf and path not in self._readings and path not in known
        )
        for session in self._shelf.changed():
            self._take_down(session)
        self._left_out = tuple(self._too_old())
        self._scanned_at = monotonic()
        folders = self._roots.directories()
        self._waker.watch(folders)
        if folders != self._folders:
            self._folders, self._folders_changed_at = folders, self._scanned_at
        took = self._scanned_at - began
        settling = self._scanned_at - self._folders_changed_at < RESCAN_SECONDS
        # Looking at thousands of folders takes a while; as long as changes are reported it is only to be sure.
        share = max(1.0, 50 * took) if self._waker.mode == "watching" else max(0.5, 5 * took)
        usual = RESCAN_SECONDS * share
        self._rescan_after = min(max(SETTLING_SECONDS, 2 * took), usual) if settling else usual

    def _try_dialects(self, path: str) -> None:
        try:
            found = os.stat(path)  # noqa: PTH116 # a Path for each file of each poll would cost more than the stat
            stamp = (found.st_size, found.st_mtime_ns)
            if path in self._unknown and self._unknown[path][0] == stamp:
                return
            self._unknown[path] = (stamp, "empty")
            if found.st_size:
                head = packed_head if is_packed(path) else history.head
                self._settle(path, Sample(path, *head(path, SAMPLE)))
        except FileNotFoundError:
            self._unknown[path] = ((-1, -1), "gone: not found")
        except OSError as error:
            self._unknown[path] = ((-1, -1), f"unreadable: {error.strerror}")

    def _settle(self, path: str, sample: Sample) -> None:
        dialect = self._formats.of(sample)
        if dialect is not None and (sample.head or self._formats.is_forced):
            source = None if path == STDIN else source_for(path, dialect, sample, self._window.since)
            if source is None and (twin := self._shelf.twin(sample.head)) is not None:
                # It is read first, and stays: perhaps this one is only a copy of it.
                self._copied.add(twin)
                self._take_down(twin)
                self._unknown.pop(path, None)
                self._waiting += [] if path == STDIN else [path]
                return
            if (session := self._shelf.session_of(path)) is not None:
                self._take_down(session)
            self._readings[path] = Reading(path, self._formats.reader(dialect, path), source)
            self._unknown.pop(path, None)
        elif sample.head.strip():
            stamp = self._unknown.get(path, ((0, 0), ""))[0]
            self._unknown[path] = (stamp, "unrecognised: no known log format")

    # -- what has long been quiet ----------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Put away the sessions that are read and have been quiet for long."""
        self._tidied_at = monotonic()
        busy = {session for path in self._waiting if (session := session_of(path))}
        busy |= self._window.alive | self._copied
        for session, files in list(resting(self._readings.values(), self._tail, busy)):
            self._shelf.put(session, files)
            for reading in [file.reading for file in files]:
                del self._readings[reading.path]
                self._formats.forget(reading.dialect, reading.path)
                if reading.is_log:
                    self._tail.forget(reading.path)

    def tell_once(self) -> None:
        """Put nothing away, so that nothing is ever told again: for those who keep what they are told."""
        self._tidies = False

    def _take_down(self, session: str) -> None:
        """One of its files changed: read all of them again, from their top."""
        for path in self._shelf.take_down(session):
            self._try_dialects(path)

    # -- waiting and health ----------------------------------------------------------------------------------------

    def wait(self, timeout: float) -> None:
        """Until something probably changed, at most that many seconds."""
        self._waker.wait(min(timeout, self._pace.interval()))

    def rest_with(self, rest: Callable[[], None]) -> None:
        """Call this between two new files: there may be thousands before the next batch, and others in a hurry."""
        self._rest = rest

    def wake(self) -> None:
        """Let whoever waits go on at once. Any thread may ask for it."""
        self._waker.wake()

    def progress(self) -> tuple[int, int]:
        """Bytes read, and bytes known to be there."""
        statuses = [self._status_of(reading) for reading in list(self._readings.values())]
        kept = self._shelf.size
        return kept + sum(status.read for status in statuses), kept + sum(status.size for status in statuses)

    def statuses(self) -> tuple[SourceStatus, ...]:
        """The health of every source, named ones that are not there included."""
        found = [reading.status(self._status_of(reading)) for reading in list(self._readings.values())]
        found += self._shelf.statuses()
        for path, (stamp, why) in list(self._unknown.items()):
            status, _, detail = why.partition(": ")
            found.append(SourceStatus(path, None, 0, 0, status, detail, size=max(stamp[0], 0)))
        found += [SourceStatus(path, None, 0, 0, "skipped", why) for path, why in self._scan.skipped.items()]
        found += [SourceStatus(path, None, 0, 0, "missing", "not found") for path in self._scan.missing]
        found += self._left_out
        found += [
            SourceStatus(f"format {name}", None, 0, 0, "skipped", why) for name, why in self._formats.broken.items()
        ]
        if self._spool is not None and STDIN not in self._readings:
            found.append(SourceStatus(STDIN, None, 0, 0, "empty", "nothing on standard input yet"))
        return tuple(found)

    def _too_old(self) -> Iterator[SourceStatus]:
        """The files outside the window, by the folder of their sessions: there may be thousands."""
        folders: dict[str, list[Millis]] = {}
        for path, written in self._window.left_out.items():
            folders.setdefault(folder_of(path), []).append(written)
        for folder, times in folders.items():
            count = f"{len(times)} file{'s' if len(times) > 1 else ''} {self._window.why()}"
            yield SourceStatus(folder, None, 0, 0, "left out", count, changed_at=max(times))

    def _status_of(self, reading: Reading) -> FileStatus:
        return reading.source.status() if reading.source else self._tail.status(reading.path)

    # -- reading again ---------------------------------------------------------------------------------------------

    def raw(self, origin: Origin) -> bytes | None:
        """The very line, read again from disk; None if it is no longer there."""
        return self._past.raw(origin)

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:
        """The lines about one delegation and what they say, oldest first; at most the last `limit`."""
        return self._past.told(delegation, limit)

    def close(self) -> None:
        self._waker.close()
        self._tail.close()
        for reading in self._readings.values():
            reading.close()
        if self._spool is not None:
            self._spool.close()
