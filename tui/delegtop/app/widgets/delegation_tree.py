"""The tree-table: a million delegations in one widget, with a cursor, keys and a mouse.

It owns no data. `Rows` tells what a row says, the outline which rows there are, the viewport where the operator looks,
and the canvas below it draws them.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.reactive import var

from delegtop.app.state.table_rows import TableRows
from delegtop.app.widgets.scrollbar import thumb, top_for
from delegtop.app.widgets.tree_canvas import HEADER, TreeCanvas
from delegtop.app.widgets.viewport import Viewport
from delegtop.base.clock import monotonic
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import OutlineRow

_WHEEL = 3
_MOST_MARKS = 200
"""More problems than this are not painted on the scrollbar: finding their rows would cost more than the frame."""
_MARKS_EVERY = 1.0
"""Seconds between two looks for them."""


class DelegationTree(TreeCanvas, can_focus=True):
    """Delegations as a tree with columns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False, id="tree-up", tooltip="One row up"),
        Binding("down,j", "move(1)", "down", show=False, id="tree-down", tooltip="One row down"),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False, id="tree-page-up", tooltip="One page up"),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False, id="tree-page-down", tooltip="One page down"),
        Binding("ctrl+u", "half_page(-1)", "half page up", show=False, id="tree-half-up", tooltip="Half a page up"),
        Binding(
            "ctrl+d", "half_page(1)", "half page down", show=False, id="tree-half-down", tooltip="Half a page down"
        ),
        Binding("home,g", "first", "first", show=False, id="tree-first", tooltip="The first row"),
        Binding("end,G", "last", "last", show=False, id="tree-last", tooltip="The last row"),
        Binding("left,h", "out", "out", show=False, id="tree-left", tooltip="Fold, or go to the parent"),
        Binding("right,l", "into", "into", show=False, id="tree-right", tooltip="Unfold, or go to the first child"),
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

    def __init__(
        self, rows: TableRows, *, first: Callable[[], Handle | None] = lambda: None, id: str | None = None
    ) -> None:
        super().__init__(rows, id=id)
        self._outline = rows.outline
        self._view = Viewport(rows.outline, first)
        self._told: Handle | None = None  # the cursor, as last told to the screen
        self._revision = -1
        self._forest = rows.table.forest
        self._counted: Handle | None = None  # up to this one it is known which are news
        self._last_news: Handle | None = None
        self._looked_from = 0  # nothing that was last heard of before is news
        self._newest: Handle | None = None  # the one that is followed
        self._compared: Handle | None = None  # up to this one it is known that none is newer
        self._problems: tuple[Handle, ...] = ()
        self._marks_due = 0.0

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

    def in_view(self) -> list[Handle]:
        """The delegations in view, and the one under the cursor."""
        rows = [row.handle for row in self._outline.window(self._view.top, self._view.page)]
        return rows if self.cursor is None else [*rows, self.cursor]

    def update_rows(self, structural: bool = False) -> None:
        """Data or time changed: look at the rows in view and repaint those that differ."""
        self._settle(structural)
        if self.follow:
            self._follow()
        self._draw()

    def mark_problems(self, handles: Iterable[Handle]) -> None:
        """These are painted on the scrollbar, if they are not too many."""
        problems = tuple(handles)
        if problems != self._problems:
            self._problems = problems
            self._marks_due = min(self._marks_due, monotonic() + _MARKS_EVERY)

    def seen(self) -> None:
        """Whatever came so far is no news, nor is what was over by now and is read later."""
        self._counted, self._last_news = self._outline.newest, None
        self._looked_from = self._forest.shown_at
        self.pending = 0

    def replace_forest(self, before: Forest, now: Forest) -> None:
        """The rows are those of another moment: the cursor stays on its delegation, and nothing of it is news."""
        self._view.replace_forest(before, now)
        self._told = self._newest = self._compared = None
        self.seen()
        self.update_rows(True)  # at once: what is on the screen may not be there any more when it is painted again

    def stay(self) -> None:
        """The operator has taken up the row of the cursor, and finds it there again afterwards."""
        self.follow = False
        self._view.stay()

    def expect(self, id: str) -> None:
        """Put the cursor on this delegation as soon as it is there."""
        self._view.expect(id, self.rows.table.forest.find)
        self.follow = False
        self.update_rows(True)

    def go_to_newest(self) -> None:
        """Put the cursor on the newest delegation of all that are shown."""
        self._newest = self._compared = None
        self._follow()
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

    def _follow(self) -> None:
        """Go to the newest, if there is one that is newer than where this was last."""
        before, first, last = self._newest, self._compared, self._outline.newest
        if last is None or last == first:
            return
        came = range(0 if first is None else first + 1, last + 1)
        shown = filter(self._outline.shows, came if before is None else (before, *came))
        self._newest, self._compared = max(shown, key=self._came_at, default=None), last
        if self._newest is None or self._newest == before:
            return
        self._outline.reveal(self._newest)
        row = self._outline.row_of(self._newest)
        if row is not None:  # a focus on another subtree leaves it out
            self._view.select(row)

    def _came_at(self, handle: Handle) -> tuple[int, Handle]:
        """When it began, else when it was last heard of: what is read first need not be the oldest."""
        unknown, start, _ = self._forest.birth(handle)
        return (self._forest.times(handle)[1] or 0) if unknown else start, handle

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

    # From the rows to the screen

    def _draw(self) -> None:
        """Put the rows in view on the screen."""
        view = self._view
        window = view.window()
        bar = thumb(view.top, view.page, len(self._outline), view.page)
        self._count_pending(window)
        if view.cursor != self._told:
            self._told = view.cursor
            self.post_message(self.Highlighted(view.cursor))
        self._repaint_rows(window, view.cursor, bar, self._find_marks(scrolls=bar is not None))

    def _count_pending(self, window: list[OutlineRow]) -> None:
        known, last = self._counted, self._outline.newest
        self._counted = last
        if known is not None and last is not None and known != last:
            self._looked_from = min(self._looked_from, self._forest.shown_at)  # somebody may have set the clock back
            news = [handle for handle in range(known + 1, last + 1) if self._is_news(handle)]
            if news:
                self._last_news = news[-1]
                self.pending += len(news)
        if self.pending and any(row.handle == self._last_news for row in window):
            self.pending = 0

    def _is_news(self, handle: Handle) -> bool:
        """Whether it has a row, and was heard of since somebody looks: nothing old that is only read now."""
        if not self._outline.shows(handle):
            return False
        unknown, start, _ = self._forest.birth(handle)
        if not unknown and start >= self._looked_from:  # as most
            return True
        heard = self._forest.times(handle)[1]
        return (unknown and not heard) or (heard or 0) >= self._looked_from

    def _find_marks(self, *, scrolls: bool) -> frozenset[int]:
        """Where on the scrollbar the problems are; not with every frame, for it asks for the row of each of them."""
        if monotonic() < self._marks_due:
            return self._marks
        self._marks_due = float("inf")
        if not scrolls or len(self._problems) > _MOST_MARKS:
            return frozenset()
        total, length = len(self._outline), self._view.page
        rows = map(self._outline.row_of, self._problems)
        return frozenset(row * length // total for row in rows if row is not None)

    def on_resize(self) -> None:
        if self.size != self._room:
            self._fit()

    def _fit(self) -> None:
        super()._fit()
        self._view.settle()
        self._view.resize(max(self._room.height - HEADER, 0))
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

    def action_half_page(self, by: int) -> None:
        self.follow = False
        self._settle()
        self._view.turn(by, share=0.5)
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
        y = event.y - HEADER
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
            self._drag(event.y - HEADER)

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
        self.refresh(Region(self.size.width - 1, HEADER, 1, page))

    def on_click(self, event: events.Click) -> None:
        if not self._drawn or event.x >= self.size.width - 1:
            return
        if event.y < HEADER:
            column = self._layout.column_at(event.x)
            if column is not None and column.sort is not None:
                self.post_message(self.SortRequested(column.sort))
            return
        y = event.y - HEADER
        if y >= len(self._drawn):
            return
        row = self._drawn[y].row
        self.cursor = row.handle
        if event.x in self.rows.mark_at(row, self._layout):
            self._toggle(row.handle)
        elif event.chain == 2:
            self.post_message(self.Activated(row.handle))
