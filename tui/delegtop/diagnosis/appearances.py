"""Appearances: who became a problem of the moment, as a recording is gone through."""

from collections.abc import Iterator

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import NOW
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle


class Appearances:
    """Follows one forest. What was a problem, ceased to be one and is one again appears again."""

    def __init__(self, forest: Forest) -> None:
        self._assessments = Assessments(forest)
        self._present: set[Handle] = set()

    def look(self, touched: set[Handle], lives: set[Handle]) -> Iterator[Handle]:
        """Those who are a problem now and were none at the last look."""
        self._assessments.touch(touched, lives)
        for handle in sorted(self._assessments.update()):
            seen = self._assessments.at_a_glance(handle)
            if seen is None or seen.urgency not in NOW:
                self._present.discard(handle)
            elif handle not in self._present:
                self._present.add(handle)
                yield handle

    def next_turn(self) -> Millis | None:
        """When to look again if nothing happens."""
        return self._assessments.next_turn()
