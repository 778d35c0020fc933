"""Alerts: what is worth telling somebody who does not look at the screen, each thing once.

A delegation that is stuck, needs a person, is lost or ended badly; that this is over; and a whole tree that is done.
What was so before anybody watched is no news, and what is only possible is not told: a false alarm costs more trust
than a late one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from delegtop.base.clock import SECOND, Millis, duration
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.verdicts import Kind
from delegtop.diagnosis.watch_start import Beginning
from delegtop.model.forest import Forest
from delegtop.model.measures import folder, label, told_host
from delegtop.model.states import ACTIVE, ENDED_BADLY, OPEN, State
from delegtop.model.store.ledger import Handle

_TOLD = frozenset({Urgency.STUCK, Urgency.PERSON, Urgency.JUST_ENDED})
_ENDS = ENDED_BADLY | {State.LOST}
_CALM = 30 * SECOND
"""What seems to be over, though its log says nothing new, must seem so for this long."""


class Cause(StrEnum):
    """Why somebody is told."""

    OVERDUE = "overdue"
    HUNG = "hung"
    LOST = "lost"
    FAILED = "failed"
    """It ended badly, in whatever way."""
    PERSON = "needs-person"
    RESOLVED = "resolved"
    """What was told is over: it goes on, was answered, or ended well. A bad end is told as such instead."""
    DONE = "done"


Told = tuple[Handle, Cause, Millis | None]
"""What is told once, and since when it is so."""
PROBLEMS = frozenset(Cause) - {Cause.RESOLVED, Cause.DONE}


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
    """Since when it is so; of what is over, since when it was."""
    root: str = ""
    """The id of the delegation at the top of its tree."""
    folder: str | None = None
    kind: str = ""
    """What is the matter, or was, in the words shown to people."""
    todo: str = ""
    was: Cause | None = None
    """Of what is over, why somebody was told."""
    host: str = ""
    """The machine it is on, where several are looked at."""


class Alerts:
    """The alerts of one forest. Assessments are asked of the book that everybody asks."""

    def __init__(self, forest: Forest, assessments: Assessments) -> None:
        self._forest, self._assessments = forest, assessments
        self._told: set[Told] = set()
        self._open: set[Handle] = set()
        """Those that were open at the last look."""
        self._undone: set[Handle] = set()
        """Roots of trees that are not done."""
        self._unresolved: dict[Handle, Alert] = {}
        """What was told last of each that has not come right; since the first of it."""
        self._calming: dict[Handle, Millis] = {}
        """Of which that seems to be over, though they said nothing, and since when."""
        self._beginning = Beginning()
        self._seen = 0

    def begin(self, *, telling: bool = False) -> list[Alert]:
        """What is so by now is remembered, and not told unless that is wanted."""
        forest = self._forest
        self._beginning, self._seen = Beginning(forest.shown_at, len(forest)), len(forest)
        self._told.update(self._told_by_now())
        self._open = {handle for handle, _ in forest.in_states(OPEN)}
        self._undone = {root for root in forest.roots() if not _is_done(forest, root)}
        pressing = [each for each in self._assessments.now() if each.urgency in _TOLD and each.is_sure]
        return [self._problem(each) for each in pressing] if telling else []

    def renumber(self, before: Forest) -> None:
        """The same delegations have other handles than they had before, in the same order; some have none any more."""
        new = {h: found for h in range(len(before)) if (found := self._forest.same(before, h)) is not None}
        self._told = {(new[handle], why, since) for handle, why, since in self._told if handle in new}
        self._open = {new[handle] for handle in self._open if handle in new}
        self._undone = {new[handle] for handle in self._undone if handle in new}
        self._unresolved = {
            new[handle]: msgspec.structs.replace(alert, handle=new[handle])
            for handle, alert in self._unresolved.items()
            if handle in new
        }
        self._calming = {new[handle]: since for handle, since in self._calming.items() if handle in new}
        self._beginning = self._beginning._replace(known=sum(handle < self._beginning.known for handle in new))
        self._seen = sum(handle < self._seen for handle in new)

    def look(self, changed: Iterable[Handle], assessed: Iterable[Handle]) -> list[Alert]:
        """What there is to tell now: `changed` have changed since the last look, `assessed` are assessed otherwise;
        what is over comes first, trees that are done come last."""
        changed, assessed = set(changed), set(assessed)
        over = [self._resolved(handle) for handle in sorted(self._over(assessed))]
        known = map(self._assessments.known, filter(self._may_be_news, assessed))
        found = sorted(filter(None, known), key=lambda each: each.key)
        alerts = [*over, *(alert for each in found for alert in self._news(each)), *self._done(changed)]
        open_now = {handle for handle in changed if self._forest.state(handle) in OPEN}
        self._open = self._open - changed | open_now
        self._seen = len(self._forest)
        return alerts

    def _told_by_now(self) -> Iterator[Told]:
        """All problems. Of those that have ended there may be thousands, and how they did says it all."""
        for handle in self._assessments.in_order(earlier=True):
            state, known = self._forest.state(handle), self._assessments.looked_at(handle)
            if known is None and state in ENDED_BADLY:
                yield handle, Cause.PERSON if state is State.BLOCKED else Cause.FAILED, self._forest.times(handle)[2]
            elif (known := self._assessments.known(handle)) is not None:
                yield _key(known)

    def _may_be_news(self, handle: Handle) -> bool:
        seen, state = self._assessments.at_a_glance(handle), self._forest.state(handle)
        return seen is not None and (seen.urgency in _TOLD or (state in ENDED_BADLY and handle in self._open))

    def _news(self, each: Assessment) -> Iterator[Alert]:
        key = _key(each)
        is_news = each.urgency in _TOLD or (each.state in ENDED_BADLY and each.handle in self._open)
        if not is_news or not each.problem or not each.is_sure or key in self._told:
            return
        self._told.add(key)
        late = self._beginning.is_past(self._forest, each.handle, each.since)
        if not late and not self._beginning.is_before(self._forest, each.handle):
            yield self._problem(each)

    def _problem(self, each: Assessment) -> Alert:
        """A problem, told; what is the matter may become another before it has come right."""
        handle, before = each.handle, self._unresolved.get(each.handle)
        steps = self._assessments.todo(handle)
        sentence, todo = each.sentence(self._forest.now_of(handle)), steps[0].words if steps else ""
        alert = self._alert(handle, cause(each), sentence, each.since, kind=each.kind, todo=todo)
        first = min(_began(before), _began(alert)) if before else alert.since
        self._unresolved[handle] = msgspec.structs.replace(alert, since=first)
        return alert

    def _over(self, assessed: set[Handle]) -> Iterator[Handle]:
        """Of which what was told is over: at once if it did something since, else if that has lasted for a while. A
        process that stirs now and then is not told of each time."""
        now = self._forest.shown_at
        for handle in (assessed & self._unresolved.keys()) | self._calming.keys():
            if not self._is_over(handle):
                self._calming.pop(handle, None)
            elif self._has_moved(handle) or now - self._calming.setdefault(handle, now) >= _CALM:
                self._calming.pop(handle, None)
                yield handle

    def _has_moved(self, handle: Handle) -> bool:
        """Whether its log says something that came after it was told."""
        facts = self._forest.delegation(handle)
        return max(facts.heard_at or 0, facts.ended_at or 0) > self._told_at(handle)

    def _told_at(self, handle: Handle) -> Millis:
        """When that was, by the clock of its host."""
        return self._forest.word_of(handle).own(self._unresolved[handle].at)

    def _is_over(self, handle: Handle) -> bool:
        """Whether what was told last of it is no longer so. That it was long ago, or is less sure, is no change; the
        same since a moment after it was told is another thing, so the one before must have come right."""
        told, now = self._unresolved[handle], self._assessments.known(handle)
        if told.state in _ENDS:
            return self._forest.state(handle) not in _ENDS
        if now is None or not now.problem:
            return True
        return cause(now) is told.cause and now.since is not None and now.since > self._told_at(handle)

    def _resolved(self, handle: Handle) -> Alert:
        told, now = self._unresolved.pop(handle), self._forest.now_of(handle)
        self._told = {key for key in self._told if key[0] != handle}  # if it is so again, that is told again
        message = f"{_how_it_is(self._forest.state(handle), told)} after {duration(now - _began(told))} ({told.kind})."
        return self._alert(handle, Cause.RESOLVED, message, told.since, kind=told.kind, was=told.cause)

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
        is_new = root >= self._seen and root not in self._forest.came_back
        return is_new and not self._beginning.is_before(self._forest, root)

    def _alert(self, handle: Handle, cause: Cause, message: str, since: Millis | None, **more: Any) -> Alert:
        forest, facts = self._forest, self._forest.delegation(handle)
        state, root = forest.state(handle), forest.delegation(_root(forest, handle)).id
        where = folder(forest, handle)
        return Alert(
            cause,
            handle,
            facts.id,
            label(facts),
            facts.title,
            state,
            message,
            forest.shown_at,
            since,
            root,
            where,
            host=told_host(forest, handle),
            **more,
        )


def cause(found: Assessment) -> Cause:
    """Why somebody is told of a problem."""
    if found.urgency is Urgency.PERSON or found.state is State.BLOCKED:
        return Cause.PERSON
    if found.state is State.LOST:
        return Cause.LOST
    if found.verdict is None:
        return Cause.FAILED
    return Cause.OVERDUE if found.verdict is Kind.OVERDUE else Cause.HUNG


def _key(found: Assessment) -> Told:
    """The same cause since another moment is another thing."""
    return found.handle, cause(found), found.since


def count(forest: Forest, root: Handle) -> str:
    """`12 delegations: 1 failed, 11 completed`."""
    states = Counter(forest.state(handle) for handle in _tree(forest, root))
    words = ", ".join(f"{states[state]} {state}" for state in State if states[state])
    return f"{states.total()} delegation{'' if states.total() == 1 else 's'}: {words}"


_AT_REST = {
    State.IDLE: "Its turn is over",
    State.COMPLETED: "It completed",
    State.LOST: "It is lost",
    State.UNKNOWN: "It is over, nothing tells how,",
}


def _how_it_is(state: State, told: Alert) -> str:
    """How one stands now of which something else was told."""
    if state not in ACTIVE:
        return _AT_REST.get(state, f"It ended {state}")
    if told.state in _ENDS:
        return "It was taken up again"
    return "It was answered" if told.cause is Cause.PERSON else "It goes on"


def _began(alert: Alert) -> Millis:
    return alert.at if alert.since is None else alert.since


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
