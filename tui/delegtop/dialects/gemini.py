"""Gemini CLI: chats, one file each; the chats of sub-agents lie in a folder called after the session.

The folder names the top session even for a sub-agent's sub-agent, so the depth is not known and the parent may be
another agent of the same session. Nothing says that a sub-agent is done: one whose last word is an answer is idle.
Older versions rewrite one JSON document instead of appending lines.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.foreign import (
    Remembering,
    clip,
    document,
    gist,
    items,
    moment,
    number,
    obj,
    objects,
    prose,
    title,
    word,
)
from delegtop.model.events import Described, Erred, Event, Fault, Heard, Noted, Phase, Started
from delegtop.model.notes import INFERRED
from delegtop.origin import Origin
from delegtop.sources.record import Record

PRODUCT = "gemini"
_KEYS = (b'"sessionId"', b'"projectHash"', b'"startTime"')
_CHILD = re.compile(r"(?:^|[/\\])chats[/\\]([^/\\]+)[/\\][^/\\]+\.jsonl?$")
_WAITS = frozenset({"awaiting_approval", "awaitingApproval"})
_OVER = frozenset({"success", "error", "cancelled"})
_UNSURE = "Gemini CLI names only the session, so another agent of it may be the parent, and no end is recorded"


class Gemini(Remembering):
    """Reads chats. An instance reads one of them."""

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI chat"
    about: ClassVar[About] = About(
        "Gemini CLI",
        "`~/.gemini/tmp/*/chats/session-*.json*`",
        "sessions, status, tool, tokens, prompts; the parent of a sub-agent is inferred from its folder",
        Basis.FIXTURES,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id: str | None = None
        self._is_prompted = False
        self._tokens: dict[str, int] = {}
        """By message: one that gained a result is written again."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        first = next(objects(sample), None) or document(sample)
        if not first:
            in_document = sample.head.lstrip().startswith(b"{") and b'"messages"' in sample.head
            return 80 if in_document and all(key in sample.head for key in _KEYS) else 0
        return 95 if {"sessionId", "projectHash", "startTime"} <= first.keys() else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        first = next(objects(sample), None)
        return Unit.DOCUMENT if first is None or "messages" in first else Unit.LINES

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - one instance reads one chat
        return b""

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        if word(value.get("sessionId")) and "startTime" in value:
            yield from self._begin(value, origin)
        if self._id is None:
            return
        for message in items(value.get("messages")) or [value]:
            yield from self._message(self._id, obj(message), origin)

    def _begin(self, header: dict[str, Any], origin: Origin) -> Iterator[Event]:
        id = self._id = str(header["sessionId"])
        at = moment(header.get("startTime"), self.zone)
        is_child = header.get("kind") == "subagent"
        folder = _CHILD.search(origin.source) if is_child else None
        yield Started(
            id,
            at,
            origin,
            agent=PRODUCT if not is_child else None,
            depth=None if is_child else 0,
            parent=folder[1] if folder else None,
            refs=(("session_id", id),),
            product=PRODUCT,
            guessed=folder is not None,
        )
        yield Described(id, at, origin, title=title(word(header.get("summary"))))
        if is_child:
            yield Noted(id, at, origin, INFERRED, _UNSURE)

    def _message(self, id: str, message: dict[str, Any], origin: Origin) -> Iterator[Event]:
        at = moment(message.get("timestamp"), self.zone)
        text = prose(message.get("content"))
        match message.get("type"):
            case "user":
                if text and not self._is_prompted:
                    self._is_prompted = True
                    yield Described(id, at, origin, title=title(text), prompt=clip(text))
                yield Heard(id, at, origin, phase=Phase.MODEL)
            case "gemini" | "model":
                yield Described(id, at, origin, model=word(message.get("model")))
                spent = number(obj(message.get("tokens")).get("total"))
                if spent is not None:
                    self._tokens[str(message.get("id"))] = spent
                calls = [obj(call) for call in items(message.get("toolCalls"))]
                yield self._after(id, calls, title(text), self._latest(calls, at), origin)
            case "error":
                yield Erred(id, at, origin, Fault(message=clip(text), recoverable=True))

    def _after(
        self, id: str, calls: list[dict[str, Any]], said: str | None, at: Millis | None, origin: Origin
    ) -> Heard:
        """What it is in the middle of once it has said that."""
        tokens = sum(self._tokens.values()) or None
        pending = next((call for call in reversed(calls) if word(call.get("status")) not in (None, *_OVER)), None)
        if pending is not None:
            phase = Phase.PERMISSION if word(pending.get("status")) in _WAITS else Phase.TOOL
            doing = gist(obj(pending.get("args")))
            return Heard(id, at, origin, doing, word(pending.get("name")), tokens, phase=phase)
        return Heard(id, at, origin, said, tokens=tokens, phase=Phase.MODEL if calls else Phase.IDLE)

    def _latest(self, calls: list[dict[str, Any]], at: Millis | None) -> Millis | None:
        """When the message was last added to: the time of its last result."""
        times = [moment(call.get("timestamp"), self.zone) for call in calls]
        return max((time for time in (at, *times) if time is not None), default=None)
