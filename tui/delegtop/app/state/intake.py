"""From the reader's queue to the board, a slice at a time: however much arrives, the screen goes on answering keys.

A pause holds events back here. When it has held very many, the reader is left waiting: the files keep the rest.
"""

from collections import deque
from typing import TYPE_CHECKING

from textual.message import Message

from delegtop.base.clock import monotonic

if TYPE_CHECKING:
    from delegtop.app.state.board import Board
    from delegtop.app.state.reader_thread import Reader
    from delegtop.feed.batch import Batch

HELD = 500_000
SECONDS = 60
_FIRST, _LEAST, _MOST = 256, 128, 5_000
_PIECE = 0.004
"""Seconds one piece may take: so long a key waits at most that is pressed amid a slice."""


class Wake(Message):
    """There is something to take in. Only one is ever under way."""


class Intake:
    """Takes batches apart into pieces that are done within the time a slice has."""

    def __init__(self, reader: "Reader", board: "Board") -> None:
        self._reader, self._board = reader, board
        self._waiting: deque[Batch] = deque()
        self.held = 0
        """Events that have been read and are not on the board yet."""
        self.rates: deque[int] = deque([0] * SECONDS, SECONDS)
        """Events read in each of the last seconds, newest last."""
        self._counted = 0
        self._piece = _FIRST
        self._cut = False

    @property
    def more(self) -> bool:
        """Is there something that the next slice could do?"""
        if self._board.paused:
            return self._reader.waiting and self.held < HELD
        return bool(self._waiting) or self._reader.waiting or self._board.lags

    def cut_short(self) -> None:
        """Let go of the slice that is under way, as soon as its piece is done. From any thread."""
        self._cut = True

    def slice(self, seconds: float) -> bool:
        """Work for about that long; True if rows came or moved. While there is more, rows are left to the next frame,
        unless many wait for it: what has begun and ended before is looked at once."""
        self._cut = moved = False
        until = monotonic() + seconds
        while not self._cut and monotonic() < until:
            if self._board.paused:
                if self.held >= HELD or not self._fetch():
                    break
            elif self._board.lags:
                moved |= self._board.refresh(_PIECE)
            elif self._waiting or self._fetch(_PIECE if self._reader.busy else 0.0):
                self._apply()
            else:
                break
        return (not (self._cut or self.more or self._reader.busy) and self._board.refresh()) or moved

    def second(self) -> None:
        """Close one second of the event rate."""
        self.rates.append(self._counted)
        self._counted = 0

    def _fetch(self, seconds: float = 0.0) -> bool:
        batch = self._reader.take(seconds)
        if batch is None:
            return False
        if batch.forest is not None and all(waiting.at is not None for waiting in self._waiting):
            self._waiting.clear()  # of the past only the last place asked for is worth showing
            self.held = 0
        self._waiting.append(batch)
        self.held += batch.size
        self._counted += batch.size
        return True

    def _apply(self) -> None:
        """One piece. The next one is made smaller or larger by how long this one took."""
        batch = self._waiting.popleft()
        if batch.forest is not None:
            self._board.leap(batch.forest)
        elif batch.at is None:
            self._board.reach(None)
        piece, rest = batch.events[: self._piece], batch.events[self._piece :]
        began = monotonic()
        self._board.receive(piece)
        took = monotonic() - began
        self.held -= len(piece)
        if rest:
            from delegtop.feed.batch import Batch  # the first picture has nothing to take in

            self._waiting.appendleft(Batch(rest, batch.at, ledger=batch.ledger))
            wanted = int(len(piece) * _PIECE / max(took, 1e-6))
            self._piece = max(_LEAST, min(wanted, 2 * self._piece, _MOST))
        else:
            if batch.ledger is not None:
                self._board.absorb(batch.ledger)
                self.held -= len(batch.ledger)
            self._board.reach(batch.at)
