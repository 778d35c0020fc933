"""What the files of one session tell, gathered while they are read, so that it can be kept once they are at rest."""

from collections.abc import Sequence

from delegtop.feed.kept_session import Told, told_by
from delegtop.feed.running_starts import RunningStarts
from delegtop.model.call_durations import CallCounts
from delegtop.model.events import Deviation, Event, Heard
from delegtop.model.store.ledger import Ledger

_MOST = 200_000
"""Events beside signs of life: more are not held in memory only to be kept."""


class SessionGathering:
    """All that was told since its files are read. Signs of life are folded: there may be millions."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.is_spoilt = False
        """Something in it is not of these files alone, or was told of what stands in them no longer."""
        self._signs = Ledger()
        self._events: list[Event] = []
        self._running = RunningStarts()
        self._order: dict[str, None] = {}
        self.calls = CallCounts()

    def take(self, events: Sequence[Event]) -> None:
        if len(self._events) > _MOST:
            self.is_spoilt = True
            self._events, self._signs, self._running, self.calls = [], Ledger(), RunningStarts(), CallCounts()
            return
        self.calls.heed(events)
        heard: list[Event] = []
        for event in events:
            if event.origin.source not in self.paths:
                self.is_spoilt = True
            if type(event) is Heard:
                heard.append(event)
                self._order[event.id] = None
            elif not isinstance(event, Deviation):
                self._events.append(event)
                self._order[getattr(event, "id", "")] = None
                self._running.mind(event)
        self._signs.apply(heard, set(), set(), set(), set())

    def told(self) -> Told | None:
        """All of it; None if it cannot be kept."""
        signs = [self._signs.last_sign(handle) for handle in self._signs]
        order = [id for id in self._order if id]
        return told_by(self._events, signs, self._signs.pulse.minutes, order, [*self._running])
