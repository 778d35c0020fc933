"""The least a Textual program can be."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class Minimal(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("hello from the least program")


Minimal().run()
