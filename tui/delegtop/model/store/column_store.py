"""Column stores: what makes them up is listed once, for whoever makes room in one, freezes it or takes it over."""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import msgspec

V = TypeVar("V")
_WIDER = {"b": "h", "h": "i", "i": "q", "I": "q"}
"""The kinds of numbers in a column, and which to take where one does not fit."""
_NARROW = 127
"""The largest number of the first kind."""


def is_within(numbers: Collection[int], least: int, end: int) -> bool:
    """Whether all of them lie there."""
    if isinstance(numbers, array) and numbers.typecode == "b":  # as text: a tenth of the time
        allowed = bytes(each & 0xFF for each in range(max(least, -0x80), min(end, 0x80)))
        return not numbers.tobytes().translate(None, allowed)
    return not numbers or (min(numbers) >= least and max(numbers) < end)


class RowsMoved(msgspec.Struct, frozen=True):
    """Rows of one store that become rows of another, behind those it has."""

    rows: Sequence[int]
    """Of the store they come from."""
    at: int
    """The row of the other that the first of them becomes."""

    def column(self, column: Any) -> Any:
        """What stands in these rows of a column, which may be all of it: nobody changes it."""
        if isinstance(self.rows, range):
            is_all = not self.rows.start and self.rows.stop == len(column)
            return column if is_all else column[self.rows.start : self.rows.stop]
        return (
            type(column)(column.typecode, (column[row] for row in self.rows))
            if hasattr(column, "typecode")
            else [column[row] for row in self.rows]
        )

    def table(self, kept: Mapping[int, V]) -> dict[int, V]:
        """What few rows have, by the rows that these become."""
        if isinstance(self.rows, range):
            by = self.at - self.rows.start
            return {row + by: value for row, value in kept.items()}
        where = {row: self.at + number for number, row in enumerate(self.rows)}
        return {where[row]: value for row, value in kept.items() if row in where}


class ColumnStore:
    """Things kept by row, in columns."""

    COLUMNS: ClassVar[Mapping[str, Any]] = {}
    """By name, with what stands in a row that nothing was told of."""
    STORES: ClassVar[tuple[str, ...]] = ()
    """Stores with the same rows."""
    APART: ClassVar[tuple[str, ...]] = ()
    """Stores with rows of their own."""
    BESIDE: ClassVar[tuple[str, ...]] = ()
    """What only few rows have, and what rows share. What is not listed at all can be found out again."""

    def grow(self, rows: int) -> None:
        """Room for more rows, in one go: twenty appends for each would cost more than the rest of its start."""
        for name, blank in self.COLUMNS.items():
            column = getattr(self, name)
            column.extend(array(column.typecode, (blank,)) * rows if isinstance(column, array) else [blank] * rows)
        for name in self.STORES:
            getattr(self, name).grow(rows)

    def put_wide(self, name: str, row: int, value: int) -> None:
        """Write a number that does not fit into its column as it is: most need few bytes, so it begins with few."""
        column = getattr(self, name)
        while True:
            try:
                column[row] = value
            except OverflowError:
                if column.typecode not in _WIDER:
                    raise
                column = array(_WIDER[column.typecode], column)
            else:
                setattr(self, name, column)
                return

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        """Rows of another such store behind the rows of this one; the room there is taken."""
        for name in self.COLUMNS:
            column, more = getattr(self, name), moved.column(getattr(other, name))
            del column[moved.at :]
            if isinstance(column, array) and column.typecode != more.typecode:
                wider = max(column, more, key=lambda each: each.itemsize).typecode
                column, more = array(wider, column), array(wider, more)
                setattr(self, name, column)
            column.extend(more)
        for name in self.STORES:
            getattr(self, name).append_rows(getattr(other, name), moved)

    def renumber(self, name: str, first: int, numbers: Mapping[int, int]) -> None:
        """Other numbers for those that stand in a column from that row on."""
        if all(number == now for number, now in numbers.items()):
            return
        column = getattr(self, name)
        if max(numbers.values()) > _NARROW and column.typecode != "i":
            column = array("i", column)
            setattr(self, name, column)
        column[first:] = array(column.typecode, map(numbers.__getitem__, column[first:]))

    def is_whole(self) -> bool:
        """Whether what its columns name is there."""
        return True

    def parts(self) -> Iterator[tuple[str, Any]]:
        """All that makes it up, by name."""
        for name in (*self.COLUMNS, *self.STORES, *self.APART, *self.BESIDE):
            yield name, getattr(self, name)
