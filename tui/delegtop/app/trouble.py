"""Where the trouble is: the problems, and the worst of them in every subtree, kept up as things change.

A healthy parent comes up in the order with the child that hangs. Only problems and their ancestors are held, so a
million delegations that are well cost nothing.
"""

from collections.abc import Iterable

from delegtop.model.delegation import PROBLEMS, SEVERITY
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle


class Trouble:
    """The problems of a forest."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.problems: dict[Handle, int] = {}
        """Every problem, with its severity."""
        self._worst: dict[Handle, int] = {}

    def rank(self, handle: Handle) -> int:
        """The severity to sort by: the worst problem at or below it, else its own state."""
        own = SEVERITY[self._forest.state(handle)]
        return min(self._worst.get(handle, own), own)

    def update(self, touched: Iterable[Handle], moved: bool = False) -> set[Handle]:
        """Look at these again; returns every delegation whose rank may be another now."""
        changed: set[Handle] = set()
        eased = moved
        for handle in touched:
            state = self._forest.state(handle)
            before, now = self.problems.get(handle), SEVERITY[state] if state in PROBLEMS else None
            if before == now:
                continue
            changed.add(handle)
            if now is None:
                del self.problems[handle]
            else:
                self.problems[handle] = now
            if now is None or (before is not None and now > before):
                eased = True
            elif not eased:
                self._raise(handle, now, changed)
        return changed | self._rebuild() if eased else changed

    def _raise(self, handle: Handle, severity: int, changed: set[Handle]) -> None:
        """Tell the ancestors, up to the first that knows of something as bad."""
        climber: Handle | None = handle
        while climber is not None and self._worst.get(climber, len(SEVERITY)) > severity:
            self._worst[climber] = severity
            changed.add(climber)
            climber = self._forest.parent(climber)

    def _rebuild(self) -> set[Handle]:
        """Something got better, or moved: who was spoken for by whom is found anew."""
        before, self._worst = self._worst, {}
        raised: set[Handle] = set()
        for handle, severity in self.problems.items():
            self._raise(handle, severity, raised)
        return {handle for handle in before.keys() | raised if before.get(handle) != self._worst.get(handle)}
