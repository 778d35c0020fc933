"""Cursor CLI: transcripts of a session and of its sub-agents.

A line holds neither an id nor a time. The names of file and folder say who is whose; the only time is that of the
file. So this is a tree with hardly a status, and each row says so.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.foreign import clip, gist, items, obj, objects, prose, title, word
from delegtop.model.events import Described, Ended, Ending, Event, Heard, Noted, Outcome, Phase, Report, Started, Trust
from delegtop.model.notes import INFERRED
from delegtop.origin import Origin
from delegtop.sources.record import Line, Record, Unreadable, records

PRODUCT = "cursor"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_SPAWNS = frozenset({"Agent", "Task", "Subagent"})
_UNSURE = "Cursor CLI writes no times: the last sign of life is the time of the file, the start is not known"


class Cursor(Dialect):
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

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - every line of a file is about one row
        return b""

    def translate(self, record: Record) -> Iterator[Event]:
        yield from self._told([record.value], record.at, record.origin)

    def read(self, line: Line) -> Iterator[Event | Unreadable]:
        """The whole transcript at once. The last line may be half written."""
        values: list[dict[str, Any]] = []
        text, offset = line.data, 0
        for number, data in enumerate(text.split(b"\n"), 1):
            origin = Origin(line.origin.source, number, offset)
            offset += len(data) + 1
            for found in records(Line(origin, data)):
                if isinstance(found, Record):
                    values.append(found.value)
                elif offset <= len(text):
                    yield found
        if values:
            yield from self._told(values, line.at, line.origin)

    def _told(self, values: list[dict[str, Any]], at: Millis | None, origin: Origin) -> Iterator[Event]:
        id, parent = names(origin.source)
        is_child = "subagents" in origin.source.replace("\\", "/").split("/")[-2:-1]
        yield Started(
            id,
            None,
            origin,
            agent=None if is_child else PRODUCT,
            depth=None if is_child else 0,
            parent=parent,
            refs=(("session_id", id),),
            trust=Trust.MTIME,
            product=PRODUCT,
        )
        asked = _prompt(values)
        yield Described(id, None, origin, title=title(asked), prompt=clip(asked))
        yield Noted(id, None, origin, INFERRED, _UNSURE)
        yield from _end(id, values, at, origin, is_child)
        self._spawns[id] = _spawns(values)
        if is_child and asked:
            self._asked[id] = (asked, origin)
        yield from self._linked()

    def _linked(self) -> Iterator[Event]:
        """A sub-agent was probably spawned by the call that gave it its prompt."""
        for child, (asked, origin) in self._asked.items():
            callers = [id for id, spawns in self._spawns.items() if asked in spawns and id != child]
            if len(callers) != 1:
                continue
            told = self._spawns[callers[0]][asked]
            kind = word(told.get("subagent_type")) or word(told.get("agent_type"))
            yield Started(
                child, None, origin, agent=kind, parent=callers[0], trust=Trust.MTIME, product=PRODUCT, guessed=True
            )


def _prompt(values: list[dict[str, Any]]) -> str | None:
    asked = next((text for value in values if value.get("role") == "user" and (text := _text(value))), None)
    query = _QUERY.search(asked) if asked else None
    return query[1] if query else asked


def _spawns(values: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The arguments of every call that spawns a sub-agent, by the prompt."""
    calls = (part for value in values for part in _parts(value) if word(part.get("name")) in _SPAWNS)
    told = (obj(call.get("input")) for call in calls)
    return {prompt: arguments for arguments in told if (prompt := word(arguments.get("prompt")))}


def _end(id: str, values: list[dict[str, Any]], at: Millis | None, origin: Origin, is_child: bool) -> Iterator[Event]:
    """How it stands, by its last record."""
    last = values[-1]
    said = next(
        (text for value in reversed(values) if value.get("role") == "assistant" and (text := _text(value))), None
    )
    if last.get("type") == "turn_ended":
        succeeded = last.get("status") == "success"
        yield Heard(id, at, origin, title(said), phase=Phase.IDLE)
        if is_child:
            outcome = Outcome.COMPLETED if succeeded else Outcome.FAILED
            yield Ended(id, at, origin, outcome, Ending.RETURN, Report(summary=clip(said)))
        return
    calls = [part for part in _parts(last) if part.get("type") in ("tool_use", "tool_call")]
    if last.get("role") == "assistant" and calls:
        tool = word(calls[-1].get("name"))
        phase = Phase.CHILD if tool in _SPAWNS else Phase.TOOL
        yield Heard(id, at, origin, gist(obj(calls[-1].get("input"))), tool, phase=phase)
    elif last.get("role") == "assistant":
        yield Heard(id, at, origin, title(said), phase=Phase.IDLE)
    else:
        yield Heard(id, at, origin, phase=Phase.MODEL)


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
