"""Which trees have rows: those in which nothing but earlier trouble is left are told in one line, until they are asked
for. What of the others is shown, the filter decides."""

from collections.abc import Iterable

from delegtop.diagnosis.assessment import Urgency
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import Outline


class Showing:
    """Puts trees of the outline away, and gives them back."""

    def __init__(self, forest: Forest, outline: Outline, pressing: Pressing) -> None:
        self._forest, self._outline, self._pressing = forest, outline, pressing
        self._wanted = self._searched = False
        self._earlier: set[Handle] = set()
        """The roots of trees in which earlier trouble is what presses most."""
        self._away = False

    @property
    def earlier_shown(self) -> bool:
        """Whether the operator asked for earlier trouble."""
        return self._wanted

    @earlier_shown.setter
    def earlier_shown(self, wanted: bool) -> None:
        self._wanted = wanted
        self._settle()

    def searched(self, filtered: bool) -> None:
        """Somebody filters: whoever looks for something wants to find it, also among earlier trouble."""
        self._searched = filtered
        self._settle()

    @property
    def hides_earlier(self) -> bool:
        """Whether earlier trouble is told in one line. If there is nothing else, it is shown."""
        if self._wanted or self._searched or not self._earlier:
            return False
        return len(self._earlier) < self._outline.roots

    def begin_again(self) -> None:
        """Other delegations, or all are assessed anew."""
        self._away = False
        self._earlier = set()
        self.follow(self._pressing.troubled)

    def follow(self, changed: Iterable[Handle]) -> None:
        """Something else presses in these than before."""
        for root in changed:
            if self._forest.parent(root) is None and self._is_earlier(root) != (root in self._earlier):
                (self._earlier.discard if root in self._earlier else self._earlier.add)(root)
                if self._away:
                    self._outline.put_away(root, root in self._earlier)
            elif root in self._earlier and self._forest.parent(root) is not None:
                self._earlier.discard(root)  # it has become part of another tree
        self._settle()

    def _is_earlier(self, root: Handle) -> bool:
        return self._pressing.key(root)[0] == Urgency.EARLIER

    def _settle(self) -> None:
        if self.hides_earlier == self._away:
            return
        self._away = not self._away
        for root in self._earlier:
            self._outline.put_away(root, self._away)
