"""What is said in a wire log, for people to read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from delegtop.base.clock import Millis
from delegtop.dialects.kit.coerce import obj, parsed, prose, word
from delegtop.dialects.kit.speaker import Speaker
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record


def said(records: Sequence[Record], moment: Callable[[object], Millis | None]) -> Iterator[Utterance]:
    for record in records:
        value = record.value
        speaker = Speaker(moment(value.get("time")) or moment(value.get("timestamp")), record.origin)
        yield from _line(speaker, value)


def _line(speaker: Speaker, value: dict[str, Any]) -> Iterable[Utterance]:
    match value.get("type"):
        case "turn.prompt":
            return speaker.say(Voice.PROMPT, prose(value.get("input")))
        case "context.append_loop_event":
            return _loop(speaker, obj(value.get("event")))
        case "turn.step.retrying":
            why = word(value.get("errorMessage")) or word(value.get("errorName"))
            return speaker.say(Voice.ERROR, why, f"retry {value.get('nextAttempt')} of {value.get('maxAttempts')}")
        case "turn.step.interrupted":
            return speaker.say(Voice.NOTE, word(value.get("message")), "interrupted")
        case "turn.ended" if error := obj(value.get("error")):
            return speaker.say(Voice.ERROR, word(error.get("message")), word(error.get("name")))
        case "turn.cancel":
            return speaker.say(Voice.NOTE, "cancelled")
        case "full_compaction.begin":
            return speaker.say(Voice.NOTE, "compacts its history")
        case None:
            message = obj(value.get("message"))
            return _old(speaker, message.get("type"), obj(message.get("payload")))
    return ()


def _loop(speaker: Speaker, event: dict[str, Any]) -> Iterable[Utterance]:
    match event.get("type"):
        case "content.part":
            return _part(speaker, obj(event.get("part")))
        case "tool.call":
            return speaker.call(event.get("name"), event.get("args"), event.get("toolCallId"))
        case "tool.result":
            result = obj(event.get("result"))
            failed = result.get("isError") is True
            return speaker.result(result.get("output"), event.get("toolCallId"), failed=failed)
    return ()


def _part(speaker: Speaker, part: dict[str, Any]) -> list[Utterance]:
    if part.get("type") == "think":
        return speaker.say(Voice.THINKING, word(part.get("think")))
    return speaker.say(Voice.ANSWER, word(part.get("text")))


def _old(speaker: Speaker, kind: object, payload: dict[str, Any]) -> Iterable[Utterance]:
    """A line of the older Kimi CLI."""
    match kind:
        case "TurnBegin":
            return speaker.say(Voice.PROMPT, prose(payload.get("user_input")))
        case "ContentPart":
            return _part(speaker, payload)
        case "ToolCall":
            function = obj(payload.get("function"))
            return speaker.call(function.get("name"), parsed(function.get("arguments")), payload.get("id"))
        case "ToolResult":
            value = obj(payload.get("return_value"))
            failed = value.get("is_error") is True
            told = value.get("output", payload.get("result"))
            return speaker.result(told, payload.get("tool_call_id"), failed=failed)
    return ()
