"""How the files of Claude Code are told from others: by the shape of their records."""

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any

from delegtop.agents.claude_code.file_layout import DOCUMENTS, FileKind, place
from delegtop.dialects import Sample

_LOOKED_AT = 40
_SPOKEN = ("user", "assistant", "system")
_ALSO = frozenset(
    {
        "queue-operation",
        "file-history-snapshot",
        "attachment",
        "last-prompt",
        "custom-title",
        "ai-title",
        "mode",
        "permission-mode",
        "agent-name",
        "progress",
        "api-request",
        "atis-latch",
        "pr-link",
    }
)
_MARKS = (b'"sessionId"', b'"parentUuid"', b'"isSidechain"')
_OF_QWEN = frozenset({"user", "assistant", "tool_result", "system"})
"""The records of Qwen Code, which took over the envelope and puts other messages into it."""
_BLANK = "\ufeff \r\n\t\0"
_first_value = json.JSONDecoder().raw_decode


def sniff(sample: Sample) -> int:
    """How sure it is that the file is one of Claude Code's."""
    where = place(sample.path)
    if where.kind in DOCUMENTS:
        return _document(sample, where.kind)
    best = 0
    for record in _records(sample):
        best = max(best, _record(record, where.kind))
        if best >= 90:
            return best
    if not best and b"\n" not in sample.head and all(mark in sample.head for mark in _MARKS):
        return 70  # the first line alone is longer than the sample
    return best


def _record(record: dict[str, Any], kind: FileKind) -> int:
    type = record.get("type")
    if "session_id" in record or "hook_event_name" in record or not isinstance(type, str):
        return 0
    if "parentUuid" in record and ("sessionId" in record or "isSidechain" in record):
        message = record.get("message")
        is_own = type not in _OF_QWEN or (isinstance(message, dict) and "content" in message)
        return 95 if is_own else 94
    if type in _SPOKEN and "uuid" in record and "timestamp" in record and isinstance(record.get("message"), dict):
        return 70
    if type in _ALSO and "sessionId" in record:
        return 85
    if (type == "summary" and "leafUuid" in record) or (type == "file-history-snapshot" and "snapshot" in record):
        return 80
    if kind is FileKind.JOURNAL and (type == "launched" or (type in ("started", "result") and "agentId" in record)):
        return 80
    return 0


def _document(sample: Sample, kind: FileKind) -> int:
    document = next(_records(sample, whole=True), None)
    if document is None:
        return 0
    if kind is FileKind.META:
        fits = isinstance(document.get("agentType"), str) and "parentSessionId" not in document
        return 0 if not fits else 95 if "spawnDepth" in document else 85
    return 90 if "runId" in document and ("workflowProgress" in document or "workflowName" in document) else 0


def _records(sample: Sample, whole: bool = False) -> Iterator[dict[str, Any]]:
    """The objects at the beginning of a file, one a line or all of it one."""
    for data in (sample.head,) if whole else islice(BytesIO(sample.head), _LOOKED_AT):
        yield from _object(data.decode("utf-8", "replace").strip(_BLANK))


def _object(text: str) -> Iterator[dict[str, Any]]:
    if not text.startswith("{"):
        return
    try:
        value, _ = _first_value(text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        yield value
