"""The engine: every rule asked about a delegation, the answers worst first."""

from collections.abc import Iterable

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import FIRST, Finding, Severity
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import chapters_on, rules_on

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


def diagnose(case: Case, rules: Iterable[Rule] | None = None) -> tuple[Finding, ...]:
    """What the rules find about the delegation of a case, worst first, then in the order of the rules; with `rules`,
    only those of them that judge such delegations are asked."""
    if rules is None:
        chapters = chapters_on(case.facts.product)
        asked = [rule for may_find, chapter in chapters if may_find(case) for rule in chapter]
    else:
        judging = rules_on(case.facts.product)
        asked = [rule for rule in rules if rule.id in judging]
    found = [rule.finding(case, note) for rule in asked for note in rule.check(case)]
    if rules is None:
        found.sort(key=lambda finding: finding.rule)
    return tuple(sorted(found, key=lambda finding: (_RANK[finding.severity], finding.rule not in FIRST)))
