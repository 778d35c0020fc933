"""The tree-table that can turn its columns into bars in time, at the same rows and under the same cursor."""

from collections.abc import Callable, Iterator
from datetime import tzinfo
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.reactive import var

from delegtop.app import keymap
from delegtop.app.state.critical_paths import CriticalPaths
from delegtop.app.state.gantt_window import GanttWindow
from delegtop.app.state.idle_work import IdleWork
from delegtop.app.state.table_rows import TableRows
from delegtop.app.widgets.delegation_tree import DelegationTree
from delegtop.app.widgets.tree_canvas import Key
from delegtop.model.history.extent import extent
from delegtop.model.history.time_window import TimeWindow, hull
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import OutlineRow
from delegtop.report.bars import ASCII, REVERSED, UNICODE, Chart, Ink, bar
from delegtop.report.layout import CellSpan
from delegtop.report.table.columns import COLUMNS, NAME, Layout, Placed, standing_in

_FACTOR = 1.5
"""So much more or less time a step of zooming shows."""
_STEP = 0.1
"""The part of the window that a step to the side moves it by."""
_SLICE = 0.006
"""Seconds of a frame for following critical paths."""
_ACTIONS = frozenset(command.action.partition("(")[0] for command in keymap.GANTT)
_LEAST = 24
"""Cells below which there is only room for names."""
_GAP = CellSpan(" ", "text")


class Gantt(DelegationTree):
    """Columns or bars."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings(keymap.GANTT)]

    charted: var[bool] = var(False, init=False)
    """Whether there are bars."""

    def __init__(
        self,
        rows: TableRows,
        *,
        first: Callable[[], Handle | None] = lambda: None,
        zone: tzinfo | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(rows, first=first, id=id)
        self._zone, self._forest = zone, rows.table.forest
        self._lens = GanttWindow(self._forest)
        self._paths = CriticalPaths(self._forest)
        self._chart = Chart(self._forest, self._lens.window, 0)
        self._roots: dict[Handle, Handle] = {}  # of the rows in view
        self._axis: list[CellSpan] = []
        self._opened = False  # whether bars were ever shown
        self._looking = IdleWork(self, self._look_on, _SLICE)
        self._held: tuple[int, int] | None = None  # where the mouse took hold of the bars, and the window's start then
        self._dragged = False

    def watch_charted(self) -> None:
        if self.charted and not self._opened:  # later it is as the operator left it
            self._opened = True
            self._lens.show_open()
        self._drawn = []
        self._draw()
        self.refresh()

    # Painting

    @property
    def _layout(self) -> Layout:
        if not self.charted:
            return super()._layout
        width = max(self._room.width - 1, 0)
        return _names(width) if width >= _LEAST else self.rows.layout(max(width - 1, 0))

    def _titles(self) -> list[CellSpan]:
        titles = super()._titles()
        return [*titles, CellSpan(" ", "header"), *self._axis] if self.charted else titles

    def _key(self, row: OutlineRow) -> Key:
        if not self.charted:
            return super()._key(row)
        pieces = self._paths.pieces(self._roots[row.handle], row.handle)
        bars = self._chart.row(row.handle, self._forest.delegation(row.handle), pieces)
        return *self.rows.cells(row, self._layout), _GAP, *bars

    def _cells(self, row: OutlineRow, key: Key) -> list[CellSpan]:
        if not self.charted:
            return super()._cells(row, key)
        return [span for span in key if isinstance(span, CellSpan)]

    def _draw(self) -> None:
        if not self.charted:
            super()._draw()
            return
        self._look()
        super()._draw()
        axis = list(self._chart.axis())
        if axis != self._axis:
            self._axis = axis
            self.refresh(Region(0, 0, self.size.width, 1))

    def _look(self) -> None:
        """Settle what time is in view, and the critical paths of the trees that are."""
        cursor = self._view.cursor
        rows = self._view.window()
        self._roots = dict(self._with_roots(rows))
        here = None if cursor is None else self._roots.get(cursor) or self._outermost(cursor)
        roots = dict.fromkeys(self._roots.values())
        if here is not None:
            roots.setdefault(here)
        if not self._paths.follow(roots, _SLICE):
            self._looking.ask()
        self._lens.settle(here, None if here is None else self._paths.extent(here))
        self._chart = Chart(self._forest, self._lens.window, self._bars, ink=self._ink, zone=self._zone)

    def _look_on(self) -> None:
        if self.charted:
            self.update_rows()

    def _with_roots(self, rows: list[OutlineRow]) -> Iterator[tuple[Handle, Handle]]:
        root: Handle | None = None
        for row in rows:
            if root is None or not row.level:
                root = self._outermost(row.handle)
            yield row.handle, root

    def _outermost(self, handle: Handle) -> Handle:
        while (above := self._outline.parent(handle)) is not None:
            handle = above
        return handle

    @property
    def _bars(self) -> int:
        """The cells of the bars."""
        return max(self._room.width - 2 - self._layout.width, 0)

    @property
    def _ink(self) -> Ink:
        signs = {state: self.rows.table.drawing.state(state) for state in State}
        if self.rows.table.drawing.plain:
            return ASCII._replace(caps=signs, thick="")
        if self.app.no_color:
            return UNICODE._replace(caps=signs, reverses=False, grid=" ")
        return UNICODE

    def _style(self, part: str, selected: bool = False) -> Style:
        if not part.startswith(REVERSED):
            return super()._style(part, selected)
        known = self._styles[selected]
        if part not in known:
            known[part] = super()._style(part.removeprefix(REVERSED), selected) + Style(reverse=True)
        return known[part]

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without bars their keys mean what they mean elsewhere."""
        return self.charted if action in _ACTIONS else super().check_action(action, parameters)

    def action_zoom_time(self, by: int) -> None:
        self._zoom(by, self._middle())

    def action_shift_time(self, by: int) -> None:
        self._lens.shift(round(by * _STEP * self._lens.window.span))
        self._draw()

    def action_fit_tree(self) -> None:
        self._lens.fit()
        self._draw()

    def action_fit_row(self) -> None:
        self._show(extent(self._forest, self._view.cursor) if self._view.cursor is not None else None)

    def action_fit_view(self) -> None:
        trees = map(self._paths.extent, dict.fromkeys(self._roots.values()))
        self._show(hull(tree for tree in trees if tree is not None))

    def _show(self, window: TimeWindow | None) -> None:
        if window is not None:
            self._lens.show(window)
            self._draw()

    def action_to_now(self) -> None:
        self._lens.go_to_now()
        self._draw()

    def _middle(self) -> int:
        """The middle of what is in view of the bar under the cursor, or of the window if nothing of it is."""
        window, cursor = self._lens.window, self._view.cursor
        found = None if cursor is None else bar(self._forest, cursor, self._forest.delegation(cursor))
        start, end = window
        if found is not None and found.start < window.end and found.end > window.start:
            start, end = max(found.start, start), min(found.end, end)
        return (start + end) // 2

    def _zoom(self, by: int, at: int) -> None:
        self._lens.zoom(_FACTOR**by, at)
        self._draw()

    # Mouse

    def _moment(self, x: int) -> int | None:
        """The moment under this cell, None beside the bars."""
        x -= self._layout.width + 1
        if not self.charted or not 0 <= x < self._bars:
            return None
        return self._lens.window.moment(x + 0.5, self._bars)

    def _turned(self, event: events.MouseEvent, by: int) -> bool:
        """The wheel with ctrl zooms where the mouse is, with shift it goes through time."""
        at = self._moment(event.x)
        if at is None or not (event.ctrl or event.shift):
            return False
        event.stop()
        if event.ctrl:
            self._zoom(by, at)
        else:
            self.action_shift_time(by)
        return True

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self._turned(event, 1):
            event.prevent_default()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self._turned(event, -1):
            event.prevent_default()

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        if self._moment(event.x) is not None:
            event.stop()
            self.action_shift_time(-1)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        if self._moment(event.x) is not None:
            event.stop()
            self.action_shift_time(1)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._moment(event.x) is not None:
            self._held, self._dragged = (event.x, self._lens.window.start), False
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held is None:
            return
        event.stop()
        x, start = self._held
        moved = round((x - event.x) * self._lens.window.span / max(self._bars, 1))
        if moved or self._dragged:
            self._dragged = True
            self._lens.shift(start + moved - self._lens.window.start)
            self._draw()

    def on_mouse_up(self) -> None:
        if self._held is not None:
            self._held = None
            self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        if self._dragged:  # to let go of the bars is not to choose a row
            self._dragged = False
            event.prevent_default()


def _names(width: int) -> Layout:
    """The columns that stay beside the bars; they take about a third."""
    state, gap, least = (1, 1, 12) if width < 110 else (COLUMNS["state"].width, 2, COLUMNS[NAME].width)
    name = min(max(width // 3 - state, least), 44)
    columns = standing_in(Placed(COLUMNS[NAME], name)), Placed(COLUMNS["state"], state)
    return Layout(1 + name + gap + state, gap, columns)
