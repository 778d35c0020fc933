"""The feed: sources → dialects → batches of events. Live reading and one-off reading take the same way.

A file gets a dialect by the shape of its first bytes and keeps it. Whatever cannot be read is counted at its source,
with examples that name file and line; it never stops the rest.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

import msgspec

from delegtop import dialects
from delegtop.clock import Clock, FrozenClock, Millis, WallClock, monotonic
from delegtop.dialects import Dialect, Sample, Unit, UnknownDialect, recognise
from delegtop.model.delegation import Delegation
from delegtop.model.events import Deviation, Ended, Ending, Event, Heard, Outcome, Started, Surveyed
from delegtop.origin import Origin
from delegtop.sources import history, processes
from delegtop.sources.discover import Roots, Scan
from delegtop.sources.record import Line, Unreadable
from delegtop.sources.snapshot import Snapshot
from delegtop.sources.spool import Spool
from delegtop.sources.tail import Tail
from delegtop.sources.watch import Pace, Waker

BATCH = 1_000
"""Events. Larger batches fall out of the processor's cache before they are folded."""
BATCH_SECONDS = 0.05
RESCAN_SECONDS = 2.0
FEW = 200
"""So many files are all looked at in every poll. Of more, those that grew lately are; the rest wait for a sign."""
HOT_SECONDS = 10.0
PROCESS_SECONDS = 5.0
EXAMPLES = 50
SAMPLE = 64 * 1024
STDIN = "-"


class Batch(msgspec.Struct, frozen=True):
    """Events that arrived together."""

    events: list[Event]


class SourceStatus(msgspec.Struct, frozen=True):
    """The health of one source."""

    path: str
    dialect: str | None
    records: int
    unreadable: int
    status: str
    """live, loading, stale, rotated, gone, missing, unreadable, unrecognised, skipped or empty."""
    detail: str = ""
    deviations: int = 0
    reasons: dict[str, int] = {}
    """How many unreadable lines and deviations of which kind."""
    examples: tuple[Unreadable | Deviation, ...] = ()
    size: int = 0
    read: int = 0
    changed_at: Millis | None = None


class _Reading:
    """One file with its dialect, and what was counted in it."""

    def __init__(self, path: str, dialect: Dialect) -> None:
        self.path = path
        self.dialect = dialect
        self.snapshot = Snapshot(path) if dialect.unit is Unit.DOCUMENT else None
        self.records = 0
        self.unreadable = 0
        self.deviations = 0
        self.later = 0
        self.heard_at = monotonic()
        self.reasons: Counter[str] = Counter()
        self.examples: list[Unreadable | Deviation] = []

    def read(self, line: Line) -> Sequence[Event | Unreadable]:
        """What one line tells, in this dialect."""
        try:
            told = self.dialect.read(line)
            return told if type(told) is tuple else list(told)
        except Exception as error:  # noqa: BLE001 - the formats of other people may fail in any way
            return (Unreadable(line.origin, f"the format failed: {type(error).__name__}", str(error)),)

    def renew(self) -> None:
        """A document is read anew as a whole, so what was wrong with the one before counts no longer."""
        self.unreadable = self.deviations = 0
        self.reasons.clear()
        self.examples.clear()

    def note(self, problem: Unreadable | Deviation) -> None:
        if isinstance(problem, Unreadable):
            self.unreadable += 1
            self.reasons[problem.reason] += 1
        else:
            self.deviations += 1
            self.reasons[problem.kind] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(problem)


def _left_out(later: int) -> str:
    return f"{later} later record{'' if later == 1 else 's'} left out" if later else ""


def _after(event: Event, moment: Millis) -> bool:
    if isinstance(event, (Surveyed, Deviation)):
        return False
    return event.at is not None and event.at > moment


class Feed:
    """All sources of one look. One thread polls it; `raw` and `history` may be asked by any."""

    def __init__(self, sources: Sequence[str], *, clock: Clock, format: str | None = None, zone: tzinfo = UTC) -> None:
        self._clock = clock
        self._zone = zone
        self._forced = dialects.load(format) if format else None
        self._roots = Roots([source for source in sources if source != STDIN])
        self._spool = Spool.stdin() if STDIN in sources else None
        self._tail = Tail(clock=clock)
        if self._spool is not None:
            self._tail.attach(STDIN, self._spool.fd)
        self._waker = Waker()
        self._pace = Pace()
        self._scan = Scan()
        self._scanned_at = -RESCAN_SECONDS
        self._readings: dict[str, _Reading] = {}
        self._unknown: dict[str, tuple[tuple[int, int], str]] = {}
        """Files without a dialect: size and time at the last try, and what came of it."""
        self._dialects: list[type[Dialect]] | None = None
        self._broken: dict[str, str] = {}
        self._hosts_here = processes.hostname()
        self._processes: dict[str, Started] = {}
        self._checked_at = monotonic() - PROCESS_SECONDS

    # -- reading ---------------------------------------------------------------------------------------------------

    def poll(self) -> Iterator[Batch]:
        """Everything that is new now, in batches."""
        whole = self._rescan() or len(self._readings) <= FEW
        logs = [path for path, reading in self._readings.items() if reading.snapshot is None]
        if not whole:
            recently = monotonic() - HOT_SECONDS
            logs = [path for path in logs if self._readings[path].heard_at > recently]
        yield from self._translate(self._tail.poll(logs, whole=whole))
        yield from self._translate(self._surveys())
        if gone := list(self._gone_processes()):
            yield Batch(gone)

    def read_all(self) -> Iterator[Batch]:
        """Everything there is, to the end of standard input and with last lines that lack their newline."""
        yield from self.poll()
        while self._spool is not None and not self._spool.finished:
            self._spool.wait(0.1)
            yield from self.poll()
        yield from self.poll()
        yield from self._translate(self._tail.flush())

    def _translate(self, lines: Iterator[Line | Unreadable]) -> Iterator[Batch]:
        batch: list[Event] = []
        limit = monotonic() + BATCH_SECONDS
        horizon = self._horizon
        path: str | None = None
        reading: _Reading
        for number, line in enumerate(lines):
            source = line.origin.source
            if source is not path:
                path, reading = source, self._readings[source]
                read, reading.heard_at = reading.read, monotonic()
            if isinstance(line, Unreadable):
                reading.note(line)
                continue
            told = read(line)
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
        self, reading: _Reading, told: Sequence[Event | Unreadable], batch: list[Event], horizon: Millis | None
    ) -> bool:
        """Count what one line tells and put it into the batch; True if it is a record."""
        is_record = False
        for event in told:
            if isinstance(event, Unreadable):
                reading.note(event)
                continue
            is_record = True
            if horizon is not None and _after(event, horizon):
                reading.later += 1
                continue
            if isinstance(event, Deviation):
                reading.note(event)
            elif isinstance(event, (Started, Ended)):
                self._mind_process(event)
            batch.append(event)
        return is_record

    @property
    def _horizon(self) -> Millis | None:
        """At a frozen moment nothing later is known. A registry counts whenever it was written: it is all there is."""
        return self._clock.now() if isinstance(self._clock, FrozenClock) else None

    def _surveys(self) -> Iterator[Line | Unreadable]:
        """The registries that changed."""
        for reading in list(self._readings.values()):
            if reading.snapshot is not None and (found := reading.snapshot.poll()) is not None:
                reading.renew()
                yield found

    # -- which files, in which format ------------------------------------------------------------------------------

    def _rescan(self) -> bool:
        """Look for new files if it is time to; True if it was."""
        due = monotonic() - self._scanned_at >= RESCAN_SECONDS or self._waker.stirred()
        if due:
            self._scanned_at = monotonic()
            self._scan = self._roots.scan()
            self._waker.watch(self._roots.directories())
            if self._unknown:
                self._unknown = {path: self._unknown[path] for path in self._scan.files if path in self._unknown}
        for path in self._scan.files:
            if path not in self._readings:
                self._try_dialects(path)
        if self._spool is not None and STDIN not in self._readings:
            sample = Sample(STDIN, *self._spool.head(SAMPLE))
            self._settle(STDIN, sample)
        return due

    def _try_dialects(self, path: str) -> None:
        try:
            found = os.stat(path)  # noqa: PTH116 # a Path for each file of each poll would cost more than the stat
            stamp = (found.st_size, found.st_mtime_ns)
            if path in self._unknown and self._unknown[path][0] == stamp:
                return
            self._unknown[path] = (stamp, "empty")
            if found.st_size:
                self._settle(path, Sample(path, *history.head(path, SAMPLE)))
        except FileNotFoundError:
            self._unknown[path] = ((-1, -1), "gone: not found")
        except OSError as error:
            self._unknown[path] = ((-1, -1), f"unreadable: {error.strerror}")

    def _settle(self, path: str, sample: Sample) -> None:
        dialect = self._forced or self._recognise(sample)
        if dialect is not None and (sample.head or self._forced):
            self._readings[path] = _Reading(path, dialect(self._zone))
            self._unknown.pop(path, None)
        elif sample.head.strip():
            stamp = self._unknown.get(path, ((0, 0), ""))[0]
            self._unknown[path] = (stamp, "unrecognised: no known log format")

    def _recognise(self, sample: Sample) -> type[Dialect] | None:
        """The format of a file. One that fails over it is left out from then on, and reported."""
        known = self._known_dialects()
        try:
            return recognise(sample, known)
        except Exception:  # noqa: BLE001 - as above
            known[:] = [dialect for dialect in known if self._copes(dialect, sample)]
            return recognise(sample, known)

    def _copes(self, dialect: type[Dialect], sample: Sample) -> bool:
        try:
            dialect.sniff(sample)
        except Exception as error:  # noqa: BLE001 - as above
            self._broken[dialect.name] = f"failed over {sample.path}: {type(error).__name__}: {error}"
            return False
        return True

    def _known_dialects(self) -> list[type[Dialect]]:
        if self._dialects is None:
            self._dialects = []
            for name in dialects.names():
                try:
                    self._dialects.append(dialects.load(name))
                except UnknownDialect as error:
                    self._broken[name] = str(error)
        return self._dialects

    # -- processes -------------------------------------------------------------------------------------------------

    def _mind_process(self, event: Started | Ended) -> None:
        """Remember whose process can be looked at: only one of this machine, and only while time is real."""
        if isinstance(event, Ended):
            self._processes.pop(event.id, None)
        elif event.pid is not None and event.host == self._hosts_here and isinstance(self._clock, WallClock):
            self._processes[event.id] = event

    def _gone_processes(self) -> Iterator[Event]:
        if not self._processes or monotonic() - self._checked_at < PROCESS_SECONDS:
            return
        self._checked_at = monotonic()
        for started in list(self._processes.values()):
            if started.at is not None and started.pid and processes.is_gone(started.pid, started.at):
                del self._processes[started.id]
                yield Ended(started.id, self._clock.now(), started.origin, Outcome.LOST, Ending.GONE)

    # -- waiting and health ----------------------------------------------------------------------------------------

    def wait(self, timeout: float) -> None:
        """Until something probably changed, at most that many seconds."""
        self._waker.wait(min(timeout, self._pace.interval()))

    def progress(self) -> tuple[int, int]:
        """Bytes read, and bytes known to be there."""
        statuses = [self._tail.status(path) for path, r in self._readings.items() if r.snapshot is None]
        return sum(status.read for status in statuses), sum(status.size for status in statuses)

    def statuses(self) -> tuple[SourceStatus, ...]:
        """The health of every source, named ones that are not there included."""
        found = [self._status(reading) for reading in list(self._readings.values())]
        for path, (stamp, why) in list(self._unknown.items()):
            status, _, detail = why.partition(": ")
            found.append(SourceStatus(path, None, 0, 0, status, detail, size=max(stamp[0], 0)))
        found += [SourceStatus(path, None, 0, 0, "skipped", why) for path, why in self._scan.skipped.items()]
        found += [SourceStatus(path, None, 0, 0, "missing", "not found") for path in self._scan.missing]
        found += [SourceStatus(f"format {name}", None, 0, 0, "skipped", why) for name, why in self._broken.items()]
        if self._spool is not None and STDIN not in self._readings:
            found.append(SourceStatus(STDIN, None, 0, 0, "empty", "nothing on standard input yet"))
        return tuple(found)

    def _status(self, reading: _Reading) -> SourceStatus:
        file = reading.snapshot.status() if reading.snapshot else self._tail.status(reading.path)
        return SourceStatus(
            path=reading.path,
            dialect=reading.dialect.name,
            records=reading.records,
            unreadable=reading.unreadable,
            status=file.state,
            detail=file.detail or _left_out(reading.later),
            deviations=reading.deviations,
            reasons=dict(reading.reasons),
            examples=tuple(reading.examples),
            size=file.size,
            read=file.read,
            changed_at=file.changed_at,
        )

    # -- reading again ---------------------------------------------------------------------------------------------

    def raw(self, origin: Origin) -> bytes | None:
        """The very line, read again from disk; None if it is no longer there."""
        reading = self._readings.get(origin.source)
        if reading is not None and reading.snapshot is not None:
            return history.entry_at(origin)
        return self._tail.read_line(origin)

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:
        """The lines about one delegation and what they say, oldest first; at most the last `limit`."""
        places: dict[str, list[Origin]] = {}
        for origin in delegation.origins:
            if origin.source in self._readings:
                places.setdefault(self._path_of(delegation.id, origin), []).append(origin)
        logs = sum(1 for path in places if self._readings[path].snapshot is None)
        found = [told for path in places for told in self._told(delegation.id, path, sorted(places[path]), logs > 1)]
        found.sort(key=lambda told: (_moment(told[1]), told[0].origin))
        return found[-limit:]

    def _path_of(self, id: str, origin: Origin) -> str:
        """Where a line about it is now: a rotated log goes on under a longer name, and another takes its own."""
        name = origin.source
        paths = [name, *(path for path in list(self._readings) if path != name and path.startswith(name))]
        return next((path for path in paths if history.tells(path, origin.offset, id.encode())), name)

    def _told(self, id: str, path: str, places: list[Origin], several: bool) -> Iterator[tuple[Line, list[Event]]]:
        """What one file tells of a delegation. If it is one of several, more may stand before and after the places."""
        reading = self._readings[path]
        dialect = type(reading.dialect)(self._zone)
        if reading.snapshot is not None or path == STDIN:
            lines = [Line(origin, data) for origin in places if (data := self.raw(origin)) is not None]
        else:
            span = (None, None) if several else (places[0], places[-1])
            lines = list(history.lines_about(id.encode(), path, *span))
        for line in lines:
            events = [e for e in dialect.read(line) if not isinstance(e, Unreadable) and getattr(e, "id", None) == id]
            if events or reading.snapshot is not None:
                yield line, events

    def close(self) -> None:
        self._waker.close()
        self._tail.close()
        if self._spool is not None:
            self._spool.close()


def _moment(events: list[Event]) -> int:
    """When the first of these happened; 0 if none says so."""
    return min((at for event in events if (at := getattr(event, "at", None)) is not None), default=0)
