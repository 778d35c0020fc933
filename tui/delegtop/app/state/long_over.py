"""Whether all that is shown is long over: then it is worth more as it was than as it is."""

from collections.abc import Sequence

from delegtop.app.state.board import Board
from delegtop.base.clock import DAY, Millis, age
from delegtop.feed.recordings import recorded_at


class Bygone:
    """The last moment of what is shown, once that is more than a day ago."""

    def __init__(self, board: Board, sources: Sequence[str], *, replays: bool) -> None:
        self._board, self._sources, self._replays = board, sources, replays
        self.at: Millis | None = None
        """The moment to look at; None while something is heard of."""

    @property
    def words(self) -> str:
        """How long ago that was, for the first line; empty while something is heard of."""
        if self.at is None:
            return ""
        ago = f"last record {age(self._board.clock.now() - self.at)} ago"
        return f"{ago}: R replays it" if self._replays else ago

    def look(self) -> None:
        """Ask again: of recordings, which know the moment they were made at, else of the last record."""
        heard = self._board.forest.last_heard()
        if heard is not None and self._board.clock.now() - heard > DAY:
            recorded = [at for source in self._sources if (at := recorded_at(source)) is not None]
            heard = max(recorded, default=heard)
        self.at = heard if heard is not None and self._board.clock.now() - heard > DAY else None
