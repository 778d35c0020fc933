"""How an entry of a manifest departs from the protocol: its types, names, tasks and findings, by its version."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from delegtop.protocols.cleo.manifest_contract import FIELDS, EntryVersion
from delegtop.protocols.protocol_drift import Drift, json_type
from delegtop.protocols.standard.contract.artifact_paths import climbs, is_absolute
from delegtop.protocols.standard.contract.sentence_count import sentences

MISSING = "missing field"
RENAMED = "other name"
WRONG_TYPE = "wrong type"
BAD_DATE = "not a day"
ODD_ID = "odd id"
UNSAFE_ID = "id not for an address"
ODD_FILE = "odd file name"
OWN_FILE = "own file name"
ABSOLUTE_FILE = "absolute path"
CLIMBING_FILE = "path upwards"
OTHER_TOPIC = "other topic"
WRONG_STATUS = "unknown status"
NO_TASK = "no task"
UNFILLED = "unfilled token"
FINDINGS_COUNT = "findings"
LONG_FINDING = "long finding"
SPREAD = "spread over lines"
SHARED = "shared line"
SAME_ID = "same id"
TWICE = "written twice"
"""Kinds of drift."""

_TYPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("topics", "key_findings", "needs_followup", "linked_tasks"), (list, "a list")),
    "actionable": (bool, "true or false"),
}
"""The fields that are no text."""
MOST = 200
"""Items of a list that are looked at."""
DEEPEST = 8
"""Lists and objects within each other that are looked into."""
_READ = 4_000
"""Characters of a finding that are looked at."""


class EntryNames(NamedTuple):
    """By what an entry goes, under whatever name it says so."""

    id: str | None
    status: str | None
    file: str | None
    day: str | None


def departures(
    value: Mapping[str, Any], version: EntryVersion, names: EntryNames, key_findings: object
) -> Iterator[Drift]:
    """All but what is missing or goes by another name."""
    yield from _types(value)
    if names.status is not None and names.status not in version.statuses:
        yield Drift(WRONG_STATUS, names.status)
    yield from _names(names, version)
    yield from _findings(key_findings, version)
    linked = value.get("linked_tasks")
    if "linked_tasks" in version.required and isinstance(linked, list) and not any(map(is_said, linked)):
        yield Drift(NO_TASK, "names none" if linked else "is empty")
    yield from (Drift(UNFILLED, f"{where} is {token}") for where, token in _unfilled(value))


def is_said(value: object) -> bool:
    """Whether there is anything: neither null nor a text that says nothing."""
    return value is not None and not (isinstance(value, str) and not value.strip())


def _types(value: Mapping[str, Any]) -> Iterator[Drift]:
    for field in FIELDS:
        expected, what = _TYPES.get(field, (str, "text"))
        given = value.get(field)
        if given is not None and not isinstance(given, expected):
            yield Drift(WRONG_TYPE, f"{field} is {json_type(given)}, not {what}")
        if isinstance(given, list) and len(given) > MOST:
            yield Drift(WRONG_TYPE, f"{field} has {len(given):,} items, of which {MOST} are read")
        for index, each in enumerate(given[:MOST] if isinstance(given, list) else ()):
            if not isinstance(each, str):
                yield Drift(WRONG_TYPE, f"{field}[{index}] is {json_type(each)}, not text")
            elif not each.strip():
                yield Drift(WRONG_TYPE, f"{field}[{index}] is empty")


_SAFE = re.compile(r"[A-Za-z0-9._~-]+")
"""What an address may hold as it is."""
_ANY_DAY = r"\d{4}-\d\d-\d\d"
_OF_TASK = re.compile(r"T\d+-.")


def _names(names: EntryNames, version: EntryVersion) -> Iterator[Drift]:
    id, file, day = names.id, names.file, names.day
    day = re.escape(day) if day else _ANY_DAY  # of an entry without its day only that the names have one
    dated = re.search(rf"-{day}$", id) if id else None
    if id and not dated and not (version.own_ids and _OF_TASK.match(id)):
        yield Drift(ODD_ID, id)
    if id and not _SAFE.fullmatch(id):
        yield Drift(UNSAFE_ID, id)
    if not file:
        return
    named = re.fullmatch(rf"{day}_([\w-]+)\.md", PurePosixPath(file).name)
    if is_absolute(file):
        yield Drift(ABSOLUTE_FILE, file)
    elif climbs(file):
        yield Drift(CLIMBING_FILE, file)
    elif named is None:
        yield Drift(OWN_FILE if version.own_ids else ODD_FILE, file)
    elif id and dated and not version.own_ids and named[1] != id[: dated.start()]:
        yield Drift(OTHER_TOPIC, f"{file} for {id}")


def _findings(given: object, version: EntryVersion) -> Iterator[Drift]:
    least, most = version.key_findings
    items = given[:MOST] if isinstance(given, list) else [given]
    if isinstance(given, list) and not least <= len(given) <= most:
        yield Drift(FINDINGS_COUNT, f"{least} to {most} are asked for, and the entry has {len(given)}")
    yield from (Drift(LONG_FINDING, each) for each in items if isinstance(each, str) and sentences(each[:_READ]) > 1)


_TOKEN = re.compile(r"\{\{[^{}\n]{1,60}\}\}")
_PROSE = frozenset({"title", "key_findings"})
"""Where a token may be what somebody writes about: there only a text that is nothing else counts."""


def _unfilled(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields that hold a token of the template instead of what it stands for."""
    for field in FIELDS:
        given = value.get(field)
        for index, each in enumerate(given[:MOST] if isinstance(given, list) else [given]):
            found = _TOKEN.search(each) if isinstance(each, str) else None
            if found and (field not in _PROSE or found[0] == each.strip()):
                yield f"{field}[{index}]" if isinstance(given, list) else field, found[0]
