"""The engine: every rule asked about a delegation, the answers worst first."""

from collections.abc import Callable, Iterable, Iterator

from delegtop.clock import Millis
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Case, Rule
from delegtop.diagnosis.rules import RULES
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

_RANK = {severity: rank for rank, severity in enumerate(Severity)}

Exists = Callable[[str], bool | None]


def diagnose(
    forest: Forest, handle: Handle, now: Millis, exists: Exists, rules: Iterable[Rule] = RULES.values()
) -> tuple[Finding, ...]:
    """What the rules find about one delegation, worst first, then in the order of the rules."""
    case = Case(forest, handle, forest.delegation(handle), now, exists)
    found = [finding for rule in rules for finding in rule.check(case)]
    return tuple(sorted(found, key=lambda finding: _RANK[finding.severity]))


def diagnose_all(
    forest: Forest, now: Millis, exists: Exists, rules: Iterable[Rule] = RULES.values()
) -> Iterator[tuple[Handle, tuple[Finding, ...]]]:
    """The findings of every delegation that has some, parents before children."""
    asked = tuple(rules)
    for handle in forest.walk():
        if found := diagnose(forest, handle, now, exists, asked):
            yield handle, found
