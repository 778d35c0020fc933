"""The records of Claude Code's files, as far as they are needed. Everything else on a line is skipped unread.

What may be large and is seldom needed (a tool's input, its result, an attachment) stays undecoded bytes until someone
asks: a line that carries a megabyte of picture costs no more than finding its end.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Described, Deviation
from delegtop.model.usage import NO_COUNTS, Counts

NOTHING = Raw()
_TOO_LONG = 1_000_000
"""Characters of text that are looked at for what they mean; no notice is that long."""
_MOST = 10**15
"""No answer used more tokens than that."""
_NO_BRANCH = "HEAD"
"""What git says where a commit is checked out and no branch."""


class CacheWritten(Struct, gc=False):
    """What of it was written to a cache for how long."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class WireUsage(Struct, gc=False):
    """The tokens of one answer of the model."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheWritten | None = None
    output_tokens: int | None = None
    speed: str | None = None

    def spent(self) -> tuple[int, Counts]:
        """How many tokens are new, which is all but what was read from the cache; and all by kind. What is kept for an
        hour is told apart from the rest that is written."""
        kept = self.cache_creation
        hour = 0 if kept is None else kept.ephemeral_1h_input_tokens or 0
        into, out, read = self.input_tokens or 0, self.output_tokens or 0, self.cache_read_input_tokens or 0
        written = self.cache_creation_input_tokens or 0
        if 0 <= into < _MOST and 0 <= out < _MOST and 0 <= read < _MOST and 0 <= hour <= written < _MOST:
            return into + written + out, (into, out, read, written - hour, hour)
        new = sum(each for each in (into, written, out) if 0 < each < _MOST)
        written -= hour
        if min(into, out, read, written, hour) >= 0 and max(into, out, read, written, hour) < _MOST:
            return new, (into, out, read, written, hour)
        return new, NO_COUNTS


class ContentBlock(Struct, gc=False):
    """One piece of a message: a text, a tool that is used, a tool's result."""

    tool_use_id: str | None = None
    type: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    text: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None


class Message(Struct, gc=False):
    """What was said to the model or by it."""

    model: str | None = None
    id: str | None = None
    content: str | list[ContentBlock] | None = None
    stop_reason: str | None = None
    usage: WireUsage | None = None


class TranscriptEntry(Struct, rename="camel", gc=False):
    """One line of a transcript, or of the journal of a workflow. Fields stand in the order in which most lines have
    them: the decoder looks for each key behind the one before."""

    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    type: str | None = None
    message: Message | None = None
    uuid: str | None = None
    timestamp: str | None = None
    tool_use_result: Raw = NOTHING
    data: Raw = NOTHING
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    error: Raw = NOTHING
    team_name: str | None = None
    agent_name: str | None = None
    tool_denial_kind: str | None = None
    forked_from: Raw = NOTHING
    content: Raw = NOTHING
    attachment: Raw = NOTHING
    subtype: str | None = None
    permission_mode: str | None = None
    retry_attempt: int | None = None
    max_retries: int | None = None
    query_source: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    total_cost: float | None = field(default=None, name="totalCostUSD")
    label: str | None = None
    result: Raw = NOTHING

    def described(self, id: str, at: Millis | None, origin: Origin) -> Described | None:
        """Where and with what its writer works; None if the record does not say."""
        if not (self.cwd or self.version):
            return None
        branch = None if self.git_branch == _NO_BRANCH else self.git_branch
        return Described(id, at, origin, cwd=self.cwd, version=self.version, branch=branch)


class WireTask(Struct, gc=False):
    """A background task as a poll shows it."""

    task_id: str | None = None
    task_type: str | None = None
    status: str | None = None
    output: str | None = None
    result: str | None = None


class WireOutcome(Struct, rename="camel", gc=False):
    """The structured result of a tool that starts, asks for or writes to an agent."""

    status: str | None = None
    agent_id: str | None = None
    teammate: str | None = field(default=None, name="agent_id")
    agent_type: str | None = None
    resolved_model: str | None = None
    content: Raw = NOTHING
    total_duration_ms: int | None = None
    task: WireTask | None = None
    task_id: str | None = None
    run_id: str | None = None
    workflow_name: str | None = None


class SpawnInput(Struct, gc=False):
    """What an agent is started with."""

    description: str | None = None
    prompt: str | None = None
    subagent_type: str | None = None
    name: str | None = None
    resume: str | None = None


class Attachment(Struct, gc=False):
    """What the program added to a turn by itself."""

    type: str | None = None
    prompt: str | None = None


class Inner(Struct, gc=False):
    """A record within a record of progress."""

    type: str | None = None
    timestamp: str | None = None
    message: Message | None = None


class WireProgress(Struct, rename="camel", gc=False):
    """A sign of life from within a tool."""

    type: str | None = None
    agent_id: str | None = None
    message: Inner | None = None


class Meta(Struct, rename="camel", gc=False):
    """The file beside a child's transcript."""

    agent_type: str | None = None
    tool_use_id: str | None = None
    finished: bool | None = None
    stopped_by_user: bool | None = None


class WorkflowAgent(Struct, rename="camel", gc=False):
    """One agent of a workflow, as the snapshot at the end tells it."""

    agent_id: str | None = None
    label: str | None = None
    model: str | None = None
    state: str | None = None
    started_at: int | None = None
    duration_ms: int | None = None
    error: str | None = None


class WireSnapshot(Struct, rename="camel", gc=False):
    """A workflow when it is over."""

    run_id: str | None = None
    status: str | None = None
    error: str | None = None
    duration_ms: int | None = None
    workflow_progress: list[WorkflowAgent] | None = None


T = TypeVar("T", bound=Struct)
_decoders: dict[Any, Any] = {}


def decode(kind: type[T], data: bytes | Raw) -> T | None:
    """The bytes as that kind; None if they are not there or do not fit."""
    if not data:
        return None
    try:
        value: T = (_decoders.get(kind) or _decoder(kind))(data)
    except (ValueError, RecursionError):
        return None
    return value


decode_entry = msgspec.json.Decoder(TranscriptEntry).decode
"""A line as an entry; ValueError or RecursionError if it is none, or more than one."""


def string(raw: Raw) -> str:
    """The string that the bytes hold; empty if they hold something else."""
    if not raw:
        return ""
    try:
        value: str = _decoder(str)(raw)
    except ValueError:
        return ""
    return value


def texts(raw: Raw) -> list[str]:
    """The texts of a result's content, which is one string or a list of blocks."""
    if not raw:
        return []
    try:
        content: str | list[ContentBlock] = _decoder(str | list[ContentBlock])(raw)
    except (ValueError, RecursionError):
        return []
    if isinstance(content, str):
        return [content[:_TOO_LONG]]
    return [block.text[:_TOO_LONG] for block in content if block.text]


def _decoder(kind: Any) -> Any:
    """Made when it is first needed: some are needed for no file at all."""
    known = _decoders.get(kind)
    if known is None:
        known = _decoders[kind] = msgspec.json.Decoder(kind).decode
    return known


def salvage(kind: type[T], value: Mapping[str, Any], origin: Origin) -> tuple[T, list[Deviation]]:
    """What fits of a record that does not fit as a whole, and a note on each part that was left out."""
    noted: list[Deviation] = []
    fitting = {
        key: fit for key, given in value.items() if (fit := _fitted(kind, key, given, origin, noted)) is not None
    }
    entry = decode(kind, _encode(fitting))
    return entry if entry is not None else kind(), noted


def _fitted(kind: type[Struct], key: str, given: Any, origin: Origin, noted: list[Deviation]) -> Any:
    """The value of a field as far as it fits; None if it does not."""
    if decode(kind, _encode({key: given})) is not None:
        return given
    if key == "message" and isinstance(given, dict):
        return {k: v for k, inner in given.items() if (v := _fitted(Message, k, inner, origin, noted)) is not None}
    if key == "content" and isinstance(given, list):
        return [*_fitting_blocks(given, origin, noted)]
    noted.append(Deviation(origin, DeviationKind.WRONG_TYPE.value, key))
    return None


def _fitting_blocks(blocks: list[Any], origin: Origin, noted: list[Deviation]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if not isinstance(block, dict):
            noted.append(Deviation(origin, DeviationKind.WRONG_TYPE.value, "content"))
            continue
        yield {k: v for k, inner in block.items() if (v := _fitted(ContentBlock, k, inner, origin, noted)) is not None}


def _encode(value: Any) -> bytes:
    return json.dumps(value).encode()
