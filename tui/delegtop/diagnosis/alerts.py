"""Alerts: what is worth telling somebody who does not look at the screen, each thing once.

A delegation that is stuck, needs a person, is lost or ended badly; and a whole tree that is done. What was so before
anybody watched is no news, and what is only possible is not told: a false alarm costs more trust than a late one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.verdicts import Kind
from delegtop.diagnosis.watch_start import Beginning
from delegtop.model.forest import Forest
from delegtop.model.measures import label
from delegtop.model.states import ACTIVE, ENDED_BADLY, OPEN, State
from delegtop.model.store.ledger import Handle

_TOLD = frozenset({Urgency.STUCK, Urgency.PERSON, Urgency.JUST_ENDED})


class Cause(StrEnum):
    """Why somebody is told."""

    OVERDUE = "overdue"
    HUNG = "hung"
    LOST = "lost"
    FAILED = "failed"
    """It ended badly, in whatever way."""
    PERSON = "needs-person"
    DONE = "done"


class Alert(msgspec.Struct, frozen=True):
    """One thing to tell. The texts are foreign: whoever shows them makes them safe."""

    cause: Cause
    handle: Handle
    id: str
    name: str
    title: str | None
    state: State
    message: str
    at: Millis
    """When it was noticed."""
    since: Millis | None = None


class Alerts:
    """The alerts of one forest. Assessments are asked of the book that everybody asks."""

    def __init__(self, forest: Forest, assessments: Assessments) -> None:
        self._forest, self._assessments = forest, assessments
        self._told: set[tuple[Handle, Cause, Millis | None]] = set()
        self._open: set[Handle] = set()
        """Those that were open at the last look."""
        self._undone: set[Handle] = set()
        """Roots of trees that are not done."""
        self._beginning = Beginning()
        self._seen = 0

    def begin(self) -> None:
        """What is so by now is remembered and not told."""
        forest = self._forest
        self._beginning, self._seen = Beginning(forest.now, len(forest)), len(forest)
        for each in self._assessments.problems():
            self._told.add(_key(each))
        self._open = {handle for handle, _ in forest.in_states(OPEN)}
        self._undone = {root for root in forest.roots() if not _is_done(forest, root)}

    def look(self, changed: Iterable[Handle], assessed: Iterable[Handle]) -> list[Alert]:
        """What there is to tell now: `changed` have changed since the last look, `assessed` are assessed otherwise;
        trees that are done come last."""
        changed = set(changed)
        found = sorted(filter(None, map(self._assessments.known, assessed)), key=lambda each: each.key)
        alerts = [alert for each in found for alert in self._news(each)]
        alerts += self._done(changed)
        open_now = {handle for handle in changed if self._forest.state(handle) in OPEN}
        self._open = self._open - changed | open_now
        self._seen = len(self._forest)
        return alerts

    def _news(self, each: Assessment) -> Iterator[Alert]:
        key = _key(each)
        is_news = each.urgency in _TOLD or (each.state in ENDED_BADLY and each.handle in self._open)
        if not is_news or not each.problem or not each.is_sure or key in self._told:
            return
        self._told.add(key)
        late = each.handle >= self._beginning.known and self._beginning.is_past(each.since)
        if not late and not self._beginning.is_before(self._forest, each.handle):
            yield self._alert(each.handle, key[1], each.sentence(self._forest.now_of(each.handle)), each.since)

    def _done(self, changed: set[Handle]) -> Iterator[Alert]:
        forest = self._forest
        for root in sorted({_root(forest, handle) for handle in changed}):
            if not _is_done(forest, root):
                self._undone.add(root)
            elif root in self._undone or self._came_and_went(root):
                self._undone.discard(root)
                yield self._alert(root, Cause.DONE, count(forest, root), None)

    def _came_and_went(self, root: Handle) -> bool:
        """It began and was done between two looks."""
        return root >= self._seen and not self._beginning.is_before(self._forest, root)

    def _alert(self, handle: Handle, cause: Cause, message: str, since: Millis | None) -> Alert:
        forest, facts = self._forest, self._forest.delegation(handle)
        state = forest.state(handle)
        return Alert(cause, handle, facts.id, label(facts), facts.title, state, message, forest.now, since)


def cause(found: Assessment) -> Cause:
    """Why somebody is told of a problem."""
    if found.urgency is Urgency.PERSON or found.state is State.BLOCKED:
        return Cause.PERSON
    if found.state is State.LOST:
        return Cause.LOST
    if found.verdict is None:
        return Cause.FAILED
    return Cause.OVERDUE if found.verdict is Kind.OVERDUE else Cause.HUNG


def _key(found: Assessment) -> tuple[Handle, Cause, Millis | None]:
    """The same cause since another moment is another thing."""
    return found.handle, cause(found), found.since


def count(forest: Forest, root: Handle) -> str:
    """`12 delegations: 1 failed, 11 completed`."""
    states = Counter(forest.state(handle) for handle in _tree(forest, root))
    words = ", ".join(f"{states[state]} {state}" for state in State if states[state])
    return f"{states.total()} delegation{'' if states.total() == 1 else 's'}: {words}"


def _is_done(forest: Forest, root: Handle) -> bool:
    """Nothing in the tree is open, and it is known of its root that it is at rest."""
    if forest.state(root) in OPEN:
        return False
    return not any(forest.state(handle) in ACTIVE for handle in _tree(forest, root))


def _tree(forest: Forest, root: Handle) -> Iterator[Handle]:
    pending = [root]
    while pending:
        handle = pending.pop()
        yield handle
        pending += forest.offspring(handle)


def _root(forest: Forest, handle: Handle) -> Handle:
    while (above := forest.parent(handle)) is not None:
        handle = above
    return handle
