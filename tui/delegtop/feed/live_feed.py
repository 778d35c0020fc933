"""The feed: sources → dialects → batches of events. Live reading and one-off reading take the same way.

Whatever cannot be read is counted at its source, with examples that name file and line; it never stops the rest.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Protocol, cast

from delegtop.base.clock import Clock, FrozenClock, Millis, monotonic
from delegtop.base.origin import Origin
from delegtop.feed.acts_done import ActsDone
from delegtop.feed.as_of import AsOf
from delegtop.feed.batch import Batch
from delegtop.feed.file_catalogue import STDIN, FileCatalogue, Sift
from delegtop.feed.followed_file import FollowedFile, SourceStatus
from delegtop.feed.formats import Formats
from delegtop.feed.kernel_watch import KernelWatch
from delegtop.feed.left_running import LeftRunning
from delegtop.feed.line_history import LineHistory
from delegtop.feed.line_reading import LineReading, Witness
from delegtop.feed.recent_window import FEW, RecentWindow
from delegtop.feed.rounds import Rounds
from delegtop.feed.session_processes import NOT_ASKED, SessionProcesses
from delegtop.feed.source_statuses import SourceStatuses
from delegtop.feed.unread_logs import UnreadLogs
from delegtop.model.delegation import Delegation
from delegtop.model.event_runs import EventRun, EventRuns, each_of
from delegtop.model.events import Event, Noted, ProcessSeen, Started
from delegtop.model.notes import ACTED, LEFT_RUNNING
from delegtop.sources.discover import Roots
from delegtop.sources.records import Line, LineBlock, Unreadable
from delegtop.sources.spool import Spool
from delegtop.sources.tail import Tail
from delegtop.sources.wakeups import Pace, Waker

if TYPE_CHECKING:
    from delegtop.feed.session_index import OpenIndex
    from delegtop.feed.spoken_pages import SpokenPages
    from delegtop.kernel.open_call import OpenCall

BATCH = 256
"""Events, and those of the rest of a block. Larger batches fall out of the processor's cache before they are folded."""
IN_RUNS = 300
"""The same of events in runs, which take less room."""
BATCH_SECONDS = 0.05
UNENDED_SECONDS = 0.5
"""A last line that is a whole object and was left without its end so long is read as it is."""
TIDY_SECONDS = 60.0
LENT_SECONDS = 0.02
"""Between two looks at what other processes have read."""
REPORTS = "reports of changes"
"""Stands among the sources if the system gives none."""
_NEVER = float("-inf")
_CONVERSATION = 2_000
"""Lines of a delegation of which no words are kept that stand in their place."""
_UNWRITTEN = 20_000
"""Events that are kept though no line tells them."""


class Readable(Protocol):
    """What is asked of a feed: one that follows its sources, one that replays them, or one of a test."""

    def poll(self) -> Iterator[Batch]: ...
    def read_all(self) -> Iterator[Batch]: ...
    def wait(self, timeout: float) -> None: ...
    def wake(self) -> None: ...
    def rest_with(self, rest: Callable[[], None]) -> None: ...
    def watch_calls(self, calls: "Sequence[OpenCall]") -> None: ...
    @property
    def is_behind(self) -> bool: ...
    @property
    def is_over(self) -> bool: ...
    def statuses(self) -> Sequence[SourceStatus]: ...
    def progress(self) -> tuple[int, int]: ...
    def raw(self, origin: Origin) -> bytes | None: ...
    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]: ...
    def transcript(self, delegation: Delegation) -> "SpokenPages": ...
    def is_first_hand(self, origin: Origin) -> bool: ...
    def close(self) -> None: ...


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
        awaited: Collection[str] = (),
        here: Sequence[str] = (),
        witness: Witness | None = None,
        index: "OpenIndex | None" = None,
        sift: Sift | None = None,
    ) -> None:
        self._clock = clock
        self._horizon = AsOf(clock) if isinstance(clock, FrozenClock) else None
        self._witness = witness
        named = [source for source in sources if source != STDIN]
        self._has_files = bool(named or awaited)
        self._spool = Spool.stdin() if STDIN in sources else None
        self._tail = Tail(clock=clock)
        if self._spool is not None:
            self._tail.attach(STDIN, self._spool.fd)
        formats = Formats(format, zone)
        self._window = _window(since, formats, zone, named, here)
        roots = Roots(named, formats.file_names, exclude, awaited)
        self._files = FileCatalogue(roots, formats, self._window, self._tail, self._spool, index, sift)
        self._readings = self._files.readings
        self._past = LineHistory(self._readings, self._tail, self._files.shelf, formats, STDIN)
        self._processes = SessionProcesses(clock, self._is_first_hand)
        self._lines = LineReading(self._processes, self._window, self._horizon, witness)
        self._kernel = KernelWatch(clock)
        self._left = LeftRunning(clock)
        self._left_calls: Sequence[OpenCall] = ()
        self._unread = UnreadLogs(clock)
        self._acts = ActsDone(clock)
        self.unwritten: deque[Event] = deque(maxlen=_UNWRITTEN)
        """What no line tells: who vanished, and what the kernel showed. Who goes back in time finds it nowhere else."""
        self._waker = Waker()
        self._rounds = Rounds(self._files, self._waker)
        self._pace = Pace()
        self._glancing = False
        self._asks = True
        """Whether the system is asked about processes."""
        self._tidies = witness is None
        self._is_brief = False
        self._tidied_at = _NEVER

    # -- reading ---------------------------------------------------------------------------------------------------

    def poll(self) -> Iterator[Batch]:
        """Everything that is new now, in batches."""
        if not self._rounds.has_begun and self._window.since is not None:
            yield from self._glance()
        yield from self._poll()

    def _poll(self) -> Iterator[Batch]:
        yield from self._look()
        if self._asks and self._processes.is_new and not self._files.waiting:
            yield from self._look()  # and what the system says of those who were just met

    def _glance(self) -> Iterator[Batch]:
        """What runs now is shown before a long history is looked through."""
        self._files.glance()
        self._glancing = True
        self._rounds.put_off()
        try:
            yield from self._look()
        finally:  # whoever leaves early finds the rest all the same
            self._glancing = False
            self._rounds.at_once()

    def _look(self) -> Iterator[Batch]:
        # Who is gone wrote its last lines before: so the system is asked first, and then all is read.
        asked = self._processes.ask() if self._asks and not self.is_behind else NOT_ASKED
        whole = self._rescan() or asked.is_telling or len(self._readings) <= FEW
        due = self._rounds.due(whole=whole)
        self._go_on_with_logs()
        logs = [reading.path for reading in due if reading.is_log]
        yield from self._translate(self._tail.poll_blocks(logs, whole=whole))
        yield from self._translate(self._tail.flush() if self.is_over else self._tail.flush_left(UNENDED_SECONDS))
        yield from self._translate(self._polled(due))
        yield from self._batches_of(self._signed_off(due))
        yield from self._batches_of(self._processes.tell(asked))
        yield from self._batches_of(self._unread.tell(self._files.closed, self._processes.sessions))
        yield from self._batches_of(self._kernel.seen())
        yield from self._batches_of(self._left.seen(self._processes.there(), self._left_calls))
        if not self.is_behind:
            yield from self._batches_of(self._acts.seen(self._readings))
        if whole and not self._glancing:
            self._tidy()
        yield from self._recalled()
        if self._rounds.is_followed and not self.is_behind:
            self._files.keep_once()
        if self._horizon is not None and not self.is_behind and (settled := list(self._horizon.settle())):
            yield Batch(settled)

    def _polled(self, due: Iterable[FollowedFile]) -> Iterator[Line | Unreadable]:
        """What is new in files that are no growing logs."""
        for reading in due:
            if reading.source is not None:
                self._files.rest()
                yield from reading.poll()

    def _go_on_with_logs(self) -> None:
        """Logs of which a part was read in an earlier run."""
        if self._files.index is not None:
            for started in self._files.index.logs.begin(self._tail):
                self._processes.mind(started)

    def _recalled(self) -> Iterator[Batch]:
        """What sessions and logs told that were read in an earlier run, and what logs told that were folded apart."""
        yield from self._spilt()
        if self._files.index is not None and not self._files.waiting:
            for ledger in self._files.index.logs.tell():
                yield Batch([], ledger=ledger)
        for ledger, running, moments, calls in self._files.recalled():
            for started in running:
                self._processes.mind(started)
                self._window.keep(started.id)
            self._processes.take_whole(ledger)
            yield Batch([], ledger=ledger, moments=moments, calls=calls)

    def _spilt(self) -> Iterator[Batch]:
        """What was held back of sessions that are not kept after all."""
        for events, (ledger, _, moments, calls) in self._files.index.spilt() if self._files.index is not None else ():
            self._processes.take(events)
            self._processes.take_whole(ledger)
            yield Batch(events, ledger=ledger, moments=moments, calls=calls)

    def read_all(self) -> Iterator[Batch]:
        """Everything there is, to the end of standard input and with last lines that lack their newline. Nobody sees
        anything before the end, so what runs now need not come first, and nobody is asked about before all of it is
        known."""
        self._files.holds_back = self._horizon is None and self._witness is None
        self._files.keeps_order = True
        self._asks = False
        yield from self._poll()
        while self.is_behind:
            yield from self._poll()
        while self._spool is not None and not self._spool.finished:
            self._spool.wait(0.1)
            yield from self._poll()
        if self._spool is not None:
            yield from self._poll()
        while self.is_behind:  # the end of standard input may repeat what was put away, which is then read first
            yield from self._poll()
        yield from self._translate(self._tail.flush())
        yield from self._let_out()
        self._asks = True
        yield from self._poll()
        while self.is_behind:
            yield from self._poll()
        yield from self._translate(self._tail.flush())
        if self._horizon is not None:
            yield Batch(list(self._horizon.settle()))
        self._files.keep_all()

    def _let_out(self) -> Iterator[Batch]:
        """Tell what is still held back."""
        if self._files.index is None or not self._files.index.is_holding:
            return
        if self._tidies:
            self._files.tidy(lasting=False)
        else:
            self._files.keep_resting()
        while self.is_behind:
            yield from self._poll()
        self._files.index.spill()
        yield from self._spilt()

    @property
    def is_behind(self) -> bool:
        """Whether there are files that nobody has looked at yet."""
        return bool(self._files.waiting) or self._glancing or self._files.has_recalled or self._files.is_lent

    def _is_first_hand(self, origin: Origin) -> bool:
        if origin.host:
            return False
        reading = self._readings.get(origin.source)
        return not reading.dialect.second_hand if reading is not None else origin.source in self._files.shelf

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come: standard input was the only source, and all of it has been read."""
        return self._spool is not None and self._spool.finished and not self._has_files

    def _signed_off(self, due: Iterable[FollowedFile]) -> Iterator[Event]:
        return (event for reading in due for event in self._processes.sign_off(reading.vanished(self._clock.now())))

    def _batches_of(self, events: Iterator[Event]) -> Iterator[Batch]:
        if told := list(events):
            self.unwritten += told
            if self._witness is not None:
                self._witness(None, told)
            for event in told:
                if isinstance(event, Started):
                    self._window.keep(event.id)
            yield Batch(told)

    def _translate(self, found: Iterable[LineBlock | Line | Unreadable]) -> Iterator[Batch]:
        batch: list[Event | EventRun] = []
        in_runs = 0
        limit = monotonic() + BATCH_SECONDS
        path: str | None = None
        reading: FollowedFile
        index, apart, held, told = self._files.index, None, None, list[Event | EventRun]()
        for number, each in enumerate(found):
            source = each.source if isinstance(each, LineBlock) else each.origin.source
            if source is not path:
                path, reading = source, self._readings[source]
                if index is not None:
                    first = each.line if isinstance(each, LineBlock) else each.origin.line
                    index.follow(_alone(batch), reading, is_top=first == 1)
                    apart = index.logs.of(reading, is_top=first == 1)
                    held = index.gathering(reading)
                self._rounds.heard(reading)
            is_held = held is not None and not held.is_spoilt
            # Where nobody is told at once nobody hears of each sign; but calls are counted by them for the index.
            reading.dialect.is_brief = is_held or (self._is_brief and (index is None or held is not None))
            reading.dialect.calls = held.calls if held is not None and is_held else None
            into = told if is_held or apart is not None else batch
            count = self._lines.read(reading, each, into, in_runs=index is None or apart is not None)
            in_runs += count if apart is None else 0
            if is_held and index is not None and held is not None:
                index.hold(reading, held, _alone(told))
                told = []
            elif apart is not None:
                self._processes.take(told)
                apart.take(told)
                if apart.is_told:
                    batch += each_of(told)
                elif apart.is_large and index is not None:
                    yield Batch([], ledger=index.logs.give_up(reading))
                    apart = None
                told = []
            # The clock is asked only every 64 lines, or for every block: it costs a quarter of a line.
            is_block = isinstance(each, LineBlock)
            if len(batch) >= BATCH or in_runs >= IN_RUNS or ((is_block or not number & 63) and monotonic() > limit):
                self._pace.moved()
                self._processes.take(batch)
                if index is not None:
                    index.take(_alone(batch))
                    yield from self._spilt()
                yield _told(batch, in_runs)
                batch, in_runs, limit = [], 0, monotonic() + BATCH_SECONDS
        if index is not None:
            index.take(_alone(batch))
        if batch:
            self._pace.moved()
            self._processes.take(batch)
            yield _told(batch, in_runs)

    # -- looking for files -----------------------------------------------------------------------------------------

    def _rescan(self) -> bool:
        """Look for new files if it is time to; True if it was, or if there still are some."""
        due = self._rounds.is_due()
        if due:
            self._rounds.look()
        opened = self._files.open_some(again=due)
        if opened:
            self._tidied_at = _NEVER
        return due or opened

    def _tidy(self) -> None:
        if self._tidies and monotonic() - self._tidied_at > TIDY_SECONDS:
            self._tidied_at = monotonic()
            self._files.tidy(lasting=self._rounds.is_followed)
            self._rounds.forget_unread()

    def tell_once(self) -> None:
        """Put nothing away, so that nothing is ever told again: for those who keep what they are told."""
        self._tidies = False

    def tell_briefly(self) -> None:
        """Leave out signs of life of which nothing is left after the next: for those who only want to know how all
        stands."""
        self._is_brief = True

    # -- waiting and health ----------------------------------------------------------------------------------------

    def wait(self, timeout: float) -> None:
        """Until something probably changed, at most that many seconds.

        Whoever reads once never waits, so the folders are watched from the first waiting on.
        """
        self._rounds.follow()
        if self._files.is_lent:
            timeout = min(timeout, LENT_SECONDS)
        self._waker.wait(min(timeout, self._pace.interval(), self._rounds.until_next))

    def rest_with(self, rest: Callable[[], None]) -> None:
        """Call this between two files or sessions: there may be thousands before the next batch, and others in a
        hurry."""

        def resting() -> None:
            began = monotonic()
            rest()
            self._rounds.rested(monotonic() - began)

        self._files.rest = resting

    def watch_calls(self, calls: "Sequence[OpenCall]") -> None:
        """From now on the kernel is asked what these calls do; whoever knows what is open says so. Any thread may."""
        self._kernel.watch([call for call in calls if not call.gone])
        self._left_calls = [call for call in calls if call.gone]

    @property
    def has_calls(self) -> bool:
        """Whether there is anything to ask the kernel about."""
        return self._kernel.has_calls

    @property
    def knows_calls(self) -> bool:
        """Whether the kernel has shown something of every call that has a process."""
        return self._kernel.knows_calls

    def ask_left_running(self) -> Iterator[Batch]:
        """What sessions that are gone left running, as far as one look can show it."""
        if self._left_calls:
            yield from self._batches_of(self._left.seen((), self._left_calls, at_once=True))

    def ask_kernel(self) -> Iterator[Batch]:
        """What it shows at this moment, whether or not it is time for a look."""
        return self._batches_of(self._kernel.seen(at_once=True))

    def wake(self) -> None:
        """Let whoever waits go on at once. Any thread may ask for it."""
        self._waker.wake()

    def nudge(self) -> None:
        """The same for somebody else's sake: nothing is looked for here because of it."""
        self._waker.nudge()

    def progress(self) -> tuple[int, int]:
        """Bytes read, and bytes known to be there."""
        return self._files.progress()

    def statuses(self) -> SourceStatuses:
        """The health of every source, named ones that are not there included."""
        found = [*self._files.statuses()]
        if self._waker.trouble:
            trouble = f"{self._waker.trouble}; files are looked at instead"
            found.append(SourceStatus(REPORTS, None, 0, 0, "skipped", trouble))
        return SourceStatuses(found)

    # -- reading again ---------------------------------------------------------------------------------------------

    def raw(self, origin: Origin) -> bytes | None:
        """The very line, read again from disk; None if it is no longer there."""
        return self._acts.raw(origin) or self._past.raw(origin)

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:
        """The lines about one delegation and what they say, oldest first; at most the last `limit`. What no line tells
        stands between them."""
        lines = self._past.told(delegation, limit)
        about = [
            event
            for event in list(self.unwritten)
            if (isinstance(event, ProcessSeen) or (isinstance(event, Noted) and event.kind in (LEFT_RUNNING, ACTED)))
            and event.id == delegation.id
            and not delegation.told_by
        ]
        if about:
            lines += [(Line(event.origin, b"", event.at or Millis(0)), [event]) for event in about]
            lines.sort(key=_moment)
        return lines[-limit:]

    def transcript(self, delegation: Delegation) -> "SpokenPages":
        """What was said in one delegation, for people to read; up to the moment that is looked at, if that is past."""
        until = self._clock.now() if self._horizon is not None else None
        return self._past.transcript(delegation, lambda: self.history(delegation, _CONVERSATION), until)

    def grows(self, source: str) -> bool:
        """Whether it is a log that is read here as it grows."""
        reading = self._readings.get(source)
        return reading is not None and reading.is_log and not reading.dialect.second_hand and source != STDIN

    def is_first_hand(self, origin: Origin) -> bool:
        """Whether the source that it names is read here: else a recording tells of a file of elsewhere."""
        return self._is_first_hand(origin)

    def close(self) -> None:
        self._waker.close()
        self._tail.close()
        self._files.close()
        if self._spool is not None:
            self._spool.close()


def _told(parts: list[Event | EventRun], in_runs: int) -> Batch:
    """Who folds them finds the runs in it, and everybody else the events."""
    return Batch(EventRuns(parts) if in_runs else _alone(parts))


def _alone(parts: list[Event | EventRun]) -> list[Event]:
    """Those among which there are no runs: with an index only a log that is folded apart is read in such."""
    return cast("list[Event]", parts)


def _moment(told: tuple[Line, list[Event]]) -> int:
    return min((at for event in told[1] if (at := getattr(event, "at", None)) is not None), default=0)


def _window(
    since: Millis | None, formats: Formats, zone: tzinfo, named: Sequence[str], here: Sequence[str]
) -> RecentWindow:
    if since is None:
        return RecentWindow(None)
    from delegtop.feed.recency import Recency  # what is named is mostly read whole, however old it is

    return RecentWindow(since, Recency(formats, zone, since).told, named, here)
