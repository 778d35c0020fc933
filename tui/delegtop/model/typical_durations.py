"""How long a kind of agent usually takes, learned from those that are done."""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from delegtop.base.clock import Millis
from delegtop.model.policy import Kind, Usual
from delegtop.model.store.ledger import Handle

ENOUGH = 8
"""So many finished ones of a kind say what is usual; fewer say nothing."""
SHARE = 0.95


class TypicalDurations:
    """Durations of finished delegations by kind. What is usual is a function of the set alone, not of its order."""

    def __init__(self) -> None:
        self._learned: dict[Handle, tuple[Kind, int]] = {}
        self._durations: dict[Kind, array[int]] = {}
        """In order; with those of delegations that have no number any more."""

    def learn(self, handle: Handle, kind: Kind, duration: int | None) -> None:
        """It took so long, or (None) it is not done after all."""
        before = self._learned.get(handle)
        now = None if duration is None else (kind, duration)
        if before == now:
            return
        if before is not None:
            self.forget(*before)
            del self._learned[handle]
        if now is not None:
            insort(self._durations.setdefault(kind, array("q")), now[1])
            self._learned[handle] = now

    def of(self, handle: Handle) -> tuple[Kind, int] | tuple[None, None]:
        """What was learned from this one."""
        return self._learned.get(handle, (None, None))

    def take_over(self, other: "TypicalDurations") -> None:
        """Know all that the other does, who learned of the same delegations and of more."""
        self._durations = other._durations

    def forget(self, kind: Kind, duration: int) -> None:
        """One of this kind that took so long is not known any more."""
        durations = self._durations[kind]
        del durations[bisect_left(durations, duration)]

    def all(self) -> dict[Kind, Usual]:
        """What is usual for every kind of which enough are known."""
        return {kind: usual for kind in self._durations if (usual := self.usual(kind)) is not None}

    def spans(self) -> Iterator[tuple[Kind, Sequence[int]]]:
        """How long all of each kind took."""
        return iter(self._durations.items())

    def usual(self, kind: Kind) -> Usual | None:
        """The time within which all but a twentieth were done, and how many that rests on; None if too few."""
        durations = self._durations.get(kind, ())
        if len(durations) < ENOUGH:
            return None
        return Millis(durations[min(len(durations) - 1, int(len(durations) * SHARE))]), len(durations)
