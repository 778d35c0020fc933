"""The words of a delegation with the secrets in them hidden: what prompts and outputs hold is not for every eye.

Ids, names, paths and times stay: they are what one looks a thing up by.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from delegtop.base.secrets import mask
from delegtop.diagnosis.finding import Finding
from delegtop.model.delegation import FACTS, Claim, Delegation, Note
from delegtop.model.events import ProcessSeen
from delegtop.model.masked_words import masked_faults, masked_process, masked_report, masked_text
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
    return replace(
        finding, message=mask(finding.message), advice=mask(finding.advice), command=masked_text(finding.command)
    )


def masked_verdict(verdict: CheckResult) -> CheckResult:
    """Everything `check` says, masked."""
    return verdict._replace(
        subjects=[
            subject._replace(name=mask(subject.name), findings=tuple(map(masked_finding, subject.findings)))
            for subject in verdict.subjects
        ]
    )


def _notes(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(replace(note, text=mask(note.text)) for note in notes)


def _claims(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    return tuple(replace(claim, value=mask(claim.value)) for claim in claims)


def _process(seen: ProcessSeen | None) -> ProcessSeen | None:
    return seen and masked_process(seen)


_WITHIN: dict[str, Callable[[Any], object]] = {
    "report": masked_report,
    "faults": masked_faults,
    "notes": _notes,
    "claims": _claims,
    "process": _process,
}
"""How a fact is masked that is more than a text."""
_MASKED = tuple((fact.name, _WITHIN.get(fact.name, mask)) for fact in FACTS.values() if fact.masked)
