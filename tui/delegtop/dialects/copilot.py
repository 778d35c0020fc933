"""GitHub Copilot CLI: the event log of one session, its sub-agents in the same file.

A sub-agent is announced with the tool call that spawned it, so the link is exact. Records of a sub-agent carry its
agent id, or the call it descends from; records of the session itself carry neither.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.foreign import Remembering, clip, gist, items, moment, number, obj, objects, parsed, title, word
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Erred,
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

PRODUCT = "copilot"
_FAMILIES = frozenset({"session", "user", "assistant", "tool", "hook", "permission", "subagent", "system"})
_ENDS = {"completed": Outcome.COMPLETED, "failed": Outcome.FAILED, "cancelled": Outcome.INTERRUPTED}


class _Agent:
    """One sub-agent, or the session itself."""

    def __init__(self, id: str, depth: int | None) -> None:
        self.id = id
        self.depth = depth
        self.agent_id: str | None = None
        self.is_prompted = False
        self.asked_tools = False
        self.ended: tuple[Outcome, Millis | None] | None = None
        self.calls: dict[str, tuple[str, str | None]] = {}


class Copilot(Remembering):
    """Reads `events.jsonl`. An instance reads one session."""

    name: ClassVar[str] = "copilot"
    title: ClassVar[str] = "GitHub Copilot CLI events"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "GitHub Copilot CLI 0.0.420 to 1.0.77",
        "`~/.copilot/session-state/*/events.jsonl`",
        "tree, status, tool, tokens, prompts, answers",
        Basis.REAL,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._root: _Agent | None = None
        self._agents: dict[str, _Agent] = {}
        """By agent id and by the call that spawned it."""
        self._callers: dict[str, tuple[_Agent, dict[str, Any]]] = {}
        """Who made a call that may spawn an agent, and with what."""

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
        agent = next((agent for agent in self._agents.values() if agent.id == id), None)
        if agent is None:
            return b""
        return (agent.agent_id or agent.id.rpartition("/")[2]).encode()

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        kind, data = value.get("type"), obj(value.get("data"))
        at = moment(value.get("timestamp"), self.zone)
        if not isinstance(kind, str):
            return
        if self._root is None:
            self._root = _Agent(word(data.get("sessionId")) or _folder(origin.source), 0)
        agent = self._agent(value, data)
        group, _, event = kind.partition(".")
        match group:
            case "session" | "abort":
                yield from self._session(self._root, event or kind, data, at, origin)
            case "subagent":
                yield from self._subagent(event, word(value.get("agentId")), data, at, origin)
            case "tool":
                yield from self._tool(agent, event, data, at, origin)
            case "system" if event == "notification":
                yield from self._notification(obj(data.get("kind")), at, origin)
            case _:
                yield from self._turn(agent, kind, data, at, origin)

    def _agent(self, value: dict[str, Any], data: dict[str, Any]) -> _Agent:
        """Whose record it is."""
        assert self._root is not None  # noqa: S101 - set before the first record is told
        for key in (value.get("agentId"), data.get("parentToolCallId")):
            if isinstance(key, str) and key in self._agents:
                return self._agents[key]
        return self._root

    # -- the session -----------------------------------------------------------------------------------------------

    def _session(
        self, root: _Agent, event: str, data: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        match event:
            case "start":
                started = moment(data.get("startTime"), self.zone) or at
                refs = (("session_id", root.id),)
                yield Started(root.id, started, origin, agent=PRODUCT, depth=0, refs=refs, product=PRODUCT)
                yield self._described(root, data, started, origin)
                yield Heard(root.id, at, origin, phase=Phase.IDLE)
            case "resume":
                if root.ended and at is not None:
                    root.ended = None
                    yield Resumed(root.id, at, origin)
                yield Heard(root.id, at, origin, phase=Phase.IDLE)
            case "model_change":
                yield Described(root.id, at, origin, model=word(data.get("newModel")))
            case "error":
                fault = Fault(
                    message=clip(word(data.get("message"))), type=word(data.get("errorType")), recoverable=True
                )
                yield Erred(root.id, at, origin, fault)
            case "abort":
                root.calls.clear()
                yield Heard(root.id, at, origin, "aborted", phase=Phase.IDLE)
            case "shutdown":
                yield from self._shutdown(root, data, at, origin)

    def _described(self, root: _Agent, data: dict[str, Any], at: Millis | None, origin: Origin) -> Described:
        return Described(
            root.id,
            at,
            origin,
            model=word(data.get("selectedModel")),
            cwd=word(obj(data.get("context")).get("cwd")),
            version=word(data.get("copilotVersion")),
        )

    def _shutdown(self, root: _Agent, data: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        """The program ended, and with it whatever had not come back."""
        failed = data.get("shutdownType") == "error"
        reason = clip(word(data.get("errorReason")))
        if not self._agents:  # the sums count the sub-agents' tokens too
            usages = [obj(obj(model).get("usage")) for model in obj(data.get("modelMetrics")).values()]
            spent = sum((number(u.get("inputTokens")) or 0) + (number(u.get("outputTokens")) or 0) for u in usages)
            yield Heard(root.id, None, origin, tokens=spent or None)
        for agent in {id(agent): agent for agent in self._agents.values()}.values():
            if agent.ended is None:
                agent.ended = (Outcome.LOST, at)
                report = Report(summary="the session was shut down before it came back")
                yield Ended(agent.id, at, origin, Outcome.LOST, Ending.GONE, report)
        outcome = Outcome.FAILED if failed else Outcome.COMPLETED
        root.ended = (outcome, at)
        yield Ended(root.id, at, origin, outcome, Ending.RETURN, Report(summary=reason))

    # -- turns and tools -------------------------------------------------------------------------------------------

    def _turn(
        self, agent: _Agent, kind: str, data: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        match kind:
            case "user.message":
                prompt = word(data.get("content"))
                if prompt and not agent.is_prompted:
                    agent.is_prompted = True
                    yield Described(agent.id, at, origin, title=title(prompt), prompt=clip(prompt))
                yield Heard(agent.id, at, origin, phase=Phase.MODEL)
            case "assistant.turn_start" | "assistant.reasoning":
                yield Heard(agent.id, at, origin, phase=Phase.MODEL)
            case "assistant.message":
                requests = [obj(request) for request in items(data.get("toolRequests"))]
                agent.asked_tools = bool(requests)
                for request in requests:
                    self._remember(agent, request, request.get("arguments"))
                yield Heard(agent.id, at, origin, title(word(data.get("content"))), phase=Phase.MODEL)
            case "assistant.turn_end":
                idle = not agent.asked_tools and not agent.calls
                yield Heard(agent.id, at, origin, phase=Phase.IDLE if idle else Phase.MODEL)
            case "permission.requested":
                request = obj(data.get("permissionRequest"))
                wanted = (
                    word(request.get("fullCommandText")) or word(request.get("intention")) or word(request.get("kind"))
                )
                yield Heard(agent.id, at, origin, title(wanted), word(request.get("kind")), phase=Phase.PERMISSION)
            case "user_input.requested" | "elicitation.requested":
                asked = word(data.get("question")) or word(data.get("message"))
                yield Heard(agent.id, at, origin, title(asked), phase=Phase.ANSWER)
            case "permission.completed" | "user_input.completed" | "elicitation.completed":
                yield self._now(agent, at, origin)

    def _tool(
        self, agent: _Agent, event: str, data: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        call = word(data.get("toolCallId")) or ""
        if event == "execution_start":
            arguments = self._remember(agent, data, data.get("arguments"))
            agent.calls[call] = (word(data.get("toolName")) or "tool", gist(arguments))
            yield self._now(agent, at, origin)
        elif event == "execution_complete":
            agent.calls.pop(call, None)
            self._callers.pop(call, None)
            yield self._now(agent, at, origin)
            child = self._agents.get(call)
            answer = clip(word(obj(data.get("result")).get("content")))
            if child is not None and child.ended and answer:
                yield Ended(child.id, child.ended[1], origin, child.ended[0], Ending.RETURN, Report(summary=answer))

    def _now(self, agent: _Agent, at: Millis | None, origin: Origin) -> Heard:
        """What it is in the middle of: the tool it called last, else its model."""
        if not agent.calls:
            return Heard(agent.id, at, origin, phase=Phase.MODEL)
        call, (tool, doing) = next(reversed(agent.calls.items()))
        child = self._agents.get(call)
        waits = tool == "task" or (child is not None and child.ended is None)
        return Heard(agent.id, at, origin, doing, tool, phase=Phase.CHILD if waits else Phase.TOOL)

    def _remember(self, agent: _Agent, call: dict[str, Any], arguments: object) -> dict[str, Any]:
        told = obj(parsed(arguments))
        if isinstance(call.get("toolCallId"), str):
            self._callers[call["toolCallId"]] = (agent, told)
        return told

    # -- sub-agents ------------------------------------------------------------------------------------------------

    def _subagent(
        self, event: str, agent_id: str | None, data: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        call = word(data.get("toolCallId"))
        if event == "started" and call is not None:
            yield from self._spawned(call, agent_id, data, at, origin)
        elif event in ("completed", "failed"):
            agent = self._agents.get(call or "") or self._agents.get(agent_id or "")
            if agent is None:
                return
            outcome = Outcome.INTERRUPTED if data.get("cancelled") is True else _ENDS[event]
            yield Heard(agent.id, None, origin, tokens=number(data.get("totalTokens")) or None)
            yield self._over(agent, outcome, word(data.get("error")), at, origin)

    def _spawned(
        self, call: str, agent_id: str | None, data: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        assert self._root is not None  # noqa: S101 - set before the first record is told
        caller, told = self._callers.get(call, (self._root, {}))
        depth = None if caller.depth is None else caller.depth + 1
        agent = _Agent(f"{self._root.id}/{call}", depth)
        agent.agent_id = agent_id
        for key in (call, agent_id):
            if key is not None:
                self._agents[key] = agent
        refs = [("session_id", self._root.id), ("tool_use_id", call), ("agent_id", agent_id)]
        prompt = word(told.get("prompt"))
        agent.is_prompted = prompt is not None
        yield Started(
            agent.id,
            at,
            origin,
            agent=word(data.get("agentName")) or word(told.get("agent_type")),
            depth=depth,
            parent=caller.id,
            refs=tuple((name, ref) for name, ref in refs if ref),
            product=PRODUCT,
        )
        yield Described(
            agent.id,
            at,
            origin,
            title=title(word(told.get("description")) or prompt or word(data.get("agentDescription"))),
            name=_own_name(word(data.get("agentDisplayName")), word(data.get("agentName"))),
            model=word(data.get("model")),
            prompt=clip(prompt),
        )
        yield Heard(agent.id, at, origin, phase=Phase.MODEL)

    def _notification(self, told: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        """A sub-agent in the background is over."""
        agent = self._agents.get(word(told.get("agentId")) or "")
        outcome = _ENDS.get(word(told.get("status")) or "")
        if told.get("type") == "agent_completed" and agent is not None and outcome is not None and not agent.ended:
            yield self._over(agent, outcome, None, at, origin)

    def _over(self, agent: _Agent, outcome: Outcome, error: str | None, at: Millis | None, origin: Origin) -> Ended:
        agent.ended = (outcome, at)
        agent.calls.clear()
        faults = (Fault(message=clip(error)),) if error else ()
        report = Report(summary=clip(error), errors=faults)
        by = Ending.CANCEL if outcome is Outcome.INTERRUPTED else Ending.RETURN
        return Ended(agent.id, at, origin, outcome, by, report)


def _own_name(shown: str | None, kind: str | None) -> str | None:
    """A name that only spells the kind of agent in another way is none of its own."""
    spelled = (shown or "").replace(" ", "-").casefold()
    return None if spelled == (kind or "").casefold() else shown


def _folder(path: str) -> str:
    """The session that a file belongs to: its folder is called after it."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and parts[-1] == "events.jsonl" else parts[-1].partition(".")[0]
