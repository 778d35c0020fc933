"""Which of the trees that are over have rows: the newest of those that ended while somebody looked, and all before.

The others are counted, and have rows again when something is told of them, or when they are asked for.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import NOW
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.events import Event
from delegtop.model.forest import Change, Forest
from delegtop.model.store.ledger import Handle

if TYPE_CHECKING:
    from delegtop.model.shortening import Shortening
    from delegtop.model.store.finished_trees import FinishedRow

KEPT = 5_000
"""Rows of what ended while somebody looked."""
_SLICE, _LONGEST = 0.02, 0.1
"""Seconds of every second that go into it, and if they come faster than they go."""


class FinishedRows:
    """Says when a forest is to be shortened, and does it a piece at a time."""

    def __init__(self, assessments: Assessments, since: Millis) -> None:
        self._assessments, self._forest, self._since = assessments, assessments.forest, since
        self.held: Callable[[], Iterable[Handle]] = tuple
        """Those that somebody looks at now."""
        self._kept = KEPT
        self._look_at = 2 * KEPT
        """How many delegations there are to be before it is worth a look."""
        self._shortening: Shortening | None = None
        self._begun = 0
        """How many delegations there were when it was begun."""

    @property
    def hidden(self) -> int:
        """How many delegations have no row."""
        return 0 if self._forest.finished is None else len(self._forest.finished)

    def earlier(self) -> Mapping[str, int]:
        """How many earlier troubles there are of each kind, with and without a row."""
        finished = self._forest.finished
        if finished is None:
            return self._assessments.earlier()
        found = Counter(self._assessments.earlier()) + finished.troubles
        return dict(found.most_common())

    def _trouble(self, handle: Handle) -> str | None:
        """What was the matter with one that went wrong; None if it is of this moment, or not judged yet."""
        seen = self._assessments.at_a_glance(handle)
        if seen is None or seen.urgency in NOW:
            return None
        return seen.kind if seen.urgency.problem else ""

    def follow(self, change: Change) -> None:
        """The forest was told something."""
        if self._shortening is not None:
            self._shortening.follow(change)

    def begin(self) -> None:
        """All that was there at the start is known. Nearly all of it was over before: that has rows."""
        if len(self._forest) >= self._look_at:
            self._look_after(len(self._forest))

    def cancel(self) -> None:
        """Another forest is shown, or another host has come."""
        self._shortening = None

    def second(self, needed: Collection[Handle] = ()) -> Forest | None:
        """Go on for a moment; the shorter forest once it is there. Those that are needed stay."""
        if self._shortening is not None and not self._shortening.has_all_hosts:
            self.cancel()
        if self._shortening is None and len(self._forest) >= self._look_at:
            self._begin(needed)
        if self._shortening is None or not self._shortening.work(self._slice()):
            return None
        shorter, self._shortening = self._shortening.finish({*self.held(), *needed}), None
        self._look_after(len(shorter))
        return shorter

    def _slice(self) -> float:
        """The more have come since it was begun, the sooner it is to be done: else they come faster than they go."""
        return min(_SLICE * (1 + (len(self._forest) - self._begun) / self._kept), _LONGEST)

    def _look_after(self, count: int) -> None:
        """Look again when there are so many more that it costs little for each of them."""
        self._look_at = count + max(self._kept, count // 4)

    def _begin(self, needed: Iterable[Handle]) -> None:
        from delegtop.model.shortening import Shortening  # few see so many

        self._begun = len(self._forest)
        self._look_after(self._begun)
        shortening = Shortening(self._forest, self._kept, self._since, {*self.held(), *needed}, self._trouble)
        if shortening.rows >= self._kept // 2:
            self._shortening = shortening

    def more(self) -> list[Event]:
        """What tells of those that went last: they are to have rows again, and as many more than before."""
        finished = self._forest.finished
        if finished is None:
            return []
        self._kept += KEPT
        return self._told(finished.take_newest(KEPT))

    def of(self, id: str) -> list[Event]:
        """What tells of this one and its tree, if they have no rows: they are to have them again. It may be named with
        its host; else it is looked for on all."""
        finished = self._forest.finished
        if finished is None:
            return []
        host, _, rest = id.partition(":")
        rows = finished.take([*((each, id) for each in self._forest.hosts), (host, rest)])
        return self._told(rows)

    def _told(self, rows: "Sequence[FinishedRow]") -> list[Event]:
        return [event for row in self._forest.unlearn(rows) for event in row.events()]
