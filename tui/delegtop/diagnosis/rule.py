"""A rule: one thing that can be wrong with a delegation, and the function that looks for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from delegtop.clock import Millis
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.origin import Origin

Check: TypeAlias = Callable[[Case], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """What is checked, how much it matters, and why it is asked for."""

    id: str
    name: str
    """What is wrong, in at most 20 characters: `artifact missing`."""
    severity: Severity
    title: str
    """What must hold, in a few words."""
    why: str
    """The explanation, with the document and section that ask for it."""
    check: Check
    products: frozenset[str | None] | None = None
    """Whose delegations it judges, by `Delegation.product`; None for everybody's."""

    def finding(
        self,
        case: Case,
        message: str,
        *evidence: Origin | None,
        advice: str = "",
        command: str | None = None,
        severity: Severity | None = None,
        by: str = "delegtop",
        since: Millis | None = None,
    ) -> Finding:
        """A finding of this rule about the delegation of the case; evidence that is not known is left out."""
        return Finding(
            self.id,
            severity or self.severity,
            case.facts.id,
            message,
            tuple(origin for origin in evidence if origin is not None),
            advice,
            command,
            by,
            since,
        )


def rule(id: str, name: str, severity: Severity, title: str, why: str) -> Callable[[Check], Rule]:
    """Make a rule of the function: its name then is the rule, which it uses to make its findings.

    @rule("RET-002", "unknown status", Severity.ERROR, "the status is one of four", "…")
    def known_status(case: Case) -> Iterator[Finding]:
        yield known_status.finding(case, "…", case.facts.ended_origin, advice="…")
    """

    def made(check: Check) -> Rule:
        return Rule(id, name, severity, title, why, check)

    return made
