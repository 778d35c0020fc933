"""The engine: every rule asked about a delegation, the answers worst first."""

from collections.abc import Callable, Iterable, Iterator

from delegtop.clock import Millis
from delegtop.diagnosis.finding import FIRST, Finding, Severity
from delegtop.diagnosis.rule import Case, Rule, unread
from delegtop.diagnosis.rules import RULES
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

_RANK = {severity: rank for rank, severity in enumerate(Severity)}

Exists = Callable[[str], bool | None]


def diagnose(
    forest: Forest,
    handle: Handle,
    now: Millis,
    exists: Exists,
    rules: Iterable[Rule] = RULES.values(),
    read: Callable[[str], str | None] = unread,
) -> tuple[Finding, ...]:
    """What the rules find about one delegation, worst first, then in the order of the rules."""
    case = Case(forest, handle, forest.delegation(handle), now, exists, read)
    product = case.facts.product
    asked = (rule for rule in rules if rule.products is None or product in rule.products)
    found = [finding for rule in asked for finding in rule.check(case)]
    return tuple(sorted(found, key=lambda finding: (_RANK[finding.severity], finding.rule not in FIRST)))


def diagnose_all(
    forest: Forest, now: Millis, exists: Exists, rules: Iterable[Rule] = RULES.values()
) -> Iterator[tuple[Handle, tuple[Finding, ...]]]:
    """The findings of every delegation that has some, parents before children."""
    asked = tuple(rules)
    for handle in forest.walk():
        if found := diagnose(forest, handle, now, exists, asked):
            yield handle, found
