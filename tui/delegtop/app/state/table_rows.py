"""The rows of the tree-table on the screen: what the shared table says of them, made no oftener than it changes."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from delegtop.app.highlight import highlighted
from delegtop.model.states import ENDED
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import Outline, OutlineRow
from delegtop.report.layout import CellSpan
from delegtop.report.table.cells import Table, mark_at, naming
from delegtop.report.table.columns import DOING, NAME, NO_ROOM_ASKED, Column, Layout, RoomAsked, chosen, layout

_ROOMY = 200
"""Cells in which the branch of nearly every row has room."""
_ALWAYS = (NAME, "state", "depth", DOING)
"""Columns that have something to say of every delegation."""


class RowKey(NamedTuple):
    """Everything that can change the picture of a row. Two equal keys look the same."""

    row: OutlineRow
    ground: tuple[object, ...]
    ticking: tuple[tuple[CellSpan, ...], ...]
    """What time changes; nothing of one that has ended, which says no other than it did, however late it is."""
    highlight: str


class _Called(NamedTuple):
    of: tuple[int, bool]
    """The version of it, and whether secrets are hidden: as long as these are the same, so is the rest."""
    name: str
    work: str


class TableRows:
    """The rows of a table, in the order of an outline."""

    def __init__(self, table: Table, outline: Outline, columns: tuple[Column, ...] = ()) -> None:
        self.table, self.outline = table, outline
        self.columns = columns or chosen(())
        """Those that are wanted; which of them there is room for, the layout says."""
        self.sorted_by = ""
        """The order the rows are in."""
        self._filled: set[str] = set(_ALWAYS)
        self._said_nothing: dict[OutlineRow, tuple[object, ...]] = {}
        """Rows that had nothing to say in the empty columns, with what that rests on."""
        self._grounds: dict[OutlineRow, tuple[object, ...]] = {}
        """What `learn` has found out for `key`."""
        self._claim = NO_ROOM_ASKED
        """What the rows that were in sight have asked for: the most of each."""
        self._in_sight: dict[OutlineRow, _Called] = {}
        self._compared: list[tuple[OutlineRow, str, str]] = []
        """The rows with what each was called and worked at when they were last compared."""
        self._told: set[tuple[tuple[OutlineRow, str, str], int | None]] = set()
        """The same with where each differs from those that are called alike."""
        self.highlight = ""
        """Words that are marked wherever they stand."""
        self._still = lru_cache(128)(self._still_cells)
        self._layout = lru_cache(64)(layout)
        self._laid_out = self._wanted()

    def layout(self, width: int) -> Layout:
        """The columns in so many cells. One that has had nothing to say so far takes no room. It stays until `learn`:
        whatever is painted between two looks at the rows has the columns of what is on the screen."""
        return self._layout(width, *self._laid_out)

    def _wanted(self) -> tuple[tuple[Column, ...], frozenset[str], frozenset[str], RoomAsked]:
        names = {column.name for column in self.columns}
        return self.columns, frozenset(names - self._filled), self._kept(), self._claim

    def _kept(self) -> frozenset[str]:
        """Columns that no other comes before: those that somebody chose, and what the rows are sorted by."""
        if self.columns != chosen(()):
            return frozenset(column.name for column in self.columns)
        return frozenset([column.name for column in self.columns if column.sort == self.sorted_by][:1])

    def choose(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self._said_nothing.clear()

    def forget(self) -> None:
        """Other delegations are shown."""
        self._filled, self._claim = set(_ALWAYS), NO_ROOM_ASKED
        self._said_nothing.clear()
        self._in_sight, self._compared, self._told = {}, [], set()

    def learn(self, window: list[OutlineRow]) -> None:
        """Look which columns have something to say of these rows, and how much room they ask for. One that had stays,
        for a table that changes its columns while one scrolls is hard to read."""
        self._look_at_names(window)
        empty = [column for column in self.columns if column.name not in self._filled]
        if empty:
            self._grounds = {row: self._ground(row) for row in window}
            others = [row for row in window if self._said_nothing.get(row) != self._grounds[row]]
            for column in empty:
                asked = window if column.ticks or column.name == "project" else others  # as others have one, too
                if any(self._says(column, row) for row in asked):
                    self._filled.add(column.name)
            self._said_nothing = self._grounds.copy()
        self._laid_out = self._wanted()

    def _look_at_names(self, window: list[OutlineRow]) -> None:
        """Look who is called alike, and how much room it takes to tell them apart."""
        table, version, before = self.table, self.table.forest.version, self._in_sight
        in_sight: dict[OutlineRow, _Called] = {}
        for row in window:
            of, known = (version(row.handle), table.masked), before.get(row)
            in_sight[row] = known if known is not None and known.of == of else _Called(of, *table.called(row.handle))
        self._in_sight = in_sight
        called = [(row, each.name, each.work) for row, each in in_sight.items()]
        if called == self._compared:
            return
        self._compared = called
        table.namesakes.look((name, work) for _, name, work in called)
        told = {(each, table.namesakes.differs_at(*each[1:])) for each in called}
        for (row, *_), _ in told - self._told:
            asked = naming(table, row, _ROOMY).claim(table)
            whole, enough = max(asked.whole, self._claim.whole), max(asked.enough, self._claim.enough)
            self._claim = self._claim._replace(whole=whole, enough=enough)
        self._told = told

    def _differs_at(self, row: OutlineRow) -> int | None:
        """The first sign of its work that tells it from those in sight that are called alike."""
        known = self._in_sight.get(row)
        if known is None or known.of != (self.table.forest.version(row.handle), self.table.masked):
            return self.table.differs_at(row.handle)
        return self.table.namesakes.differs_at(known.name, known.work)

    def _says(self, column: Column, row: OutlineRow) -> bool:
        if column.name == "project":
            return len(self.table.projects) > 1 and bool(self.table.project(row.handle))
        text = "".join(span.text for span in column.cell(self.table, row, column.width)).strip()
        return text not in ("", self.table.drawing.none)

    def key(self, row: OutlineRow, layout: Layout) -> RowKey:
        ended = self.table.forest.state(row.handle) in ENDED
        ticking = () if ended else tuple(tuple(spans) for spans in self._ticking(row, layout))
        return RowKey(row, self._grounds.pop(row, ()) or self._ground(row), ticking, self.highlight)

    def _ground(self, row: OutlineRow) -> tuple[object, ...]:
        """What changes the picture other than its place and the mere passing of time."""
        table, handle = self.table, row.handle
        return (
            table.forest.version(handle),
            table.forest.link(handle),
            table.problem(handle),
            table.remarks(handle),
            table.masked,
            None if row.expanded else table.below(handle),
            table.is_seen(handle),
            table.project(handle),
            self._differs_at(row),
            table.forest.is_stale(handle),
        )

    def _ticking(self, row: OutlineRow, layout: Layout) -> list[list[CellSpan]]:
        return [placed.column.cell(self.table, row, placed.width) for placed in layout.columns if placed.column.ticks]

    def _still_cells(
        self,
        row: OutlineRow,
        ground: tuple[object, ...],  # noqa: ARG002 -- as long as it is the same, so are the cells
        layout: Layout,
    ) -> list[list[CellSpan]]:
        """The cells that time alone does not change."""
        return [
            placed.column.cell(self.table, row, placed.width) for placed in layout.columns if not placed.column.ticks
        ]

    def cells(self, row: OutlineRow, layout: Layout, key: RowKey | None = None) -> list[CellSpan]:
        """The row, exactly as wide as the layout; by a key that was made for it, which knows most of it."""
        if not layout.columns:
            return [CellSpan(" " * layout.width, "text")]
        still = iter(self._still(row, key.ground if key else self._ground(row), layout))
        ticking = iter(key.ticking if key and key.ticking else self._ticking(row, layout))
        spans, gap = [CellSpan(" ", "text")], " " * layout.gap
        for placed in layout.columns:
            said = next(ticking if placed.column.ticks else still)
            if placed.name == DOING:
                self._ask_for(said)
            spans += said
            last = spans[-1]
            spans[-1] = CellSpan(last.text + gap, last.part)  # few pieces are painted faster than many
        last = spans[-1]
        spans[-1] = CellSpan(last.text.removesuffix(gap), last.part)
        if self.table.forest.is_stale(row.handle):  # how it was when its host was last heard of
            spans = [CellSpan("".join(span.text for span in spans), "muted")]
        return highlighted(spans, self.highlight)

    def _ask_for(self, doing: Sequence[CellSpan]) -> None:
        """What each does asks for as much as it fills; what is cut may ask for anything."""
        ruler, said = self.table.ruler, doing[-1].text.rstrip()
        asked = _ROOMY if said.endswith(self.table.drawing.cut) else ruler.cells(said)
        if asked > (self._claim.doing or 0):
            self._claim = self._claim._replace(doing=asked)

    def header(self, layout: Layout, sort: str = "", reverse: bool = False) -> list[CellSpan]:
        return [CellSpan(self.table.header(layout, sort, reverse), "header")]

    def mark_at(self, row: OutlineRow, layout: Layout) -> range:
        """The cells of the fold mark: a click there folds."""
        return mark_at(self.table, row, layout)

    def label(self, handle: Handle) -> str:
        """What it is called, safe to show."""
        return self.table.label(handle)
