"""What is said in OpenCode's messages and parts, for people to read."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from delegtop.agents.opencode.record_words import fault_of
from delegtop.dialects.kit.coerce import items, moment, obj, parsed, word
from delegtop.dialects.kit.speaker import Speaker
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record


def rows(records: Sequence[Record]) -> Iterator[Utterance]:
    """Of rows of the tables, in the order of their time: a part does not say who speaks, its message does."""
    messages: dict[str, dict[str, Any]] = {}
    told: list[tuple[tuple[int, int], Iterable[Utterance]]] = []
    for record in records:
        if record.value.get("table") == "message":
            value = obj(parsed(record.value.get("data")))
            messages[str(record.value.get("id"))] = value
            at = moment(record.value.get("time_created"))
            told.append(((at or 0, 1), _failed(Speaker(at, record.origin, _session(record)), value)))
    for record in records:
        if record.value.get("table") == "part":
            value, role = obj(parsed(record.value.get("data"))), messages.get(str(record.value.get("message_id")), {})
            begun = obj(obj(value.get("state")).get("time")).get("start") or obj(value.get("time")).get("start")
            at = moment(begun) or moment(record.value.get("time_created"))
            told.append(((at or 0, 0), part(Speaker(at, record.origin, _session(record)), value, role.get("role"))))
    for _, pieces in sorted(told, key=lambda each: each[0]):
        yield from pieces


def _session(record: Record) -> str | None:
    return word(record.value.get("session_id"))


def export(records: Sequence[Record]) -> Iterator[Utterance]:
    """Of a session that was exported whole."""
    for record in records:
        for message in map(obj, items(record.value.get("messages"))):
            info = obj(message.get("info"))
            at = moment(obj(info.get("time")).get("created"))
            speaker = Speaker(at, record.origin)
            for each in items(message.get("parts")):
                yield from part(speaker, obj(each), info.get("role"))
            yield from _failed(speaker, info)


def part(speaker: Speaker, value: dict[str, Any], role: object) -> Iterator[Utterance]:
    """One part of a message."""
    match value.get("type"):
        case "text":
            voice = Voice.NOTE if value.get("synthetic") else Voice.PROMPT if role == "user" else Voice.ANSWER
            yield from speaker.say(voice, word(value.get("text")))
        case "reasoning":
            yield from speaker.say(Voice.THINKING, word(value.get("text")))
        case "tool":
            state, id = obj(value.get("state")), value.get("callID")
            yield from speaker.call(value.get("tool"), state.get("input"), id)
            back = speaker._replace(at=moment(obj(state.get("time")).get("end")) or speaker.at)
            if state.get("status") == "error":
                yield from back.result(state.get("error"), id, failed=True)
            elif state.get("status") == "completed":
                yield from back.result(state.get("output"), id)
        case "retry":
            yield from speaker.say(Voice.ERROR, word(obj(obj(value.get("error")).get("data")).get("message")), "retry")
        case "compaction":
            yield from speaker.say(Voice.NOTE, "compacted its history", "compaction")


def _failed(speaker: Speaker, message: dict[str, Any]) -> Iterator[Utterance]:
    fault = fault_of(message.get("error"))
    if fault is not None:
        yield from speaker.say(Voice.ERROR, fault.message, fault.type)
