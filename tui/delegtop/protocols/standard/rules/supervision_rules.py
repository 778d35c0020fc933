"""Rules on how a delegation was watched over: errors that need a person, what timed out. That it is overdue, lost or
orphaned is a verdict."""

from collections.abc import Iterator

from delegtop.base.clock import duration
from delegtop.diagnosis import recovery
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.error_origins import own_errors
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.events import Fault
from delegtop.model.states import State

_SHOWN = 10


@rule(
    "DEL-027",
    "needs a person",
    Severity.ERROR,
    "no error needs a person",
    "Delegation guide, Error Propagation (Command Handling): an error that is not recoverable ends the attempt, and "
    "somebody has to step in. It is told where it arose, not again at everyone who handed it up.",
)
def needs_a_person(case: Case) -> Iterator[RuleNote]:
    all_of_it = case.facts.report.errors
    for fault in own_errors(case)[:_SHOWN]:
        if fault.recoverable is False:
            field = f"errors[{all_of_it.index(fault)}].recoverable" if fault in all_of_it else "errors"
            yield RuleNote(
                f"Manual intervention is required: {_told(fault)}",
                case.facts.ended_origin,
                advice="Trying again will not help before somebody has put right what the error names.",
                since=case.facts.ended_at,
                fields=(f"{field}|return.{field}",),
            )


@rule(
    "DEL-029",
    "timed out",
    Severity.WARNING,
    "what timed out is resumed",
    "Delegation guide, Timeout Handling: after a timeout the caller keeps what is there, reports it as partial and "
    "says how to resume; the task stays in progress.",
)
def timed_out(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if case.forest.state(case.handle) is not State.TIMEOUT or facts.errors:
        return
    after = f" after {duration(facts.ended_at - facts.started_at)}" if facts.ended_at and facts.started_at else ""
    left = ", ".join(artifact.path for artifact in facts.artifacts[:_SHOWN])
    yield RuleNote(
        f"Its caller stopped waiting{after}{f'; it left {left}' if left else ''}.",
        facts.started_origin,
        facts.ended_origin,
        advice="Keep the task in progress, look at what it left, and resume it.",
        command=recovery.command(case),
        since=facts.ended_at,
        fields=("status",),
    )


def _told(fault: Fault) -> str:
    told = fault.message or fault.type or "the error has no message"
    code = f" ({fault.code})" if fault.code else ""
    return f"{told.rstrip('.')}{code}."
