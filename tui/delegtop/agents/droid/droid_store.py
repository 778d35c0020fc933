"""Factory Droid: the store of a session, and the stream that `droid exec` prints.

A spawned session names the session and the tool call it was called by, so the link is exact; it is a file of its own
in the same folder, and its end is the result of that call in the caller's file.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec

from delegtop.agents.droid import PRODUCT
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.kit.coerce import items, obj, objects, prose, title, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.signature import Signature
from delegtop.model.events import Described, Ended, Outcome, Phase, Started
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_SPAWN = "Task"
_REMINDER = "</system-reminder>"


class _Spawn(NamedTuple):
    arguments: dict[str, Any]
    at: Millis | None
    origin: Origin


class Droid(Chat):
    """Reads session stores and streams. An instance reads all files of a folder."""

    name: ClassVar[str] = "droid"
    title: ClassVar[str] = "Factory Droid session"
    surest: ClassVar[int] = 90
    about: ClassVar[About] = About(
        "Factory Droid 0.8x, its sessions and its stream",
        "`~/.factory/sessions/**/*.jsonl`",
        "tree, status, tool, prompts, answers",
        Basis.FIXTURES,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"session_start"',)),
        Signature((b'"timestamp":', b'"role":', b'"text":')),
        Signature((b'"timestamp":', b'"toolName":', b'"parameters":')),
        Signature((b'"timestamp":', b'"finalText":')),
    )
    phases: ClassVar[dict[str, Phase]] = {_SPAWN: Phase.CHILD}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._undated: set[str] = set()
        """The sessions whose start has no time yet."""
        self._children: dict[tuple[str, str], str] = {}
        """The session that a call of a session started."""
        self._spawns: dict[tuple[str, str], _Spawn] = {}
        """What such a call asks for."""
        self._results: dict[tuple[str, str], Ended] = {}
        """Results of calls whose session has not been seen yet."""

    @classmethod
    def family(cls, path: str) -> str:
        return path.replace("\\", "/").rpartition("/")[0]

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        found = list(objects(sample))
        if found and found[0].get("type") == "session_start" and word(found[0].get("id")):
            return 90 if {"cwd", "title", "sessionTitle", "owner"} & found[0].keys() else 50
        return 85 if any(_is_streamed(value) for value in found) else 0

    def tell(self, value: dict[str, Any]) -> None:
        session = self.conversations.get(self.origin.source)
        if session is None:
            id = word(value.get("id")) if value.get("type") == "session_start" else _session_id(value)
            if id is None:
                return
            session = self._begin(id, value)
        if session.id in self._undated and self.at is not None:  # the line that starts a session has no time
            self._undated.discard(session.id)
            self.started(session.id)
        message = obj(value.get("message"))
        match value.get("type"):
            case "message":
                role = message.get("role", value.get("role"))
                self._message(session, role, message.get("content", value.get("text")))
            case "tool_call":
                self._call(session, _call_id(value), value.get("toolName"), value.get("parameters"))
            case "tool_result":
                self._returned(session, _call_id(value), value.get("value"), value.get("isError"))
            case "completion":
                session.end(Outcome.COMPLETED, word(value.get("finalText")))
            case "error":
                session.err(word(value.get("message")), recoverable=None)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in records:
            value, message = record.value, obj(record.value.get("message"))
            speaker = Speaker(self.moment(value.get("timestamp")), record.origin)
            match value.get("type"):
                case "message":
                    role = message.get("role", value.get("role"))
                    voice = Voice.PROMPT if role == "user" else Voice.ANSWER
                    yield from speaker.blocks(message.get("content", value.get("text")), voice)
                case "tool_call":
                    yield from speaker.call(value.get("toolName"), value.get("parameters"), _call_id(value))
                case "tool_result":
                    failed = value.get("isError") is True
                    yield from speaker.result(value.get("value"), _call_id(value), failed=failed)
                case "completion":
                    yield from speaker.say(Voice.ANSWER, word(value.get("finalText")))
                case "error":
                    yield from speaker.say(Voice.ERROR, word(value.get("message")))

    def _begin(self, id: str, value: dict[str, Any]) -> Conversation:
        caller, call = word(value.get("callingSessionId")), word(value.get("callingToolUseId"))
        session = self.conversation(id, is_child=caller is not None)
        if self.at is None:
            self._undated.add(id)
        session.start(parent=caller, refs={"session_id": id, "tool_use_id": call})
        session.describe(
            title=title(word(value.get("sessionTitle")) or word(value.get("title"))),
            model=word(value.get("model")),
            cwd=word(value.get("cwd")),
            version=word(value.get("version")),
        )
        if caller and call:
            self._children[caller, call] = id
            self._asked(caller, call)
            if ended := self._results.pop((caller, call), None):
                self.events.append(msgspec.structs.replace(ended, id=id))
        return session

    def _message(self, session: Conversation, role: object, content: object) -> None:
        parts = [obj(part) for part in items(content)]
        text = prose(content)
        if role == "user":
            for part in parts:
                if part.get("type") == "tool_result":
                    result = prose(part.get("content")) or part.get("content")
                    self._returned(session, word(part.get("tool_use_id")), result, part.get("is_error"))
            if asked := text.rpartition(_REMINDER)[2].strip() if text else "":
                session.prompt(asked)
        elif role == "assistant":
            for part in parts:
                if part.get("type") == "tool_use":
                    self._call(session, word(part.get("id")), part.get("name"), part.get("input"))
            session.rest(title(text))

    def _call(self, session: Conversation, id: str | None, tool: object, given: object) -> None:
        arguments = obj(given)
        session.call(id, word(tool), arguments)
        if tool == _SPAWN:
            self._spawns[session.id, id or ""] = _Spawn(arguments, self.at, self.origin)
            self._asked(session.id, id or "")

    def _asked(self, caller: str, call: str) -> None:
        """What kind of agent a session is and what for, by its caller's file, whichever of the two comes first."""
        child, spawn = self._children.get((caller, call)), self._spawns.get((caller, call))
        if child is None or spawn is None:
            return
        kind, about = word(spawn.arguments.get("subagent_type")), title(word(spawn.arguments.get("description")))
        self.events += (
            Started(child, None, spawn.origin, agent=kind, product=PRODUCT.name),
            Described(child, spawn.at, spawn.origin, title=about),
        )

    def _returned(self, session: Conversation, id: str | None, result: object, failed: object) -> None:
        call, key = session.result(id), (session.id, id or "")
        if (call is None or call.tool != _SPAWN) and key not in self._children:
            return
        if key in self._spawns and self._spawns[key].arguments.get("run_in_background") is True:
            return  # that it was started is no end
        ended = self.ending("", Outcome.FAILED if failed is True else Outcome.COMPLETED, word(result))
        if key in self._children:
            self.events.append(msgspec.structs.replace(ended, id=self._children[key]))
        else:
            self._results[key] = ended


def _session_id(value: dict[str, Any]) -> str | None:
    return word(value.get("session_id")) or word(value.get("sessionId"))


def _call_id(value: dict[str, Any]) -> str:
    return word(value.get("toolCallId")) or word(value.get("id")) or ""


def _is_streamed(value: dict[str, Any]) -> bool:
    """A line of the stream: its messages are plain text and its calls name their tool."""
    if _session_id(value) is None or "timestamp" not in value:
        return False
    match value.get("type"):
        case "message":
            return isinstance(value.get("role"), str) and isinstance(value.get("text"), str)
        case "tool_call":
            return isinstance(value.get("toolName"), str) and "parameters" in value
        case "completion":
            return "finalText" in value
    return False
