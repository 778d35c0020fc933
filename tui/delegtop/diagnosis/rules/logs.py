"""Rules on the logs themselves. They are asked once for a source, not for each delegation."""

from collections.abc import Iterator, Sequence

from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Case, Rule
from delegtop.origin import Origin

Example = tuple[Origin, str]
"""A place, and what is wrong there."""


def _no_delegation(_case: Case) -> Iterator[Finding]:
    """No delegation can be blamed for what stands in a file."""
    return iter(())


UNREADABLE = Rule(
    "LOG-001",
    Severity.WARNING,
    "every line can be read",
    "A line that is torn, not UTF-8, not JSON or no object tells nothing; what it would have said is missing from the "
    "tree. The reference page of the format says what a line looks like.",
    _no_delegation,
)
DEVIATION = Rule(
    "LOG-002",
    Severity.INFO,
    "every record fits its format",
    "Something in a readable record is not as its format says: an unknown key, a wrong type, a time without a zone. "
    "The rest of the record counts. The reference page of the format explains every kind.",
    _no_delegation,
)
_ADVICE = {
    UNREADABLE.id: "Have its writer write one whole JSON object a line, in UTF-8, ended by a newline.",
    DEVIATION.id: "Have its writer follow the format, or read it as another one with --format.",
}


def judge(rule: Rule, path: str, count: int, examples: Sequence[Example]) -> Iterator[Finding]:
    """One finding for each example that was kept of a source, and one for all the others together."""
    for origin, told in examples:
        yield Finding(rule.id, rule.severity, path, told, (origin,), _ADVICE[rule.id])
    if more := count - len(examples):
        others = "other " if examples else ""
        what = "lines cannot be read" if rule is UNREADABLE else "things do not fit the format"
        yield Finding(rule.id, rule.severity, path, f"{more} {others}{what}.", (), _ADVICE[rule.id])
