"""What every delegation known from spans has in common: its id, and that nothing tells whether it is at work."""

from collections.abc import Iterator

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Noted, Outcome
from delegtop.model.notes import INFERRED, UNSEEN

PREFIX = "otel:"
"""Before every id: the same session may be told of by its own transcripts, which know what is running."""
LATE = "told by telemetry, which is written only when something is over: what is at work now, or hangs, is not in it"


def row_id(name: str) -> str:
    return PREFIX + name


def unseen(row: str, origin: Origin) -> Ended:
    """The weakest word on its end: nobody knows. Any end that is told outweighs it."""
    return Ended(row, None, origin, Outcome.UNKNOWN, Ending.UNSEEN)


def root_notes(row: str, origin: Origin) -> Iterator[Event]:
    yield Noted(row, None, origin, UNSEEN, LATE)
    yield unseen(row, origin)


class Guesses:
    """The notes on what is only inferred. Each is taken back where it was made, which may be in another file."""

    def __init__(self) -> None:
        self._open: dict[str, Origin] = {}

    def guess(self, row: str, origin: Origin, why: str) -> Iterator[Event]:
        """Say why it is shown though no record of its own was seen."""
        if row not in self._open:
            self._open[row] = origin
            yield Noted(row, None, origin, INFERRED, why)

    def settle(self, row: str, at: Millis | None) -> Iterator[Event]:
        """Now it was seen. The word with a time outweighs the one without."""
        origin = self._open.pop(row, None)
        if origin is not None:
            yield Noted(row, at or Millis(0), origin, INFERRED, "")
