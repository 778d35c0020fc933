"""One entry of a manifest, as far as it can be understood.

Two thirds of the entries that were ever written depart from the protocol: other names for the same field, a text for a
list, no id. `ManifestEntry.of` takes what it can under any of the known names and says what it had to forgive.
"""

import re
from collections.abc import Mapping
from datetime import date
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from delegtop.protocols.cleo.entry_drift import (
    BAD_DATE,
    DEEPEST,
    MISSING,
    MOST,
    RENAMED,
    EntryNames,
    departures,
    is_said,
)
from delegtop.protocols.cleo.manifest_contract import FIELDS, EntryVersion, version_of
from delegtop.protocols.protocol_drift import Drift, json_type

_OTHER_NAMES = {
    "file": ("output", "output_file", "outputFile", "artifact", "artifacts"),
    "date": ("timestamp", "ts", "createdAt", "created_at", "completedAt", "completed_at", "generatedAt"),
    "key_findings": ("findings", "keyFindings"),
    "needs_followup": ("needsFollowup", "followup", "follow_up"),
    "linked_tasks": ("task", "taskId", "task_id", "linkedTask", "taskIds", "task_ids", "tasks", "linkedTasks"),
}
"""By what names a field goes in the wild."""
_AGENT = ("agent_type", "agentType", "type", "role")
_NAME = ("worker", "agent", "author")
_EPIC = ("epic", "epicId", "epic_id")
_SUMMARY = ("summary", "content", "verdict")
_CHANGED = ("files", "files_changed", "files_modified", "files_created", "filesChanged")
_TASK_ID = re.compile(r"T\d+(?!\w)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MIDNIGHT = re.compile(r"\d{4}-\d\d-\d\d[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?")


class ManifestEntry(Struct, frozen=True):
    """What an entry tells."""

    id: str
    file: str | None = None
    title: str | None = None
    day: str | None = None
    time: str | None = None
    """The moment, if one is given that is more than a day."""
    status: str | None = None
    agent: str | None = None
    name: str | None = None
    summary: str | None = None
    key_findings: tuple[str, ...] = ()
    needs_followup: tuple[str, ...] = ()
    task: str | None = None
    epic: str | None = None
    linked: tuple[str, ...] = ()
    """Other tasks that it is linked to."""
    parent: str | None = None
    wave: str | None = None
    session: str | None = None
    commit: str | None = None
    changed: tuple[str, ...] = ()
    """Other files it says it made or changed."""
    drift: tuple[Drift, ...] = ()

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "ManifestEntry":
        return _entry(value)


def looks_like_entry(value: Mapping[str, Any]) -> bool:
    """True for an object that means to be an entry: something only this protocol has, or a task, its file and how
    it ended. A return of the standard may tell its key findings too."""
    if "artifacts" in value and {"metadata", "project_number"} & value.keys():
        return False
    own = sum(name in value for name in ("key_findings", "needs_followup", "linked_tasks", "actionable"))
    ended = isinstance(value.get("status"), str)
    if own >= 2 or (own and (ended or "id" in value) and ("title" in value or _given(value, "file"))):
        return True
    task = _first(value, ("task", "taskId", "task_id", "linkedTask", "epic"))
    named = task is not None or _TASK_ID.match(_text(value.get("id")) or "") is not None
    told = _given(value, "file") or any(name in value for name in ("title", "summary", *_AGENT))
    return ended and named and told and not {"start_timestamp", "compliance"} & value.keys()


def output_paths(value: object, deepest: int = DEEPEST) -> tuple[str, ...]:
    """The paths a field names: a text, a list of texts, or objects with a `path`."""
    if isinstance(value, list):
        inner = value[:MOST] if deepest else ()
        return tuple(islice((path for each in inner for path in output_paths(each, deepest - 1)), MOST))
    if isinstance(value, dict):
        value = value.get("path") or value.get("file")
    return (value,) if isinstance(value, str) and value.strip() else ()


def _entry(value: Mapping[str, Any]) -> ManifestEntry:
    drift: list[Drift] = []
    version = version_of(value)
    given = {field: _field(value, field, drift, version) for field in FIELDS}
    outputs = output_paths(given["file"])
    file = outputs[0] if outputs else None
    title, summary = _text(given["title"]), _text(_first(value, _SUMMARY))
    id, status = _text(given["id"]), _text(given["status"])
    task, epic = _tasks(value, id)
    day, time = _when(value, drift)
    said = given["status"] if isinstance(given["status"], str) else status
    drift += departures(value, version, EntryNames(id, said, file, day), given["key_findings"])
    return ManifestEntry(
        id=id or _made_up_id(file, task, title),
        file=file,
        title=title,
        day=day,
        time=time,
        status=status,
        agent=_text(_first(value, _AGENT)),
        name=_text(_first(value, _NAME)),
        summary=summary,
        key_findings=_texts(given["key_findings"]),
        needs_followup=_texts(given["needs_followup"]),
        task=task,
        epic=epic,
        linked=tuple(each for each in _texts(value.get("linked_tasks")) if each not in (task, epic)),
        parent=_text(value.get("parent")),
        wave=_text(value.get("wave")),
        session=_text(_first(value, ("session", "session_id", "sessionId"))),
        commit=_text(value.get("commit")),
        changed=(*outputs[1:], *(path for name in _CHANGED for path in output_paths(value.get(name)))),
        drift=tuple(drift),
    )


def _field(value: Mapping[str, Any], field: str, drift: list[Drift], version: EntryVersion) -> Any:
    """What the field says, under its own name or another; what is missing or renamed is noted."""
    if is_said(value.get(field)):
        return value[field]
    for name in _OTHER_NAMES.get(field, ()):
        if is_said(value.get(name)):
            drift.append(Drift(RENAMED, f"{name} for {field}"))
            return value[name]
    if field in version.required:
        drift.append(Drift(MISSING, field))
    return None


def _when(value: Mapping[str, Any], drift: list[Drift]) -> tuple[str | None, str | None]:
    """The day and, if there is one, the moment. Midnight sharp is a day that somebody wrote as a moment."""
    texts = [text for name in ("date", *_OTHER_NAMES["date"]) if (text := _text(value.get(name)))]
    time = next((text for text in texts if len(text) > 10 and _DAY.match(text) and not _MIDNIGHT.fullmatch(text)), None)
    day = next((text[:10] for text in texts if _is_day(text[:10])), None)
    told = value.get("date")
    if is_said(told) and not (isinstance(told, str) and _DAY.fullmatch(told) and _is_day(told)):
        drift.append(Drift(BAD_DATE, json_type(told) if isinstance(told, list | dict) else str(told)))
    return day, time


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return _DAY.fullmatch(text) is not None


def _tasks(value: Mapping[str, Any], id: str | None) -> tuple[str | None, str | None]:
    """The task it was about and the epic above that. `linked_tasks` begins with the epic, if there is one."""
    linked = _texts(value.get("linked_tasks")) or _texts(value.get("linkedTasks"))
    named = _TASK_ID.match(id or "")
    task = _text(_first(value, ("task", "taskId", "task_id", "linkedTask")))
    if task is None and named:
        task = named[0]
    if task is None:
        several = _texts(_first(value, ("taskIds", "task_ids", "tasks")))
        task = several[0] if several else linked[1] if len(linked) > 1 else linked[0] if linked else None
    epic = _text(_first(value, _EPIC)) or (linked[0] if len(linked) > 1 else None)
    return task, epic if epic != task else None


def _made_up_id(file: str | None, task: str | None, title: str | None) -> str:
    """A name for an entry without one: that of its file, else of its task and title; empty if it has none of them."""
    if file:
        return PurePosixPath(file).stem
    slug = re.sub(r"[^a-z0-9]+", "-", (title or "").lower())[:60].strip("-")
    return "-".join(part for part in (task, slug) if part)


def _given(value: Mapping[str, Any], field: str) -> bool:
    return any(value.get(name) is not None for name in (field, *_OTHER_NAMES.get(field, ())))


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def _texts(value: object, deepest: int = DEEPEST) -> tuple[str, ...]:
    """The texts in a list; a text alone is a list of one, an object tells one of each of its values."""
    if isinstance(value, list | dict) and not deepest:
        return ()
    if isinstance(value, list):
        return tuple(islice((text for each in value[:MOST] for text in _texts(each, deepest - 1)), MOST))
    if isinstance(value, dict):
        inner = islice(value.items(), MOST)
        return tuple(f"{key}: {text}" for key, each in inner if (text := "; ".join(_texts(each, deepest - 1))))
    alone = _text(value)
    return (alone,) if alone else ()
