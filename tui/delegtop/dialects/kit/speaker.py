"""The shapes in which most programs write down what is said, made into pieces for people to read.

Two shapes cover nearly all: messages with blocks (`text`, `thinking`, `tool_use`, `tool_result`), and messages with
parts (`text`, `functionCall`, `functionResponse`). A `Speaker` makes pieces with the time and place of one record.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.text import cut
from delegtop.dialects.kit.coerce import items, obj, parsed, prose, word
from delegtop.model.spoken import Utterance, Voice

_HIDDEN = "(the model's thoughts are not in the log)"
_COMMANDS = ("command", "cmd")
_MOST = 256 * 1024
"""Characters of one piece that are kept: nobody reads more of it here."""


class Speaker(NamedTuple):
    """Makes pieces of one record."""

    at: Millis | None
    origin: Origin
    whose: str | None = None

    def say(self, voice: Voice, text: str | None, name: str | None = None, call: str | None = None) -> list[Utterance]:
        """One piece; none if it says nothing."""
        if not (text and text.strip()) and not name:
            return []
        return [
            Utterance(
                voice, cut((text or "").strip("\n"), _MOST), self.at, self.origin, name or "", call or "", self.whose
            )
        ]

    def call(self, name: object, given: object, id: object = None) -> list[Utterance]:
        """A call of a tool."""
        return self.say(Voice.CALL, arguments(given), word(name) or "tool", word(id))

    def result(
        self, content: object, id: object = None, *, failed: bool = False, name: object = None
    ) -> list[Utterance]:
        """What a tool came back with."""
        voice = Voice.ERROR if failed else Voice.RESULT
        return self.say(voice, output(content) or "(nothing)", word(name), word(id))

    def blocks(self, content: object, voice: Voice) -> Iterator[Utterance]:
        """A message with blocks; `voice` is whose text it is."""
        if isinstance(content, str):
            yield from self.say(voice, content)
            return
        for block in map(obj, items(content)):
            match block.get("type"):
                case "text" | "input_text" | "output_text":
                    yield from self.say(voice, word(block.get("text")))
                case "thinking" | "reasoning":
                    said = word(block.get("thinking")) or word(block.get("text"))
                    yield from self.say(Voice.THINKING, said or _HIDDEN)
                case "redacted_thinking":
                    yield from self.say(Voice.THINKING, _HIDDEN)
                case "tool_use" | "tool_call" | "server_tool_use":
                    yield from self.call(block.get("name"), block.get("input"), block.get("id"))
                case "tool_result":
                    failed = block.get("is_error") is True
                    yield from self.result(block.get("content"), block.get("tool_use_id"), failed=failed)
                case str(kind):
                    yield from self.say(voice, f"[{kind}]")

    def parts(self, parts: Iterable[object], voice: Voice) -> Iterator[Utterance]:
        """A message with parts."""
        for part in map(obj, parts):
            if call := obj(part.get("functionCall")):
                yield from self.call(call.get("name"), call.get("args"), call.get("id"))
            elif reply := obj(part.get("functionResponse")):
                told = obj(reply.get("response"))
                error = word(told.get("error"))
                said = error or told.get("output", told)
                yield from self.result(said, reply.get("id"), failed=error is not None, name=reply.get("name"))
            elif text := word(part.get("text")):
                yield from self.say(Voice.THINKING if part.get("thought") else voice, text)


def arguments(given: object) -> str:
    """What a tool is given: the command where it is one, else a line for each argument."""
    value = parsed(given) if isinstance(given, str) else given
    if not isinstance(value, dict):
        return given if isinstance(given, str) else output(value)
    lines: list[str] = []
    for key, told in value.items():
        if isinstance(told, list) and all(isinstance(each, str) for each in told):
            told = " ".join(told)
        text = told if isinstance(told, str) else _json(told)
        if key in _COMMANDS:
            lines.insert(0, text)
        else:
            lines.append(f"{key}: {text}" if "\n" not in text else f"{key}:\n{text}")
    return "\n".join(lines)


def output(content: object) -> str:
    """What a tool gave back, as text; what is no text is named by its kind."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(_part, content)))
    inner = obj(content)
    for key in ("output", "content", "text", "stdout"):
        if isinstance(inner.get(key), str | list):
            return output(inner[key])
    return _json(content)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    found = obj(part)
    inner = obj(found.get("content"))
    kind = word(found.get("type"))
    return prose([found]) or prose([inner]) or (f"[{kind}]" if kind and kind != "text" else "" if kind else _json(part))


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) and value else None)
    except (TypeError, ValueError, RecursionError):
        return str(value)
