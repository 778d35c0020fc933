"""A page of text that scrolls: labelled facts with hanging indents, headings and prose, wrapped to the width.

It is drawn line by line, so a log line of a megabyte or a thousand activities cost no more than what is visible.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

LABEL = 14


class Fact(NamedTuple):
    """`label   value`, the value wrapped under itself."""

    label: str | Content
    value: Content
    indent: int = LABEL


class Beside(NamedTuple):
    """Two columns where there is room for them, else one under the other."""

    left: Sequence["Block"]
    right: Sequence["Block"]


Block = Fact | Content | Beside

_TWO_COLUMNS = 110
_GAP = 3


class Sheet(ScrollView):
    """Shows blocks; replacing them keeps the place of reading and repaints only if something differs."""

    DEFAULT_CSS = """
    Sheet {
        height: 1fr; width: 1fr; padding: 0 1; overflow-x: hidden;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable; scrollbar-color: $thumb; scrollbar-background: $track;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "scroll down", show=False),
        Binding("k", "scroll_up", "scroll up", show=False),
        Binding("g", "scroll_home", "top", show=False),
        Binding("G", "scroll_end", "bottom", show=False),
    ]

    can_focus = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: Sequence[Block] = ()
        self._lines: list[Content] = []

    @property
    def text(self) -> str:
        """All of the page as plain text, wrapped as it is shown."""
        return "\n".join(line.plain for line in self._lines)

    def show(self, blocks: Sequence[Block], *, top: bool = False) -> None:
        """Replace the page; `top` starts it from its beginning."""
        self._blocks = blocks
        self._wrap()
        if top:
            self.scroll_to(y=0, animate=False, force=True)

    def on_resize(self, _: Resize) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        lines = [line for block in self._blocks for line in wrap(block, width)]
        old, self._lines = self._lines, lines
        if len(old) != len(lines):
            self.virtual_size = Size(width, len(lines))
            self.refresh()
            return
        for y, (before, after) in enumerate(zip(old, lines, strict=True)):
            if not before.is_same(after):
                self.refresh(Region(0, y - self.scroll_offset.y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        base: Style = self.visual_style
        if index >= len(self._lines):
            return Strip.blank(width, base.rich_style)
        pieces = self._lines[index].render(base, "", parse_style=_style)
        segments = [Segment(text, (base + style).rich_style) for text, style in pieces]
        return Strip(segments).adjust_cell_length(width, base.rich_style)


def _style(style: str | Style) -> Style:
    return style if isinstance(style, Style) else Style.parse(style)


def wrap(block: Block, width: int) -> list[Content]:
    """The lines of one block at a width."""
    if isinstance(block, Content):
        return block.wrap(width)
    if isinstance(block, Beside):
        return _beside(block, width)
    indent = block.indent if width > 2 * block.indent else 2
    label = block.label if isinstance(block.label, Content) else Content.styled(block.label, "$row-muted")
    value = block.value.wrap(max(width - indent, 1))
    if label.cell_length >= indent:
        return [label, *(line.pad_left(indent) for line in value)]
    return [label.pad_right(indent - label.cell_length) + value[0], *(line.pad_left(indent) for line in value[1:])]


def _beside(block: Beside, width: int) -> list[Content]:
    if width < _TWO_COLUMNS:
        return [line for part in (*block.left, *block.right) for line in wrap(part, width)]
    half = (width - _GAP) // 2
    left = [line for part in block.left for line in wrap(part, half)]
    right = [line for part in block.right for line in wrap(part, half)]
    blank = Content()
    return [
        one.pad_right(half + _GAP - one.cell_length) + other for one, other in zip_longest(left, right, fillvalue=blank)
    ]
