"""Gemini CLI: chats, one file each; the chats of sub-agents lie in a folder called after the session.

The folder names the top session even for a sub-agent's sub-agent, so the parent may be another agent of the same
session until the call that started it has come back: that names it, its kind and how it ended. A sub-agent that reached
its goal gets a summary; where nothing says that it is done, one whose last word is an answer is idle. Older versions
rewrite one JSON document instead of appending lines.
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
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Started,
)
from delegtop.model.notes import INFERRED
from delegtop.origin import Origin
from delegtop.sources.record import Record

PRODUCT = "gemini"
_KEYS = (b'"sessionId"', b'"projectHash"', b'"startTime"')
_CHILD = re.compile(r"(?:^|[/\\])chats[/\\]([^/\\]+)[/\\][^/\\]+\.jsonl?$")
_WAITS = frozenset({"awaiting_approval", "awaitingApproval"})
_OVER = frozenset({"success", "error", "cancelled"})
_SPAWN = "invoke_agent"
_REASON = re.compile(r"^Termination Reason: *(\w+) *\n+Result:\s*", re.MULTILINE)
_ENDS = {
    "GOAL": (Outcome.COMPLETED, Ending.RETURN),
    "TIMEOUT": (Outcome.TIMEOUT, Ending.TIMEOUT),
    "ABORTED": (Outcome.INTERRUPTED, Ending.CANCEL),
}
_UNSURE = "Gemini CLI names only the session until the call has come back: another agent of it may be the parent"


class Gemini(Remembering):
    """Reads chats. An instance reads one of them."""

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI chat"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Gemini CLI",
        "`~/.gemini/tmp/*/chats/session-*.json*`",
        "tree, status, tool, tokens, prompts, answers; the parent of a sub-agent at work is inferred from its folder",
        Basis.FIXTURES,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id: str | None = None
        self._is_child = False
        self._is_prompted = False
        self._heard: Millis | None = None
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
        summary = clip(word(obj(value.get("$set")).get("summary")))
        if summary and self._is_child:  # it gets one when it has reached its goal, and only then
            report = Report(summary=summary)
            yield Ended(self._id, self._heard, origin, Outcome.COMPLETED, Ending.RETURN, report)

    def _begin(self, header: dict[str, Any], origin: Origin) -> Iterator[Event]:
        id = self._id = str(header["sessionId"])
        at = moment(header.get("startTime"), self.zone)
        is_child = self._is_child = header.get("kind") == "subagent"
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
                used = obj(message.get("tokens"))
                if (total := number(used.get("total"))) is not None:
                    self._tokens[str(message.get("id"))] = max(total - (number(used.get("cached")) or 0), 0)
                calls = [obj(call) for call in items(message.get("toolCalls"))]
                self._heard = self._latest(calls, at)
                yield self._after(id, calls, title(text), self._heard, origin)
                for call in calls:
                    yield from self._came_back(id, call, origin)
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

    def _came_back(self, id: str, call: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """A call that names the sub-agent it started, and how that ended."""
        child, status = word(call.get("agentId")), word(call.get("status"))
        if child is None or status not in _OVER:
            return
        given, name = obj(call.get("args")), word(call.get("name"))
        kind = word(given.get("agent_name")) if name == _SPAWN else name
        yield Started(child, None, origin, agent=kind, parent=id, refs=(("session_id", child),), product=PRODUCT)
        outcome, by, answer = _ended(status, _output(call))
        faults = (Fault(message=clip(answer)),) if outcome is Outcome.FAILED else ()
        # Calls made together come back together: when one that went well ended stands in its own chat.
        at = None if outcome is Outcome.COMPLETED else moment(call.get("timestamp"), self.zone)
        yield Ended(child, at, origin, outcome, by, Report(summary=clip(answer), errors=faults))

    def _latest(self, calls: list[dict[str, Any]], at: Millis | None) -> Millis | None:
        """When the message was last added to: the time of its last result."""
        times = [moment(call.get("timestamp"), self.zone) for call in calls]
        return max((time for time in (at, *times) if time is not None), default=None)


def _output(call: dict[str, Any]) -> str | None:
    """The text that a call came back with."""
    responses = [obj(obj(obj(part).get("functionResponse")).get("response")) for part in items(call.get("result"))]
    return next((text for told in responses if (text := word(told.get("output")) or word(told.get("error")))), None)


def _ended(status: str, output: str | None) -> tuple[Outcome, Ending, str | None]:
    """How a sub-agent ended: its call came back well also when it ran out of turns, and its text says so."""
    reason = _REASON.search(output or "")
    answer = output[reason.end() :] if output and reason else output
    if status == "cancelled":
        return Outcome.INTERRUPTED, Ending.CANCEL, answer
    if status == "error":
        return Outcome.FAILED, Ending.RETURN, answer
    return (*_ENDS.get(reason[1] if reason else "GOAL", (Outcome.FAILED, Ending.RETURN)), answer)
