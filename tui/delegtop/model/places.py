"""Origins in columns: three numbers each, where an object would cost three times as much."""

from array import array
from collections.abc import Iterable

from delegtop.origin import Origin


class Sources(dict[str, int]):
    """Source names by number and numbers by name; a new name gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self.names)
        self.names.append(name)
        return number

    def learn(self, names: Iterable[str]) -> None:
        """Number these, in this order."""
        for name in names:
            self[name]


_LAST = 0xFFFF_FFFF
"""Lines beyond it count as this one: no log has as many."""


class Places:
    """A column of origins."""

    BORROWS = True

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._source = array("i")
        self._line = array("I")
        self._offset = array("q")

    def grow(self, rows: int) -> None:
        self._source.extend([-1] * rows)
        self._line.extend([0] * rows)
        self._offset.extend([0] * rows)

    def __getitem__(self, row: int) -> Origin | None:
        source = self._source[row]
        return None if source < 0 else Origin(self._sources.names[source], self._line[row], self._offset[row])

    def __setitem__(self, row: int, origin: Origin) -> None:
        line = origin.line
        self._source[row] = self._sources[origin.source]
        self._line[row] = line if line < _LAST else _LAST
        self._offset[row] = origin.offset

    def clear(self, row: int) -> None:
        self._source[row] = -1
