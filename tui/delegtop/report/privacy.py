"""The words of a delegation with the secrets in them hidden: what prompts and outputs hold is not for every eye.

Ids, names, paths and times stay: they are what one looks a thing up by.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from delegtop.base.secrets import mask
from delegtop.diagnosis.finding import Finding
from delegtop.model.delegation import FACTS, Claim, Delegation, Note
from delegtop.model.events import Artifact, Fault, ProcessSeen, Report
from delegtop.report.check_report import CheckResult

Hide = Callable[[str], str]


def as_it_is(text: str) -> str:
    """For who wants to see everything."""
    return text


def hiding(wanted: bool) -> Hide:
    """What foreign text passes before it is shown."""
    return mask if wanted else as_it_is


def masked(facts: Delegation) -> Delegation:
    """The delegation with every free text of it masked."""
    hidden = {name: hide(told) for name, hide in _MASKED if (told := getattr(facts, name))}
    return replace(facts, **hidden)


def masked_finding(finding: Finding) -> Finding:
    """A finding with what it quotes masked."""
    return replace(finding, message=mask(finding.message), advice=mask(finding.advice), command=_hide(finding.command))


def masked_verdict(verdict: CheckResult) -> CheckResult:
    """Everything `check` says, masked."""
    return verdict._replace(
        subjects=[
            subject._replace(name=mask(subject.name), findings=tuple(map(masked_finding, subject.findings)))
            for subject in verdict.subjects
        ]
    )


def _hide(text: str | None) -> str | None:
    return text and mask(text)


def _notes(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(replace(note, text=mask(note.text)) for note in notes)


def _claims(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    return tuple(replace(claim, value=mask(claim.value)) for claim in claims)


def _process(seen: ProcessSeen | None) -> ProcessSeen | None:
    return seen and replace(seen, on=_hide(seen.on), name=_hide(seen.name), command=_hide(seen.command))


def _faults(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(map(_fault, faults))


def _report(report: Report) -> Report:
    if report == Report():
        return report
    return replace(
        report,
        summary=_hide(report.summary),
        next_steps=_hide(report.next_steps),
        artifacts=tuple(map(_artifact, report.artifacts)),
        errors=_faults(report.errors),
    )


def _artifact(artifact: Artifact) -> Artifact:
    return replace(artifact, path=mask(artifact.path), summary=_hide(artifact.summary))


def _fault(fault: Fault) -> Fault:
    return replace(fault, message=_hide(fault.message), recommendation=_hide(fault.recommendation))


_WITHIN: dict[str, Callable[[Any], object]] = {
    "report": _report,
    "faults": _faults,
    "notes": _notes,
    "claims": _claims,
    "process": _process,
}
"""How a fact is masked that is more than a text."""
_MASKED = tuple((fact.name, _WITHIN.get(fact.name, mask)) for fact in FACTS.values() if fact.masked)
