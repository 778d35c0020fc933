"""One line of words, some of which can be clicked: the base of the vitals, the tabs and the key bar."""

from collections.abc import Sequence
from operator import is_
from typing import NamedTuple

from textual.content import Content
from textual.events import Click, Leave, MouseMove
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from delegtop.app.widgets.kept_lines import KeptLines
from delegtop.app.widgets.painting import painted


class Chip(NamedTuple):
    """A piece of the line. A chip without a name is only text."""

    text: Content
    name: str = ""


class Chips(KeptLines, Widget):
    """Chips in a row. Clicking one posts `Chosen`; nothing is repainted unless the line has really changed."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Chips { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    class Chosen(Message):
        def __init__(self, chips: "Chips", name: str) -> None:
            super().__init__()
            self.chips = chips
            self.name = name

        @property
        def control(self) -> "Chips":
            return self.chips

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._chips: Sequence[Chip] = ()
        self._line = Content()
        self._hovered = ""

    @property
    def room(self) -> int:
        """Columns for the line. Until the first layout, those that the whole screen has: the first picture has it."""
        return self.size.width or self.app.size.width - self.gutter.width

    @property
    def line(self) -> Content:
        """The whole line as it is shown."""
        return self._line

    def show(self, chips: Sequence[Chip]) -> None:
        if len(chips) == len(self._chips) and all(map(is_, chips, self._chips)):
            return
        self._lay(chips)

    def _lay(self, chips: Sequence[Chip]) -> None:
        line = Content.assemble(*(self._dressed(chip) for chip in chips))
        self._chips = chips
        if not line.is_same(self._line):
            self._line = line
            self.refresh()

    def _dressed(self, chip: Chip) -> Content:
        return chip.text.stylize("underline") if chip.name and chip.name == self._hovered else chip.text

    def render(self) -> Content:
        return self._line

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.visual_style.rich_style)
        return painted(self._line.truncate(width, ellipsis=True), self.visual_style, width)

    def name_at(self, x: int) -> str:
        """The name of the chip at a column, or nothing."""
        left = 0
        for chip in self._chips:
            left += chip.text.cell_length
            if x < left:
                return chip.name
        return ""

    def on_click(self, event: Click) -> None:
        if name := self.name_at(event.x - self.gutter.left):
            event.stop()
            self.post_message(self.Chosen(self, name))

    def on_mouse_move(self, event: MouseMove) -> None:
        self._hover(self.name_at(event.x - self.gutter.left))

    def on_leave(self, _: Leave) -> None:
        self._hover("")

    def _hover(self, name: str) -> None:
        if name != self._hovered:
            self._hovered = name
            self._lay(self._chips)


def fitting(chips: Sequence[Chip], width: int) -> list[Chip]:
    """As many chips from the left as fit into `width`."""
    kept: list[Chip] = []
    for chip in chips:
        width -= chip.text.cell_length
        if width < 0:
            break
        kept.append(chip)
    return kept
