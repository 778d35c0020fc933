"""What was said in one delegation: prompts, thoughts, calls, results and errors, newest at the end.

It is read from the agent's own files while it is looked at, a page at a time and never in the thread that draws; what
is added meanwhile appears at the end.
"""

from collections.abc import Callable
from datetime import tzinfo
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from delegtop.app import keymap
from delegtop.app.pages import spoken_words
from delegtop.app.pages.inspector.page_words import MUTED, one_line
from delegtop.app.pages.spoken_words import SpokenLook
from delegtop.app.screens.conversation_reading import ConversationReading, said_in, window_of
from delegtop.app.screens.going_there import GoingThere
from delegtop.app.state.board import Board
from delegtop.app.state.reader_thread import Reader
from delegtop.app.widgets.chips import Chips
from delegtop.app.widgets.key_bar import KeyBar
from delegtop.app.widgets.prompt import Prompt
from delegtop.app.widgets.spoken_view import ShownPiece, SpokenView
from delegtop.feed.spoken_pages import SpokenPages
from delegtop.model.measures import label
from delegtop.model.spoken import Utterance, Voice
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy
from delegtop.settings import Settings

_SEARCH = "transcript-words"


class TranscriptScreen(ConversationReading):
    """Reads one conversation. Whoever leaves it finds the screen below as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings(keymap.TRANSCRIPT)]
    AUTO_FOCUS = "SpokenView"
    DEFAULT_CSS = """
    TranscriptScreen { background: $background; }
    TranscriptScreen > .spoken-title {
        height: 1; padding: 0 1; background: $panel; text-wrap: nowrap; text-overflow: ellipsis;
    }
    TranscriptScreen > .spoken-told { height: auto; padding: 0 1; color: $warning; }
    """

    def __init__(self, handle: Handle, board: Board, reader: Reader, settings: Settings, zone: tzinfo | None) -> None:
        super().__init__(reader, board.forest.delegation(handle))
        self._board, self._settings, self._zone = board, settings, zone
        self.view = SpokenView(self._wrap)
        self._title, self._told = Static(Content(), classes="spoken-title"), Static(Content(), classes="spoken-told")
        self._prompt = Prompt("/", "words to look for; n and N go on", _SEARCH)
        self._keys = KeyBar()
        self._going = GoingThere(self, board, reader)
        self._masked = board.table.masked
        self._all = self._thoughts = False
        """Whether everything is unfolded, or what was thought."""

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._prompt
        yield self._told
        yield self.view
        yield self._keys

    def on_mount(self) -> None:
        self._told.display = False
        self.read_on()
        self.draw()

    # Drawing

    def _wrap(self, piece: ShownPiece, before: ShownPiece | None, width: int) -> list[Content]:
        said = said_in(piece)
        unfolded = self._is_unfolded(piece)
        day = spoken_words.day_of(said.at, self._zone)
        if day == spoken_words.day_of(said_in(before).at if before is not None else self._board.now, self._zone):
            day = None  # as the piece before it, and the first one today
        piece.head = 0 if day is None else 1
        return spoken_words.lines_of(said, SpokenLook(width, self._zone, self._hide), unfolded=unfolded, day=day)

    def _is_unfolded(self, piece: ShownPiece) -> bool:
        if piece.unfolded is not None:
            return piece.unfolded
        return self._all or (self._thoughts and said_in(piece).voice is Voice.THINKING)

    def _hide(self, text: str) -> str:
        return privacy.hiding(self._masked)(text)

    def draw(self) -> None:
        if not self.is_here:
            return
        facts, transcript = self._facts, self.transcript
        told = transcript.told if transcript is not None else ""
        if self._told.display != bool(told):
            self._told.update(Content(told))
            self._told.display = bool(told)
        state = ""
        if self.trouble:
            state = f"it cannot be read: {self.trouble}"
        elif transcript is None or (self.busy and self.busy != "following"):
            state = f"{self.busy or 'reading'} …"
        elif not self.view.pieces:
            state = "nothing is said in it"
        parts = [
            Content.styled("delegtop · transcript", "bold $primary"),
            one_line(self._hide(label(facts)), "bold", 60),
            one_line(self._hide(facts.title), "", 80) if facts.title else Content(),
            one_line(state, "$warning", 200) if state else Content(),
            self._extent() if not state else Content(),
            one_line(transcript.paths[-1], MUTED, 300) if transcript is not None else Content(),
        ]
        self._title.update(Content("   ").join(part for part in parts if part), layout=False)
        words = {"transcript-unfold-all": "fold all" if self._all else "unfold all"}
        current = self.view.current
        words["transcript-unfold"] = "fold" if current is not None and self._is_unfolded(current) else "unfold"
        words["transcript-thoughts"] = "fold thoughts" if self._thoughts else "thoughts"
        offered = [command for command in keymap.TRANSCRIPT if command.bar]
        self._keys.offer(offered, self._settings.keymap, words)

    def _extent(self) -> Content:
        """Which part of it is held."""
        held = self.held
        if held is None or (held.is_first and held.is_last):
            count = len(self.view.pieces)
            return Content.styled(f"{count:,} piece{'' if count == 1 else 's'}", MUTED)
        return Content.styled(
            "its end" if held.is_last else "its beginning" if held.is_first else "a part of it", MUTED
        )

    # What the operator does

    def on_descendant_focus(self) -> None:
        self.draw()

    @on(Chips.Chosen, "KeyBar")
    async def _chosen_key(self, event: Chips.Chosen) -> None:
        event.stop()
        command = next(command for command in keymap.TRANSCRIPT if command.id == event.name)
        await self.run_action(command.action)

    @on(SpokenView.Chosen)
    def _chosen(self, event: SpokenView.Chosen) -> None:
        event.stop()
        self.action_unfold()

    def action_leave(self) -> None:
        if self.view.words:
            self.view.words = ""
            self.view.refresh()
        else:
            self.dismiss()

    def action_unfold(self) -> None:
        """All of the piece under the cursor, or its first lines again."""
        if (piece := self.view.current) is not None:
            piece.unfolded, piece.lines = not self._is_unfolded(piece), None
            self.view.lay_out()
            self.view.select(self.view.cursor)
            self.draw()

    def action_unfold_all(self) -> None:
        self._all = not self._all
        self._fold_otherwise()

    def action_thoughts(self) -> None:
        self._thoughts = not self._thoughts
        self._fold_otherwise()

    def _fold_otherwise(self) -> None:
        for piece in self.view.pieces:
            piece.unfolded = None
        self.view.again()
        self.view.select(self.view.cursor)
        self.draw()

    def action_secrets(self) -> None:
        """Show what looks like a secret, or hide it again; elsewhere it stays as it was."""
        self._masked = not self._masked
        self.view.again()
        self.draw()

    def action_go_there(self) -> None:
        self._going.go(self._board.forest.find(self._facts.id, self._facts.told_by))

    def action_edit(self) -> None:
        piece = self.view.current
        self._going.edit(said_in(piece).origin if piece is not None else None)

    # Searching

    def action_search(self) -> None:
        self._prompt.open(self.view.words)

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        event.stop()
        self.view.words = event.text.strip()
        self.view.refresh()

    @on(Prompt.Accepted)
    def _accepted(self, event: Prompt.Accepted) -> None:
        event.stop()
        self._prompt.close()
        self.view.focus()
        if self.view.words:
            self._find(-1, here=True)

    @on(Prompt.Left)
    def _left(self, event: Prompt.Left) -> None:
        event.stop()
        self._prompt.close()
        self.view.words = ""
        self.view.refresh()
        self.view.focus()

    def action_search_step(self, step: int) -> None:
        if self.view.words:
            self._find(step)
        else:
            self.action_search()

    def _matches(self, said: Utterance) -> bool:
        words = self.view.words.casefold()
        if words not in said.text.casefold() and words not in said.name.casefold():
            return False
        return words in spoken_words.searched(said, self._hide)

    def _find(self, step: int, *, here: bool = False) -> None:
        """To the next place of the words, or the one before: in what is held, else in the rest, else round the end."""
        pieces, start = self.view.pieces, self.view.cursor + (0 if here else step)
        ahead = range(start, len(pieces)) if step > 0 else range(start, -1, -1)
        found = next((place for place in ahead if self._matches(said_in(pieces[place]))), None)
        if found is not None:
            self._show_match(found)
            return
        if self.held is not None and (transcript := self.transcript) is not None:
            self.begin("searching", lambda: self._find_farther(transcript, step), asked=True)

    def _find_farther(self, transcript: SpokenPages, step: int) -> Callable[[], None] | None:
        held = self.held
        if held is None:
            return None

        def unwanted() -> bool:
            return not self.is_here

        window = transcript.find(self._matches, window_of(held), step, unwanted)
        if window is None:  # once round
            edge = transcript.first() if step > 0 else transcript.last()
            matches = any(map(self._matches, edge.said))
            window = edge if matches else transcript.find(self._matches, edge, step, unwanted)

        def show() -> None:
            if window is None:
                self.notify(f"{self.view.words}: nowhere in it.", markup=False)
                return
            places = [place for place, said in enumerate(window.said) if self._matches(said)]
            self.hold(window, at=0)
            self._show_match(places[0 if step > 0 else -1])

        return show

    def _line_of_words(self, piece: ShownPiece) -> int | None:
        """Which line of a piece the words stand on, as far as they are shown."""
        words = self.view.words.casefold()
        return next((at for at, line in enumerate(piece.lines or ()) if words in line.plain.casefold()), None)

    def _show_match(self, place: int) -> None:
        """Bring it into view; what is folded away of it is unfolded if the words stand there."""
        piece = self.view.pieces[place]
        if self._line_of_words(piece) is None:
            piece.unfolded, piece.lines = True, None
            self.view.lay_out()
        self.view.select(place, self._line_of_words(piece) or 0)
        self.draw()
