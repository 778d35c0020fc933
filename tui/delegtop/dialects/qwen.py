"""Qwen Code: the transcript of a session, and for each sub-agent a transcript and a sidecar that says how it stands.

The sidecar names the parent and the status, so tree and status are exact; the transcripts tell what goes on inside.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.contract.departures import Kind
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.foreign import (
    Remembering,
    clip,
    document,
    gist,
    items,
    moment,
    number,
    obj,
    objects,
    prose,
    title,
    word,
)
from delegtop.model.events import (
    Described,
    Deviation,
    Ended,
    Ending,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
)
from delegtop.origin import Origin
from delegtop.sources.record import Record

PRODUCT = "qwen"
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_AGENT = re.compile(r"(?:^|[/\\])subagents[/\\]([^/\\]+)[/\\]agent-([^/\\]+?)(?:\.meta\.json|\.jsonl)$")
_SPAWNS = frozenset({"agent", "task"})
_ENDS = {
    "completed": (Outcome.COMPLETED, Ending.RETURN),
    "failed": (Outcome.FAILED, Ending.RETURN),
    "cancelled": (Outcome.INTERRUPTED, Ending.CANCEL),
}


class Qwen(Remembering):
    """Reads transcripts and sidecars. An instance reads one file."""

    name: ClassVar[str] = "qwen"
    title: ClassVar[str] = "Qwen Code transcript"
    surest: ClassVar[int] = 97
    about: ClassVar[About] = About(
        "Qwen Code 0.2x",
        "`~/.qwen/projects/*/chats/*.jsonl`, `subagents/**`",
        "tree by sidecars, status, tool, tokens, prompts",
        Basis.FIXTURES,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id: str | None = None
        self._is_prompted = False
        self._tokens = 0
        self._calls: dict[str, tuple[str, str | None]] = {}

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if _is_sidecar(document(sample)):
            return 95
        if _begins(sample):
            return 96
        if b'"parts":' not in sample.head and b"systemPayload" not in sample.head:
            return 0  # as any transcript of Claude Code, which is told from one of Qwen's by these alone
        found = [value for value in objects(sample) if _is_transcript(value)]
        return 97 if any("parts" in obj(value.get("message")) for value in found) else 60 if found else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        return Unit.DOCUMENT if _is_sidecar(document(sample)) else Unit.LINES

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - one instance reads one file
        return b""

    def translate(self, record: Record) -> Iterator[Event]:
        if _is_sidecar(record.value):
            yield from self._sidecar(record.value, record.origin)
        elif word(record.value.get("sessionId")):
            yield from self._line(record.value, record.origin)

    # -- the sidecar -----------------------------------------------------------------------------------------------

    def _sidecar(self, meta: dict[str, Any], origin: Origin) -> Iterator[Event]:
        session, above = word(meta.get("parentSessionId")), word(meta.get("parentAgentId"))
        id = _row(session, str(meta["agentId"]))
        at = moment(meta.get("createdAt"), self.zone)
        refs = [("agent_id", meta["agentId"]), ("session_id", session), ("tool_use_id", word(meta.get("toolUseId")))]
        yield Started(
            id,
            at,
            origin,
            agent=word(meta.get("agentType")),
            depth=None if above else 1,
            parent=_row(session, above) if above else session,
            refs=tuple((name, ref) for name, ref in refs if ref),
            product=PRODUCT,
        )
        yield Described(id, at, origin, title=title(word(meta.get("description"))), model=word(meta.get("model")))
        yield from self._status(id, meta, moment(meta.get("lastUpdatedAt"), self.zone) or at, origin)

    def _status(self, id: str, meta: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        status = word(meta.get("status"))
        if status in _ENDS:
            outcome, by = _ENDS[status]
            error = clip(word(meta.get("lastError")))
            faults = (Fault(message=error),) if error and outcome is Outcome.FAILED else ()
            yield Ended(id, at, origin, outcome, by, Report(summary=error, errors=faults))
        elif status in ("running", "paused"):
            if number(meta.get("resumeCount")) and at is not None:
                yield Resumed(id, at, origin)
            if status == "paused":
                yield Heard(id, at, origin, "paused", phase=Phase.IDLE)
        else:
            yield Deviation(origin, Kind.UNKNOWN_STATUS.value, f"status: {meta.get('status')!r}"[:200])

    # -- a transcript ----------------------------------------------------------------------------------------------

    def _line(self, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        at = moment(value.get("timestamp"), self.zone)
        if self._id is None:
            yield from self._begin(value, at, origin)
        id = self._id or ""
        parts = [obj(part) for part in items(obj(value.get("message")).get("parts"))]
        match value.get("type"):
            case "user" if value.get("subtype") != "notification":
                yield from self._prompted(id, value, parts, at, origin)
            case "assistant":
                yield from self._answered(id, value, parts, at, origin)
            case "tool_result":
                for part in parts:
                    self._calls.pop(str(obj(part.get("functionResponse")).get("id")), None)
                yield self._now(id, None, at, origin)

    def _begin(self, value: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        session = str(value["sessionId"])
        described = {"cwd": word(value.get("cwd")), "version": word(value.get("version"))}
        if found := _AGENT.search(origin.source):  # its start and its parent stand in the sidecar
            self._id = _row(found[1], found[2])
            yield Described(self._id, at, origin, **described)
            return
        self._id = session
        refs = (("session_id", session),)
        yield Started(session, at, origin, agent=PRODUCT, depth=0, refs=refs, product=PRODUCT)
        yield Described(session, at, origin, **described)

    def _prompted(
        self, id: str, value: dict[str, Any], parts: list[dict[str, Any]], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        text = word(obj(value.get("systemPayload")).get("displayText")) or prose(parts)
        if text and not self._is_prompted:
            self._is_prompted = True
            # A sub-agent's sidecar says in a few words what it is for: its prompt serves where there is none.
            said = None if _AGENT.search(origin.source) else at
            yield Described(id, said, origin, title=title(text))
            yield Described(id, at, origin, prompt=clip(text))
        yield Heard(id, at, origin, phase=Phase.MODEL)

    def _answered(
        self, id: str, value: dict[str, Any], parts: list[dict[str, Any]], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        yield Described(id, at, origin, model=word(value.get("model")))
        self._tokens += _spent(obj(value.get("usageMetadata")))
        for part in parts:
            call = obj(part.get("functionCall"))
            if name := word(call.get("name")):
                self._calls[str(call.get("id"))] = (name, gist(obj(call.get("args"))))
        said = title(prose([part for part in parts if not part.get("thought")]))
        yield self._now(id, said, at, origin, idle=not self._calls)

    def _now(self, id: str, said: str | None, at: Millis | None, origin: Origin, idle: bool = False) -> Heard:
        tokens = self._tokens or None
        if not self._calls:
            return Heard(id, at, origin, said, tokens=tokens, phase=Phase.IDLE if idle else Phase.MODEL)
        tool, doing = next(reversed(self._calls.values()))
        return Heard(id, at, origin, doing, tool, tokens, phase=Phase.CHILD if tool in _SPAWNS else Phase.TOOL)


def _spent(usage: dict[str, Any]) -> int:
    """The tokens of one answer that were new, without those that were read from a cache."""
    total = number(usage.get("totalTokenCount"))
    if total is None:
        total = sum(number(usage.get(key)) or 0 for key in ("promptTokenCount", "candidatesTokenCount"))
    return max(total - (number(usage.get("cachedContentTokenCount")) or 0), 0)


def _row(session: str | None, agent: str) -> str:
    """Agent ids are unique within a session only."""
    return f"{session}/{agent}" if session else agent


def _is_sidecar(value: dict[str, Any]) -> bool:
    told = all(isinstance(value.get(key), str) for key in ("agentId", "agentType", "status"))
    return told and ("parentSessionId" in value or "isBackgrounded" in value)


def _begins(sample: Sample) -> bool:
    """Only a part of the first line is seen: it begins as none of Claude Code does, in a place of Qwen Code's."""
    if not sample.head.startswith(b'{"uuid":') or b"\n" in sample.head:
        return False
    path = sample.path.replace("\\", "/")
    return bool(_AGENT.search(path)) or path.rpartition("/")[0].endswith("/chats")


def _is_transcript(value: dict[str, Any]) -> bool:
    """The envelope is Claude Code's, the message is Gemini's."""
    fits = word(value.get("type")) in _TYPES and {"uuid", "sessionId", "timestamp"} <= value.keys()
    return fits and ("parts" in obj(value.get("message")) or "systemPayload" in value)
