"""Where the operator looks: the first row in view and the cursor. No widget, no painting.

Both are held by delegation and not by row number, so that nothing moves under the operator's eyes when rows come,
go or change places: the cursor keeps its delegation and its place on the screen; out of view, the first row does.
Until the operator first moves or takes up a row, the cursor is on what presses most.
"""

from collections.abc import Callable

from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import Outline, OutlineRow


class Viewport:
    """A page of rows and a cursor over an outline."""

    def __init__(self, outline: Outline, first: Callable[[], Handle | None] = lambda: None) -> None:
        self.outline = outline
        self._first = first
        """The delegation to begin with, if one presses."""
        self.page = 0
        """Rows that fit."""
        self.top = 0
        self.cursor: Handle | None = None
        self.row = 0
        """The row of the cursor."""
        self._anchor: tuple[Handle, int] | None = None  # this delegation stays so many rows below the top
        self._moved = False
        self._absent: tuple[str, Callable[[str], Handle | None]] | None = None  # the cursor's, while it is not there

    def window(self) -> list[OutlineRow]:
        """The rows in view."""
        window = self.outline.window(self.top, self.page)
        if self.cursor is not None and 0 <= self.row - self.top < len(window):
            self._anchor = self.cursor, self.row - self.top
        else:
            self._anchor = (window[0].handle, 0) if window else None
        return window

    def stay(self) -> None:
        """The operator has taken up what the cursor is on: it stays there, whatever presses more."""
        self._moved = True

    def expect(self, id: str, find: Callable[[str], Handle | None]) -> None:
        """Put the cursor on this delegation as soon as it is there."""
        self._moved, self._absent = True, (id, find)

    def replace_forest(self, before: Forest, now: Forest) -> None:
        """The same delegations have other handles now. One that is not there is waited for until the operator moves."""
        if self._absent is not None:
            wanted: str | None = self._absent[0]
        else:
            wanted = None if self.cursor is None else before.full_id(self.cursor)
        self._absent = None if wanted is None else (wanted, now.find)
        self.cursor = None if self.cursor is None else now.same(before, self.cursor)
        held = None if self._anchor is None else now.same(before, self._anchor[0])
        self._anchor = None if held is None or self._anchor is None else (held, self._anchor[1])

    def settle(self) -> None:
        """Rows came, went or moved: find the cursor and the view again."""
        found = self._absent and self._absent[1](self._absent[0])
        if found is not None:
            self.cursor, self._absent, self._anchor = found, None, None
        if not len(self.outline):
            self.top, self.row, self.cursor, self._anchor = 0, 0, None, None
            return
        if not self._moved:
            self._begin()
            return
        held, anchor = self.cursor, self._anchor
        self.row = self._row_near(held)
        self.cursor = self.outline.at(self.row)
        if anchor is not None:
            row = self.row if anchor[0] == held else self.outline.row_of(anchor[0])
            self.top = self.top if row is None else row - anchor[1]
        self._clamp()
        if found is not None:
            self._bring_into_view()

    def _begin(self) -> None:
        first = self._first()
        row = None if first is None else self.outline.row_of(first)
        self.row = row or 0
        self.top, self.cursor = 0, self.outline.at(self.row)
        self._bring_into_view()

    def select(self, row: int) -> None:
        """Put the cursor on this row, or the nearest there is, and bring it into view."""
        count = len(self.outline)
        if not count:
            return
        self._moved, self._absent = True, None
        self.row = max(min(row, count - 1), 0)
        self.cursor = self.outline.at(self.row)
        self._bring_into_view()

    def turn(self, pages: int, *, share: float = 1.0) -> None:
        """Move view and cursor together, by whole pages or a share of each."""
        rows = pages * max(int((self.page - 1) * share), 1)
        self.scroll(self.top + rows)
        self.select(self.row + rows)

    def scroll(self, top: int) -> None:
        """Move the view and leave the cursor where it is."""
        self._moved = True
        self.top = top
        self._clamp()

    def resize(self, page: int) -> None:
        """The cursor stays in view if it was."""
        in_view = self._anchor is None or self._anchor[0] == self.cursor
        self.page = page
        self._clamp()
        if in_view:
            self._bring_into_view()

    def _row_near(self, handle: Handle | None) -> int:
        """The row of this delegation, or of the fold that hides it, or else the row the cursor was in."""
        outline = self.outline
        while handle is not None:
            row = outline.row_of(handle)
            if row is not None:
                return row
            handle = outline.parent(handle)
        return min(self.row, len(outline) - 1)

    def _bring_into_view(self) -> None:
        if self.page:
            self.top = max(min(self.top, self.row), self.row - self.page + 1)
            self._clamp()

    def _clamp(self) -> None:
        self.top = max(min(self.top, len(self.outline) - self.page), 0)
