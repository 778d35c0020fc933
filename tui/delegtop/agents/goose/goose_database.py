"""Goose: its `sessions.db`.

Goose lists its sub-agents but most versions do not write down who started one: such a sub-agent stands alone, and a
note on it says why. Nothing tells that a session is finished either; one whose last message is an answer is idle.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.goose import PRODUCT
from delegtop.dialects import About, Basis, Query, Sample, Unit
from delegtop.dialects.kit.coerce import gist, items, moment, number, obj, parsed, prose, title, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.signature import SQLITE, Signature
from delegtop.model.events import Deviation, Noted, Phase
from delegtop.model.notes import UNLINKED
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_SPAWNS = ("delegate", "subagent", "subagent__execute_task")
_TABLES = ("sessions.session_type", "sessions.working_dir", "messages.content_json")
"""What tells its database from any other."""
_WHY = "Goose does not write down which session started a sub-agent"


class Goose(Chat):
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

    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), "sessions.db"),
        Signature((SQLITE,), columns=_TABLES),
    )
    phases: ClassVar[dict[str, Phase]] = dict.fromkeys(_SPAWNS, Phase.CHILD)

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 80 if sample.stores(*_TABLES, named="goose/*/sessions.db") else 0

    def tell(self, value: dict[str, Any]) -> None:
        session = word(value.get("id" if value.get("table") == "sessions" else "session_id"))
        if session is None:
            self.events.append(Deviation(self.origin, "row without session", str(value.get("id"))))
            return
        agent = self.conversation(session, key=session)
        if value.get("table") == "sessions":
            self._session(agent, value)
            return
        content = parsed(value.get("content_json"))
        if not isinstance(content, list):
            self.events.append(Deviation(self.origin, "content is no list", str(value.get("id"))))
        self.at = moment(value.get("created_timestamp"))
        self._message(agent, value.get("role") == "assistant", [obj(part) for part in items(content)])

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in records:
            row = record.value
            if row.get("table") != "sessions":
                speaker = Speaker(moment(row.get("created_timestamp")), record.origin, word(row.get("session_id")))
                voice = Voice.ANSWER if row.get("role") == "assistant" else Voice.PROMPT
                for part in map(obj, items(parsed(row.get("content_json")))):
                    yield from _said(speaker, part, voice)

    def _session(self, agent: Conversation, row: dict[str, Any]) -> None:
        parent, agent.is_child = word(row.get("parent_session_id")), row.get("session_type") == "sub_agent"
        agent.depth = None if agent.is_child else 0
        self.at = moment(row.get("created_at"))  # Goose writes UTC without saying so
        kind = "sub-agent" if agent.is_child else None
        agent.start(agent=kind, parent=parent, refs={"session_id": agent.id})
        agent.describe(
            title=word(row.get("name")) or word(row.get("description")),
            model=word(obj(parsed(row.get("model_config_json"))).get("model_name")),
            cwd=word(row.get("working_dir")),
        )
        agent.spent(number(row.get("accumulated_total_tokens")))
        if agent.is_child and parent is None:
            self.events.append(Noted(agent.id, self.at, self.origin, UNLINKED, _WHY))

    def _message(self, agent: Conversation, is_answer: bool, content: list[dict[str, Any]]) -> None:
        text = prose([part for part in content if part.get("type") == "text"])
        for part in content:
            if part.get("type") == "toolRequest":
                told = obj(part.get("toolCall"))
                call = obj(told.get("value")) or obj(told.get("Ok")) or told
                given = obj(call.get("arguments"))
                doing = gist(given) or title(word(given.get("instructions")))
                agent.call(word(part.get("id")), word(call.get("name")), given, doing=doing)
            elif part.get("type") == "toolResponse":
                agent.result(word(part.get("id")))
        if text and not is_answer:
            agent.prompt(text)
        elif text:
            agent.rest(title(text))


def _said(speaker: Speaker, part: dict[str, Any], voice: Voice) -> list[Utterance]:
    """What one part of a message says to people."""
    match part.get("type"):
        case "text":
            return speaker.say(voice, word(part.get("text")))
        case "thinking":
            return speaker.say(Voice.THINKING, word(part.get("thinking")))
        case "toolRequest":
            told = obj(part.get("toolCall"))
            call = obj(told.get("value")) or obj(told.get("Ok")) or told
            return speaker.call(call.get("name"), call.get("arguments"), part.get("id"))
        case "toolResponse":
            result = obj(part.get("toolResult"))
            failed = result.get("status") == "error"
            said = result.get("error") if failed else result.get("value", result)
            return speaker.result(said, part.get("id"), failed=failed)
    return []
