"""Which columns the tree has, and in which order."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.app.screens.dialog import Dialog
from delegtop.report.table.columns import COLUMNS, NAME, choice

_HOW = "space shows or hides, shift+up and shift+down move, u the usual ones, enter keeps, esc leaves"


class ChooseColumns(Dialog[tuple[str, ...] | None]):
    """Gives back the names in their order; none of them are the usual ones. None if nothing is to change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="columns-back"),
        Binding("space", "show", "show or hide", id="columns-toggle"),
        Binding("shift+up,K", "move(-1)", "up", id="columns-up"),
        Binding("shift+down,J", "move(1)", "down", id="columns-down"),
        Binding("u", "usual", "the usual ones", id="columns-usual"),
    ]
    DEFAULT_CSS = "ChooseColumns > Vertical { width: 90%; max-width: 84; max-height: 90%; }"

    def __init__(self, shown: tuple[str, ...]) -> None:
        super().__init__()
        self._shown = [name for name in shown if name != NAME]
        self._order = [*self._shown, *(name for name in choice() if name not in self._shown)]
        self._list = OptionList()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.assemble(("Columns", "bold $accent"), "   ", (_HOW, MUTED)))
            yield self._list

    def on_mount(self) -> None:
        self._fill(0)
        self._list.focus()

    def _fill(self, place: int) -> None:
        self._list.clear_options()
        self._list.add_options(Option(self._words(name), id=name) for name in self._order)
        self._list.highlighted = place

    def _words(self, name: str) -> Content:
        column = COLUMNS[name]
        mark = "[x]" if name in self._shown else "[ ]"
        return Content.assemble((f"{mark} ", "bold $accent"), (name.ljust(12), "bold"), (column.about, MUTED))

    def action_show(self) -> None:
        place = self._list.highlighted
        if place is None:
            return
        name = self._order[place]
        if name in self._shown:
            self._shown.remove(name)
        else:
            self._shown.append(name)
        self._fill(place)

    def action_move(self, by: int) -> None:
        place = self._list.highlighted
        if place is None or not 0 <= place + by < len(self._order):
            return
        order = self._order
        order[place], order[place + by] = order[place + by], order[place]
        self._fill(place + by)

    def action_usual(self) -> None:
        self.dismiss(())

    def on_option_list_option_selected(self) -> None:
        self.dismiss(tuple(name for name in self._order if name in self._shown) or ("state",))
