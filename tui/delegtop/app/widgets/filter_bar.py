"""The filter line: type a query, see at once what it leaves, or why it cannot be understood."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from delegtop.base.text import line


class FilterBar(Vertical):
    """Hidden until asked for. It parses nothing itself: it says what was typed and shows what it is told."""

    DEFAULT_CSS = """
    FilterBar { height: auto; background: $surface; padding: 0 1; }
    FilterBar > Horizontal { height: 1; }
    FilterBar .slash { width: 2; color: $accent; text-style: bold; }
    FilterBar Input, FilterBar Input:focus { width: 1fr; border: none; padding: 0; height: 1; background: $surface; }
    FilterBar .found { width: auto; padding-left: 2; color: $text-muted; }
    FilterBar Input:focus { background-tint: $surface 0%; }
    FilterBar > .wrong { display: none; height: auto; max-height: 4; padding-left: 2; color: $error; }
    FilterBar > .wrong.-open { display: block; }
    """

    class Typed(Message):
        """The text of the filter is another."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Accepted(Message):
        """Enter was pressed."""

    def __init__(self, placeholder: str = "text  !not  state:overdue,failed  depth>1  left<5m  agent:impl*") -> None:
        super().__init__()
        self.input = Input(placeholder=placeholder, compact=True)
        self._count, self._complaint = Static(Content(), classes="found"), Static(Content(), classes="wrong")
        self._found = ""
        self.display = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(Content("/"), classes="slash")
            yield self.input
            yield self._count
        yield self._complaint

    @property
    def is_wrong(self) -> bool:
        """Whether what was typed means nothing."""
        return self._complaint.has_class("-open")

    @property
    def is_open(self) -> bool:
        return self.display

    def open(self, *, typing: bool = True) -> None:
        # Shown and focused at once, not with the next message: keys typed right after `/` belong to the filter.
        self.display = True
        if typing:
            self.screen.set_focus(self.input)

    def close(self) -> None:
        self.display = False

    def accept(self) -> None:
        """The query means something."""
        self._complaint.remove_class("-open")
        self._count.display = True

    def count(self, found: str) -> None:
        """Say what the query leaves."""
        if found != self._found:
            self._found = found
            self._count.update(Content(found))

    def object(self, reason: str) -> None:
        """Say why the query means nothing."""
        self._complaint.update(Content(line(reason, 300)))
        self._complaint.add_class("-open")
        self._count.display = False  # what it says is of the query before

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        shown = line(event.value)
        if shown != event.value:  # something pasted that would not show as what it is
            self.input.value = shown
            return
        self.post_message(self.Typed(shown))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Accepted())
