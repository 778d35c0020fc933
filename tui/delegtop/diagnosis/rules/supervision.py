"""Rules on how a delegation was watched over: deadlines kept, nobody left behind, errors that need a person."""

from collections.abc import Iterator

from delegtop.clock import duration
from delegtop.diagnosis import recovery
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.own_errors import own_errors
from delegtop.diagnosis.rule import Case, rule
from delegtop.diagnosis.watch import ENDED, life
from delegtop.model.delegation import ACTIVE, Link, State
from delegtop.model.events import Fault
from delegtop.model.measures import label

_SHOWN = 10


@rule(
    "DEL-020",
    "overdue",
    Severity.ERROR,
    "an open delegation is within its deadline",
    "Delegation guide, Timeout Enforcement and Troubleshooting (Delegation Hangs): past its deadline the caller stops "
    "waiting, looks for artifacts that were already written, and reports a partial result with the way to resume. The "
    "task stays in progress; it has not failed.",
)
def overdue(case: Case) -> Iterator[Finding]:
    deadline = case.forest.deadline(case.handle)
    if case.forest.state(case.handle) is not State.OVERDUE or deadline is None:
        return
    blocker = case.forest.blocker(case.handle)
    if blocker is not None:
        advice = f"It waits for {label(case.forest.delegation(blocker))}: look at that one first."
    else:
        advice = (
            "Stop it if its process is still there, look for what it has already written, keep the task in progress "
            "and resume it." + _no_return(case)
        )
    yield overdue.finding(
        case,
        f"It is {duration(case.now - deadline.at)} past its deadline ({deadline.note}){_silence(case)}.",
        *life(case.facts),
        advice=advice,
        command=recovery.command(case) if blocker is None else None,
        since=deadline.at,
    )


@rule(
    "DEL-021",
    "lost",
    Severity.ERROR,
    "no delegation is lost",
    "Delegation guide, Never wait indefinitely: long past every limit, or with its process gone, nothing will come any "
    "more. That it is lost is inferred from silence unless the process was looked for.",
)
def lost(case: Case) -> Iterator[Finding]:
    if case.forest.state(case.handle) is not State.LOST:
        return
    facts = case.facts
    yield lost.finding(
        case,
        f"It is lost: {case.forest.reason(case.handle) or 'its process is gone'}.",
        *life(facts),
        advice="Nobody works on it any more: look for what it has already written, then resume the task."
        + _no_return(case),
        command=recovery.command(case),
        since=facts.heard_at or facts.listed_at,
    )


@rule(
    "DEL-024",
    "orphaned",
    Severity.WARNING,
    "no delegation outlives its parent",
    "Delegation guide, Receive Results: a caller waits for what it has delegated or gives up at the timeout. Whoever "
    "still works when the caller has ended works for nobody, and its return will not be read.",
)
def orphan(case: Case) -> Iterator[Finding]:
    forest = case.forest
    parent = forest.parent(case.handle)
    if parent is None or forest.state(case.handle) not in ACTIVE or forest.link(case.handle) is Link.AMBIGUOUS:
        return
    if forest.state(parent) not in ENDED:
        return
    above = forest.delegation(parent)
    since = f" {duration(case.now - above.ended_at)} ago" if above.ended_at is not None else ""
    inferred = " (parent inferred)" if forest.link(case.handle) is Link.INFERRED else ""
    yield orphan.finding(
        case,
        f"It is still open, but its parent {label(above)} ended {forest.state(parent)}{since}{inferred}.",
        above.ended_origin,
        *life(case.facts),
        advice="Stop it, or wait and take its return by hand. Have the parent receive the results of all its children "
        "before it returns.",
        since=above.ended_at,
    )


@rule(
    "DEL-027",
    "needs a person",
    Severity.ERROR,
    "no error needs a person",
    "Delegation guide, Error Propagation (Command Handling): an error that is not recoverable ends the attempt, and "
    "somebody has to step in. It is told where it arose, not again at everyone who handed it up.",
)
def needs_a_person(case: Case) -> Iterator[Finding]:
    for fault in own_errors(case)[:_SHOWN]:
        if fault.recoverable is False:
            yield needs_a_person.finding(
                case,
                f"Manual intervention is required: {_told(fault)}",
                case.facts.ended_origin,
                advice="Trying again will not help before somebody has put right what the error names.",
                since=case.facts.ended_at,
            )


@rule(
    "DEL-029",
    "timed out",
    Severity.WARNING,
    "what timed out is resumed",
    "Delegation guide, Timeout Handling: after a timeout the caller keeps what is there, reports it as partial and "
    "says how to resume; the task stays in progress.",
)
def timed_out(case: Case) -> Iterator[Finding]:
    facts = case.facts
    if case.forest.state(case.handle) is not State.TIMEOUT or facts.errors:
        return
    after = f" after {duration(facts.ended_at - facts.started_at)}" if facts.ended_at and facts.started_at else ""
    left = ", ".join(artifact.path for artifact in facts.artifacts[:_SHOWN])
    yield timed_out.finding(
        case,
        f"Its caller stopped waiting{after}{f'; it left {left}' if left else ''}.",
        facts.started_origin,
        facts.ended_origin,
        advice="Keep the task in progress, look at what it left, and resume it.",
        command=recovery.command(case),
        since=facts.ended_at,
    )


def _no_return(case: Case) -> str:
    """What to look at if a return did not come; only the guide's delegations have one to wait for."""
    if case.facts.product is not None:
        return ""
    return (
        " See that its caller waits for the return and gives up at the timeout, and that the agent returns the "
        "standard format under its session id."
    )


def _silence(case: Case) -> str:
    heard = case.facts.heard_at
    return "" if heard is None else f" and was last heard of {duration(case.now - heard)} ago"


def _told(fault: Fault) -> str:
    told = fault.message or fault.type or "the error has no message"
    code = f" ({fault.code})" if fault.code else ""
    return f"{told.rstrip('.')}{code}."
