"""The engine: every rule asked about a delegation, the answers worst first."""

from collections.abc import Iterable

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import FIRST, Finding, Severity
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import RULES

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


def diagnose(case: Case, rules: Iterable[Rule] = RULES.values()) -> tuple[Finding, ...]:
    """What the rules find about the delegation of a case, worst first, then in the order of the rules."""
    product = case.facts.product
    asked = (rule for rule in rules if rule.products is None or product in rule.products)
    found = [finding for rule in asked for finding in rule.check(case)]
    return tuple(sorted(found, key=lambda finding: (_RANK[finding.severity], finding.rule not in FIRST)))
