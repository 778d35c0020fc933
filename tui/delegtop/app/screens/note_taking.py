"""What the operator notes of a problem: seen to, put off until a time, or a few words."""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import partial
from typing import Any

from textual.screen import Screen

from delegtop.app.pages.inspector.page_words import moment
from delegtop.app.pages.triage import put_off
from delegtop.app.screens.ask import Ask
from delegtop.app.state.board import Board
from delegtop.app.state.problem_marks import Marks, Problem


class Noting:
    """Asks where something must be asked, keeps the answer, and tells if it could not be kept."""

    def __init__(
        self, screen: Screen[Any], board: Board, marks: Marks, zone: tzinfo | None, changed: Callable[[], None]
    ) -> None:
        self._screen, self._board, self._marks, self._zone = screen, board, marks, zone
        self._changed = changed

    def acknowledge(self, problem: Problem) -> None:
        """It is seen to, or not after all."""
        mark = self._marks.of(problem)
        done = not (mark is not None and mark.acknowledged)
        self._kept(self._marks.acknowledge(problem, self._board.forest.shown_at, done))

    def acknowledge_all(self, problems: Sequence[Problem]) -> None:
        """All of these are seen to."""
        now = self._board.forest.shown_at
        kept = [self._marks.acknowledge(problem, now) for problem in problems]
        self._kept(all(kept))
        self._screen.notify(f"{len(problems):,} acknowledged.", markup=False)

    def snooze(self, problem: Problem) -> None:
        """Put it off, or wake it."""
        mark = self._marks.of(problem)
        if mark is not None and mark.until is not None:
            self._kept(self._marks.snooze(problem, self._board.forest.shown_at, None))
            return

        def wrong(text: str) -> str:
            told = put_off.until(text, self._board.forest.shown_at, self._zone)
            return "" if told is not None else f"That is no time to come. Try {put_off.EXAMPLES}"

        ask = Ask("Put it off until", f"{put_off.EXAMPLES}  ·  enter keeps, esc leaves", "1h", wrong)
        self._screen.app.push_screen(ask, partial(self._snoozed, problem))

    def _snoozed(self, problem: Problem, text: str | None) -> None:
        forest = self._board.forest
        until = None if text is None else put_off.until(text, forest.shown_at, self._zone)
        if until is not None:
            self._kept(self._marks.snooze(problem, forest.shown_at, until))
            self._screen.notify(f"Put off until {moment(until, forest.shown_at, self._zone)}.", markup=False)

    def note(self, problem: Problem) -> None:
        mark = self._marks.of(problem)
        ask = Ask("Your note", "kept in the state folder  ·  enter keeps, esc leaves", mark.note if mark else "")
        self._screen.app.push_screen(ask, partial(self._noted, problem))

    def _noted(self, problem: Problem, text: str | None) -> None:
        if text is not None:
            self._kept(self._marks.write(problem, self._board.forest.shown_at, text.strip()))

    def _kept(self, kept: bool) -> None:
        if not kept:
            self._screen.notify(f"Not kept: {self._marks.trouble}", severity="warning", markup=False)
        self._changed()
