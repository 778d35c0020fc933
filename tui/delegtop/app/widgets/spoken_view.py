"""A conversation that scrolls: pieces are wrapped as they come, and only what is in view is painted.

It holds a part of the conversation, and says when the operator comes near an end of it; then more is put before or
behind, and nothing moves under the eyes. At the end of a conversation that goes on it goes along, until one scrolls up.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from delegtop.app.widgets.painting import painted

_NEAR = 2
"""Pages before an end at which more is asked for."""


class ShownPiece:
    """One piece as it is held."""

    __slots__ = ("head", "lines", "unfolded", "what")

    def __init__(self, what: object) -> None:
        self.what = what
        self.unfolded: bool | None = None
        """None for what is usual."""
        self.lines: list[Content] | None = None
        """As it was wrapped last."""
        self.head = 0
        """Which of them the cursor marks."""


class SpokenView(ScrollView):
    """Shows pieces; what one looks like it is told."""

    DEFAULT_CSS = """
    SpokenView {
        height: 1fr; width: 1fr; padding: 0 1; overflow-x: hidden; background: $background;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable; scrollbar-color: $thumb; scrollbar-background: $track;
    }
    SpokenView > .spoken--cursor { background: $row-cursor; color: $foreground; }
    SpokenView:nocolor > .spoken--cursor { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", "down", show=False),
        Binding("up,k", "step(-1)", "up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False),
        Binding("home,g", "edge(-1)", "beginning", show=False),
        Binding("end,G", "edge(1)", "end", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"spoken--cursor"}
    can_focus = True

    class Near(Message):
        """The operator is near the beginning (-1) or the end (1) of what is held."""

        def __init__(self, side: int) -> None:
            super().__init__()
            self.side = side

    class Edge(Message):
        """The operator wants to see the very beginning (-1) or the very end (1)."""

        def __init__(self, side: int) -> None:
            super().__init__()
            self.side = side

    class Chosen(Message):
        """A click on a piece."""

    def __init__(
        self, wrap: Callable[[ShownPiece, ShownPiece | None, int], list[Content]], *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._wrap = wrap
        """The lines of a piece after the one before it, at a width."""
        self.pieces: list[ShownPiece] = []
        self.cursor = 0
        self.words = ""
        """What was searched for is marked."""
        self._tops: list[int] = []
        self._height = 0
        self._width = 0
        self._wanted = 0
        """The line that was scrolled to last."""
        self._moves = False
        self._was_at_end = True
        """Whether the end is in view, or will be as soon as it is laid out: then it stays in view."""

    # What is held

    @property
    def current(self) -> ShownPiece | None:
        return self.pieces[self.cursor] if self.cursor < len(self.pieces) else None

    @property
    def text(self) -> str:
        """All that is held, as plain text."""
        return "\n".join(line.plain for piece in self.pieces for line in piece.lines or ())

    @property
    def is_at_end(self) -> bool:
        return self.scroll_offset.y >= self._height - self._page - 1

    @property
    def _page(self) -> int:
        return self.scrollable_content_region.height

    def show(self, whats: Sequence[object], *, at: int | None = None) -> None:
        """Hold these instead; the cursor goes on the piece of that number, else the view to the end."""
        self.pieces, self.cursor = [ShownPiece(what) for what in whats], 0
        self.lay_out()
        if at is None:
            self._to_end()
        else:
            self.select(at)

    def prepend(self, whats: Sequence[object]) -> None:
        """Put these before the others, which stay where they are on the screen."""
        if self.pieces:
            self.pieces[0].lines = None  # another stands before it now
        place, before = self.scroll_offset.y, self._height
        self.pieces = [*map(ShownPiece, whats), *self.pieces]
        self.cursor = min(self.cursor + len(whats), max(len(self.pieces) - 1, 0))
        self.lay_out()
        self._scroll(place + self._height - before)

    def append(self, whats: Sequence[object], *, follow: bool) -> None:
        """Put these behind the others, and go along if that is wanted and the end is in view."""
        followed, was_last = follow and self._was_at_end, self.cursor >= len(self.pieces) - 1
        self.pieces = [*self.pieces, *map(ShownPiece, whats)]
        self.lay_out()
        if followed:
            self._scroll(self._height)
            self.cursor = len(self.pieces) - 1 if was_last else self.cursor

    def keep(self, first: int, last: int) -> None:
        """Let go of all but the pieces from the one to before the other."""
        place, gone = self.scroll_offset.y, self._tops[first] if first < len(self._tops) else 0
        self.pieces = self.pieces[first:last]
        if first and self.pieces:
            self.pieces[0].lines = None
        self.cursor = max(min(self.cursor - first, len(self.pieces) - 1), 0)
        self.lay_out()
        self._scroll(place - gone)

    def again(self) -> None:
        """All look otherwise now."""
        for piece in self.pieces:
            piece.lines = None
        self.lay_out()
        self.refresh()

    # Laying out

    def on_resize(self, _: Resize) -> None:
        at_end, top = self._was_at_end, self._at(self.scroll_offset.y)
        if self.scrollable_content_region.width != self._width:
            for piece in self.pieces:
                piece.lines = None
            self.lay_out()
            if self._tops and not at_end:
                self._scroll(self._tops[min(top, len(self._tops) - 1)])
        if at_end:
            self.call_after_refresh(self._stay_at_end)

    def _stay_at_end(self) -> None:
        if self._was_at_end:
            self._scroll(self._height)

    def lay_out(self) -> None:
        """Wrap what is not wrapped, and find out where each piece stands."""
        self._width = width = self.scrollable_content_region.width
        self._tops, height, before = [], 0, None
        if width <= 0:
            return
        for piece in self.pieces:
            if piece.lines is None:
                piece.lines = self._wrap(piece, before, width)
            self._tops.append(height)
            height += len(piece.lines)
            before = piece
        self._height = height
        self.virtual_size = Size(width, height)
        self.refresh()
        self.call_after_refresh(self._place_thumb)

    def _place_thumb(self) -> None:
        """A scroll bar that has only come now does not know where the view is."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y

    def _scroll(self, y: int) -> None:
        self._wanted = max(min(y, self._height - self._page), 0)
        self._move(self._wanted)
        self._was_at_end = self._wanted >= self._height - self._page - 1
        if self.scroll_offset.y != self._wanted:  # it knows how far it can go only when it is laid out
            self.call_after_refresh(self._scroll_again, self._wanted)

    def _scroll_again(self, y: int) -> None:
        if self._wanted == y:
            self._move(y)

    def _move(self, y: int) -> None:
        self._moves = True
        self.scroll_to(y=y, animate=False, force=True, immediate=True)
        self._moves = False

    def _to_end(self) -> None:
        self.cursor = max(len(self.pieces) - 1, 0)
        self._scroll(self._height)

    def _at(self, y: int) -> int:
        """The piece that stands on that line."""
        return max(bisect_right(self._tops, y) - 1, 0)

    # Moving

    def select(self, index: int, line: int = 0) -> None:
        """Put the cursor on a piece, and bring its beginning into view, or that line of it."""
        if not self.pieces:
            return
        self.cursor = max(min(index, len(self.pieces) - 1), 0)
        if self._tops:
            top, bottom = self._tops[self.cursor], self._bottom(self.cursor)
            y, page = self.scroll_offset.y, self._page
            if top < y:
                self._scroll(top)
            elif bottom > y + page:
                self._scroll(min(top, bottom - page))
            if line and not 0 <= top + line - self.scroll_offset.y < page:
                self._scroll(top + line - page // 2)
        self.refresh()

    def _bottom(self, index: int) -> int:
        return self._tops[index] + len(self.pieces[index].lines or ())

    def action_step(self, by: int) -> None:
        """To the next piece; through one that is longer than the screen line by line."""
        if not self._tops:
            return
        y, page = self.scroll_offset.y, self._page
        top, bottom = self._tops[self.cursor], self._bottom(self.cursor)
        if not (top < y + page and bottom > y):  # the wheel has left it behind
            self.select(self._at(y if by > 0 else y + page - 1))
        elif (by > 0 and bottom > y + page) or (by < 0 and top < y):
            self._scroll(y + by)
        else:
            self.select(self.cursor + by)
        self.tell_if_near()

    def action_page(self, by: int) -> None:
        step = max(self._page - 1, 1) * by
        self._scroll(self.scroll_offset.y + step)
        if self._tops:
            y = self.scroll_offset.y
            self.cursor = self._at(y if by < 0 else min(y + self._page - 1, self._height - 1))
        self.refresh()
        self.tell_if_near()

    def action_edge(self, side: int) -> None:
        self.post_message(self.Edge(side))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            if not self._moves and self.max_scroll_y == max(self._height - self._page, 0):
                self._was_at_end = self.is_at_end  # by the wheel, or the bar, and not because it is not laid out yet
            self.tell_if_near()

    def tell_if_near(self) -> None:
        """Say so if an end of what is held is near."""
        y, page = self.scroll_offset.y, max(self._page, 1)
        if y < _NEAR * page:
            self.post_message(self.Near(-1))
        if y > self._height - (1 + _NEAR) * page:
            self.post_message(self.Near(1))

    def on_click(self, event: Click) -> None:
        index = self._at(event.y + self.scroll_offset.y)
        if index < len(self.pieces):
            event.stop()
            again = index == self.cursor
            self.cursor = index
            self.refresh()
            if again:
                self.post_message(self.Chosen())

    # Painting

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        base: Style = self.visual_style
        if place >= self._height or not self._tops:
            return Strip.blank(width, base.rich_style)
        index = self._at(place)
        lines = self.pieces[index].lines or [Content()]
        within = place - self._tops[index]
        if self.has_focus and index == self.cursor and within == self.pieces[index].head:
            base += Style.from_styles(self.get_component_styles("spoken--cursor"))
        line = lines[min(within, len(lines) - 1)]
        if self.words:
            line = line.highlight_regex(re.compile(re.escape(self.words), re.IGNORECASE), style="reverse")
        return painted(line, base, width)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
