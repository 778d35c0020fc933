"""The findings of one look, for people, scripts, code viewers and test reports."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model.states import State
from delegtop.report.health import Health

RANK = {severity: rank for rank, severity in enumerate(Severity)}


class CheckSubject(NamedTuple):
    """A delegation, or a source, and what was found about it."""

    id: str
    """The id of the delegation, or the path of the source."""
    name: str
    """What to call it."""
    source: str
    """The source that tells of it."""
    assessment: Assessment | None
    """None for a source."""
    findings: tuple[Finding, ...]

    @property
    def state(self) -> State | None:
        return self.assessment.state if self.assessment else None

    @property
    def title(self) -> str:
        """Its name and its id, once if they are the same."""
        return self.id if self.name == self.id else f"{self.name} {self.id}"

    @property
    def gravity(self) -> tuple[bool, int, int, int, int]:
        """The least comes first: problems in the order of looking, then the rest by its worst finding, then sources."""
        worst = min((RANK[finding.severity] for finding in self.findings), default=len(RANK))
        if self.assessment is None:
            return True, 0, 0, 0, worst
        urgency, certainty, newest, *_ = self.assessment.key
        if not self.assessment.problem:
            return False, Urgency.AT_REST, 0, 0, worst
        return False, urgency, certainty, newest, worst


class CheckResult(NamedTuple):
    """All of it: every delegation and every source, in the order of the tree, whether or not it has findings."""

    at: Millis
    sources: Sequence[Health]
    subjects: Sequence[CheckSubject]

    @property
    def findings(self) -> list[Finding]:
        """All findings, subjects with the worst first."""
        return [finding for subject in self.worst_first for finding in subject.findings]

    @property
    def worst_first(self) -> list[CheckSubject]:
        """The subjects that have findings."""
        return sorted((subject for subject in self.subjects if subject.findings), key=lambda subject: subject.gravity)


def at_least(findings: Iterable[Finding], severity: Severity | None) -> list[Finding]:
    """Those that are as grave as `severity` or graver; None is graver than any."""
    if severity is None:
        return []
    return [finding for finding in findings if RANK[finding.severity] <= RANK[severity]]


def told(finding: Finding) -> str:
    """The message, with whose words it is if they are the agent's own."""
    return f"The agent says: {finding.message}" if finding.by == "agent" else finding.message
