"""The state database of Codex CLI: which thread spawned which.

It knows no run state, so it only says that a spawned thread is there, for the case that its rollout is not: moved
away, or not looked at. What the rollout itself says outweighs all of this.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.agents.codex import PRODUCT
from delegtop.agents.codex.names import DEFAULT_ROLE
from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Query, Sample, Unit
from delegtop.dialects.kit.coerce import clip, moment, number, obj, parsed, refs_of, title, word
from delegtop.dialects.signature import SQLITE, Signature
from delegtop.model.events import Described, Event, Heard, Noted, Started
from delegtop.model.notes import PROGRESS
from delegtop.sources.records import Record

_TABLES = ("threads", "thread_spawn_edges.child_thread_id")
"""What tells its database from any other."""


class CodexState(Dialect):
    """Reads the tables of threads and of who spawned whom."""

    name: ClassVar[str] = "codex-state"
    title: ClassVar[str] = "Codex CLI state database"
    product = PRODUCT
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), "state_"),
        Signature((SQLITE,), columns=_TABLES),
    )
    about: ClassVar[About] = About(
        "Codex CLI with a state database",
        "`~/.codex/state_*.sqlite`",
        "tree and tokens of threads whose rollout is not there",
        Basis.MADE,
    )
    unit: ClassVar[Unit] = Unit.DATABASE
    files: ClassVar[tuple[str, ...]] = ("state_*.sqlite",)
    queries: ClassVar[tuple[Query, ...]] = (
        Query(
            "threads",
            (
                "id",
                "created_at",
                "created_at_ms",
                "updated_at",
                "updated_at_ms",
                "source",
                "cwd",
                "title",
                "tokens_used",
                "cli_version",
                "first_user_message",
                "agent_nickname",
                "agent_role",
                "agent_path",
                "model",
            ),
            where="source LIKE '{\"subagent\"%' AND archived = 0",
            since="updated_at_ms",
            session="id",
        ),
        Query(
            "thread_spawn_edges",
            ("parent_thread_id", "child_thread_id", "status"),
            session="child_thread_id",
            parent="parent_thread_id",
        ),
    )

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 95 if sample.stores(*_TABLES, named="state_[0-9]*.sqlite") else 0

    def translate(self, record: Record) -> Iterator[Event]:
        match record.value.get("table"):
            case "threads":
                yield from _thread(record.value, record.origin)
            case "thread_spawn_edges":
                yield from _edge(record.value, record.origin)


def _thread(row: dict[str, Any], origin: Origin) -> Iterator[Event]:
    id = word(row.get("id"))
    spawn = obj(obj(obj(parsed(row.get("source"))).get("subagent")).get("thread_spawn"))
    if id is None or not spawn:
        return
    at = moment(row.get("created_at_ms")) or moment(row.get("created_at"))
    yield Started(
        id,
        at,
        origin,
        agent=word(row.get("agent_role")) or word(spawn.get("agent_role")) or DEFAULT_ROLE,
        depth=number(spawn.get("depth")),
        parent=word(spawn.get("parent_thread_id")),
        refs=refs_of(thread_id=id, agent_path=word(row.get("agent_path")) or word(spawn.get("agent_path"))),
        listed=True,
        product=PRODUCT.name,
    )
    asked = word(row.get("first_user_message"))
    yield Described(
        id,
        None,  # any word of the rollout is better
        origin,
        title=title(word(row.get("title")) or asked),
        name=word(row.get("agent_nickname")) or word(spawn.get("agent_nickname")),
        model=word(row.get("model")),
        prompt=clip(asked),
        cwd=word(row.get("cwd")),
        version=word(row.get("cli_version")),
    )
    heard = moment(row.get("updated_at_ms")) or moment(row.get("updated_at"))
    if heard is not None and at is not None:
        # Rounded down, so that it never hides what the rollout says it was doing at the same moment.
        heard = Millis(max(at, heard - heard % MINUTE))
    yield Heard(id, heard, origin, tokens=number(row.get("tokens_used")) or None)


def _edge(row: dict[str, Any], origin: Origin) -> Iterator[Event]:
    parent, child = word(row.get("parent_thread_id")), word(row.get("child_thread_id"))
    if parent is None or child is None:
        return
    yield Started(child, None, origin, parent=parent, refs=(("thread_id", child),), listed=True, product=PRODUCT.name)
    if row.get("status") == "closed":
        yield Noted(child, None, origin, PROGRESS, "closed by the agent that spawned it")
