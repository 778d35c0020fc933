"""One file as it is read: what follows it, in which format, and what was counted in it."""

from collections.abc import Iterable, Iterator, Sequence
from operator import is_not
from typing import ClassVar, Protocol

import msgspec

from delegtop.base.clock import Millis, monotonic
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample, Told, Unit
from delegtop.feed.bounded_facts import LONGEST, bounded, is_short
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Deviation, Event
from delegtop.sources.discover import is_packed
from delegtop.sources.file_status import FileStatus
from delegtop.sources.records import Line, LineBlock, Unreadable, failed
from delegtop.sources.snapshot import Snapshot
from delegtop.sources.tail import Tail

EXAMPLES = 50
_SIGNED = 1.0
"""Seconds from a sign to the reading, at most."""


_NO_REASONS: dict[str, int] = {}
"""One for all the files in which nothing is wrong: there may be thousands."""


class SourceStatus(msgspec.Struct, frozen=True, gc=False):
    """The health of one source."""

    path: str
    dialect: str | None
    records: int
    unreadable: int
    status: str
    """live, loading, stale, rotated, gone, missing, unreadable, unrecognised, skipped, left out or empty."""
    detail: str = ""
    deviations: int = 0
    reasons: dict[str, int] = msgspec.field(default_factory=lambda: _NO_REASONS)
    """How many unreadable lines and deviations of which kind."""
    examples: tuple[Unreadable | Deviation, ...] = ()
    size: int = 0
    read: int = 0
    changed_at: Millis | None = None
    told_at: Millis | None = None
    """Of logs that lie here and are left out because nothing in them is alive: the last moment they tell of."""


class FollowedSource(Protocol):
    """What reads a file that is not simply a growing log."""

    is_text: ClassVar[bool]
    """Whether its lines follow each other as in a log: neither a document, nor rows."""

    def poll(self) -> Iterator[Line | Unreadable]: ...

    def status(self) -> FileStatus: ...

    def raw(self, origin: Origin) -> bytes | None: ...

    def close(self) -> None: ...


class FollowedFile:
    """One file with its dialect."""

    __slots__ = (
        "_is_alone",
        "_was_gone",
        "deviations",
        "dialect",
        "examples",
        "heard_at",
        "is_log",
        "later",
        "path",
        "reasons",
        "records",
        "signed_at",
        "source",
        "unreadable",
    )

    def __init__(self, path: str, dialect: Dialect, source: FollowedSource | None) -> None:
        self.path = path
        self.dialect = dialect
        self.source = source
        """None for a growing log: the tail follows all of them together."""
        self.is_log = source is None
        self.records = 0
        self.unreadable = 0
        self.deviations = 0
        self.later = 0
        self.heard_at = monotonic()
        self.signed_at = float("-inf")
        """When the system last said that it was written to."""
        self.reasons: dict[str, int] = {}
        self.examples: list[Unreadable | Deviation] = []
        self._was_gone = False
        self._is_alone = dialect.family(path) == path and (source is None or source.is_text)

    @property
    def is_plain(self) -> bool:
        """Whether it is a log with a reader of its own, first hand, all of which was read."""
        alone = self.source is None and self._is_alone and not self.dialect.second_hand
        return alone and not (self.unreadable or self.later)

    @property
    def is_whole(self) -> bool:
        """Whether it is one document, read anew as a whole."""
        return isinstance(self.source, Snapshot)

    @property
    def is_signed(self) -> bool:
        """Whether the system said so when it last grew."""
        return self.heard_at - self.signed_at < _SIGNED

    def poll(self) -> Iterator[Line | Unreadable]:
        """What is new in a file that is not a growing log."""
        if self.source is None:
            return
        for found in self.source.poll():
            if self.is_whole:
                self._renew()
            yield found

    def read_block(self, block: LineBlock) -> Iterable[Told | EventRun | Line]:
        """What lines tell that follow each other: for each an event, or all events, which then have to be shortened, or
        the line, which then has to be read alone; or for several a run."""
        if block.line == 1:
            self._begin_again()
        if self.dialect.has_cut:
            return block.lines()
        try:
            return self.dialect.read_block(block, LONGEST)
        except Exception:  # noqa: BLE001 - as below, where it is said which line it was
            return block.lines()

    def _begin_again(self) -> None:
        """Read from its top: what was counted before is void."""
        if self.records and self._is_alone:
            self.dialect = type(self.dialect)(self.dialect.zone)

    def read(self, line: Line) -> Sequence[Event | Unreadable]:
        """What one line tells, in this dialect."""
        if line.origin.line == 1:
            self._begin_again()
        try:
            found = self.dialect.read(line)
            told = found if type(found) is tuple else list(found)
            return told if len(line.data) <= LONGEST and not self.dialect.has_cut else self.shortened(told)
        except Exception as error:  # noqa: BLE001 - the formats of other people may fail in any way
            return (failed(line.origin, error),)

    def shortened(self, told: Sequence[Event | Unreadable]) -> Sequence[Event | Unreadable]:
        """The same without what is too long; what was once may be remembered, and told again by any line."""
        if all(map(is_short, told)):
            return told
        cut = [*map(bounded, told)]
        self.dialect.has_cut = self.dialect.has_cut or any(map(is_not, cut, told))
        return cut

    def go_on(self, known: SourceStatus) -> None:
        """It was read so far in an earlier run."""
        self.records, self.unreadable, self.deviations = known.records, known.unreadable, known.deviations
        self.reasons, self.examples = dict(known.reasons), [*known.examples]

    def vanished(self, now: Millis) -> Sequence[Event]:
        """What it means that the file is gone, told once for each time that it goes."""
        if not isinstance(self.source, Snapshot):
            return ()
        gone, self._was_gone = self._was_gone, self.source.status().state == "gone"
        if gone or not self._was_gone:
            return ()
        try:
            return list(self.dialect.vanished(Origin(self.path, 1, 0), now))
        except Exception as error:  # noqa: BLE001 - as above
            self.note(failed(Origin(self.path, 1, 0), error))
            return ()

    def _renew(self) -> None:
        """A document is read anew as a whole, so what was wrong with the one before counts no longer."""
        self.unreadable = self.deviations = 0
        self.reasons.clear()
        self.examples.clear()

    def note(self, problem: Unreadable | Deviation) -> None:
        if isinstance(problem, Unreadable):
            self.unreadable += 1
            reason = problem.reason
        else:
            self.deviations += 1
            reason = problem.kind
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(problem)

    def status(self, file: FileStatus) -> SourceStatus:
        return SourceStatus(
            path=self.path,
            dialect=self.dialect.name,
            records=self.records,
            unreadable=self.unreadable,
            status=file.state,
            detail=file.detail or _left_out(self.later),
            deviations=self.deviations,
            reasons=dict(self.reasons) if self.reasons else _NO_REASONS,
            examples=tuple(self.examples),
            size=file.size,
            read=file.read,
            changed_at=file.changed_at,
        )

    def close(self) -> None:
        if self.source is not None:
            self.source.close()


def source_for(
    path: str, dialect: type[Dialect], sample: Sample, since: Millis | None = None, tail: Tail | None = None
) -> FollowedSource | None:
    """What reads that file: None for a growing log. Of a database only what is recent is read, if that is wanted; of a
    compressed log, what the tail has not read."""
    match dialect.unit_of(sample):
        case Unit.DOCUMENT:
            return Snapshot(path)
        case Unit.TEXT:
            return Snapshot(path, any_text=True)
        case Unit.DATABASE:
            from delegtop.sources.row_reader import RowReader  # few files are databases, or packed

            return RowReader(path, dialect.queries, since)
        case Unit.LINES if is_packed(path):
            from delegtop.sources.packed import Packed

            return Packed(path, texts=None if tail is None else tail.unpacked_texts())
        case Unit.LINES:
            return None


def _left_out(later: int) -> str:
    return f"{later} later record{'' if later == 1 else 's'} left out" if later else ""
