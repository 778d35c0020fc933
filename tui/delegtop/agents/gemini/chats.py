"""Gemini CLI: chats, one file each; the chats of sub-agents lie in a folder called after the session.

The folder names the top session even for a sub-agent's sub-agent, so the parent may be another agent of the same
session until the call that started it has come back: that names it, its kind and how it ended. A sub-agent that reached
its goal gets a summary; where nothing says that it is done, one whose last word is an answer is idle. Older versions
rewrite one JSON document instead of appending lines.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.gemini import PRODUCT
from delegtop.base.clock import Millis
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import document, items, number, obj, objects, prose, title, word
from delegtop.dialects.kit.conversation import ENDS, Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.kit.tokens import charge_of
from delegtop.dialects.signature import Signature
from delegtop.model.events import Noted, Outcome, Phase
from delegtop.model.notes import INFERRED
from delegtop.model.spoken import Utterance, Voice
from delegtop.model.usage import Counts
from delegtop.sources.records import Record

_KEYS = (b'"sessionId"', b'"projectHash"', b'"startTime"')
_CHILD = re.compile(r"(?:^|[/\\])chats[/\\]([^/\\]+)[/\\][^/\\]+\.jsonl?$")
_WAITS = frozenset({"awaiting_approval", "awaitingApproval"})
_OVER = frozenset({"success", "error", "cancelled"})
_SPAWN = "invoke_agent"
_REASON = re.compile(r"^Termination Reason: {0,9}(\w+) {0,9}\n{1,9}Result:\s*", re.MULTILINE)
_REASONS = {"GOAL": Outcome.COMPLETED, "TIMEOUT": Outcome.TIMEOUT, "ABORTED": Outcome.INTERRUPTED}
_FOLDER = re.compile(r"Workspace Directories:\W{0,20}?\n\s{0,20}- ([^\n]+)")
"""Where it works, in what Gemini CLI tells its model first. It finds its sessions only from there."""
_UNSURE = "Gemini CLI names only the session until the call has come back: another agent of it may be the parent"


class Gemini(Chat):
    """Reads chats. An instance reads one of them."""

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI chat"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Gemini CLI, up to 0.61",
        "`~/.gemini/tmp/*/chats/session-*.json*`",
        "tree, status, tool, tokens, prompts, answers; the parent of a sub-agent at work is inferred from its folder",
        Basis.MADE,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"sessionId"', b'"projectHash"', b'"startTime"')),)
    rewrites: ClassVar[bool] = True

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

    def tell(self, value: dict[str, Any]) -> None:
        if word(value.get("sessionId")) and "startTime" in value:
            self._begin(value)
        agent = self.conversations.get(self.origin.source)
        if agent is None:
            return
        for message in items(value.get("messages")) or [value]:
            self._message(agent, obj(message))
        changed = obj(value.get("$set"))
        for message in items(changed.get("messages"))[:1]:
            told = _FOLDER.search(prose(obj(message).get("content")) or "")
            agent.describe(None, cwd=told[1].strip() if told else None)
        summary = word(changed.get("summary"))
        if summary and agent.is_child:  # it gets one when it has reached its goal, and only then
            agent.end(Outcome.COMPLETED, summary, agent.heard_at)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        """An answer is written again when one of its calls has come back: the last time counts."""
        told: dict[str, tuple[Record, dict[str, Any]]] = {}
        for record in records:
            for message in map(obj, items(record.value.get("messages")) or [record.value]):
                key = word(message.get("id")) or f"{record.origin.offset}"
                told[key] = (record, message)
        for record, message in told.values():
            yield from _said(Speaker(self.moment(message.get("timestamp")), record.origin), message)

    def _begin(self, header: dict[str, Any]) -> None:
        id, is_child = str(header["sessionId"]), header.get("kind") == "subagent"
        agent = self.conversation(id, is_child=is_child)
        above = _CHILD.search(self.origin.source) if is_child else None
        at = self.moment(header.get("startTime"))
        agent.start(at, parent=above[1] if above else None, guessed=above is not None, refs={"session_id": id})
        folder = next((word(each) for each in items(header.get("directories"))), None)
        agent.describe(at, title=title(word(header.get("summary"))), cwd=folder)
        if is_child:
            self.events.append(Noted(id, at, self.origin, INFERRED, _UNSURE))

    def _message(self, agent: Conversation, message: dict[str, Any]) -> None:
        self.at = self.moment(message.get("timestamp"))
        text = prose(message.get("content"))
        match message.get("type"):
            case "user":
                agent.prompt(text)
            case "gemini" | "model":
                self._answer(agent, message, title(text))
            case "error":
                agent.err(text)

    def _answer(self, agent: Conversation, message: dict[str, Any], said: str | None) -> None:
        """An answer of the model is written again when one of its calls has come back."""
        agent.describe(model=word(message.get("model")))
        used = obj(message.get("tokens"))
        if (total := number(used.get("total"))) is not None:
            charge = charge_of(word(message.get("model")), _kinds(used, total))
            agent.use(max(total - (number(used.get("cached")) or 0), 0), str(message.get("id")), charge)
        calls = [obj(call) for call in items(message.get("toolCalls"))]
        self.at = self._latest(calls)
        agent.calls.clear()
        for call in calls:
            status = word(call.get("status"))
            phase = Phase.PERMISSION if status in _WAITS else None
            agent.call(word(call.get("id")), word(call.get("name")), obj(call.get("args")), phase=phase)
            if status is None or status in _OVER:
                agent.result(word(call.get("id")))
        if calls:
            agent.go_on(said)
        elif said:
            agent.rest(said)
        else:  # it called something, and that is written once it has come back
            agent.hear(Phase.TOOL)
        for call in calls:
            self._came_back(agent, call)

    def _came_back(self, agent: Conversation, call: dict[str, Any]) -> None:
        """A call that names the sub-agent it started, and how that ended."""
        child, status = word(call.get("agentId")), word(call.get("status"))
        if child is None or status not in _OVER:
            return
        name = word(call.get("name"))
        kind = word(obj(call.get("args")).get("agent_name")) if name == _SPAWN else name
        agent.spawn(child, None, kind=kind, refs={"session_id": child})
        outcome, answer = _ended(status, _output(call))
        # Calls made together come back together: when one that went well ended stands in its own chat.
        at = None if outcome is Outcome.COMPLETED else self.moment(call.get("timestamp"))
        self.events.append(self.ending(child, outcome, answer, at))

    def _latest(self, calls: list[dict[str, Any]]) -> Millis | None:
        """When the message was last added to: the time of its last result."""
        times = [self.moment(call.get("timestamp")) for call in calls]
        return max((time for time in (self.at, *times) if time is not None), default=None)


def _kinds(used: dict[str, Any], total: int) -> Counts:
    """The tokens of one answer by kind. What was read from the cache is part of the input, and what is neither input
    nor what tools added to it is what the model wrote and thought."""
    into, read, tool = (number(used.get(key)) or 0 for key in ("input", "cached", "tool"))
    return max(into - read, 0) + tool, max(total - into - tool, 0), read, 0, 0


def _output(call: dict[str, Any]) -> str | None:
    """The text that a call came back with."""
    responses = [obj(obj(obj(part).get("functionResponse")).get("response")) for part in items(call.get("result"))]
    return next((text for told in responses if (text := word(told.get("output")) or word(told.get("error")))), None)


def _ended(status: str, output: str | None) -> tuple[Outcome, str | None]:
    """How a sub-agent ended: its call came back well also when it ran out of turns, and its text says so."""
    reason = _REASON.search(output or "")
    answer = output[reason.end() :] if output and reason else output
    if status != "success":
        return ENDS[status], answer
    return _REASONS.get(reason[1], Outcome.FAILED) if reason else Outcome.COMPLETED, answer


def _said(speaker: Speaker, message: dict[str, Any]) -> Iterator[Utterance]:
    """What one message says to people."""
    text = prose(message.get("content"))
    match message.get("type"):
        case "user":
            yield from speaker.say(Voice.PROMPT, text)
        case "gemini" | "model":
            for thought in map(obj, items(message.get("thoughts"))):
                words = (word(thought.get(key)) for key in ("subject", "description"))
                yield from speaker.say(Voice.THINKING, "\n".join(filter(None, words)))
            yield from speaker.say(Voice.ANSWER, text)
            for call in map(obj, items(message.get("toolCalls"))):
                yield from speaker.call(call.get("name"), call.get("args"), call.get("id"))
                if word(call.get("status")) in _OVER:
                    failed = call.get("status") != "success"
                    told = _output(call) or call.get("resultDisplay")
                    yield from speaker.result(told, call.get("id"), failed=failed)
        case "error":
            yield from speaker.say(Voice.ERROR, text)
        case "info" | "warning":
            yield from speaker.say(Voice.NOTE, text)
