"""Crush: the database it keeps in a project's `.crush` folder.

A sub-agent is a session whose id is made of the message and the tool call that started it, so the link is exact. There
is no column for a state: how a sub-agent ended is told by its last message. Its cost is added to its parent's when it
is done, and is taken out again here. Tokens are left out: Crush keeps only those of the last request.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, ClassVar

from delegtop.agents.crush import PRODUCT
from delegtop.dialects import About, Basis, Query, Sample, Unit
from delegtop.dialects.kit.coerce import dollars, items, moment, obj, parsed, title, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.signature import SQLITE, Signature
from delegtop.model.events import Deviation, Ending, Fault, Outcome, Phase
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_SPAWNS = ("agent", "agentic_fetch")
_CHILD = "$$"
"""Stands between the message and the call in the id of a sub-agent's session."""
_UNNAMED = "New Agent Session"
_TITLE = "title-"
"""A session that only finds a title for another is no delegation."""
_FINISHES = {
    "end_turn": Outcome.COMPLETED,
    "max_tokens": Outcome.PARTIAL,
    "content_filter": Outcome.PARTIAL,
    "canceled": Outcome.INTERRUPTED,
    "error": Outcome.FAILED,
}
_TABLES = ("sessions.parent_session_id", "messages.parts")
"""What tells its database from any other."""
_COLUMNS = ("id", "parent_session_id", "title", "cost", "created_at", "updated_at")


class Crush(Chat):
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

    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), "crush.db"),
        Signature((SQLITE,), columns=_TABLES),
    )
    rewrites: ClassVar[bool] = True
    phases: ClassVar[dict[str, Phase]] = dict.fromkeys(_SPAWNS, Phase.CHILD)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._below: dict[str, dict[str, float]] = {}
        """What the children of a session cost."""
        self._spawned: dict[str, str] = {}
        """The session that a call may have made."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 80 if sample.stores(*_TABLES, named="crush.db") else 0

    def tell(self, value: dict[str, Any]) -> None:
        session = word(value.get("id" if value.get("table") == "sessions" else "session_id"))
        if session is None or session.startswith(_TITLE):
            return
        agent = self.conversation(session, key=session, is_child=_CHILD in session)
        self.at = moment(value.get("created_at"))
        if value.get("table") == "sessions":
            self._session(agent, value)
            return
        parts = parsed(value.get("parts"))
        if not isinstance(parts, list):
            self.events.append(Deviation(self.origin, "parts are no list", str(value.get("id"))))
        self._message(agent, value, [(obj(part).get("type"), obj(obj(part).get("data"))) for part in items(parts)])

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in sorted(records, key=lambda each: moment(each.value.get("created_at")) or 0):
            row = record.value
            if row.get("table") != "sessions":
                speaker = Speaker(moment(row.get("created_at")), record.origin, word(row.get("session_id")))
                voice = Voice.PROMPT if row.get("role") == "user" else Voice.ANSWER
                for part in map(obj, items(parsed(row.get("parts")))):
                    yield from _said(speaker, part.get("type"), obj(part.get("data")), voice)

    def _session(self, agent: Conversation, row: dict[str, Any]) -> None:
        parent, cost = word(row.get("parent_session_id")), dollars(row.get("cost")) or 0.0
        call = agent.id.rpartition(_CHILD)[2] if parent else None
        agent.is_child = parent is not None
        agent.depth = 0 if parent is None else 1 if _CHILD not in parent else None
        agent.start(agent="agent" if parent else None, parent=parent, refs={"call_id": call, "session_id": agent.id})
        name = word(row.get("title"))
        agent.describe(title=None if name == _UNNAMED else name, cwd=_project(self.origin.source))
        if parent is not None:
            self._below.setdefault(parent, {})[agent.id] = cost
        agent.spent(None, round(cost - sum(self._below.get(agent.id, {}).values()), 9) or None)

    def _message(self, agent: Conversation, row: dict[str, Any], parts: list[tuple[object, dict[str, Any]]]) -> None:
        written, id = moment(row.get("updated_at")), word(row.get("id")) or ""
        texts = [word(data.get("text")) for kind, data in parts if kind == "text" and data.get("hidden") is not True]
        text = next((text for text in reversed(texts) if text), None)
        if row.get("role") == "user" and text:
            agent.prompt(text)
        self.at = written
        for kind, data in parts:
            if kind == "tool_call" and (call := word(data.get("id"))):
                agent.call(call, word(data.get("name")), obj(parsed(data.get("input"))))
                self._spawned[call] = f"{id}{_CHILD}{call}"
            elif kind == "tool_result":
                self._returned(agent, word(data.get("tool_call_id")), data)
        if row.get("role") == "assistant":
            agent.describe(moment(row.get("created_at")), model=word(row.get("model")))
            finish = next((data for kind, data in parts if kind == "finish"), {})
            outcome = _FINISHES.get(word(finish.get("reason")) or "")
            if outcome is None or row.get("is_summary_message") == 1:
                agent.go_on()
            else:
                self.at = moment(finish.get("time")) or written
                self._over(agent, outcome, text, finish)

    def _over(self, agent: Conversation, outcome: Outcome, text: str | None, finish: dict[str, Any]) -> None:
        said = ": ".join(words for key in ("message", "details") if (words := word(finish.get(key))))
        fault = Fault(said or None, "error") if outcome is Outcome.FAILED else None
        if agent.is_child:
            agent.end(outcome, text, fault=fault, by=Ending.RETURN)
            return
        if fault:
            agent.err(fault.message, fault.type, recoverable=None)
        agent.turn_over(title(text))

    def _returned(self, agent: Conversation, id: str | None, result: dict[str, Any]) -> None:
        call, child = agent.result(id), self._spawned.pop(id or "", "")
        if call is None or call.phase is not Phase.CHILD or child not in self.conversations:
            return
        # How it ended is told by its own last message: this is the weaker word.
        failed = result.get("is_error") is True
        outcome, by = (Outcome.FAILED, Ending.ERROR) if failed else (Outcome.COMPLETED, Ending.REGISTRY)
        self.events.append(self.ending(child, outcome, word(result.get("content")), by=by))


def _project(path: str) -> str | None:
    """The project whose `.crush` folder the database is in."""
    folder = PurePath(path).parent
    return str(folder.parent) if folder.name == ".crush" and folder.is_absolute() else None


def _said(speaker: Speaker, kind: object, data: dict[str, Any], voice: Voice) -> list[Utterance]:
    """What one part of a message says to people."""
    match kind:
        case "text" if data.get("hidden") is not True:
            return speaker.say(voice, word(data.get("text")))
        case "reasoning":
            return speaker.say(Voice.THINKING, word(data.get("thinking")))
        case "tool_call":
            return speaker.call(data.get("name"), data.get("input"), data.get("id"))
        case "tool_result":
            failed = data.get("is_error") is True
            return speaker.result(data.get("content"), data.get("tool_call_id"), failed=failed)
        case "finish" if data.get("reason") in ("error", "canceled"):
            return speaker.say(Voice.ERROR, word(data.get("message")) or word(data.get("details")), "finish")
    return []
