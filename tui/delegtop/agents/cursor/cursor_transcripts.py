"""Cursor CLI: transcripts of a session and of its sub-agents.

A line holds neither an id nor a time. The names of file and folder say who is whose; the only time is that of the
file. So this is a tree with hardly a status, and each row says so.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.cursor import PRODUCT
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import items, obj, objects, prose, title, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.signature import Signature
from delegtop.model.events import Event, Noted, Outcome, Phase, Trust
from delegtop.model.notes import INFERRED
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import NOT_JSON, Line, Record, Unreadable, records

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_QUERY, _AFTER_QUERY = "<user_query>", "</user_query>"
_LINE = re.compile(rb"[^\s\0][^\n]*")
_NAMED = 100
"""So many lines of one transcript that are no records are named one by one."""
_SPAWNS = dict.fromkeys(("Agent", "Task", "Subagent"), Phase.CHILD)
_UNSURE = "Cursor CLI writes no times: the last sign of life is the time of the file, the start is not known"


class Cursor(Chat):
    """Reads transcripts, each as a whole, since only the file has a time."""

    name: ClassVar[str] = "cursor"
    title: ClassVar[str] = "Cursor CLI transcript"
    surest: ClassVar[int] = 75
    about: ClassVar[About] = About(
        "Cursor CLI",
        "`~/.cursor/projects/*/agent-transcripts/**`",
        "tree by folders, status, tool, prompts; times are those of the files",
        Basis.FIXTURES,
    )
    unit: ClassVar[Unit] = Unit.TEXT
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"role":', b'"message":', b'"content":[')),)
    phases: ClassVar[dict[str, Phase]] = _SPAWNS

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._spawns: dict[str, dict[str, dict[str, Any]]] = {}
        """By session: what it asked of each sub-agent, by the prompt."""
        self._asked: dict[str, tuple[str, Origin]] = {}
        """By sub-agent: the prompt it was given."""

    @classmethod
    def family(cls, path: str) -> str:
        """A session and its sub-agents: the folder called after the session."""
        folder = path.replace("\\", "/").rpartition("/")[0]
        return folder.removesuffix("/subagents")

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        found = list(objects(sample))
        fitting = [value for value in found if _is_message(value)]
        if not fitting or any("timestamp" in value or "uuid" in value for value in found):
            return 0
        others = [value for value in found if not _is_message(value) and value.get("type") != "turn_ended"]
        return 75 if not others else 0

    def read(self, line: Line) -> Iterator[Event | Unreadable]:
        """The whole transcript at once. The last line may be half written."""
        values: list[dict[str, Any]] = []
        text, number, counted, odd = line.data, 1, 0, 0
        for match in _LINE.finditer(text):
            if odd >= _NAMED and b"{" not in match[0]:
                odd += 1
                continue
            number, counted = number + text.count(b"\n", counted, match.start()), match.start()
            start = text.rfind(b"\n", 0, counted) + 1
            for found in records(Line(Origin(line.origin.source, number, start), text[start : match.end()])):
                if isinstance(found, Record):
                    values.append(found.value)
                elif match.end() < len(text):
                    odd += 1
                    if odd <= _NAMED:
                        yield found
        if odd > _NAMED:
            yield Unreadable(line.origin, NOT_JSON, f"{odd - _NAMED} more lines of it")
        if values:
            yield from self.told({"lines": values}, line.origin, line.at)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        """Nothing has a time here, and results are not written."""
        for record in records:
            speaker = Speaker(None, record.origin)
            if record.value.get("role") == "user":
                yield from speaker.say(Voice.PROMPT, _asked(record.value))
            else:
                yield from speaker.blocks(_parts(record.value), Voice.ANSWER)

    def tell(self, value: dict[str, Any]) -> None:
        path = self.origin.source
        id, parent = names(path)
        is_child = "subagents" in path.replace("\\", "/").split("/")[-2:-1]
        agent = self.conversation(id, is_child=is_child)
        agent.start(None, parent=parent, trust=Trust.MTIME, refs={"session_id": id})
        self.events.append(Noted(id, None, self.origin, INFERRED, _UNSURE))
        values = items(value.get("lines")) or [value]
        asked = [text for each in values if each.get("role") == "user" and (text := _asked(each))]
        self._spawns[id] = _spawns(values)
        if is_child and asked:
            self._asked[id] = (asked[0], self.origin)
        said = None
        for each in values:
            said = self._line(agent, each, said)
        if is_child and values[-1].get("type") == "turn_ended":
            agent.end(Outcome.COMPLETED if values[-1].get("status") == "success" else Outcome.FAILED, said)
        self._link()

    def _line(self, agent: Conversation, value: dict[str, Any], said: str | None) -> str | None:
        """One line; what the agent said last. A call is over when anything comes after it: results are not written."""
        agent.calls.clear()
        if value.get("type") == "turn_ended":
            agent.rest(title(said))
        elif value.get("role") == "assistant":
            said = _text(value) or said
            for part in _parts(value):
                if part.get("type") in ("tool_use", "tool_call"):
                    agent.call(None, word(part.get("name")), obj(part.get("input")))
            agent.rest(title(said))
        else:
            agent.prompt(_asked(value))
        return said

    def _link(self) -> None:
        """A sub-agent was probably spawned by the call that gave it its prompt."""
        for child, (asked, origin) in self._asked.items():
            callers = [id for id, spawns in self._spawns.items() if asked in spawns and id != child]
            if len(callers) == 1:
                told = self._spawns[callers[0]][asked]
                kind = word(told.get("subagent_type")) or word(told.get("agent_type"))
                self.origin = origin
                self.started(child, None, agent=kind, parent=callers[0], trust=Trust.MTIME, guessed=True)


def _asked(value: dict[str, Any]) -> str | None:
    asked = _text(value)
    _, begins, rest = (asked or "").partition(_QUERY)
    query, ends, _ = rest.partition(_AFTER_QUERY)
    return query.strip() if begins and ends else asked


def _spawns(values: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The arguments of every call that spawns a sub-agent, by the prompt."""
    calls = (part for value in values for part in _parts(value) if word(part.get("name")) in _SPAWNS)
    told = (obj(call.get("input")) for call in calls)
    return {prompt: arguments for arguments in told if (prompt := word(arguments.get("prompt")))}


def names(path: str) -> tuple[str, str | None]:
    """The id of the row a transcript is about, and of its parent, by the names of file and folder."""
    *folders, file = path.replace("\\", "/").split("/")
    stem = file.partition(".")[0]
    id = stem if _ID.fullmatch(stem) or not folders else f"{folders[-1]}/{stem}"
    above = folders[-2] if len(folders) > 1 and folders[-1] == "subagents" else ""
    return id, above if _ID.fullmatch(above) else None


def _text(value: dict[str, Any]) -> str | None:
    return prose([part for part in _parts(value) if part.get("type") == "text"])


def _parts(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [obj(part) for part in items(obj(value.get("message")).get("content"))]


def _is_message(value: dict[str, Any]) -> bool:
    return value.get("role") in ("user", "assistant") and isinstance(obj(value.get("message")).get("content"), list)
