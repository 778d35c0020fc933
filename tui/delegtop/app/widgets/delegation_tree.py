"""The tree-table: a million delegations in one widget that paints only what changed.

It owns no data. `Rows` tells what a row says, the outline which rows there are, the viewport where the operator looks.
"""

from collections.abc import Iterable
from itertools import zip_longest
from typing import ClassVar, Self

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.widget import Widget

from delegtop.app.columns import Layout, layout
from delegtop.app.rows import PARTS, Rows
from delegtop.app.spans import Span
from delegtop.app.widgets.scrollbar import Thumb, thumb, top_for
from delegtop.app.widgets.viewport import Viewport
from delegtop.clock import monotonic
from delegtop.model.delegation import State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.outline import OutlineRow

_HEADER = 1
_WHEEL = 3
_MOST_MARKS = 200
"""More problems than this are not painted on the scrollbar: finding their rows would cost more than the frame."""
_MARKS_EVERY = 1.0
"""Seconds between two looks for them."""
_PREFIX = "delegation-tree--"

Key = tuple[object, ...]


class DelegationTree(Widget, can_focus=True):
    """Delegations as a tree with columns."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        _PREFIX + part for part in (*PARTS, "cursor", "track", "thumb", "thumb-held", "problem")
    }
    DEFAULT_CSS = (
        """
        DelegationTree {
            width: 1fr;
            height: 1fr;
            background: $background;
            color: $foreground;
        }
        DelegationTree > .delegation-tree--header { color: $row-header; text-style: bold; background: $surface; }
        DelegationTree > .delegation-tree--guide { color: $guide; }
        DelegationTree > .delegation-tree--unsure { color: $guide-unsure; }
        DelegationTree > .delegation-tree--mark { color: $accent; }
        DelegationTree > .delegation-tree--name { color: $foreground; }
        DelegationTree > .delegation-tree--text { color: $foreground; }
        DelegationTree > .delegation-tree--muted { color: $row-muted; }
        DelegationTree > .delegation-tree--cursor { background: $row-cursor-blurred; }
        DelegationTree:focus > .delegation-tree--cursor { background: $row-cursor; }
        DelegationTree:nocolor > .delegation-tree--cursor { text-style: underline; }
        DelegationTree:nocolor:focus > .delegation-tree--cursor { text-style: reverse; }
        DelegationTree > .delegation-tree--track { color: $track; }
        DelegationTree > .delegation-tree--thumb { color: $thumb; }
        DelegationTree > .delegation-tree--thumb-held { color: $accent; }
        DelegationTree > .delegation-tree--problem { color: $state-failed; }
        """
        + "".join(f"DelegationTree > .{_PREFIX}{state.value} {{ color: $state-{state.value}; }}\n" for state in State)
        + "".join(
            f"DelegationTree > .{_PREFIX}{part} {{ color: ${part}; }}\n" for part in PARTS if part.startswith("bar-")
        )
        + f"DelegationTree > .{_PREFIX}overdue {{ text-style: bold; }}\n"
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False, id="tree-up", tooltip="One row up"),
        Binding("down,j", "move(1)", "down", show=False, id="tree-down", tooltip="One row down"),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False, id="tree-page-up", tooltip="One page up"),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False, id="tree-page-down", tooltip="One page down"),
        Binding("home,g", "first", "first", show=False, id="tree-first", tooltip="The first row"),
        Binding("end,G", "last", "last", show=False, id="tree-last", tooltip="The last row"),
        Binding("left", "out", "out", show=False, id="tree-left", tooltip="Fold, or go to the parent"),
        Binding("right", "into", "into", show=False, id="tree-right", tooltip="Unfold, or go to the first child"),
        Binding("space", "fold", "fold", show=False, id="fold", tooltip="Fold or unfold the children of this row"),
        Binding("enter", "activate", "inspect", show=False, id="inspect", tooltip="Read its details"),
    ]

    follow: var[bool] = var(False, init=False)
    """Keep the newest delegation under the cursor, until the operator moves it."""

    pending: var[int] = var(0, init=False)
    """Delegations that came and were not in view yet."""

    class Highlighted(Message):
        """The cursor is on another delegation."""

        def __init__(self, handle: Handle | None) -> None:
            self.handle = handle
            super().__init__()

    class Activated(Message):
        """The operator wants to look into this delegation."""

        def __init__(self, handle: Handle) -> None:
            self.handle = handle
            super().__init__()

    class Folded(Message):
        """This delegation was folded or unfolded."""

        def __init__(self, handle: Handle) -> None:
            self.handle = handle
            super().__init__()

    class SortRequested(Message):
        """The title of a column was clicked; `sort` is the order it stands for."""

        def __init__(self, sort: str) -> None:
            self.sort = sort
            super().__init__()

    def __init__(self, rows: Rows, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = rows
        self._outline = rows.outline
        self._view = Viewport(rows.outline)
        self._told: Handle | None = None  # the cursor, as last told to the screen
        self._revision = -1
        self._newest: Handle | None = None
        self._sorted_by, self._reversed = "", False
        self._drawn: list[tuple[OutlineRow, Key, bool]] = []
        self._thumb: Thumb | None = None
        self._problems: tuple[Handle, ...] = ()
        self._marks: frozenset[int] = frozenset()
        self._marks_due = 0.0
        self._grip: int | None = None  # where on the thumb the mouse holds it
        self._strips: LRUCache[object, Strip] = LRUCache(1024)
        self._painted: dict[int, Strip] = {}  # by line: what is on the screen, until `refresh` says that it differs
        self._width = 0  # of what is painted: to ask for the size takes a while, and every line needs it
        self._styles: tuple[dict[str, Style], dict[str, Style]] = ({}, {})  # by part: of any row, of the selected one

    # What the screen tells

    @property
    def cursor(self) -> Handle | None:
        """The delegation under the cursor. Setting it brings it into view, if it is shown."""
        return self._view.cursor

    @cursor.setter
    def cursor(self, handle: Handle | None) -> None:
        row = None if handle is None else self._outline.row_of(handle)
        if row is not None:
            self._go(row)

    def update_rows(self, structural: bool = False) -> None:
        """Data or time changed: look at the rows in view and repaint those that differ."""
        self._settle(structural)
        if self.follow and self._newest != self._outline.newest:
            self._select_newest()
        self._draw()

    def show_sort(self, sort: str, reverse: bool = False) -> None:
        """Mark the title of the column that the rows are sorted by."""
        if (sort, reverse) != (self._sorted_by, self._reversed):
            self._sorted_by, self._reversed = sort, reverse
            self.refresh(Region(0, 0, self.size.width, _HEADER))

    def mark_problems(self, handles: Iterable[Handle]) -> None:
        """These are painted on the scrollbar, if they are not too many."""
        problems = tuple(handles)
        if problems != self._problems:
            self._problems = problems
            self._marks_due = min(self._marks_due, monotonic() + _MARKS_EVERY)

    def seen(self) -> None:
        """Whatever came so far is no news."""
        self._newest = self._outline.newest
        self.pending = 0

    def move_house(self, before: Forest, now: Forest) -> None:
        """The rows are those of another moment: the cursor stays on its delegation, and nothing of it is news."""
        self._view.move_house(before, now)
        self._told = None
        self.seen()
        self.update_rows(True)  # at once: what is on the screen may not be there any more when it is painted again

    def expect(self, id: str) -> None:
        """Put the cursor on this delegation as soon as it is there."""
        self._view.expect(id, self.rows.forest.find)
        self.follow = False
        self.update_rows(True)

    def go_to_newest(self) -> None:
        """Put the cursor on the delegation that came last."""
        self._select_newest()
        self.seen()
        self._draw()

    def watch_follow(self, follow: bool) -> None:
        if follow:
            self.go_to_newest()

    # Moving

    def _settle(self, structural: bool = False) -> None:
        """Rows may have come or moved since the last frame: a key must not act on what is no longer there."""
        if structural or self._revision != self._outline.revision:
            self._revision = self._outline.revision
            self._marks_due = min(self._marks_due, monotonic() + _MARKS_EVERY)
            self._view.settle()

    def _select_newest(self) -> None:
        newest = self._outline.newest
        if newest is None or not self._outline.shows(newest):
            return
        self._outline.reveal(newest)
        row = self._outline.row_of(newest)
        if row is not None:  # a focus on another subtree leaves it out
            self._view.select(row)

    def _go(self, row: int) -> None:
        """The operator puts the cursor on this row."""
        self.follow = False
        self._view.select(row)
        self._draw()

    def _scroll(self, top: int) -> None:
        """The operator moves the view and leaves the cursor where it is."""
        self.follow = False
        self._settle()
        self._view.scroll(top)
        self._draw()

    # Painting

    @property
    def _layout(self) -> Layout:
        return layout(max(self._width - 1, 0))

    def _titles(self) -> list[Span]:
        """The first line."""
        return self.rows.header(self._layout, self._sorted_by, self._reversed)

    def _key(self, row: OutlineRow) -> Key:
        """Everything that can change the picture of this row."""
        return self.rows.key(row)

    def _cells(self, row: OutlineRow, key: Key) -> list[Span]:  # noqa: ARG002 -- for who draws from the key alone
        """The row, one cell short of the width."""
        return self.rows.cells(row, self._layout)

    def _draw(self) -> None:
        """Compare the rows in view with those on the screen and repaint the ones that differ."""
        view, before, bar = self._view, self._drawn, (self._thumb, self._marks)
        window = view.window()
        self._drawn = [(row, self._key(row), row.handle == view.cursor) for row in window]
        self._thumb = thumb(view.top, view.page, len(self._outline), view.page)
        self._find_marks()
        self._count_pending(window)
        if view.cursor != self._told:
            self._told = view.cursor
            self.post_message(self.Highlighted(view.cursor))
        changed = [y for y, (old, new) in enumerate(zip_longest(before, self._drawn)) if old != new]
        if bool(before) != bool(self._drawn) or len(changed) > view.page // 2:
            self.refresh()
            return
        width = self._width
        regions = [Region(0, y + _HEADER, width, 1) for y in changed]
        if bar != (self._thumb, self._marks):
            regions.append(Region(width - 1, _HEADER, 1, view.page))
        if regions:
            self.refresh(*regions)

    def _count_pending(self, window: list[OutlineRow]) -> None:
        known, newest = self._newest, self._outline.newest
        self._newest = newest
        if any(row.handle == newest for row in window):
            self.pending = 0
        elif known is not None and newest is not None and known != newest:
            self.pending += sum(map(self._outline.shows, range(known + 1, newest + 1)))

    def _find_marks(self) -> None:
        """Where on the scrollbar the problems are; not with every frame, for it asks for the row of each of them."""
        if monotonic() < self._marks_due:
            return
        self._marks_due = float("inf")
        if self._thumb is None or len(self._problems) > _MOST_MARKS:
            self._marks = frozenset()
            return
        total, length = len(self._outline), self._view.page
        rows = map(self._outline.row_of, self._problems)
        self._marks = frozenset(row * length // total for row in rows if row is not None)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if not regions:
            self._painted.clear()
        for region in regions:
            for y in region.line_range:
                self._painted.pop(y, None)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """There is no border and no padding to put around the lines, and to ask for them costs more than to paint."""
        width, height = self.size
        if self._view.page != max(height - _HEADER, 0) or self._width != width:
            # Textual does not tell of a first size that somebody has asked for before.
            self._width = width
            self._painted.clear()
            self.call_next(self._fit)
        if fresh := [y for y in crop.line_range if y not in self._painted]:
            filters, (_, background) = self.get_line_filters(), self.background_colors
            for y in fresh:
                strip = self.render_line(y)
                for each in filters:
                    strip = strip.apply_filter(each, background)
                self._painted[y] = strip
        lines = [self._painted[y] for y in crop.line_range]
        left, right = crop.column_span
        return lines if (left, right) == (0, width) else [line.crop(left, right) for line in lines]

    def render_line(self, y: int) -> Strip:
        width = self._width
        if not self._drawn or width < 2:
            return Strip([Segment(" " * width, self._style("text"))], width)
        if y < _HEADER:
            return Strip([*self._segments(self._titles()), Segment(" ", self._style("header"))], width)
        y -= _HEADER
        bar = self._bar(y)
        if y >= len(self._drawn):
            return Strip([Segment(" " * (width - 1), self._style("text")), bar], width)
        row, key, selected = self._drawn[y]
        cached = (key, selected, width)
        strip = self._strips.get(cached)
        if strip is None:
            strip = Strip(self._segments(self._cells(row, key), selected), width - 1)
            self._strips[cached] = strip
        return Strip([*strip, bar], width)

    def _segments(self, spans: list[Span], selected: bool = False) -> list[Segment]:
        known = self._styles[selected]
        return [Segment(text, known.get(part) or self._style(part, selected)) for text, part in spans]

    def _bar(self, y: int) -> Segment:
        """The cell of the scrollbar in this row."""
        drawing = self.rows.drawing
        if self._thumb is None:
            return Segment(" ", self._style("text"))
        look = "problem" if y in self._marks else ""
        if self._thumb.start <= y < self._thumb.end:
            return Segment(drawing.thumb, self._style(look or ("thumb" if self._grip is None else "thumb-held")))
        return Segment(drawing.problem if look else drawing.track, self._style(look or "track"))

    def _style(self, part: str, selected: bool = False) -> Style:
        style = self._styles[selected].get(part)
        if style is None:
            style = self.get_component_rich_style(_PREFIX + part)
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
        self._strips.clear()
        self._painted.clear()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """As many rows as there is room for, and as wide."""
        self._width, height = self.size
        self._view.settle()
        self._view.resize(max(height - _HEADER, 0))
        self._marks_due = 0.0
        self._draw()
        self.refresh()

    # Keys

    def action_move(self, by: int) -> None:
        self._settle()
        self._go(self._view.row + by)

    def action_page(self, by: int) -> None:
        self.follow = False
        self._settle()
        self._view.turn(by)
        self._draw()

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._outline) - 1)

    def action_out(self) -> None:
        """Fold what is open, else go to the parent."""
        row = self._row_of_cursor()
        if row is None:
            return
        if row.descendants and row.expanded:
            self._toggle(row.handle)
        else:
            self.cursor = self._outline.parent(row.handle)

    def action_into(self) -> None:
        """Unfold what is folded, else go to the first child."""
        row = self._row_of_cursor()
        if row is None or not row.descendants:
            return
        if row.expanded:
            self._go(self._view.row + 1)
        else:
            self._toggle(row.handle)

    def action_fold(self) -> None:
        row = self._row_of_cursor()
        if row is not None and row.descendants:
            self._toggle(row.handle)

    def action_activate(self) -> None:
        if self._view.cursor is not None:
            self.post_message(self.Activated(self._view.cursor))

    def _row_of_cursor(self) -> OutlineRow | None:
        self._settle()
        rows = self._outline.window(self._view.row, 1) if self._view.cursor is not None else []
        return rows[0] if rows else None

    def _toggle(self, handle: Handle) -> None:
        self._outline.toggle(handle)
        self.update_rows(True)
        self.post_message(self.Folded(handle))

    # Mouse

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(self._view.top + _WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(self._view.top - _WHEEL)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        y = event.y - _HEADER
        if self._thumb is None or event.x != self.size.width - 1 or y < 0:
            return
        event.stop()
        held = self._thumb.start <= y < self._thumb.end
        # A press beside the thumb takes its middle there.
        self._grip = y - self._thumb.start if held else (self._thumb.end - self._thumb.start) // 2
        self.capture_mouse()
        self._drag(y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._grip is not None:
            event.stop()
            self._drag(event.y - _HEADER)

    def on_mouse_up(self) -> None:
        if self._grip is not None:
            self._grip = None
            self.release_mouse()
            self.refresh()

    def _drag(self, y: int) -> None:
        if self._thumb is None or self._grip is None:
            return
        size, page = self._thumb.end - self._thumb.start, self._view.page
        self._scroll(top_for(y - self._grip, size, page, len(self._outline), page))
        self.refresh(Region(self.size.width - 1, _HEADER, 1, page))

    def on_click(self, event: events.Click) -> None:
        if not self._drawn or event.x >= self.size.width - 1:
            return
        if event.y < _HEADER:
            column = self._layout.column_at(event.x)
            if column is not None and column.sort is not None:
                self.post_message(self.SortRequested(column.sort))
            return
        y = event.y - _HEADER
        if y >= len(self._drawn):
            return
        row = self._drawn[y][0]
        self.cursor = row.handle
        if event.x in self.rows.mark_at(row, self._layout):
            self._toggle(row.handle)
        elif event.chain == 2:
            self.post_message(self.Activated(row.handle))
