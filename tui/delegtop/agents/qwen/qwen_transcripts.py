"""Qwen Code: the transcript of a session, and for each sub-agent a transcript and a sidecar that says how it stands.

The sidecar names the parent and the status, so tree and status are exact; the transcripts tell what goes on inside.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.qwen import PRODUCT
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import document, items, number, obj, objects, prose, title, word
from delegtop.dialects.kit.conversation import ENDS, Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.kit.tokens import charge_of
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Deviation, Phase
from delegtop.model.spoken import Utterance, Voice
from delegtop.model.usage import Counts
from delegtop.sources.records import Record

_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_AGENT = re.compile(r"(?:^|[/\\])subagents[/\\]([^/\\]+)[/\\]agent-([^/\\]+?)(?:\.meta\.json|\.jsonl)$")


class Qwen(Chat):
    """Reads transcripts and sidecars. An instance reads one file."""

    name: ClassVar[str] = "qwen"
    title: ClassVar[str] = "Qwen Code transcript"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Qwen Code 0.2x, up to 0.24",
        "`~/.qwen/projects/*/chats/*.jsonl`, `subagents/**`",
        "tree by sidecars, status, tool, tokens, prompts",
        Basis.MADE,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"agentId":', b'"agentType":', b'"status":')),
        Signature((b'\n{"uuid":',), "agent-"),
        Signature((b'\n{"uuid":',), "chats"),
        Signature((b'"parts":', b'"uuid":')),
        Signature((b'"systemPayload":', b'"uuid":')),
    )
    phases: ClassVar[dict[str, Phase]] = {"agent": Phase.CHILD, "task": Phase.CHILD}

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if _is_sidecar(document(sample)):
            return 95
        if _begins(sample):
            return 95
        found = [value for value in objects(sample) if _is_transcript(value)]
        return 95 if any("parts" in obj(value.get("message")) for value in found) else 60 if found else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        return Unit.DOCUMENT if _is_sidecar(document(sample)) else Unit.LINES

    def tell(self, value: dict[str, Any]) -> None:
        if _is_sidecar(value):
            self._sidecar(value)
        elif session := word(value.get("sessionId")):
            self._line(self.conversations.get(self.origin.source) or self._begin(session, value), value)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in records:
            value = record.value
            speaker = Speaker(self.moment(value.get("timestamp")), record.origin)
            parts = items(obj(value.get("message")).get("parts"))
            match value.get("type"):
                case "user":
                    voice = Voice.NOTE if value.get("subtype") == "notification" else Voice.PROMPT
                    yield from speaker.parts(parts, voice)
                case "assistant":
                    yield from speaker.parts(parts, Voice.ANSWER)
                case "tool_result":
                    yield from speaker.parts(parts, Voice.RESULT)

    # -- the sidecar -----------------------------------------------------------------------------------------------

    def _sidecar(self, meta: dict[str, Any]) -> None:
        session, above, name = word(meta.get("parentSessionId")), word(meta.get("parentAgentId")), str(meta["agentId"])
        agent = self.conversation(_row(session, name), is_child=True, depth=None if above else 1)
        self.at = self.moment(meta.get("createdAt"))
        agent.start(
            agent=word(meta.get("agentType")),
            parent=_row(session, above) if above else session,
            refs={"agent_id": name, "session_id": session, "tool_use_id": word(meta.get("toolUseId"))},
        )
        agent.describe(title=title(word(meta.get("description"))), model=word(meta.get("model")))
        self.at = self.moment(meta.get("lastUpdatedAt")) or self.at
        self._status(agent, meta)

    def _status(self, agent: Conversation, meta: dict[str, Any]) -> None:
        status = word(meta.get("status"))
        if status in ENDS:
            agent.end(ENDS[status], word(meta.get("lastError")))
        elif status in ("running", "paused"):
            if number(meta.get("resumeCount")):
                agent.resume(anew=True)
            if status == "paused":
                agent.hear(Phase.IDLE, "paused")
        else:
            self.events.append(
                Deviation(self.origin, DeviationKind.UNKNOWN_STATUS.value, f"status: {meta.get('status')!r}"[:200])
            )

    # -- a transcript ----------------------------------------------------------------------------------------------

    def _begin(self, session: str, value: dict[str, Any]) -> Conversation:
        found = _AGENT.search(self.origin.source)
        agent = self.conversation(_row(found[1], found[2]) if found else session, is_child=found is not None)
        if not found:  # the start and the parent of a sub-agent stand in its sidecar
            agent.start(refs={"session_id": session})
        agent.describe(cwd=word(value.get("cwd")), version=word(value.get("version")))
        return agent

    def _line(self, agent: Conversation, value: dict[str, Any]) -> None:
        parts = [obj(part) for part in items(obj(value.get("message")).get("parts"))]
        match value.get("type"):
            case "user" if value.get("subtype") != "notification":
                agent.prompt(word(obj(value.get("systemPayload")).get("displayText")) or prose(parts))
            case "assistant":
                agent.describe(model=word(value.get("model")))
                usage = obj(value.get("usageMetadata"))
                agent.use(_spent(usage), None, charge_of(word(value.get("model")), _kinds(usage)))
                for part in parts:
                    call = obj(part.get("functionCall"))
                    if name := word(call.get("name")):
                        agent.call(word(call.get("id")), name, obj(call.get("args")))
                agent.rest(title(prose([part for part in parts if not part.get("thought")])))
            case "tool_result":
                for part in parts:
                    agent.result(word(obj(part.get("functionResponse")).get("id")))
                agent.go_on()


def _kinds(usage: dict[str, Any]) -> Counts:
    """The tokens of one answer by kind. What was read from the cache is part of the prompt, and all that is no prompt
    is what the model wrote and thought."""
    keys = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")
    into, out, read = (number(usage.get(key)) or 0 for key in keys)
    total = number(usage.get("totalTokenCount"))
    return max(into - read, 0), out if total is None else max(total - into, 0), read, 0, 0


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
