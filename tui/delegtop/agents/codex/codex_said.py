"""What is said in a rollout, for people to read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from delegtop.base.clock import Millis
from delegtop.dialects.kit.coerce import items, obj, prose, word
from delegtop.dialects.kit.speaker import Speaker
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_GIVEN = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions", "<turn_aborted>")
"""How texts begin that Codex puts before a prompt by itself."""


def said(records: Sequence[Record], moment: Callable[[object], Millis | None]) -> Iterator[Utterance]:
    """The pieces of these records. A prompt that is told both as an event and as an item is told once."""
    asked = ""
    for piece in _pieces(records, moment):
        if piece.voice is Voice.PROMPT:
            if piece.text == asked:
                continue
            asked = piece.text
        elif piece.voice is not Voice.NOTE:
            asked = ""
        yield piece


def _pieces(records: Sequence[Record], moment: Callable[[object], Millis | None]) -> Iterator[Utterance]:
    for record in records:
        speaker = Speaker(moment(record.value.get("timestamp")), record.origin)
        payload = obj(record.value.get("payload"))
        match record.value.get("type"):
            case "response_item":
                yield from _item(speaker, payload)
            case "event_msg":
                yield from _event(speaker, payload)
            case "compacted":
                yield from speaker.say(Voice.NOTE, word(payload.get("message")) or "compacted its history", "compacted")


def _item(speaker: Speaker, payload: dict[str, Any]) -> Iterable[Utterance]:
    kind = word(payload.get("type"))
    if kind in _CALLS:
        name = word(payload.get("name")) or str(kind).removesuffix("_call").replace("local_", "")
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        return speaker.call(name, given, payload.get("call_id") or payload.get("id"))
    if kind in _RESULTS:
        return speaker.result(payload.get("output"), payload.get("call_id"))
    if kind == "reasoning":
        told = prose(payload.get("summary")) or prose(payload.get("content"))
        return speaker.say(Voice.THINKING, told or "(the model's thoughts are not in the log)")
    if kind == "message":
        return _message(speaker, payload)
    return ()


def _message(speaker: Speaker, payload: dict[str, Any]) -> Iterator[Utterance]:
    role = payload.get("role")
    for part in map(obj, items(payload.get("content"))):
        text = word(part.get("text")) or ""
        own = role not in ("user", "assistant") or text.lstrip().startswith(_GIVEN)
        voice = Voice.NOTE if own else Voice.PROMPT if role == "user" else Voice.ANSWER
        yield from speaker.blocks([part], voice)


def _event(speaker: Speaker, payload: dict[str, Any]) -> Iterable[Utterance]:
    match payload.get("type"):
        case "error" | "stream_error":
            return speaker.say(Voice.ERROR, word(payload.get("message")))
        case "turn_aborted":
            return speaker.say(Voice.NOTE, word(payload.get("reason")) or "aborted", "turn aborted")
        case "task_complete" | "turn_complete" if payload.get("error"):
            return speaker.say(Voice.ERROR, word(payload["error"]) or word(obj(payload["error"]).get("message")))
        case "user_message":
            return speaker.say(Voice.PROMPT, word(payload.get("message")))
    return ()
