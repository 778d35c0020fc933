"""The queue of problems, worst first, found in slices: a hundred thousand delegations are never judged at once.

A sweep goes over all of them and asks only for the state of each, which is cheap. Only those that are not plainly
running or done are judged, and only again when what they rest on has changed.
"""

from bisect import bisect_left, insort
from typing import NamedTuple

from delegtop.clock import MINUTE, monotonic
from delegtop.diagnosis.problems import CANDIDATES, Key, Problem, problem
from delegtop.model.delegation import ACTIVE, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

_AT_A_TIME = 32
_REST = 1.0
"""Seconds from the end of a sweep to the next."""

Stamp = tuple[State, int, int, int]


class _Seen(NamedTuple):
    stamp: Stamp
    problem: Problem | None


class Queue:
    """The problems of a forest."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self._seen: dict[Handle, _Seen] = {}
        self._order: list[Key] = []
        self._next = 0
        self._swept_at: float | None = None
        self.version = 0
        """Grows with every change."""

    @property
    def is_complete(self) -> bool:
        """Whether everything has been looked at once."""
        return self._swept_at is not None

    @property
    def share(self) -> float:
        """How much of the first sweep is done."""
        return 1.0 if self.is_complete else self._next / max(len(self.forest), 1)

    def __len__(self) -> int:
        return len(self._order)

    def problems(self) -> list[Problem]:
        """Worst first."""
        return [found for key in self._order if (found := self._seen[key[-1]].problem) is not None]

    def of(self, handle: Handle) -> Problem | None:
        seen = self._seen.get(handle)
        return seen.problem if seen else None

    def settle(self, seconds: float, *, rest: bool = True) -> bool:
        """Go on for about that long, with a rest between sweeps; True if there is more to do now."""
        if rest and self._next == 0 and self._swept_at is not None and monotonic() - self._swept_at < _REST:
            return False
        until, count = monotonic() + seconds, len(self.forest)
        while self._next < count:
            for handle in range(self._next, min(self._next + _AT_A_TIME, count)):
                self._look_at(handle)
            self._next += _AT_A_TIME
            if self._next < count and monotonic() > until:
                return True
        self._next, self._swept_at = 0, monotonic()
        return False

    def _look_at(self, handle: Handle) -> None:
        forest, seen = self.forest, self._seen.get(handle)
        if forest.state(handle) not in CANDIDATES and not forest.needs_review(handle):
            if seen is not None:
                self._keep(seen, None)
                del self._seen[handle]
            return
        stamp = self._stamp(handle)
        if seen is not None and seen.stamp == stamp:
            return
        found = problem(forest, handle, forest.now)
        self._keep(seen, found)
        self._seen[handle] = _Seen(stamp, found)

    def _keep(self, seen: _Seen | None, found: Problem | None) -> None:
        before = seen.problem if seen else None
        if before == found:
            return
        self.version += 1
        if before is not None:
            del self._order[bisect_left(self._order, before.key)]
        if found is not None:
            insort(self._order, found.key)

    def _stamp(self, handle: Handle) -> Stamp:
        """What a verdict rests on: the state, the facts, those of the parent, and while it is open the time."""
        forest, parent = self.forest, self.forest.parent(handle)
        state = forest.state(handle)
        minute = forest.now // MINUTE if state in ACTIVE or state is State.LOST else 0
        return state, forest.version(handle), -1 if parent is None else forest.version(parent), minute
