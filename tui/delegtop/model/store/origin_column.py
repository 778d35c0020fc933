"""Origins in columns: three numbers each, where an object would cost three times as much."""

from array import array
from collections.abc import Iterable, Mapping
from typing import ClassVar, Self

from delegtop.base.origin import HostFile, Origin
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within


class SourceNumbers(dict[str | HostFile, int]):
    """Numbers of sources, and sources by number; a new one gets the next number.

    One of this machine goes by its name alone: nearly all are, and a pair for every event would cost.
    """

    def __init__(self) -> None:
        super().__init__()
        self.files: list[HostFile] = []

    def __missing__(self, source: str | HostFile) -> int:
        self[source] = number = len(self.files)
        self.files.append(("", source) if isinstance(source, str) else source)
        return number

    def learn(self, files: Iterable[HostFile]) -> None:
        """Number these, in this order."""
        for host, source in files:
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
        self._source = array("i")
        self._line = array("I")
        self._offset = array("q")

    def __getitem__(self, row: int) -> Origin | None:
        number = self._source[row]
        if number == _NOWHERE:
            return None
        host, source = self._sources.files[number]
        return Origin(source, self._line[row], self._offset[row], host)

    def __setitem__(self, row: int, origin: Origin) -> None:
        line = origin.line
        self._source[row] = self._sources[origin.file if origin.host else origin.source]
        self._line[row] = line if 0 <= line <= _LAST else min(max(line, 0), _LAST)
        self._offset[row] = origin.offset

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        numbers = [self._sources[(host, file) if host else file] for host, file in other._sources.files]
        if numbers != [*range(len(numbers))]:
            numbers.append(_NOWHERE)  # which is also the number of the last
            self._source[moved.at :] = array("i", map(numbers.__getitem__, self._source[moved.at :]))

    def is_whole(self) -> bool:
        return is_within(self._source, _NOWHERE, len(self._sources.files))

    def clear(self, row: int) -> None:
        self._source[row] = _NOWHERE
