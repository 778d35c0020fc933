"""Kimi Code and the older Kimi CLI: a wire log for each agent, and documents that say whose agent it is and what
became of one in the background.

Neither session nor agent is named in each line: the folders are called after them. A main agent stands for its session.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.kimi import PRODUCT, kimi_said
from delegtop.base.clock import Millis
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import clip, document, number, obj, objects, parsed, prose, title, word
from delegtop.dialects.kit.conversation import ENDS, Chat, Conversation
from delegtop.dialects.kit.tokens import charge_of
from delegtop.dialects.signature import Signature
from delegtop.model.events import Described, Heard, Phase
from delegtop.model.spoken import Utterance
from delegtop.sources.records import Record

_SPAWNS = dict.fromkeys(("Agent", "AgentSwarm", "Task"), Phase.CHILD)
_SESSION = re.compile(r"(?:^|[/\\])(session_[^/\\]+)")
_AGENT = re.compile(r"[/\\]agents[/\\]([^/\\]+)[/\\][^/\\]+$")
_OLD = re.compile(r"[/\\]([^/\\]+)(?:[/\\]subagents[/\\]([^/\\]+))?[/\\](?:wire\.jsonl|meta\.json)$")
_TASK = re.compile(r"[/\\]agents[/\\]([^/\\]+)[/\\]tasks[/\\][^/\\]+$")
_RESULT = re.compile(r"^(agent_id|actual_subagent_type|status|stop_reason): *(\S+) *$", re.MULTILINE)
_REASON = re.compile(
    r"\A(?:subagent error: )?The subagent was stopped before it finished\. Reason: *(.+)$", re.MULTILINE
)
_CONTEXT = ("<git-context>", "</git-context>")
"""What Kimi Code puts before the prompt of a sub-agent by itself stands between these."""
_USED = ("inputOther", "output", "inputCacheCreation", "inputCacheRead")


class Kimi(Chat):
    """Reads wire logs and the documents beside them. An instance reads one file."""

    name: ClassVar[str] = "kimi"
    title: ClassVar[str] = "Kimi Code wire log"
    surest: ClassVar[int] = 90
    about: ClassVar[About] = About(
        "Kimi Code 2.1 (wire 1.1 to 1.5), Kimi CLI",
        "`~/.kimi-code/sessions/**` (`~/.kimi/sessions/**`): `wire.jsonl`, `state.json`, `tasks/*.json`, `meta.json`",
        "tree, status, tool, retries, tokens, prompts, answers",
        Basis.MADE,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"agents":', b'"parentAgentId":')),
        Signature((b'"agents":', b'"homedir":')),
        Signature((b'"agent_id":', b'"launch_spec":')),
        Signature((b'"taskId":', b'"agentId":', b'"detached":')),
        Signature((b'"metadata"', b'"protocol_version":')),
    )
    phases: ClassVar[dict[str, Phase]] = {**_SPAWNS, "AskUserQuestion": Phase.ANSWER}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._session = ""
        self._asked_to_compact = False
        self._why: str | None = None
        """Why the last step was broken off."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if _is_document(document(sample)):
            return 90
        first = next(objects(sample), {})
        return 90 if first.get("type") == "metadata" and "protocol_version" in first else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        return Unit.DOCUMENT if _is_document(document(sample)) else Unit.LINES

    def tell(self, value: dict[str, Any]) -> None:
        if _is_state(value):
            self._state(value)
        elif _is_meta(value):
            self._meta(value)
        elif _is_task(value):
            self._task(value)
        elif value.get("type") == "metadata":
            self._begin(value)
        elif agent := self.conversations.get(self.origin.source):
            self.at = self.moment(value.get("time")) or self.at
            self._line(agent, value)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        return kimi_said.said(records, self.moment)

    # -- who is whose ----------------------------------------------------------------------------------------------

    def _state(self, state: dict[str, Any]) -> None:
        """Kimi Code: all agents of a session, each with its parent."""
        agents = {name: obj(told) for name, told in obj(state.get("agents")).items()}
        homes = [word(told.get("homedir")) or "" for told in agents.values()]
        found = next((found for path in (*homes, self.origin.source) if (found := _SESSION.search(path))), None)
        session = found[1] if found else _stem(self.origin.source).removesuffix(".state")
        at = self.moment(state.get("createdAt"))
        for name, told in agents.items():
            id, parent = _row(session, name), word(told.get("parentAgentId"))
            is_main = parent is None and told.get("type") != "sub"
            who, depth = (PRODUCT.name, 0) if is_main else (word(obj(told.get("labels")).get("profileName")), None)
            above = None if parent is None else _row(session, parent)
            refs = {"session_id": session, "agent_id": name}
            self.started(id, at if is_main else None, who, depth, above, refs, listed=True)
            about = title(word(state.get("title"))) if is_main else None
            self.events += (
                Described(id, at, self.origin, title=about, cwd=word(state.get("workDir")) or word(state.get("cwd"))),
                Heard(id, at, self.origin),
            )

    def _task(self, task: dict[str, Any]) -> None:
        """Kimi Code: an agent in the background, and what became of it."""
        session, owner = _SESSION.search(self.origin.source), _TASK.search(self.origin.source)
        if session is None or owner is None:  # taken out of its folder it does not say whose it is
            return
        id, name = _row(session[1], str(task["agentId"])), str(task["agentId"])
        parent, refs = _row(session[1], owner[1]), {"session_id": session[1], "agent_id": name}
        kind, depth = word(task.get("subagentType")), 1 if owner[1] == "main" else None
        self.started(id, None, kind, depth, parent, {**refs, "task_id": word(task.get("taskId"))})
        about = title(word(task.get("description")))
        self.events.append(Described(id, self.moment(task.get("startedAt")), self.origin, title=about))
        self._over(id, word(task.get("status")), None, self.moment(task.get("endedAt")))

    def _over(self, id: str, status: str | None, said: str | None, at: Millis | None) -> None:
        """An agent is over, as somebody else tells it."""
        if status in ENDS:
            self.events.append(self.ending(id, ENDS[status], said, at))

    def _meta(self, meta: dict[str, Any]) -> None:
        """Kimi CLI: one sub-agent, and how it stands."""
        name, spec = str(meta["agent_id"]), obj(meta.get("launch_spec"))
        found = _OLD.search(self.origin.source)
        session = found[1] if found else None
        agent = self.conversation(_row(session, name) if session else name, is_child=True)
        self.at = self.moment(meta.get("created_at")) or self.moment(spec.get("created_at"))
        kind = word(meta.get("subagent_type")) or word(spec.get("subagent_type"))
        agent.start(agent=kind, parent=session, refs={"agent_id": name, "session_id": session})
        model = word(spec.get("effective_model")) or word(spec.get("model_override"))
        agent.describe(title=title(word(meta.get("description"))), model=model)
        self.at = self.moment(meta.get("updated_at")) or self.at
        status = word(meta.get("status"))
        if status in ENDS:
            agent.end(ENDS[status])
        elif status == "idle":
            agent.rest()

    def _begin(self, value: dict[str, Any]) -> None:
        """Whose wire this is, by the folders it lies in; a file elsewhere stands for itself."""
        path = self.origin.source
        session, agent, old = _SESSION.search(path), _AGENT.search(path), _OLD.search(path)
        parent = None
        if session:
            self._session, name = session[1], agent[1] if agent else "main"
        elif old:
            self._session, name = old[1], old[2] or "main"
            parent = self._session if old[2] else None
        else:
            self._session, name = _stem(path), "main"
        refs = {"session_id": self._session, "agent_id": name}
        self.conversation(_row(self._session, name), is_child=name != "main").start(
            self.moment(value.get("created_at")), parent=parent, refs=refs
        )

    # -- the wire --------------------------------------------------------------------------------------------------

    def _line(self, agent: Conversation, value: dict[str, Any]) -> None:
        match value.get("type"):
            case "config.update" | "profile.bind":
                kind = word(value.get("profileName"))
                if kind and agent.is_child:
                    agent.start(None, agent=kind)
                cwd = word(value.get("cwd")) or word(obj(value.get("environmentDisclosure")).get("cwd"))
                agent.describe(model=word(value.get("modelAlias")), cwd=cwd)
            case "turn.prompt":
                self._prompted(agent, prose(value.get("input")))
            case "llm.request":
                agent.ask()
            case "permission.set_mode":
                agent.mode = word(value.get("mode"))
            case "context.append_loop_event":
                self._loop(agent, obj(value.get("event")))
            case "usage.record":
                usage = obj(value.get("usage"))
                into, out, written, read = (number(usage.get(key)) or 0 for key in _USED)
                charge = charge_of(word(value.get("model")), (into, out, read, written, 0))
                agent.use(into + out + written, None, charge)
            case "full_compaction.begin":
                self._asked_to_compact = value.get("source") == "manual"
                agent.hear(Phase.MODEL, "compacts its history")
            case "full_compaction.complete":
                agent.hear(Phase.IDLE if self._asked_to_compact else Phase.MODEL)
            case "turn.step.retrying":
                why = word(value.get("errorMessage")) or word(value.get("errorName"))
                said = f"retry {value.get('nextAttempt')} of {value.get('maxAttempts')}: {why or 'error'}"
                agent.state = (Phase.MODEL, title(said), None)  # the request itself is told, too
                agent.hear_again()
            case "turn.step.interrupted":
                self._why = word(value.get("message"))
            case "turn.ended":
                self._turn_ended(agent, word(value.get("reason")), obj(value.get("error")))
            case "turn.cancel":
                agent.turn_over("cancelled")
            case "task.started" | "task.terminated":
                self._background(obj(value.get("info")), word(value.get("outputTail")))
            case str(kind) if kind.startswith("subagent.") and (name := word(value.get("subagentId"))):
                self._subagent(agent, kind.removeprefix("subagent."), name, value)
            case None:
                message = obj(value.get("message"))
                self._old_line(agent, message.get("type"), obj(message.get("payload")))

    def _turn_ended(self, agent: Conversation, reason: str | None, error: dict[str, Any]) -> None:
        """The turn of a session is over, and it rests. An agent that was called is over with it if it did not come
        through; that it did, its caller says, with the answer."""
        message = word(error.get("message")) or self._why
        if agent.is_child and reason in ("cancelled", "failed"):
            agent.end(ENDS[reason], message)
            return
        if reason == "failed":
            agent.err(message, word(error.get("name")))
        agent.turn_over("cancelled" if reason == "cancelled" else None)

    def _subagent(self, agent: Conversation, event: str, name: str, value: dict[str, Any]) -> None:
        """What a wire tells of an agent that was called from it."""
        id = _row(self._session, name)
        if event == "spawned":
            agent.spawn(
                id,
                None,  # its own wire is older than this word
                call=word(value.get("parentToolCallId")),
                kind=word(value.get("subagentName")),
                refs={"session_id": self._session, "agent_id": name, "task_id": word(value.get("taskId"))},
                title=title(word(value.get("description"))),
                model=word(value.get("model")),
            )
        elif event in ENDS:
            self._over(id, event, word(value.get("resultSummary")) or word(value.get("error")), self.at)

    def _background(self, info: dict[str, Any], said: str | None) -> None:
        if info.get("kind") == "agent" and (name := word(info.get("agentId"))):
            self._over(_row(self._session, name), word(info.get("status")), said, self.moment(info.get("endedAt")))

    def _prompted(self, agent: Conversation, text: str | None) -> None:
        agent.prompt(_without_context(text) if text and agent.is_child else text)

    def _loop(self, agent: Conversation, event: dict[str, Any]) -> None:
        id = word(event.get("toolCallId"))
        match event.get("type"):
            case "content.part":
                part = obj(event.get("part"))
                if part.get("type") == "text":
                    agent.go_on(title(word(part.get("text"))))
            case "tool.call":
                agent.call(id, word(event.get("name")), obj(event.get("args")))
            case "tool.result":
                call = agent.result(id)
                if call is not None and call.tool in _SPAWNS:
                    self._came_back(agent, call.arguments, prose(obj(event.get("result")).get("output")) or "")
            case "step.end" if event.get("finishReason") == "end_turn":
                agent.turn_over()

    def _came_back(self, agent: Conversation, arguments: dict[str, Any], output: str) -> None:
        """The result of a call names the agent it started, and how that ended."""
        head, _, answer = output.partition("\n\n")
        told = dict(_RESULT.findall(head))
        if "agent_id" not in told:
            return
        id = _row(self._session, told["agent_id"])
        prompt = word(arguments.get("prompt"))
        agent.spawn(
            id,
            None,
            kind=told.get("actual_subagent_type") or word(arguments.get("subagent_type")),
            refs={"session_id": self._session, "agent_id": told["agent_id"]},
            title=title(word(arguments.get("description")) or prompt),
            prompt=clip(prompt),
        )
        status = "cancelled" if told.get("stop_reason") == "stopped" else told.get("status")
        reason = _REASON.search(answer)
        self._over(id, status, reason[1] if reason else answer.removeprefix("[summary]").strip(), self.at)

    def _old_line(self, agent: Conversation, kind: object, payload: dict[str, Any]) -> None:
        """A line of the older Kimi CLI."""
        match kind:
            case "TurnBegin":
                self._prompted(agent, prose(payload.get("user_input")))
            case "StepBegin":
                agent.hear(Phase.MODEL)
            case "ToolCall":
                function = obj(payload.get("function"))
                arguments = obj(parsed(function.get("arguments")))
                agent.call(word(payload.get("id")), word(function.get("name")), arguments)
            case "ToolResult":
                agent.result(word(payload.get("tool_call_id")))
            case "ApprovalRequest":
                wanted = title(word(payload.get("description")) or word(payload.get("action")))
                agent.permission(wanted, word(payload.get("sender")))
            case "ApprovalResponse" | "ApprovalRequestResolved":
                agent.go_on()
            case "TurnEnd" | "StepInterrupted":
                agent.turn_over()
            case "SubagentEvent" if name := word(payload.get("agent_id")):
                id = _row(self._session, name)
                agent.spawn(id, None, kind=word(payload.get("subagent_type")), refs={"agent_id": name})
                self.events.append(Heard(id, self.at, self.origin))


def _without_context(text: str) -> str:
    before, begins, rest = text.partition(_CONTEXT[0])
    _, ends, after = rest.partition(_CONTEXT[1])
    return before.rstrip() + after.lstrip() if begins and ends else text


def _row(session: str, agent: str) -> str:
    return session if agent == "main" else f"{session}/{agent}"


def _stem(path: str) -> str:
    """A name for a file that lies in no session's folder: its own, with the folder it lies in."""
    parts = path.replace("\\", "/").split("/")
    return "/".join(parts[-2:]).removesuffix(".jsonl").removesuffix(".json")


def _is_state(value: dict[str, Any]) -> bool:
    agents = [obj(agent) for agent in obj(value.get("agents")).values()]
    return bool(agents) and all("parentAgentId" in agent or "homedir" in agent for agent in agents)


def _is_document(value: dict[str, Any]) -> bool:
    return _is_state(value) or _is_meta(value) or _is_task(value)


def _is_task(value: dict[str, Any]) -> bool:
    named = all(word(value.get(key)) for key in ("taskId", "agentId", "status"))
    return named and value.get("kind") == "agent" and "detached" in value


def _is_meta(value: dict[str, Any]) -> bool:
    return isinstance(value.get("agent_id"), str) and "launch_spec" in value and "status" in value
