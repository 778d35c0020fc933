"""Problems: what an operator goes through one by one, worst first, each with its one sentence.

Not every state that is not plain is one: who waits on a child that is well, or slept with the machine, needs nobody;
and of a path that waits only the delegation at its end is told, with how many it holds up.
"""

import msgspec

from delegtop.clock import Millis
from delegtop.diagnosis.verdicts import HARMLESS, Certainty, Kind, Verdict, root_blocker, verdict
from delegtop.diagnosis.verdicts.judges import OPEN
from delegtop.model.delegation import ACTIVE, PROBLEMS, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.measures import remark
from delegtop.model.notes import REVIEW
from delegtop.origin import Origin

CANDIDATES = (OPEN | PROBLEMS) - {State.IDLE}
"""Only these are looked at; of the rest only what a person must look at is a problem."""

RULES: dict[Kind, str] = {
    Kind.AWAITING_PERMISSION: "VER-001",
    Kind.AWAITING_ANSWER: "VER-002",
    Kind.HUNG_IN_TOOL: "VER-005",
    Kind.LOOPING: "VER-003",
    Kind.OVERDUE: "DEL-020",
    Kind.LOST_RETURN: "VER-004",
    Kind.LOST: "DEL-021",
    Kind.DISAGREEMENT: "VER-010",
    Kind.ORPHANED: "DEL-024",
    Kind.WORKED_NEVER_REPORTED: "VER-006",
    Kind.WAITING_FOR_MODEL: "VER-007",
    Kind.SILENT: "VER-008",
    Kind.HOST_SLEPT: "VER-009",
}
"""The rule that says the same as a verdict."""

_REVIEW = "needs review"
_WORST_FIRST: tuple[Kind | State | str, ...] = (
    _REVIEW,
    Kind.AWAITING_PERMISSION,
    Kind.AWAITING_ANSWER,
    Kind.HUNG_IN_TOOL,
    Kind.LOOPING,
    Kind.OVERDUE,
    Kind.LOST_RETURN,
    Kind.LOST,
    State.LOST,
    Kind.DISAGREEMENT,
    Kind.ORPHANED,
    Kind.WORKED_NEVER_REPORTED,
    State.FAILED,
    State.BLOCKED,
    State.TIMEOUT,
    Kind.WAITING_FOR_MODEL,
    State.PARTIAL,
    State.INTERRUPTED,
    Kind.SILENT,
)
_RANK = {kind: rank for rank, kind in enumerate(_WORST_FIRST)}
_DEEPEST = 1_000

Key = tuple[int, int, int, int]


class Problem(msgspec.Struct, frozen=True):
    """One delegation that somebody should look at."""

    handle: Handle
    id: str
    rule: str
    """What is wrong, as a stable word: a rule, or the state it ended in."""
    kind: str
    """The same for people."""
    message: str
    since: Millis | None
    key: Key
    """Worst first: by kind, then by how many it holds up, then the longest open one or the last that ended."""
    certainty: Certainty | None = None
    evidence: tuple[Origin, ...] = ()
    verdict: Kind | None = None
    blocks: int = 0
    """How many wait for it: it is the root of their trouble."""


def problem(forest: Forest, handle: Handle, now: Millis) -> Problem | None:
    """What is wrong with one delegation; None if nobody needs to look."""
    state = forest.state(handle)
    if forest.needs_review(handle):
        return _needs_review(forest, handle)
    if state not in CANDIDATES:
        return None
    if state is State.LOST and _is_told_elsewhere(forest, handle):
        return None
    found = verdict(forest, handle, now)
    if found is None:
        return None if state in ACTIVE or _is_handed_up(forest, handle, state) else _ended(forest, handle, state)
    if found.kind in HARMLESS:
        late = state is State.OVERDUE and root_blocker(forest, handle) is None
        return _judged(forest, handle, found, Kind.OVERDUE) if late else None
    return _judged(forest, handle, found, found.kind)


def _is_told_elsewhere(forest: Forest, handle: Handle) -> bool:
    """The end of a path tells where it was lost; but what went with its session is told where that is lost."""
    if forest.went_with_its_session(handle):
        parent = forest.parent(handle)
        return parent is not None and forest.state(parent) is State.LOST
    lost = (child for child in forest.offspring(handle) if forest.state(child) is State.LOST)
    return not all(map(forest.went_with_its_session, lost))


def held_up(forest: Forest, handle: Handle) -> tuple[Handle, ...]:
    """Everybody above who waits for this one and for nobody else, or was lost with it, the nearest first."""
    if forest.went_with_its_session(handle):
        return ()
    above: list[Handle] = []
    climber = forest.parent(handle)
    if forest.state(handle) is State.LOST:
        while climber is not None and len(above) < _DEEPEST and forest.state(climber) is State.LOST:
            above.append(climber)
            climber = forest.parent(climber)
        return tuple(above)
    while climber is not None and len(above) < _DEEPEST and forest.state(climber) in ACTIVE:
        if forest.blocker(climber) != handle:
            break
        above.append(climber)
        climber = forest.parent(climber)
    return tuple(above)


def _judged(forest: Forest, handle: Handle, found: Verdict, kind: Kind) -> Problem:
    blocks = len(held_up(forest, handle))
    lost = forest.state(handle) is State.LOST  # a question that was left open for days presses no more than that
    return Problem(
        handle,
        forest.delegation(handle).id,
        RULES[kind],
        kind.value,
        found.message,
        found.since,
        (_RANK[Kind.LOST if lost else kind], -blocks, found.since or 0, handle),
        found.certainty,
        found.evidence,
        kind,
        blocks,
    )


def _is_handed_up(forest: Forest, handle: Handle, state: State) -> bool:
    """Whether it ended so only because a child did, and says no more than that one."""
    faults = {fault.message for fault in forest.delegation(handle).errors}
    below = [child for child in forest.offspring(handle) if forest.state(child) is state]
    told = {fault.message for child in below for fault in forest.delegation(child).errors}
    return bool(faults) and faults <= told


def _ended(forest: Forest, handle: Handle, state: State) -> Problem:
    """It ended, and not well."""
    facts = forest.delegation(handle)
    message = remark(forest, handle, facts) or f"It ended {state.value} and said no more."
    evidence = tuple(dict.fromkeys(filter(None, (facts.ended_origin, facts.started_origin))))
    key = (_RANK[state], 0, -(facts.ended_at or 0), handle)
    return Problem(handle, facts.id, state.value, state.value, message, facts.ended_at, key, evidence=evidence)


def _needs_review(forest: Forest, handle: Handle) -> Problem:
    facts = forest.delegation(handle)
    reason = next(note for note in facts.notes if note.kind == REVIEW)
    key = (_RANK[_REVIEW], -len(held_up(forest, handle)), reason.at or 0, handle)
    message = f"A person must look: {reason.text}"
    return Problem(handle, facts.id, "FAM-001", _REVIEW, message, reason.at, key, evidence=(reason.origin,))
