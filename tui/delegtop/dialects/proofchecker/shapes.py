"""Which file of the system it is, told by its shape. The name speaks only where bytes cannot: for a bare number."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from delegtop.contract import family
from delegtop.dialects import Sample
from delegtop.sources.record import decoded


class Shape(StrEnum):
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
_META_METADATA = frozenset({"agent_type", "delegation_path", "session_id"})
_HANDOFF_WORDS = frozenset({"next_action_hint", "continuation_context", "blockers", "phases_completed", "phases_total"})


def sniff(sample: Sample) -> tuple[Shape | None, int]:
    """The shape of a file by its beginning, and how sure that is."""
    name = _name(sample.path)
    head = sample.head.strip(_BLANK)
    if name == STOPS_NAME and _NUMBER.fullmatch(head):
        return Shape.STOPS, _SURE
    if name == MARKER_NAME and not head and sample.whole:
        return Shape.MARKER, _LIKELY
    if head.startswith(b"["):
        return _array(head, name, sample.whole)
    if not head.startswith(b"{"):
        return None, 0
    value = decoded(head) if sample.whole else None
    if isinstance(value, dict):
        return of(value, name)
    first, newline, _ = head.partition(b"\n")
    line = decoded(first) if newline else None
    if isinstance(line, dict):
        shape, sure = of(line, name)
        return (shape, sure) if shape is Shape.EVENTS else (None, 0)
    return _by_keys(head, name)


def of(value: Mapping[str, Any], name: str) -> tuple[Shape | None, int]:
    """The shape of one decoded object."""
    keys = value.keys()
    shape = _by_names(keys)
    if shape is not None:
        return shape, _SURE
    if isinstance(value.get("new_tasks"), list) and _asks(value["new_tasks"], name):
        return Shape.SPAWN, _LIKELY
    if "status" in keys and isinstance(value["status"], str):
        return _with_status(value, name)
    if name == MARKER_NAME and keys & {"reason", "operation", "session_id"}:
        return Shape.MARKER, _LIKELY
    if isinstance(value.get("errors"), list) and "errors" in name and keys & {"_schema_version", "aggregations"}:
        return Shape.ERRORS, _LIKELY
    if _is_error_schema(value):
        return Shape.ERRORS, _POSSIBLE
    return None, 0


def _by_names(keys: Any) -> Shape | None:
    """The shapes that the names of their keys alone tell."""
    if {"event_id", "event_type", "timestamp", "session_id"} <= keys and keys & {"category", "checkpoint", "error_ref"}:
        return Shape.EVENTS
    if {"task_numbers", "waves"} <= keys:
        return Shape.MULTI_STATE
    if {"cycle_count", "max_cycles"} <= keys:
        return Shape.CYCLES
    if {"continuation_count", "max_continuations"} <= keys:
        return Shape.CONTINUATIONS
    if {"session_id", "operation"} <= keys and keys & {"skill", "stop_hook_active"}:
        return Shape.MARKER
    if {"acquired_at", "heartbeat_at"} <= keys:
        return Shape.LOCK
    if {"session_id", "heartbeat_at", "pid", "task_numbers"} <= keys:
        return Shape.SESSION
    if {"active_projects", "next_project_number"} <= keys or {"project_number", "project_name", "status"} <= keys:
        return Shape.STATE
    return Shape.PROGRESS if "phase" in keys and keys & {"objectives", "current_objective"} else None


def _with_status(value: Mapping[str, Any], name: str) -> tuple[Shape | None, int]:
    """A return, a handoff, or neither: many programs write an object with a status."""
    keys, metadata = value.keys(), value.get("metadata")
    inner = metadata.keys() if isinstance(metadata, dict) else set()
    if inner & {"multi_task_mode", "tasks_completed"}:
        return Shape.MULTI_RETURN, _SURE
    named = "return-meta" in name
    if len(keys & _HANDOFF_WORDS) >= (1 if "handoff" in name else 2) and not inner & _META_METADATA and not named:
        return Shape.HANDOFF, _LIKELY
    known = family.outcome(value["status"]) is not None or value["status"] in family.ASKS
    own_words = bool(keys & _META_WORDS) or value["status"] in {"in_progress", "researched", "planned", "implemented"}
    signed = bool(inner & _META_METADATA) or (keys & _META_METADATA and "artifacts" in keys)
    if named and (signed or own_words or known):
        return Shape.RETURN_META, _SURE
    return (Shape.RETURN_META, _LIKELY) if signed and own_words else (None, 0)


def _asks(tasks: list[Any], name: str) -> bool:
    """Whether these are tasks that somebody asks for."""
    return "spawn" in name or any(isinstance(each, dict) and {"title", "description"} <= each.keys() for each in tasks)


def _is_error_schema(value: Mapping[str, Any]) -> bool:
    """The description of a file of compiler errors, which stood in the place of the errors themselves."""
    properties = value.get("properties")
    return "$schema" in value and isinstance(properties, dict) and {"errors", "error_count"} <= properties.keys()


def _array(head: bytes, name: str, whole: bool) -> tuple[Shape | None, int]:
    """A bare list of errors."""
    value = decoded(head) if whole else None
    if not isinstance(value, list) or "errors" not in name:
        return None, 0
    if not value:
        return Shape.ERRORS, _POSSIBLE
    first = value[0]
    fits = (
        isinstance(first, dict)
        and {"type", "message"} <= first.keys()
        and bool(first.keys() & {"context", "fix_status"})
    )
    return (Shape.ERRORS, _LIKELY) if fits else (None, 0)


def _by_keys(head: bytes, name: str) -> tuple[Shape | None, int]:
    """The shape of an object that is long, torn, or glued to another, by the names in its beginning."""
    keys = {key.decode() for key in _KEY.findall(head, 0, _LOOKED_AT)}
    if "event_id" in keys:
        return None, 0  # a log has whole lines
    shape = _by_names(keys)
    if shape in (Shape.STATE, Shape.MULTI_STATE):
        return shape, _LIKELY
    if "return-meta" in name and {"status", "metadata"} <= keys:
        return Shape.RETURN_META, _LIKELY
    if "errors" in name and {"_schema_version", "errors"} <= keys:
        return Shape.ERRORS, _LIKELY
    return (shape, _POSSIBLE) if shape else (None, 0)


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
