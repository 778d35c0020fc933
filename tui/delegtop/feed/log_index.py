"""Logs in the index: what lines of their own told is folded apart while it is read, told as a whole, and kept with the
place that reading has reached. The next run goes on from there.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from delegtop.base.clock import WallClock
from delegtop.dialects import OWN, load
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.kept_log import KeptLog, LogLines, kept_trace, pack_log, unpack_log
from delegtop.feed.kept_session import has_secret, kept_file
from delegtop.feed.recent_window import session_of
from delegtop.feed.running_starts import RunningStarts
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Event, Heard, Started
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.packed_ledger import leave_in_log, pack_ledger, unpack_ledger, words_in
from delegtop.sources.tail import Tail

if TYPE_CHECKING:
    from delegtop.feed.index_apart import IndexApart
    from delegtop.feed.index_file import IndexFile

LEAST = 256 * 1024
"""Bytes: a smaller log is read as soon as it is found."""
_MOST = 200_000
"""Delegations: more are not held twice in memory only to be kept."""
_SHARE = 32
"""What grew by less than this part of it is read again rather than written."""


class LogGathering:
    """What one log told since its top, in this run and before."""

    def __init__(self, ledger: Ledger | None = None, running: Sequence[Started] = (), kept: int = 0) -> None:
        self.ledger = ledger or Ledger()
        self.running = RunningStarts(running)
        self.kept = kept
        """So many bytes of it were read in earlier runs."""
        self.is_told = False
        """Whether others know of all that is in the ledger."""
        self.is_spoilt = False

    def take(self, events: Sequence[Event | EventRun]) -> None:
        self.ledger.apply(events, set(), set(), set(), set())
        for event in events:
            if isinstance(event, EventRun):
                for each in event.starts_and_ends():
                    self.running.mind(each)
            elif type(event) is not Heard:
                self.running.mind(event)

    @property
    def is_large(self) -> bool:
        return len(self.ledger) > _MOST


class LogIndex:
    """One thread asks and tells."""

    def __init__(self, file: "IndexFile | IndexApart | None") -> None:
        self._file = file
        self._kept: dict[str, KeptLog] = {}
        """What is known of files that are not opened yet."""
        self._gathered: dict[str, LogGathering] = {}
        self._opened: list[tuple[FollowedFile, int]] = []
        """The logs that are read from now on, and the keys of their texts."""

    def recall(self, paths: Iterable[str]) -> None:
        """Find what is known of these new logs, which belong to no session."""
        if self._file is None:
            return
        names = {_name(path): path for path in paths if _size(path) >= LEAST}
        if names:
            for name, data in self._file.find(names, WallClock().now()):
                if (kept := unpack_log(data)) is not None and kept.file.path == names[name]:
                    self._kept[names[name]] = kept

    def opened(self, reading: FollowedFile, key: int) -> None:
        """A log is read from now on."""
        if self._file is not None:
            self._opened.append((reading, key))

    def begin(self, tail: Tail) -> Iterator[Started]:
        """Go on with the logs that were opened where an earlier run had got to; gives those whose process is still to
        be looked for. Where two begin alike, one may be a copy of the other: both are read from their top."""
        opened, self._opened = self._opened, []
        alike = Counter(key for _, key in opened)
        for reading, key in opened:
            if not _can_keep(reading):
                continue
            kept = self._kept.pop(reading.path, None)
            is_sure = kept is not None and kept.trace.key == key and alike[key] == 1 and not tail.knows_any((key,))
            gathered = _gone_on(reading, kept, tail) if kept is not None and is_sure else None
            if gathered is not None:
                yield from gathered.running
            elif _size(reading.path) < LEAST:
                continue
            self._gathered[reading.path] = gathered or LogGathering()

    def of(self, reading: FollowedFile, *, is_top: bool) -> LogGathering | None:
        """What gathers what this file tells. If it is read from its top once more, another text stands in it than the
        one that was told of."""
        found = self._gathered.get(reading.path)
        if found is not None and is_top and (reading.records or reading.unreadable):
            found.is_spoilt = True
        return found

    def give_up(self, reading: FollowedFile) -> Ledger:
        """What a log told so far that is too large to be kept; what it tells from now on is told as ever."""
        return self._gathered.pop(reading.path).ledger

    def tell(self) -> Iterator[Ledger]:
        """What was gathered and not told."""
        for gathered in self._gathered.values():
            if not gathered.is_told:
                gathered.is_told = True
                if len(gathered.ledger):
                    yield gathered.ledger

    def keep(self, readings: Mapping[str, FollowedFile], tail: Tail) -> Iterator[tuple[str, bytes]]:
        """What is to be written down of logs that were read to their end, by name."""
        borrowed = tail.borrowed()
        for path, gathered in self._gathered.items():
            reading = readings.get(path)
            if reading is not None and path not in borrowed and not gathered.is_spoilt:
                data = _packed(reading, gathered, tail)
                if data is not None:
                    yield _name(path), data
        self._gathered = {}


def _gone_on(reading: FollowedFile, kept: KeptLog, tail: Tail) -> LogGathering | None:
    if kept.file.format != reading.dialect.name or (ledger := unpack_ledger(kept.ledger)) is None:
        return None
    try:
        ledger.ends.logs[reading.path] = LogLines(reading.path, type(reading.dialect))
    except OSError:
        return None
    if not tail.go_on(reading.path, kept.trace.trace(), kept.file.look):
        return None
    reading.go_on(kept.file.status(kept.file.look))
    return LogGathering(ledger, kept.running, kept.trace.offset)


def _packed(reading: FollowedFile, gathered: LogGathering, tail: Tail) -> bytes | None:
    known, trace = tail.at_rest(reading.path), tail.trace(reading.path)
    if known is None or trace is None or trace.start or trace.offset - gathered.kept <= trace.offset // _SHARE:
        return None
    status = reading.status(tail.status(reading.path))
    if status.status != "live" or status.detail:
        return None
    look, key = known
    file, running = kept_file(status, look, trace.digest, key), tuple(gathered.running)
    leave_in_log(gathered.ledger)
    if has_secret([_name(reading.path), *words_in(gathered.ledger), running, [each.words for each in file.examples]]):
        return None
    ledger = pack_ledger(gathered.ledger)
    return None if ledger is None else pack_log(KeptLog(file, kept_trace(trace), running, ledger))


def _can_keep(reading: FollowedFile) -> bool:
    """Whether one of delegtop's own formats reads it, line by line; and it belongs to no session."""
    dialect = type(reading.dialect)
    if session_of(reading.path) is not None:
        return False
    is_own = dialect.name in OWN and dialect is load(dialect.name)
    return is_own and dialect.lines_stand_alone and reading.is_log and not dialect.second_hand


def _name(path: str) -> str:
    """A path may be one from here, and origins name it as it was given."""
    return f"{os.path.abspath(path)}\n\n{'' if path.startswith('/') else path}"  # noqa: PTH100 # as below


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 # thousands of files
    except (OSError, ValueError):
        return 0
