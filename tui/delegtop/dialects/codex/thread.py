"""The story of one Codex thread, as its own file tells it, and what that file says of the threads it spawned."""

import copy
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from delegtop.clock import Millis
from delegtop.dialects.codex.calls import Call, call_of
from delegtop.dialects.codex.children import Children
from delegtop.dialects.codex.names import DEFAULT_ROLE, PRODUCT, is_older
from delegtop.dialects.foreign import clip, items, moment, number, obj, parsed, prose, title, word
from delegtop.dialects.repeats import Repeats, words_of
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

_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_APPROVALS = frozenset({"exec_approval_request", "apply_patch_approval_request", "request_permissions"})
_QUESTIONS = frozenset({"request_user_input", "elicitation_request"})


def _tokens(payload: dict[str, Any]) -> int | None:
    """All tokens up to a count, without those that were read from a cache."""
    total = obj(obj(payload.get("info")).get("total_token_usage"))
    count = number(total.get("total_tokens"))
    return None if count is None else max(count - (number(total.get("cached_input_tokens")) or 0), 0)


def thread_of(meta: dict[str, Any]) -> "Thread | None":
    """The thread whose file begins with that meta; None for one that Codex started for itself."""
    source = obj(meta.get("source"))
    spawn = obj(obj(source.get("subagent")).get("thread_spawn"))
    if "internal" in source or ("subagent" in source and not spawn):
        return None
    thread = Thread(str(meta["id"]))
    thread.is_child = bool(spawn) or bool(word(meta.get("parent_thread_id")))
    thread.depth = number(spawn.get("depth")) if thread.is_child else 0
    thread.children.depth = None if thread.depth is None else thread.depth + 1
    thread.runs_once = meta.get("source") == "exec"
    thread.own_from = number(meta.get("subagent_history_start_ordinal"))
    thread.inherits = thread.is_child or bool(word(meta.get("forked_from_id")))
    return thread


class Thread:
    """What is known so far, and what each further record adds."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.is_child = False
        self.depth: int | None = None
        self.runs_once = False
        """Nobody can give it another prompt."""
        self.own_from: int | None = None
        """The first ordinal that is its own."""
        self.inherits = False
        """Until its own first turn, what the file holds is another thread's."""
        self.own_place = 0
        self.inherited_tokens = 0
        """A thread that begins with another's history goes on with its count."""
        self.has_turned = False
        self.turn: str | None = None
        self.has_ended = False
        self.is_prompted = False
        self.calls: dict[str, Call] = {}
        self.repeats = Repeats()
        self.children = Children(id)
        self.now: tuple[Phase | None, str | None, str | None] = (None, None, None)

    def copy(self) -> "Thread":
        """The same, for retelling a line without a trace; every line of the file may be its own then."""
        twin = copy.copy(self)
        twin.calls, twin.children = dict(self.calls), copy.deepcopy(self.children)
        twin.repeats = Repeats()
        twin.turn, twin.is_prompted, twin.has_ended = None, False, False
        return twin

    def tell(
        self,
        value: dict[str, Any],
        kind: object,
        payload: dict[str, Any],
        at: Millis | None,
        origin: Origin,
        zone: tzinfo,
    ) -> Iterator[Event]:
        """The events of one record."""
        if kind == "session_meta":
            yield from self._meta(payload, at, origin, zone)
            return
        if not self._is_own(value, payload, origin):
            self.inherited_tokens = _tokens(payload) or self.inherited_tokens
            return
        match kind:
            case "event_msg":
                yield from self._event(payload, at, origin)
            case "response_item":
                yield from self._item(payload, at, origin)
            case "turn_context":
                yield Described(self.id, at, origin, model=word(payload.get("model")))
            case "compacted":
                yield self._heard(at, origin, Phase.MODEL, "compacted its history")

    # -- whose record it is ----------------------------------------------------------------------------------------

    def _is_own(self, value: dict[str, Any], payload: dict[str, Any], origin: Origin) -> bool:
        ordinal = number(value.get("ordinal"))
        if self.own_from is not None and ordinal is not None:
            return ordinal >= self.own_from
        if self.inherits and payload.get("type") == "task_started" and not is_older(payload.get("turn_id"), self.id):
            self.inherits = False
            self.own_place = origin.offset
        return not self.inherits and origin.offset >= self.own_place

    def _own_tokens(self, counted: int | None) -> int | None:
        if counted is None:
            return None
        if counted < self.inherited_tokens:  # it did not go on with that count after all
            self.inherited_tokens = 0
        return counted - self.inherited_tokens

    def _meta(self, meta: dict[str, Any], at: Millis | None, origin: Origin, zone: tzinfo) -> Iterator[Event]:
        if meta.get("id") != self.id:
            self.inherits = self.inherits or not self.has_turned
            return
        spawn = obj(obj(obj(meta.get("source")).get("subagent")).get("thread_spawn"))
        role = word(meta.get("agent_role")) or word(spawn.get("agent_role"))
        refs = [
            ("thread_id", self.id),
            ("session_id", word(meta.get("session_id"))),
            ("agent_path", spawn.get("agent_path")),
        ]
        started = moment(meta.get("timestamp"), zone) or at
        yield Started(
            self.id,
            started,
            origin,
            agent=role or (DEFAULT_ROLE if self.is_child else PRODUCT),
            depth=self.depth,
            parent=word(meta.get("parent_thread_id")) or word(spawn.get("parent_thread_id")),
            refs=tuple((name, id) for name, id in refs if isinstance(id, str) and id),
            product=PRODUCT,
        )
        yield Described(
            self.id,
            started,
            origin,
            name=word(meta.get("agent_nickname")) or word(spawn.get("agent_nickname")),
            cwd=word(meta.get("cwd")),
            version=word(meta.get("cli_version")),
        )

    # -- its turns -------------------------------------------------------------------------------------------------

    def _event(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        kind = payload.get("type")
        match kind:
            case "task_started" | "turn_started":
                yield from self._turn_started(payload, at, origin)
            case "task_complete" | "turn_complete":
                yield from self._turn_complete(payload, at, origin)
            case "turn_aborted":
                yield from self._turn_aborted(payload, at, origin)
            case "token_count":
                phase, doing, tool = self.now
                yield Heard(self.id, at, origin, doing, tool, self._own_tokens(_tokens(payload)), None, phase)
            case "user_message":
                yield from self._prompt(word(payload.get("message")), at, origin)
            case "item_completed":
                yield from self._completed(obj(payload.get("item")), payload, at, origin)
            case "sub_agent_activity":
                yield from self._activity(payload, moment(payload.get("occurred_at_ms")) or at, origin)
            case "collab_agent_spawn_end":
                told = {"message": payload.get("prompt"), "agent_type": payload.get("new_agent_role")}
                nickname = word(payload.get("new_agent_nickname"))
                child, by = word(payload.get("new_thread_id")), word(payload.get("call_id"))
                yield from self.children.spawned(child, nickname, told, at, origin, by)
            case "error":
                yield Erred(self.id, at, origin, _fault(payload, recoverable=True))
            case "stream_error":
                yield self._heard(at, origin, Phase.MODEL, title(word(payload.get("message"))))
            case "context_compacted":
                yield self._heard(at, origin, Phase.MODEL, "compacted its history")
            case str() if kind in _APPROVALS:
                call = call_of({"name": kind, "arguments": payload}, at)
                yield self._heard(at, origin, Phase.PERMISSION, call.doing, self.now[2])
            case str() if kind in _QUESTIONS:
                yield self._heard(at, origin, Phase.ANSWER, title(word(payload.get("message"))), self.now[2])

    def _turn_started(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        self.turn = word(payload.get("turn_id"))
        self.has_turned = True
        self.calls.clear()
        yield from self.repeats.over(self.id, at, origin)
        if self.has_ended and at is not None:
            self.has_ended = False
            yield Resumed(self.id, at, origin)
        yield self._heard(at, origin, Phase.MODEL)

    def _turn_complete(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        if not self._is_current(payload):
            return
        answer = clip(word(payload.get("last_agent_message")))
        error = payload.get("error")
        if not error:
            yield from self._over(Outcome.COMPLETED, Report(summary=answer), at, origin, final=self.is_child)
            return
        fault = _fault(error, recoverable=True if not (self.is_child or self.runs_once) else None)
        if not (self.is_child or self.runs_once):
            yield Erred(self.id, at, origin, fault)
        report = Report(summary=answer or fault.message, errors=(fault,))
        yield from self._over(Outcome.FAILED, report, at, origin, final=self.is_child or self.runs_once)

    def _turn_aborted(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        if not self._is_current(payload):
            return
        report = Report(summary=word(payload.get("reason")))
        yield from self._over(Outcome.INTERRUPTED, report, at, origin, final=self.is_child or self.runs_once)

    def _over(
        self, outcome: Outcome, report: Report, at: Millis | None, origin: Origin, final: bool
    ) -> Iterator[Event]:
        """A turn is over: with it the delegation, unless a person can give it another."""
        self.turn = None
        self.calls.clear()
        yield from self.repeats.over(self.id, at, origin)
        if not final:
            doing = None if outcome is Outcome.COMPLETED else str(outcome)
            yield self._heard(at, origin, Phase.IDLE, doing)
            return
        self.has_ended = True
        by = Ending.CANCEL if outcome is Outcome.INTERRUPTED else Ending.RETURN
        yield Ended(self.id, at, origin, outcome, by, report)

    def _is_current(self, payload: dict[str, Any]) -> bool:
        turn = payload.get("turn_id")
        return self.turn is None or not isinstance(turn, str) or turn == self.turn

    def _prompt(self, text: str | None, at: Millis | None, origin: Origin) -> Iterator[Event]:
        if text and not self.is_prompted:
            self.is_prompted = True
            yield Described(self.id, at, origin, title=title(text), prompt=clip(text))

    # -- what it does ----------------------------------------------------------------------------------------------

    def _item(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        kind = word(payload.get("type"))
        if kind in _CALLS:
            yield from self._called(payload, at, origin)
        elif kind in _RESULTS:
            yield from self._returned(payload, at, origin)
        elif kind == "message" and payload.get("role") == "assistant":
            yield self._heard(at, origin, Phase.MODEL, title(prose(payload.get("content"))))
        elif kind == "message" and payload.get("role") == "user":
            self.children.notified(prose(payload.get("content")) or "")
        elif kind == "agent_message":
            self.children.answered(payload)
        elif kind in ("reasoning", "web_search_call"):
            yield self._heard(at, origin, Phase.MODEL)

    def _called(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        call = call_of(payload, at)
        self.calls[word(payload.get("call_id")) or word(payload.get("id")) or ""] = call
        yield self._heard(at, origin, call.phase, call.doing, call.tool)
        given = words_of(call.given)
        yield from self.repeats.called(self.id, at, origin, call.tool, given, call.doing, waits=call.waits)
        if at is not None:
            yield from self.children.called(call, at, origin)

    def _returned(self, payload: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        call = self.calls.pop(word(payload.get("call_id")) or "", None)
        open_call = next(reversed(self.calls.values()), None)
        if open_call is None:
            yield self._heard(at, origin, Phase.MODEL)
        else:
            yield self._heard(at, origin, open_call.phase, open_call.doing, open_call.tool)
        if call is not None:
            output = obj(parsed(_plain(payload.get("output"))))
            yield from self.children.returned(call, output, at, origin, word(payload.get("call_id")))

    def _activity(self, activity: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        requests = [call.arguments for call in self.calls.values() if call.tool == "spawn_agent"]
        yield from self.children.activity(activity, requests, at, origin)

    def _completed(
        self, item: dict[str, Any], payload: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        match item.get("type"):
            case "UserMessage":
                yield from self._prompt(prose(item.get("content")), at, origin)
            case "SubAgentActivity":
                yield from self._activity(item, moment(payload.get("completed_at_ms")) or at, origin)

    def _heard(
        self, at: Millis | None, origin: Origin, phase: Phase, doing: str | None = None, tool: str | None = None
    ) -> Heard:
        self.now = (phase, doing, tool)
        return Heard(self.id, at, origin, doing, tool, phase=phase)


def _fault(error: object, recoverable: bool | None) -> Fault:
    told = obj(error)
    info = told.get("codex_error_info")
    kind = word(info) or next(iter(obj(info)), None)
    return Fault(message=clip(word(error) or word(told.get("message"))), type=kind, recoverable=recoverable)


def _plain(output: object) -> object:
    """The text of an output, which may be wrapped."""
    inner = obj(output).get("content")
    return prose(items(output)) if isinstance(output, list) else prose(inner) if inner else output
