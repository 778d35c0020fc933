"""GitHub Copilot CLI: the event log of one session, its sub-agents in the same file.

A sub-agent is announced with the tool call that spawned it, so the link is exact. Records of a sub-agent carry its
agent id, or the call it descends from; records of the session itself carry neither.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from delegtop.agents.copilot import PRODUCT
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.kit.coerce import clip, items, number, obj, objects, parsed, title, word
from delegtop.dialects.kit.conversation import ENDS, Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.kit.tokens import charge_of
from delegtop.dialects.signature import Signature
from delegtop.model.events import Outcome, Phase, Report
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_FAMILIES = frozenset({"session", "user", "assistant", "tool", "hook", "permission", "subagent", "system"})
_KINDS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
"""What is read from a cache and written to one is part of the input."""


class Copilot(Chat):
    """Reads `events.jsonl`. An instance reads one session."""

    name: ClassVar[str] = "copilot"
    title: ClassVar[str] = "GitHub Copilot CLI events"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "GitHub Copilot CLI 0.0.420 to 1.0.102",
        "`~/.copilot/session-state/*/events.jsonl`",
        "tree, status, tool, tokens, prompts, answers",
        Basis.REAL,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"id":', b'"type":', b'"data":')),)
    looking: ClassVar[frozenset[str]] = frozenset({"read_bash", "read_powershell"})
    phases: ClassVar[dict[str, Phase]] = {"task": Phase.CHILD}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._agents: dict[str, Conversation] = {}
        """The sub-agents, by agent id and by the call that spawned them."""
        self._callers: dict[str, tuple[Conversation, dict[str, Any]]] = {}
        """Who made a call that may spawn an agent, and with what."""
        self._metered: set[str] = set()
        """The agents whose tokens are told request by request."""
        self._asked_tools: set[str] = set()
        """The agents whose last answer asks for tools."""
        self._aborted = False
        """The last turn was cut off: a program that is told to end says so before it shuts down."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        kinds = [
            value.get("type") for value in objects(sample) if isinstance(value.get("data"), dict) and "id" in value
        ]
        if "session.start" in kinds[:1]:
            return 95
        known = sum(isinstance(kind, str) and kind.partition(".")[0] in _FAMILIES and "." in kind for kind in kinds)
        return 70 if known and 2 * known > len(kinds) else 0

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - one instance reads one session
        keys = [key for key, agent in self._agents.items() if agent.id == id]
        return keys[-1].encode() if keys else b""

    def tell(self, value: dict[str, Any]) -> None:
        kind, data = value.get("type"), obj(value.get("data"))
        if not isinstance(kind, str):
            return
        root = self.conversation(word(data.get("sessionId")) or _folder(self.origin.source))
        keys = (value.get("agentId"), data.get("parentToolCallId"))
        agent = next((self._agents[key] for key in keys if isinstance(key, str) and key in self._agents), root)
        group, _, event = kind.partition(".")
        match group:
            case "session" if event in ("usage_record", "model_change", "error"):
                self._own(agent, event, data)
            case "session" | "abort":
                self._session(root, event or kind, data)
            case "subagent":
                self._subagent(root, event, word(value.get("agentId")), data)
            case "tool":
                self._tool(agent, event, data)
            case "system" if event == "notification":
                self._notification(obj(data.get("kind")))
            case _:
                self._turn(agent, kind, data)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in records:
            value, data = record.value, obj(record.value.get("data"))
            keys = (value.get("agentId"), data.get("parentToolCallId"))
            agent = next((known for key in keys if isinstance(key, str) and (known := self._agents.get(key))), None)
            at = self.moment(value.get("timestamp"))
            yield from _said(Speaker(at, record.origin, agent.id if agent else None), value.get("type"), data)

    # -- the session -----------------------------------------------------------------------------------------------

    def _session(self, root: Conversation, event: str, data: dict[str, Any]) -> None:
        match event:
            case "start":
                started = self.moment(data.get("startTime")) or self.at
                root.start(started, refs={"session_id": root.id})
                root.describe(
                    started,
                    model=word(data.get("selectedModel")),
                    cwd=word(obj(data.get("context")).get("cwd")),
                    version=word(data.get("copilotVersion")),
                )
                root.rest()
            case "resume":
                root.resume()
                root.turn_over()
            case "abort":
                self._aborted = True
                root.turn_over("aborted")
            case "shutdown":
                self._shutdown(root, data)

    def _own(self, agent: Conversation, event: str, data: dict[str, Any]) -> None:
        """What is told of the session and of each of its agents in the same words."""
        match event:
            case "usage_record":
                usage = obj(data.get("usage"))
                into, out, cached, written = (number(usage.get(key)) or 0 for key in _KINDS)
                kinds = (max(into - cached - written, 0), out, cached, written, 0)
                self._metered.add(agent.id)
                charge = charge_of(word(usage.get("model")), kinds)
                agent.use(max(into - cached, 0) + out, word(usage.get("apiCallId")), charge)
            case "model_change":
                agent.describe(model=word(data.get("newModel")))
            case "error" if agent.is_child:  # in the words in which its end will tell it
                agent.err(word(data.get("message")), recoverable=None)
            case "error":
                agent.err(word(data.get("message")), word(data.get("errorType")))

    def _shutdown(self, root: Conversation, data: dict[str, Any]) -> None:
        """The program ended, and with it whatever had not come back."""
        if not self._agents and root.id not in self._metered:  # the sums count the sub-agents' tokens too
            usages = [obj(obj(model).get("usage")) for model in obj(data.get("modelMetrics")).values()]
            root.spent(sum((number(u.get("inputTokens")) or 0) + (number(u.get("outputTokens")) or 0) for u in usages))
        for agent in self._agents.values():
            if agent.ended is None:
                agent.end(Outcome.LOST, "the session was shut down before it came back")
        outcome = Outcome.INTERRUPTED if self._aborted else Outcome.COMPLETED
        root.end(Outcome.FAILED if data.get("shutdownType") == "error" else outcome, word(data.get("errorReason")))

    # -- turns and tools -------------------------------------------------------------------------------------------

    def _turn(self, agent: Conversation, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "user.message":
                self._aborted = False
                agent.prompt(word(data.get("content")))
            case "assistant.turn_start" | "assistant.reasoning":
                agent.hear(Phase.MODEL)
            case "assistant.message":
                requests = [obj(request) for request in items(data.get("toolRequests"))]
                (self._asked_tools.add if requests else self._asked_tools.discard)(agent.id)
                for request in requests:
                    self._remember(agent, request)
                agent.hear(Phase.MODEL, title(word(data.get("content"))))
            case "assistant.turn_end" if agent.id in self._asked_tools:
                agent.hear(Phase.MODEL)
            case "assistant.turn_end":
                agent.rest()
            case "permission.requested":
                request = obj(data.get("permissionRequest"))
                kind = word(request.get("kind")) or ""
                wanted = word(request.get("fullCommandText")) or word(request.get("intention")) or kind
                agent.permission(title(wanted), kind or None)
            case "user_input.requested" | "elicitation.requested":
                agent.question(title(word(data.get("question")) or word(data.get("message"))))
            case "permission.completed" | "user_input.completed" | "elicitation.completed":
                agent.go_on()

    def _tool(self, agent: Conversation, event: str, data: dict[str, Any]) -> None:
        call = word(data.get("toolCallId"))
        if event == "execution_start":
            agent.call(call, word(data.get("toolName")), self._remember(agent, data))
        elif event == "execution_complete":
            agent.result(call)
            self._callers.pop(call or "", None)
            child = self._agents.get(call or "")
            answer = clip(word(obj(data.get("result")).get("content")))
            if child is not None and child.ended and answer:
                report = Report(summary=answer)
                self.events.append(msgspec.structs.replace(child.ended, origin=self.origin, report=report))

    def _remember(self, agent: Conversation, call: dict[str, Any]) -> dict[str, Any]:
        arguments = obj(parsed(call.get("arguments")))
        if id := word(call.get("toolCallId")):
            self._callers[id] = (agent, arguments)
        return arguments

    # -- sub-agents ------------------------------------------------------------------------------------------------

    def _subagent(self, root: Conversation, event: str, agent_id: str | None, data: dict[str, Any]) -> None:
        call = word(data.get("toolCallId"))
        if event == "started" and call is not None:
            self._spawned(root, call, agent_id, data)
        elif event in ("completed", "failed"):
            agent = self._agents.get(call or "") or self._agents.get(agent_id or "")
            if agent is not None:
                if agent.id not in self._metered:  # the total counts the tokens of its own sub-agents too
                    agent.spent(number(data.get("totalTokens")))
                agent.end(
                    Outcome.INTERRUPTED if data.get("cancelled") is True else ENDS[event], word(data.get("error"))
                )

    def _spawned(self, root: Conversation, call: str, agent_id: str | None, data: dict[str, Any]) -> None:
        caller, told = self._callers.get(call, (root, {}))
        kind, prompt = word(data.get("agentName")) or word(told.get("agent_type")), word(told.get("prompt"))
        agent = caller.spawn(
            f"{root.id}/{call}",
            call=call,
            kind=kind,
            refs={"session_id": root.id, "tool_use_id": call, "agent_id": agent_id},
            title=title(word(told.get("description")) or prompt or word(data.get("agentDescription"))),
            name=_own_name(word(data.get("agentDisplayName")), word(data.get("agentName"))),
            model=word(data.get("model")),
            prompt=clip(prompt),
        )
        self._agents |= {key: agent for key in (call, agent_id) if key is not None}
        agent.hear(Phase.MODEL)

    def _notification(self, told: dict[str, Any]) -> None:
        """A sub-agent in the background is over."""
        agent = self._agents.get(word(told.get("agentId")) or "")
        outcome = ENDS.get(word(told.get("status")) or "")
        if told.get("type") == "agent_completed" and agent is not None and outcome is not None and not agent.ended:
            agent.end(outcome)


def _own_name(shown: str | None, kind: str | None) -> str | None:
    """A name that only spells the kind of agent in another way is none of its own."""
    spelled = (shown or "").replace(" ", "-").casefold()
    return None if spelled == (kind or "").casefold() else shown


def _folder(path: str) -> str:
    """The session that a file belongs to: its folder is called after it."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and parts[-1] == "events.jsonl" else parts[-1].partition(".")[0]


def _said(speaker: Speaker, kind: object, data: dict[str, Any]) -> Iterable[Utterance]:
    """What one event says to people."""
    match kind:
        case "user.message":
            return speaker.say(Voice.PROMPT, word(data.get("content")))
        case "assistant.reasoning":
            return speaker.say(Voice.THINKING, word(data.get("content")))
        case "assistant.message":
            thought = speaker.say(Voice.THINKING, word(data.get("reasoningText")))
            return [*thought, *speaker.say(Voice.ANSWER, word(data.get("content")))]
        case "tool.execution_start":
            return speaker.call(data.get("toolName"), data.get("arguments"), data.get("toolCallId"))
        case "tool.execution_complete":
            failed = data.get("success") is False
            told = obj(data.get("error")).get("message") if failed else data.get("result")
            return speaker.result(told, data.get("toolCallId"), failed=failed)
        case "session.error" | "subagent.failed":
            return speaker.say(Voice.ERROR, word(data.get("message")) or word(data.get("error")))
        case "system.notification":
            return speaker.say(Voice.NOTE, word(data.get("content")))
        case "abort" | "session.abort":
            return speaker.say(Voice.NOTE, word(data.get("reason")) or "aborted")
    return ()
