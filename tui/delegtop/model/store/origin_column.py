"""Origins in columns: three numbers each, where an object would cost ten times as much."""

from array import array
from collections.abc import Iterable, Mapping
from typing import ClassVar, Self

from delegtop.base.origin import HostFile, Origin
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.numbers import Numbering


class SourceNumbers(Numbering):
    """Numbers of sources, each with its host.

    One of this machine goes by its name alone: nearly all are, and a pair for every event would cost.
    """

    def __missing__(self, source: str | HostFile) -> int:
        self[source] = number = len(self.things)
        self.things.append(("", source) if isinstance(source, str) else source)
        return number

    def learn(self, things: Iterable[HostFile]) -> None:
        for host, source in things:
            self[(host, source) if host else source]


_LAST = 0xFFFF_FFFF
"""Lines beyond it count as this one: no log has as many. A row of a database may even have a number below 0."""
_NOWHERE = -1
"""Stands for the source where there is no origin."""


class OriginColumn(ColumnStore):
    """A column of origins."""

    COLUMNS: ClassVar[Mapping[str, object]] = {"_source": _NOWHERE, "_line": 0, "_offset": 0}
    BESIDE = ("_sources",)

    def __init__(self, sources: SourceNumbers) -> None:
        self._sources = sources
        self._source = array("b")
        self._line = array("I")
        self._offset = array("I")

    def __getitem__(self, row: int) -> Origin | None:
        number = self._source[row]
        if number == _NOWHERE:
            return None
        host, source = self._sources.things[number]
        return Origin(source, self._line[row], self._offset[row], host)

    def __setitem__(self, row: int, origin: Origin) -> None:
        line, number = origin.line, self._sources[origin.file if origin.host else origin.source]
        self._line[row] = line if 0 <= line <= _LAST else min(max(line, 0), _LAST)
        try:
            self._source[row] = number
        except OverflowError:
            self.put_wide("_source", row, number)
        try:
            self._offset[row] = origin.offset
        except OverflowError:
            self.put_wide("_offset", row, origin.offset)

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        numbers = [self._sources[(host, file) if host else file] for host, file in other._sources.things]
        if numbers != [*range(len(numbers))]:
            numbers.append(_NOWHERE)  # which is also the number of the last
            self.renumber("_source", moved.at, numbers)

    def is_whole(self) -> bool:
        return is_within(self._source, _NOWHERE, len(self._sources.things))

    def clear(self, row: int) -> None:
        self._source[row] = _NOWHERE
