"""A short list to pick from by cursor, by number, or by a click."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.app.screens.dialog import Dialog
from delegtop.base.text import line


class Pick(Dialog[tuple[str, str] | None]):
    """Gives back what was picked and how: `("pick", name)`, or the word of another key with the name under the cursor;
    None if nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="pick-back"),
        *(Binding(str(number), f"number({number})", show=False) for number in range(1, 10)),
    ]
    DEFAULT_CSS = "Pick > Vertical { max-width: 76; max-height: 90%; }"

    def __init__(
        self,
        title: str,
        names: Sequence[tuple[str, str]],
        *,
        current: str = "",
        others: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        """`names` are what can be picked with what is said of each; `others` further keys: the key, the word that is
        given back, and what is said of it."""
        super().__init__()
        self._title, self._names, self._current = title, names, current
        self._others = {key: word for key, word, _ in others}
        self._how = ", ".join(
            ("enter or a number picks", *(f"{key} {words}" for key, _, words in others), "esc leaves")
        )
        self._list = OptionList()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.assemble((self._title, "bold $accent"), "   ", (self._how, MUTED)))
            yield self._list

    def on_mount(self) -> None:
        for number, (name, words) in enumerate(self._names, 1):
            sign = f"{number} " if number < 10 else "  "
            told = Content.assemble(
                (sign, "bold $accent"), (line(name, 40).ljust(16), "bold"), (line(words, 200), MUTED)
            )
            self._list.add_option(Option(told))
        places = [place for place, (name, _) in enumerate(self._names) if name == self._current]
        self._list.highlighted = places[0] if places else (0 if self._names else None)
        self._list.focus()

    def on_key(self, event: Key) -> None:
        if (word := self._others.get(event.character or "")) is not None:
            self.dismiss((word, self._under_cursor()))

    def _under_cursor(self) -> str:
        place = self._list.highlighted
        return self._names[place][0] if place is not None and place < len(self._names) else ""

    def action_number(self, number: int) -> None:
        if number <= len(self._names):
            self.dismiss(("pick", self._names[number - 1][0]))

    def on_option_list_option_selected(self) -> None:
        self.dismiss(("pick", self._under_cursor()))
