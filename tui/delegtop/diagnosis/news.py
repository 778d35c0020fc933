"""News: what changed since the last look, one item a change, nothing twice.

A delegation comes, changes its state, ends, or a rule finds something wrong with it. What had ended before anybody
watched is no news; `delegtop check` judges it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from delegtop.clock import Millis
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rounds import Beginning, Rounds
from delegtop.diagnosis.verdicts import verdict
from delegtop.model.delegation import ACTIVE, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.measures import remark

TOLD_BY_STATE = frozenset({"DEL-020", "DEL-021"})
"""Overdue and lost: the change of state says it already."""
_TOLD = frozenset({Severity.ERROR, Severity.WARNING})
_GOES_ON = ACTIVE | {State.IDLE}


class What(StrEnum):
    """The kinds of news."""

    PRESENT = "present"
    """It was open when watching began."""
    STARTED = "started"
    STATE = "state"
    ENDED = "ended"
    FINDING = "finding"
    DONE = "done"
    """A whole tree is."""


class Item(msgspec.Struct, frozen=True):
    """One piece of news. The texts are foreign: whoever shows them makes them safe."""

    what: What
    handle: Handle
    at: Millis
    """When it was noticed."""
    state: State
    message: str
    before: State | None = None
    """The state it was in, if that changed."""
    finding: Finding | None = None


class News:
    """The news of one forest."""

    def __init__(self) -> None:
        self._rounds = Rounds()
        self._states: list[State | None] = []
        self._found: dict[Handle, set[tuple[str, Millis | None, int]]] = {}
        self._over: set[Handle] = set()
        """Those that had ended before anybody watched, and did nothing since."""
        self._beginning = Beginning()

    def begin(self, forest: Forest) -> list[Item]:
        """What is open when watching begins, and what is wrong with it."""
        self._beginning = Beginning(forest.now, len(forest))
        self._states = [forest.state(handle) for handle in range(len(forest))]
        pressing = {h for h in range(len(forest)) if forest.state(h) in ACTIVE or forest.needs_review(h)}
        self._over = set(range(len(forest))) - pressing
        present = {handle: _told(forest, handle, What.PRESENT) for handle in forest.walk() if handle in pressing}
        findings = {handle: list(self._findings(forest, handle)) for handle in self._rounds.due(forest, pressing)}
        return [item for handle, first in present.items() for item in (first, *findings.get(handle, ()))]

    def look(self, forest: Forest, changed: Iterable[Handle]) -> list[Item]:
        """The news, of which `changed` have changed since the last look; each delegation's together."""
        changed = set(changed)
        self._states += [None] * (len(forest) - len(self._states))
        due = set(self._rounds.due(forest, changed))
        return [item for handle in sorted(changed | due) for item in self._of(forest, handle, judge=handle in due)]

    def _of(self, forest: Forest, handle: Handle, judge: bool) -> Iterator[Item]:
        before, state = self._states[handle], forest.state(handle)
        if state is not before:
            self._states[handle] = state
            self._over.discard(handle)
            if before is None and self._beginning.is_before(forest, handle):
                self._over.add(handle)
            else:
                yield _told(forest, handle, _change(forest, handle, before), before)
        if judge and handle not in self._over:
            yield from self._findings(forest, handle)

    def _findings(self, forest: Forest, handle: Handle) -> Iterator[Item]:
        """What is found and was not before. Sentences count the minutes, so they are no sign of anything new."""
        told = self._found.setdefault(handle, set())
        nth: Counter[str] = Counter()
        for finding in diagnose(forest, handle, forest.now, lambda _: None):
            if finding.severity not in _TOLD or finding.rule in TOLD_BY_STATE:
                continue
            nth[finding.rule] += 1
            key = (finding.rule, finding.since, nth[finding.rule])
            if key not in told:
                told.add(key)
                yield Item(What.FINDING, handle, forest.now, forest.state(handle), finding.message, finding=finding)


def _change(forest: Forest, handle: Handle, before: State | None) -> What:
    state = forest.state(handle)
    presumed = state is State.LOST and forest.delegation(handle).outcome is None
    if state not in _GOES_ON and not presumed:
        return What.ENDED
    return What.STARTED if before is None else What.STATE


def _told(forest: Forest, handle: Handle, what: What, before: State | None = None) -> Item:
    found = verdict(forest, handle, forest.now) if forest.state(handle) is not State.WAITING else None
    message = found.message if found else remark(forest, handle)
    return Item(what, handle, forest.now, forest.state(handle), message, before)
