"""What is said in a transcript, for people to read."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from delegtop.agents.claude_code import notices
from delegtop.base.clock import Millis
from delegtop.dialects.kit.coerce import items, obj, word
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.kit.tags import enclosed
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

Whose = Callable[[dict[str, Any]], str | None]
_TOLD = re.compile("<(summary|result)>")
"""What of a notice is for people."""
_NOTICES = (notices.NOTICE, notices.INTERRUPTED, "<system-reminder>", "<teammate-message", *notices.LOCAL)


def said(records: Sequence[Record], moment: Callable[[object], Millis | None], whose: Whose) -> Iterator[Utterance]:
    """The pieces of these records, one after the other."""
    for record in records:
        value = record.value
        yield from _record(Speaker(moment(value.get("timestamp")), record.origin, whose(value)), value)


def _record(speaker: Speaker, value: dict[str, Any]) -> Iterable[Utterance]:
    content = obj(value.get("message")).get("content")
    match value.get("type"):
        case "user":
            return _user(speaker, value, content)
        case "assistant" if value.get("isApiErrorMessage"):
            text = "\n".join(each.text for each in speaker.blocks(content, Voice.ERROR))
            return speaker.say(Voice.ERROR, text, word(value.get("error")))
        case "assistant":
            return speaker.blocks(content, Voice.ANSWER)
        case "system" if value.get("subtype") == "api_error":
            count = f"{value.get('retryAttempt', '–')} of {value.get('maxRetries', '–')}"
            return speaker.say(Voice.ERROR, f"API error, retry {count}")
        case "system" if word(value.get("content")):
            return speaker.say(Voice.NOTE, word(value.get("content")), word(value.get("subtype")))
        case "summary":
            return speaker.say(Voice.NOTE, word(value.get("summary")), "summary")
        case "attachment":
            attached = obj(value.get("attachment"))
            return _text(speaker, word(attached.get("prompt")) or "", own=False)
        case "result":  # the last word of a stream
            failed = value.get("is_error") is True
            return speaker.say(Voice.ERROR, word(value.get("result"))) if failed else ()
    return ()


def _user(speaker: Speaker, value: dict[str, Any], content: object) -> Iterator[Utterance]:
    """What was said to the agent: by a person, by a tool, or by the program itself."""
    own = bool(value.get("isMeta") or value.get("isCompactSummary"))
    if isinstance(content, str):
        yield from _text(speaker, content, own=own)
        return
    for block in map(obj, items(content)):
        text = word(block.get("text"))
        yield from _text(speaker, text, own=own) if text else speaker.blocks([block], Voice.PROMPT)


def _text(speaker: Speaker, text: str, *, own: bool) -> list[Utterance]:
    """A text for the agent; one that the program wrote by itself is its own word."""
    if text.startswith(notices.NOTICE):
        told = "\n".join(body.strip() for _, body in enclosed(text, _TOLD))
        return speaker.say(Voice.NOTE, told or text, "task over")
    if own or text.startswith(_NOTICES):
        return speaker.say(Voice.NOTE, text)
    return speaker.say(Voice.PROMPT, notices.plain_prompt(text))
