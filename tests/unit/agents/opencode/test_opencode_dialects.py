"""OpenCode's sessions: the tree, who does what, and how each ended, from its database, its files and its exports."""

import contextlib
import json
import os
import random
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.telling import handle_of

from delegtop.agents.opencode.opencode_dialects import OpenCode, OpenCodeExport, OpenCodeStorage
from delegtop.agents.opencode.run_stream import OpenCodeStream
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.dialects import Dialect, Sample, load, names, recognise
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ending, Event, Heard, Outcome, Phase, Resumed, Started
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.database import columns_of
from delegtop.sources.records import Line
from delegtop.sources.row_reader import RowReader

REAL_LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
SAMPLE = Path(__file__).parents[4] / "sample_logs" / "opencode"
T = 1_773_568_800_000
SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, agent TEXT,
    model TEXT, cost REAL, tokens_input INTEGER, tokens_output INTEGER, tokens_reasoning INTEGER,
    tokens_cache_read INTEGER, tokens_cache_write INTEGER, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
CREATE TABLE credential (id TEXT PRIMARY KEY, value TEXT);
INSERT INTO credential VALUES ('one', 'a secret');
"""


class Store:
    """A database as OpenCode writes it, and what delegtop makes of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(
            "PRAGMA synchronous = OFF"
        )  # what the machine loses when it falls over is no matter here
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(SCHEMA)
        self.rows = RowReader(str(path), OpenCode.queries)
        self.dialect = OpenCode()
        self.forest = Forest()

    def session(self, id: str, at: int = 0, parent: str | None = None, **columns: Any) -> None:
        row: dict[str, Any] = {
            "id": id,
            "parent_id": parent,
            "directory": "/home/kim/mill",
            "title": f"Work of {id}",
            "version": "1.18.0",
            "time_created": T + at,
            "time_updated": T + at,
            **columns,
        }
        self._write("session", row)

    def message(self, id: str, session: str, at: int, updated: int | None = None, **data: Any) -> None:
        done = data.pop("done", None)
        time = {"created": T + at} if done is None else {"created": T + at, "completed": T + done}
        written = T + max(at, done or 0, updated or 0)
        value = json.dumps({"role": "assistant", "time": time, **data})
        row = {"id": id, "session_id": session, "time_created": T + at, "time_updated": written, "data": value}
        self._write("message", row)

    def part(self, id: str, message: str, session: str, at: int, **data: Any) -> None:
        row = {"id": id, "message_id": message, "session_id": session, "time_created": T + at, "time_updated": T + at}
        self._write("part", {**row, "data": json.dumps(data)})

    def tool(self, id: str, message: str, session: str, at: int, tool: str, status: str, **state: Any) -> None:
        self.part(
            id, message, session, at, type="tool", tool=tool, callID=f"call-{id}", state={"status": status, **state}
        )

    def _write(self, table: str, row: dict[str, Any]) -> None:
        marks = ", ".join("?" * len(row))
        sql = f"REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own names
        self.connection.execute(sql, list(row.values()))

    def read(self) -> list[Event]:
        events: list[Event] = []
        for line in self.rows.poll():
            assert isinstance(line, Line)
            events += self.dialect.read(line)  # type: ignore[arg-type] # nothing in it is unreadable
        self.forest.apply(events)
        return events

    def at(self, moment: int, id: str) -> tuple[State, Delegation]:
        self.read()
        self.forest.advance(Millis(T + moment))
        handle = handle_of(self.forest, id)
        return self.forest.state(handle), self.forest.delegation(handle)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "opencode.db")
    with contextlib.closing(made.connection):
        yield made
    made.rows.close()


@pytest.fixture
def family(store: Store) -> Store:
    """A root that waits for one sub-agent, which has just begun."""
    store.session("root", 0, title="Mend the mill", agent="build", model='{"id":"grist-2","providerID":"mill"}')
    store.message("m1", "root", 100, role="user")
    store.part("p1", "m1", "root", 101, type="text", text="Mend the mill, please.")
    store.message("m2", "root", 200, modelID="grist-2")
    store.session("child", 1000, "root", title="Look at the wheel (@scout subagent)", agent="scout")
    store.tool("p2", "m2", "root", 1001, "task", "running", **task("child", start=T + 1000))
    store.message("c1", "child", 1100, role="user")
    store.part("q1", "c1", "child", 1101, type="text", text="Look at the wheel.")
    store.message("c2", "child", 1200)
    return store


def task(child: str | None, start: int, end: int | None = None, **metadata: Any) -> dict[str, Any]:
    given = {"description": "Look at the wheel", "prompt": "Look at the wheel.", "subagent_type": "scout"}
    time = {"start": start} if end is None else {"start": start, "end": end}
    about = {"sessionId": child, **metadata} if child else metadata
    return {"input": given, "metadata": about, "time": time}


def of(events: Iterable[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_a_session_and_its_sub_agent_are_a_root_and_a_child(family: Store) -> None:
    _, root = family.at(2000, "root")
    _, child = family.at(2000, "child")
    assert (root.agent, root.depth, root.own_name, root.title) == ("opencode", 0, "build", "Mend the mill")
    assert (root.model, root.cwd, root.version) == ("grist-2", "/home/kim/mill", "1.18.0")
    assert (root.prompt, root.product) == ("Mend the mill, please.", "opencode")
    assert (child.agent, child.depth, child.parent, child.title) == ("scout", 1, "root", "Look at the wheel")
    assert child.prompt == "Look at the wheel."
    assert set(child.refs) == {("session_id", "child"), ("call_id", "call-p2")}
    assert (child.started_at, child.claims) == (T + 1000, ())


def test_a_parent_waits_inside_the_task_while_the_child_waits_for_the_model(family: Store) -> None:
    state, root = family.at(2000, "root")
    assert (state, root.phase, root.tool, root.doing) == (State.WAITING, Phase.CHILD, "task", "Look at the wheel")
    state, child = family.at(2000, "child")
    assert (state, child.phase) == (State.RUNNING, Phase.MODEL)


def test_a_tool_that_runs_is_named_with_what_it_works_on(family: Store) -> None:
    family.tool("q2", "c2", "child", 1300, "bash", "running", input={"command": "make wheel"}, time={"start": T + 1300})
    _, child = family.at(2000, "child")
    assert (child.phase, child.tool, child.doing, child.heard_at) == (Phase.TOOL, "bash", "make wheel", T + 1300)
    family.tool("q2", "c2", "child", 1900, "bash", "completed", input={}, time={"start": T + 1300, "end": T + 1890})
    _, child = family.at(2000, "child")
    assert (child.phase, child.tool, child.heard_at) == (Phase.MODEL, None, T + 1900)


def test_of_two_tools_the_one_that_is_still_running_is_shown(family: Store) -> None:
    family.tool("q2", "c2", "child", 1300, "bash", "running", input={"command": "make"}, time={"start": T + 1300})
    family.tool("q3", "c2", "child", 1500, "read", "completed", input={}, time={"start": T + 1310, "end": T + 1500})
    _, child = family.at(2000, "child")
    assert (child.phase, child.tool, child.heard_at) == (Phase.TOOL, "bash", T + 1500)


def test_a_tool_left_running_in_an_older_message_is_not_what_goes_on(family: Store) -> None:
    family.tool("q2", "c2", "child", 1300, "bash", "running", input={"command": "make"}, time={"start": T + 1300})
    family.message("c3", "child", 9000, role="user")
    family.message("c4", "child", 9100)
    _, child = family.at(9200, "child")
    assert (child.phase, child.tool) == (Phase.MODEL, None)


def test_a_question_waits_for_a_person(family: Store) -> None:
    family.tool("q2", "c2", "child", 1300, "question", "running", input={}, time={"start": T + 1300})
    assert family.at(2000, "child")[1].phase is Phase.ANSWER


def test_a_root_whose_turn_is_over_is_idle_and_not_ended(store: Store) -> None:
    store.session("root")
    store.message("m1", "root", 100, role="user")
    store.message("m2", "root", 200, done=900, finish="stop")
    state, root = store.at(10**9, "root")
    assert (state, root.phase, root.outcome) == (State.IDLE, Phase.IDLE, None)


def test_a_root_that_was_refused_by_the_model_is_idle_with_an_error(store: Store) -> None:
    store.session("root")
    error = {"name": "APIError", "data": {"message": "Overloaded", "statusCode": 529}}
    store.message("m2", "root", 200, done=900, error=error)
    state, root = store.at(2000, "root")
    assert state is State.IDLE
    assert [(fault.type, fault.message) for fault in root.errors] == [("APIError", "Overloaded")]


def test_a_child_comes_back_with_its_last_text(family: Store) -> None:
    family.part("q2", "c2", "child", 1500, type="text", text="First thoughts.")
    family.part("q3", "c2", "child", 1600, type="text", text="The wheel is fine.")
    family.read()
    family.message("c2", "child", 1200, done=1700, finish="stop")
    family.tool("p2", "m2", "root", 1800, "task", "completed", **task("child", T + 1000, T + 1800), output="x")
    state, child = family.at(2000, "child")
    assert (state, child.ended_at, child.ended_by) == (State.COMPLETED, T + 1700, Ending.RETURN)
    assert child.report.summary == "The wheel is fine."


def test_the_answer_is_found_though_the_parts_are_read_after_the_message(family: Store) -> None:
    family.message("c2", "child", 1200, done=1700, finish="stop")
    family.part("q2", "c2", "child", 1500, type="text", text="First thoughts.")
    family.part("q3", "c2", "child", 1600, type="text", text="The wheel is fine.")
    assert family.at(2000, "child")[1].report.summary == "The wheel is fine."


def test_a_step_that_calls_tools_is_no_end(family: Store) -> None:
    family.message("c2", "child", 1200, done=1700, finish="tool-calls")
    state, child = family.at(2000, "child")
    assert (state, child.phase) == (State.RUNNING, Phase.MODEL)


def test_a_summary_to_save_room_is_no_end(family: Store) -> None:
    family.message("c2", "child", 1200, done=1700, finish="stop", mode="compaction", summary=True)
    assert family.at(2000, "child")[0] is State.RUNNING


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        ({"done": 1700, "error": {"name": "MessageAbortedError", "data": {"message": "aborted"}}}, Outcome.INTERRUPTED),
        ({"error": {"name": "APIError", "data": {"message": "Overloaded"}}}, Outcome.FAILED),
        ({"done": 1700, "finish": "length"}, Outcome.PARTIAL),
        ({"done": 1700, "finish": "error"}, Outcome.FAILED),
        ({"done": 1700}, Outcome.COMPLETED),
    ],
)
def test_the_last_message_of_a_child_tells_how_it_ended(family: Store, data: dict[str, Any], outcome: Outcome) -> None:
    family.message("c2", "child", 1200, **data)
    assert family.at(2000, "child")[1].outcome is outcome


def test_an_error_of_the_child_is_not_hidden_by_a_completed_call(family: Store) -> None:
    family.message("c2", "child", 1200, done=1700, error={"name": "APIError", "data": {"message": "Overloaded"}})
    output = '<task id="child" state="completed">\n<task_result>\n\n</task_result>\n</task>'
    family.tool("p2", "m2", "root", 1800, "task", "completed", **task("child", T + 1000, T + 1800), output=output)
    state, child = family.at(2000, "child")
    assert (state, [fault.message for fault in child.errors]) == (State.FAILED, ["Overloaded"])


def test_a_child_that_was_cut_off_is_interrupted_by_the_word_of_the_call(family: Store) -> None:
    state_of_call = {**task("child", T + 1000, T + 1800), "error": "Tool execution aborted"}
    family.tool("p2", "m2", "root", 1800, "task", "error", **state_of_call)
    state, child = family.at(2000, "child")
    assert (state, child.ended_by) == (State.INTERRUPTED, Ending.CANCEL)


def test_a_call_that_failed_fails_its_child(family: Store) -> None:
    family.tool("p2", "m2", "root", 1800, "task", "error", **task("child", T + 1000, T + 1800), error="no disk")
    state, child = family.at(2000, "child")
    assert (state, [fault.message for fault in child.errors]) == (State.FAILED, ["no disk"])


def test_a_call_that_made_no_sub_agent_is_an_error_of_the_caller_and_no_row(family: Store) -> None:
    state_of_call = {**task(None, T + 1000, T + 1800), "error": "Unknown agent type: wheelwright"}
    family.tool("p3", "m2", "root", 1800, "task", "error", **state_of_call)
    _, root = family.at(2000, "root")
    assert [fault.message for fault in root.errors] == ["Unknown agent type: wheelwright"]
    assert len(family.forest) == 2


def test_a_child_in_the_background_runs_on_after_its_call(family: Store) -> None:
    launched = {**task("child", T + 1000, T + 1010, background=True), "output": '<task id="child" state="running">'}
    family.tool("p2", "m2", "root", 1010, "task", "completed", **launched)
    assert family.at(2000, "child")[0] is State.RUNNING
    assert family.at(2000, "root")[1].phase is Phase.MODEL
    text = '<task id="child" state="error">\n<task_error>\nThe wheel fell off.\n</task_error>\n</task>'
    family.message("m3", "root", 3000, role="user")
    family.part("p9", "m3", "root", 3001, type="text", synthetic=True, text=text)
    state, child = family.at(3500, "child")
    assert (state, [fault.message for fault in child.errors]) == (State.FAILED, ["The wheel fell off."])


def test_a_person_who_writes_such_a_text_ends_nothing(family: Store) -> None:
    family.message("m3", "root", 3000, role="user")
    family.part("p9", "m3", "root", 3001, type="text", text='<task id="child" state="completed">')
    assert family.at(3500, "child")[0] is State.RUNNING


def test_a_child_that_is_asked_again_runs_again(family: Store) -> None:
    family.message("c2", "child", 1200, done=1700, finish="stop")
    assert family.at(2000, "child")[0] is State.COMPLETED
    family.message("c3", "child", 5000, role="user")
    family.message("c4", "child", 5100)
    events = family.read()
    assert [event.at for event in of(events, Resumed)] == [T + 5000]
    assert family.at(5200, "child")[0] is State.RUNNING
    family.message("c4", "child", 5100, done=6000, finish="stop")
    state, child = family.at(6100, "child")
    assert (state, child.ended_at) == (State.COMPLETED, T + 6000)


def test_what_is_left_running_for_ever_is_lost_by_its_age(family: Store) -> None:
    day = 24 * 3600 * 1000
    assert family.at(3 * day, "child")[0] is State.LOST
    assert family.at(3 * day, "root")[0] is State.LOST


def test_tokens_and_cost_are_those_of_the_session_alone(family: Store) -> None:
    use = {"input": 100, "output": 20, "reasoning": 3, "cache": {"read": 4000, "write": 50}}
    family.message("c2", "child", 1200, tokens=use, cost=0.02)
    family.message("c3", "child", 1300, tokens={"input": 7}, cost=0.01)
    _, child = family.at(2000, "child")
    assert (child.tokens, child.cost) == (180, 0.03)
    assert family.at(2000, "root")[1].tokens is None
    family.session("child", 1000, "root", tokens_input=9000, cost=0.5, time_updated=T + 2000)
    _, child = family.at(2000, "child")
    assert (child.tokens, child.cost) == (9000, 0.5)


def test_kinds_of_tokens_are_charged_by_message_however_often_that_is_written(family: Store) -> None:
    cache = {"read": 900, "write": 40}
    for output in (1, 5):
        use = {"input": 100, "output": output, "reasoning": 30, "cache": cache}
        family.message("c2", "child", 1200, tokens=use, modelID="m")
        for other in range(6):
            family.message(f"d{other}", "child", 1300 + other, tokens={"input": 1}, modelID="n")
    assert family.at(2000, "child")[1].usage == (Usage("m", 100, 35, 900, 40), Usage("n", 6))


def test_a_title_that_only_stands_in_is_none(store: Store) -> None:
    store.session("root", title="New session - 2026-03-15T10:00:00.000Z")
    assert store.at(100, "root")[1].title is None
    store.session("root", title="Mend the mill", time_updated=T + 500)
    assert store.at(600, "root")[1].title == "Mend the mill"


def test_the_model_is_waited_for_again_after_a_refusal(family: Store) -> None:
    error = {"name": "APIError", "data": {"message": "Overloaded"}}
    family.part("q5", "c2", "child", 1400, type="retry", attempt=2, error=error, time={"created": T + 1400})
    _, child = family.at(2000, "child")
    assert (child.phase, child.doing) == (Phase.MODEL, "retry 2: Overloaded")


def test_no_secret_is_read(store: Store) -> None:
    store.session("root")
    assert all(b"secret" not in line.data for line in store.rows.poll() if isinstance(line, Line))


def test_a_record_that_is_none_is_told_and_stops_nothing(store: Store) -> None:
    store.session("root")
    store.connection.execute("INSERT INTO message VALUES ('m', 'root', 1, ?, 'no JSON')", (T,))
    store.connection.execute("INSERT INTO message VALUES ('n', 'root', 1, ?, '[]')", (T,))
    store.connection.execute("INSERT INTO part VALUES ('p', NULL, 'root', 1, ?, '{}')", (T,))
    store.message("m2", "root", 5, done=9, finish="stop", tokens="many", cost=[], error="", agent=7, modelID={})
    store.part("p2", "m2", "root", 5, type="tool", tool=None, state="odd")
    assert store.at(10, "root")[0] is State.IDLE
    assert len(store.forest) == 1


def test_a_row_told_once_more_for_people_changes_nothing(family: Store) -> None:
    lines = [line for line in family.rows.poll() if isinstance(line, Line)]
    for line in lines:
        list(family.dialect.read(line))
    again = [event for line in lines for event in family.dialect.retell(line)]
    assert {type(event) for event in again} >= {Started, Heard}
    assert any(isinstance(event, Heard) and event.phase is Phase.CHILD for event in again)


# -- files ---------------------------------------------------------------------------------------------------------


def tell(files: Iterable[Path]) -> Forest:
    forest = Forest()
    readers: dict[str, Dialect] = {}
    for path in files:
        data = path.read_bytes()
        dialect = recognise(Sample(str(path), data, True), map(load, names()))
        assert dialect is OpenCodeStorage, path
        reader = readers.setdefault(dialect.family(str(path)), dialect())
        forest.apply(reader.read(Line(Origin(str(path), 1, 0), data, Millis(T))))  # type: ignore[arg-type] # all readable
    assert len(readers) == 1
    forest.advance(Millis(T + 620_000))
    return forest


def outline(forest: Forest) -> list[tuple[int, Delegation, State]]:
    return [(forest.level(each), forest.delegation(each), forest.state(each)) for each in forest.walk()]


def test_the_files_of_an_older_version_tell_the_same_kind_of_tree() -> None:
    told = outline(tell(sorted(SAMPLE.rglob("*.json"))))
    assert [(level, each.id, each.agent, str(state)) for level, each, state in told] == [
        (0, "ses_lantern", "opencode", "waiting"),
        (1, "ses_profile", "profiler", "completed"),
        (1, "ses_schema", "general", "interrupted"),
        (1, "ses_review", "reviewer", "running"),
        (2, "ses_notes", "general", "failed"),
    ]
    review = told[3][1]
    assert (review.phase, review.tool, review.doing) == (Phase.TOOL, "bash", "pytest -q tests/import")
    assert told[1][1].report.summary == "The time goes into opening the index once for every row."
    assert (told[1][1].tokens, told[1][1].cost) == (5060, 0.017)


def test_the_order_in_which_the_files_are_found_does_not_matter() -> None:
    files = sorted(SAMPLE.rglob("*.json"))
    expected = outline(tell(files))
    for seed in range(5):
        random.Random(seed).shuffle(files)
        assert outline(tell(files)) == expected


@pytest.mark.parametrize("value", [{}, {"id": "a"}, {"type": "text", "id": "x"}, {"role": "user"}, [1], "text"])
def test_a_json_file_of_another_kind_is_not_taken_for_one_of_opencode(value: Any) -> None:
    sample = Sample("/tmp/other/thing.json", json.dumps(value).encode(), True)
    assert OpenCodeStorage.sniff(sample) == 0
    assert OpenCodeExport.sniff(sample) == 0


def test_an_export_tells_of_its_session_and_of_those_it_made() -> None:
    def message(id: str, role: str, at: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        time = {"created": T + at, **more.pop("time", {})}
        return {"info": {"id": id, "sessionID": "ses_a", "role": role, "time": time, **more}, "parts": list(parts)}

    made = {"sessionId": "ses_b"}
    value = {
        "info": {
            "id": "ses_a",
            "parentID": "ses_0",
            "directory": "/m",
            "title": "A (@scout subagent)",
            "time": {"created": T},
        },
        "messages": [
            message("m1", "user", 1, {"id": "p1", "type": "text", "text": "Go."}),
            message(
                "m2",
                "assistant",
                2,
                {
                    "id": "p2",
                    "type": "tool",
                    "tool": "task",
                    "callID": "c",
                    "state": {"status": "completed", "metadata": made},
                },
                {"id": "p3", "type": "text", "text": "One."},
                {"id": "p4", "type": "text", "text": "Two."},
                time={"completed": T + 9},
                finish="stop",
            ),
        ],
    }
    data = json.dumps(value).encode()
    sample = Sample("/tmp/export.json", data, True)
    assert recognise(sample, map(load, names())) is OpenCodeExport
    assert OpenCodeExport.sniff(Sample("/tmp/export.json", data[:100], False)) > 0
    forest = Forest()
    forest.apply(OpenCodeExport().read(Line(Origin("/tmp/export.json", 1, 0), data)))  # type: ignore[arg-type] # all readable
    (first, second) = (forest.delegation(handle) for handle in range(2))
    assert (first.id, first.parent, first.outcome, first.report.summary) == (
        "ses_a",
        "ses_0",
        Outcome.COMPLETED,
        "Two.",
    )
    assert (second.id, second.parent, second.outcome) == ("ses_b", "ses_a", Outcome.COMPLETED)


def test_a_database_is_known_by_its_tables_and_by_its_name_only_where_they_cannot_be_seen(store: Store) -> None:
    head = store.path.read_bytes()[:100]
    tables = columns_of(str(store.path))
    assert recognise(Sample("/x/anything", head, False, tables), map(load, names())) is OpenCode
    assert recognise(Sample("/x/opencode.db", head, False, frozenset({"session"})), map(load, names())) is None
    assert recognise(Sample("/x/opencode.db", head, False), map(load, names())) is OpenCode
    assert OpenCode.sniff(Sample("/x/opencode-beta.db", head, False)) > 0
    assert OpenCode.sniff(Sample("/x/other.db", head, False)) == 0
    assert OpenCode.sniff(Sample("/x/opencode.db", b"text", True)) == 0


def test_a_copy_with_another_name_and_json_in_an_index_shows_its_tree(
    family: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    family.connection.execute("CREATE INDEX by_role ON message (id, json_extract(data, '$.role'))")
    copy = tmp_path / "kept.sqlite3"
    with contextlib.closing(sqlite3.connect(copy)) as kept:
        family.connection.backup(kept)
    assert main(["tree", str(copy), "--json"]) == Exit.OK
    shown = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in shown["delegations"]] == ["root", "child"]


def printed(kind: str, at: int, **part: Any) -> bytes:
    about = {"messageID": "m1", "sessionID": "ses_a", **part}
    return json.dumps({"type": kind, "timestamp": T + at, "sessionID": "ses_a", "part": about}).encode()


def test_what_a_run_prints_tells_of_the_sub_agents_that_came_back() -> None:
    state = {"status": "completed", **task("ses_b", T + 1, T + 50), "output": "<task_result>\nFine.\n</task_result>"}
    lines = [
        printed("step_start", 1, type="step-start", id="p1"),
        printed("tool_use", 51, type="tool", id="p2", tool="task", callID="k", state=state),
        printed("step_finish", 60, type="step-finish", reason="stop", cost=0.5, tokens={"input": 7}),
    ]
    assert recognise(Sample("/tmp/run.jsonl", b"\n".join(lines), True), map(load, names())) is OpenCodeStream
    forest, dialect = Forest(), OpenCodeStream()
    for number, data in enumerate(lines, 1):
        forest.apply(dialect.read(Line(Origin("/tmp/run.jsonl", number, 0), data)))  # type: ignore[arg-type] # all readable
    forest.advance(Millis(T + 100))
    told = outline(forest)
    assert [(level, each.id, each.agent, str(state)) for level, each, state in told] == [
        (0, "ses_a", "opencode", "idle"),
        (1, "ses_b", "scout", "completed"),
    ]
    assert (told[0][1].tokens, told[0][1].cost, told[1][1].report.summary) == (7, 0.5, "Fine.")


def test_an_error_that_a_run_prints_is_one_of_its_session() -> None:
    error = {"name": "APIError", "data": {"message": "Overloaded"}}
    line = json.dumps({"type": "error", "timestamp": T, "sessionID": "ses_a", "error": error}).encode()
    forest = Forest()
    forest.apply(OpenCodeStream().read(Line(Origin("/tmp/run.jsonl", 1, 0), line)))  # type: ignore[arg-type] # all readable
    assert [fault.message for fault in forest.delegation(0).errors] == ["Overloaded"]


# -- the real thing ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
def test_a_real_database_gives_its_exact_tree() -> None:
    path = Path(REAL_LOGS) / "agents" / "opencode" / "self_1.18.34" / "opencode.db"
    rows, dialect, forest = RowReader(str(path), OpenCode.queries), OpenCode(), Forest()
    lines = [line for line in rows.poll() if isinstance(line, Line)]
    assert len(lines) == 6 + 17 + 38
    forest.apply(event for line in lines for event in dialect.read(line))  # type: ignore[misc] # all readable
    forest.advance(Millis(1_794_788_820_000))
    told = [(level, each.agent, each.title, str(state)) for level, each, state in outline(forest)]
    assert told == [
        (0, "opencode", "Mock title", "idle"),
        (1, "lead", "Lead one", "completed"),
        (2, "general", "Leaf two", "completed"),
        (1, "general", "Side leaf", "completed"),
        (0, "opencode", "Mock title", "waiting"),
        (1, "general", "Hung task", "running"),
    ]
    each = [delegation for _, delegation, _ in outline(forest)]
    assert [one.tokens for one in each] == [2560, 2560, 2560, 2560, None, 1280]
    assert [one.cost for one in each] == [0.0096, 0.0096, 0.0096, 0.0096, None, 0.0048]
    assert [one.report.summary for one in each[1:4]] == ["lead done", "leaf finished OK", "side finished OK"]
    assert all("call_id" in dict(one.refs) for one in each if one.parent)
    assert (each[4].phase, each[5].phase) == (Phase.CHILD, Phase.MODEL)
    forest.advance(Millis(1_794_788_820_000 + 3 * 24 * 3_600_000))
    assert [str(state) for _, _, state in outline(forest)][4:] == ["lost", "lost"]


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
def test_real_files_of_older_versions_are_read() -> None:
    folder = Path(REAL_LOGS) / "agents" / "other_agents" / "agent_sessions_stage0" / "opencode"
    for version, sessions in (("storage_v2", 2), ("storage_legacy", 1)):
        forest = tell(sorted((folder / version).rglob("*.json")))
        assert len(forest) == sessions
        assert {each.agent for _, each, _ in outline(forest)} == {"opencode"}


def test_a_step_that_begins_again_without_an_answer_asks_the_model_once_more(store: Store) -> None:
    store.session("s")
    store.message("m1", "s", 0, role="user")
    store.message("m2", "s", 1000)
    for number, at in enumerate((2000, 302_000, 602_000)):
        store.part(f"p{number}", "m2", "s", at, type="step-start")
        state, found = store.at(at + 1000, "s")
        assert (found.phase, found.phase_since, found.asked) == (Phase.MODEL, T + 2000, number + 1)
        assert state is (State.SILENT if number else State.RUNNING)
    store.part("p9", "m2", "s", 603_000, type="reasoning", time={"start": T + 603_000})
    state, found = store.at(604_000, "s")
    assert (found.phase_since, found.asked, state) == (T + 603_000, None, State.RUNNING)


def test_a_tool_is_open_since_it_began_and_has_the_time_it_was_given(store: Store) -> None:
    store.session("s")
    store.message("m1", "s", 0)
    given = {"input": {"command": "make", "timeout": 60_000}, "time": {"start": T + 2000}}
    store.tool("t", "m1", "s", 9000, "bash", "running", **given)
    _, found = store.at(10_000, "s")
    assert (found.phase_since, found.call_deadline) == (T + 2000, T + 62_000)
