"""What draws the tree-table: titles, rows and scrollbar. It paints what differs from the screen, and moves nothing."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar, NamedTuple, Self

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from delegtop.app.highlight import FOUND
from delegtop.app.state.table_rows import RowKey, TableRows
from delegtop.app.widgets import row_looks
from delegtop.app.widgets.scrollbar import Thumb
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import OutlineRow
from delegtop.report.layout import CellSpan
from delegtop.report.table.columns import Layout

HEADER = 1
"""Lines above the rows."""
_PREFIX = "delegation-tree--"
_MOST_MADE = 2_048
"""Pieces of rows that are kept."""

Key = tuple[object, ...]


class Drawn(NamedTuple):
    """A row as it is on the screen."""

    row: OutlineRow
    key: Key
    selected: bool


class TreeCanvas(Widget):
    """The rows in view and the scrollbar beside them, line by line."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {_PREFIX + part for part in ("cursor", "found")}
    DEFAULT_CSS = """
        TreeCanvas {
            width: 1fr;
            height: 1fr;
            background: $background;
            color: $foreground;
        }
        TreeCanvas > .delegation-tree--cursor { background: $row-cursor-blurred; }
        TreeCanvas:focus > .delegation-tree--cursor { background: $row-cursor; }
        TreeCanvas:nocolor > .delegation-tree--cursor { text-style: underline; }
        TreeCanvas:nocolor:focus > .delegation-tree--cursor { text-style: reverse; }
        TreeCanvas > .delegation-tree--found { color: $background; background: $accent; }
        TreeCanvas:nocolor > .delegation-tree--found { text-style: reverse; }
        """

    def __init__(self, rows: TableRows, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = rows
        self._sorted_by, self._reversed = "", False
        self._drawn: list[Drawn] = []
        self._thumb: Thumb | None = None
        self._marks: frozenset[int] = frozenset()
        self._grip: int | None = None  # where on the thumb the mouse holds it
        self._laid_out: Layout | None = None
        """The columns of what is on the screen."""
        self._room = Size(0, 0)
        """What the rows are made for: to ask for the size takes a while, and every line needs it."""
        self._pieces: LRUCache[object, list[Segment]] = LRUCache(256)
        """Of rows as they were painted, without the bar."""
        self._made: tuple[dict[CellSpan, Segment], dict[CellSpan, Segment]] = (
            {},
            {},
        )  # of any row, of the selected one
        self._seen_through: tuple[Sequence[LineFilter], Color] | None = None
        self._painted: dict[int, Strip] = {}  # by line: what is on the screen, until `refresh` says that it differs
        self._styles: tuple[dict[str, Style], dict[str, Style]] = ({}, {})  # by part: of any row, of the selected one

    def show_sort(self, sort: str, reverse: bool = False) -> None:
        """Mark the title of the column that the rows are sorted by."""
        if (sort, reverse) != (self._sorted_by, self._reversed):
            self._sorted_by, self._reversed = sort, reverse
            self.refresh(Region(0, 0, self.size.width, HEADER))

    # What is drawn

    @property
    def _layout(self) -> Layout:
        return self.rows.layout(max(self._room.width - 1, 0))

    def _titles(self) -> list[CellSpan]:
        """The first line."""
        return self.rows.header(self._layout, self._sorted_by, self._reversed)

    def _key(self, row: OutlineRow) -> Key:
        """Everything that can change the picture of this row."""
        return self.rows.key(row, self._layout)

    def _cells(self, row: OutlineRow, key: Key) -> list[CellSpan]:
        """The row, one cell short of the width."""
        layout = self._layout
        if isinstance(key, RowKey) and layout is self._laid_out:  # else it was made for another width
            return self.rows.cells(row, layout, key)
        return self.rows.cells(row, layout)

    def _repaint_rows(
        self, rows: list[OutlineRow], cursor: Handle | None, thumb: Thumb | None, marks: frozenset[int]
    ) -> None:
        """Compare with what is on the screen and repaint what differs."""
        before, bar = self._drawn, (self._thumb, self._marks)
        self.rows.learn(rows)
        if (layout := self._layout) != self._laid_out:  # the columns are others from here on
            before = []
            self._pieces.clear()
        self._laid_out = layout
        self._drawn = [Drawn(row, self._key(row), row.handle == cursor) for row in rows]
        self._thumb, self._marks = thumb, marks
        width, height = self._room
        changed = [y for y, (old, new) in enumerate(zip_longest(before, self._drawn)) if old != new]
        if bool(before) != bool(self._drawn):
            self.refresh()
            return
        many = len(changed) > height // 2  # then all rows, without the titles, over which something may lie
        all_rows = Region(0, HEADER, width, height - HEADER)
        regions = [all_rows] if many else [Region(0, y + HEADER, width, 1) for y in changed]
        if bar != (thumb, marks) and not many:
            regions.append(Region(width - 1, HEADER, 1, height - HEADER))
        if regions:
            self.refresh(*regions)

    def _fit(self) -> None:
        """Make the rows for the room there is."""
        self._room = self.size
        self._painted.clear()

    # Painting

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if not regions:
            self._painted.clear()
        for region in regions:
            for y in region.line_range:
                self._painted.pop(y, None)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """There is no border and no padding to put around the lines, and to ask for them costs more than to paint."""
        if self.size != self._room:  # a new size is painted before it is told, and the first one may never be told
            self._fit()
        if fresh := [y for y in crop.line_range if y not in self._painted]:
            self._look_through()
            for y in fresh:
                self._painted[y] = self.render_line(y)
        lines = [self._painted[y] for y in crop.line_range]
        left, right = crop.column_span
        return lines if (left, right) == (0, self._room.width) else [line.crop(left, right) for line in lines]

    def render_line(self, y: int) -> Strip:
        width = self._room.width
        if not self._drawn or width < 2:
            return Strip(self._segments([CellSpan(" " * width, "text")]), width)
        if y < HEADER:
            return Strip(self._segments([*self._titles(), CellSpan(" ", "header")]), width)
        y -= HEADER
        bar = self._bar(y)
        if y >= len(self._drawn):
            return Strip(self._segments([CellSpan(" " * (width - 1), "text"), bar]), width)
        row, key, selected = self._drawn[y]
        cached = (key, selected, width)
        pieces = self._pieces.get(cached)
        if pieces is None:
            pieces = self._pieces[cached] = self._segments(self._cells(row, key), selected)
        return Strip([*pieces, *self._segments([bar])], width)

    def _look_through(self) -> None:
        """Pieces are kept as they are behind the filters that all lines pass: most of a row has been painted before."""
        through = self.get_line_filters(), self.background_colors[1]
        if through != self._seen_through or max(map(len, self._made)) > _MOST_MADE:
            self._seen_through = through
            self._forget_pieces()

    def _forget_pieces(self) -> None:
        self._pieces.clear()
        for made in self._made:
            made.clear()

    def _segments(self, spans: list[CellSpan], selected: bool = False) -> list[Segment]:
        made = self._made[selected]
        return [made.get(span) or self._make_piece(span, selected) for span in spans]

    def _make_piece(self, span: CellSpan, selected: bool) -> Segment:
        """A piece as the terminal gets it."""
        piece = Segment(span.text, self._style(span.part, selected))
        filters, ground = self._seen_through or ((), Color(0, 0, 0))
        for each in filters:
            (piece,) = each.apply([piece], ground)
        self._made[selected][span] = piece
        return piece

    def _bar(self, y: int) -> CellSpan:
        """The cell of the scrollbar in this row."""
        drawing = self.rows.table.drawing
        if self._thumb is None:
            return CellSpan(" ", "text")
        look = "problem" if y in self._marks else ""
        if self._thumb.start <= y < self._thumb.end:
            return CellSpan(drawing.thumb, look or ("thumb" if self._grip is None else "thumb-held"))
        return CellSpan(drawing.problem if look else drawing.track, look or "track")

    def _style(self, part: str, selected: bool = False) -> Style:
        style = self._styles[selected].get(part)
        if style is None and part.startswith(FOUND):
            found = self.get_component_rich_style(_PREFIX + "found")
            style = self._style(part.removeprefix(FOUND), selected) + Style(
                color=found.color, bgcolor=found.bgcolor, bold=True, reverse=found.reverse
            )
            self._styles[selected][part] = style
        if style is None:
            style = row_looks.style(part, self.app.theme_variables)
            if selected:
                cursor = self.get_component_rich_style(_PREFIX + "cursor")
                style += Style(
                    bgcolor=cursor.bgcolor, bold=cursor.bold, reverse=cursor.reverse, underline=cursor.underline
                )
            self._styles[selected][part] = style
        return style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        for styles in self._styles:
            styles.clear()
        self._forget_pieces()
        self._painted.clear()
