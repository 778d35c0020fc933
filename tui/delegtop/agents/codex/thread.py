"""The story of one Codex thread, as its own file tells it, and what that file says of the threads it spawned."""

import copy
from typing import Any, Self

from delegtop.agents.codex.calls import doing_of, make_call
from delegtop.agents.codex.children import Children
from delegtop.agents.codex.names import DEFAULT_ROLE, is_older
from delegtop.dialects.kit.coerce import clip, items, number, obj, parsed, prose, title, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.model.events import Fault, Outcome, Phase
from delegtop.model.usage import NO_COUNTS, Counts, account_of

_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_APPROVALS = frozenset({"exec_approval_request", "apply_patch_approval_request", "request_permissions"})
_QUESTIONS = frozenset({"request_user_input", "elicitation_request"})


def _tokens(payload: dict[str, Any]) -> int | None:
    """All tokens up to a count, without those that were read from a cache."""
    total = obj(obj(payload.get("info")).get("total_token_usage"))
    count = number(total.get("total_tokens"))
    return None if count is None else max(count - (number(total.get("cached_input_tokens")) or 0), 0)


def _kinds(payload: dict[str, Any], of: str) -> Counts | None:
    """The tokens of a count by kind: what was read from a cache, and written to one, is part of the input there."""
    told = obj(obj(payload.get("info")).get(of))
    into, out = number(told.get("input_tokens")), number(told.get("output_tokens"))
    if into is None or out is None:
        return None
    read, written = (number(told.get(key)) or 0 for key in ("cached_input_tokens", "cache_write_input_tokens"))
    return max(into - read - written, 0), out, read, written, 0


def thread_of(chat: Chat, meta: dict[str, Any]) -> "Thread | None":
    """The thread whose file begins with that meta; None for one that Codex started for itself."""
    source = obj(meta.get("source"))
    spawn = obj(obj(source.get("subagent")).get("thread_spawn"))
    if "internal" in source or ("subagent" in source and not spawn):
        return None
    is_child = bool(spawn) or bool(word(meta.get("parent_thread_id")))
    thread = Thread(chat, str(meta["id"]), is_child=is_child, depth=number(spawn.get("depth")))
    thread.runs_once = meta.get("source") == "exec"
    thread.own_from = number(meta.get("subagent_history_start_ordinal"))
    thread.inherits = thread.is_child or bool(word(meta.get("forked_from_id")))
    return thread


class Thread(Conversation):
    """What is known so far, and what each further record adds."""

    def __init__(self, chat: Chat, id: str, *, is_child: bool = False, depth: int | None = None) -> None:
        super().__init__(chat, id, is_child=is_child, depth=depth)
        self.runs_once = False
        """Nobody can give it another prompt."""
        self.own_from: int | None = None
        """The first ordinal that is its own."""
        self.inherits = False
        """Until its own first turn, what the file holds is another thread's."""
        self.own_place = 0
        self.inherited_tokens = 0
        """A thread that begins with another's history goes on with its count."""
        self.counted: Counts = NO_COUNTS
        """The last count of each kind of tokens, its own or inherited: from there on it is charged."""
        self.model: str | None = None
        self.has_turned = False
        self.turn: str | None = None
        self.has_account = False
        """Nothing was heard of it since its tokens were counted."""
        self.children = Children(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = super().__deepcopy__(memo)
        twin.turn, twin.children = None, copy.deepcopy(self.children, memo)
        return twin

    def tell(self, value: dict[str, Any], kind: object, payload: dict[str, Any]) -> None:
        """Say what one record tells."""
        if kind == "session_meta":
            self._meta(payload)
        elif not self._is_own(value, payload):
            self.inherited_tokens = _tokens(payload) or self.inherited_tokens
            self.counted = _kinds(payload, "total_token_usage") or self.counted
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "response_item":
            self._item(payload)
        elif kind == "turn_context":
            self.mode = word(payload.get("approval_policy")) or self.mode
            self.model = word(payload.get("model")) or self.model
            self.describe(model=word(payload.get("model")))
        elif kind == "compacted":
            self.hear(Phase.MODEL, "compacted its history")

    # -- whose record it is ----------------------------------------------------------------------------------------

    def _is_own(self, value: dict[str, Any], payload: dict[str, Any]) -> bool:
        offset, ordinal = self.chat.origin.offset, number(value.get("ordinal"))
        if self.own_from is not None and ordinal is not None:
            return ordinal >= self.own_from
        if self.inherits and payload.get("type") == "task_started" and not is_older(payload.get("turn_id"), self.id):
            self.inherits = False
            self.own_place = offset
        return not self.inherits and offset >= self.own_place

    def _own_tokens(self, counted: int) -> int:
        if counted < self.inherited_tokens:  # it did not go on with that count after all
            self.inherited_tokens = 0
        return counted - self.inherited_tokens

    def _meta(self, meta: dict[str, Any]) -> None:
        if meta.get("id") != self.id:
            self.inherits = self.inherits or not self.has_turned
            return
        spawn = obj(obj(obj(meta.get("source")).get("subagent")).get("thread_spawn"))
        role = word(meta.get("agent_role")) or word(spawn.get("agent_role"))
        session, path = word(meta.get("session_id")), word(spawn.get("agent_path"))
        # The meta tells when the program was opened; that it was given work, and its file begun, is told by the line.
        opened = self.chat.moment(meta.get("timestamp"))
        started = opened or self.chat.at if self.is_child else self.chat.at or opened
        self.start(
            started,
            agent=role or (DEFAULT_ROLE if self.is_child else None),
            parent=word(meta.get("parent_thread_id")) or word(spawn.get("parent_thread_id")),
            refs={"thread_id": self.id, "session_id": session, "agent_path": path},
        )
        self.describe(
            started,
            name=word(meta.get("agent_nickname")) or word(spawn.get("agent_nickname")),
            cwd=word(meta.get("cwd")),
            version=word(meta.get("cli_version")),
            branch=word(obj(meta.get("git")).get("branch")),
        )

    # -- its turns -------------------------------------------------------------------------------------------------

    def _event(self, payload: dict[str, Any]) -> None:
        kind = payload.get("type")
        match kind:
            case "task_started" | "turn_started":
                turn = word(payload.get("turn_id"))
                if self.turn is not None and turn is not None and turn != self.turn:
                    self.children.outlived()
                self.turn = turn
                self.has_turned = True
                self.prompt(None)
            case "task_complete" | "turn_complete" if self._is_current(payload):
                self._complete(word(payload.get("last_agent_message")), payload.get("error"))
            case "turn_aborted" if self._is_current(payload):
                self._over(Outcome.INTERRUPTED, word(payload.get("reason")), is_last=self.is_child or self.runs_once)
            case "token_count":
                self._charge(payload)
                self._accounted(_tokens(payload))
            case "user_message":
                self.prompt(word(payload.get("message")))
            case "item_completed":
                self._completed(obj(payload.get("item")), payload)
            case "sub_agent_activity":
                self._activity(payload, payload.get("occurred_at_ms"))
            case "collab_agent_spawn_end":
                told = {"message": payload.get("prompt"), "agent_type": payload.get("new_agent_role")}
                child, nickname = word(payload.get("new_thread_id")), word(payload.get("new_agent_nickname"))
                self.children.spawned(child, nickname, told, word(payload.get("call_id")))
            case "error":
                fault = _fault(payload)
                self.err(fault.message, fault.type)
            case "stream_error":
                self.retry(word(payload.get("message")))
            case "context_compacted":
                self.hear(Phase.MODEL, "compacted its history")
            case str() if kind in _APPROVALS:
                self.permission(doing_of(None, payload), self.state[2])
            case str() if kind in _QUESTIONS:
                self.question(title(word(payload.get("message"))), self.state[2])

    def hear(self, *told: Any, **more: Any) -> None:
        self.has_account = False
        super().hear(*told, **more)

    def _charge(self, payload: dict[str, Any]) -> None:
        """What was used since the count before is the model's that was asked; how long its prompt was tells the last
        request. A count that is smaller than the one before began anew."""
        counts = _kinds(payload, "total_token_usage")
        if counts is None or counts == self.counted or self.model is None:
            return
        before = self.counted if all(map(int.__ge__, counts, self.counted)) else NO_COUNTS
        if before is NO_COUNTS and self.tokens.used is not None:
            before = counts  # it was set back, and nobody says what was used meanwhile
        self.counted = counts
        last = _kinds(payload, "last_token_usage") or counts
        added: Counts = tuple(map(int.__sub__, counts, before))  # type: ignore[assignment]  # five of five
        self.tokens.charge((account_of(self.model, last), added))

    def _accounted(self, tokens: int | None) -> None:
        """An account of the tokens follows every answer. One that counts no more follows none: the model is asked
        again."""
        before, has_account = self.tokens.total, self.has_account
        if tokens is not None:
            self.tokens.total, self.has_account = self._own_tokens(tokens), True
        if has_account and self.tokens.total == before and tokens is not None and self.state[0] is Phase.MODEL:
            self.retry()
        else:
            self.hear_again()

    def _complete(self, answer: str | None, error: object) -> None:
        if not error:
            self._over(Outcome.COMPLETED, answer, is_last=self.is_child)
            return
        fault, is_last = _fault(error), self.is_child or self.runs_once
        if not is_last:
            self.err(fault.message, fault.type)
        self._over(Outcome.FAILED, answer or fault.message, is_last=is_last, fault=fault)

    def _over(self, outcome: Outcome, answer: str | None, *, is_last: bool, fault: Fault | None = None) -> None:
        """A turn is over: with it the delegation, unless a person can give it another."""
        self.turn = None
        if is_last:
            self.end(outcome, answer, fault=fault)
        else:
            self.turn_over(None if outcome is Outcome.COMPLETED else str(outcome))

    def _is_current(self, payload: dict[str, Any]) -> bool:
        turn = payload.get("turn_id")
        return self.turn is None or not isinstance(turn, str) or turn == self.turn

    # -- what it does ----------------------------------------------------------------------------------------------

    def _item(self, payload: dict[str, Any]) -> None:
        kind = word(payload.get("type"))
        if kind in _CALLS:
            self.children.called(make_call(self, payload))
        elif kind in _RESULTS:
            id = word(payload.get("call_id"))
            if call := self.result(id):
                self.children.returned(call, obj(parsed(_plain(payload.get("output")))), id)
        elif kind == "message" and payload.get("role") == "assistant":
            self.go_on(title(prose(payload.get("content"))))
        elif kind == "message" and payload.get("role") == "user":
            self.children.notified(prose(payload.get("content")) or "")
        elif kind == "agent_message":
            self.children.answered(payload)
        elif kind in ("reasoning", "web_search_call"):
            self.go_on()

    def _completed(self, item: dict[str, Any], payload: dict[str, Any]) -> None:
        match item.get("type"):
            case "UserMessage":
                self.prompt(prose(item.get("content")))
            case "SubAgentActivity":
                self._activity(item, payload.get("completed_at_ms"))

    def _activity(self, activity: dict[str, Any], occurred: object) -> None:
        self.chat.at = self.chat.moment(occurred) or self.chat.at
        self.children.activity(activity)


def _fault(error: object) -> Fault:
    told = obj(error)
    info = told.get("codex_error_info")
    return Fault(clip(word(error) or word(told.get("message"))), word(info) or next(iter(obj(info)), None))


def _plain(output: object) -> object:
    """The text of an output, which may be wrapped."""
    inner = obj(output).get("content")
    return prose(items(output)) if isinstance(output, list) else prose(inner) if inner else output
