"""Whether all that is shown is long over: then it is worth more as it was than as it is."""

from collections.abc import Sequence

from delegtop.app.board import Board
from delegtop.clock import DAY, Millis
from delegtop.feed.recorder import recorded_at
from delegtop.model.measures import last_heard


class Bygone:
    """The last moment of what is shown, once that is more than a day ago."""

    def __init__(self, board: Board, sources: Sequence[str]) -> None:
        self._board, self._sources = board, sources
        self.at: Millis | None = None
        """The moment to look at; None while something is heard of."""

    def look(self) -> None:
        """Ask again: of recordings, which know the moment they were made at, else of the last record."""
        heard = last_heard(self._board.forest)
        if heard is not None and self._board.clock.now() - heard > DAY:
            recorded = [at for source in self._sources if (at := recorded_at(source)) is not None]
            heard = max(recorded, default=heard)
        self.at = heard if heard is not None and self._board.clock.now() - heard > DAY else None
