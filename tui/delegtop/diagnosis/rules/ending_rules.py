"""The rule on how delegations ended, whatever their program: every problem that is over is a finding, once."""

from collections.abc import Iterator

from delegtop.base.text import cut, folded
from delegtop.diagnosis import recovery
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.held_up import is_handed_up
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.measures import remark
from delegtop.model.states import ENDED_BADLY, State

_TOLD = 200


@rule(
    "END-001",
    "ended badly",
    Severity.WARNING,
    "nothing ended badly",
    "It failed, timed out, is blocked, came back with part of the work or was interrupted. That it failed is an error, "
    "also where its program reports it as done: an API error in the last record outweighs that. What only repeats how "
    "a child ended is told there, and what timed out without a word is DEL-029.",
)
def ended_badly(case: Case) -> Iterator[RuleNote]:
    state, facts = case.state, case.facts
    if state not in ENDED_BADLY or is_handed_up(case.forest, case.handle):
        return
    if state is State.TIMEOUT and not facts.errors:
        return
    yield RuleNote(
        f"It ended {state}: {_why(case)}",
        facts.ended_origin,
        advice=_advice(state),
        command=recovery.command(case),
        severity=Severity.ERROR if state is State.FAILED else None,
        since=facts.ended_at,
        fields=("status|meta.status",),
    )


def _advice(state: State) -> str:
    if state is State.BLOCKED:
        return "Give it what it waits for, by its own words, and ask for it again."
    if state is State.PARTIAL:
        return "See in its return what is done and what is missing, and ask for the rest."
    if state is State.INTERRUPTED:
        return "If nobody meant to stop it, see what it had done by then (its last records), and ask for it again."
    return "See what it had done by then (its last records), put right what is in the way, and ask for it again."


def _why(case: Case) -> str:
    """What it said of it, in short."""
    return cut(folded(remark(case.forest, case.handle, case.facts) or "it does not say why."), _TOLD)
