"""Grok Build: the folder of a session, in which several files tell of it.

`updates.jsonl` has what is said and called, and the sub-agents; `events.jsonl` the phases, and who waits for a
permission; `summary.json` what it is. A sub-agent is a session beside its parent's, and `subagents/<id>/meta.json` in
the folder of that says whose it is and how it ended. The events name no call, so what goes on in a tool is told by the
updates, and the events are the word of one who only sees that it works or waits.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from delegtop.agents.grok import PRODUCT
from delegtop.base.clock import Millis
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import clip, document, number, obj, objects, title, word
from delegtop.dialects.kit.conversation import ENDS, Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.kit.tokens import Charge
from delegtop.dialects.signature import Signature
from delegtop.model.events import Described, Phase, Resumed, Sighted, Trust
from delegtop.model.spoken import Utterance, Voice
from delegtop.model.usage import account_of
from delegtop.sources.records import Record

_SPAWN = "spawn_subagent"
_FOLDER = re.compile(r"(?:^|[/\\])([^/\\]+)[/\\][^/\\]+$")
_META = ("subagent_id", "parent_session_id", "child_session_id")
_META_KEY = re.compile(f'"({"|".join(_META)})"\\s*:'.encode())
_MESSAGE = re.compile(r'"message": *"((?:[^"\\]|\\.)*)"')
"""The one line in an error of Grok's that is for people."""
_AT_WORK = frozenset({"turn_started", "loop_started", "first_token", "tool_completed", "permission_resolved"})
_PHASES = frozenset({"waiting_for_model", "streaming_text", "tool_execution", "permission_prompt"})


class Grok(Chat):
    """Reads the files of sessions. An instance reads one file."""

    name: ClassVar[str] = "grok"
    title: ClassVar[str] = "Grok Build session"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Grok Build 1.0",
        "`~/.grok/sessions/*/*/`: `events.jsonl`, `updates.jsonl`, `summary.json`, `subagents/*/meta.json`",
        "tree, status, phase, tool, permissions, tokens, prompts, answers, model, folder",
        Basis.MADE,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"ts":', b'"type":')),
        Signature((b'"method":', b'"params":', b'"update":')),
        Signature((b'"info":', b'"cwd":', b'"num_chat_messages":')),
        Signature((b'"subagent_id":', b'"parent_session_id":', b'"child_session_id":')),
    )
    phases: ClassVar[dict[str, Phase]] = {_SPAWN: Phase.CHILD}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._spawned = False
        """Whether it has sub-agents: the sums count their tokens too."""
        self._over: set[str] = set()

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if _is_document(document(sample)) or _begins_meta(sample):
            return 95
        found = list(objects(sample))
        if found and _update(found[0]):
            return 95
        known = sum(_is_event(value) for value in found)
        begins = bool(found) and found[0].get("type") == "turn_started" and "turn_number" in found[0]
        return 90 if begins else 60 if known and 2 * known > len(found) else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        return Unit.DOCUMENT if _is_document(document(sample)) or _begins_meta(sample) else Unit.LINES

    def tell(self, value: dict[str, Any]) -> None:
        if _is_meta(value):
            self._meta(value)
        elif _is_summary(value):
            self._summary(value)
        elif update := _update(value):
            self._update(value, update)
        elif _is_event(value):
            self._event(value)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        """Words come in pieces: those of one voice that follow each other are one."""
        held: Utterance | None = None
        for record in records:
            for piece in _said(record, self.moment):
                if held is not None and held.voice is piece.voice and piece.voice in _IN_PIECES:
                    held = msgspec.structs.replace(held, text=held.text + piece.text)
                    continue
                if held is not None:
                    yield held
                held = piece
        if held is not None:
            yield held

    # -- who it is -------------------------------------------------------------------------------------------------

    def _summary(self, summary: dict[str, Any]) -> None:
        info = obj(summary["info"])
        id, at = str(info["id"]), self.moment(summary.get("created_at"))
        is_root = summary.get("session_kind") != "subagent"
        name = word(summary.get("agent_name"))
        refs = {"session_id": id} if is_root else {}
        self.started(id, at, PRODUCT.name if is_root else name, 0 if is_root else None, None, refs)
        about = word(summary.get("generated_title")) or word(summary.get("session_summary"))
        self.events.append(
            Described(
                id,
                at if is_root else None,  # the call of a sub-agent has better words
                self.origin,
                title=title(about),
                name=name if is_root else None,
                model=word(summary.get("current_model_id")),
                cwd=word(info.get("cwd")),
                branch=word(summary.get("head_branch")),
            )
        )

    def _meta(self, meta: dict[str, Any]) -> None:
        id, session = str(meta["child_session_id"]), str(meta["parent_session_id"])
        at = self.moment(meta.get("started_at"))
        refs = {"session_id": session, "agent_id": word(meta.get("subagent_id"))}
        self.started(id, at, word(meta.get("subagent_type")), None, session, refs)
        told, asked = title(word(meta.get("description"))), word(meta.get("prompt"))
        model, cwd = word(meta.get("effective_model_id")), word(meta.get("child_cwd"))
        self.events.append(Described(id, at, self.origin, title=told, model=model, prompt=clip(asked), cwd=cwd))
        self._finished(id, meta, self.moment(meta.get("completed_at")))

    def _finished(self, id: str, told: dict[str, Any], at: Millis | None) -> None:
        status, error = word(told.get("status")), word(told.get("error"))
        if status in ENDS:
            self._over.add(id)
            self.events.append(self.ending(id, ENDS[status], _cause(error) or word(told.get("output")), at))

    # -- what is said and called -----------------------------------------------------------------------------------

    def _update(self, value: dict[str, Any], update: dict[str, Any]) -> None:
        params = obj(value["params"])
        stamp = obj(params.get("_meta")).get("agentTimestampMs")
        self.at = self.moment(stamp) or self.moment(value.get("timestamp"))
        agent = self._conversation(str(params["sessionId"]))
        text = word(obj(update.get("content")).get("text"))
        match update.get("sessionUpdate"):
            case "user_message_chunk":
                agent.prompt(text)
            case "agent_message_chunk" | "agent_thought_chunk":
                agent.go_on(title(text))
            case "tool_call":
                name = word(obj(obj(update.get("_meta")).get("x.ai/tool")).get("name")) or word(update.get("title"))
                agent.call(word(update.get("toolCallId")), name, obj(update.get("rawInput")))
            case "tool_call_update" if update.get("status") in ("completed", "failed"):
                agent.result(word(update.get("toolCallId")))
            case "subagent_spawned" if child := word(update.get("child_session_id")):
                self._spawn(agent, child, update)
            case "subagent_finished" if child := word(update.get("child_session_id")):
                self._finished(child, update, self.at)
            case "retry_state" if update.get("type") != "failed":
                agent.retry(word(update.get("message")))
            case "turn_completed":
                self._turn_over(agent, update)

    def _conversation(self, id: str) -> Conversation:
        """Whether it is a sub-agent its own log does not say."""
        is_new = self.origin.source not in self.conversations
        agent = self.conversation(id, is_child=True)
        if is_new:
            agent.start(trust=Trust.MTIME)
        return agent

    def _spawn(self, agent: Conversation, child: str, update: dict[str, Any]) -> None:
        self._spawned = True
        if child in self._over and self.at is not None:
            self._over.discard(child)
            self.events.append(Resumed(child, self.at, self.origin))
        agent.spawn(
            child,
            None,
            kind=word(update.get("subagent_type")),
            refs={"session_id": agent.id, "agent_id": word(update.get("subagent_id"))},
            title=title(word(update.get("description"))),
            model=word(update.get("model")),
        )

    def _turn_over(self, agent: Conversation, update: dict[str, Any]) -> None:
        usage = obj(update.get("usage"))
        if not self._spawned:
            total, cached = number(usage.get("totalTokens")), number(usage.get("cachedReadTokens"))
            prompt = word(update.get("prompt_id"))
            agent.use(max((total or 0) - (cached or 0), 0), prompt)
            for model, told in obj(usage.get("modelUsage")).items():
                charge = _charge(model, obj(told))
                agent.use(0, f"{prompt} {model}" if prompt else None, charge)
        reason = word(update.get("stop_reason"))
        if reason == "error":
            agent.err(_cause(word(update.get("agent_result"))), recoverable=None)  # as the end of a sub-agent tells it
        agent.turn_over("cancelled" if reason == "cancelled" else None)

    # -- phases ----------------------------------------------------------------------------------------------------

    def _event(self, event: dict[str, Any]) -> None:
        folder = _FOLDER.search(self.origin.source)
        self.at, kind = self.moment(event.get("ts")), event.get("type")
        id = word(event.get("session_id")) or (folder[1] if folder else None)
        if kind == "phase_changed":
            kind = word(event.get("phase"))
        if id is None:
            return
        agent, tool = self._conversation(id), word(event.get("tool_name"))
        match kind:
            case "waiting_for_model":
                agent.hear(Phase.MODEL)
            case "tool_started":
                agent.hear(self.phases.get(tool or "", Phase.TOOL), tool=tool)
            case "permission_requested":
                self._seen(agent, Phase.PERMISSION)
            case "turn_ended":
                agent.rest()
            case "turn_started":
                agent.describe(None, model=word(event.get("model_id")))
                self._seen(agent)
            case _:
                self._seen(agent)

    def _seen(self, agent: Conversation, phase: Phase | None = None) -> None:
        # What the updates tell of the same moment comes before what is asked for then.
        at = None if self.at is None else Millis(self.at + 1)
        self.events.append(Sighted(agent.id, at, self.origin, phase))


def _charge(model: str, usage: dict[str, Any]) -> Charge | None:
    """What a turn used of one model, whose requests are taken to have been of one length: only their sum is told."""
    keys = ("inputTokens", "outputTokens", "cachedReadTokens", "cacheCreationTokens", "modelCalls")
    into, out, read, written, calls = (number(usage.get(key)) or 0 for key in keys)
    account = account_of(model, (into // max(calls, 1), 0, 0, 0, 0))
    return account, (max(into - read - written, 0), out, read, written, 0)


def _cause(error: str | None) -> str | None:
    """What an error says to people."""
    found = _MESSAGE.search(error or "")
    return found[1] if found else error


def _update(value: dict[str, Any]) -> dict[str, Any]:
    """What a line of `updates.jsonl` tells; empty for any other."""
    params, method = obj(value.get("params")), word(value.get("method")) or ""
    is_one = method.endswith("session/update") and word(params.get("sessionId"))
    return obj(params.get("update")) if is_one else {}


def _is_event(value: dict[str, Any]) -> bool:
    kind = word(value.get("type"))
    if word(value.get("ts")) is None or kind is None:
        return False
    if kind == "phase_changed":
        return word(value.get("phase")) in _PHASES
    return kind in _AT_WORK or kind in ("tool_started", "permission_requested", "turn_ended")


def _is_document(value: dict[str, Any]) -> bool:
    return _is_meta(value) or _is_summary(value)


def _begins_meta(sample: Sample) -> bool:
    """Only a part of it is seen, because the prompt in it is long: who is whose stands before that."""
    may_be = not sample.whole and sample.head.startswith(b"{")
    return may_be and len({*_META_KEY.findall(sample.head[:1000])}) == len(_META)


def _is_meta(value: dict[str, Any]) -> bool:
    return all(word(value.get(key)) for key in (*_META, "status"))


def _is_summary(value: dict[str, Any]) -> bool:
    info = obj(value.get("info"))
    return bool(word(info.get("id"))) and "cwd" in info and "num_chat_messages" in value


_IN_PIECES = frozenset({Voice.PROMPT, Voice.ANSWER, Voice.THINKING})
_VOICES = {
    "user_message_chunk": Voice.PROMPT,
    "agent_message_chunk": Voice.ANSWER,
    "agent_thought_chunk": Voice.THINKING,
}


def _said(record: Record, moment: Callable[[object], Millis | None]) -> list[Utterance]:
    """What one update says to people."""
    update, params = _update(record.value), obj(record.value.get("params"))
    stamp = obj(params.get("_meta")).get("agentTimestampMs")
    speaker = Speaker(moment(stamp) or moment(record.value.get("timestamp")), record.origin)
    match update.get("sessionUpdate"):
        case str(kind) if kind in _VOICES:
            text = word(obj(update.get("content")).get("text"))
            piece = speaker.say(_VOICES[kind], text)
            return [msgspec.structs.replace(each, text=text) for each in piece]  # with the breaks between two pieces
        case "tool_call":
            name = word(obj(obj(update.get("_meta")).get("x.ai/tool")).get("name")) or word(update.get("title"))
            return speaker.call(name, update.get("rawInput"), update.get("toolCallId"))
        case "tool_call_update" if update.get("status") in ("completed", "failed"):
            failed = update.get("status") == "failed"
            told = update.get("content") or update.get("rawOutput")
            return speaker.result(told, update.get("toolCallId"), failed=failed)
        case "retry_state":
            return speaker.say(Voice.ERROR, word(update.get("message")), "retry")
        case "turn_completed" if update.get("stop_reason") == "error":
            return speaker.say(Voice.ERROR, _cause(word(update.get("agent_result"))))
    return []
