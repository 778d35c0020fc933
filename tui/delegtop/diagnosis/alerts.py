"""Alerts: what is worth telling somebody who does not look at the screen, each thing once.

A delegation that becomes overdue, hangs, is lost, fails or needs a person; and a whole tree that is done. What was so
before anybody watched is no news. Of a path that is stuck only the end is told of: the others wait on it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec

from delegtop.clock import Millis
from delegtop.diagnosis.rounds import Beginning, Rounds
from delegtop.diagnosis.verdicts import Certainty, Kind, verdict
from delegtop.diagnosis.verdicts.judges import OPEN
from delegtop.model import notes
from delegtop.model.delegation import ACTIVE, SEVERITY, Delegation, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.measures import label, remark


class Cause(StrEnum):
    """Why somebody is told."""

    OVERDUE = "overdue"
    HUNG = "hung"
    LOST = "lost"
    FAILED = "failed"
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


class _Standing(NamedTuple):
    """Something that is so at this moment. The same cause since another moment is another thing."""

    cause: Cause
    message: str
    since: Millis | None


_CAUSE = {
    Kind.AWAITING_PERMISSION: Cause.PERSON,
    Kind.AWAITING_ANSWER: Cause.PERSON,
    Kind.LOST: Cause.LOST,
    Kind.LOOPING: Cause.HUNG,
    Kind.LOST_RETURN: Cause.HUNG,
    Kind.HUNG_IN_TOOL: Cause.HUNG,
    Kind.WORKED_NEVER_REPORTED: Cause.HUNG,
    Kind.WAITING_FOR_MODEL: Cause.HUNG,
}
_ENDED_BADLY = {State.FAILED: Cause.FAILED, State.TIMEOUT: Cause.FAILED, State.BLOCKED: Cause.PERSON}


class Alerts:
    """The alerts of one forest."""

    def __init__(self) -> None:
        self._rounds = Rounds()
        self._told: set[tuple[Handle, Cause, Millis | None]] = set()
        self._open: set[Handle] = set()
        """Roots of trees that are not done."""
        self._over: set[Handle] = set()
        """Those that had ended before anybody watched, and were not taken up since."""
        self._beginning = Beginning()
        self._seen = 0

    def begin(self, forest: Forest) -> None:
        """What is so by now is remembered and not told."""
        self._beginning, self._seen = Beginning(forest.now, len(forest)), len(forest)
        pressing = {h for h in range(len(forest)) if forest.state(h) in OPEN or forest.needs_review(h)}
        self._over = set(range(len(forest))) - pressing
        for handle in self._rounds.due(forest, pressing):
            self._told.update((handle, found.cause, found.since) for found in standing(forest, handle))
        self._open = {root for root in forest.roots() if not _is_done(forest, root)}

    def look(self, forest: Forest, changed: Iterable[Handle]) -> list[Alert]:
        """What there is to tell now, of which `changed` have changed since the last look; trees that are done last."""
        changed = set(changed)
        alerts = [alert for handle in self._rounds.due(forest, changed) for alert in self._news(forest, handle)]
        alerts += self._done(forest, changed)
        self._seen = len(forest)
        return alerts

    def _news(self, forest: Forest, handle: Handle) -> Iterator[Alert]:
        if handle in self._over:
            if forest.state(handle) not in OPEN and not forest.needs_review(handle):
                return
            self._over.discard(handle)
        for found in standing(forest, handle):
            key = (handle, found.cause, found.since)
            if key in self._told:
                continue
            self._told.add(key)
            late = handle >= self._beginning.known and self._beginning.is_past(found.since)
            if not late and not self._beginning.is_before(forest, handle):
                yield _alert(forest, handle, found)

    def _done(self, forest: Forest, changed: set[Handle]) -> Iterator[Alert]:
        for root in sorted({_root(forest, handle) for handle in changed}):
            if not _is_done(forest, root):
                self._open.add(root)
            elif root in self._open or self._came_and_went(forest, root):
                self._open.discard(root)
                yield _alert(forest, root, _Standing(Cause.DONE, count(forest, root), None))

    def _came_and_went(self, forest: Forest, root: Handle) -> bool:
        """It began and was done between two looks."""
        return root >= self._seen and not self._beginning.is_before(forest, root)


def standing(forest: Forest, handle: Handle) -> Iterator[_Standing]:
    """Everything about one delegation that is worth telling, as it is now."""
    state = forest.state(handle)
    if forest.needs_review(handle):
        yield _review(forest.delegation(handle))
    if state in _ENDED_BADLY:
        facts = forest.delegation(handle)
        why = remark(forest, handle, facts)
        yield _Standing(_ENDED_BADLY[state], f"It ended {state}{f': {why}' if why else '.'}", facts.ended_at)
    elif state in OPEN:
        yield from _judged(forest, handle)


def _judged(forest: Forest, handle: Handle) -> Iterator[_Standing]:
    found = verdict(forest, handle, forest.now)
    if found is None or found.kind is Kind.WAITING_ON_CHILD:
        return
    cause = _CAUSE.get(found.kind)
    if cause is not None and (cause is not Cause.HUNG or found.certainty is not Certainty.POSSIBLE):
        yield _Standing(cause, found.message, found.since)
    elif forest.state(handle) is State.OVERDUE:
        deadline = forest.deadline(handle)
        yield _Standing(Cause.OVERDUE, found.message, deadline.at if deadline else None)


def _review(facts: Delegation) -> _Standing:
    note = next((note for note in facts.notes if note.kind == notes.REVIEW), None)
    why = f": {note.text}" if note else "."
    return _Standing(Cause.PERSON, f"A person must look before it goes on{why}", note.at if note else None)


def _alert(forest: Forest, handle: Handle, found: _Standing) -> Alert:
    facts = forest.delegation(handle)
    return Alert(
        found.cause,
        handle,
        facts.id,
        label(facts),
        facts.title,
        forest.state(handle),
        found.message,
        forest.now,
        found.since,
    )


def count(forest: Forest, root: Handle) -> str:
    """`12 delegations: 1 failed, 11 completed`, the worst first."""
    states = Counter(forest.state(handle) for handle in _tree(forest, root))
    words = ", ".join(f"{states[state]} {state}" for state in SEVERITY if states[state])
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
