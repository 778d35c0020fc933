"""Cline CLI: its `sessions.db`, one row for each session and sub-agent, with its process, its status and its exit code.

A row names the agent that spawned it, but the session itself has no agent id: whoever was spawned by no sub-agent was
spawned by the session. An agent that an error of its model ended is `completed` here, so this is the weaker word on
ends: its messages tell better.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from delegtop.agents.cline import PRODUCT
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Query, Sample, Unit
from delegtop.dialects.kit.coerce import clip, dollars, moment, number, obj, parsed, refs_of, title, word
from delegtop.dialects.kit.conversation import ENDS
from delegtop.dialects.signature import SQLITE, Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import (
    LOCALHOST,
    Described,
    Deviation,
    Ended,
    Ending,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Resumed,
    Sighted,
    Started,
)
from delegtop.model.usage import Counts
from delegtop.sources.records import Record

SUBAGENT = "subagent"
_TABLES = ("sessions.session_id", "sessions.pid", "sessions.parent_agent_id", "subagent_spawn_queue")
"""What tells its database from any other."""
_COLUMNS = (
    "session_id",
    "pid",
    "started_at",
    "ended_at",
    "exit_code",
    "status",
    "interactive",
    "model",
    "cwd",
    "parent_session_id",
    "parent_agent_id",
    "agent_id",
    "prompt",
    "metadata_json",
    "updated_at",
)
_NESTED = "coalesce(parent_agent_id IN (SELECT agent_id FROM sessions), 0)"
"""A sub-agent spawned it. Whoever spawns is written before what it spawns, so this never changes."""


class Cline(Dialect):
    """Reads `sessions.db`."""

    name: ClassVar[str] = "cline"
    title: ClassVar[str] = "Cline CLI session database"
    product = PRODUCT
    surest: ClassVar[int] = 85
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), "sessions.db"),
        Signature((SQLITE,), columns=_TABLES),
    )
    about: ClassVar[About] = About(
        "Cline CLI 3.0",
        "`~/.cline/data/db/sessions.db`",
        "tree, status, exit code, process, prompts, tokens, cost, model, folder",
        Basis.MADE,
    )
    unit: ClassVar[Unit] = Unit.DATABASE
    files: ClassVar[tuple[str, ...]] = ("sessions.db",)
    queries: ClassVar[tuple[Query, ...]] = (
        Query("sessions", _COLUMNS, "updated_at", f"NOT {_NESTED}", "session_id", "parent_session_id"),
        Query("sessions", _COLUMNS, "updated_at", _NESTED, "session_id", "parent_session_id"),
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._ended: set[str] = set()
        self._noted: dict[tuple[str, int], Millis] = {}
        """When a process was first seen to have a session."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 85 if sample.stores(*_TABLES, named="db/sessions.db") else 0

    def translate(self, record: Record) -> Iterable[Event]:
        row, origin = record.value, record.origin
        id = word(row.get("session_id"))
        if id is None:
            return (Deviation(origin, DeviationKind.MISSING_SESSION_ID.value, "a row of sessions"),)
        told = list(session_events(id, row, origin, nested=origin.offset == 1))  # which query it is of
        told += self._process(id, row, origin)
        if any(isinstance(event, Ended) for event in told):
            self._ended.add(id)
        elif id in self._ended and (at := moment(row.get("updated_at"))) is not None:
            self._ended.discard(id)
            told.insert(0, Resumed(id, at, origin))
        return told

    def _process(self, id: str, row: dict[str, Any], origin: Origin) -> Iterator[Event]:
        """The process that has it open. A session that is taken up again keeps its start and gets another process,
        which began before it wrote the row; the number of one that is over may be another's by now."""
        pid, at = number(row.get("pid")), moment(row.get("updated_at"))
        if pid and at is not None and word(row.get("status")) not in ENDS:
            at = self._noted.setdefault((id, pid), at)
            yield Started(id, at, origin, pid=pid, host=LOCALHOST, listed=True, product=PRODUCT.name)


def session_events(id: str, row: dict[str, Any], origin: Origin, *, nested: bool = False) -> Iterator[Event]:
    """What one session or sub-agent is, and how it stands."""
    root, begun = word(row.get("parent_session_id")), moment(row.get("started_at"))
    agent_id, spawner = word(row.get("agent_id")), word(row.get("parent_agent_id"))
    yield Started(
        id,
        begun,
        origin,
        agent=SUBAGENT if root else PRODUCT.name,
        depth=0 if root is None else None if nested else 1,
        parent=f"{root}__{spawner}" if root and nested else root,
        refs=refs_of(session_id=root or id, agent_id=agent_id),
        product=PRODUCT.name,
    )
    more, asked = obj(parsed(row.get("metadata_json"))), word(row.get("prompt"))
    yield Described(
        id,
        begun,
        origin,
        title=title(word(more.get("title")) or asked),
        model=word(row.get("model")),
        prompt=clip(asked),
        cwd=word(row.get("cwd")),
        version=word(obj(more.get("sessionHistoryOrigin")).get("version")),
        branch=word(obj(more.get("git")).get("branch")),
    )
    yield from _spent(id, obj(more.get("usage")), origin)
    yield from _standing(id, row, origin)


def _spent(id: str, usage: dict[str, Any], origin: Origin) -> Iterator[Event]:
    tokens, paid = spent(usage), dollars(usage.get("totalCost"))
    if tokens or paid:
        yield Heard(id, None, origin, tokens=tokens or None, cost=paid or None)


def spent(usage: dict[str, Any]) -> int:
    """The tokens of one account of use that were new, without those that were read from a cache."""
    return sum(number(usage.get(key)) or 0 for key in ("inputTokens", "outputTokens", "cacheWriteTokens"))


def kinds(usage: dict[str, Any]) -> Counts:
    """The same tokens by kind, and those that were read from a cache."""
    keys = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    into, out, read, written = (number(usage.get(key)) or 0 for key in keys)
    return into, out, read, written, 0


def _standing(id: str, row: dict[str, Any], origin: Origin) -> Iterator[Event]:
    status, at = word(row.get("status")), moment(row.get("updated_at")) or moment(row.get("started_at"))
    if status in ENDS:
        outcome, code = ENDS[status], number(row.get("exit_code"))
        failed = outcome is Outcome.FAILED and code is not None
        report = Report(errors=(Fault(f"exit code {code}"),)) if failed else Report()
        yield Ended(id, moment(row.get("ended_at")) or at, origin, outcome, Ending.REGISTRY, report)
    elif status == "idle":
        yield Heard(id, at, origin, phase=Phase.IDLE)
    elif status != "running":
        yield Deviation(origin, DeviationKind.UNKNOWN_STATUS.value, f"status: {row.get('status')!r}"[:200])
    elif not row.get("interactive"):  # one that a person talks to is running also between two prompts
        yield Sighted(id, at, origin)
