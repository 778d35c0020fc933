"""Habits: how long a kind of agent usually takes, learned from those that are done."""

from bisect import bisect_left, insort

from delegtop.clock import Millis
from delegtop.model.ledger import Handle

ENOUGH = 8
"""So many finished ones of a kind say what is usual; fewer say nothing."""
SHARE = 0.95

Kind = tuple[str | None, str | None]
"""The program and the kind of agent."""


class Habits:
    """Durations of finished delegations by kind. What is usual is a function of the set alone, not of its order."""

    def __init__(self) -> None:
        self._learned: dict[Handle, tuple[Kind, int]] = {}
        self._durations: dict[Kind, list[int]] = {}

    def learn(self, handle: Handle, kind: Kind, duration: int | None) -> bool:
        """It took so long, or (None) it is not done after all; True if what is usual for its kind changed."""
        before = self._learned.get(handle)
        now = None if duration is None else (kind, duration)
        if before == now:
            return False
        usual = self.usual(kind)
        if before is not None:
            durations = self._durations[before[0]]
            del durations[bisect_left(durations, before[1])]
            del self._learned[handle]
        if now is not None:
            insort(self._durations.setdefault(kind, []), now[1])
            self._learned[handle] = now
        return self.usual(kind) != usual

    def usual(self, kind: Kind) -> tuple[Millis, int] | None:
        """The time within which all but a twentieth were done, and how many that rests on; None if too few."""
        durations = self._durations.get(kind, [])
        if len(durations) < ENOUGH:
            return None
        return Millis(durations[min(len(durations) - 1, int(len(durations) * SHARE))]), len(durations)
