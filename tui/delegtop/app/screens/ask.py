"""A question with one line for the answer."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from delegtop.app.screens.dialog import Dialog


class Ask(Dialog[str | None]):
    """Gives back what was typed, or None if the operator went away; an answer that will not do is not taken."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", id="ask-back")]
    DEFAULT_CSS = "Ask > Vertical { max-width: 80; }"

    def __init__(
        self, title: str, hint: str, value: str = "", check: Callable[[str], str] | None = None, limit: int = 400
    ) -> None:
        super().__init__()
        self._title, self._hint, self._value, self._limit = title, hint, value, limit
        self._check = check
        """What is wrong with an answer; nothing if it will do."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(self._title), classes="title")
            yield Input(self._value, max_length=self._limit, compact=True)
            yield Static(Content(self._hint), classes="hint")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._check and (wrong := self._check(event.value)):
            hint = self.query_one(".hint", Static)
            hint.update(Content(wrong))
            hint.add_class("wrong")
            return
        self.dismiss(event.value)
