"""From a row to where its agent is: to its session, or into its log.

A session is only ever opened by the operator's own hand: its pane is shown, or a command is shown that opens it and run
once that is confirmed. What is past, recorded or elsewhere is looked at, and nothing is opened for it.
"""

import asyncio
import os
import stat
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from textual.screen import Screen
from textual.worker import WorkType

from delegtop.app import clipboard, editor, tmux_panes
from delegtop.app.screens.copy import copy
from delegtop.app.screens.open_session import OpenSession
from delegtop.app.state.board import Board
from delegtop.app.state.reader_thread import Reader
from delegtop.base.clock import FrozenClock
from delegtop.base.origin import Origin
from delegtop.base.system_errors import reason_of
from delegtop.base.text import line
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.session_commands import Opening, opening
from delegtop.diagnosis.session_process import SessionProcess, session_process
from delegtop.kernel import proc_files
from delegtop.kernel.process_table import row_of
from delegtop.model.measures import label
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy
from delegtop.sources.discover import is_packed
from delegtop.sources.line_pages import number_of

_DATABASE = b"SQLite format 3\0"


class Lending(Protocol):
    """An application that lends its terminal to another program."""

    def lend(self, words: Sequence[str]) -> str: ...


class GoingThere:
    """What a screen with delegations can do to get to one of them."""

    _opened: ClassVar[dict[str, str]] = {}
    """The panes that were opened here, by session: one that is on its way is not opened twice."""

    def __init__(self, screen: Screen[Any], board: Board, reader: Reader) -> None:
        self._screen, self._board, self._reader = screen, board, reader

    # To its session

    def go(self, handle: Handle | None) -> None:
        """To the session of a delegation."""
        if handle is None:
            return None
        forest = self._board.forest  # asked now: when the worker comes to it another moment may be shown
        at, how = session_process(forest, handle), opening(Case(forest, handle))
        if at is None:
            return self._say(f"No session to go to: {how.why}.")
        if why := self._out_of_reach(at):
            return self._say(f"Not opened: {why}.")
        work: WorkType[None] = partial(self._go, at, how)  # no coroutine yet: one that never begins is complained about
        self._screen.run_worker(work, name="go there", description="go there", group="go there", exclusive=True)
        return None

    async def _go(self, at: SessionProcess, how: Opening) -> None:
        try:
            if tmux_panes.is_inside(os.environ) and await self._is_shown(at):
                return None
        except tmux_panes.TmuxTrouble as trouble:
            return self._say(f"tmux does not show it: {trouble}.")
        return self._offer(at, how)

    def _out_of_reach(self, at: SessionProcess) -> str:
        """Why nothing of this moment or place is opened; empty if it may be."""
        board = self._board
        if board.moment is not None or isinstance(board.clock, FrozenClock):
            return "this is the past; sessions are opened in the present"
        if at.facts.elsewhere:
            return f"it is on {at.facts.elsewhere}, and sessions are opened on this machine"
        if not any(map(self._reader.feed.is_first_hand, at.facts.origins)):
            return "this is a recording; what it tells of may be of another machine"
        return ""

    async def _is_shown(self, at: SessionProcess) -> bool:
        """Whether there is a pane that holds it: then it is shown."""
        known = await asyncio.to_thread(tmux_panes.panes)
        pane = None
        if at.is_there and at.pid is not None and _is_that_very(at):
            pane = await asyncio.to_thread(tmux_panes.holding, at.pid, known)
        elif (id := self._opened.get(at.facts.id)) is not None:
            pane = next((each for each in known if each.id == id), None)
        if pane is None:
            return False
        if pane.id == os.environ.get("TMUX_PANE"):
            self._say("Its program runs in this very pane: leave delegtop, and you are there.")
            return True
        await asyncio.to_thread(tmux_panes.go, pane, os.environ)
        return True

    def _offer(self, at: SessionProcess, how: Opening) -> None:
        """Show what opens it, or say where it is."""
        if how.command is None:
            terminal = _terminal(at)
            where = f"; its terminal is {terminal}" if terminal and terminal not in how.why else ""
            return self._say(f"Not opened: {how.why}{where}.")
        hide = privacy.hiding(self._board.table.masked)
        command = hide(how.command)
        if refused := clipboard.refusal(command):
            return self._say(f"Not opened: what opens it must not be run: {refused}.")
        name = hide(label(at.facts))
        if tmux_panes.is_inside(os.environ):
            session = at.facts.id
            self._screen.app.push_screen(
                OpenSession(name, command, how.why), lambda wanted: self._confirmed(wanted, session, command)
            )
        elif copy(self._screen, "command", command, ""):
            told = "Copied: this terminal is not in tmux, where a new window could be opened for it."
            self._screen.app.push_screen(OpenSession(name, command, how.why, copied=told))
        return None

    def _confirmed(self, wanted: bool | None, session: str, command: str) -> None:
        if wanted:
            work: WorkType[None] = partial(self._open, session, command)
            self._screen.run_worker(work, name="open", description="open", group="go there", exclusive=True)

    async def _open(self, session: str, command: str) -> None:
        try:
            self._opened[session] = await asyncio.to_thread(tmux_panes.open_window, command)
        except tmux_panes.TmuxTrouble as trouble:
            self._say(f"Not opened: {trouble}.")

    def _say(self, words: str) -> None:
        self._screen.notify(line(words, 600), markup=False, timeout=8)

    # Into its log

    def edit(self, origin: Origin | None) -> None:
        """A line of a log in the operator's editor."""
        if origin is None:
            return self._say("Not opened: nothing tells in which file it stands.")
        try:
            path = self._file(origin)
            number = origin.line or number_of(str(path), origin.offset)
            words = editor.command(path, number, os.environ)
        except (editor.NoEditor, OSError) as error:
            return self._say(f"Not opened: {reason_of(error)}.")
        if wrong := cast(Lending, self._screen.app).lend(words):
            self._say(wrong)
        return None

    def _file(self, origin: Origin) -> Path:
        """The file that it names, if an editor can show it; OSError says why not."""
        if origin.is_kernel:
            raise OSError("the kernel said so, and no file")
        if origin.host:
            raise OSError(f"the file is on {origin.host}")
        if not self._reader.feed.is_first_hand(origin):
            raise OSError("a recording tells of it, and the file is where that was made")
        if line(origin.source) != origin.source:
            raise OSError("the name of the file hides a control or invisible character")
        path = Path(origin.source).absolute()
        try:
            found = path.stat()
        except OSError as error:
            raise OSError(f"{path}: {reason_of(error)}") from error
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is no file that could be opened again")
        if is_packed(str(path)):
            raise OSError(f"{path.name} is compressed: the transcript (v) shows what stands in it")
        with path.open("rb") as file:
            if file.read(len(_DATABASE)) == _DATABASE:
                raise OSError(f"{path.name} is a database and no text: the transcript (v) shows what stands in it")
        return path


def _is_that_very(at: SessionProcess) -> bool:
    """Whether the process of that number is still the one that was seen: numbers are given again."""
    row = row_of(at.pid) if at.pid is not None else None
    if row is None:  # where nothing tells of processes, what was seen a moment ago is believed
        return not proc_files.is_mounted()
    return at.start_ticks is None or at.start_ticks == row.started


def _terminal(at: SessionProcess) -> str:
    """The terminal its program reads from, if that can be seen."""
    link = proc_files.link(at.pid, "fd", 0) if at.is_there and at.pid is not None else ""
    return link.removeprefix("/dev/") if link.startswith(("/dev/pts/", "/dev/tty")) else ""


def line_of(board: Board, handle: Handle) -> Origin | None:
    """The line that an operator wants to see of a delegation: what shows its problem, else its last sign of life."""
    facts, found = board.forest.delegation(handle), board.assessments.of(handle)
    places = (*found.evidence, facts.heard_origin, facts.ended_origin, facts.started_origin, *facts.origins)
    return next((place for place in places if place is not None and not place.is_kernel), None)
