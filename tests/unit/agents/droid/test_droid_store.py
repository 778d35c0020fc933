"""Factory Droid: sessions that name their caller, and the stream of a run."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.droid.droid_store import Droid
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase, Started
from delegtop.model.states import State
from delegtop.sources.records import Line, Unreadable

REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
NOW = Millis(1_770_109_260_000)
ROOT = {"type": "session_start", "id": "main", "title": "Ship it", "cwd": "/w", "owner": "ann", "version": "0.81"}
CHILD = {**ROOT, "id": "sub", "title": "Test it", "callingSessionId": "main", "callingToolUseId": "t1"}


def message(second: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    stamp = f"2026-02-03T09:00:{second:02d}Z"
    return {
        "type": "message",
        "id": f"m{second}",
        "timestamp": stamp,
        "message": {"role": role, "content": list(content)},
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


SPAWN = message(2, "assistant", {"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "Test it"}})


def back(failed: bool = False) -> dict[str, Any]:
    return message(9, "user", {"type": "tool_result", "tool_use_id": "t1", "content": "All green.", "is_error": failed})


def lines(name: str, *values: dict[str, Any]) -> list[Line]:
    return [
        Line(Origin(f"/d/{name}.jsonl", n, n * 100), json.dumps(value).encode()) for n, value in enumerate(values, 1)
    ]


def read(*files: list[Line]) -> list[Any]:
    """All files of one folder, by one instance."""
    dialect = Droid()
    return [event for file in files for line in file for event in dialect.read(line)]


def row(id: str, *events: Any) -> tuple[Delegation, State]:
    made = forest_at(NOW, events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


def test_a_session_is_a_root_row() -> None:
    reminded = text("<system-reminder>\nBe brief.\n</system-reminder>\n\nShip the release")
    found, state = row(
        "main", *read(lines("main", ROOT, message(1, "user", reminded), message(3, "assistant", text("Done"))))
    )
    assert (found.agent, found.depth, found.cwd, found.version, found.title) == ("droid", 0, "/w", "0.81", "Ship it")
    assert (found.prompt, found.doing, state) == ("Ship the release", "Done", State.IDLE)


def test_waiting_for_a_task_is_waiting_for_a_child() -> None:
    found, _ = row("main", *read(lines("main", ROOT, SPAWN)))
    assert (found.phase, found.tool, found.doing) == (Phase.CHILD, "Task", "Test it")


@pytest.mark.parametrize("failed", [False, True])
def test_a_called_session_ends_with_the_result_of_the_call_whichever_file_comes_first(failed: bool) -> None:
    caller, called = lines("main", ROOT, SPAWN, back(failed)), lines("sub", CHILD, message(4, "user", text("Test it")))
    for events in (read(caller, called), read(called, caller)):
        found, state = row("sub", *events)
        assert (found.parent, dict(found.refs)["tool_use_id"]) == ("main", "t1")
        assert state is (State.FAILED if failed else State.COMPLETED)
        assert found.report.summary == "All green."


def test_a_called_session_is_what_its_caller_asked_for_whichever_file_comes_first() -> None:
    asked = {"description": "Run the tests", "subagent_type": "worker"}
    spawn = message(2, "assistant", {"type": "tool_use", "id": "t1", "name": "Task", "input": asked})
    caller, called = lines("main", ROOT, spawn), lines("sub", CHILD, message(4, "user", text("Test it")))
    for events in (read(caller, called), read(called, caller)):
        found, _ = row("sub", *events)
        assert (found.agent, found.title, found.claims) == ("worker", "Run the tests", ())


def test_a_session_starts_with_its_first_record_that_has_a_time() -> None:
    found, _ = row("main", *read(lines("main", ROOT, message(1, "user", text("Ship it")), SPAWN)))
    assert (found.started_at, found.claims) == (Millis(1_770_109_201_000), ())


def test_a_session_in_the_background_has_not_ended_when_its_call_comes_back() -> None:
    asked = {"description": "Test it", "run_in_background": True}
    spawn = message(2, "assistant", {"type": "tool_use", "id": "t1", "name": "Task", "input": asked})
    caller, called = lines("main", ROOT, spawn, back()), lines("sub", CHILD, message(4, "user", text("Test it")))
    for events in (read(caller, called), read(called, caller)):
        assert row("sub", *events)[0].outcome is None


def test_a_called_session_whose_call_has_not_returned_goes_on() -> None:
    found, state = row(
        "sub", *read(lines("main", ROOT, SPAWN), lines("sub", CHILD, message(4, "user", text("Test it"))))
    )
    assert (found.outcome, state) == (None, State.RUNNING)


def test_files_of_one_folder_are_read_by_one_instance() -> None:
    assert Droid.family("/d/a.jsonl") == Droid.family("/d/b.jsonl") != Droid.family("/e/a.jsonl")


def test_the_stream_of_a_run_ends_with_its_completion() -> None:
    def said(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "session_id": "s1", "timestamp": "2026-02-03T09:00:01Z", **more}

    told = [
        said("message", role="user", text="Do it"),
        said("tool_call", toolCallId="c", toolName="Shell", parameters={"command": "ls"}),
    ]
    assert row("s1", *read(lines("x", *told)))[0].doing == "ls"
    found, state = row(
        "s1", *read(lines("x", *told, said("tool_result", toolCallId="c"), said("completion", finalText="Did it")))
    )
    assert (state, found.report.summary, found.prompt) == (State.COMPLETED, "Did it", "Do it")
    assert Droid.sniff(Sample("x", lines("x", told[0])[0].data, True)) == 85


@pytest.mark.parametrize(
    "value",
    [
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w", "tools": []},
        {"type": "session", "id": "s", "version": 3, "cwd": "/w"},
        {"type": "message", "id": "m", "timestamp": "x", "message": {"role": "user", "content": []}},
        {"type": "assistant", "session_id": "s", "message": {}},
    ],
)
def test_lines_of_others_are_not_droids(value: dict[str, Any]) -> None:
    assert Droid.sniff(Sample("x.jsonl", json.dumps(value).encode(), True)) == 0


@pytest.mark.parametrize(
    "value",
    [{"type": []}, {"type": "message", "message": 3}, {"type": "message", "message": {"role": "user", "content": [1]}}],
)
def test_records_of_any_shape_hurt_nobody(value: dict[str, Any]) -> None:
    assert not [each for each in read(lines("main", ROOT, value)) if isinstance(each, Unreadable)]


def test_history_is_every_line_of_its_own_file() -> None:
    dialect = Droid()
    told = lines("main", ROOT, message(1, "user", text("Ship it")), SPAWN)
    first = [list(dialect.read(line)) for line in told]
    assert dialect.needle("main", "/d/main.jsonl") == b""
    assert dialect.needle("sub", "/d/main.jsonl") == b"sub"
    assert list(dialect.retell(told[2])) == first[2]


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_every_fixture_is_recognised_and_is_one_session() -> None:
    folder = Path(REAL) / "agents" / "other_agents" / "agent_sessions_stage0" / "droid"
    rows = []
    for path in sorted(folder.iterdir()):
        assert Droid.sniff(Sample(str(path), path.read_bytes(), True)) >= 85
        data = path.read_bytes().splitlines()
        events = read([Line(Origin(str(path), n, n), d) for n, d in enumerate(data)])
        rows += [event.id for event in events if isinstance(event, Started)]
    assert len(set(rows)) == 6
