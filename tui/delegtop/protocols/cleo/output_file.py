"""The output file of a CLEO subagent: its title, and what stands in its sections."""

import re
from collections.abc import Iterator
from typing import NamedTuple

TITLE, LINKED = "title", "Linked Tasks"
SECTIONS = ("Summary", "Findings", "Recommendations", "Sources", LINKED)
OF_ANY_KIND = ("Summary",)
"""What the files of other kinds of work have, too: their skills have templates of their own."""

_HEADING = re.compile(r"^(#{1,6})[ \t]+(?:[\d.]{1,8}[ \t]+)?(.+)$")
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)")
_NAMES = {name.lower(): name for name in SECTIONS}
_TASK = re.compile(r"\bT\d+|#\d+|\b[A-Z][A-Z0-9]+-\d+")


class _Heading(NamedTuple):
    line: int
    level: int
    text: str


class OutputFile:
    """One file, as far as the protocol asks for its parts."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._headings = list(_headings(self._lines))

    def lacks(self, asked: tuple[str, ...] = SECTIONS) -> tuple[str, ...]:
        """The parts that are asked for and not there; the title goes by that name."""
        found = {heading.text.lower() for heading in self._headings}
        titled = any(each.level == 1 and each.text.lower() not in _NAMES for each in self._headings)
        return (*(() if titled else (TITLE,)), *(name for name in asked if name.lower() not in found))

    def empty(self, asked: tuple[str, ...] = SECTIONS) -> tuple[str, ...]:
        """The sections that are there and say nothing; that on tasks if it names none. How long a summary is, another
        rule tells."""
        told = ((name, self.section(name)) for name in asked if name != "Summary")
        return tuple(name for name, text in told if text is not None and not _says(name, text))

    def section(self, name: str) -> str | None:
        """What stands in the section, without its headings; None if there is none."""
        for place, heading in enumerate(self._headings):
            if heading.text.lower() == name.lower():
                inner = {each.line for each in self._headings[place:]}
                lines = self._lines[heading.line : self._end(place)]
                return "\n".join(line for number, line in enumerate(lines, heading.line) if number not in inner).strip()
        return None

    def _end(self, place: int) -> int:
        """The line at which the section ends: that of the next heading that is no part of it."""
        level = self._headings[place].level
        after = (each for each in self._headings[place + 1 :] if each.level <= level or each.text.lower() in _NAMES)
        return next((each.line for each in after), len(self._lines))


def _headings(lines: list[str]) -> Iterator[_Heading]:
    fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := _HEADING.match(line)):
            yield _Heading(number, len(match[1]), match[2].rstrip(" \t\r#"))


def _says(name: str, text: str) -> bool:
    return _TASK.search(text) is not None if name == LINKED else bool(text)
