"""Where to in a recording: one line to type a moment into."""

from datetime import tzinfo
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from delegtop.app.screens.dialog import Dialog
from delegtop.base.clock import LocalZone, Millis, moment, parse_place
from delegtop.base.text import line

_HOW = "10:41, 10:41:30, -5m, +30s, 1h20m from the beginning, 2026-03-03T10:41Z  ·  enter goes there, esc leaves"


class GoToTime(Dialog[Millis | None]):
    """Gives back the moment, or None if the operator thought better of it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", id="go-to-back")]
    DEFAULT_CSS = """
    GoToTime > Vertical { width: 90%; max-width: 84; }
    GoToTime .wrong { display: none; }
    GoToTime .wrong.-open { display: block; }
    """

    def __init__(self, now: Millis, bounds: tuple[Millis, Millis], zone: tzinfo | None) -> None:
        super().__init__()
        self._now, self._bounds, self._zone = now, bounds, zone

    def compose(self) -> ComposeResult:
        first, last = (moment(at, self._zone) for at in self._bounds)
        with Vertical():
            yield Static(Content(f"Go to a time between {first} and {last}"), classes="title")
            yield Input(placeholder=moment(self._now, self._zone)[11:], compact=True)
            yield Static(Content(_HOW), classes="hint")
            yield Static(Content(), classes="wrong")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip():
            self.dismiss(None)
            return
        at = parse_place(event.value, self._now, self._bounds[0], self._zone or LocalZone())
        if at is not None:
            self.dismiss(at)
            return
        wrong = self.query_one(".wrong", Static)
        wrong.update(Content(line(f"{event.value} is no time", 200)))
        wrong.add_class("-open")
