"""OpenCode: its database, the JSON files that earlier versions kept, and what `opencode export` writes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import PurePath
from typing import Any, ClassVar

from delegtop.agents.opencode import PRODUCT, opencode_said
from delegtop.agents.opencode.record_words import word
from delegtop.agents.opencode.story import Story
from delegtop.base.product import Product
from delegtop.dialects import About, Basis, Dialect, Query, Sample, Unit
from delegtop.dialects.kit.coerce import document, items, moment, obj, parsed
from delegtop.dialects.signature import SQLITE, Signature
from delegtop.model.events import Deviation, Event
from delegtop.model.spoken import Utterance
from delegtop.sources.records import Line, Record, Unreadable

_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
_STORED = ("session", "message", "part")
TABLES = ("session.parent_id", "message.data", "part.message_id")
"""What tells its database from any other, but for those of programs that were made from it."""


class Telling(Dialect):
    """Any way in which sessions are stored that one `Story` can tell of."""

    product: ClassVar[Product] = PRODUCT

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._story = Story(self.product.name)

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        again = type(self)(self.zone)
        again._story = self._story.again()
        return again.read(line)


class OpenCode(Telling):
    """Reads `opencode.db`."""

    name: ClassVar[str] = "opencode"
    title: ClassVar[str] = "OpenCode database"
    surest: ClassVar[int] = 80
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), "opencode"),
        Signature((SQLITE,), columns=TABLES),
    )
    about: ClassVar[About] = About(
        "OpenCode 1.18",
        "`~/.local/share/opencode/opencode*.db`",
        "tree, status, tool, tokens, cost, prompts, answers, model, folder",
        Basis.MADE,
    )
    unit: ClassVar[Unit] = Unit.DATABASE
    files: ClassVar[tuple[str, ...]] = ("opencode*.db",)
    queries: ClassVar[tuple[Query, ...]] = (
        Query(
            "session",
            (
                "id",
                "parent_id",
                "directory",
                "title",
                "version",
                "agent",
                "model",
                "cost",
                "tokens_input",
                "tokens_output",
                "tokens_reasoning",
                "tokens_cache_read",
                "tokens_cache_write",
                "time_created",
                "time_updated",
            ),
            since="time_updated",
            session="id",
            parent="parent_id",
        ),
        Query(
            "message",
            ("id", "session_id", "time_created", "time_updated", "data"),
            since="time_updated",
            session="session_id",
        ),
        Query(
            "part",
            ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
            since="time_updated",
            session="session_id",
        ),
    )

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 80 if sample.stores(*TABLES, named="opencode*.db") else 0

    def translate(self, record: Record) -> Iterable[Event]:
        row = record.value
        updated = moment(row.get("time_updated"))
        if row.get("table") == "session":
            return self._story.session(record.origin, _session(row))
        value = parsed(row.get("data"))
        if not isinstance(value, dict):
            return (Deviation(record.origin, "data is no object", str(row.get("id"))),)
        value["id"] = row.get("id")
        value["sessionID"] = row.get("session_id")
        if row.get("table") == "message":
            value.setdefault("time", {"created": row.get("time_created")})
            return self._story.message(record.origin, value, updated)
        value["messageID"] = row.get("message_id")
        return self._story.part(record.origin, value, updated)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        return opencode_said.rows(records)


class OpenCodeStorage(Telling):
    """Reads the files of a `storage` folder: one for each session, message and part."""

    name: ClassVar[str] = "opencode-storage"
    title: ClassVar[str] = "OpenCode JSON storage"
    surest: ClassVar[int] = 85
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"directory":', b'"title":', b'"created":')),
        Signature((b'"role":', b'"time":', b'"created":')),
        Signature((b'"type":', b'"id":', b'"messageID":')),
        Signature((b'"type":', b'"id":'), "part"),
    )
    about: ClassVar[About] = About(
        "OpenCode before its database",
        "`~/.local/share/opencode/storage/**`",
        "tree, status, tool, tokens, cost, prompts, answers",
        Basis.FIXTURES,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 85 if _kind(document(sample), sample.path) else 0

    @classmethod
    def family(cls, path: str) -> str:
        folder = _folder(path)
        return str(folder.parent) if folder.name in _STORED else path

    def translate(self, record: Record) -> Iterable[Event]:
        value, path = record.value, record.origin.source
        kind = _kind(value, path)
        if kind == "session":
            return self._story.session(record.origin, value)
        folder = PurePath(path).parent.name
        if kind == "message":
            value.setdefault("sessionID", folder)
            return self._story.message(record.origin, value)
        if kind == "part":
            value.setdefault("messageID", folder)
            return self._story.part(record.origin, value)
        return ()


class OpenCodeExport(Telling):
    """Reads what `opencode export` writes: one session with all its messages."""

    name: ClassVar[str] = "opencode-export"
    title: ClassVar[str] = "OpenCode session export"
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"info":{', b'"id":')),)
    about: ClassVar[About] = About(
        "OpenCode, `opencode export`",
        "one JSON file a session",
        "tree as far as the session's own calls, status, tokens, cost, prompts, answers",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if sample.whole:
            value = document(sample)
            is_one = _is_session(obj(value.get("info"))) and isinstance(value.get("messages"), list)
            return 95 if is_one else 0
        return 70 if _EXPORT.match(sample.head) else 0

    def translate(self, record: Record) -> Iterator[Event]:
        info, messages = obj(record.value.get("info")), record.value.get("messages")
        yield from self._story.session(record.origin, info)
        for each in items(messages):
            told = obj(obj(each).get("info"))
            told.setdefault("sessionID", info.get("id"))
            parts = [part for part in items(obj(each).get("parts")) if isinstance(part, dict)]
            if told.get("role") == "assistant":
                # All of it has one place, so the last text goes with the message, and is not told beside the others.
                texts = [part for part in parts if part.get("type") == "text" and part.get("synthetic") is not True]
                told["text"] = texts[-1].get("text") if texts else None
                parts = [part for part in parts if part.get("type") != "text"]
            yield from self._story.message(record.origin, told)
            for part in parts:
                part.setdefault("messageID", told.get("id"))
                yield from self._story.part(record.origin, part)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        return opencode_said.export(records)


def _session(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the session table in the shape that the files have."""
    return {
        **row,
        "parentID": row.get("parent_id"),
        "model": parsed(row.get("model")),
        "tokens": {
            "input": row.get("tokens_input"),
            "output": row.get("tokens_output"),
            "reasoning": row.get("tokens_reasoning"),
            "cache": {"read": row.get("tokens_cache_read"), "write": row.get("tokens_cache_write")},
        },
        "time": {"created": row.get("time_created")},
    }


def _kind(value: dict[str, Any], path: str) -> str | None:
    """Which of the three a file is, by what is in it; the folder tells only when that leaves it open."""
    if _is_session(value):
        return "session"
    if value.get("role") in ("user", "assistant") and moment(obj(value.get("time")).get("created")) is not None:
        return "message" if word(value.get("sessionID")) or _folder(path).name == "message" else None
    if word(value.get("type")) and word(value.get("id")):
        return "part" if word(value.get("messageID")) or _folder(path).name == "part" else None
    return None


def _is_session(value: dict[str, Any]) -> bool:
    made = moment(obj(value.get("time")).get("created"))
    return word(value.get("id")) is not None and "directory" in value and "title" in value and made is not None


def _folder(path: str) -> PurePath:
    """The `session`, `message` or `part` folder the file is in; else the file itself."""
    return next((folder for folder in PurePath(path).parents if folder.name in _STORED), PurePath(path))
