"""The stream of Claude Code: what `claude -p --output-format stream-json --verbose` writes, from a pipe or a file.

A delegation is named by the tool call that asked for it, as in the transcripts, so both can be read together. Records
of tasks carry no time. The times of the records around them bound them from below, and a task tells how long it has
been running; later than that is known to nobody.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.claude_code import PRODUCT, claude_said
from delegtop.agents.claude_code.live_words import (
    AGENT,
    answer,
    blocks,
    charge,
    doing,
    is_refusal,
    new_tokens,
    outcome_of,
)
from delegtop.agents.claude_code.tools import LOOKS, SPAWNS
from delegtop.base.clock import Millis
from delegtop.base.text import cut
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.kit.coerce import clip, dollars, moment, number, obj, objects, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.dialects.signature import Signature
from delegtop.model.events import Fault, Outcome, Phase
from delegtop.model.spoken import Utterance
from delegtop.sources.records import Record

_TYPES = frozenset({"system", "assistant", "user", "result"})
_BACKGROUND = "Async agent launched"
_LAUNCHED = frozenset({"async_launched", "teammate_spawned", "remote_launched"})


class ClaudeStream(Chat):
    """Reads one stream; several runs may have been written after each other."""

    name: ClassVar[str] = "claude-stream"
    title: ClassVar[str] = "Claude Code, stream-json"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Claude Code, `--output-format stream-json`",
        "a pipe or a file",
        "tree, status, tool, tokens, cost, prompts, answers",
        Basis.MADE,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"session_id":', b'"subtype":')),
        Signature((b'"session_id":', b'"parent_tool_use_id":')),
        Signature((b'"session_id":', b'"duration_api_ms":')),
    )
    looking: ClassVar[frozenset[str]] = LOOKS
    phases: ClassVar[dict[str, Phase]] = dict.fromkeys(SPAWNS, Phase.CHILD)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._tasks: dict[tuple[str, str], Conversation] = {}
        """The delegation each task of a session belongs to."""
        self._begun: dict[str, tuple[Millis | None, bool]] = {}
        """When each was asked for, or the last moment known before that; and whether it is the moment itself."""
        self._done_at: dict[str, Millis] = {}
        self._used: dict[str, int] = {}
        """Tokens of the turns of a session that are over."""
        self._latest: Millis | None = None
        """The latest moment the stream has told: what comes after it is not older."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return max((_score(value) for value in objects(sample)), default=0)

    def tell(self, value: dict[str, Any]) -> None:
        session, kind = word(value.get("session_id")), word(value.get("type"))
        if session is None or kind not in _TYPES | {"control_request"}:
            return
        if self.at is not None:
            self._latest = max(self.at, self._latest or self.at)
        if session not in self.conversations:
            root = self.conversations[session] = Conversation(self, session)
            root.start(None, agent=AGENT, refs={"session_id": session})
        agent = self._speaker(session, value)
        match kind:
            case "assistant":
                self._assistant(agent, value)
            case "user":
                self._user(agent, value)
            case _:
                self.at = self._latest
                self._remark(self.conversations[session], kind, value)

    def _speaker(self, session: str, value: dict[str, Any]) -> Conversation:
        """Whose record it is: an agent's bears the call that started the agent."""
        task = word(value.get("agent_id"))
        call = word(value.get("parent_tool_use_id")) or session
        known = (self._tasks.get((session, task)) if task else None) or self.conversations.get(call)
        if known is None:  # its start was not in the stream, which somebody began to record too late
            known = self._agent(call, self._latest, is_dated=False)
            if task is not None:
                self._tasks[session, task] = known
            refs = {"session_id": session, "agent_id": task, "tool_use_id": call}
            known.start(None, agent=word(value.get("subagent_type")), parent=session, refs=refs, guessed=True)
            known.describe(self._latest, title=word(value.get("task_description")))
        return known

    def _agent(self, call: str, begun: Millis | None, *, is_dated: bool, depth: int | None = None) -> Conversation:
        """The delegation that a call is; a new one if it was not met before."""
        if call not in self.conversations:
            self.conversations[call] = Conversation(self, call, is_child=True, depth=depth)
            self._begun[call] = (begun, is_dated)
        return self.conversations[call]

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        return claude_said.said(records, self.moment, _whose)

    # -- messages --------------------------------------------------------------------------------------------------

    def _assistant(self, agent: Conversation, value: dict[str, Any]) -> None:
        message = obj(value.get("message"))
        model = word(message.get("model"))
        if model and not model.startswith("<"):
            agent.describe(model=model)
        if id := word(message.get("id")):
            agent.use(new_tokens(message.get("usage")) or 0, id, charge(message))
        for block in blocks(message.get("content")):
            name, given = word(block.get("name")), obj(block.get("input"))
            if block.get("type") == "tool_use" and name:
                call = word(block.get("id"))
                if name in SPAWNS and call:
                    self._spawn(agent, call, given)
                agent.call(call, name, given, doing=doing(name, given))
            elif said := word(block.get("text")):
                agent.go_on(cut(said, 200))
        if value.get("error") and (said := answer(message.get("content"))):
            agent.err(said, word(value["error"]), recoverable=None)

    def _spawn(self, agent: Conversation, call: str, given: dict[str, Any]) -> None:
        depth = None if agent.depth is None else agent.depth + 1
        self._agent(call, self.at or self._latest, is_dated=self.at is not None, depth=depth)
        agent.spawn(
            call,
            kind=word(given.get("subagent_type")),
            title=word(given.get("description")),
            name=word(given.get("name")),
            model=word(given.get("model")),
            prompt=clip(word(given.get("prompt"))),
        )

    def _user(self, agent: Conversation, value: dict[str, Any]) -> None:
        for block in blocks(obj(value.get("message")).get("content")):
            if "tool_use_id" in block:
                call = word(block["tool_use_id"])
                agent.result(call)
                if call in self._begun:
                    self._returned(self.conversations[call], block, obj(value.get("tool_use_result")))

    def _returned(self, agent: Conversation, block: dict[str, Any], told: dict[str, Any]) -> None:
        """The result of a spawn. It is the end of the agent unless that only started in the background."""
        said = answer(block.get("content"))
        launched = word(told.get("status")) in _LAUNCHED or (said or "").startswith(_BACKGROUND)
        if agent.ended or launched:
            return
        if block.get("is_error"):
            _end(agent, Outcome.INTERRUPTED if is_refusal(said) else Outcome.FAILED, said, self.at)
        else:
            said = answer(told.get("content")) or said
            _end(agent, outcome_of("completed", said) or Outcome.COMPLETED, said, self.at)

    # -- the program itself ----------------------------------------------------------------------------------------

    def _remark(self, root: Conversation, kind: object, value: dict[str, Any]) -> None:
        """A record of the program itself has no time of its own."""
        task = self._tasks.get((root.id, str(value.get("task_id"))))  # None for tasks that are none, such as a shell
        match value.get("subtype") if kind == "system" else kind:
            case "init":
                version = word(value.get("claude_code_version"))
                root.describe(model=word(value.get("model")), cwd=word(value.get("cwd")), version=version)
            case "task_started":
                self._task_started(root.id, value)
            case "task_progress" if task:
                self._progress(task, value)
            case "task_updated" if task:
                self._task_updated(task, obj(value.get("patch")))
            case "task_notification" if task:
                self._notified(task, value)
            case "result":
                self._result(root, value)
            case "control_request":
                self._asked(root.id, obj(value.get("request")))

    def _task_started(self, session: str, value: dict[str, Any]) -> None:
        task, call = word(value.get("task_id")), word(value.get("tool_use_id"))
        if task is None or call is None or not str(value.get("task_type", "local_agent")).endswith("agent"):
            return
        if known := self._tasks.get((session, task)):
            known.resume(anew=True)  # an agent that had stopped got a message; the call is the one that sent it
            return
        above = word(value.get("parent_task_id"))
        parent = self._tasks.get((session, above)) if above else self.conversations[session]
        depth = number(value.get("spawn_depth"))
        agent = self._tasks[session, task] = self._agent(call, self._latest, is_dated=False, depth=depth)
        begun, is_dated = self._begun.setdefault(call, (self._latest, False))
        refs = {"session_id": session, "agent_id": task, "tool_use_id": call}
        kind, above = word(value.get("subagent_type")), parent.id if parent else None
        self.started(call, begun if is_dated else None, kind, depth, above, refs)
        agent.describe(begun, title=word(value.get("description")), prompt=clip(word(value.get("prompt"))))
        if begun is not None:
            agent.hear(Phase.MODEL, at=begun)

    def _progress(self, agent: Conversation, value: dict[str, Any]) -> None:
        ran, begun = number(obj(value.get("usage")).get("duration_ms")), self._begun[agent.id][0]
        moments = [self._latest, Millis(begun + ran) if begun is not None and ran is not None else None]
        tool = word(value.get("last_tool_name"))
        at = max((each for each in moments if each is not None), default=None)
        agent.hear(self.phases.get(tool or "", Phase.TOOL), word(value.get("description")), tool, at)

    def _task_updated(self, agent: Conversation, patch: dict[str, Any]) -> None:
        outcome, at = outcome_of(patch.get("status"), None), moment(patch.get("end_time"))
        if outcome is None or at is None:
            return
        self._done_at[agent.id] = at
        self._latest = max(at, self._latest or at)
        if outcome is not Outcome.COMPLETED:  # whether a completed one hides an error is told by what it came back with
            agent.end(outcome, None, at)

    def _notified(self, agent: Conversation, value: dict[str, Any]) -> None:
        said, done = clip(word(value.get("summary"))), self._done_at.get(agent.id)
        outcome = outcome_of(value.get("status"), said)
        if outcome is None:
            return
        ran, (begun, is_dated) = number(obj(value.get("usage")).get("duration_ms")), self._begun[agent.id]
        if not is_dated and done is not None and ran is not None:
            self._begun[agent.id] = (begun, True)
            self.started(agent.id, Millis(done - ran))
        _end(agent, outcome, said, done)

    def _result(self, root: Conversation, value: dict[str, Any]) -> None:
        """The end of a turn. The session may be given another."""
        self._used[root.id] = self._used.get(root.id, 0) + (new_tokens(value.get("usage")) or 0)
        root.turn_over(word(value.get("result")))
        root.spent(max(root.tokens.total or 0, self._used[root.id]), dollars(value.get("total_cost_usd")), whole=True)
        if value.get("is_error"):
            kind = word(value.get("subtype"))
            root.err(word(value.get("result")) or kind, kind, recoverable=None)

    def _asked(self, session: str, request: dict[str, Any]) -> None:
        """Whoever reads the stream is asked whether a tool may run."""
        tool = word(request.get("tool_name"))
        if request.get("subtype") == "can_use_tool" and tool is not None:
            self._speaker(session, request).permission(doing(tool, request.get("input")), tool)


def _end(agent: Conversation, outcome: Outcome, said: str | None, at: Millis | None) -> None:
    if outcome is Outcome.FAILED:
        agent.end(outcome, None, at, fault=Fault(message=said))
    else:
        agent.end(outcome, said if outcome is Outcome.COMPLETED else None, at)


def _score(value: dict[str, Any]) -> int:
    """How much one object looks like a record of the stream. Transcripts spell the session another way."""
    if word(value.get("session_id")) is None or "hook_event_name" in value:
        return 0
    match value.get("type"):
        case "system":
            return 95 if word(value.get("subtype")) else 0
        case "assistant" | "user":
            return 90 if "parent_tool_use_id" in value and obj(value.get("message")) else 0
        case "result":
            return 90 if "duration_api_ms" in value else 0
        case _:
            return 0


def _whose(value: dict[str, Any]) -> str | None:
    """The agent that a record is of, by the call that started it, else the session."""
    return word(value.get("parent_tool_use_id")) or word(value.get("session_id"))
