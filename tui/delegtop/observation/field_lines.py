"""Findings on files that are one JSON text, or hold one, point at the line of the field that they are about."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.json_places import fault_line, lines_of
from delegtop.base.origin import Origin

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Finding
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.report.check_report import CheckSubject

_LARGEST = 4 * 1024 * 1024
_NO_JSON = ("LOG-001", "HYP-002")
"""Rules on what is no JSON: they point at where it stops to be."""


def placed(subjects: "Iterable[CheckSubject]", statuses: "Iterable[SourceStatus]") -> "list[CheckSubject]":
    """The subjects, with evidence on the lines of the fields. Only files that a finding tells of are looked into."""
    whole = {source.path for source in statuses if _is_whole(source.dialect) and not _has_lines(source)}
    text_at = cache(_text_at)  # of one entry several things may be wrong
    return [
        subject._replace(findings=tuple(_placed(finding, whole, text_at) for finding in subject.findings))
        for subject in subjects
    ]


@cache
def _is_whole(dialect: str | None) -> bool:
    """True for a format of which a file is one JSON text; in a file of lines the line is known anyway."""
    from delegtop.dialects import Unit, load, names

    if dialect is None or dialect not in names():
        return dialect is not None  # a return, or a part of one
    return load(dialect).unit in (Unit.DOCUMENT, Unit.TEXT)


def _has_lines(source: "SourceStatus") -> bool:
    """Whether it is one of the files of lines that a format of documents has among others."""
    return source.path.endswith(".jsonl") and source.records + source.unreadable > 1


def _placed(finding: "Finding", whole: set[str], text_at: Callable[[Origin], str]) -> "Finding":
    if not any(origin.name in whole for origin in finding.evidence):
        return finding
    if not finding.fields and finding.rule not in _NO_JSON:
        return finding
    from msgspec.structs import replace

    evidence: dict[Origin, None] = {}
    for origin in finding.evidence:
        if origin.name not in whole:
            places = [origin]
        elif finding.fields:
            places = _places(origin, text_at(origin), finding.fields)
        else:
            places = [_fault(origin, text_at(origin))]
        evidence |= dict.fromkeys(places)
    return replace(finding, evidence=tuple(evidence))


def _fault(origin: Origin, text: str) -> Origin:
    """Where the text stops to be JSON."""
    line = fault_line(text)
    return origin if line is None else Origin(origin.source, origin.line - 1 + line, origin.offset, origin.host)


def _places(origin: Origin, text: str, fields: Sequence[str]) -> list[Origin]:
    """One for each line that a field stands on."""
    found = lines_of(text, fields)
    lines = dict.fromkeys(origin.line - 1 + found[field] for field in fields)
    return [Origin(origin.source, line, origin.offset, origin.host) for line in lines]


def _text_at(origin: Origin) -> str:
    """What stands from there on; nothing if it cannot be read any more."""
    try:
        with Path(origin.source).open("rb") as file:
            file.seek(origin.offset)
            return file.read(_LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
