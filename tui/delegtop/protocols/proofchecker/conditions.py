"""Which of the five conditions an operation of the ProofChecker family is in, and what says so."""

from enum import StrEnum

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.model import notes
from delegtop.model.delegation import Delegation, Note
from delegtop.model.states import ACTIVE, State
from delegtop.protocols.proofchecker import vocabulary
from delegtop.protocols.standard.contract import resume_commands

_GOES_ON = (ACTIVE - {State.WAITING}) | {State.LOST}
_UNTOLD = ("META_MISSING_AFTER_NARRATION", "HANDOFF_STALE_OR_ABSENT")
_SHOWN = 2


class Condition(StrEnum):
    """What an open operation comes to; the fifth, reported but still alive, is of one that has ended."""

    SILENT = "open and silent"
    UNREPORTED = "worked but never reported"
    PARKED = "parked on a background wait"
    LOOPING = "looping"


def condition(case: Case) -> Condition | None:
    """The condition of an operation that is open, the surest sign first; None for anything else."""
    facts = case.facts
    if not is_operation(facts) or case.forest.state(case.handle) not in _GOES_ON:
        return None
    if facts.parent is None and notes_of(case, notes.LISTED):
        return None
    if notes_of(case, notes.LOOP):
        return Condition.LOOPING
    if notes_of(case, notes.PARKED):
        return Condition.PARKED
    return Condition.UNREPORTED if work(case) else Condition.SILENT


def work(case: Case) -> str:
    """What it has demonstrably done without reporting it."""
    found = [line for line in _lines(case, notes.SALVAGE) if "/" not in line or case.exists(line) is not False]
    found += [line.partition(": ")[2] for line in _lines(case, notes.DEFECT) if line.startswith(_UNTOLD)]
    return "; ".join(found[:_SHOWN])


def quiet(case: Case) -> int | None:
    """How long nothing was heard of it."""
    heard = case.facts.heard_at
    return None if heard is None else case.now - heard


def quiet_for(case: Case, span: int) -> bool:
    """Whether nothing was heard of it for longer than that."""
    heard = case.facts.heard_at
    return heard is not None and case.is_past(heard + span)


def usual(facts: Delegation) -> int:
    """What nineteen of twenty of its kind need."""
    return vocabulary.USUAL.get(facts.command or "", vocabulary.MARKER_LIMIT)


def notes_of(case: Case, kind: str) -> list[Note]:
    """The notes of that kind, but for those on a dispatch before the last."""
    given = case.facts.resumed_at
    return [note for note in case.facts.notes if note.kind == kind and not _before(note.at, given)]


def is_operation(facts: Delegation) -> bool:
    """True for the work itself, not for the session that hands it out."""
    return "/" in facts.id


def evidence(case: Case, *kinds: str) -> list[Origin]:
    """The files that say so, then where it was started and last heard of."""
    facts = case.facts
    places = [note.origin for kind in kinds for note in notes_of(case, kind)]
    places += [origin for origin in (facts.started_origin, facts.heard_origin) if origin is not None]
    return list(dict.fromkeys(places))


def again(case: Case) -> str | None:
    """The command that takes the task up again."""
    return resume_commands.resume(case.facts.command, case.facts.task)


def _lines(case: Case, kind: str) -> list[str]:
    return [line for note in notes_of(case, kind) for line in note.text.splitlines()]


def _before(at: Millis | None, given: Millis | None) -> bool:
    return at is not None and given is not None and at < given
