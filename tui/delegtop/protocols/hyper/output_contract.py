"""The output contract of hyper's sub-agents: a JSON block in the final message, and what must stand in it.

Agents leave out `meta`, use words of their own for the status, and mark the block in four ways. `Output.of` takes what
it can; `output_drift` says what it had to forgive.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from msgspec import Struct

from delegtop.protocols.protocol_drift import Drift
from delegtop.protocols.standard.contract.output_markers import END, START

Status = Literal["complete", "partial", "error"]
STATUSES: tuple[Status, ...] = get_args(Status)
COMPLETE_WORDS = frozenset({"complete", "completed", "done", "success"})
FAILED_WORDS = frozenset({"error", "failed", "failure"})
STUCK_WORDS = frozenset({"partial", "blocked"})
ArtifactType = Literal["document", "code", "data"]
ARTIFACT_TYPES: tuple[ArtifactType, ...] = get_args(ArtifactType)
_SUFFIXES: dict[str, ArtifactType] = {
    **dict.fromkeys(("md", "mdx"), "document"),
    **dict.fromkeys(("c", "cc", "cpp", "cs", "go", "h", "java", "js", "jsx", "kt", "lean", "php", "py", "rb"), "code"),
    **dict.fromkeys(("rs", "scala", "sh", "swift", "ts", "tsx"), "code"),
    **dict.fromkeys(("csv", "jsonl", "ndjson", "parquet", "tsv"), "data"),
}
"""Of files that can be nothing else."""
_SETTINGS = frozenset({"json", "toml", "yaml", "yml"})
"""Data, or code that is configured by them, but no documents."""
KEY_POINTS = (3, 5)
SUMMARY_SENTENCES = (1, 2)
LONGEST = 1e13
"""Milliseconds that no agent takes."""
ACTIVE_WINDOW = 5 * 60
"""Seconds after its last activity for which hyper calls a session active."""

UNMARKED = "no markers"
UNFENCED = "no fence"
OPEN = "no end marker"
NOT_JSON = "not JSON"
NO_BLOCK = "no block"
"""Kinds of drift; what is wrong with the object itself goes by the rule that tells it."""

_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*(\w*)[^\n]*$", re.MULTILINE)
_LARGEST = 4_000_000


class OutputBlock(NamedTuple):
    """A block that means to be an agent's output."""

    value: dict[str, Any] | None
    """None if it is not valid JSON."""
    start: int
    end: int
    marked: bool
    closed: bool
    """It has its end marker, or needs none."""
    fenced: bool
    rest: str = ""
    """What stands behind the object, where nothing but the object should."""
    before: str = ""
    """What stands before it in its fence."""


class OutputArtifact(Struct, frozen=True):
    path: str
    type: str | None = None
    summary: str | None = None
    key_points: tuple[str, ...] = ()


class OutputError(Struct, frozen=True):
    code: str | None = None
    message: str | None = None
    details: str | None = None


class Output(Struct, frozen=True):
    """What a sub-agent returned, as far as it can be understood."""

    agent: str | None = None
    status: str | None = None
    duration: int | None = None
    """Milliseconds, by the agent's own account."""
    artifacts: tuple[OutputArtifact, ...] = ()
    next_steps: tuple[str, ...] = ()
    error: OutputError | None = None
    blockers: tuple[str, ...] = ()
    task: str | None = None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "Output":
        return _output(value)


def other_type(type: ArtifactType, path: str) -> ArtifactType | None:
    """What a file is by its name, if that is another type; None if it may be of this one."""
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""
    if suffix in _SETTINGS:
        return "data" if type == "document" else None
    meant = _SUFFIXES.get(suffix)
    return meant if meant != type else None


def is_output(value: object) -> bool:
    """True for an object of this contract, with or without `meta`; the standard return of other systems is none."""
    if not isinstance(value, dict) or "metadata" in value or "session_id" in value:
        return False
    meta = value.get("meta")
    if isinstance(meta, dict):
        return "artifacts" in value and bool({"agent_name", "status"} & meta.keys())
    return isinstance(value.get("artifacts"), list) and isinstance(value.get("next_steps"), list)


def is_return(value: Mapping[str, Any] | None) -> bool:
    """True for the standard return, which may stand between the markers as well and has readers of its own."""
    return value is not None and "status" in value and bool({"summary", "metadata"} & value.keys())


def blocks(text: str) -> list[OutputBlock]:
    """Every block, in the order of the text: marked ones whatever they hold, others only if they fit the contract."""
    text = text[:_LARGEST]
    marked = list(_marked(text)) if "AGENT_OUTPUT_START" in text else []
    found = [*marked]
    for start, end, inside in _fences(text):
        before = bisect_right(marked, start, key=lambda block: block.start)
        if before and start < marked[before - 1].end:
            continue
        value, rest = _object(inside)
        if is_output(value):
            around = rest, _before(inside)
            found.append(OutputBlock(value, start, end, False, True, True, *around))
    if not found and text.lstrip().startswith("{") and is_output(value := _object(text)[0]):
        found.append(OutputBlock(value, 0, len(text), marked=False, closed=True, fenced=False))
    return sorted(found, key=lambda block: block.start)


def _marked(text: str) -> Iterator[OutputBlock]:
    starts = list(START.finditer(text))
    for number, start in enumerate(starts):
        limit = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        end = END.search(text, start.end(), limit)
        inside = text[start.end() : end.start() if end else limit]
        fence = next(_fences(inside), None)
        value, rest = _object(fence[2] if fence else _FENCE.sub("", inside))  # a fence of another language is no text
        stop, is_closed = end.end() if end else limit, end is not None
        around = rest if is_closed else "", _before(fence[2]) if fence else ""
        yield OutputBlock(value, start.start(), stop, True, is_closed, fence is not None, *around)


def _fences(text: str) -> Iterator[tuple[int, int, str]]:
    """The json fences of a text: where each starts and ends, and what it holds."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif not fence[1]:
            if opened[1].lower() == "json":
                yield opened.start(), fence.end(), text[opened.end() : fence.start()]
            opened = None
        elif fence[1].lower() == "json":
            opened = fence  # the one before was never closed


def _before(text: str) -> str:
    return text[: max(text.find("{"), 0)].strip()


def _object(text: str) -> tuple[dict[str, Any] | None, str]:
    """The object in the text, and what follows it."""
    brace = text.find("{")
    if brace < 0:
        return None, ""
    try:
        value, length = json.JSONDecoder(strict=False).raw_decode(text[brace:])
    except (ValueError, RecursionError):
        return None, ""
    return (value, text[brace + length :].strip()) if isinstance(value, dict) else (None, "")


def place(block: OutputBlock) -> list[Drift]:
    """What is wrong with where and how the block stands."""
    found = []
    if not block.marked:
        found.append(Drift(UNMARKED, "the block has no AGENT_OUTPUT_START"))
    if not block.closed:
        found.append(Drift(OPEN, "the block has no AGENT_OUTPUT_END"))
    if not block.fenced:
        found.append(Drift(UNFENCED, "the block is in no json fence"))
    if block.value is None:
        found.append(Drift(NOT_JSON, "between the markers stands no valid JSON object"))
    elif block.rest[:1] in ("]", ","):
        found.append(Drift(NOT_JSON, "the block holds a list, not one JSON object"))
    elif block.before:
        found.append(Drift(NOT_JSON, "text stands before the JSON object, which makes the block no valid JSON"))
    elif block.rest:
        found.append(Drift(NOT_JSON, "more text follows the JSON object, which makes the block no valid JSON"))
    return found


def _output(value: Mapping[str, Any]) -> Output:
    meta = value.get("meta")
    if not isinstance(meta, dict):
        meta = {"agent_name": value.get("agent_name") or value.get("agent"), "status": value.get("status")}
    return Output(
        agent=_text(meta.get("agent_name")),
        status=_text(meta.get("status")),
        duration=_duration(meta.get("execution_time_ms")),
        artifacts=tuple(_artifacts(value.get("artifacts"))),
        next_steps=_texts(value.get("next_steps")),
        error=_error(value.get("error")),
        blockers=_texts(value.get("blockers")),
        task=_text(value.get("task_id")),
    )


def _duration(given: object) -> int | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < LONGEST:
        return None
    return int(given)


def _artifacts(given: object) -> Iterator[OutputArtifact]:
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, str):
            yield OutputArtifact(each)
        elif isinstance(each, dict) and (path := _text(each.get("path"))):
            points = _texts(each.get("key_points"))
            yield OutputArtifact(path, _text(each.get("type")), _text(each.get("summary")), points)


def _error(given: object) -> OutputError | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        return OutputError(message=_text(given))
    return OutputError(_text(given.get("code")), _text(given.get("message")), _text(given.get("details")))


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for each in value for text in _texts(each))
    if isinstance(value, dict):
        value = value.get("description") or value.get("message") or value.get("title")
    alone = _text(value)
    return (alone,) if alone else ()
