"""How long a kind of agent usually takes, learned from those that are done."""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from delegtop.base.clock import Millis
from delegtop.model.policy import Kind, Usual
from delegtop.model.store.ledger import Handle
from delegtop.model.store.numbers import Numbering

ENOUGH = 8
"""So many finished ones of a kind say what is usual; fewer say nothing."""
SHARE = 0.95
_NOTHING = -1
"""Stands for the kind of one from which nothing was learned."""


class TypicalDurations:
    """Durations of finished delegations by kind. What is usual is a function of the set alone, not of its order."""

    def __init__(self) -> None:
        self._kinds = Numbering()
        self._kind, self._took = array("i"), array("q")
        """Of each delegation the number of its kind, and how long it took: nearly all are done at last."""
        self._durations: dict[Kind, array[int]] = {}
        """In order; with those of delegations that have no number any more."""

    def learn(self, handle: Handle, kind: Kind, duration: int | None) -> None:
        """It took so long, or (None) it is not done after all."""
        before = self._learned(handle)
        now = None if duration is None else (kind, duration)
        if before == now:
            return
        if before is not None:
            self.forget(*before)
            self._kind[handle] = _NOTHING
        if duration is not None:
            insort(self._durations.setdefault(kind, array("q")), duration)
            if (missing := handle + 1 - len(self._kind)) > 0:
                self._kind.extend([_NOTHING] * missing)
                self._took.extend([0] * missing)
            self._kind[handle], self._took[handle] = self._kinds[kind], duration

    def of(self, handle: Handle) -> tuple[Kind, int] | tuple[None, None]:
        """What was learned from this one."""
        return self._learned(handle) or (None, None)

    def _learned(self, handle: Handle) -> tuple[Kind, int] | None:
        number = self._kind[handle] if handle < len(self._kind) else _NOTHING
        return None if number == _NOTHING else (self._kinds.things[number], self._took[handle])

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
