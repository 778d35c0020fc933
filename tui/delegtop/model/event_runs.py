"""Runs of events: what plain lines of one log tell, in rows of values.

A ledger folds the rows as they are; an event and a place for each would cost as much as the fold. Whoever listens to
events reads a run as the sequence of them that it is: they are made while somebody asks.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import final, overload

from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Report, Started

SignRow = tuple[str, Millis | None, int, int, str | None, str | None, int | None, float | None, Heard | None]
"""A sign of life: whose, when, the line and the offset, what it does, tool, tokens, dollars; and the event that it was,
which tells more than these, if it was one."""
StartRow = tuple[
    str,
    Millis,
    int,
    int,
    str | None,
    str | None,
    str | None,
    str | None,
    tuple[str, ...] | None,
    int | None,
    int | None,
    Millis | None,
    str | None,
    int | None,
    str | None,
]
"""A start: whose, when, the line and the offset, and the fields of `Started` from the agent to the host."""
EndRow = tuple[str, Millis, int, int, Outcome, Ending, Report, bool]
"""An end: whose, when, the line and the offset, outcome, by what word, the return, and whether it is signed with the
delegation's own id, which it is then without."""


@final
class EventRun(Sequence[Event]):
    """Lines of one log of this machine that follow each other, each of which tells one event."""

    __slots__ = ("ends", "ids", "origin", "signs", "starts")

    def __init__(
        self, origin: Origin, ids: list[str], signs: list[SignRow], starts: list[StartRow], ends: list[EndRow]
    ) -> None:
        self.origin = origin
        """Where the first line stands."""
        self.ids = ids
        """Of each line whom it tells of."""
        self.signs, self.starts, self.ends = signs, starts, ends

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Event]:
        source = self.origin.source
        events: dict[int, Event] = {row[2]: self.start(row) for row in self.starts}
        events |= {row[2]: self.end(row) for row in self.ends}
        for id, at, line, offset, doing, tool, tokens, cost, _ in self.signs:
            events[line] = Heard(id, at, Origin(source, line, offset), doing, tool, tokens, cost)
        return map(events.__getitem__, range(self.origin.line, self.origin.line + len(self.ids)))

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> "EventRun": ...
    def __getitem__(self, at: int | slice) -> "Event | EventRun":
        if not isinstance(at, slice):
            events: list[Event] = [*self]
            return events[at]
        first, end, _ = at.indices(len(self))
        lines = range(self.origin.line + first, self.origin.line + end)
        signs = [row for row in self.signs if row[2] in lines]
        starts = [row for row in self.starts if row[2] in lines]
        ends = [row for row in self.ends if row[2] in lines]
        rows = chain[SignRow | StartRow | EndRow](signs, starts, ends)
        offset = min((row[3] for row in rows), default=self.origin.offset)
        return EventRun(Origin(self.origin.source, lines.start, offset), self.ids[first:end], signs, starts, ends)

    @property
    def parents(self) -> set[str]:
        """The ids that starts name as their parent."""
        return {row[12] for row in self.starts if row[12] is not None}

    @property
    def names_processes(self) -> bool:
        """Whether a start tells in which process it runs."""
        return any(row[13] is not None for row in self.starts)

    def starts_and_ends(self) -> Iterator[Started | Ended]:
        """These alone, in the order of their lines."""
        events: list[Started | Ended] = [*map(self.start, self.starts), *map(self.end, self.ends)]
        return iter(sorted(events, key=lambda event: event.origin.line))

    def start(self, row: StartRow) -> Started:
        """The event that a row tells."""
        return Started(row[0], row[1], Origin(self.origin.source, row[2], row[3]), *row[4:])

    def end(self, row: EndRow) -> Ended:
        """The same of an end."""
        id, at, line, offset, outcome, by, report, signed = row
        told = replace(report, session_id=id) if signed else report
        return Ended(id, at, Origin(self.origin.source, line, offset), outcome, by, told)


class EventRuns(Sequence[Event]):
    """Events, some of them in runs: a sequence of all of them."""

    __slots__ = ("_length", "parts")

    def __init__(self, parts: Sequence[Event | EventRun]) -> None:
        self.parts = parts
        """As they are to be folded."""
        self._length = count_of(parts)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Event]:
        return each_of(self.parts)

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> "EventRuns": ...
    def __getitem__(self, at: int | slice) -> "Event | EventRuns":
        if not isinstance(at, slice):
            events: list[Event] = [*self]
            return events[at]
        first, end, _ = at.indices(self._length)
        if end - first >= self._length:
            return self
        parts: list[Event | EventRun] = []
        begin = 0
        for part in self.parts:
            length = len(part) if type(part) is EventRun else 1
            if max(begin, first) < min(begin + length, end):
                parts.append(part[max(first - begin, 0) : end - begin] if type(part) is EventRun else part)
            begin += length
        return EventRuns(parts)


def parts_of(events: Sequence[Event]) -> Sequence[Event | EventRun]:
    """The same events, in runs where they are."""
    return events.parts if isinstance(events, EventRuns) else events


def each_of(parts: Sequence[Event | EventRun]) -> Iterator[Event]:
    """Each event by itself."""
    for part in parts:
        if type(part) is EventRun:  # to ask whether it is an instance of a sequence takes ten times as long
            yield from part
        else:
            yield part


def count_of(parts: Sequence[Event | EventRun]) -> int:
    """How many events there are."""
    return len(parts) + sum(len(part) - 1 for part in parts if type(part) is EventRun)
