"""Rules on how a delegation was watched over: deadlines kept, returns taken, errors handed up."""

from collections.abc import Iterator

from delegtop.clock import SECOND, Millis, duration
from delegtop.contract import commands
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Case, rule
from delegtop.model.delegation import ACTIVE, Delegation, Link, State
from delegtop.model.events import Ending, Fault, Trust
from delegtop.model.measures import label
from delegtop.origin import Origin

GRACE = 2 * SECOND
"""A return that is noted this little after the deadline came in time: its caller looks only now and then."""
_ENDED = frozenset(State) - ACTIVE - {State.LOST, State.UNKNOWN}
_FAILED = frozenset({State.FAILED, State.BLOCKED})
_UNDONE = _FAILED | {State.PARTIAL}
_SHOWN = 10
_NO_RETURN = (
    "See that its caller waits for the return and gives up at the timeout, and that the agent returns the standard "
    "format under its session id."
)


@rule(
    "DEL-020",
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
            "and resume it. " + _NO_RETURN
        )
    yield overdue.finding(
        case,
        f"It is {duration(case.now - deadline.at)} past its deadline ({deadline.note}){_silence(case)}.",
        *_life(case.facts),
        advice=advice,
        command=_resume(case) if blocker is None else None,
        since=deadline.at,
    )


@rule(
    "DEL-021",
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
        *_life(facts),
        advice="Nobody works on it any more: look for what it has already written, then resume the task. " + _NO_RETURN,
        command=_resume(case),
        since=facts.heard_at or facts.listed_at,
    )


@rule(
    "DEL-022",
    Severity.WARNING,
    "the registry lists nothing as running that is past its deadline",
    "Delegation guide, Registry Operations (Monitor): the orchestrator compares every running entry with its deadline, "
    "handles the timeout and deletes the entry. An entry that stays says that nobody monitors.",
)
def unmonitored(case: Case) -> Iterator[Finding]:
    facts = case.facts
    deadline = case.forest.deadline(case.handle)
    if case.forest.state(case.handle) is not State.OVERDUE or deadline is None:
        return
    if facts.listed_at is None or facts.left_registry:
        return
    log = facts.heard_origin.source if facts.heard_origin else None
    yield unmonitored.finding(
        case,
        f"The registry still lists it as running {duration(case.now - deadline.at)} after its deadline.",
        *[origin for origin in facts.origins if origin.source != log][:_SHOWN],
        advice="Let the orchestrator check its deadlines in regular steps, and on a timeout log it, answer the caller "
        "and delete the entry.",
        since=deadline.at,
    )


@rule(
    "DEL-023",
    Severity.WARNING,
    "a return comes before its deadline",
    "Delegation guide, Timeout Enforcement: a caller that keeps to the timeout has stopped waiting by then, and the "
    "return may have been thrown away. Only declared deadlines and timeouts count here.",
)
def late_return(case: Case) -> Iterator[Finding]:
    facts = case.facts
    deadline = _declared(facts)
    if facts.ended_by is not Ending.RETURN or facts.ended_at is None or deadline is None:
        return
    if facts.ended_at <= deadline + GRACE:
        return
    yield late_return.finding(
        case,
        f"It returned {duration(facts.ended_at - deadline)} after its deadline.",
        facts.started_origin,
        facts.ended_origin,
        advice="Check that its caller took the return. If such work always takes this long, raise its timeout.",
        since=deadline,
    )


@rule(
    "DEL-024",
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
    if forest.state(parent) not in _ENDED:
        return
    above = forest.delegation(parent)
    since = f" {duration(case.now - above.ended_at)} ago" if above.ended_at is not None else ""
    inferred = " (parent inferred)" if forest.link(case.handle) is Link.INFERRED else ""
    yield orphan.finding(
        case,
        f"It is still open, but its parent {label(above)} ended {forest.state(parent)}{since}{inferred}.",
        above.ended_origin,
        *_life(case.facts),
        advice="Stop it, or wait and take its return by hand. Have the parent receive the results of all its children "
        "before it returns.",
        since=above.ended_at,
    )


@rule(
    "DEL-025",
    Severity.ERROR,
    "errors are handed up",
    "Delegation guide, Error Propagation: an error goes up the whole chain. A parent that returns completed and "
    "without errors after a child failed hides it. A child that was tried again with success is no error.",
)
def hidden_error(case: Case) -> Iterator[Finding]:
    facts, forest = case.facts, case.forest
    if forest.state(case.handle) is not State.COMPLETED or facts.ended_by is not Ending.RETURN or facts.report.errors:
        return
    # Nobody is accused over a child that may be another's.
    children = [child for child in forest.children(case.handle) if forest.link(child) is not Link.AMBIGUOUS]
    failed = [forest.delegation(child) for child in children if forest.state(child) in _FAILED]
    if not failed:
        return
    done = [forest.delegation(child) for child in children if forest.state(child) is State.COMPLETED]
    hidden = [child for child in failed if _before(child.ended_at, facts.ended_at) and not _retried(child, done)]
    if hidden:
        names = ", ".join(f"{label(child)} ({child.outcome})" for child in hidden[:_SHOWN])
        yield hidden_error.finding(
            case,
            f"It returned completed and without errors, although a child did not succeed: {names}.",
            facts.ended_origin,
            *(child.ended_origin for child in hidden[:_SHOWN]),
            advice="Do not take its word: look at the child's error. Have the agent return partial or failed and copy "
            "the errors of its children into its own.",
        )


@rule(
    "DEL-026",
    Severity.INFO,
    "a return is taken",
    "Delegation guide, Troubleshooting (Delegation Hangs): a missing ReceiveResults stage leaves the caller waiting "
    "for a return that has already come. It is only suspected, for the parent may be thinking.",
)
def lost_return(case: Case) -> Iterator[Finding]:
    forest, facts = case.forest, case.facts
    if forest.state(case.handle) not in (State.SILENT, State.OVERDUE):
        return
    children = forest.children(case.handle)
    if any(forest.state(child) in ACTIVE for child in children):
        return
    ended = [forest.delegation(child) for child in children if forest.state(child) in _ENDED]
    ends = [(child.ended_at, child.id, child) for child in ended if child.ended_at is not None]
    if not ends:
        return
    at, _, last = max(ends, key=lambda end: end[:2])
    if (facts.heard_at is not None and facts.heard_at > at) or case.now - at <= forest.policy.silent_after:
        return
    yield lost_return.finding(
        case,
        f"Nothing was heard of it since {label(last)} returned to it {duration(case.now - at)} ago.",
        last.ended_origin,
        *_life(facts),
        advice="Check that it received the result: its command needs a stage that waits for the return, validates it "
        "and goes on.",
        since=at,
    )


@rule(
    "DEL-027",
    Severity.ERROR,
    "no error needs a person",
    "Delegation guide, Error Propagation (Command Handling): an error that is not recoverable ends the attempt, and "
    "somebody has to step in. It is told where it arose, not again at everyone who handed it up.",
)
def needs_a_person(case: Case) -> Iterator[Finding]:
    for fault in _own_errors(case)[:_SHOWN]:
        if fault.recoverable is False:
            yield needs_a_person.finding(
                case,
                f"Manual intervention is required: {_told(fault)}",
                case.facts.ended_origin,
                advice="Trying again will not help before somebody has put right what the error names.",
                since=case.facts.ended_at,
            )


@rule(
    "DEL-028",
    Severity.ERROR,
    "what did not succeed says why",
    "Delegation guide, Error Propagation and Exception Handling: a failure comes with an error that can be acted on. "
    "Returns without one are RET-030; this is about delegations that ended without any return.",
)
def unexplained(case: Case) -> Iterator[Finding]:
    facts, state = case.facts, case.forest.state(case.handle)
    if state not in _UNDONE or facts.ended_by is Ending.RETURN or facts.errors:
        return
    yield unexplained.finding(
        case,
        f"It ended {state} without a return, and nothing says why.",
        *facts.origins[:_SHOWN],
        advice="Read the last lines it wrote. Have its caller record the exception as an error with a recommendation.",
        command=_resume(case),
        since=facts.ended_at,
    )


@rule(
    "DEL-029",
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
        command=_resume(case),
        since=facts.ended_at,
    )


@rule(
    "DEL-030",
    Severity.WARNING,
    "nothing leaves the registry without a return",
    "Delegation guide, Registry Operations: an entry is deleted on completion and on timeout alike, so that it is gone "
    "says nothing of how it ended. Only a return in a log does.",
)
def left_registry(case: Case) -> Iterator[Finding]:
    facts = case.facts
    if case.forest.state(case.handle) is not State.UNKNOWN or facts.outcome is not None or not facts.left_registry:
        return
    yield left_registry.finding(
        case,
        "It left the registry and no return was seen: how it ended is not known.",
        *facts.origins[:_SHOWN],
        advice="Look for its artifacts and in the orchestrator's log. Write the return into a log before the entry is "
        "deleted.",
        since=facts.listed_at,
    )


def _silence(case: Case) -> str:
    heard = case.facts.heard_at
    return "" if heard is None else f" and was last heard of {duration(case.now - heard)} ago"


def _life(facts: Delegation) -> list[Origin]:
    """Where it started and where it was last heard of."""
    places = (facts.started_origin, facts.heard_origin)
    return list(dict.fromkeys(origin for origin in places if origin is not None))


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


def _own_errors(case: Case) -> list[Fault]:
    """Its errors but for those a child told before."""
    errors = case.facts.errors
    if not errors:
        return []
    below = {
        (fault.code, fault.message)
        for child in case.forest.children(case.handle)
        for fault in case.forest.delegation(child).errors
    }
    return [fault for fault in errors if (fault.code, fault.message) not in below]


def _told(fault: Fault) -> str:
    told = fault.message or fault.type or "the error has no message"
    code = f" ({fault.code})" if fault.code else ""
    return f"{told.rstrip('.')}{code}."


def _resume(case: Case) -> str | None:
    """The command that takes the task up again: its own, else that of the nearest ancestor that names one."""
    handle, facts = case.handle, case.facts
    for _ in range(_SHOWN):
        command = commands.resume(facts.command, facts.task)
        above = case.forest.parent(handle)
        if command is not None or above is None:
            return command
        handle, facts = above, case.forest.delegation(above)
    return None
