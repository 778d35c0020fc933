"""Rules on how the agents of other programs ended. They give no return to judge; what is left is their end."""

from collections.abc import Iterator

from delegtop.diagnosis import recovery
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Case, rule
from delegtop.model.delegation import State

_TOLD = 200
_JUDGED_BY_RETURN = (None, "proofchecker", "cleo", "hyper")
"""These tell of errors in a return or an entry, which has rules of its own."""


def _why(case: Case) -> str:
    """What it said of it, in short."""
    said = next((fault.message for fault in case.facts.errors if fault.message), None) or case.facts.report.summary
    told = " ".join((said or case.forest.reason(case.handle) or "it does not say why").split())
    return told if len(told) <= _TOLD else f"{told[: _TOLD - 1]}…"


@rule(
    "END-001",
    "failed",
    Severity.ERROR,
    "no agent failed",
    "The log shows that the agent ended with an error, also where its program reports it as done: an API error in the "
    "last record outweighs that.",
)
def failed(case: Case) -> Iterator[Finding]:
    if case.forest.state(case.handle) is not State.FAILED or case.facts.product in _JUDGED_BY_RETURN:
        return
    yield failed.finding(
        case,
        f"It failed: {_why(case)}",
        case.facts.ended_origin,
        advice="See what it had done by then (its last records), put right what the error names, and ask for it again.",
        command=recovery.command(case),
        since=case.facts.ended_at,
    )


@rule(
    "END-002",
    "interrupted",
    Severity.WARNING,
    "no agent was interrupted",
    "Somebody or something stopped it before it was done; what it had found by then was not handed up.",
)
def interrupted(case: Case) -> Iterator[Finding]:
    if case.forest.state(case.handle) is not State.INTERRUPTED or case.facts.product in _JUDGED_BY_RETURN:
        return
    yield interrupted.finding(
        case,
        f"It was stopped before it was done: {_why(case)}",
        case.facts.ended_origin,
        advice="If that was not meant, ask for it again; its transcript has what it found.",
        command=recovery.command(case),
        since=case.facts.ended_at,
    )
