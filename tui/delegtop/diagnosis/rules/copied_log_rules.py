"""A rule on what a copied or cloned log tells: it is old, however new its file."""

from collections.abc import Iterator

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes
from delegtop.model.states import ACTIVE, State

OPEN = ACTIVE | {State.LOST}
"""Nothing says that these have ended; a session between two prompts leaves nothing open."""


@rule(
    "LOG-003",
    "copied file",
    Severity.INFO,
    "a file is as new as what it tells",
    "A clone or a copy gives every file the time of the copying. Where all times in a file lie more than a day before "
    "its own, that is no sign of life: what the file leaves open was last heard of at the latest time it tells.",
)
def copied(case: Case) -> Iterator[RuleNote]:
    told = [note for note in case.facts.notes if note.kind == notes.COPIED]
    if told and case.forest.state(case.handle) in OPEN:
        yield RuleNote(
            told[0].text,
            *(note.origin for note in told),
            advice="Look where it was copied from: what became of it may stand there.",
            since=told[0].at,
        )
