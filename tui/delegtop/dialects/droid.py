"""Factory Droid: the store of a session, and the stream that `droid exec` prints.

A spawned session names the session and the tool call it was called by, so the link is exact; it is a file of its own
in the same folder, and its end is the result of that call in the caller's file.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from delegtop.clock import Millis
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.foreign import Remembering, clip, gist, items, moment, obj, objects, prose, title, word
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Started,
)
from delegtop.origin import Origin
from delegtop.sources.record import Record

PRODUCT = "droid"
_SPAWN = "Task"
_REMINDER = "</system-reminder>"


class _Session:
    def __init__(self, id: str) -> None:
        self.id = id
        self.is_dated = False
        self.is_prompted = False
        self.is_titled = False
        self.calls: dict[str, tuple[str, str | None]] = {}


class _Spawn(NamedTuple):
    arguments: dict[str, Any]
    at: Millis | None
    origin: Origin


class Droid(Remembering):
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

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._sessions: dict[str, _Session] = {}
        """By file."""
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

    def needle(self, id: str, path: str) -> bytes:
        session = self._sessions.get(path)
        return b"" if session is not None and session.id == id else id.encode()

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        at = moment(value.get("timestamp"), self.zone)
        session = self._sessions.get(origin.source)
        if session is None:
            id = word(value.get("id")) if value.get("type") == "session_start" else _session_id(value)
            if id is None:
                return
            session = self._sessions[origin.source] = _Session(id)
            yield from self._begin(session, value, at, origin)
        if not session.is_dated and at is not None:  # the line that starts a session has no time
            session.is_dated = True
            yield Started(session.id, at, origin, product=PRODUCT)
        message = obj(value.get("message"))
        match value.get("type"):
            case "message":
                role = message.get("role", value.get("role"))
                content = message.get("content", value.get("text"))
                yield from self._message(session, role, content, at, origin)
            case "tool_call":
                name = word(value.get("toolName")) or "tool"
                yield from self._called(session, _call_id(value), name, obj(value.get("parameters")), at, origin)
            case "tool_result":
                yield from self._returned(
                    session, _call_id(value), value.get("value"), value.get("isError"), at, origin
                )
            case "completion":
                report = Report(summary=clip(word(value.get("finalText"))))
                yield Ended(session.id, at, origin, Outcome.COMPLETED, Ending.RETURN, report)
            case "error":
                yield Erred(session.id, at, origin, Fault(message=clip(word(value.get("message")))))

    def _begin(self, session: _Session, value: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        session.is_dated = at is not None
        caller, call = word(value.get("callingSessionId")), word(value.get("callingToolUseId"))
        refs = [("session_id", session.id), ("tool_use_id", call)]
        yield Started(
            session.id,
            at,
            origin,
            agent=PRODUCT if caller is None else None,
            depth=0 if caller is None else None,
            parent=caller,
            refs=tuple((name, ref) for name, ref in refs if ref),
            product=PRODUCT,
        )
        version = word(value.get("version"))
        name = title(word(value.get("sessionTitle")) or word(value.get("title")))
        session.is_titled = name is not None
        model, cwd = word(value.get("model")), word(value.get("cwd"))
        yield Described(session.id, at, origin, title=name, model=model, cwd=cwd, version=version)
        if caller and call:
            self._children[caller, call] = session.id
            yield from self._asked(caller, call)
            if (caller, call) in self._results:
                yield self._end_of(session.id, self._results.pop((caller, call)))

    def _message(
        self, session: _Session, role: object, content: object, at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        parts = [obj(part) for part in items(content)]
        text = prose(content)
        if role == "user":
            for part in parts:
                if part.get("type") == "tool_result":
                    result = prose(part.get("content")) or part.get("content")
                    failed = part.get("is_error")
                    yield from self._returned(session, str(part.get("tool_use_id")), result, failed, at, origin)
            asked = text.rpartition(_REMINDER)[2].strip() if text else ""
            if asked and not session.is_prompted:
                session.is_prompted = True
                about = None if session.is_titled else title(asked)
                yield Described(session.id, at, origin, title=about, prompt=clip(asked))
            if asked:
                yield Heard(session.id, at, origin, phase=Phase.MODEL)
        elif role == "assistant":
            calls = [part for part in parts if part.get("type") == "tool_use"]
            if not calls:
                yield Heard(session.id, at, origin, title(text), phase=Phase.IDLE)
            for part in calls:
                name = word(part.get("name")) or "tool"
                yield from self._called(session, str(part.get("id")), name, obj(part.get("input")), at, origin)

    def _called(
        self, session: _Session, call: str, name: str, arguments: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        session.calls[call] = (name, gist(arguments))
        yield _now(session, at, origin)
        if name == _SPAWN:
            self._spawns[session.id, call] = _Spawn(arguments, at, origin)
            yield from self._asked(session.id, call)

    def _asked(self, caller: str, call: str) -> Iterator[Event]:
        """What kind of agent a session is and what for, by its caller's file, whichever of the two comes first."""
        child, spawn = self._children.get((caller, call)), self._spawns.get((caller, call))
        if child is None or spawn is None:
            return
        kind = word(spawn.arguments.get("subagent_type"))
        yield Started(child, None, spawn.origin, agent=kind, product=PRODUCT)
        about = title(word(spawn.arguments.get("description")))
        yield Described(child, spawn.at, spawn.origin, title=about)

    def _returned(
        self, session: _Session, call: str, result: object, failed: object, at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        name, _ = session.calls.pop(call, ("", None))
        yield _now(session, at, origin)
        key = (session.id, call)
        if name != _SPAWN and key not in self._children:
            return
        if key in self._spawns and self._spawns[key].arguments.get("run_in_background") is True:
            return  # that it was started is no end
        outcome = Outcome.FAILED if failed is True else Outcome.COMPLETED
        answer = clip(word(result))
        faults = (Fault(message=answer),) if failed is True else ()
        ended = Ended("", at, origin, outcome, Ending.RETURN, Report(summary=answer, errors=faults))
        if key in self._children:
            yield self._end_of(self._children[key], ended)
        else:
            self._results[key] = ended

    def _end_of(self, id: str, ended: Ended) -> Ended:
        return Ended(id, ended.at, ended.origin, ended.outcome, ended.by, ended.report)


def _now(session: _Session, at: Millis | None, origin: Origin) -> Heard:
    """What it is in the middle of: the tool it called last, else its model."""
    if not session.calls:
        return Heard(session.id, at, origin, phase=Phase.MODEL)
    tool, doing = next(reversed(session.calls.values()))
    return Heard(session.id, at, origin, doing, tool, phase=Phase.CHILD if tool == _SPAWN else Phase.TOOL)


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
