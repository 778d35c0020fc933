"""Rules on the logs themselves. They are asked once for a source, not for each delegation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from delegtop.contract.departures import Kind
from delegtop.contract.manifest import SPREAD
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Rule
from delegtop.model.events import Deviation
from delegtop.origin import Origin

Example = tuple[Origin, str]
"""A place, and what is wrong there."""


def _no_delegation(_case: Case) -> Iterator[Finding]:
    """No delegation can be blamed for what stands in a file."""
    return iter(())


UNREADABLE = Rule(
    "LOG-001",
    "unreadable line",
    Severity.WARNING,
    "every line can be read",
    "A line that is torn, not UTF-8, not JSON or no object tells nothing; what it would have said is missing from the "
    "tree. The reference page of the format says what a line looks like.",
    _no_delegation,
)
DEVIATION = Rule(
    "LOG-002",
    "format not kept",
    Severity.INFO,
    "every record fits its format",
    "Something in a readable record is not as its format says: an unknown key, a wrong type, a time without a zone. "
    "The rest of the record counts. The reference page of the format explains every kind. What another rule says of "
    "the delegation, such as RET-002 of an unknown status, is not said here again.",
    _no_delegation,
)
_ADVICE = {
    UNREADABLE.id: "Have its writer write one whole JSON object a line, in UTF-8, ended by a newline.",
    DEVIATION.id: "Have its writer follow the format, or read it as another one with --format.",
}


_TOLD_BY: Mapping[str, frozenset[str]] = {
    Kind.UNKNOWN_STATUS: frozenset({"RET-002"}),
    Kind.ANOTHER_SESSION_ID: frozenset({"RET-007"}),
    Kind.MALFORMED_SESSION_ID: frozenset({"DEL-012", "RET-006"}),
    Kind.MISSING_SESSION_ID: frozenset({"DEL-001"}),
    Kind.MISSING_FIELD: frozenset({"RET-001", "DEL-003"}),
    SPREAD: frozenset({"OUT-002"}),
}
"""The kinds of deviation that a rule on delegations tells too."""


Places = dict[tuple[str, str], set[Origin]]
"""The places of a source that findings tell of, by the source and the kind of deviation."""


def places(findings: Iterable[Finding]) -> Places:
    found: Places = {}
    for finding in findings:
        for kind in (kind for kind, rules in _TOLD_BY.items() if finding.rule in rules):
            for origin in finding.evidence:
                found.setdefault((origin.source, kind), set()).add(origin)
    return found


def untold(
    path: str, reasons: Mapping[str, int], count: int, examples: Sequence[Deviation], places: Places
) -> tuple[int, list[Deviation]]:
    """How many deviations of a source no finding tells yet, and the examples among them."""
    left = [each for each in examples if each.origin not in places.get((path, each.kind), ())]
    told = sum(min(reasons.get(kind, 0), len(places.get((path, kind), ()))) for kind in _TOLD_BY)
    return count - max(told, len(examples) - len(left)), left  # one finding may tell of two fields on its line


def judge(rule: Rule, path: str, count: int, examples: Sequence[Example]) -> Iterator[Finding]:
    """One finding for each example that was kept of a source, and one for all the others together."""
    for origin, told in examples:
        yield Finding(rule.id, rule.severity, path, told, (origin,), _ADVICE[rule.id])
    if more := count - len(examples):
        others = "other " if examples else ""
        what = "lines cannot be read" if rule is UNREADABLE else "things do not fit the format"
        yield Finding(rule.id, rule.severity, path, f"{more} {others}{what}.", (), _ADVICE[rule.id])
