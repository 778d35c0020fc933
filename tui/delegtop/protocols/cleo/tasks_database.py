"""CLEO's `.cleo/tasks.db`: the registry of agents that run now, with their heartbeats, parents and errors.

An agent that lives touches its row every 30 seconds; CLEO itself calls it crashed when that was three minutes ago.
Newer versions put the name of the domain before the names of the tables. All times of the database are UTC.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from typing import Any, ClassVar

from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Query, Sample, Unit
from delegtop.dialects.kit.coerce import moment, obj, parsed, refs_of
from delegtop.dialects.signature import SQLITE, Signature
from delegtop.model.events import (
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
)
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.entry_rows import entry_events, entry_notes, noted
from delegtop.protocols.cleo.manifest_entry import ManifestEntry
from delegtop.sources.records import Record

_AGENTS = (
    "id",
    "agent_type",
    "status",
    "session_id",
    "task_id",
    "started_at",
    "last_heartbeat",
    "stopped_at",
    "error_count",
    "total_tasks_completed",
    "parent_agent_id",
)
_ENTRIES = (
    "id",
    "session_id",
    "task_id",
    "epic_id",
    "type",
    "content",
    "status",
    "source_file",
    "metadata_json",
    "created_at",
)
_ERRORS = ("id", "agent_id", "error_type", "message", "occurred_at", "resolved")
_TABLES = {"agent_instances": _AGENTS, "pipeline_manifest": _ENTRIES, "agent_error_log": _ERRORS}
_DOMAINS = ("", "tasks_", "docs_")
_NAMES = tuple(domain + table for domain in _DOMAINS for table in _TABLES)
"""Any of these tells its database from others."""
_RECOVERABLE = {"retriable": True, "permanent": False}


class CleoTasks(Dialect):
    """Reads tasks.db."""

    name: ClassVar[str] = "cleo-tasks"
    title: ClassVar[str] = "CLEO task database"
    product = PRODUCT
    surest: ClassVar[int] = 90
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), ".cleo"),
        *(Signature((SQLITE,), columns=(table,)) for table in _NAMES),
    )
    about: ClassVar[About] = About(
        "CLEO with a task database",
        "`.cleo/tasks.db`",
        "tree, status, heartbeats, errors",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.DATABASE
    files: ClassVar[tuple[str, ...]] = ("tasks.db", "cleo.db")
    queries: ClassVar[tuple[Query, ...]] = tuple(
        Query(domain + table, columns) for domain in _DOMAINS for table, columns in _TABLES.items()
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._ended: set[str] = set()

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if any(sample.stores(table, named=".cleo/*.db") for table in _NAMES):
            return 90
        return 0

    def translate(self, record: Record) -> Iterable[Event]:
        row = record.value
        table = str(row.get("table", ""))
        for domain in _DOMAINS:
            match table.removeprefix(domain):
                case "agent_instances":
                    return self._agent(row, record.origin)
                case "pipeline_manifest":
                    return _entry(row, record.origin)
                case "agent_error_log":
                    return _error(row, record.origin)
        return ()

    def _agent(self, row: dict[str, Any], origin: Origin) -> Iterator[Event]:
        id = _text(row, "id")
        if id is None:
            return
        status, beat = _text(row, "status"), moment(row.get("last_heartbeat"))
        yield Started(
            id,
            moment(row.get("started_at")),
            origin,
            agent=_text(row, "agent_type"),
            task=_text(row, "task_id"),
            parent=_text(row, "parent_agent_id"),
            refs=refs_of(session_id=_text(row, "session_id"), task_id=_text(row, "task_id"), agent_instance=id),
            product=PRODUCT.name,
        )
        ending = _ending(status, row)
        if ending is None:
            if id in self._ended and beat is not None:
                yield Resumed(id, beat, origin)
                self._ended.discard(id)
            yield Heard(id, beat, origin, doing=status, phase=Phase.IDLE if status == "idle" else None)
            return
        self._ended.add(id)
        stopped = moment(row.get("stopped_at")) or (beat if status == "crashed" else None)
        yield Ended(id, stopped, origin, ending, Ending.REGISTRY, Report(status=status, agent=_text(row, "agent_type")))


def _ending(status: str | None, row: dict[str, Any]) -> Outcome | None:
    """How it ended; None while it lives. That it stopped says nothing of its work, unless it completed a task."""
    if status == "crashed":
        return Outcome.LOST
    if status != "stopped":
        return None
    done = row.get("total_tasks_completed")
    return Outcome.COMPLETED if isinstance(done, int) and done > 0 else Outcome.UNKNOWN


def _entry(row: dict[str, Any], origin: Origin) -> Iterator[Event]:
    """A manifest entry that moved into the database; its status there is that of the record, not of the work."""
    id = _text(row, "id")
    if id is None:
        return
    kept = obj(parsed(row.get("metadata_json")))
    told = {
        **kept,
        "id": id,
        "task": _text(row, "task_id") or kept.get("task"),
        "epic": _text(row, "epic_id") or kept.get("epic"),
        "type": _text(row, "type"),
        "file": _text(row, "source_file") or kept.get("file"),
        "summary": kept.get("summary") or _text(row, "content"),
        "session_id": _text(row, "session_id"),
    }
    entry, at = ManifestEntry.of(told), moment(row.get("created_at"))
    yield from entry_events(id, entry, at, origin)
    for kind, text in entry_notes(entry, at):
        if text:
            yield noted(id, at, origin, kind, text)


def _error(row: dict[str, Any], origin: Origin) -> Iterator[Event]:
    agent = _text(row, "agent_id")
    if agent is None:
        return
    kind = _text(row, "error_type")
    recoverable = True if row.get("resolved") else _RECOVERABLE.get(kind or "")
    fault = Fault(message=_text(row, "message"), type=kind, recoverable=recoverable)
    yield Erred(agent, moment(row.get("occurred_at")), origin, fault)


def _text(row: dict[str, Any], column: str) -> str | None:
    value = row.get(column)
    return value if isinstance(value, str) and value.strip() else None
