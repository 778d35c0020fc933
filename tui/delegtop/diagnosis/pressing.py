"""What presses most at or below each delegation: a healthy parent comes up in the order with the child that hangs.

Only problems and those above them are held, so a million delegations that are well cost nothing. The problems of this
moment are few, and told anew in the tree of one that changes; earlier ones are many and stay as they are.
"""

from collections.abc import Iterable

import msgspec

from delegtop.diagnosis.assessment import NOW, Key, Urgency, key_of
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.kin import Parent
from delegtop.diagnosis.verdicts import Certainty
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle

_TROUBLE = frozenset(urgency for urgency in Urgency if urgency.problem)


class Pressing:
    """Kept up by `update` as assessments change."""

    def __init__(self, assessments: Assessments) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self.begin_again()

    def begin_again(self) -> None:
        """All assessments are others."""
        self._seen: dict[Handle, Key] = {}
        """Every problem, as it was last taken in."""
        self._now = _Now(self._forest.parent)
        """Those of them that are of this moment."""
        self._earlier: dict[Handle, Key] = {}
        self.update(self._assessments.in_order(earlier=True))

    def key(self, handle: Handle) -> Key:
        """The key of what presses most at or below it: that is its place in the order of looking."""
        own = self._own(handle)
        return min(own, self._now.told.get(handle, own), self._earlier.get(handle, own))

    def _own(self, handle: Handle) -> Key:
        known = self._assessments.key(handle)
        if known is not None:
            return known
        started, heard, ended = self._forest.times(handle)
        at_work = self._forest.state(handle) in ACTIVE
        urgency, since = (Urgency.AT_WORK, started) if at_work else (Urgency.AT_REST, ended or heard)
        return key_of(self._forest, handle, urgency, Certainty.CERTAIN, since)

    @property
    def troubled(self) -> Iterable[Handle]:
        """All at or below which there is a problem."""
        return self._now.told.keys() | self._earlier.keys()

    def below(self, handle: Handle) -> int:
        """How many problems of this moment are below it."""
        return self._now.below.get(handle, 0)

    def update(self, changed: Iterable[Handle], *, moved: bool = False) -> set[Handle]:
        """These are assessed otherwise, or `moved`: some are below others. Returns whose key is another now."""
        others = {handle for handle in changed if self._take(handle)}
        others |= self._now.tell(everywhere=moved)
        if moved or any(map(self._is_less_than_told, others)):
            others |= self._tell_earlier()
        else:
            for handle in filter(self._is_earlier, tuple(others)):
                _raise(self._forest.parent, self._earlier, handle, self._seen[handle], others)
        return others

    def _take(self, handle: Handle) -> bool:
        """Note its key; True if it is another."""
        key, before = self._assessments.key(handle), self._seen.get(handle)
        if key is not None and key[0] in _TROUBLE:
            self._seen[handle] = key
        else:
            self._seen.pop(handle, None)
        self._now.take(handle, key if key is not None and key[0] in NOW else None)
        return before != self._seen.get(handle)

    def _is_earlier(self, handle: Handle) -> bool:
        return handle in self._seen and handle not in self._now

    def _is_less_than_told(self, handle: Handle) -> bool:
        """Those above may have been told of it, and it is no earlier trouble any more, or an older one than it was."""
        told = self._earlier.get(handle)
        return told is not None and told[-1] == handle and (not self._is_earlier(handle) or told < self._seen[handle])

    def _tell_earlier(self) -> set[Handle]:
        before, self._earlier = self._earlier, {}
        raised: set[Handle] = set()
        for handle in filter(self._is_earlier, self._seen):
            _raise(self._forest.parent, self._earlier, handle, self._seen[handle], raised)
        return {handle for handle in before.keys() | raised if before.get(handle) != self._earlier.get(handle)}


class _Now:
    """The problems of this moment. When one of them changes, only those of its tree are told anew."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._keys: dict[Handle, Key] = {}
        self._root: dict[Handle, Handle] = {}
        self._trees: dict[Handle, _Tree] = {}
        self._stale: set[Handle] = set()
        """The roots of trees in which one has changed."""
        self.told: dict[Handle, Key] = {}
        """What presses most at or below each."""
        self.below: dict[Handle, int] = {}
        """How many are below each."""

    def __contains__(self, handle: Handle) -> bool:
        return handle in self._keys

    def take(self, handle: Handle, key: Key | None) -> None:
        """It is one of them, by that key, or it is none."""
        before = self._keys.get(handle)
        if before == key:
            return
        if before is None:
            self._enter(handle)
        root = self._root[handle]
        self._stale.add(root)
        if key is not None:
            self._keys[handle] = key
            return
        del self._keys[handle], self._root[handle]
        self._trees[root].problems.remove(handle)

    def _enter(self, handle: Handle) -> None:
        """Into the tree that it is in."""
        root, above = handle, self._parent(handle)
        while above is not None:
            root, above = above, self._parent(above)
        self._root[handle] = root
        self._trees.setdefault(root, _Tree(set(), set())).problems.add(handle)

    def tell(self, *, everywhere: bool) -> set[Handle]:
        """Tell those above; whose key is another now. `everywhere` if some are in another tree than they were."""
        before = self.told
        if everywhere:
            self.told, self.below, self._trees = {}, {}, {}
            for handle in self._keys:
                self._enter(handle)
            self._stale = set(self._trees)
        others: set[Handle] = set()
        for root in self._stale:
            others |= self._tell_in(root)
        self._stale = set()
        if everywhere:
            return {handle for handle in before.keys() | self.told if before.get(handle) != self.told.get(handle)}
        return others

    def _tell_in(self, root: Handle) -> set[Handle]:
        tree = self._trees[root]
        before = {handle: self.told.pop(handle) for handle in tree.aware}
        for handle in tree.aware:
            self.below.pop(handle, None)
        tree.aware.clear()
        for handle in tree.problems:
            _raise(self._parent, self.told, handle, self._keys[handle], tree.aware)
            above = self._parent(handle)
            while above is not None:
                self.below[above] = self.below.get(above, 0) + 1
                above = self._parent(above)
        if not tree.problems:
            del self._trees[root]
        return {handle for handle in before.keys() | tree.aware if before.get(handle) != self.told.get(handle)}


class _Tree(msgspec.Struct, frozen=True):
    problems: set[Handle]
    aware: set[Handle]
    """Those at or below which there is one."""


def _raise(parent: Parent, told: dict[Handle, Key], handle: Handle, key: Key, raised: set[Handle]) -> None:
    """Tell those above, up to the first that knows of something more pressing."""
    above: Handle | None = handle
    while above is not None and (above not in told or key < told[above]):
        told[above] = key
        raised.add(above)
        above = parent(above)
