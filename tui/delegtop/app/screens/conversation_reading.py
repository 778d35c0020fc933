"""Reading a conversation while it is looked at: a page at a time, before and behind what is held, and what is added.

Everything that takes time is done in another thread, one thing after the other; what comes of it is shown here.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import cast

import msgspec
from textual import on
from textual.screen import Screen
from textual.worker import WorkType

from delegtop.app.screens.leaving import Leaving
from delegtop.app.state.reader_thread import Reader
from delegtop.app.widgets.spoken_view import ShownPiece, SpokenView
from delegtop.base.system_errors import reason_of
from delegtop.feed.spoken_pages import Place, SpokenPages, Window
from delegtop.model.delegation import Delegation
from delegtop.model.spoken import Utterance

_LOOK = 0.5
"""Seconds between two looks at whether something was added."""
_MOST = 4_000
"""Pieces that are held; beyond that those far away are let go, and read again when somebody goes there."""


class Held(msgspec.Struct, frozen=True):
    """The part of the conversation that is held."""

    start: Place
    end: Place
    is_first: bool
    is_last: bool


class ConversationReading(Leaving, Screen[None]):
    """A screen that holds a part of one conversation."""

    view: SpokenView

    def __init__(self, reader: Reader, facts: Delegation) -> None:
        super().__init__()
        self._reader, self._facts = reader, facts
        self.transcript: SpokenPages | None = None
        self.held: Held | None = None
        self.busy = ""
        """What is being done; nothing else is begun meanwhile."""
        self._next: tuple[str, Callable[[], object]] | None = None
        """What was asked for last, to be done then."""
        self.trouble = ""

    def draw(self) -> None:
        """What is held, or what is being done, is another."""
        raise NotImplementedError

    def read_on(self) -> None:
        """Begin, and look from time to time what was added."""
        self.begin("reading", self._open)
        self.set_interval(_LOOK, self._look)

    def begin(self, what: str, work: Callable[[], object], *, asked: bool = False) -> None:
        """Do something that takes time, unless something is being done: what somebody asked for is done after it."""
        if self.busy or not self.is_here:
            self._next = (what, work) if asked else self._next
            return
        self.busy = what
        to_do: WorkType[None] = partial(self._do, work)  # no coroutine yet: one that never begins is complained about
        self.run_worker(to_do, name=what, description=what, group="transcript")

    async def _do(self, work: Callable[[], object]) -> None:
        """The work reads in a thread, and gives back what is to be done with it here."""
        try:
            then = await asyncio.to_thread(work)
            self.trouble = ""
        except OSError as error:
            self.trouble = reason_of(error)
            then = None
        finally:
            self.busy = ""
        if self.is_here:
            if callable(then):
                then()
            if self._next is not None:
                (what, work), self._next = self._next, None
                self.begin(what, work)
            self.view.tell_if_near()  # who came there meanwhile was not heard
            self.draw()

    def _open(self) -> Callable[[], None]:
        transcript = self._reader.feed.transcript(self._facts)
        window = transcript.last()

        def show() -> None:
            self.transcript = transcript
            self.hold(window)

        return show

    def hold(self, window: Window, at: int | None = None) -> None:
        """Show this part instead of another."""
        self.held = Held(window.start, window.end, window.is_first, window.is_last)
        self.view.show(window.said, at=at)

    def _look(self) -> None:
        """What was added? Where it goes along, or the end is held, it appears."""
        held, transcript = self.held, self.transcript
        if transcript is None and self.trouble:
            self.begin("reading", self._open)
        elif held is not None and transcript is not None and held.is_last:
            self.begin("following", lambda: self._later(transcript, held))

    @on(SpokenView.Near)
    def _near(self, event: SpokenView.Near) -> None:
        event.stop()
        held, transcript = self.held, self.transcript
        if held is None or transcript is None:
            return
        if event.side < 0 and not held.is_first:
            self.begin("reading", lambda: self._earlier(transcript, held))
        elif event.side > 0 and not held.is_last:
            self.begin("reading", lambda: self._later(transcript, held))

    def _earlier(self, transcript: SpokenPages, held: Held) -> Callable[[], None]:
        window = transcript.earlier(window_of(held))

        def show() -> None:
            self.view.prepend(window.said)
            self.held = msgspec.structs.replace(held, start=window.start, is_first=window.is_first)
            self._let_go(end=True)

        return show

    def _later(self, transcript: SpokenPages, held: Held) -> Callable[[], None]:
        window = transcript.later(window_of(held))

        def show() -> None:
            if window.renewed:
                self._renew(window)
                return
            if window.said or window.end != held.end:
                self.view.append(window.said, follow=held.is_last)
            self.held = msgspec.structs.replace(held, end=window.end, is_last=window.is_last)
            self._let_go(end=False)

        return show

    def _renew(self, window: Window) -> None:
        """All may be otherwise: whoever was at the end stays there, and who reads stays where that was."""
        if self.view.is_at_end:
            self.hold(window)
            return
        unfolded = {_key(piece): piece.unfolded for piece in self.view.pieces if piece.unfolded is not None}
        cursor = self.view.cursor
        self.hold(window, at=min(cursor, len(window.said) - 1))
        for piece in self.view.pieces:
            piece.unfolded = unfolded.get(_key(piece))
        self.view.again()

    def _let_go(self, *, end: bool) -> None:
        """Hold no more than is of use. A line is held whole or not at all."""
        pieces, held, transcript = self.view.pieces, self.held, self.transcript
        if len(pieces) <= _MOST or held is None or transcript is None:
            return
        origins = [said_in(piece).origin for piece in pieces]
        if end:
            last = _MOST
            while last > 1 and origins[last] == origins[last - 1]:
                last -= 1
            place = transcript.place(origins[last])
            self.view.keep(0, last)
            self.held = msgspec.structs.replace(held, end=place, is_last=False)
        else:
            first = len(pieces) - _MOST
            while first < len(pieces) - 1 and origins[first] == origins[first - 1]:
                first += 1
            place = transcript.place(origins[first])
            self.view.keep(first, len(pieces))
            self.held = msgspec.structs.replace(held, start=place, is_first=False)

    @on(SpokenView.Edge)
    def _edge(self, event: SpokenView.Edge) -> None:
        """To the very beginning or end, wherever that is."""
        event.stop()
        held, transcript = self.held, self.transcript
        if held is None or transcript is None:
            return
        if held.is_first if event.side < 0 else held.is_last:
            self.view.select(0 if event.side < 0 else len(self.view.pieces) - 1)
            return

        def jump() -> Callable[[], None]:
            window = transcript.first() if event.side < 0 else transcript.last()
            return lambda: self.hold(window, at=0 if event.side < 0 else None)

        self.begin("reading", jump, asked=True)


def said_in(piece: ShownPiece) -> Utterance:
    return cast(Utterance, piece.what)


def _key(piece: ShownPiece) -> tuple[str, str, str]:
    said = said_in(piece)
    return said.voice.value, said.call, said.text[:80]


def window_of(held: Held) -> Window:
    return Window([], held.start, held.end, held.is_first, held.is_last)
