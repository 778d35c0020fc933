"""Lines become the events of a batch. They are counted at their file, and what they mean for the reading itself is seen
at once: whose process is asked about, and what else has to be read."""

from collections.abc import Callable, Sequence

from delegtop.feed.as_of import AsOf
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.recent_window import RecentWindow
from delegtop.feed.session_processes import SessionProcesses
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Deviation, Ended, Event, Heard, Started
from delegtop.sources.records import Line, LineBlock, Unreadable

Witness = Callable[[Line | None, Sequence[Event | Unreadable]], None]
"""Is told every line with all it tells, in the order of reading; without a line, what no line tells."""


class LineReading:
    """How all lines of one feed are read."""

    def __init__(
        self, processes: SessionProcesses, window: RecentWindow, horizon: AsOf | None, witness: Witness | None
    ) -> None:
        self._processes = processes
        self._window = window
        self._horizon = horizon
        self._witness = witness
        self._in_blocks = horizon is None and witness is None

    def read(
        self,
        reading: FollowedFile,
        found: LineBlock | Line | Unreadable,
        batch: list[Event | EventRun],
        *,
        in_runs: bool,
    ) -> int:
        """Put what is told into the batch, in runs for those who can fold them. Returns how many events are in runs."""
        if not isinstance(found, LineBlock):
            self._read_line(reading, found, batch)
        elif self._in_blocks:
            return self._read_block(reading, found, batch, in_runs)
        else:
            for line in found.lines():
                self._read_line(reading, line, batch)
        return 0

    def _read_block(self, reading: FollowedFile, block: LineBlock, batch: list[Event | EventRun], in_runs: bool) -> int:
        """The same as reading its lines one by one, for less."""
        records, unmade, has_cut = 0, 0, False
        for told in reading.read_block(block):
            if told is None:  # the bulk of every log, as is the next
                records += 1
            elif type(told) is Heard and not has_cut:
                batch.append(told)
                records += 1
            elif type(told) is EventRun:  # to ask whether it is an instance of a sequence costs as much as all else
                self._mind_run(reading, told)
                if in_runs:
                    batch.append(told)
                    unmade += len(told)
                else:
                    batch += told
                records += len(told)
            elif not told:
                continue  # it tells nothing, so it counts as no record
            elif not isinstance(told, (Line, tuple)) and not has_cut:
                self._mind(reading, told)
                batch.append(told)
                records += 1
            else:
                if isinstance(told, Line):
                    whole = reading.read(told)
                else:
                    whole = reading.shortened(told if isinstance(told, tuple) else (told,))
                has_cut = reading.dialect.has_cut
                if len(whole) == 1 and type(whole[0]) is Heard:
                    batch.append(whole[0])
                    records += 1
                else:
                    records += self._take(reading, whole, batch, None)
        reading.records += records
        return unmade

    def _read_line(self, reading: FollowedFile, line: Line | Unreadable, batch: list[Event | EventRun]) -> None:
        """What one line tells."""
        horizon, witness = self._horizon, self._witness
        if isinstance(line, Unreadable):
            reading.note(line)
            if witness is not None:
                witness(None, (line,))
            return
        told = reading.read(line)
        if witness is not None:
            witness(reading.dialect.original(line), told)
        if horizon is None and len(told) == 1 and type(told[0]) is Heard:
            reading.records += 1
            batch.append(told[0])
        else:
            reading.records += self._take(reading, told, batch, horizon)

    def _take(
        self,
        reading: FollowedFile,
        told: Sequence[Event | Unreadable],
        batch: list[Event | EventRun],
        horizon: AsOf | None,
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
            self._mind(reading, event)
            batch += known
        return is_record

    def _mind(self, reading: FollowedFile, event: Event) -> None:
        """What an event means for the reading itself."""
        if type(event) is Deviation:
            reading.note(event)
        elif type(event) is Started:
            if event.pid is not None and not reading.dialect.second_hand:
                self._processes.mind(event)
                self._window.keep(event.id)
        elif type(event) is Ended and self._processes.has_any and not reading.dialect.second_hand:
            self._processes.mind(event)

    def _mind_run(self, reading: FollowedFile, run: EventRun) -> None:
        """The same of a run: nobody's processes matter in most logs."""
        if run.names_processes or self._processes.has_any:
            for event in run.starts_and_ends():
                self._mind(reading, event)
