"""What opens a session, shown before anything happens: one key does it, and whoever only presses Enter goes away."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.app.screens.dialog import Dialog
from delegtop.base.text import line, safe

_OPEN, _CANCEL = "open", "cancel"


class OpenSession(Dialog[bool]):
    """Gives back whether the command shall be run in a new window."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="open-back"),
        Binding("o", "open", "open", id="open-window"),
    ]
    DEFAULT_CSS = "OpenSession > Vertical { max-width: 110; max-height: 90%; }"

    def __init__(self, name: str, command: str, first: str, *, copied: str = "") -> None:
        """`first` is what has to be seen to before; `copied` that the command was copied, because there is no window to
        open it in."""
        super().__init__()
        self._session, self._command, self._first, self._copied = name, command, first, copied
        self._list = OptionList()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(
                Content.assemble(("Open its session", "bold $accent"), "   ", (line(self._session, 80), MUTED))
            )
            if self._first:
                yield Static(Content.styled(f"{safe(self._first[:1].upper() + self._first[1:], 400)}.", "$warning"))
            yield Static(Content.styled(safe(self._command, 4_000), "bold"), classes="command")
            if self._copied:
                yield Static(Content.styled(self._copied, MUTED))
            yield self._list

    def on_mount(self) -> None:
        if self._copied:
            self._list.add_option(Option(_choice("esc", "close"), id=_CANCEL))
        else:
            self._list.add_options(
                [
                    Option(_choice("esc", "cancel: nothing is run"), id=_CANCEL),
                    Option(_choice("o", "open a new tmux window with this command"), id=_OPEN),
                ]
            )
        self._list.highlighted = 0
        self._list.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_id == _OPEN)

    def action_open(self) -> None:
        if not self._copied:
            self.dismiss(True)


def _choice(key: str, words: str) -> Content:
    return Content.assemble((f"{key:5}", "bold $accent"), words)
