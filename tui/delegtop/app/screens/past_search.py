"""Words in everything that ever was: what is typed, what has it, and what opens it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from delegtop.app import keymap
from delegtop.app.pages.found_words import LINES, row
from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.app.screens.found_session import FoundSessionDialog
from delegtop.app.screens.leaving import Leaving
from delegtop.app.state.idle_work import IdleWork
from delegtop.app.state.past_sessions import SHOWN, PastSessions
from delegtop.app.widgets.chips import Chips
from delegtop.app.widgets.key_bar import KeyBar
from delegtop.app.widgets.prompt import Prompt
from delegtop.base.text import line
from delegtop.settings import Settings

if TYPE_CHECKING:
    from delegtop.report.found_sessions import FoundSession

_SETTLE = 0.12
"""Seconds without a key before the words are looked for."""
PROMPT = "past-words"
_FIND = "find in the past"
_EXAMPLE = 'words  "a phrase"  begin*  !without  error:word  agent:impl*  state:failed'


class PastSearch(Leaving, Screen[str | None]):
    """Gives back the id of a delegation that has a row, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings(keymap.PAST_SEARCH)]
    DEFAULT_CSS = """
    PastSearch { background: $background; }
    PastSearch > #past-title { height: 1; padding: 0 1; background: $panel; }
    PastSearch > Prompt { display: block; }
    PastSearch > OptionList, PastSearch > OptionList:focus {
        height: 1fr; border: none; background: $background; background-tint: $background 0%; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    PastSearch > OptionList > .option-list--option-highlighted { background: $row-cursor; color: $foreground; }
    """

    def __init__(
        self,
        past: PastSessions,
        settings: Settings,
        words: str,
        has_row: Callable[[str], bool],
        is_in_rows: Callable[[str], bool],
    ) -> None:
        """`has_row` says whether a delegation of that id has a row in the tree, or can be given one; `is_in_rows`
        whether any row has the words."""
        super().__init__()
        self._past, self._settings, self._words = past, settings, words
        self._has_row, self._is_in_rows = has_row, is_in_rows
        self._home = str(Path.home())
        self._title, self._keys = Static(Content(), id="past-title"), KeyBar()
        self._prompt, self._list = Prompt("\\", _EXAMPLE, PROMPT), OptionList()
        self._looking = IdleWork(self, self._look, _SETTLE)
        self.found: Sequence[FoundSession] = ()
        self._said = ""
        self._asked: str | None = None
        """The words that are being looked for."""

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._prompt
        yield self._list
        yield self._keys

    def on_mount(self) -> None:
        self._prompt.open(self._words)
        self._past.want()
        self.set_interval(1.0, self._second)
        self._keys.offer([each for each in keymap.PAST_SEARCH if each.bar], self._settings.keymap, {})
        self._draw_title()

    def _second(self) -> None:
        """What is new is read now and then, and once it is, perhaps more is found."""
        self._past.want()
        if self._past.is_new_to(self):
            self._looking.ask()
        self._draw_title()

    def _draw_title(self) -> None:
        unread = f"   {unread}" if (unread := self._past.unread) else ""
        title = ("delegtop · all that ever ran", "bold $primary")
        self._title.update(Content.assemble(title, (f"   {self._said}", ""), (unread, MUTED)), layout=False)

    # Looking

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        self._words = event.text.strip()
        self._looking.ask()

    def _look(self) -> None:
        if not self.is_here:
            return
        words = self._words
        if not words:
            self._show((), "")
        if not words or self._asked is not None:  # one at a time: what comes of this one is looked at, then the next
            return
        self._asked = words
        self.run_worker(
            lambda: self._past.find(words),
            name=_FIND,
            description=_FIND,
            group=_FIND,
            thread=True,
            exit_on_error=False,
        )

    @on(Worker.StateChanged)
    def _looked(self, event: Worker.StateChanged) -> None:
        event.stop()
        if event.worker.name != _FIND or not event.worker.is_finished:
            return
        asked, self._asked = self._asked, None
        if asked != self._words:
            self._looking.ask(0.0)
        elif event.state is WorkerState.SUCCESS:
            found: Sequence[FoundSession] = event.worker.result or ()
            more = "the newest " if len(found) >= SHOWN else ""
            self._show(found, f"{more}{len(found):,} found" if found else self._nothing())
        elif event.state is WorkerState.ERROR:
            self._show((), line(str(event.worker.error), 300))

    def _nothing(self) -> str:
        """What lies elsewhere than logs of agents mostly do may have a row all the same."""
        if not self._is_in_rows(self._words):
            return "nothing yet" if self._past.is_reading else "nothing"
        return f"nothing, but the rows have it: esc, {keymap.key_of('search', self._settings.keymap)}"

    def _show(self, found: "Sequence[FoundSession]", said: str) -> None:
        before = self._current
        self.found, self._said = found, said
        self._list.clear_options()
        self._list.add_options([Option(self._row(each)) for each in found])
        # Who has gone to one stays there as long as it is found.
        stays = (number for number, each in enumerate(found) if before is not None and each.id == before.id)
        self._list.highlighted = next(stays, 0) if found else None
        self._draw_title()

    def _row(self, each: "FoundSession") -> Content:
        return row(each, self._words, self.size.width - 2, home=self._home, ascii=self._settings.ascii)

    def on_resize(self) -> None:
        if self.found and self.is_here:
            at = self._list.highlighted
            self._list.clear_options()
            self._list.add_options([Option(self._row(each)) for each in self.found])
            self._list.highlighted = at

    # Opening

    @property
    def _current(self) -> "FoundSession | None":
        at = self._list.highlighted
        return self.found[at] if at is not None and at < len(self.found) else None

    @on(Prompt.Accepted)
    def _accepted(self) -> None:
        self.action_open()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        """To its row, if it has one; else to what opens it."""
        current = self._current
        if current is None:
            return
        if not current.host and self._has_row(current.id):
            self.dismiss(current.id)
        else:
            self.app.push_screen(FoundSessionDialog(current, self._words, self._home))

    def action_move(self, by: int) -> None:
        """Up and down work while typing, too."""
        if self.found:
            at = self._list.highlighted or 0
            self._list.highlighted = min(max(at + by, 0), len(self.found) - 1)
            self._list.scroll_to_highlight()

    def action_page(self, by: int) -> None:
        self.action_move(by * max(self._list.size.height // LINES - 1, 1))

    @on(Prompt.Left)
    def _left(self) -> None:
        self.action_leave()

    def action_leave(self) -> None:
        self.dismiss(None)

    @on(Chips.Chosen, "KeyBar")
    async def _chosen_key(self, event: Chips.Chosen) -> None:
        command = next(each for each in keymap.PAST_SEARCH if each.id == event.name)
        await self.run_action(command.action)
