"""The engine: every rule asked about a delegation, the answers worst first."""

from collections.abc import Iterable

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import FIRST, Finding, Severity
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import rules_on

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


def diagnose(case: Case, rules: Iterable[Rule] | None = None) -> tuple[Finding, ...]:
    """What the rules find about the delegation of a case, worst first, then in the order of the rules; with `rules`,
    only those of them that judge such delegations are asked."""
    judging = rules_on(case.facts.product)
    asked = judging.values() if rules is None else (rule for rule in rules if rule.id in judging)
    found = [rule.finding(case, note) for rule in asked for note in rule.check(case)]
    return tuple(sorted(found, key=lambda finding: (_RANK[finding.severity], finding.rule not in FIRST)))
