"""How the operator looks at the tree: order, columns, what is shown, a search, and all of it under a name.

The monitor takes these actions from here.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from delegtop.app.screens.first_picture import FirstPicture
from delegtop.app.state.saved_views import View, Views, wrong_name
from delegtop.model.tree.order_names import ORDERS
from delegtop.settings import THEMES

if TYPE_CHECKING:
    from delegtop.app.state.board import Board
    from delegtop.app.state.past_sessions import PastSessions
    from delegtop.app.widgets.filter_bar import FilterBar
    from delegtop.app.widgets.gantt_tree import Gantt
    from delegtop.app.widgets.prompt import Prompt

SEARCH, COMMAND = "search", "command-line"


class Viewing(FirstPicture):
    """A screen with a tree. What is imported where it is needed the first picture does without."""

    board: "Board"
    table: "Gantt"
    filter_bar: "FilterBar"
    search_prompt: "Prompt"
    command_prompt: "Prompt"
    views: Views | None = None
    """Where views are kept; None where nothing is."""
    past: "PastSessions"

    COMMANDS_TYPED: ClassVar[dict[str, str]] = {
        "sort": "sort COLUMN: sort cost",
        "columns": "columns NAME,NAME…; without names the usual ones",
        "filter": "filter QUERY: filter state:failed",
        "view": "view NAME: a view that was kept",
        "save": "save NAME: keep this view",
        "open": "only what is open, or all again",
        "earlier": "earlier troubles, or in a line again",
        "finished": "rows for more of what is over",
        "theme": "theme NAME",
        "gantt": "bars in time, or columns again",
        "sources": "which logs are read, and how well",
        "find": "find WORDS: in everything that ever was",
        "go": "go ID: to the delegation whose id begins so",
        "triage": "what is the matter, and what to do",
        "help": "all keys",
        "q": "leave",
    }
    """What `:` takes, with what it does."""

    def prompts(self) -> "tuple[Prompt, ...]":
        """The lines for searching and for commands, made anew."""
        from delegtop.app.widgets.prompt import Prompt

        self.search_prompt = Prompt("\\", "words to look for; n and N go on; tab: in everything that ever was", SEARCH)
        self.command_prompt = Prompt(":", "sort cost   view NAME   filter state:failed   q", COMMAND)
        return self.search_prompt, self.command_prompt

    # Told by the monitor

    def rearranged(self) -> None:
        """Rows moved, came or went, or look otherwise."""
        raise NotImplementedError

    def sift(self) -> None:
        """What is shown is to be another: look through everything, a slice at a time."""
        raise NotImplementedError

    # One view

    def view(self) -> View:
        """How it is looked at now."""
        from delegtop.report.table.columns import chosen

        board = self.board
        columns = tuple(column.name for column in board.rows.columns)
        usual = tuple(column.name for column in chosen(()))
        query = board.query if board.sieve is None else board.sieve.query
        return View(
            filter=query.text,
            sort=board.sort,
            reverse=board.reversed,
            columns=() if columns == usual else columns[1:],
            only_open=board.only_open,
        )

    def look_through(self, view: View) -> None:
        """Look at it so. What a view names that is not there any more is left out."""
        from delegtop.report.table.columns import UnknownColumnError, chosen

        try:
            self.board.rows.choose(chosen(view.columns))
        except UnknownColumnError as error:
            self.notify(str(error), severity="warning", markup=False)
        self.board.sort_by(view.sort if view.sort in ORDERS else "problems", reverse=view.reverse)
        self.board.show_open(view.only_open)
        self.show_filter(view.filter)
        self.sift()

    def remember(self) -> None:
        if self.views is not None:
            self.views.remember(self.view())

    def show_filter(self, text: str) -> None:
        self.filter_bar.input.value = text
        if text:
            self.filter_bar.open(typing=False)
        else:
            self.filter_bar.close()

    # Orders and columns

    def action_sort(self) -> None:
        self.board.next_sort()
        self.rearranged()

    def sort_by(self, name: str) -> None:
        self.board.sort_by(name)
        self.rearranged()

    def action_reverse(self) -> None:
        self.board.reverse()
        self.rearranged()

    def action_sort_menu(self) -> None:
        """All orders there are."""
        from delegtop.app.screens.pick import Pick

        told = list(ORDERS.items())
        self.app.push_screen(Pick("Sort by", told, current=self.board.sort), self._sorted)

    def _sorted(self, picked: tuple[str, str] | None) -> None:
        if picked is not None:
            self.sort_by(picked[1])

    def action_columns(self) -> None:
        from delegtop.app.screens.choose_columns import ChooseColumns  # as above

        names = tuple(column.name for column in self.board.rows.columns)
        self.app.push_screen(ChooseColumns(names), self._columns_chosen)

    def _columns_chosen(self, names: tuple[str, ...] | None) -> None:
        if names is not None:
            from delegtop.report.table.columns import chosen

            self.board.rows.choose(chosen(names))
            self.rearranged()

    def action_only_open(self) -> None:
        """Only what is open, or all again."""
        self.board.show_open(not self.board.only_open)
        self.sift()

    def action_earlier(self) -> None:
        """Show earlier troubles, or tell them in a line again."""
        self.board.show_earlier(not self.board.showing.earlier_shown)
        self.rearranged()

    def action_finished(self) -> None:
        """Give rows to more of what is over."""
        if not self.board.show_finished():
            self.notify("All that is over has its row.", markup=False)
        self.rearranged()

    # Views

    def action_views(self) -> None:
        """The views that were kept: pick one, keep this one, or drop one."""
        from delegtop.app.screens.pick import Pick  # as above

        if self.views is None:
            self.notify("No views are kept here.", markup=False)
            return
        told = [(name, _told(view)) for name in self.views.names if (view := self.views.named(name)) is not None]
        others = (("+", "keep", "keeps this view"), ("-", "drop", "drops one"))
        self.app.push_screen(Pick("Views", told, others=others), self._view_picked)

    def _view_picked(self, picked: tuple[str, str] | None) -> None:
        if picked is None or self.views is None:
            return
        from delegtop.app.screens.ask import Ask  # as above

        how, name = picked
        if how == "keep":
            self.app.push_screen(Ask("Keep this view as", "enter keeps, esc leaves", name, wrong_name), self._kept)
        elif how == "drop":
            self.views.drop(name)
            self.action_views()
        else:
            self.call_view(name)

    def _kept(self, name: str | None) -> None:
        if name is not None and self.views is not None:
            kept = self.views.keep(name.strip(), self.view())
            self.notify(f"Kept as {name.strip()}." if kept else f"Not kept: {self.views.trouble}", markup=False)

    def call_view(self, name: str) -> bool:
        """Look through the view of that name; False, and a word, if there is none."""
        view = self.views.named(name) if self.views is not None else None
        if view is None:
            self.notify(f"No view is kept as {name}.", severity="warning", markup=False)
            return False
        self.look_through(view)
        return True

    # Searching

    def action_search(self) -> None:
        self.search_prompt.open(self.board.rows.highlight)

    def action_search_step(self, step: int) -> None:
        """To the next place of what was searched for; without a search, ask for one."""
        if self.board.rows.highlight:
            self._find(step)
        else:
            self.action_search()

    def _find(self, step: int) -> None:
        from delegtop.app.state import row_search

        found = row_search.next_match(self.board, self.board.rows.highlight, self.table.cursor, step)
        if found is None and self.past.is_any:
            self.action_past_search()
        elif found is None:
            self.notify(f"{self.board.rows.highlight}: nowhere in the rows.", markup=False)
        else:
            self.table.cursor = found
            self.rearranged()

    def end_search(self) -> bool:
        """Let go of a search; True if there was one."""
        if not self.board.rows.highlight:
            return False
        self.board.rows.highlight = ""
        self.rearranged()
        return True

    def on_prompt_typed(self, event: "Prompt.Typed") -> None:
        if event.control is self.command_prompt:
            self._commanding(event.text)
            return
        self.board.rows.highlight = event.text.strip()
        self.rearranged()

    async def on_prompt_accepted(self, event: "Prompt.Accepted") -> None:
        if event.control is self.command_prompt:
            await self._commanded(event.text)
            return
        self.search_prompt.close()
        self.table.focus()
        if self.board.rows.highlight:
            self._find(1)

    def on_prompt_further(self, event: "Prompt.Further") -> None:
        if event.control is not self.search_prompt:
            return
        self.search_prompt.close()
        self.table.focus()
        self.action_past_search()

    def action_past_search(self) -> None:
        """The same words in everything that ever was."""
        from delegtop.app.screens.past_search import PastSearch  # few want it, and the first picture does not wait

        if not self.past.is_kept:
            told = "Nothing of the past is kept (index = false): `delegtop find` reads it."
            self.notify(told, severity="warning", markup=False)
            return
        words = self.board.rows.highlight
        screen = PastSearch(self.past, self.settings, words, self._has_row, self._is_in_rows)
        self.app.push_screen(screen, self._found_in_past)

    def _is_in_rows(self, words: str) -> bool:
        from delegtop.app.state import row_search

        return row_search.next_match(self.board, words, None, 1) is not None

    def _has_row(self, id: str) -> bool:
        return self.board.forest.find(id) is not None or bool(self.board.show_finished(id))

    def _found_in_past(self, id: str | None) -> None:
        handle = None if id is None else self.board.forest.find(id)
        if handle is not None:
            self.show_delegation(handle)

    def on_prompt_left(self, event: "Prompt.Left") -> None:
        event.control.close()
        if event.control is self.search_prompt:
            self.end_search()
        self.table.focus()

    # Commands that are typed

    def action_command_line(self) -> None:
        self.command_prompt.open()

    def _commanding(self, text: str) -> None:
        word = text.split(" ", 1)[0]
        fitting = [told for name, told in self.COMMANDS_TYPED.items() if name.startswith(word)] if word else []
        self.command_prompt.answer(fitting[0] if fitting else "")

    async def _commanded(self, text: str) -> None:
        wrong = await self.obey(text)
        if wrong:
            self.command_prompt.answer(wrong, wrong=True)
            return
        self.command_prompt.close()
        self.table.focus()

    async def obey(self, text: str) -> str:
        """Do what was typed; what is wrong with it, nothing if it was done."""
        from delegtop.report.table.columns import UnknownColumnError, chosen

        word, _, rest = text.strip().partition(" ")
        rest = rest.strip()
        match {"q!": "q", "quit": "q", "x": "q"}.get(word, word):
            case "":
                return ""
            case "sort" if rest in ORDERS:
                self.sort_by(rest)
            case "sort":
                return _none_such("order", rest, ORDERS)
            case "columns":
                try:
                    self.board.rows.choose(chosen([name.strip() for name in rest.split(",") if name.strip()]))
                except UnknownColumnError as error:
                    return str(error)
                self.rearranged()
            case "filter":
                self.show_filter(rest)
            case "view":
                if not rest:
                    return "nothing is named: which view?"
                return "" if self.call_view(rest) else f"no view is kept as {rest}"
            case "save":
                if wrong := "no views are kept here" if self.views is None else wrong_name(rest):
                    return wrong
                self._kept(rest)
            case "open":
                self.action_only_open()
            case "earlier":
                self.action_earlier()
            case "finished":
                self.action_finished()
            case "find":
                self.board.rows.highlight = rest
                self.action_past_search()
            case "go":
                return self._go_by_id(rest)
            case "theme" | "triage" | "gantt" | "sources" | "help" | "q" as word:
                return await self._of_the_program(word, rest)
            case _:
                from delegtop.base.near_words import advice

                return f"{word}: no such command; {advice(word, self.COMMANDS_TYPED, 'ctrl+p lists all')}"
        return ""

    async def _of_the_program(self, word: str, rest: str) -> str:
        if word == "theme":
            names = list(self.app.available_themes)
            if rest not in names:
                return _none_such("theme", rest, THEMES)
            self.app.theme = rest
            return ""
        await self.app.run_action({"q": "quit"}.get(word, word))
        return ""

    def _go_by_id(self, id: str) -> str:
        if not id:
            return "to which delegation? the beginning of its id follows"
        forest = self.board.forest
        found = forest.find(id)
        if found is None and self.board.show_finished(id):
            found = forest.find(id)
        if found is None:
            found = next((handle for handle in range(len(forest)) if forest.id(handle).startswith(id)), None)
        if found is None:
            return f"no delegation's id begins with {id}"
        self.show_delegation(found)
        return ""

    def show_delegation(self, handle: int) -> None:
        """Put the cursor on it, whatever hides it."""
        raise NotImplementedError


def _none_such(what: str, name: str, known: Iterable[str]) -> str:
    """That there is none of that name, or that none was named, and which there are."""
    there = f"there is no {what} {name}:" if name else f"nothing is named; the {what}s are"
    return f"{there} {', '.join(known)}"


def _told(view: View) -> str:
    """What a view shows, in a few words."""
    parts = [view.filter and f"/{view.filter}", f"by {view.sort}", "only open" if view.only_open else ""]
    if view.columns:
        parts.append(", ".join(view.columns))
    return " · ".join(filter(None, parts))
