"""News: what changed since the last look, one item a change, nothing twice.

A delegation comes, changes its state, ends, or a rule finds something wrong with it. What had ended before anybody
watched is no news; `delegtop check` judges it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.verdicts import Kind
from delegtop.diagnosis.watch_start import Beginning
from delegtop.model.forest import Forest
from delegtop.model.host_agenda import HostAgenda
from delegtop.model.states import ACTIVE, ENDED, Life, State
from delegtop.model.store.ledger import Handle

TOLD_BY_STATE = frozenset({Kind.OVERDUE.row.rule, Kind.LOST.row.rule})
"""Overdue and lost: the change of state says it already."""
_TOLD = frozenset({Severity.ERROR, Severity.WARNING})


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


class NewsWatch:
    """The news of one forest."""

    def __init__(self, forest: Forest, assessments: Assessments) -> None:
        self._forest, self._assessments = forest, assessments
        self._states: list[State | None] = []
        self._found: dict[Handle, set[tuple[str, Millis | None, int]]] = {}
        self._agenda = HostAgenda(forest)
        """When time alone may let a rule find something."""
        self._over: set[Handle] = set()
        """Those that had ended before anybody watched, and did nothing since."""
        self._untold: set[Handle] = set()
        """Those of hosts that have not told all they had to tell at first."""
        self._beginning = Beginning()

    def begin(self) -> list[Item]:
        """What is open when watching begins, and what is wrong with it: problems first, in the order of looking."""
        forest = self._forest
        self._beginning = Beginning(forest.shown_at, len(forest))
        self._states = [forest.state(handle) for handle in range(len(forest))]
        pressing = {h for h in range(len(forest)) if forest.state(h) in ACTIVE or forest.needs_review(h)}
        self._over = set(range(len(forest))) - pressing
        in_order = dict.fromkeys((*self._assessments.in_order(), *forest.walk()))
        return [
            item
            for handle in in_order
            if handle in pressing
            for item in (self._told(handle, What.PRESENT), *self._findings(handle))
        ]

    def look(self, touched: Iterable[Handle], lives: Iterable[Handle]) -> list[Item]:
        """The news: `touched` have changed since the last look, of `lives` more than what they do; each delegation's
        together."""
        forest = self._forest
        self._states += [None] * (len(forest) - len(self._states))
        judged = {*lives, *self._agenda.due(), *self._untold}
        handles = sorted(judged.union(touched))
        self._untold = {handle for handle in handles if not forest.word_of(handle).is_met} if forest.hosts else set()
        told = (handle for handle in handles if handle not in self._untold)
        return [item for handle in told for item in self._of(handle, judge=handle in judged)]

    def _of(self, handle: Handle, judge: bool) -> Iterator[Item]:
        before, state = self._states[handle], self._forest.state(handle)
        if state is not before:
            self._states[handle] = state
            self._over.discard(handle)
            if before is None and self._beginning.is_before(self._forest, handle):
                self._over.add(handle)
            elif before is None and self._was_met(handle):
                yield self._told(handle, What.PRESENT)
            else:
                yield self._told(handle, self._change(handle, before), before)
        if judge and handle not in self._over:
            yield from self._findings(handle)

    def _was_met(self, handle: Handle) -> bool:
        """Whether it was open when its host first told of it, after watching began."""
        met_at, began = self._forest.word_of(handle).met_at, self._forest.times(handle)[0]
        is_open = self._forest.state(handle) in ACTIVE or self._forest.needs_review(handle)
        return is_open and met_at is not None and began is not None and began < met_at

    def _findings(self, handle: Handle) -> Iterator[Item]:
        """What is found and was not before. Sentences count the minutes, so they are no sign of anything new."""
        forest, told = self._forest, self._found.setdefault(handle, set())
        nth: Counter[str] = Counter()
        case = Case(forest, handle, ends=self._assessments.path_ends)
        for finding in diagnose(case):
            if finding.severity not in _TOLD or finding.rule in TOLD_BY_STATE:
                continue
            nth[finding.rule] += 1
            key = (finding.rule, finding.since, nth[finding.rule])
            if key not in told:
                told.add(key)
                yield Item(
                    What.FINDING, handle, forest.shown_at, forest.state(handle), finding.message, finding=finding
                )
        self._agenda.set(handle, case.turns)

    def _change(self, handle: Handle, before: State | None) -> What:
        state = self._forest.state(handle)
        gone = state.life is Life.LOST and self._forest.delegation(handle).outcome is not None
        if state in ENDED or state.life is Life.UNKNOWN or gone:
            return What.ENDED
        return What.STARTED if before is None else What.STATE

    def _told(self, handle: Handle, what: What, before: State | None = None) -> Item:
        message = self._assessments.sentence(handle)
        return Item(what, handle, self._forest.shown_at, self._forest.state(handle), message, before)
