"""Records of sessions in which one value is not what it should be: none of them stops the reading."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from delegtop.agents.crush.crush_database import Crush
from delegtop.agents.goose.goose_database import Goose
from delegtop.agents.opencode.opencode_dialects import OpenCode, OpenCodeExport, OpenCodeStorage
from delegtop.agents.opencode.run_stream import OpenCodeStream
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample, Unit
from delegtop.model.events import Deviation
from delegtop.model.forest import Forest
from delegtop.sources.records import Line, Unreadable

T = 1_773_568_800_000
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1e300,
    10**30,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"id": 1},
    [None],
    "[1]",
    '{"a":[]}',
]
NESTED = {"data", "parts", "model", "content_json", "model_config_json"}
"""Columns that hold JSON as text."""

USE = {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 3, "write": 4}}
TASK = {
    "status": "completed",
    "input": {"description": "d", "prompt": "p", "subagent_type": "scout"},
    "output": '<task id="b" state="completed">\n<task_result>\nx\n</task_result>\n</task>',
    "metadata": {"sessionId": "b", "background": False, "interrupted": False},
    "error": "no",
    "time": {"start": T, "end": T + 1},
}
SESSION = {
    "id": "a",
    "parentID": "0",
    "directory": "/m",
    "title": "t",
    "version": "1",
    "time": {"created": T},
    "cost": 1,
}
STEP = {
    "role": "assistant",
    "time": {"created": T, "completed": T + 1},
    "modelID": "g",
    "tokens": USE,
    "cost": 0.1,
    "finish": "stop",
    "mode": "build",
    "summary": False,
}
FAILED = {**STEP, "error": {"name": "APIError", "data": {"message": "no"}}}
PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "x", "synthetic": True, "time": {"start": T, "end": T}},
    {"type": "text", "text": "x"},
    {"type": "tool", "tool": "task", "callID": "k", "state": TASK},
    {"type": "tool", "tool": "task", "callID": "k", "state": {**TASK, "status": "error"}},
    {"type": "tool", "tool": "bash", "callID": "k", "state": {"status": "running", "input": {"command": "c"}}},
    {"type": "retry", "attempt": 1, "error": {"name": "n", "data": {"message": "m"}}, "time": {"created": T}},
]


def row(table: str, data: Any = None, **columns: Any) -> dict[str, Any]:
    held = {} if data is None else {"data": data}
    return {"table": table, "time_created": T, "time_updated": T, **columns, **held}


def database() -> list[dict[str, Any]]:
    columns = {"parent_id": "0", "directory": "/m", "title": "t", "version": "1", "cost": 1, "tokens_input": 1}
    return [
        row("session", id="a", model={"id": "g"}, agent="scout", **columns),
        row("message", {"role": "user", "time": {"created": T}}, id="m0", session_id="a"),
        row("message", STEP, id="m1", session_id="a"),
        row("message", FAILED, id="m2", session_id="a"),
        *(row("part", part, id=f"p{n}", message_id="m1", session_id="a") for n, part in enumerate(PARTS)),
        row("part", PARTS[0], id="p9", message_id="m0", session_id="a"),
    ]


def export() -> list[dict[str, Any]]:
    said = {"info": {"id": "m0", "role": "user", "time": {"created": T}}, "parts": PARTS[:2]}
    return [{"info": SESSION, "messages": [said, {"info": {**STEP, "id": "m1"}, "parts": PARTS}]}]


def stream() -> list[dict[str, Any]]:
    lines = [{"type": "x", "timestamp": T, "sessionID": "a", "part": {**part, "messageID": "m"}} for part in PARTS]
    finish = {"type": "step-finish", "reason": "stop", "tokens": USE, "cost": 1, "messageID": "m"}
    error = {"type": "error", "timestamp": T, "sessionID": "a", "error": {"name": "n", "data": {"message": "m"}}}
    return [*lines, {"type": "step_finish", "timestamp": T, "sessionID": "a", "part": finish}, error]


def crush() -> list[dict[str, Any]]:
    times = {"created_at": T // 1000, "updated_at": T // 1000}
    call = {"id": "k", "name": "agent", "input": '{"prompt": "p"}', "finished": True}
    parts = [
        {"type": "text", "data": {"text": "x", "hidden": False}},
        {"type": "tool_call", "data": call},
        {"type": "tool_result", "data": {"tool_call_id": "k", "content": "x", "is_error": True}},
        {"type": "finish", "data": {"reason": "error", "time": 1, "message": "m", "details": "d"}},
    ]
    about = {"table": "messages", "session_id": "a", "model": "g", "is_summary_message": 0, **times}
    return [
        {"table": "sessions", "id": "m1$$k", "parent_session_id": "a", "title": "t", "cost": 1.0, **times},
        {"table": "sessions", "id": "a", "parent_session_id": None, "title": "t", "cost": 1.0, **times},
        *(
            {**about, "id": f"m{n}", "role": role, "parts": parts}
            for n, role in enumerate(("user", "assistant", "tool"))
        ),
    ]


def goose() -> list[dict[str, Any]]:
    about = {"name": "n", "description": "d", "session_type": "sub_agent", "working_dir": "/m", "model_config_json": {}}
    content = [
        {"type": "text", "text": "x"},
        {"type": "toolRequest", "id": "k", "toolCall": {"value": {"name": "n", "arguments": {"command": "c"}}}},
        {"type": "toolResponse", "id": "k"},
    ]
    said = {"table": "messages", "id": 1, "session_id": "a", "content_json": content, "created_timestamp": T // 1000}
    return [
        {"table": "sessions", "id": "a", "created_at": "2026-03-15 10:00:00", "parent_session_id": None, **about},
        {**said, "role": "user"},
        {**said, "role": "assistant"},
    ]


def storage() -> list[dict[str, Any]]:
    parts = [{**part, "id": f"p{n}", "messageID": "m1"} for n, part in enumerate(PARTS)]
    return [SESSION, {**STEP, "id": "m1", "sessionID": "a"}, {**FAILED, "id": "m2", "sessionID": "a"}, *parts]


RECORDS: dict[type[Dialect], list[dict[str, Any]]] = {
    OpenCode: database(),
    OpenCodeStorage: storage(),
    OpenCodeExport: export(),
    OpenCodeStream: stream(),
    Crush: crush(),
    Goose: goose(),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def spoilt(value: dict[str, Any], path: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    made = copy.deepcopy(value)
    holder: Any = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = odd
    return made


def written(value: Any) -> Any:
    """As it stands in a database: what is nested in a column is text there."""
    if isinstance(value, list):
        return [written(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _column(key, each, "table" in value) for key, each in value.items()}


def _column(key: str, value: Any, is_row: bool) -> Any:
    is_text = key in NESTED and isinstance(value, dict | list) and is_row
    return json.dumps(written(value)) if is_text else written(value)


@pytest.mark.parametrize("dialect", RECORDS, ids=lambda dialect: dialect.name)
def test_one_odd_value_anywhere_stops_nothing(dialect: type[Dialect]) -> None:
    records = RECORDS[dialect]
    shaped = written if dialect.unit is Unit.DATABASE else copy.copy
    good = [json.dumps(shaped(record)).encode() for record in records]
    forest = Forest()
    for number, record in enumerate(records):
        for path in places(record):
            for odd in ODD:
                data = json.dumps(shaped(spoilt(record, path, odd))).encode()
                reader = dialect()
                dialect.sniff(Sample("/storage/part/m1/x.json", data, True))
                for line in (*good[:number], data, *good[number + 1 :]):
                    events = reader.read(Line(Origin("/storage/part/m1/x.json", number + 1, 0), line))
                    told = [event for event in events if not isinstance(event, Unreadable)]
                    assert all(isinstance(event, Deviation) or getattr(event, "id", "") for event in told)
                    if line is data:
                        forest.apply(told)
                        list(reader.retell(Line(Origin("/storage/part/m1/x.json", number + 1, 0), line)))
    assert len(forest) >= 1
    assert all(forest.delegation(handle).id for handle in range(len(forest)))


@pytest.mark.parametrize("dialect", [OpenCodeStorage, OpenCodeExport, OpenCodeStream])
def test_half_an_emoji_hides_no_file(dialect: type[Dialect]) -> None:
    for value in {"opencode-storage": storage, "opencode-export": export, "opencode-stream": stream}[dialect.name]():
        hurt = json.dumps({**value, "extra": "\ud83d"}).encode()
        sound = dialect.sniff(Sample("/s/session/p/x.json", json.dumps(value).encode(), True))
        assert dialect.sniff(Sample("/s/session/p/x.json", hurt, True)) == sound


def test_half_an_emoji_in_a_column_costs_no_row() -> None:
    told = OpenCode()
    for number, value in enumerate(database()):
        hurt = {**value, "data": json.dumps({**value["data"], "extra": "\ud83d"})} if "data" in value else value
        found = list(told.read(Line(Origin("/x/opencode.db", number, 0), json.dumps(hurt).encode())))
        assert not [each for each in found if isinstance(each, (Deviation, Unreadable))]
