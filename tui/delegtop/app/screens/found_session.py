"""One session of the past: what it was, and what opens it; nothing is run before a key says so."""

import shlex
import sys
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from delegtop.app import clipboard
from delegtop.app.pages.found_words import details
from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.app.screens.copy import copy
from delegtop.app.screens.dialog import Dialog
from delegtop.app.screens.going_there import Lending
from delegtop.base.text import safe

if TYPE_CHECKING:
    from delegtop.report.found_sessions import FoundSession


class FoundSessionDialog(Dialog[None]):
    """Replays it in this terminal, or copies what opens it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="found-back"),
        Binding("r", "choose('replay')", "replay", id="found-replay"),
        Binding("y,c", "choose('resume')", "copy", id="found-copy"),
    ]
    DEFAULT_CSS = "FoundSessionDialog > Vertical { max-width: 120; max-height: 90%; }"

    def __init__(self, found: "FoundSession", words: str, home: str) -> None:
        super().__init__()
        self._found, self._words, self._home = found, words, home
        self._list = OptionList()

    def compose(self) -> ComposeResult:
        with Vertical():
            for told in details(self._found, self._words, self._home):
                yield Static(told)
            if self._found.resume:
                yield Static(Content.styled("If it is not open any more, this opens its session again:", MUTED))
                yield Static(Content.styled(safe(self._found.resume, 4_000), "bold"))
            yield self._list

    def on_mount(self) -> None:
        if self._found.replay:
            self._list.add_option(Option(_choice("r", "replay it in this terminal; q comes back here"), id="replay"))
        else:
            why = f"on {self._found.host}" if self._found.host else "its log is gone"
            self._list.add_option(Option(_choice("r", f"replay: {safe(why, 80)}"), id="replay", disabled=True))
        if self._found.resume:
            self._list.add_option(Option(_choice("y", "copy what opens its session"), id="resume"))
        self._list.add_option(Option(_choice("esc", "back"), id="leave"))
        self._list.highlighted = 0
        self._list.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose(event.option_id or "leave")

    def action_choose(self, what: str) -> None:
        found = self._found
        if what == "replay" and found.replay:
            _, *arguments = shlex.split(found.replay)
            if wrong := cast(Lending, self.app).lend((sys.executable, "-P", "-m", "delegtop", *arguments)):
                self.notify(safe(wrong, 400), markup=False)
        elif what == "resume" and found.resume:
            if copy(self, "command", found.resume, clipboard.refusal(found.resume)):
                self.dismiss()
        elif what == "leave":
            self.dismiss()


def _choice(key: str, words: str) -> Content:
    return Content.assemble((f"{key:5}", "bold $accent"), words)
