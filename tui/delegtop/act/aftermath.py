"""What is left to do once something was stopped: what is worth saving, and what takes it up again."""

from collections.abc import Iterator
from typing import NamedTuple

from delegtop.base.text import folded, line
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.recovery import By, salvage
from delegtop.model.store.ledger import Handle

_WORDS = 160
_MOST = 6


class Aftermath(NamedTuple):
    """What can be saved, in a line each, and the command that resumes it, if there is one."""

    salvage: tuple[str, ...]
    command: str | None
    how: str = ""
    """What the command does."""


def aftermath(assessments: Assessments, handle: Handle) -> Aftermath:
    steps = [step for step in assessments.todo(handle) if step.by is By.RESUME and step.command]
    told = tuple(_saved(assessments, handle))[:_MOST]
    if not steps:
        return Aftermath(told, None)
    return Aftermath(told, steps[0].command, steps[0].words)


def _saved(assessments: Assessments, handle: Handle) -> Iterator[str]:
    for each in salvage(assessments.forest.delegation(handle)):
        yield f"{each.what}: {line(folded(each.text), _WORDS)}"
