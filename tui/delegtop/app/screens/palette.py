"""The command palette: every command of the keymap, and every choice that has no key of its own."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Protocol, cast

from textual._widget_navigation import Direction
from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.events import Click
from textual.types import IgnoreReturnCallbackType

from delegtop.app import keymap
from delegtop.app.keymap import keys_of
from delegtop.app.screens.leaving import Leaving
from delegtop.app.screens.monitor import Monitor
from delegtop.model.tree.order_names import ORDERS
from delegtop.settings import Settings

_VIEWS = {
    "what needs review": "note:review",
    "what waits for a person": "phase:permission,answer !state:completed",
    **{state: f"state:{state}" for state in ("overdue", "failed", "running", "waiting", "silent", "blocked", "idle")},
}

Entry = tuple[str, str, IgnoreReturnCallbackType]


class Commanded(Protocol):
    """What the palette asks of the application."""

    monitor: Monitor
    settings: Settings

    @property
    def is_past(self) -> bool: ...
    @property
    def theme_names(self) -> list[str]: ...
    def use_theme(self, name: str) -> None: ...


class PaletteOffer(CommandList):
    """Textual's list of commands, which fails if it is used at the wrong moment, or has no column to wrap text to."""

    DEFAULT_CSS = "PaletteOffer { min-width: 12; }"

    def _move_page(self, direction: Direction) -> None:
        with suppress(KeyError):  # until it is laid out, and where there is no room, it knows no lines to page by
            super()._move_page(direction)

    async def _on_click(self, event: Click) -> None:
        if event.style.meta.get("option", -1) >= self.option_count:
            event.prevent_default()  # it was painted when there were more


class Palette(Leaving, CommandPalette):
    """Textual's palette, left as all our screens are."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Until there is a list nothing can be done with it; it can be left."""
        return (action == "escape" or bool(self.query(CommandList))) and super().check_action(action, parameters)

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield PaletteOffer() if type(widget) is CommandList else widget


class Commands(Provider):
    """All there is to do."""

    def _entries(self) -> Iterator[Entry]:
        app = cast(Commanded, self.app)
        monitor = app.monitor
        for command in keymap.COMMANDS + keymap.GANTT + (keymap.REPLAY if app.is_past else ()):
            if command.id == "palette":
                continue
            keys = ", ".join(keys_of(command, app.settings.keymap))
            yield f"{command.label.capitalize()}  ({keys})", command.help, partial(monitor.perform, command.id)
        for sort in ORDERS:
            yield f"Sort by {sort}", f"Order siblings by {sort}", partial(monitor.sort_by, sort)
        for theme in app.theme_names:
            yield f"Theme {theme}", f"Use the theme {theme}", partial(app.use_theme, theme)
        for words, query in _VIEWS.items():
            yield f"Show only {words}", f"Filter by {query}", partial(monitor.show_filter, query)

    async def discover(self) -> Hits:
        for name, help_text, callback in self._entries():
            yield DiscoveryHit(Content(name), callback, help=help_text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, help_text, callback in self._entries():
            score = matcher.match(name) or (0.1 if query.lower() in help_text.lower() else 0)
            if score:
                yield Hit(score, Content(name), callback, help=help_text)
