"""A page of text that scrolls: labelled facts with hanging indents, headings and prose, wrapped to the width.

It is drawn line by line, so a log line of a megabyte or a thousand activities cost no more than what is visible.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content, Span
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from delegtop.app.widgets.kept_lines import KeptLines
from delegtop.app.widgets.painting import painted

LABEL = 14


class CopyableCommand(NamedTuple):
    """A command that can be copied: what a line of a page may stand for."""

    text: str


class LabelledFact(NamedTuple):
    """`label   value`, the value wrapped under itself."""

    label: str | Content
    value: Content
    indent: int = LABEL
    target: object = None
    """What `enter` on it chooses."""


class Beside(NamedTuple):
    """Two columns where there is room for them, else one under the other."""

    left: Sequence["Block"]
    right: Sequence["Block"]


Block = LabelledFact | Content | Beside

_TWO_COLUMNS = 110
_GAP = 3
_BLANK = Content()
_LONG = 2_000
"""Characters from which a value is not remembered as it was wrapped."""


class Sheet(KeptLines, ScrollView):
    """Shows blocks; replacing them keeps the place of reading and repaints only if something differs."""

    DEFAULT_CSS = """
    Sheet {
        height: 1fr; width: 1fr; padding: 0 1; overflow-x: hidden;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable; scrollbar-color: $thumb; scrollbar-background: $track;
    }
    Sheet > .sheet--target { background: $row-cursor; }
    Sheet:nocolor > .sheet--target { text-style: reverse; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", "down", show=False),
        Binding("up,k", "step(-1)", "up", show=False),
        Binding("enter", "choose", "choose", show=False),
        Binding("g", "scroll_home", "top", show=False),
        Binding("G", "scroll_end", "bottom", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"sheet--target"}
    can_focus = True

    class Chosen(Message):
        """`enter` or a click on a line that stands for something."""

        def __init__(self, target: object) -> None:
            super().__init__()
            self.target = target

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: Sequence[Block] = ()
        self._wrapped: list[tuple[Block, list[Content]]] = []
        """The blocks with their lines, at the width before the page was last looked at."""
        self._joined = JoinedLines()
        self._width = 0
        self._lines: list[Content] = []
        self._targets: list[tuple[int, object]] = []
        """The lines that can be chosen, from the top."""
        self._cursor = 0
        """Which of them would be."""

    @property
    def text(self) -> str:
        """All of the page as plain text, wrapped as it is shown."""
        return "\n".join(line.plain for line in self._lines)

    def show(self, blocks: Sequence[Block], *, top: bool = False) -> None:
        """Replace the page; `top` starts it from its beginning."""
        self._blocks = blocks
        if top:
            self._cursor = 0
        self._wrap()
        if top:
            self.scroll_to(y=0, animate=False, force=True)

    def on_resize(self, _: Resize) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        before = self._wrapped if width == self._width else []
        same = [at < len(before) and is_same(block, before[at][0]) for at, block in enumerate(self._blocks)]
        joined = self._joined
        wrapped = [
            (block, before[at][1] if same[at] else wrap(block, width, joined)) for at, block in enumerate(self._blocks)
        ]
        joined.settle()
        self._width, self._wrapped = width, wrapped
        lines: list[Content] = []
        self._targets = []
        for block, made in wrapped:
            if isinstance(block, LabelledFact) and block.target is not None:
                self._targets.append((len(lines), block.target))
            lines += made
        self._cursor = max(min(self._cursor, len(self._targets) - 1), 0)
        old, self._lines = self._lines, lines
        if len(old) != len(lines):
            self.virtual_size = Size(width, len(lines))
            self.refresh()
            return
        for y, (was, line) in enumerate(zip(old, lines, strict=True)):
            if was is not line and not was.is_same(line):
                self.refresh(Region(0, y - self.scroll_offset.y, width, 1))  # the scrollbar stays as it is

    # Choosing

    @property
    def target(self) -> object:
        """What `enter` would choose, if it is in view."""
        if not self._targets or not self._in_view(self._targets[self._cursor][0]):
            return None
        return self._targets[self._cursor][1]

    def _in_view(self, line: int, slack: int = 0) -> bool:
        return -slack <= line - self.scroll_offset.y < self.scrollable_content_region.height + slack

    def action_step(self, by: int) -> None:
        """To the next line that can be chosen if it is near, else one line on."""
        near = [index for index, (line, _) in enumerate(self._targets) if self._in_view(line, slack=1)]
        if self._cursor in near:
            near = [index for index in near if (index - self._cursor) * by > 0]
        if not near:
            self.scroll_relative(y=by, animate=False)
            return
        self._select(near[0] if by > 0 else near[-1])

    def _select(self, index: int) -> None:
        self._cursor = index
        line = self._targets[index][0] - self.scroll_offset.y
        height = self.scrollable_content_region.height
        if not 0 <= line < height:
            self.scroll_relative(y=line if line < 0 else line - height + 1, animate=False)
        self.refresh()

    def action_choose(self) -> None:
        if self.target is None:
            raise SkipAction
        self.post_message(self.Chosen(self.target))

    def on_click(self, event: Click) -> None:
        line = event.y + self.scroll_offset.y - self.gutter.top
        for index, (place, target) in enumerate(self._targets):
            if place == line:
                event.stop()
                self._select(index)
                self.post_message(self.Chosen(target))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        base: Style = self.visual_style
        if self.has_focus and self._targets and self._targets[self._cursor][0] == index:
            base += Style.from_styles(self.get_component_styles("sheet--target"))
        if index >= len(self._lines):
            return Strip.blank(width, base.rich_style)
        return painted(self._lines[index], base, width)


def is_same(one: Block, other: Block) -> bool:
    """Whether two blocks look the same: most of a page stays as it was a second before."""
    if isinstance(one, Content):
        return isinstance(other, Content) and one.is_same(other)
    if isinstance(one, Beside):
        return isinstance(other, Beside) and _are_same(one.left, other.left) and _are_same(one.right, other.right)
    if not isinstance(other, LabelledFact) or (one.indent, one.target) != (other.indent, other.target):
        return False
    if isinstance(one.label, Content) or isinstance(other.label, Content):
        labels = isinstance(one.label, Content) and isinstance(other.label, Content) and one.label.is_same(other.label)
    else:
        labels = one.label == other.label
    return labels and one.value.is_same(other.value)


def _are_same(some: Sequence[Block], others: Sequence[Block]) -> bool:
    return len(some) == len(others) and all(map(is_same, some, others))


class JoinedLines:
    """Two columns line by line. Where neither line is another than when the page was last looked at, nor is both."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, int, int], tuple[Content, Content, Content]] = {}
        self._now = self._before.copy()

    def join(self, one: Content, other: Content, at: int) -> Content:
        """The second line begins at that cell."""
        key = id(one), id(other), at
        known = self._before.get(key)  # as long as these two are kept, no other has their ids
        whole = one.pad_right(at - one.cell_length) + other if known is None else known[2]
        self._now[key] = one, other, whole
        return whole

    def settle(self) -> None:
        """The page has been looked at: what is not on it any more is forgotten."""
        if self._now:
            self._before, self._now = self._now, {}


def wrap(block: Block, width: int, joined: JoinedLines | None = None) -> list[Content]:
    """The lines of one block at a width."""
    if isinstance(block, Content):
        return _lines(block, width)
    if isinstance(block, Beside):
        return _beside(block, width, joined or JoinedLines())
    if len(block.value) > _LONG or isinstance(block.label, Content):
        return _hung(block, width)
    return _known(block.label, block.value.plain, tuple(block.value.spans), block.indent, width)


@lru_cache(512)
def _known(label: str, text: str, spans: tuple[Span, ...], indent: int, width: int) -> list[Content]:
    """A page is made anew every second; few of its facts are others then."""
    return _hung(LabelledFact(label, Content(text, list(spans)), indent), width)


def _hung(fact: LabelledFact, width: int) -> list[Content]:
    """The value under itself, beside its label."""
    indent = fact.indent if width > 2 * fact.indent else 2
    label = fact.label if isinstance(fact.label, Content) else Content.styled(fact.label, "$row-muted")
    value = _lines(fact.value, max(width - indent, 1))
    if label.cell_length >= indent:
        return [label, *(line.pad_left(indent) for line in value)]
    return [label.pad_right(indent - label.cell_length) + value[0], *(line.pad_left(indent) for line in value[1:])]


def _lines(content: Content, width: int) -> list[Content]:
    """The text wrapped; most of it fits."""
    plain = content.plain
    if content.cell_length <= width and "\n" not in plain and "\t" not in plain:
        return [content]
    return content.wrap(width)


def _beside(block: Beside, width: int, joined: JoinedLines) -> list[Content]:
    if width < _TWO_COLUMNS:
        return [line for part in (*block.left, *block.right) for line in wrap(part, width)]
    half = (width - _GAP) // 2
    left = [line for part in block.left for line in wrap(part, half)]
    right = [line for part in block.right for line in wrap(part, half)]
    return [joined.join(one, other, half + _GAP) for one, other in zip_longest(left, right, fillvalue=_BLANK)]
