"""The list of problems: one line each, of which only those in view are made."""

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
from delegtop.diagnosis.assessment import Assessment

Say = Callable[[Assessment, int], Content]


class ProblemList(ScrollView):
    """Keeps the cursor on its problem while others come and go; if it goes, on what takes its place."""

    DEFAULT_CSS = """
    ProblemList {
        overflow-x: hidden; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        scrollbar-color: $thumb; scrollbar-background: $track;
    }
    ProblemList > .problem--cursor { background: $row-cursor-blurred; color: $foreground; }
    ProblemList:focus > .problem--cursor { background: $row-cursor; color: $foreground; }
    ProblemList:nocolor > .problem--cursor { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", "down", show=False),
        Binding("up,k", "step(-1)", "up", show=False),
        Binding("pagedown", "turn(1)", "page down", show=False),
        Binding("pageup", "turn(-1)", "page up", show=False),
        Binding("home,g", "step(-1000000000)", "first", show=False),
        Binding("end,G", "step(1000000000)", "last", show=False),
        Binding("enter", "choose", "choose", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"problem--cursor"}
    can_focus = True

    class Highlighted(Message):
        """The cursor is on another problem."""

    class Chosen(Message):
        """`enter`, or a second click, on a problem."""

    def __init__(self, say: Say) -> None:
        super().__init__()
        self._say = say
        self._problems: Sequence[Assessment] = ()
        self._cursor = 0
        self.moved = False
        """Whether the operator chose what is under the cursor."""

    @property
    def current(self) -> Assessment | None:
        return self._problems[self._cursor] if self._problems else None

    @property
    def problems(self) -> Sequence[Assessment]:
        return self._problems

    @property
    def place(self) -> int:
        """Which of them it is, from 1 on."""
        return self._cursor + 1 if self._problems else 0

    def show(self, problems: Sequence[Assessment]) -> None:
        """Replace the list. Until the operator first moves, the worst stays under the cursor."""
        held = self.current
        self._problems = problems
        if held is not None and self.moved:
            row = next((row for row, each in enumerate(problems) if each.handle == held.handle), None)
            self._cursor = self._cursor if row is None else row
        self._cursor = max(min(self._cursor, len(problems) - 1), 0)
        self._fit()
        self.refresh()
        if self.current is None or held is None or self.current.handle != held.handle:
            self.post_message(self.Highlighted())

    def forget(self) -> None:
        """What is listed is of another moment: nothing of it may be painted, and no choice of it holds."""
        self._problems, self.moved = (), False

    def on_resize(self, _: Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._problems))
        self._bring_into_view()

    def select(self, row: int) -> None:
        self.moved = True
        row = max(min(row, len(self._problems) - 1), 0)
        if row != self._cursor:
            self._cursor = row
            self._bring_into_view()
            self.refresh()
            self.post_message(self.Highlighted())

    def _bring_into_view(self) -> None:
        height, top = self.scrollable_content_region.height, self.scroll_offset.y
        if height and not top <= self._cursor < top + height:
            self.scroll_to(
                y=self._cursor if self._cursor < top else self._cursor - height + 1, animate=False, force=True
            )

    def action_step(self, by: int) -> None:
        self.select(self._cursor + by)

    def action_turn(self, pages: int) -> None:
        self.select(self._cursor + pages * max(self.scrollable_content_region.height - 1, 1))

    def action_choose(self) -> None:
        if self._problems:
            self.post_message(self.Chosen())

    def on_click(self, event: Click) -> None:
        row = event.y + self.scroll_offset.y - self.gutter.top
        if not 0 <= row < len(self._problems):
            return
        event.stop()
        self.select(row)
        if event.chain > 1:
            self.action_choose()

    def render_line(self, y: int) -> Strip:
        width, row = self.scrollable_content_region.width, y + self.scroll_offset.y
        base: Style = self.visual_style
        if row >= len(self._problems):
            return Strip.blank(width, base.rich_style)
        if row == self._cursor:
            base += Style.from_styles(self.get_component_styles("problem--cursor"))
        return painted(self._say(self._problems[row], width), base, width)
