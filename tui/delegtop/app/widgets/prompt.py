"""A line to type into, at the top of the monitor: for a search, or for a command."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from delegtop.base.text import line


class Prompt(Horizontal):
    """Hidden until asked for. It says what was typed and whether that was meant; what it means others know."""

    DEFAULT_CSS = """
    Prompt { height: 1; background: $surface; display: none; padding: 0 1; }
    Prompt .sign { width: 2; color: $accent; text-style: bold; }
    Prompt Input, Prompt Input:focus {
        width: 1fr; border: none; padding: 0; height: 1; background: $surface; background-tint: $surface 0%;
    }
    Prompt .answer {
        width: auto; max-width: 70%; padding-left: 2; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis;
    }
    Prompt .answer.-wrong { color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("tab", "further", "further", show=False),
    ]

    class Said(Message):
        """What the line has to say. Its kinds are no kinds of each other: who hears one does not hear another."""

        def __init__(self, prompt: "Prompt", text: str = "") -> None:
            super().__init__()
            self.prompt, self.text = prompt, text

        @property
        def control(self) -> "Prompt":
            return self.prompt

    class Typed(Said):
        """The text is another."""

    class Accepted(Said):
        """Enter was pressed."""

    class Further(Said):
        """Tab was pressed: what was typed is to be looked for further on."""

    class Left(Said):
        """The operator thought better of it."""

    def __init__(self, sign: str, placeholder: str, id: str) -> None:
        super().__init__(id=id)
        self._sign, self._placeholder = sign, placeholder
        self._input, self._answer = Input(placeholder=placeholder, compact=True), Static(Content(), classes="answer")

    def compose(self) -> ComposeResult:
        yield Static(Content(self._sign), classes="sign")
        yield self._input
        yield self._answer

    @property
    def text(self) -> str:
        return self._input.value

    def open(self, text: str = "") -> None:
        # Shown and focused at once, not with the next message: keys typed right after belong here.
        self.display = True
        self._input.value = text
        self._input.cursor_position = len(text)
        self.answer("")
        self.screen.set_focus(self._input)

    def close(self) -> None:
        self.display = False

    def answer(self, words: str, *, wrong: bool = False) -> None:
        """Say what comes of what was typed."""
        self._answer.set_class(wrong, "-wrong")
        self._answer.update(Content(line(words, 200)))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        shown = line(event.value, 400)
        if shown != event.value:  # something pasted that would not show as what it is
            self._input.value = shown
            return
        self.post_message(self.Typed(self, shown))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Accepted(self, self.text))

    def action_leave(self) -> None:
        self.post_message(self.Left(self))

    def action_further(self) -> None:
        self.post_message(self.Further(self, self.text))
