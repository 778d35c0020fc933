"""Rules on the logs themselves. They are asked once for a source, not for each delegation."""

from collections.abc import Iterator

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import Rule, RuleNote


def _no_delegation(_case: Case) -> Iterator[RuleNote]:
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
UNFOUND = Rule(
    "LOG-004",
    "artifacts not found",
    Severity.INFO,
    "the artifacts that a log names can be looked for",
    "Return format standard, Validation Requirements 4: artifacts must exist on disk. A log is often read far from its "
    "project: where neither one of its artifacts nor the folder of one is found, nothing is called missing, and this "
    "says that nothing was judged. `check --root DIR` says where the project is.",
    _no_delegation,
)
DEVIATION = Rule(
    "LOG-002",
    "format not kept",
    Severity.INFO,
    "every record fits its format",
    "Something in a readable record is not as its format says: an unknown key, a wrong type, a time without a zone. "
    "The rest of the record counts. The reference page of the format explains every kind. What another rule says of "
    "the delegation, such as RET-002 of an unknown status, is not said here again. In the formats of the delegation "
    "protocol itself (session log, registry, context, return) a wrong type or value, a status nobody knows and a field "
    "that is missing are warnings, as in every protocol.",
    _no_delegation,
)
