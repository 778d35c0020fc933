"""What changed, in order, so that whoever asks again is told what happened since the last answer, and nothing twice.

It goes by how each delegation stands, compared with how it stood at the last look. So nothing is lost while nobody
looks: what has changed meanwhile is found at the next look.
"""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from secrets import token_hex
from typing import Literal, NamedTuple

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.mcp_server.tool_contracts import Status
from delegtop.model.states import ACTIVE, ENDED_BADLY, State
from delegtop.model.store.ledger import Handle

_KEPT = 1_000
"""Changes; who asks later is told how many are gone."""
Change = Literal["started", "problem", "problem_over", "ended"]

_STATUS: dict[Urgency, Status] = {
    Urgency.STUCK: "stuck",
    Urgency.PERSON: "needs_person",
    Urgency.SUSPICIOUS: "suspicious",
}
_BY_STATE: dict[State, Status] = {
    State.WAITING: "waiting_for_child",
    State.LOST: "lost",
    State.IDLE: "idle_between_prompts",
    State.COMPLETED: "completed",
    State.UNKNOWN: "end_unknown",
}


def status_of(found: Assessment) -> Status:
    """How it stands, in a word that can be mistaken for no other."""
    if found.state is State.LOST:
        return "lost"
    if found.urgency in _STATUS:
        return _STATUS[found.urgency]
    return "ended_badly" if found.state in ENDED_BADLY else _BY_STATE.get(found.state, "working")


class Stood(NamedTuple):
    """How one stood at the last look."""

    is_open: bool
    problem: tuple[str, Millis | None] | None
    """What was the matter, and since when."""


class JournalEntry(NamedTuple):
    """One change."""

    number: int
    id: str
    what: Change
    status: Status
    at: Millis
    sentence: str


class ChangeJournal:
    """The changes of one server. `look` whenever something may have changed."""

    def __init__(self) -> None:
        self._stood: dict[str, Stood] = {}
        self._entries: deque[JournalEntry] = deque(maxlen=_KEPT)
        self._number = 0
        self._name = token_hex(2)
        self._has_begun = False

    @property
    def cursor(self) -> str:
        """The place after all that happened so far."""
        return f"{self._name}-{self._number}"

    @property
    def known(self) -> Collection[str]:
        """The ids of all that were ever compared."""
        return self._stood.keys()

    def number(self, cursor: str | None) -> int | None:
        """The place that a cursor means; None if it is not one of ours."""
        name, _, number = (cursor or "").partition("-")
        is_ours = name == self._name and number.isdecimal() and int(number) <= self._number
        return int(number) if is_ours else None

    def since(self, number: int) -> Sequence[JournalEntry]:
        return [entry for entry in self._entries if entry.number > number]

    def gone(self, number: int) -> int:
        """How many changes since then are not kept any more."""
        first = self._entries[0].number if self._entries else self._number + 1
        return max(first - number - 1, 0)

    def look(self, assessments: Assessments, handles: Iterable[Handle]) -> None:
        """Compare these with how they stood. What is there at the first look is no change."""
        forest = assessments.forest
        for handle in handles:
            found, id = assessments.of(handle), forest.id(handle)
            problem = (found.kind, found.since) if found.is_now else None
            now, before = Stood(found.state in ACTIVE, problem), self._stood.get(id)
            if now == before:
                continue
            self._stood[id] = now
            if self._has_begun:
                for what in _changes(before, now):
                    self._note(id, what, found, forest.now_of(handle))
        self._has_begun = True

    def _note(self, id: str, what: Change, found: Assessment, now: Millis) -> None:
        self._number += 1
        self._entries.append(JournalEntry(self._number, id, what, status_of(found), now, found.sentence(now)))


def _changes(before: Stood | None, now: Stood) -> Iterable[Change]:
    was_open, was_problem = (False, None) if before is None else before
    if now.is_open and not was_open:
        yield "started"
    if was_open and not now.is_open:
        yield "ended"
    if now.problem is not None and now.problem != was_problem:
        yield "problem"
    if now.problem is None and was_problem is not None and now.is_open:
        yield "problem_over"
