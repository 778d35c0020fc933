"""Once a day the history is read, to know how long each kind of agent, each tool and the model usually take."""

import subprocess

from delegtop import learned_durations
from delegtop.app.state import background_command
from delegtop.app.state.board import Board
from delegtop.base.clock import monotonic

_PATIENCE = 15.0
"""Seconds after the start: first the operator sees what there is."""
_PAUSE = 3600.0
"""Seconds until the next look whether what was learned is still good."""


class Learning:
    """Looks every second whether there is something to learn, or something was learned."""

    def __init__(self, board: Board, patience: float = _PATIENCE) -> None:
        self._board = board
        self._process: subprocess.Popen[bytes] | None = None
        self._look_at = monotonic() + patience

    def second(self) -> None:
        if self._board.loading:
            return
        if self._process is not None:
            if self._process.poll() is not None:
                self._process = None
                learned = learned_durations.load()
                self._board.forest.reconsider(learned.usual(), learned.counts())
        elif monotonic() >= self._look_at:
            self._look_at = monotonic() + _PAUSE
            if learned_durations.load().is_stale(self._board.clock.now()):
                self._process = background_command.start("learn", "--quiet")

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
