"""Goose: its `sessions.db`, told in the shape of OpenCode's files.

Goose lists its sub-agents but most versions do not write down who started one: such a sub-agent stands alone, and a
note on it says why. Nothing tells that a session is finished either; one whose last message is an answer is idle.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from pathlib import PurePath
from typing import Any, ClassVar

from delegtop.clock import SECOND, Millis, parse_time
from delegtop.dialects import About, Basis, Query, Sample, Unit
from delegtop.dialects.foreign import title
from delegtop.dialects.opencode import Telling
from delegtop.dialects.opencode.story import Story
from delegtop.dialects.opencode.words import moment, table, word
from delegtop.model.events import Deviation, Event, Noted
from delegtop.model.notes import UNLINKED
from delegtop.origin import Origin
from delegtop.sources.record import Record, decoded

_SQLITE = b"SQLite format 3\0"
_SUB_AGENT = "sub_agent"
_SPAWNING = frozenset({"delegate", "subagent", "subagent__execute_task"})
_WHY = "Goose does not write down which session started a sub-agent"


class Goose(Telling):
    """Reads Goose's `sessions.db`."""

    name: ClassVar[str] = "goose"
    title: ClassVar[str] = "Goose session database"
    surest: ClassVar[int] = 80
    about: ClassVar[About] = About(
        "Goose",
        "`~/.local/share/goose/sessions/sessions.db`",
        "sessions, status, tool, tokens; nothing links a sub-agent to its parent",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.DATABASE
    files: ClassVar[tuple[str, ...]] = ("sessions.db",)
    queries: ClassVar[tuple[Query, ...]] = (
        Query(
            "sessions",
            (
                "id",
                "name",
                "description",
                "session_type",
                "working_dir",
                "parent_session_id",
                "accumulated_total_tokens",
                "model_config_json",
                "created_at",
                "updated_at",
            ),
            since="updated_at",
            session="id",
            parent="parent_session_id",
        ),
        Query(
            "messages",
            ("id", "session_id", "role", "content_json", "created_timestamp"),
            since="created_timestamp",
            session="session_id",
        ),
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._story = Story("goose", _SPAWNING)
        self._calls: dict[str, tuple[str, str, Any]] = {}
        """The message, the tool and the input of each call."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        """The first page of a database does not show its tables, so the place has to say whose it is."""
        path = PurePath(sample.path)
        is_one = sample.head.startswith(_SQLITE) and path.name == "sessions.db" and "goose" in path.parts
        return 80 if is_one else 0

    def translate(self, record: Record) -> Iterable[Event]:
        if record.value.get("table") == "sessions":
            return self._session(record.origin, record.value)
        content = _decoded(record.value.get("content_json"))
        if not isinstance(content, list):
            return (Deviation(record.origin, "content is no list", str(record.value.get("id"))),)
        return self._message(record.origin, record.value, [part for part in content if isinstance(part, dict)])

    def _session(self, origin: Origin, row: dict[str, Any]) -> Iterator[Event]:
        id, parent = word(row.get("id")), word(row.get("parent_session_id"))
        is_sub_agent = row.get("session_type") == _SUB_AGENT
        yield from self._story.session(
            origin,
            {
                "id": id,
                "parentID": parent,
                "kind": "sub-agent" if is_sub_agent and parent is None else None,
                "agent": "sub-agent" if is_sub_agent and parent is not None else None,
                "title": word(row.get("name")) or row.get("description"),
                "directory": row.get("working_dir"),
                "modelID": table(_decoded(row.get("model_config_json"))).get("model_name"),
                "tokens": {"input": row.get("accumulated_total_tokens")},
                "time": {"created": self._moment(row.get("created_at"))},
            },
        )
        if id is not None and is_sub_agent and parent is None:
            yield Noted(id, self._moment(row.get("created_at")), origin, UNLINKED, _WHY)

    def _message(self, origin: Origin, row: dict[str, Any], content: list[dict[str, Any]]) -> Iterator[Event]:
        id, at = f"{row.get('session_id')}/{row.get('id')}", self._moment(row.get("created_timestamp"))
        requests = [part for part in content if part.get("type") == "toolRequest"]
        texts = [part for part in content if part.get("type") == "text"]
        is_answer = row.get("role") == "assistant"
        if is_answer or texts:
            value = {"id": id, "sessionID": row.get("session_id"), "role": row.get("role"), "time": {"created": at}}
            yield from self._story.message(origin, {**value, "rests": is_answer and not requests and bool(texts)}, at)
        for part in texts if not is_answer else ():
            yield from self._story.part(origin, {"type": "text", "messageID": id, "text": part.get("text")}, at)
        for part in requests:
            told = table(part.get("toolCall"))
            call = table(told.get("value")) or table(told.get("Ok")) or told
            self._calls[str(part.get("id"))] = id, str(call.get("name")), call.get("arguments")
            yield from self._call(origin, str(part.get("id")), "running", at)
        for part in content:
            if part.get("type") == "toolResponse":
                yield from self._call(origin, str(part.get("id")), "completed", at)

    def _call(self, origin: Origin, call: str, status: str, at: Millis | None) -> Iterable[Event]:
        if call not in self._calls:
            return ()
        message, tool, given = self._calls[call]
        state = {"status": status, "input": given, "title": title(word(table(given).get("instructions")))}
        value = {"id": call, "messageID": message, "type": "tool", "tool": tool, "callID": call, "state": state}
        return self._story.part(origin, value, at)

    def _moment(self, value: Any) -> Millis | None:
        """Goose writes UTC without saying so, or counts seconds or milliseconds."""
        if isinstance(value, str):
            return parse_time(value, UTC)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return moment(value * SECOND if is_number and value < 100_000_000_000 else value)


def _decoded(data: Any) -> Any:
    return decoded(data) if isinstance(data, str) else None
