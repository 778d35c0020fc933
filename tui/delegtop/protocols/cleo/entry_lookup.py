"""What the rules on CLEO subagents have in common: which rows are entries, what CLEO's own check says of a row."""

from collections.abc import Iterator
from typing import NamedTuple

from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.rule import RuleNote
from delegtop.model import notes as kinds
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ending
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.entry_rows import OUTPUT
from delegtop.protocols.cleo.output_file import OutputFile
from delegtop.protocols.cleo.violations import Violation, violations
from delegtop.protocols.noted_drift import notes


def is_entry(case: Case) -> bool:
    """True for what a manifest tells of, not for a task, an agent or a response."""
    return _is_entry(case.facts)


class ReadOutput(NamedTuple):
    """An output file that can be read."""

    name: str
    """As its entry has it."""
    place: str
    """Where it lies."""
    file: OutputFile

    def at(self, line: int) -> Origin:
        return Origin(self.place, line, 0)


def output_files(case: Case) -> Iterator[ReadOutput]:
    """The output files of an entry that can be read."""
    for each in case.facts.artifacts if is_entry(case) else ():
        if each.type == OUTPUT and (found := case.read(each.path)) is not None:
            place, text = found
            yield ReadOutput(each.path, place, OutputFile(text))


def entries(case: Case) -> Iterator[Delegation]:
    """All entries that are known."""
    rows = (case.forest.delegation(handle) for handle in case.forest.on_host(case.facts.told_by))
    return (facts for facts in rows if _is_entry(facts))


def entry_named(case: Case, id: str | None) -> Delegation | None:
    """The entry of that id, if it is known."""
    handle = case.forest.find(id, case.facts.told_by) if id else None
    facts = case.forest.delegation(handle) if handle is not None else None
    return facts if facts is not None and _is_entry(facts) else None


def _is_entry(facts: Delegation) -> bool:
    is_return = facts.product == PRODUCT.name and facts.ended_by is Ending.RETURN
    return is_return and not any(note.kind == kinds.RESPONSE for note in facts.notes)


def objections(case: Case) -> Iterator[tuple[Origin, Violation]]:
    """All that CLEO's own check objects to, and where it says so."""
    for note in notes(case, kinds.VIOLATION):
        for violation in violations(note.text):
            yield note.origin, violation


def objected(case: Case, requirement: str) -> Iterator[RuleNote]:
    """What CLEO's own check says of one of the four rules."""
    for origin, violation in objections(case):
        if violation.requirement == requirement:
            yield RuleNote(
                f"CLEO objects: {words(violation)}.".replace("..", "."),
                origin,
                advice=violation.fix or "See its transcript for what it answered.",
                since=case.facts.ended_at,
            )


def words(violation: Violation) -> str:
    return f"{violation.message} ({violation.requirement})" if violation.requirement else violation.message
