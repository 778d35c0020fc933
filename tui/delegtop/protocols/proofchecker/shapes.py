"""Which file of the system it is, told by its shape. The name speaks only where bytes cannot: for a bare number."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.dialects.signature import Signature
from delegtop.protocols.proofchecker import vocabulary
from delegtop.sources.records import Line, Record, decoded, records


class FileShape(StrEnum):
    """What a file is."""

    RETURN_META = "return"
    MULTI_RETURN = "return of a batch"
    MARKER = "marker of an open delegation"
    STOPS = "counter of refused stops"
    CONTINUATIONS = "counter of continuations"
    CYCLES = "counter of cycles"
    MULTI_STATE = "registry of a batch"
    HANDOFF = "handoff"
    EVENTS = "event log"
    METRICS = "metrics of dispatches"
    ISSUES = "issues of a task"
    LOCK = "lock"
    SESSION = "session"
    PROGRESS = "progress of a phase"
    SPAWN = "new tasks"
    ERRORS = "errors"
    STATE = "state of all tasks"


MARKER_NAME = ".postflight-pending"
STOPS_NAME = ".postflight-loop-guard"

_KEY = re.compile(rb'"([A-Za-z_$][\w-]*)"\s*:')
_LOOKED_AT = 32 * 1024
_NUMBER = re.compile(rb"\s*[0-9]{1,4}\s*")
_BLANK = b"\0\xef\xbb\xbf \t\r\n"

_SURE = 95
_LIKELY = 75
_POSSIBLE = 45

_META_WORDS = frozenset(
    {"partial_progress", "completion_data", "team_execution", "requires_user_review", "teammate_results"}
)
_STANDARD_RETURN = frozenset({"status", "summary", "artifacts", "metadata"})
_META_METADATA = frozenset({"agent_type", "delegation_path", "session_id"})
_HANDOFF_WORDS = frozenset({"next_action_hint", "continuation_context", "blockers", "phases_completed", "phases_total"})

_TELLING = (
    *("event_id", "waves", "max_cycles", "max_continuations", "heartbeat_at", "active_projects", "project_number"),
    *("new_tasks", "multi_task_mode", "tasks_completed", *_META_WORDS, *_HANDOFF_WORDS),
)
LOGS = frozenset({FileShape.EVENTS, FileShape.METRICS, FileShape.ISSUES})
"""Those to which a line is appended at a time."""
_PAIRS = (
    (b'"recorded_at":', b'"phase":'),
    (b'"what_happened":', b'"severity":'),
    (b'"operation":', b'"skill":'),
    (b'"operation":', b'"stop_hook_active":'),
    (b'"phase":', b'"objectives":'),
    (b'"phase":', b'"current_objective":'),
)
_OWN_STATES = ("in_progress", "researched", "planned", "implemented")
SIGNATURES = (
    Signature(path=STOPS_NAME),
    Signature(path=MARKER_NAME),
    Signature((b'"status":',), "return-meta"),
    Signature((b"[",), "errors"),
    Signature((b'"errors":',), "errors"),
    Signature((b'"errors":', b'"error_count":')),
    *(Signature((f'"{key}":'.encode(),)) for key in sorted(_TELLING)),
    *(Signature(pair) for pair in _PAIRS),
    *(Signature((f'"status":"{state}"'.encode(),)) for state in _OWN_STATES),
)


def sniff(sample: Sample) -> tuple[FileShape | None, int]:
    """The shape of a file by its beginning, and how sure that is."""
    name = _name(sample.path)
    head = sample.head.strip(_BLANK)
    if name == STOPS_NAME and _NUMBER.fullmatch(head):
        return FileShape.STOPS, _SURE
    if name == MARKER_NAME and not head and sample.whole:
        return FileShape.MARKER, _LIKELY
    if head.startswith(b"["):
        return _array(head, name, sample.whole)
    if not head.startswith(b"{"):
        return None, 0
    value = decoded(head) if sample.whole else None
    if isinstance(value, dict):
        return of(value, name)
    first, newline, _ = head.partition(b"\n")
    # Two records that share the first line are told by the one before.
    line = next((each for each in records(Line(Origin(sample.path, 1, 0), first)) if isinstance(each, Record)), None)
    if newline and line is not None:
        shape, sure = of(line.value, name)
        return (shape, sure) if shape in LOGS else (None, 0)
    return _by_keys(head, name)


def of(value: Mapping[str, Any], name: str) -> tuple[FileShape | None, int]:
    """The shape of one decoded object."""
    keys = value.keys()
    shape = _by_names(keys)
    if shape is not None:
        return shape, _SURE
    if isinstance(value.get("new_tasks"), list) and _asks(value["new_tasks"], name):
        return FileShape.SPAWN, _LIKELY
    if "status" in keys and isinstance(value["status"], str):
        return _with_status(value, name)
    if name == MARKER_NAME and keys & {"reason", "operation", "session_id"}:
        return FileShape.MARKER, _LIKELY
    if isinstance(value.get("errors"), list) and "errors" in name and keys & {"_schema_version", "aggregations"}:
        return FileShape.ERRORS, _LIKELY
    if _is_error_schema(value):
        return FileShape.ERRORS, _POSSIBLE
    return None, 0


def _by_names(keys: Any) -> FileShape | None:
    """The shapes that the names of their keys alone tell."""
    if {"event_id", "event_type", "timestamp", "session_id"} <= keys and keys & {"category", "checkpoint", "error_ref"}:
        return FileShape.EVENTS
    if {"recorded_at", "task", "phase", "outcome"} <= keys and keys & {"entry_id", "dispatch_seq", "backfilled"}:
        return FileShape.METRICS
    if {"kind", "class", "severity", "what_happened"} <= keys:
        return FileShape.ISSUES
    if {"task_numbers", "waves"} <= keys:
        return FileShape.MULTI_STATE
    if {"cycle_count", "max_cycles"} <= keys:
        return FileShape.CYCLES
    if {"continuation_count", "max_continuations"} <= keys:
        return FileShape.CONTINUATIONS
    if {"session_id", "operation"} <= keys and keys & {"skill", "stop_hook_active"}:
        return FileShape.MARKER
    if {"acquired_at", "heartbeat_at"} <= keys:
        return FileShape.LOCK
    if {"session_id", "heartbeat_at", "pid", "task_numbers"} <= keys:
        return FileShape.SESSION
    if {"active_projects", "next_project_number"} <= keys or {"project_number", "project_name", "status"} <= keys:
        return FileShape.STATE
    return FileShape.PROGRESS if "phase" in keys and keys & {"objectives", "current_objective"} else None


def _with_status(value: Mapping[str, Any], name: str) -> tuple[FileShape | None, int]:
    """A return, a handoff, or neither: many programs write an object with a status."""
    keys, metadata = value.keys(), value.get("metadata")
    inner = metadata.keys() if isinstance(metadata, dict) else set()
    if inner & {"multi_task_mode", "tasks_completed"}:
        return FileShape.MULTI_RETURN, _SURE
    named = "return-meta" in name
    if len(keys & _HANDOFF_WORDS) >= (1 if "handoff" in name else 2) and not inner & _META_METADATA and not named:
        return FileShape.HANDOFF, _LIKELY
    known = vocabulary.outcome(value["status"]) is not None or value["status"] in vocabulary.ASKS
    # What has all of the standard return and nothing else is one, with a status that it does not know.
    own_words = bool(keys & _META_WORDS) or (value["status"] in _OWN_STATES and not keys >= _STANDARD_RETURN)
    signed = bool(inner & _META_METADATA) or (keys & _META_METADATA and "artifacts" in keys)
    if named and (signed or own_words or known):
        return FileShape.RETURN_META, _SURE
    return (FileShape.RETURN_META, _LIKELY) if signed and own_words else (None, 0)


def _asks(tasks: list[Any], name: str) -> bool:
    """Whether these are tasks that somebody asks for."""
    return "spawn" in name or any(isinstance(each, dict) and {"title", "description"} <= each.keys() for each in tasks)


def _is_error_schema(value: Mapping[str, Any]) -> bool:
    """The description of a file of compiler errors, which stood in the place of the errors themselves."""
    properties = value.get("properties")
    return "$schema" in value and isinstance(properties, dict) and {"errors", "error_count"} <= properties.keys()


def _array(head: bytes, name: str, whole: bool) -> tuple[FileShape | None, int]:
    """A bare list of errors."""
    value = decoded(head) if whole else None
    if not isinstance(value, list) or "errors" not in name:
        return None, 0
    if not value:
        return FileShape.ERRORS, _POSSIBLE
    first = value[0]
    fits = (
        isinstance(first, dict)
        and {"type", "message"} <= first.keys()
        and bool(first.keys() & {"context", "fix_status"})
    )
    return (FileShape.ERRORS, _LIKELY) if fits else (None, 0)


def _by_keys(head: bytes, name: str) -> tuple[FileShape | None, int]:
    """The shape of an object that is long, torn, or glued to another, by the names in its beginning."""
    keys = {key.decode() for key in _KEY.findall(head, 0, _LOOKED_AT)}
    if "event_id" in keys:
        return None, 0  # a log has whole lines
    shape = _by_names(keys)
    if shape in LOGS:
        return None, 0  # whole lines tell
    if shape in (FileShape.STATE, FileShape.MULTI_STATE):
        return shape, _LIKELY
    if "return-meta" in name and {"status", "metadata"} <= keys:
        return FileShape.RETURN_META, _LIKELY
    if "errors" in name and {"_schema_version", "errors"} <= keys:
        return FileShape.ERRORS, _LIKELY
    return (shape, _POSSIBLE) if shape else (None, 0)


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
