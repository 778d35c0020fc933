"""What formats noted on reading, for the rules that judge it: drift from a protocol, and other notes."""

from typing import NamedTuple

from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.model.delegation import Note
from delegtop.protocols import protocol_drift


class Drifted(NamedTuple):
    """All that one kind of drift has to say of a delegation, and where it was found."""

    details: tuple[str, ...]
    evidence: tuple[Origin, ...]


def drifted(case: Case, kind: str) -> Drifted | None:
    """The drift of that kind; None if there is none. What several sources say alike is said once."""
    details: dict[str, None] = {}
    evidence: list[Origin] = []
    for note in notes(case, protocol_drift.NOTE):
        found = protocol_drift.read(note.text).get(kind)
        if found:
            details.update(dict.fromkeys(found))
            evidence.append(note.origin)
    return Drifted(tuple(details), tuple(evidence)) if details else None


def notes(case: Case, kind: str) -> list[Note]:
    return [note for note in case.facts.notes if note.kind == kind and note.text]
