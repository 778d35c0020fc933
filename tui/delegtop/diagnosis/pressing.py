"""What presses most at or below each delegation: a healthy parent comes up in the order with the child that hangs.

Only problems and those above them are held, so a million delegations that are well cost nothing. The problems of this
moment are few, and told anew when one of them changes; earlier ones are many and stay as they are.
"""

from collections.abc import Iterable

from delegtop.diagnosis.assessment import Key, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle


class Pressing:
    """Kept up by `update` as assessments change."""

    def __init__(self, assessments: Assessments) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self.begin_again()

    def begin_again(self) -> None:
        """All assessments are others."""
        self._seen: dict[Handle, Key] = {}
        """Every problem, as it was last taken in."""
        self._pressing: set[Handle] = set()
        """Those of them that are of this moment."""
        self._now: dict[Handle, Key] = {}
        self._earlier: dict[Handle, Key] = {}
        self._below: dict[Handle, int] = {}
        self.update(each.handle for each in self._assessments.problems())

    def key(self, handle: Handle) -> Key:
        """The key of what presses most at or below it: that is its place in the order of looking."""
        own = self._own(handle)
        return min(own, self._now.get(handle, own), self._earlier.get(handle, own))

    def _own(self, handle: Handle) -> Key:
        known = self._assessments.known(handle)
        if known is not None:
            return known.key
        started, heard, ended = self._forest.times(handle)
        if self._forest.state(handle) in ACTIVE:
            return Urgency.AT_WORK, -(started or 0), handle
        return Urgency.AT_REST, -(ended or heard or 0), handle

    @property
    def troubled(self) -> Iterable[Handle]:
        """All at or below which there is a problem."""
        return self._now.keys() | self._earlier.keys()

    def below(self, handle: Handle) -> int:
        """How many problems of this moment are below it."""
        return self._below.get(handle, 0)

    def update(self, changed: Iterable[Handle], *, moved: bool = False) -> set[Handle]:
        """These are assessed otherwise, or `moved`: some are below others. Returns whose key is another now."""
        others = {handle for handle in changed if self._take(handle)}
        if moved or any(handle in self._now or handle in self._pressing for handle in others):
            others |= self._tell_now()
        if moved or any(map(self._is_less_than_told, others)):
            others |= self._tell_earlier()
        else:
            for handle in filter(self._is_earlier, tuple(others)):
                self._raise(self._earlier, handle, others)
        return others

    def _take(self, handle: Handle) -> bool:
        """Note its key; True if it is another."""
        known, before = self._assessments.known(handle), self._seen.get(handle)
        if known is not None and known.problem:
            self._seen[handle] = known.key
        else:
            self._seen.pop(handle, None)
        is_now = known is not None and known.is_now
        (self._pressing.add if is_now else self._pressing.discard)(handle)
        return before != self._seen.get(handle)

    def _is_earlier(self, handle: Handle) -> bool:
        return handle in self._seen and handle not in self._pressing

    def _is_less_than_told(self, handle: Handle) -> bool:
        """Those above may have been told of it, and it is no earlier trouble any more, or an older one than it was."""
        told = self._earlier.get(handle)
        return told is not None and told[-1] == handle and (not self._is_earlier(handle) or told < self._seen[handle])

    def _tell_now(self) -> set[Handle]:
        before, self._now, self._below = self._now, {}, {}
        raised: set[Handle] = set()
        for handle in self._pressing:
            self._raise(self._now, handle, raised)
            climber = self._forest.parent(handle)
            while climber is not None:
                self._below[climber] = self._below.get(climber, 0) + 1
                climber = self._forest.parent(climber)
        return {handle for handle in before.keys() | raised if before.get(handle) != self._now.get(handle)}

    def _tell_earlier(self) -> set[Handle]:
        before, self._earlier = self._earlier, {}
        raised: set[Handle] = set()
        for handle in filter(self._is_earlier, self._seen):
            self._raise(self._earlier, handle, raised)
        return {handle for handle in before.keys() | raised if before.get(handle) != self._earlier.get(handle)}

    def _raise(self, told: dict[Handle, Key], handle: Handle, raised: set[Handle]) -> None:
        """Tell those above, up to the first that knows of something more pressing."""
        key, climber = self._seen[handle], handle
        above: Handle | None = climber
        while above is not None and (above not in told or key < told[above]):
            told[above] = key
            raised.add(above)
            above = self._forest.parent(above)
