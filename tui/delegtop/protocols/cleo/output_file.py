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
_LABELLED = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\**(?:Epic|Task)\**:", re.IGNORECASE)
_TOKEN = re.compile(r"(?:#{1,6}[ \t]+|[-*+][ \t]+)?(?:[\w ]{1,40}:[ \t]*)?(\{\{[^{}]{1,60}\}\})")
"""A line that is nothing but a token, behind its mark and its label: prose may speak of one."""


class _Heading(NamedTuple):
    line: int
    level: int
    text: str


class LinkedTask(NamedTuple):
    """A task that the file says it is linked to."""

    id: str
    line: int
    is_own: bool
    """It is called its epic or its task, not one that is mentioned besides."""


class OutputFile:
    """One file, as far as the protocol asks for its parts. Its lines count from 1."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._headings = list(_headings(self._lines))

    def line_of(self, name: str) -> int:
        """The line of the heading of a section; the first of the file if it has none."""
        return next((each.line + 1 for each in self._headings if each.text.lower() == name.lower()), 1)

    def tokens(self) -> list[tuple[int, str]]:
        """The tokens of the template that nobody filled in, each with its line; what is code is not looked at."""
        told = ((number, _TOKEN.fullmatch(line.strip())) for number, line in _plain(self._lines))
        return [(number + 1, match[1]) for number, match in told if match]

    def linked_tasks(self) -> list[LinkedTask]:
        """The tasks in the section on them."""
        for place, heading in enumerate(self._headings):
            if heading.text.lower() == LINKED.lower():
                lines = enumerate(self._lines[heading.line + 1 : self._end(place)], heading.line + 2)
                return [
                    LinkedTask(id, number, _LABELLED.match(line) is not None)
                    for number, line in lines
                    for id in _TASK.findall(line)
                ]
        return []

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
    for number, line in _plain(lines):
        if match := _HEADING.match(line):
            yield _Heading(number, len(match[1]), match[2].rstrip(" \t\r#"))


def _plain(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that are no code, with their numbers from 0 on."""
    fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _says(name: str, text: str) -> bool:
    return _TASK.search(text) is not None if name == LINKED else bool(text)
