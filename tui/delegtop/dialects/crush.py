"""Crush: the database it keeps in a project's `.crush` folder, told in the shape of OpenCode's files.

A sub-agent is a session whose id is made of the message and the tool call that started it, so the link is exact. There
is no column for a state: how a sub-agent ended is told by its last message. Its cost is added to its parent's when it
is done, and is taken out again here. Tokens are left out: Crush keeps only those of the last request.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from pathlib import PurePath
from typing import Any, ClassVar

from delegtop.clock import SECOND, Millis
from delegtop.dialects import About, Basis, Query, Sample, Unit
from delegtop.dialects.foreign import title
from delegtop.dialects.opencode import Telling
from delegtop.dialects.opencode.story import Story
from delegtop.dialects.opencode.words import cost_of, moment, table, word
from delegtop.model.events import Described, Deviation, Event
from delegtop.origin import Origin
from delegtop.sources.record import Record, decoded

_SQLITE = b"SQLite format 3\0"
_SPAWNING = frozenset({"agent", "agentic_fetch"})
_CHILD = "$$"
"""Stands between the message and the call in the id of a sub-agent's session."""
_UNNAMED = "New Agent Session"
_TITLE = "title-"
"""A session that only finds a title for another is no delegation."""
_FINISHES = {"end_turn": "stop", "max_tokens": "length", "content_filter": "content-filter"}
_COLUMNS = ("id", "parent_session_id", "title", "cost", "created_at", "updated_at")


class Crush(Telling):
    """Reads `crush.db`."""

    name: ClassVar[str] = "crush"
    title: ClassVar[str] = "Crush database"
    surest: ClassVar[int] = 80
    about: ClassVar[About] = About(
        "Crush",
        "`.crush/crush.db` in the project",
        "tree, status, tool, cost, prompts, answers",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.DATABASE
    files: ClassVar[tuple[str, ...]] = ("crush.db",)
    queries: ClassVar[tuple[Query, ...]] = (
        # Children first: what they cost has to be known when the parent's cost is read.
        Query("sessions", _COLUMNS, "updated_at", "parent_session_id IS NOT NULL", "id", "parent_session_id"),
        Query("sessions", _COLUMNS, "updated_at", "parent_session_id IS NULL", "id", "parent_session_id"),
        Query(
            "messages",
            ("id", "session_id", "role", "parts", "model", "is_summary_message", "created_at", "updated_at"),
            since="updated_at",
            session="session_id",
        ),
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._story = Story("crush", _SPAWNING)
        self._below: dict[str, dict[str, float]] = {}
        """What the children of a session cost."""
        self._calls: dict[str, tuple[str, str, Any]] = {}
        """The message, the tool and the input of each call."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        """The first page of a database does not show its tables, so the name has to say whose it is."""
        is_one = sample.head.startswith(_SQLITE) and PurePath(sample.path).name == "crush.db"
        return 80 if is_one else 0

    def translate(self, record: Record) -> Iterable[Event]:
        if record.value.get("table") == "sessions":
            return self._session(record.origin, record.value)
        parts = _parts(record.value.get("parts"))
        if parts is None:
            return (Deviation(record.origin, "parts are no list", str(record.value.get("id"))),)
        return self._message(record.origin, record.value, parts)

    def _session(self, origin: Origin, row: dict[str, Any]) -> Iterable[Event]:
        id, parent = word(row.get("id")) or "", word(row.get("parent_session_id"))
        if id.startswith(_TITLE):
            return ()
        cost = cost_of(row.get("cost"))
        value = {
            "id": id,
            "parentID": parent,
            "title": None if row.get("title") == _UNNAMED else row.get("title"),
            "directory": _project(origin.source),
            "cost": cost - sum(self._below.get(id, {}).values()),
            "time": {"created": _millis(row.get("created_at"))},
        }
        if parent is not None:
            self._below.setdefault(parent, {})[id] = cost
            value |= {"agent": "agent", "callID": id.rpartition(_CHILD)[2]}
        return self._story.session(origin, value)

    def _message(self, origin: Origin, row: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Event]:
        id, role, written = word(row.get("id")) or "", row.get("role"), _millis(row.get("updated_at"))
        if role in ("user", "assistant"):
            yield from self._story.message(origin, _shaped(row, parts), written)
        for part in parts:
            data = table(part.get("data"))
            if part.get("type") == "text" and role == "user" and data.get("hidden") is not True:
                yield from self._asked(origin, row, word(data.get("text")))
                yield from self._story.part(
                    origin, {"type": "text", "messageID": id, "text": data.get("text")}, written
                )
            elif part.get("type") == "tool_call":
                self._calls[str(data.get("id"))] = id, str(data.get("name")), data.get("input")
                yield from self._call(origin, str(data.get("id")), {"status": "running"}, written)
            elif part.get("type") == "tool_result":
                failed = data.get("is_error") is True
                state = {"status": "error", "error": data.get("content")} if failed else {"status": "completed"}
                yield from self._call(origin, str(data.get("tool_call_id")), state, written)

    def _asked(self, origin: Origin, row: dict[str, Any], text: str | None) -> Iterator[Event]:
        """What a sub-agent is asked is its title: Crush calls all their sessions the same."""
        owner = word(row.get("session_id")) or ""
        if _CHILD in owner:
            yield Described(owner, _millis(row.get("created_at")), origin, title=title(text))

    def _call(self, origin: Origin, call: str, state: dict[str, Any], written: Millis | None) -> Iterable[Event]:
        """A tool call as it stands now."""
        if call not in self._calls:
            return ()
        message, tool, given = self._calls[call]
        child = next((id for id in (f"{message}{_CHILD}{call}", call) if self._story.knows(id)), None)
        if tool in _SPAWNING and child is not None:
            state["metadata"] = {"sessionId": child}
        state["input"] = _decoded(given)
        value = {"id": call, "messageID": message, "type": "tool", "tool": tool, "callID": call, "state": state}
        return self._story.part(origin, value, written)


def _shaped(row: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """A row of the message table in the shape that OpenCode's files have."""
    finish = next((table(part.get("data")) for part in parts if part.get("type") == "finish"), {})
    reason = word(finish.get("reason"))
    time = {"created": _millis(row.get("created_at"))}
    value = {"id": row.get("id"), "sessionID": row.get("session_id"), "role": row.get("role"), "time": time}
    texts = [table(part.get("data")).get("text") for part in parts if part.get("type") == "text"]
    value |= {"modelID": row.get("model"), "summary": row.get("is_summary_message") == 1, "text": (texts or [None])[-1]}
    if reason in _FINISHES:
        time["completed"] = _millis(finish.get("time"))
        value["finish"] = _FINISHES[reason]
    elif reason in ("error", "canceled"):
        name = "MessageAbortedError" if reason == "canceled" else "error"
        said = ": ".join(text for key in ("message", "details") if (text := word(finish.get(key))))
        time["completed"] = _millis(finish.get("time"))
        value["error"] = {"name": name, "data": {"message": said}}
    return value


def _parts(data: Any) -> list[dict[str, Any]] | None:
    value = _decoded(data)
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else None


def _decoded(data: Any) -> Any:
    return decoded(data) if isinstance(data, str) else None


def _millis(value: Any) -> Millis | None:
    """Crush counts seconds; a number too large for that is in milliseconds."""
    in_seconds = isinstance(value, int | float) and not isinstance(value, bool) and value < 100_000_000_000
    return moment(value * SECOND if in_seconds else value)


def _project(path: str) -> str | None:
    """The project whose `.crush` folder the database is in."""
    folder = PurePath(path).parent
    return str(folder.parent) if folder.name == ".crush" and folder.is_absolute() else None
