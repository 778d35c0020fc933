"""Where the trouble is: the problems, and the worst of them in every subtree, kept up as things change.

A healthy parent comes up in the order with the child that hangs. Only problems and their ancestors are held, and the
ancestors only while someone sorts by them, so a million delegations that are well cost nothing.
"""

from collections.abc import Iterable

from delegtop.model.delegation import PROBLEMS, SEVERITY
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.measures import MOST_SEVERE, severity


class Trouble:
    """The problems of a forest."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.problems: dict[Handle, int] = {}
        """Every problem, with its severity."""
        self._worst: dict[Handle, int] = {}
        self._ranking = False
        self._stale = False

    def begin_again(self) -> None:
        """The forest is another one: find all problems in it. `settle` ranks the subtrees anew."""
        self.problems = {handle: SEVERITY[state] for handle, state in self._forest.in_states(PROBLEMS)}
        self.problems |= dict.fromkeys(self._forest.for_people(), MOST_SEVERE)
        self._stale = True

    def rank_subtrees(self, wanted: bool) -> None:
        """Keep the worst of every subtree from now on, or stop."""
        self._ranking, self._stale = wanted, True
        self.settle()

    def rank(self, handle: Handle) -> int:
        """The severity to sort by: the worst problem at or below it, else its own state."""
        own = severity(self._forest, handle)
        return min(self._worst.get(handle, own), own)

    def update(self, touched: Iterable[Handle], moved: bool = False) -> set[Handle]:
        """Look at these again; returns every delegation whose rank is worse now. What got better waits for `settle`."""
        changed: set[Handle] = set()
        self._stale |= moved
        for handle in touched:
            before, now = self.problems.get(handle), self._severity(handle)
            if before == now:
                continue
            if now is None:
                del self.problems[handle]
            else:
                self.problems[handle] = now
            if not self._ranking:
                continue
            if now is None or (before is not None and now > before):
                self._stale = True
            else:
                self._raise(handle, now, changed)
        return changed

    def settle(self) -> set[Handle]:
        """Find anew who speaks for whom, if something got better or moved; returns whose rank is another now."""
        if not self._stale:
            return set()
        before, self._worst, self._stale = self._worst, {}, False
        raised: set[Handle] = set()
        for handle, rank in self.problems.items() if self._ranking else ():
            self._raise(handle, rank, raised)
        return {handle for handle in before.keys() | raised if before.get(handle) != self._worst.get(handle)}

    def _severity(self, handle: Handle) -> int | None:
        """None if it is no problem."""
        found = severity(self._forest, handle)
        return found if found == MOST_SEVERE or self._forest.state(handle) in PROBLEMS else None

    def _raise(self, handle: Handle, rank: int, changed: set[Handle]) -> None:
        """Tell the ancestors, up to the first that knows of something as bad."""
        climber: Handle | None = handle
        while climber is not None and self._worst.get(climber, len(SEVERITY)) > rank:
            self._worst[climber] = rank
            changed.add(climber)
            climber = self._forest.parent(climber)
