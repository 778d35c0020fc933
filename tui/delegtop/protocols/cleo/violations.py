"""What CLEO's own check objected to, and how that is kept as a note: one objection a line."""

from typing import NamedTuple

from delegtop.base.text import folded

_SEPARATOR = " · "


class Violation(NamedTuple):
    """What CLEO's own check objected to."""

    requirement: str
    severity: str
    message: str
    fix: str


def violation_line(requirement: str, severity: str, message: str, fix: str) -> str:
    """One violation as a line of a note."""
    return _SEPARATOR.join(folded(part) for part in (requirement, severity, message, fix))


def violations(text: str) -> list[Violation]:
    """The violations, from the text of a note. One that was cut off in the middle has what is left of it."""
    return [Violation(*[*line.split(_SEPARATOR, 3), "", "", ""][:4]) for line in text.splitlines()]
