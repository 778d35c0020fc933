"""Rules on what caller and agent owe each other: a return in time that is taken, errors handed up, a registry kept."""

from collections.abc import Iterator

from delegtop.base.clock import SECOND, Millis, duration
from delegtop.diagnosis import recovery
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.delegation import Delegation, Link
from delegtop.model.events import Ending, Trust
from delegtop.model.measures import label
from delegtop.model.states import State

GRACE = 2 * SECOND
"""A return that is noted this little after the deadline came in time: its caller looks only now and then."""
_FAILED = frozenset({State.FAILED, State.BLOCKED})
_UNDONE = _FAILED | {State.PARTIAL}
_NOT_DONE = _UNDONE | {State.TIMEOUT}
_SHOWN = 10


@rule(
    "DEL-022",
    "listed past deadline",
    Severity.WARNING,
    "the registry lists nothing as running that is past its deadline",
    "Delegation guide, Registry Operations (Monitor): the orchestrator compares every running entry with its deadline, "
    "handles the timeout and deletes the entry. An entry that stays says that nobody monitors.",
)
def unmonitored(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    deadline = case.forest.deadline(case.handle)
    if case.forest.state(case.handle) is not State.OVERDUE or deadline is None:
        return
    if facts.listed_at is None or facts.left_registry:
        return
    log = facts.heard_origin.source if facts.heard_origin else None
    yield RuleNote(
        f"The registry still lists it as running {duration(case.now - deadline.at)} after its deadline.",
        *[origin for origin in facts.origins if origin.source != log][:_SHOWN],
        advice="Let the orchestrator check its deadlines in regular steps, and on a timeout log it, answer the caller "
        "and delete the entry.",
        since=deadline.at,
    )


@rule(
    "DEL-023",
    "returned late",
    Severity.WARNING,
    "a return comes before its deadline",
    "Delegation guide, Timeout Enforcement: a caller that keeps to the timeout has stopped waiting by then, and the "
    "return may have been thrown away. Only declared deadlines and timeouts count here.",
)
def late_return(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    deadline = _declared(facts)
    if facts.ended_by is not Ending.RETURN or facts.ended_at is None or deadline is None:
        return
    if facts.ended_at <= deadline + GRACE:
        return
    yield RuleNote(
        f"It returned {duration(facts.ended_at - deadline)} after its deadline.",
        facts.started_origin,
        facts.ended_origin,
        advice="Check that its caller took the return. If such work always takes this long, raise its timeout.",
        since=deadline,
    )


@rule(
    "DEL-025",
    "child's error hidden",
    Severity.ERROR,
    "errors are handed up",
    "Delegation guide, Error Propagation: an error goes up the whole chain. A parent that returns completed and "
    "without errors after a child failed, was blocked, got only part of it done or ran out of time hides it. A child "
    "that was tried again with success is no error. One that failed with errors of its own and not those of its child "
    "is a warning.",
)
def hidden_error(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.ended_by is not Ending.RETURN or not (hidden := _left_undone(case)):
        return
    if facts.report.errors:
        yield from _other_errors(case, hidden)
    elif case.state is State.COMPLETED:
        names = ", ".join(f"{label(child)} ({child.outcome})" for child in hidden[:_SHOWN])
        yield RuleNote(
            f"It returned completed and without errors, although a child did not succeed: {names}.",
            facts.ended_origin,
            *(child.ended_origin for child in hidden[:_SHOWN]),
            advice="Do not take its word: look at the child's error. Have the agent return partial or failed and copy "
            "the errors of its children into its own.",
        )


def _left_undone(case: Case) -> list[Delegation]:
    """The children that did not succeed before it returned, and were not tried again with success."""
    forest = case.forest
    # Nobody is accused over a child that may be another's.
    children = [child for child in forest.children(case.handle) if forest.link(child) is not Link.AMBIGUOUS]
    undone = [forest.delegation(child) for child in children if forest.state(child) in _NOT_DONE]
    done = [forest.delegation(child) for child in children if undone and forest.state(child) is State.COMPLETED]
    return [child for child in undone if _before(child.ended_at, case.facts.ended_at) and not _retried(child, done)]


def _other_errors(case: Case, hidden: list[Delegation]) -> Iterator[RuleNote]:
    """It tells of errors, and none of them is one of its children's."""
    own = case.facts.report.errors
    words = " ".join(error.message or "" for error in own)
    told = [child for child in hidden if any(error in own or (error.message or " ") in words for error in child.errors)]
    codes = {error.code for error in own if error.code}
    untold = [
        child
        for child in hidden
        if child not in told and child.errors and not codes & {error.code for error in child.errors}
    ]
    if untold:
        yield RuleNote(
            f"Its errors say nothing of those of its children: {', '.join(map(label, untold[:_SHOWN]))}.",
            case.facts.ended_origin,
            *(child.ended_origin for child in untold[:_SHOWN]),
            advice="Read the child's error too. Have the agent copy the errors of its children into its own.",
            severity=Severity.WARNING,
        )


@rule(
    "DEL-028",
    "unexplained end",
    Severity.ERROR,
    "what did not succeed says why",
    "Delegation guide, Error Propagation and Exception Handling: a failure comes with an error that can be acted on. "
    "Returns without one are RET-030; this is about delegations that ended without any return.",
)
def unexplained(case: Case) -> Iterator[RuleNote]:
    facts, state = case.facts, case.forest.state(case.handle)
    if state not in _UNDONE or facts.ended_by is Ending.RETURN or facts.errors:
        return
    yield RuleNote(
        f"It ended {state} without a return, and nothing says why.",
        *facts.origins[:_SHOWN],
        advice="Read the last lines it wrote. Have its caller record the exception as an error with a recommendation.",
        command=recovery.command(case),
        since=facts.ended_at,
        fields=("status",),
    )


@rule(
    "DEL-030",
    "gone from registry",
    Severity.WARNING,
    "nothing leaves the registry without a return",
    "Delegation guide, Registry Operations: an entry is deleted on completion and on timeout alike, so that it is gone "
    "says nothing of how it ended. Only a return in a log does.",
)
def left_registry(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if case.forest.state(case.handle) is not State.UNKNOWN or facts.outcome is not None or not facts.left_registry:
        return
    yield RuleNote(
        "It left the registry and no return was seen: how it ended is not known.",
        *facts.origins[:_SHOWN],
        advice="Look for its artifacts and in the orchestrator's log. Write the return into a log before the entry is "
        "deleted.",
        since=facts.listed_at,
    )


def _declared(facts: Delegation) -> Millis | None:
    """The deadline it was given; times that a model wrote are not counted from."""
    if facts.trust is Trust.MODEL:
        return None
    if facts.deadline is not None or facts.started_at is None or facts.timeout is None:
        return facts.deadline
    return Millis(facts.started_at + facts.timeout)


def _before(earlier: Millis | None, later: Millis | None) -> bool:
    return earlier is None or later is None or earlier <= later


def _retried(child: Delegation, done: list[Delegation]) -> bool:
    """Was the same agent called again afterwards, with success?"""
    return any(other.name == child.name and _before(child.ended_at, other.started_at) for other in done)
