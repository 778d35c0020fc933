"""A rule: one thing that can be wrong with a delegation, and the function that looks for it."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity


class RuleNote:
    """What a rule has to say of the delegation it was asked about; evidence that is not known is left out."""

    def __init__(
        self,
        message: str,
        *evidence: Origin | None,
        advice: str = "",
        command: str | None = None,
        severity: Severity | None = None,
        by: str = "delegtop",
        since: Millis | None = None,
        fields: tuple[str, ...] = (),
    ) -> None:
        self.message = message
        self.evidence = tuple(origin for origin in evidence if origin is not None)
        self.advice, self.command, self.severity, self.by, self.since = advice, command, severity, by, since
        self.fields = fields


Check: TypeAlias = Callable[[Case], Iterator[RuleNote]]


class RuleText(Struct, frozen=True):
    """What every rule says of itself, whatever it judges."""

    id: str
    name: str
    """What is wrong, in at most 20 characters: `artifact missing`."""
    severity: Severity
    title: str
    """What must hold, in a few words."""
    why: str
    """The explanation, with the document and section that ask for it."""


class Rule(RuleText, frozen=True):
    """A rule on delegations or logs."""

    check: Check

    def finding(self, case: Case, note: RuleNote) -> Finding:
        severity, about = note.severity or self.severity, case.facts.id
        told = (note.message, note.evidence, note.advice, note.command, note.by, note.since, note.fields)
        return Finding(self.id, severity, about, *told)


def rule(id: str, name: str, severity: Severity, title: str, why: str) -> Callable[[Check], Rule]:
    """Make a rule of the function: its name then is the rule.

    @rule("RET-002", "unknown status", Severity.ERROR, "the status is one of four", "…")
    def known_status(case: Case) -> Iterator[RuleNote]:
        yield RuleNote("…", case.facts.ended_origin, advice="…")
    """
    return lambda check: Rule(id, name, severity, title, why, check)
