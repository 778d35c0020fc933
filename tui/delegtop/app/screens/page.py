"""A screen that is one scrolling page with a title: help and source health."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from delegtop.app.screens.leaving import Leaving
from delegtop.app.widgets.chips import Chip, Chips
from delegtop.app.widgets.sheet import Block, Sheet


class Page(Leaving, Screen[None]):
    """Subclasses say the title and make the blocks; escape, q or a click on `back` leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss_page", "back", tooltip="Back to the monitor", id="page-back"),
    ]
    DEFAULT_CSS = """
    Page { background: $background; }
    Page > .page-title { height: 1; padding: 0 1; background: $panel; text-style: bold; color: $primary; }
    Page > Sheet { padding: 1 2; }
    Page > .page-foot { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }
    """
    heading = ""
    hints: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    """Further keys that are shown at the foot: the key, its words, and the name by which a click chooses it."""

    def __init__(self) -> None:
        super().__init__()
        self.sheet = Sheet()

    def compose(self) -> ComposeResult:
        yield Static(Content(self.heading), classes="page-title")
        yield from self.above()
        yield self.sheet
        foot = Chips()
        foot.add_class("page-foot")
        yield foot

    def on_mount(self) -> None:
        self.query_one(Chips).show([
            Chip(Content.assemble(("esc", "bold $accent"), " back   "), "back"),
            *(Chip(Content.assemble((key, "bold $accent"), words), name) for key, words, name in self.hints),
            Chip(Content.assemble(("↑ ↓ pgup pgdn", "bold $accent"), " scroll")),
        ])  # fmt: skip
        self.show_page()
        self.sheet.focus()

    def above(self) -> ComposeResult:
        """What stands between the title and the page."""
        yield from ()

    def show_page(self) -> None:
        self.sheet.show(self.blocks())

    def blocks(self) -> list[Block]:
        raise NotImplementedError

    def on_chips_chosen(self, event: Chips.Chosen) -> None:  # noqa: ARG002 -- subclasses look at it
        self.action_dismiss_page()

    def action_dismiss_page(self) -> None:
        self.dismiss()
