"""Kimi Code and the older Kimi CLI: a wire log for each agent, and a document that says whose agent it is.

Neither session nor agent is named in a line: the folders are called after them. A main agent stands for its session.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.foreign import (
    Remembering,
    clip,
    document,
    gist,
    moment,
    number,
    obj,
    objects,
    parsed,
    prose,
    title,
    word,
)
from delegtop.model.events import Described, Ended, Ending, Event, Fault, Heard, Outcome, Phase, Report, Started
from delegtop.origin import Origin
from delegtop.sources.record import Record

PRODUCT = "kimi"
_SPAWNS = frozenset({"Agent", "AgentSwarm", "Task"})
_SESSION = re.compile(r"(?:^|[/\\])(session_[^/\\]+)")
_AGENT = re.compile(r"[/\\]agents[/\\]([^/\\]+)[/\\][^/\\]+$")
_OLD = re.compile(r"[/\\]([^/\\]+)(?:[/\\]subagents[/\\]([^/\\]+))?[/\\](?:wire\.jsonl|meta\.json)$")
_RESULT = re.compile(r"^(agent_id|actual_subagent_type|status): *(\S+) *$", re.MULTILINE)
_ENDS = {
    "completed": (Outcome.COMPLETED, Ending.RETURN),
    "failed": (Outcome.FAILED, Ending.RETURN),
    "error": (Outcome.FAILED, Ending.RETURN),
    "killed": (Outcome.INTERRUPTED, Ending.CANCEL),
    "cancelled": (Outcome.INTERRUPTED, Ending.CANCEL),
}
_CONTEXT = re.compile(r"\s*<git-context>.*?</git-context>\s*", re.DOTALL)
"""What Kimi Code puts before the prompt of a sub-agent by itself."""
_USED = ("inputOther", "output", "inputCacheCreation")


class Kimi(Remembering):
    """Reads wire logs and the documents beside them. An instance reads one file."""

    name: ClassVar[str] = "kimi"
    title: ClassVar[str] = "Kimi Code wire log"
    surest: ClassVar[int] = 90
    about: ClassVar[About] = About(
        "Kimi Code, wire 1.1 to 1.4",
        "`~/.kimi/sessions/**/wire.jsonl`, `state.json`, `meta.json`",
        "tree, status, tool, tokens, prompts, answers",
        Basis.FIXTURES,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id = ""
        self._session = ""
        self._is_main = True
        self._is_prompted = False
        self._asked_to_compact = False
        self._tokens = 0
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        whole = document(sample)
        if _is_state(whole) or _is_meta(whole):
            return 90
        first = next(objects(sample), {})
        return 90 if first.get("type") == "metadata" and "protocol_version" in first else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        whole = document(sample)
        return Unit.DOCUMENT if _is_state(whole) or _is_meta(whole) else Unit.LINES

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - ids do not stand in the lines
        return b"" if id == self._id else id.rpartition("/")[2].encode()

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        if _is_state(value):
            yield from self._state(value, origin)
        elif _is_meta(value):
            yield from self._meta(value, origin)
        elif self._id or value.get("type") == "metadata":
            yield from self._line(value, origin)

    # -- who is whose ----------------------------------------------------------------------------------------------

    def _state(self, state: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """Kimi Code: all agents of a session, each with its parent."""
        agents = {name: obj(told) for name, told in obj(state.get("agents")).items()}
        homes = [word(told.get("homedir")) or "" for told in agents.values()]
        found = next((found for path in (*homes, origin.source) if (found := _SESSION.search(path))), None)
        session = found[1] if found else _stem(origin.source).removesuffix(".state")
        at = moment(state.get("createdAt"), self.zone)
        for name, told in agents.items():
            id, parent = _row(session, name), word(told.get("parentAgentId"))
            is_main = parent is None and told.get("type") != "sub"
            yield Started(
                id,
                at if is_main else None,
                origin,
                agent=PRODUCT if is_main else None,
                depth=0 if is_main else None,
                parent=None if parent is None else _row(session, parent),
                refs=(("session_id", session), ("agent_id", name)),
                listed=True,
                product=PRODUCT,
            )
            about = title(word(state.get("title"))) if is_main else None
            yield Described(id, at, origin, title=about, cwd=word(state.get("workDir")))
            yield Heard(id, at, origin)

    def _meta(self, meta: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """Kimi CLI: one sub-agent, and how it stands."""
        name, spec = str(meta["agent_id"]), obj(meta.get("launch_spec"))
        found = _OLD.search(origin.source)
        session = found[1] if found else None
        id = _row(session, name) if session else name
        at = moment(meta.get("created_at"), self.zone) or moment(spec.get("created_at"), self.zone)
        refs = [("agent_id", name), ("session_id", session)]
        kind = word(meta.get("subagent_type")) or word(spec.get("subagent_type"))
        told = tuple((name, ref) for name, ref in refs if ref)
        yield Started(id, at, origin, agent=kind, parent=session, refs=told, product=PRODUCT)
        model = word(spec.get("effective_model")) or word(spec.get("model_override"))
        yield Described(id, at, origin, title=title(word(meta.get("description"))), model=model)
        changed = moment(meta.get("updated_at"), self.zone) or at
        status = word(meta.get("status")) or ""
        if status in _ENDS:
            outcome, by = _ENDS[status]
            yield Ended(id, changed, origin, outcome, by)
        elif status == "idle":
            yield Heard(id, changed, origin, phase=Phase.IDLE)

    def _begin(self, at: Millis | None, origin: Origin) -> Iterator[Event]:
        """Whose wire this is, by the folders it lies in; a file elsewhere stands for itself."""
        session, agent = _SESSION.search(origin.source), _AGENT.search(origin.source)
        old = _OLD.search(origin.source)
        if session:
            self._session, name = session[1], agent[1] if agent else "main"
        elif old:
            self._session, name = old[1], old[2] or "main"
        else:
            self._session, name = _stem(origin.source), "main"
        self._id = _row(self._session, name)
        self._is_main = name == "main"
        refs = (("session_id", self._session), ("agent_id", name))
        depth, parent = (0, None) if self._is_main else (None, self._session if old and not session else None)
        kind = PRODUCT if self._is_main else None
        yield Started(self._id, at, origin, agent=kind, depth=depth, parent=parent, refs=refs, product=PRODUCT)

    # -- the wire --------------------------------------------------------------------------------------------------

    def _line(self, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        at = moment(value.get("time"), self.zone) or moment(value.get("timestamp"), self.zone)
        match value.get("type"):
            case "metadata":
                yield from self._begin(moment(value.get("created_at"), self.zone), origin)
            case "config.update" | "profile.bind":
                kind = word(value.get("profileName"))
                if kind and not self._is_main:
                    yield Started(self._id, None, origin, agent=kind, product=PRODUCT)
                cwd = word(value.get("cwd")) or word(obj(value.get("environmentDisclosure")).get("cwd"))
                yield Described(self._id, at, origin, model=word(value.get("modelAlias")), cwd=cwd)
            case "turn.prompt":
                yield from self._prompted(prose(value.get("input")), at, origin)
            case "llm.request":
                yield self._heard(Phase.MODEL, at, origin)
            case "context.append_loop_event":
                yield from self._loop(obj(value.get("event")), at, origin)
            case "usage.record":
                usage = obj(value.get("usage"))
                self._tokens += sum(number(usage.get(key)) or 0 for key in _USED)
                yield Heard(self._id, None, origin, tokens=self._tokens or None)
            case "full_compaction.begin":
                self._asked_to_compact = value.get("source") == "manual"
                yield self._heard(Phase.MODEL, at, origin, "compacts its history")
            case "full_compaction.complete":
                yield self._heard(Phase.IDLE if self._asked_to_compact else Phase.MODEL, at, origin)
            case "turn.ended":
                yield self._heard(Phase.IDLE, at, origin)
            case "turn.cancel":
                self._calls.clear()
                yield self._heard(Phase.IDLE, at, origin, "cancelled")
            case None:
                message = obj(value.get("message"))
                yield from self._old_line(message.get("type"), obj(message.get("payload")), at, origin)

    def _prompted(self, text: str | None, at: Millis | None, origin: Origin) -> Iterator[Event]:
        text = _CONTEXT.sub("", text, count=1) if text and not self._is_main else text
        if text and not self._is_prompted:
            self._is_prompted = True
            # What the call says in a few words is the better title for a sub-agent, once it is known.
            yield Described(self._id, at if self._is_main else None, origin, title=title(text))
            yield Described(self._id, at, origin, prompt=clip(text))
        yield self._heard(Phase.MODEL, at, origin)

    def _loop(self, event: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        match event.get("type"):
            case "content.part":
                part = obj(event.get("part"))
                if part.get("type") == "text":
                    yield self._heard(Phase.MODEL, at, origin, title(word(part.get("text"))))
            case "tool.call":
                name = word(event.get("name")) or "tool"
                self._calls[str(event.get("toolCallId"))] = (name, obj(event.get("args")))
                yield self._now(at, origin)
            case "tool.result":
                name, arguments = self._calls.pop(str(event.get("toolCallId")), ("", {}))
                yield self._now(at, origin)
                if name in _SPAWNS:
                    output = prose(obj(event.get("result")).get("output")) or ""
                    yield from self._came_back(arguments, output, at, origin)
            case "step.end" if event.get("finishReason") == "end_turn":
                yield self._heard(Phase.IDLE, at, origin)

    def _came_back(self, arguments: dict[str, Any], output: str, at: Millis | None, origin: Origin) -> Iterator[Event]:
        """The result of a call names the agent it started, and how that ended."""
        head, _, answer = output.partition("\n\n")
        told = dict(_RESULT.findall(head))
        if "agent_id" not in told:
            return
        id = _row(self._session, told["agent_id"])
        kind = told.get("actual_subagent_type") or word(arguments.get("subagent_type"))
        refs = (("session_id", self._session), ("agent_id", told["agent_id"]))
        depth = 1 if self._is_main else None
        yield Started(id, None, origin, agent=kind, parent=self._id, depth=depth, refs=refs, product=PRODUCT)
        prompt = word(arguments.get("prompt"))
        about = title(word(arguments.get("description")) or prompt)
        yield Described(id, at, origin, title=about)
        yield Described(id, None, origin, prompt=clip(prompt))
        if told.get("status") in _ENDS:
            outcome, by = _ENDS[told["status"]]
            faults = (Fault(message=clip(answer)),) if outcome is Outcome.FAILED else ()
            summary = clip(answer.removeprefix("[summary]").strip())
            yield Ended(id, at, origin, outcome, by, Report(summary=summary, errors=faults))

    def _old_line(self, kind: object, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        """A line of the older Kimi CLI."""
        match kind:
            case "TurnBegin":
                yield from self._prompted(prose(payload.get("user_input")), at, origin)
            case "StepBegin":
                yield self._heard(Phase.MODEL, at, origin)
            case "ToolCall":
                function = obj(payload.get("function"))
                arguments = obj(parsed(function.get("arguments")))
                self._calls[str(payload.get("id"))] = (word(function.get("name")) or "tool", arguments)
                yield self._now(at, origin)
            case "ToolResult":
                self._calls.pop(str(payload.get("tool_call_id")), None)
                yield self._now(at, origin)
            case "ApprovalRequest":
                wanted = title(word(payload.get("description")) or word(payload.get("action")))
                yield self._heard(Phase.PERMISSION, at, origin, wanted, word(payload.get("sender")))
            case "ApprovalResponse" | "ApprovalRequestResolved":
                yield self._now(at, origin)
            case "TurnEnd" | "StepInterrupted":
                self._calls.clear()
                yield self._heard(Phase.IDLE, at, origin)
            case "SubagentEvent":
                yield from self._subagent(payload, at, origin)

    def _subagent(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        name = word(payload.get("agent_id"))
        if name is None:
            return
        id, kind = _row(self._session, name), word(payload.get("subagent_type"))
        yield Started(id, None, origin, agent=kind, parent=self._id, refs=(("agent_id", name),), product=PRODUCT)
        yield Heard(id, at, origin)

    def _now(self, at: Millis | None, origin: Origin) -> Heard:
        """What it is in the middle of: the tool it called last, else its model."""
        if not self._calls:
            return self._heard(Phase.MODEL, at, origin)
        tool, arguments = next(reversed(self._calls.values()))
        return self._heard(Phase.CHILD if tool in _SPAWNS else Phase.TOOL, at, origin, gist(arguments), tool)

    def _heard(
        self, phase: Phase, at: Millis | None, origin: Origin, doing: str | None = None, tool: str | None = None
    ) -> Heard:
        return Heard(self._id, at, origin, doing, tool, self._tokens or None, phase=phase)


def _row(session: str, agent: str) -> str:
    return session if agent == "main" else f"{session}/{agent}"


def _stem(path: str) -> str:
    """A name for a file that lies in no session's folder: its own, with the folder it lies in."""
    parts = path.replace("\\", "/").split("/")
    return "/".join(parts[-2:]).removesuffix(".jsonl").removesuffix(".json")


def _is_state(value: dict[str, Any]) -> bool:
    agents = [obj(agent) for agent in obj(value.get("agents")).values()]
    return bool(agents) and all("parentAgentId" in agent or "homedir" in agent for agent in agents)


def _is_meta(value: dict[str, Any]) -> bool:
    return isinstance(value.get("agent_id"), str) and "launch_spec" in value and "status" in value
