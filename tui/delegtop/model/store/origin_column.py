"""Origins in columns: three numbers each, where an object would cost ten times as much."""

from array import array
from collections.abc import Iterable, Mapping
from typing import ClassVar, Self

from delegtop.base.origin import HostFile, Origin
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.numbers import Numbering


class SourceNumbers(Numbering):
    """Numbers of sources, each with its host.

    One of this machine goes by its name alone: nearly all are, and a pair for every event, or for each of thousands of
    files, would cost.
    """

    def file(self, number: int) -> HostFile:
        thing = self.things[number]
        return ("", thing) if isinstance(thing, str) else thing

    def files(self) -> list[HostFile]:
        """All, by number."""
        return [*map(self.file, range(len(self.things)))]

    def learn(self, things: Iterable[str | HostFile]) -> None:
        for thing in things:
            self[thing if isinstance(thing, str) or thing[0] else thing[1]]


_LAST = 0xFFFF_FFFF
"""Lines beyond it count as this one: no log has as many. A row of a database may even have a number below 0."""
_FURTHEST = (1 << 62) - 1
NO_SOURCE = -1
"""Stands for the source where there is no origin."""


def placed(origin: Origin) -> Origin:
    """As it comes out of a column that it was put into."""
    if 0 <= origin.line <= _LAST and -_FURTHEST <= origin.offset <= _FURTHEST:
        return origin
    line, offset = min(max(origin.line, 0), _LAST), min(max(origin.offset, -_FURTHEST), _FURTHEST)
    return Origin(origin.source, line, offset, origin.host)


class OriginColumn(ColumnStore):
    """A column of origins."""

    COLUMNS: ClassVar[Mapping[str, object]] = {"sources": NO_SOURCE, "lines": 0, "offsets": 0}

    def __init__(self, sources: SourceNumbers) -> None:
        self.numbers = sources
        """Those of a whole ledger, which keeps them."""
        self.sources = array("b")
        self.lines = array("I")
        self.offsets = array("I")

    def __getitem__(self, row: int) -> Origin | None:
        number = self.sources[row]
        if number == NO_SOURCE:
            return None
        thing = self.numbers.things[number]
        if isinstance(thing, str):  # as nearly all
            return Origin(thing, self.lines[row], self.offsets[row])
        return Origin(thing[1], self.lines[row], self.offsets[row], thing[0])

    def __setitem__(self, row: int, origin: Origin) -> None:
        self.put(row, self.number(origin), origin.line, origin.offset)

    def append(self, origin: Origin) -> None:
        self.sources.append(NO_SOURCE)
        self.lines.append(0)
        self.offsets.append(0)
        self[len(self.sources) - 1] = origin

    def number(self, origin: Origin) -> int:
        """That of its source."""
        return self.numbers[origin.file if origin.host else origin.source]

    def put(self, row: int, number: int, line: int, offset: int) -> None:
        """Write an origin by the number of its source."""
        try:
            self.sources[row] = number
            self.lines[row] = line
            self.offsets[row] = offset
        except OverflowError:
            self.put_wide("sources", row, number)
            self.lines[row] = min(max(line, 0), _LAST)
            self.put_wide("offsets", row, offset)

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        numbers = {NO_SOURCE: NO_SOURCE}
        for number in sorted({*self.sources[moved.at :]} - {NO_SOURCE}):
            numbers[number] = self.numbers[other.numbers.things[number]]
        self.renumber("sources", moved.at, numbers)

    def is_whole(self) -> bool:
        return is_within(self.sources, NO_SOURCE, len(self.numbers.things))

    def clear(self, row: int) -> None:
        self.sources[row] = NO_SOURCE
