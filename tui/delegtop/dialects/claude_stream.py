"""The stream of Claude Code: what `claude -p --output-format stream-json --verbose` writes, from a pipe or a file.

A delegation is named by the tool call that asked for it, as in the transcripts, so both can be read together. Records
of tasks carry no time. The times of the records around them bound them from below, and a task tells how long it has
been running; later than that is known to nobody.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.claude_code.usage import Tokens
from delegtop.dialects.claude_code.wire import Usage
from delegtop.dialects.claude_words import (
    AGENT,
    PRODUCT,
    SPAWNS,
    answer,
    blocks,
    doing,
    is_refusal,
    new_tokens,
    outcome_of,
)
from delegtop.dialects.foreign import clip, moment, number, obj, objects, word
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

_TYPES = frozenset({"system", "assistant", "user", "result"})
_BACKGROUND = "Async agent launched"
_LAUNCHED = frozenset({"async_launched", "teammate_spawned", "remote_launched"})


class _Spawn:
    """One delegation, as far as the stream has told."""

    __slots__ = ("begun", "dated", "depth", "done_at", "ended")

    def __init__(self, depth: int | None, begun: Millis | None, dated: bool) -> None:
        self.depth = depth
        self.begun = begun
        """When it was asked for; or the last moment known before that."""
        self.dated = dated
        """Whether that is the moment itself."""
        self.done_at: Millis | None = None
        self.ended = False


class ClaudeStream(Dialect):
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

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._roots: set[str] = set()
        self._spawns: dict[str, _Spawn] = {}
        self._tasks: dict[tuple[str, str], str] = {}
        """The delegation each task of a session belongs to."""
        self._used: dict[str, int] = {}
        """Tokens of the turns of a session that are over."""
        self._tokens: dict[str, Tokens] = {}
        """Tokens of the messages of each row so far."""
        self._latest: Millis | None = None
        """The latest moment the stream has told: what comes after it is not older."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return max((_score(value) for value in objects(sample)), default=0)

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        session = word(value.get("session_id"))
        if session is None or value.get("type") not in _TYPES | {"control_request"}:
            return
        at = moment(value.get("timestamp"))
        if at is not None:
            self._latest = max(at, self._latest or at)
        if session not in self._roots:
            self._roots.add(session)
            refs = (("session_id", session),)
            yield Started(session, None, origin, agent=AGENT, depth=0, refs=refs, product=PRODUCT)
        row = self._speaker(session, value)
        yield from self._met(row, session, value, origin)
        match value["type"]:
            case "system":
                yield from self._system(session, value, origin)
            case "assistant":
                yield from self._assistant(row, value, at, origin)
            case "user":
                yield from self._user(row, value, at, origin)
            case "result":
                yield from self._result(session, value, origin)
            case "control_request":
                yield from self._asked(session, value, origin)

    def _speaker(self, session: str, value: dict[str, Any]) -> str:
        """Whose record it is: an agent's bears the call that started the agent."""
        task = word(value.get("agent_id"))
        known = self._tasks.get((session, task)) if task else None
        return known or word(value.get("parent_tool_use_id")) or session

    def _met(self, row: str, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """An agent whose start was not in the stream, which somebody began to record too late."""
        if row in self._roots or row in self._spawns:
            return
        self._spawns[row] = _Spawn(None, self._latest, dated=False)
        task = word(value.get("agent_id"))
        if task is not None:
            self._tasks[session, task] = row
        refs = (("session_id", session), *((("agent_id", task),) if task else ()), ("tool_use_id", row))
        kind = word(value.get("subagent_type"))
        yield Started(row, None, origin, agent=kind, parent=session, refs=refs, product=PRODUCT, guessed=True)
        yield Described(row, self._latest, origin, title=word(value.get("task_description")))

    # -- messages --------------------------------------------------------------------------------------------------

    def _assistant(self, row: str, value: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        message = obj(value.get("message"))
        model = word(message.get("model"))
        if model and not model.startswith("<"):
            yield Described(row, at, origin, model=model)
        if (used := self._count(row, message)) is not None:
            yield Heard(row, None, origin, tokens=used)
        for block in blocks(message.get("content")):
            name, call = word(block.get("name")), word(block.get("id"))
            if block.get("type") == "tool_use" and name:
                if name in SPAWNS and call:
                    yield from self._spawn(row, call, obj(block.get("input")), at, origin)
                phase = Phase.CHILD if name in SPAWNS else Phase.TOOL
                yield Heard(row, at, origin, doing=doing(name, block.get("input")), tool=name, phase=phase)
            elif said := word(block.get("text")):
                yield Heard(row, at, origin, doing=said[:200], phase=Phase.MODEL)
        if value.get("error") and (said := answer(message.get("content"))):
            yield Erred(row, at, origin, Fault(message=said, type=word(value["error"])))

    def _count(self, row: str, message: dict[str, Any]) -> int | None:
        id, usage = word(message.get("id")), obj(message.get("usage"))
        if id is None:
            return None
        keys = Usage.__struct_fields__
        self._tokens.setdefault(row, Tokens()).add(id, Usage(*(number(usage.get(key)) for key in keys)))
        return self._tokens[row].total

    def _spawn(self, row: str, call: str, given: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        above = self._spawns.get(row)
        depth = 1 if above is None and row in self._roots else above.depth + 1 if above and above.depth else None
        self._spawns.setdefault(call, _Spawn(depth, at or self._latest, at is not None))
        kind = word(given.get("subagent_type"))
        yield Started(call, at, origin, agent=kind, parent=row, depth=depth, product=PRODUCT)
        yield Described(
            call,
            at,
            origin,
            title=word(given.get("description")),
            name=word(given.get("name")),
            model=word(given.get("model")),
            prompt=clip(word(given.get("prompt"))),
        )

    def _user(self, row: str, value: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        results = [block for block in blocks(obj(value.get("message")).get("content")) if "tool_use_id" in block]
        for block in results:
            call = word(block["tool_use_id"])
            if call in self._spawns:
                yield from self._returned(call, block, value.get("tool_use_result"), at, origin)
        if results:
            yield Heard(row, at, origin, phase=Phase.MODEL)

    def _returned(
        self, call: str, block: dict[str, Any], told: Any, at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        """The result of a spawn. It is the end of the agent unless that only started in the background."""
        fields, said = obj(told), answer(block.get("content"))
        spawn = self._spawns[call]
        launched = fields.get("status") in _LAUNCHED or (said or "").startswith(_BACKGROUND)
        if spawn.ended or launched:
            return
        spawn.ended = True
        if block.get("is_error"):
            refused = is_refusal(said)
            report = Report() if refused else Report(errors=(Fault(message=said),))
            outcome = Outcome.INTERRUPTED if refused else Outcome.FAILED
            yield Ended(call, at, origin, outcome, Ending.CANCEL if refused else Ending.RETURN, report)
            return
        said = answer(fields.get("content")) or said
        outcome = outcome_of("completed", said) or Outcome.COMPLETED
        yield Ended(call, at, origin, outcome, Ending.RETURN, Report(summary=said))

    # -- the program itself ----------------------------------------------------------------------------------------

    def _system(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        match value.get("subtype"):
            case "init":
                yield Described(
                    session,
                    self._latest,
                    origin,
                    model=word(value.get("model")),
                    cwd=word(value.get("cwd")),
                    version=word(value.get("claude_code_version")),
                )
            case "task_started":
                yield from self._task_started(session, value, origin)
            case "task_progress":
                yield from self._progress(session, value, origin)
            case "task_updated":
                yield from self._task_updated(session, value, origin)
            case "task_notification":
                yield from self._notified(session, value, origin)

    def _row(self, session: str, value: dict[str, Any]) -> str | None:
        """The delegation a task record is about; None for tasks that are none, such as a shell."""
        return self._tasks.get((session, str(value.get("task_id"))))

    def _task_started(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        task, call = word(value.get("task_id")), word(value.get("tool_use_id"))
        if task is None or call is None or not str(value.get("task_type", "local_agent")).endswith("agent"):
            return
        known = self._tasks.get((session, task))
        if known is not None:  # an agent that had stopped got a message; the call is the one that sent it
            self._spawns[known].ended = False
            if self._latest is not None:
                yield Resumed(known, self._latest, origin)
            return
        self._tasks[session, task] = call
        above = word(value.get("parent_task_id"))
        parent = self._tasks.get((session, above)) if above else session
        depth = number(value.get("spawn_depth"))
        spawn = self._spawns.setdefault(call, _Spawn(depth, self._latest, dated=False))
        refs = (("session_id", session), ("agent_id", task), ("tool_use_id", call))
        yield Started(
            call,
            spawn.begun if spawn.dated else None,
            origin,
            agent=word(value.get("subagent_type")),
            parent=parent,
            depth=depth,
            refs=refs,
            product=PRODUCT,
        )
        title, prompt = word(value.get("description")), clip(word(value.get("prompt")))
        yield Described(call, spawn.begun, origin, title=title, prompt=prompt)
        if spawn.begun is not None:
            yield Heard(call, spawn.begun, origin, phase=Phase.MODEL)

    def _progress(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        row = self._row(session, value)
        if row is None:
            return
        usage = obj(value.get("usage"))
        ran, begun = number(usage.get("duration_ms")), self._spawns[row].begun
        moments = [self._latest, Millis(begun + ran) if begun is not None and ran is not None else None]
        at = max((each for each in moments if each is not None), default=None)
        tool = word(value.get("last_tool_name"))
        phase = Phase.CHILD if tool in SPAWNS else Phase.TOOL
        yield Heard(row, at, origin, doing=word(value.get("description")), tool=tool, phase=phase)

    def _task_updated(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        row, patch = self._row(session, value), obj(value.get("patch"))
        outcome = outcome_of(patch.get("status"), None)
        at = moment(patch.get("end_time"))
        if row is None or outcome is None or at is None:
            return
        self._spawns[row].done_at = at
        self._latest = max(at, self._latest or at)
        if outcome is not Outcome.COMPLETED:  # whether a completed one hides an error is told by what it came back with
            self._spawns[row].ended = True
            yield Ended(row, at, origin, outcome, _ending(outcome))

    def _notified(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        row, said = self._row(session, value), clip(word(value.get("summary")))
        outcome = outcome_of(value.get("status"), said)
        if row is None or outcome is None:
            return
        spawn = self._spawns[row]
        spawn.ended = True
        usage = obj(value.get("usage"))
        ran = number(usage.get("duration_ms"))
        if not spawn.dated and spawn.done_at is not None and ran is not None:
            spawn.dated = True
            yield Started(row, Millis(spawn.done_at - ran), origin, product=PRODUCT)
        report = Report(summary=said) if outcome is Outcome.COMPLETED else Report()
        if outcome is Outcome.FAILED:
            report = Report(errors=(Fault(message=said),))
        yield Ended(row, spawn.done_at, origin, outcome, _ending(outcome), report)

    def _result(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """The end of a turn. The session may be given another."""
        self._used[session] = self._used.get(session, 0) + (new_tokens(value.get("usage")) or 0)
        cost = value.get("total_cost_usd")
        spent = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0 else None
        yield Heard(
            session,
            self._latest,
            origin,
            doing=word(value.get("result")),
            tokens=self._used[session] or None,
            cost=spent,
            phase=Phase.IDLE,
        )
        if value.get("is_error"):
            said = word(value.get("result")) or word(value.get("subtype"))
            yield Erred(session, self._latest, origin, Fault(message=clip(said), type=word(value.get("subtype"))))

    def _asked(self, session: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """Whoever reads the stream is asked whether a tool may run."""
        request = obj(value.get("request"))
        tool = word(request.get("tool_name"))
        if request.get("subtype") != "can_use_tool" or tool is None:
            return
        row = self._speaker(session, request)
        what = doing(tool, request.get("input"))
        yield Heard(row, self._latest, origin, doing=what, tool=tool, phase=Phase.PERMISSION)


def _ending(outcome: Outcome) -> Ending:
    return Ending.CANCEL if outcome is Outcome.INTERRUPTED else Ending.RETURN


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
