"""Rules made of verdicts: one for every kind that is a finding. What each asks for stands in the table of kinds."""

from collections.abc import Iterator

from delegtop.diagnosis import recovery
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import Rule, RuleNote
from delegtop.diagnosis.sentence import say
from delegtop.diagnosis.verdicts import Certainty, Kind, judge

_STEP_LESS = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO, Severity.INFO: Severity.INFO}


def _rule(kind: Kind) -> Rule:
    row = kind.row

    def check(case: Case) -> Iterator[RuleNote]:
        verdict = judge(case)
        if verdict is None or verdict.kind is not kind:
            return
        unsure = verdict.certainty is Certainty.POSSIBLE
        yield RuleNote(
            say(verdict.sentence, case.now)
            + ("" if verdict.certainty is Certainty.CERTAIN else f" ({verdict.certainty})"),
            *verdict.evidence,
            advice=recovery.advice(case),
            command=recovery.command(case),
            severity=_STEP_LESS[row.severity] if unsure else row.severity,
            since=verdict.since,
        )

    return Rule(row.rule, row.short, row.severity, row.must, row.why, check)


def may_find(case: Case) -> bool:
    return judge(case) is not None


MADE = tuple(_rule(kind) for kind in Kind if kind.row.rule)
