"""The words of a delegation with the secrets in them hidden: what prompts and outputs hold is not for every eye.

Ids, names, paths and times stay: they are what one looks a thing up by.
"""

from collections.abc import Callable

from msgspec.structs import replace

from delegtop.diagnosis.finding import Finding
from delegtop.model.delegation import Delegation
from delegtop.model.events import Artifact, Fault, Report
from delegtop.report.check import Verdict
from delegtop.secrets import mask

Hide = Callable[[str], str]


def as_it_is(text: str) -> str:
    """For who wants to see everything."""
    return text


def hiding(wanted: bool) -> Hide:
    """What foreign text passes before it is shown."""
    return mask if wanted else as_it_is


def masked(facts: Delegation) -> Delegation:
    """The delegation with every free text of it masked."""
    return replace(
        facts,
        doing=_hide(facts.doing),
        title=_hide(facts.title),
        prompt=_hide(facts.prompt),
        report=_report(facts.report),
        faults=tuple(map(_fault, facts.faults)),
        notes=tuple(replace(note, text=mask(note.text)) for note in facts.notes),
        claims=tuple(replace(claim, value=mask(claim.value)) for claim in facts.claims),
    )


def masked_finding(finding: Finding) -> Finding:
    """A finding with what it quotes masked."""
    return replace(finding, message=mask(finding.message), advice=mask(finding.advice), command=_hide(finding.command))


def masked_verdict(verdict: Verdict) -> Verdict:
    """Everything `check` says, masked."""
    return verdict._replace(
        subjects=[
            subject._replace(findings=tuple(map(masked_finding, subject.findings))) for subject in verdict.subjects
        ]
    )


def _hide(text: str | None) -> str | None:
    return text and mask(text)


def _report(report: Report) -> Report:
    if report == Report():
        return report
    return replace(
        report,
        summary=_hide(report.summary),
        next_steps=_hide(report.next_steps),
        artifacts=tuple(map(_artifact, report.artifacts)),
        errors=tuple(map(_fault, report.errors)),
    )


def _artifact(artifact: Artifact) -> Artifact:
    return replace(artifact, summary=_hide(artifact.summary)) if artifact.summary else artifact


def _fault(fault: Fault) -> Fault:
    return replace(fault, message=_hide(fault.message), recommendation=_hide(fault.recommendation))
