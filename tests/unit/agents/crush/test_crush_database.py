"""Two more programs that keep their sessions in a database: Crush, whose tree is exact, and Goose, which has none."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.telling import handle_of

from delegtop.agents.crush.crush_database import Crush
from delegtop.agents.goose.goose_database import Goose
from delegtop.base.clock import Millis
from delegtop.dialects import Dialect, Sample, load, names, recognise
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event, Outcome, Phase
from delegtop.model.forest import Forest
from delegtop.model.notes import UNLINKED
from delegtop.model.states import State
from delegtop.sources.records import Line
from delegtop.sources.row_reader import RowReader

T = 1_773_568_800
CRUSH = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, message_count INTEGER,
    prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, updated_at INTEGER, created_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
    updated_at INTEGER, finished_at INTEGER, is_summary_message INTEGER DEFAULT 0);
"""
GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT, working_dir TEXT,
    created_at TIMESTAMP, updated_at TIMESTAMP, accumulated_total_tokens INTEGER, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT,
    content_json TEXT, created_timestamp INTEGER);
"""


class Store:
    """A database, and what delegtop makes of it."""

    def __init__(self, path: Path, dialect: type[Dialect], schema: str) -> None:
        path.parent.mkdir()
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(
            "PRAGMA synchronous = OFF"
        )  # what the machine loses when it falls over is no matter here
        self.connection.executescript(schema)
        self._rows = RowReader(str(path), dialect.queries)
        self._dialect = dialect()
        self._forest = Forest()

    def write(self, table: str, **row: Any) -> None:
        marks = ", ".join("?" * len(row))
        sql = f"REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own names
        self.connection.execute(sql, list(row.values()))

    def at(self, seconds: int, id: str) -> tuple[State, Delegation]:
        events: list[Event] = []
        for line in self._rows.poll():
            assert isinstance(line, Line)
            events += self._dialect.read(line)  # type: ignore[arg-type] # nothing in it is unreadable
        self._forest.apply(events)
        self._forest.advance(Millis((T + seconds) * 1000))
        handle = handle_of(self._forest, id)
        return self._forest.state(handle), self._forest.delegation(handle)

    def __len__(self) -> int:
        return len(self._forest)


@pytest.fixture
def crush(tmp_path: Path) -> Iterator[Store]:
    """A session that has handed something on."""
    store = Store(tmp_path / ".crush" / "crush.db", Crush, CRUSH)
    with contextlib.closing(store.connection):
        session(store, "root", "Mend the mill", 0.05, 0)
        session(store, "title-root", "Generate a title", 0.01, 1, "root")
        message(store, "m1", "root", "user", 1, ("text", {"text": "Mend it."}))
        message(store, "m2", "root", "assistant", 2, call("k1", "agent", prompt="Look."), finish("tool_use", 3))
        session(store, "m2$$k1", "New Agent Session", 0.02, 4, "root")
        message(store, "c1", "m2$$k1", "user", 4, ("text", {"text": "Look."}))
        message(store, "c2", "m2$$k1", "assistant", 5)
        yield store


def session(store: Store, id: str, title: str, cost: float, at: int, parent: str | None = None) -> None:
    times = {"created_at": T + at, "updated_at": T + at}
    store.write("sessions", id=id, parent_session_id=parent, title=title, cost=cost, **times)


def message(store: Store, id: str, owner: str, role: str, at: int, *parts: tuple[str, dict[str, Any]]) -> None:
    told = json.dumps([{"type": kind, "data": data} for kind, data in parts])
    times = {"created_at": T + at, "updated_at": T + at}
    store.write("messages", id=id, session_id=owner, role=role, parts=told, model="grist-2", **times)


def call(id: str, name: str, **given: Any) -> tuple[str, dict[str, Any]]:
    return "tool_call", {"id": id, "name": name, "input": json.dumps(given), "finished": True}


def finish(reason: str, at: int, **more: str) -> tuple[str, dict[str, Any]]:
    return "finish", {"reason": reason, "time": T + at, **more}


def test_crush_links_a_sub_agent_to_the_very_call(crush: Store, tmp_path: Path) -> None:
    state, root = crush.at(6, "root")
    assert (state, root.agent, root.depth, root.title) == (State.WAITING, "crush", 0, "Mend the mill")
    assert (root.phase, root.tool, root.doing) == (Phase.CHILD, "agent", "Look.")
    assert (root.cwd, root.model, root.prompt) == (str(tmp_path), "grist-2", "Mend it.")
    state, child = crush.at(6, "m2$$k1")
    assert (state, child.parent, child.depth, child.title) == (State.RUNNING, "root", 1, "Look.")
    assert dict(child.refs) == {"session_id": "m2$$k1", "call_id": "k1"}
    assert child.prompt == "Look."
    assert len(crush) == 2, "the session that finds a title is no delegation"


def test_crush_counts_the_cost_of_a_child_once(crush: Store) -> None:
    assert crush.at(6, "root")[1].cost == 0.03
    assert crush.at(6, "m2$$k1")[1].cost == 0.02


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("end_turn", Outcome.COMPLETED), ("canceled", Outcome.INTERRUPTED), ("error", Outcome.FAILED)],
)
def test_a_crush_sub_agent_ends_as_its_last_message_says(crush: Store, reason: str, outcome: Outcome) -> None:
    text = ("text", {"text": "The wheel is fine."})
    message(crush, "c2", "m2$$k1", "assistant", 9, text, finish(reason, 9, message="Overloaded"))
    message(crush, "m3", "root", "tool", 10, ("tool_result", {"tool_call_id": "k1", "content": "The wheel is fine."}))
    _, child = crush.at(11, "m2$$k1")
    assert (child.outcome, child.ended_at, child.report.summary) == (outcome, (T + 9) * 1000, "The wheel is fine.")
    assert crush.at(11, "root")[1].phase is Phase.MODEL


def test_a_crush_session_between_two_prompts_is_idle(crush: Store) -> None:
    message(crush, "m4", "root", "assistant", 20, ("text", {"text": "Done."}), finish("end_turn", 21))
    assert crush.at(30, "root")[1].phase is Phase.IDLE


def test_a_crush_message_that_is_none_is_told(crush: Store) -> None:
    crush.write("messages", id="odd", session_id="root", role="user", parts="{", created_at=T, updated_at=T)
    assert crush.at(6, "root")[0] is State.WAITING


@pytest.fixture
def goose(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "goose" / "sessions.db", Goose, GOOSE)
    with contextlib.closing(store.connection):
        yield store


def flock(store: Store, id: str, kind: str) -> None:
    times = {"created_at": "2026-03-15 10:00:00", "updated_at": "2026-03-15 10:00:00"}
    model = '{"model_name": "grist-2"}'
    told = {"working_dir": "/mill", "accumulated_total_tokens": 70, "model_config_json": model}
    store.write("sessions", id=id, name=f"Work of {id}", description="", session_type=kind, **told, **times)


def say(store: Store, owner: str, role: str, at: int, *content: dict[str, Any]) -> None:
    store.write("messages", session_id=owner, role=role, content_json=json.dumps(content), created_timestamp=T + at)


def test_goose_lists_its_sub_agents_and_says_that_nothing_links_them(goose: Store) -> None:
    flock(goose, "20260315_1", "user")
    flock(goose, "20260315_2", "sub_agent")
    _, root = goose.at(5, "20260315_1")
    _, helper = goose.at(5, "20260315_2")
    assert (root.agent, root.depth, root.started_at, root.tokens) == ("goose", 0, T * 1000, 70)
    assert (root.model, root.cwd, root.notes) == ("grist-2", "/mill", ())
    assert (helper.agent, helper.own_name, helper.depth, helper.parent) == ("sub-agent", None, None, None)
    assert [note.kind for note in helper.notes] == [UNLINKED]


def test_goose_is_inside_a_tool_until_it_answers_and_idle_after_its_answer(goose: Store) -> None:
    flock(goose, "g", "user")
    say(goose, "g", "user", 1, {"type": "text", "text": "Mend it."})
    asked = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "make"}}}
    say(goose, "g", "assistant", 2, {"type": "toolRequest", "id": "k", "toolCall": asked})
    _, root = goose.at(3, "g")
    assert (root.phase, root.tool, root.doing, root.prompt) == (Phase.TOOL, "developer__shell", "make", "Mend it.")
    say(goose, "g", "user", 4, {"type": "toolResponse", "id": "k", "toolResult": {"status": "success"}})
    assert goose.at(5, "g")[1].phase is Phase.MODEL
    say(goose, "g", "assistant", 6, {"type": "text", "text": "Mended."})
    state, root = goose.at(7, "g")
    assert (state, root.phase, root.outcome) == (State.IDLE, Phase.IDLE, None)


@pytest.mark.parametrize("tool", ["delegate", "subagent", "subagent__execute_task"])
def test_goose_that_has_handed_work_on_waits_for_a_child_and_hangs_in_no_tool(goose: Store, tool: str) -> None:
    flock(goose, "g", "user")
    asked = {
        "status": "success",
        "value": {"name": tool, "arguments": {"instructions": "Look at the wheel.\nAll of it."}},
    }
    say(goose, "g", "assistant", 2, {"type": "toolRequest", "id": "k", "toolCall": asked})
    _, root = goose.at(3, "g")
    assert (root.phase, root.tool, root.doing) == (Phase.CHILD, tool, "Look at the wheel.")


def test_each_database_is_known_by_its_place() -> None:
    head = b"SQLite format 3\0" + bytes(84)
    for path, dialect in (
        ("/mill/.crush/crush.db", Crush),
        ("/home/kim/.local/share/goose/sessions/sessions.db", Goose),
        ("/home/kim/other/sessions.db", None),
    ):
        assert recognise(Sample(path, head, False), map(load, names())) is dialect
    assert recognise(Sample("/mill/.crush/crush.db", b"{}", True), [Crush, Goose]) is None
