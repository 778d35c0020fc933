"""What a CLEO subagent answers its orchestrator, by every version of the protocol: one sentence, later four lines.

The words themselves tell the version: no file of a project says it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from delegtop.protocols.cleo.manifest_contract import Status

MESSAGES: dict[Status, str] = {
    "complete": "Research complete. See MANIFEST.jsonl for summary.",
    "partial": "Research partial. See MANIFEST.jsonl for details.",
    "blocked": "Research blocked. See MANIFEST.jsonl for blocker details.",
}
"""All that the first version lets a subagent answer, by the status of its entry."""
FOUR_LINES = "the four lines `[Type] [status]. manifest:[id]`, `commits:`, `gates:` and `blocker:`"
LINES = ("commits", "gates", "blocker")
"""What the last version has below its first line."""
BLOCKER_WORDS = 12
GATES = ("pass", "fail", "skip")


class MessageVersion(NamedTuple):
    """What one version of the protocol asks for."""

    name: str
    """Its number; where it has none, the month since when it is asked for."""
    form: str
    """As a person would write it down."""
    head: re.Pattern[str]
    """The message, or its first line: `type`, `status`, and `entry` where it names one. All speak of a manifest."""


_KIND = r"\[[^\]\n]{1,40}\]|[A-Z][\w ()/&-]{0,40}(?<! is)(?<! was)(?<! been)(?<! now)"
_TAILS = {"complete": "summary", "created": "summary", "partial": "details", "blocked": "blocker details"}
_STATUS = "|".join(rf"{status}(?=\. See MANIFEST\.jsonl for {what}\.$)" for status, what in _TAILS.items())
_ENTRY = r"(?P<entry>[^\s<>]+)"


def _head(tail: str, kind: str = _KIND, status: str = "completed?|partial|blocked") -> re.Pattern[str]:
    return re.compile(rf"(?P<type>{kind}) (?P<status>{status})\. {tail}")


VERSIONS = (
    MessageVersion("1.0.0", MESSAGES["complete"], _head(r"See MANIFEST\.jsonl for [a-z ]+\.", "Research", _STATUS)),
    MessageVersion(
        "1.1.0",
        "[Type] complete. See MANIFEST.jsonl for summary.",
        _head(r"See MANIFEST\.jsonl for [a-z ]+\.", status=_STATUS),
    ),
    MessageVersion("1.2.0", "[Type] complete. See pipeline manifest.", _head(r"See pipeline manifest\.")),
    MessageVersion(
        "2026-04",
        "[Type] complete. Manifest appended to pipeline_manifest.",
        _head(r"Manifest appended to pipeline_manifest\."),
    ),
    MessageVersion("2026-09", FOUR_LINES, _head(rf"manifest:{_ENTRY}")),
)
"""The oldest first."""


RESPONSE = re.compile(
    r"\b(?:(complete|partial|blocked)d?\b>?[.:!]?"
    r"(?:[^\n]{0,40}\b(?:MANIFEST\.jsonl|pipeline_manifest)\b|[ \t]*manifest:|\.? See pipeline manifest\b)|"
    r"created\. See MANIFEST\.jsonl\b)",
    re.IGNORECASE,
)
"""What shows that a text means to be such an answer."""

_LINE = re.compile(rf"({'|'.join(LINES)}):[ \t]*(.*)")
_FENCE = re.compile(r"(?:```|~~~)[\w-]*")
_NONE = frozenset({"none", "-", "–", "n/a", ""})
_COMMITS = 100
_SEARCHED = 20_000
_GATE = re.compile(r"[^\s,;=]+=[^\s,;=]+")


class Gate(NamedTuple):
    """One check that the work went through, and what came of it."""

    name: str
    result: str


class Response(NamedTuple):
    """An answer, as far as it can be understood."""

    version: MessageVersion | None
    """None if it holds the message of no version."""
    type: str | None = None
    status: Status | None = None
    entry: str | None = None
    """The entry that it names; `none` if it says that there is none."""
    told: tuple[tuple[str, str], ...] = ()
    """The lines below the first that it has, by name."""
    content: tuple[str, ...] = ()
    """All lines that belong to no message."""
    content_line: int = 1
    """The first of them, counted from 1."""
    line: int = 1
    """That of the message, or of what comes nearest to it."""
    places: tuple[int, ...] = ()
    """Where the lines below the first stand."""

    def line_of(self, *names: str) -> int:
        """Where the first line of these names stands; that of the message if there is none."""
        there = zip(self.told, self.places, strict=False)
        return next((place for (name, _), place in there if name in names), self.line)

    @property
    def has_lines(self) -> bool:
        return self.version is VERSIONS[-1]

    @property
    def names_entry(self) -> bool:
        return self.entry is not None and self.entry.lower() not in _NONE

    @property
    def missing(self) -> tuple[str, ...]:
        """The lines that the last version asks for and that are not there."""
        given = {name for name, _ in self.told}
        return tuple(name for name in LINES if name not in given) if self.has_lines else ()

    @property
    def spoilt(self) -> tuple[str, ...]:
        """The lines that are there twice, or say nothing."""
        names = [name for name, _ in self.told]
        twice = [name for name in LINES if names.count(name) > 1]
        return tuple(dict.fromkeys([*twice, *(name for name, text in self.told if not text)]))

    @property
    def commits(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(re.findall(r"[^\s,;]+", self._line("commits") or "")))[:_COMMITS]

    @property
    def blocker(self) -> str | None:
        return self._line("blocker")

    @property
    def gates(self) -> tuple[Gate, ...]:
        return tuple(Gate(*found.split("=")) for found in _GATE.findall(self._line("gates") or ""))

    @property
    def failed(self) -> tuple[str, ...]:
        """The gates that were not passed."""
        return tuple(gate.name for gate in self.gates if gate.result.lower() not in ("pass", "skip"))

    @property
    def unclear_gates(self) -> str | None:
        """What it says of gates, if that cannot be read as gates and their results."""
        line = self._line("gates")
        if line is None:
            return None
        plain = not _GATE.sub("", line).strip(" ,;") and all(gate.result in GATES for gate in self.gates)
        return None if plain else line

    def _line(self, name: str) -> str | None:
        """What the line says, unless that is none."""
        return next((text for each, text in self.told if each == name and text.lower() not in _NONE), None)


def read(text: str) -> Response:
    """An answer. Of several messages the first counts; what stands beside it is content."""
    lines = dict(_lines(text))
    named = (number for number, line in lines.items() if "manifest" in line or "MANIFEST" in line)
    place = next((number for number in named if _version(lines[number])), None)
    found = None if place is None else _version(lines.pop(place))
    if found is None or place is None:
        meant = RESPONSE.search(text, 0, _SEARCHED)
        content = {number: line for number, line in lines.items() if not _LINE.fullmatch(line) or meant is None}
        return Response(
            None,
            status=_status(meant[1] or "") if meant and ">" not in meant[0] else None,  # a token says nothing
            content=tuple(content.values()),
            content_line=next(iter(content), 1),
            line=1 + text.count("\n", 0, meant.start()) if meant else next(iter(lines), 1),
        )
    version, head = found
    below = {n: match for n, line in lines.items() if version is VERSIONS[-1] and (match := _LINE.fullmatch(line))}
    told = tuple((match[1], match[2].strip()) for match in below.values())
    content = {number: line for number, line in lines.items() if number not in below}
    kind, entry = head["type"].strip("[]"), head["entry"] if "entry" in head.re.groupindex else None
    rest = tuple(content.values()), next(iter(content), 1)
    return Response(version, kind, _status(head["status"]), entry, told, *rest, place, tuple(below))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers, without the fence around all of them."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > 1 and _FENCE.fullmatch(lines[0][1]) and lines[-1][1] == lines[0][1][:3]:
        lines = lines[1:-1]
    return iter(lines)


def _version(line: str) -> tuple[MessageVersion, re.Match[str]] | None:
    return next(((each, head) for each in VERSIONS if (head := each.head.fullmatch(line))), None)


def _status(word: str) -> Status:
    match word.lower().removesuffix("d"):
        case "partial":
            return "partial"
        case "blocke":
            return "blocked"
        case _:
            return "complete"
