"""Column stores: what makes them up is listed once, for whoever makes room in one, freezes it or takes it over."""

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar


class ColumnStore:
    """Things kept by row, in columns."""

    COLUMNS: ClassVar[Mapping[str, Any]] = {}
    """By name, with what stands in a row that nothing was told of."""
    STORES: ClassVar[tuple[str, ...]] = ()
    """Stores with the same rows."""
    BESIDE: ClassVar[tuple[str, ...]] = ()
    """What only few rows have, and what rows share. What is not listed at all can be found out again."""

    def grow(self, rows: int) -> None:
        """Room for more rows, in one go: twenty appends for each would cost more than the rest of its start."""
        for name, blank in self.COLUMNS.items():
            column = getattr(self, name)
            column.extend(array(column.typecode, (blank,)) * rows if isinstance(column, array) else [blank] * rows)
        for name in self.STORES:
            getattr(self, name).grow(rows)

    def parts(self) -> Iterator[tuple[str, Any]]:
        """All that makes it up, by name."""
        for name in (*self.COLUMNS, *self.STORES, *self.BESIDE):
            yield name, getattr(self, name)
