"""The CLEO subagent protocol: the manifest entry with its ten fields, the output file, and the one-line response.

Two thirds of the entries that were ever written depart from it: other names for the same field, a text for a list,
no id. `Entry.of` takes what it can under any of the known names and says what it had to forgive.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, get_args

from delegtop.protocols.protocol_drift import Drift, json_type

FIELDS = (
    "id",
    "file",
    "title",
    "date",
    "status",
    "topics",
    "key_findings",
    "actionable",
    "needs_followup",
    "linked_tasks",
)
Status = Literal["complete", "partial", "blocked"]
STATUSES: tuple[Status, ...] = get_args(Status)
COMPLETE_WORDS = frozenset({"complete", "completed", "done", "final"})
KEY_FINDINGS = (3, 7)
SECTIONS = ("Summary", "Findings", "Recommendations", "Sources", "Linked Tasks")
MESSAGES = {
    "complete": "Research complete. See MANIFEST.jsonl for summary.",
    "partial": "Research partial. See MANIFEST.jsonl for details.",
    "blocked": "Research blocked. See MANIFEST.jsonl for blocker details.",
}
"""All a subagent may answer, by the status of its entry."""
LATER_MESSAGES = (
    re.compile(r"[A-Z][\w ()/-]{0,40} complete\. See MANIFEST\.jsonl for summary\."),
    re.compile(r"[A-Z][\w ()/-]{0,40} partial\. See MANIFEST\.jsonl for details\."),
    re.compile(r"[A-Z][\w ()/-]{0,40} blocked\. See MANIFEST\.jsonl for blocker details\."),
    re.compile(r"[A-Z][\w ()/-]{0,40} (?:completed?|partial|blocked)\. Manifest appended to pipeline_manifest\."),
    re.compile(r"[A-Z][\w ()/-]{0,40} (?:completed?|partial|blocked)\. manifest:[ \t]*\S+"),
)
"""What later versions ask for instead: since 1.1.0 (2026-03) with the kind of work before the status, then the second
form, and since 2026-09 the first of four lines."""
LATER_LINES = re.compile(r"(commits|gates|blocker):[ \t]*(.*)")
"""The other three of the four."""
RESPONSE = re.compile(
    r"\b(complete|partial|blocked)d?\b[.:!]?(?:[^\n]{0,40}\b(?:MANIFEST\.jsonl|pipeline_manifest)\b|[ \t]*manifest:)",
    re.IGNORECASE,
)
"""What shows that a text means to be such an answer."""

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
_TYPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("topics", "key_findings", "needs_followup", "linked_tasks"), (list, "a list")),
    "actionable": (bool, "true or false"),
}
"""The fields that are no text."""
_TASK_ID = re.compile(r"T\d+(?!\w)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MIDNIGHT = re.compile(r"\d{4}-\d\d-\d\d[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?")

MISSING = "missing field"
RENAMED = "other name"
WRONG_TYPE = "wrong type"
BAD_DATE = "not a day"
ODD_ID = "odd id"
ODD_FILE = "odd file name"
FINDINGS_COUNT = "findings"
LONG_FINDING = "long finding"
SPREAD = "spread over lines"
SHARED = "shared line"
SAME_ID = "same id"
TWICE = "written twice"
"""Kinds of drift."""


@dataclass(frozen=True)
class ManifestEntry:
    """One line of a manifest, as far as it can be understood."""

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
    it ended."""
    own = sum(name in value for name in ("key_findings", "needs_followup", "linked_tasks", "actionable"))
    ended = isinstance(value.get("status"), str)
    if own >= 2 or (own and (ended or "id" in value) and ("title" in value or _given(value, "file"))):
        return True
    task = _first(value, ("task", "taskId", "task_id", "linkedTask", "epic"))
    named = task is not None or _TASK_ID.match(_text(value.get("id")) or "") is not None
    told = _given(value, "file") or any(name in value for name in ("title", "summary", *_AGENT))
    return ended and named and told and not {"start_timestamp", "compliance"} & value.keys()


def output_paths(value: object) -> tuple[str, ...]:
    """The paths a field names: a text, a list of texts, or objects with a `path`."""
    if isinstance(value, list):
        return tuple(path for each in value for path in output_paths(each))
    if isinstance(value, dict):
        value = value.get("path") or value.get("file")
    return (value,) if isinstance(value, str) and value.strip() else ()


def _entry(value: Mapping[str, Any]) -> ManifestEntry:
    drift: list[Drift] = []
    given = {field: _field(value, field, drift) for field in FIELDS}
    _judge_types(value, drift)
    outputs = output_paths(given["file"])
    file = outputs[0] if outputs else None
    title, summary = _text(given["title"]), _text(_first(value, _SUMMARY))
    id = _text(given["id"])
    task, epic = _tasks(value, id)
    day, time = _when(value, drift)
    findings = _texts(given["key_findings"])
    _judge_names(id, file, day, drift)
    _judge_findings(given["key_findings"], findings, drift)
    return ManifestEntry(
        id=id or _made_up_id(file, task, title),
        file=file,
        title=title,
        day=day,
        time=time,
        status=_text(given["status"]),
        agent=_text(_first(value, _AGENT)),
        name=_text(_first(value, _NAME)),
        summary=summary,
        key_findings=findings,
        needs_followup=_texts(given["needs_followup"]),
        task=task,
        epic=epic,
        parent=_text(value.get("parent")),
        wave=_text(value.get("wave")),
        session=_text(_first(value, ("session", "session_id", "sessionId"))),
        commit=_text(value.get("commit")),
        changed=(*outputs[1:], *(path for name in _CHANGED for path in output_paths(value.get(name)))),
        drift=tuple(drift),
    )


def _field(value: Mapping[str, Any], field: str, drift: list[Drift]) -> Any:
    """What the field says, under its own name or another; what is missing or renamed is noted."""
    if value.get(field) is not None:
        return value[field]
    for name in _OTHER_NAMES.get(field, ()):
        if value.get(name) is not None:
            drift.append(Drift(RENAMED, f"{name} for {field}"))
            return value[name]
    drift.append(Drift(MISSING, field))
    return None


def _judge_types(value: Mapping[str, Any], drift: list[Drift]) -> None:
    for field in FIELDS:
        expected, what = _TYPES.get(field, (str, "text"))
        given = value.get(field)
        if given is not None and not isinstance(given, expected):
            drift.append(Drift(WRONG_TYPE, f"{field} is {json_type(given)}, not {what}"))


def _judge_names(id: str | None, file: str | None, day: str | None, drift: list[Drift]) -> None:
    if id and not (day and id.endswith(f"-{day}")):
        drift.append(Drift(ODD_ID, id))
    named = file and day and re.fullmatch(rf"{re.escape(day)}_[\w-]+\.md", PurePosixPath(file).name)
    if file and (not named or PurePosixPath(file).is_absolute()):
        drift.append(Drift(ODD_FILE, file))


def _judge_findings(given: object, findings: tuple[str, ...], drift: list[Drift]) -> None:
    if given is None:
        return
    least, most = KEY_FINDINGS
    if isinstance(given, list) and not least <= len(given) <= most:
        drift.append(Drift(FINDINGS_COUNT, str(len(given))))
    drift += [Drift(LONG_FINDING, finding) for finding in findings if sentences(finding) > 1]


_SENTENCE_END = re.compile(r"(?<=[a-z0-9)\"'])[.!?](?=\s+[A-Z])")


def sentences(text: str) -> int:
    """How many sentences a finding has: a stop counts only between a word and a capital letter."""
    return len(_SENTENCE_END.findall(text[:4_000])) + 1


def _when(value: Mapping[str, Any], drift: list[Drift]) -> tuple[str | None, str | None]:
    """The day and, if there is one, the moment. Midnight sharp is a day that somebody wrote as a moment."""
    texts = [text for name in ("date", *_OTHER_NAMES["date"]) if (text := _text(value.get(name)))]
    time = next((text for text in texts if len(text) > 10 and _DAY.match(text) and not _MIDNIGHT.fullmatch(text)), None)
    day = next((text[:10] for text in texts if _is_day(text[:10])), None)
    told = value.get("date")
    if told is not None and not (isinstance(told, str) and _DAY.fullmatch(told) and _is_day(told)):
        drift.append(Drift(BAD_DATE, str(told)))
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


def _texts(value: object) -> tuple[str, ...]:
    """The texts in a list; a text alone is a list of one, an object tells one of each of its values."""
    if isinstance(value, list):
        return tuple(text for each in value for text in _texts(each))
    if isinstance(value, dict):
        return tuple(f"{key}: {text}" for key, each in value.items() if (text := "; ".join(_texts(each))))
    alone = _text(value)
    return (alone,) if alone else ()


class Violation(NamedTuple):
    """What CLEO's own check objected to."""

    requirement: str
    severity: str
    message: str
    fix: str


def violation_line(requirement: str, severity: str, message: str, fix: str) -> str:
    """One violation as a line of a note."""
    return _SEPARATOR.join(" ".join(part.split()) for part in (requirement, severity, message, fix))


def violations(text: str) -> list[Violation]:
    """The violations, from the text of a note. One that was cut off in the middle has what is left of it."""
    return [Violation(*[*line.split(_SEPARATOR, 3), "", "", ""][:4]) for line in text.splitlines()]


_SEPARATOR = " · "
