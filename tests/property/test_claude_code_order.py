"""The files of a project may be read in any order and interleaving: the tree that comes of it is the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.agents.claude_code.transcript_dialect import ClaudeCode
from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.model.events import Event
from delegtop.sources.records import Line, Unreadable

FEW = settings(max_examples=20)
SAMPLE = Path(__file__).parents[2] / "sample_logs" / "claude-code"
NOW = parse_time("2026-11-02T10:12:00Z") or Millis(0)
SESSION = "0a1b2c3d-0000-4000-8000-00000000000a"
OLD = f"/p/projects/x/{SESSION}"


def spoken(second: int, who: str, content: Any, agent: str | None = None, **more: Any) -> dict[str, Any]:
    own = {"agentId": agent, "isSidechain": True} if agent else {"isSidechain": False}
    message = {"id": f"{agent}{second}", "content": content, "usage": {"input_tokens": second, "output_tokens": 2}}
    moment = f"2026-11-02T10:00:{second:02d}.000Z"
    return (
        {"type": who, "timestamp": moment, "sessionId": SESSION, "uuid": f"{agent}{second}", "message": message}
        | own
        | more
    )


def tool(id: str, kind: str, **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": id, "name": kind, "input": given}]


def came(id: str, text: str, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": text} | more]


def notice(task: str, status: str) -> str:
    return f"<task-notification><task-id>{task}</task-id><status>{status}</status></task-notification>"


def older() -> dict[str, list[dict[str, Any]]]:
    """What the sample has not: links without sidecars, a masked error, a resumed agent, a workflow, a grandchild whose
    end the session is told."""
    launch = {"status": "async_launched"}
    run = launch | {"taskId": "w1", "runId": "wf", "workflowName": "sweep"}
    trunk = [
        spoken(0, "user", "do it all"),
        spoken(1, "assistant", tool("c", "Task", prompt="one", description="One", name="ann")),
        spoken(2, "user", came("c", "x"), toolUseResult=launch | {"agentId": "a1"}),
        spoken(3, "assistant", tool("d", "Task", prompt="two", subagent_type="Plan")),
        spoken(4, "user", came("d", "x"), toolUseResult=launch | {"agentId": "a2"}),
        spoken(5, "assistant", tool("w", "Workflow", script="x")),
        spoken(6, "user", came("w", "x"), toolUseResult=run),
        spoken(12, "user", notice("a1", "completed")),
        spoken(13, "user", notice("a2", "completed")),
        spoken(14, "assistant", tool("s", "SendMessage", to="ann", message="more")),
        spoken(15, "user", came("s", "it was resumed")),
        spoken(20, "user", notice("a3", "failed")),
        spoken(21, "assistant", tool("r", "Task", prompt="three", description="Runs still")),
    ]
    first = [
        spoken(3, "user", "one", "a1"),
        spoken(4, "assistant", tool("g", "Task", prompt="deep"), "a1"),
        spoken(5, "user", came("g", "Async agent launched successfully.\nagentId: a3 (internal)"), "a1"),
        spoken(11, "assistant", [{"type": "text", "text": "done"}], "a1"),
        spoken(16, "user", "more", "a1"),
    ]
    failed = spoken(
        12, "assistant", [{"type": "text", "text": "too long"}], "a2", isApiErrorMessage=True, error="unknown"
    )
    return {
        f"{OLD}.jsonl": trunk,
        f"{OLD}/subagents/agent-a1.jsonl": first,
        f"{OLD}/subagents/agent-a2.jsonl": [spoken(5, "user", "two", "a2"), failed],
        f"{OLD}/subagents/agent-a3.jsonl": [spoken(7, "assistant", tool("t", "Bash", command="make"), "a3")],
        f"{OLD}/subagents/agent-a4.jsonl": [
            spoken(22, "user", "three", "a4"),
            spoken(23, "assistant", tool("u", "Read", file_path="/x"), "a4"),
        ],
        f"{OLD}/subagents/agent-acompact-1.jsonl": [spoken(9, "user", "sum up", "acompact-1")],
        f"{OLD}/subagents/workflows/wf/journal.jsonl": [
            {"type": "started", "key": "k", "agentId": "w2", "label": "sweep"},
            {"type": "result", "key": "k", "agentId": "w2", "result": "swept"},
        ],
        f"{OLD}/subagents/workflows/wf/agent-w2.jsonl": [spoken(8, "user", "sweep", "w2")],
    }


def sources() -> dict[str, list[Line]]:
    """Every file as its lines, or as the one document it is."""
    found: dict[str, list[Line]] = {}
    for path in sorted(SAMPLE.rglob("*.json*")):
        name = str(path.relative_to(SAMPLE))
        data = path.read_bytes()
        is_document = ClaudeCode.unit_of(Sample(name, data, True)) is Unit.DOCUMENT
        found[name] = _lines(name, [data] if is_document else data.splitlines())
    for name, records in older().items():
        found[name] = _lines(name, [json.dumps(record).encode() for record in records])
    return found


def _lines(name: str, data: list[bytes]) -> list[Line]:
    return [Line(Origin(name, number, number), line, Millis(1)) for number, line in enumerate(data, 1)]


SOURCES = sources()


def read(order: Iterator[Line]) -> list[Event]:
    """What the lines tell, each family by an instance of its own."""
    readers: dict[str, ClaudeCode] = {}
    told: list[Event] = []
    for line in order:
        reader = readers.setdefault(ClaudeCode.family(line.origin.source), ClaudeCode())
        told += [event for event in reader.read(line) if not isinstance(event, Unreadable)]
    return told


def picture(events: list[Event]) -> dict[str, Any]:
    """All that is known of every delegation, but for where it stood."""
    forest = forest_at(NOW, events)
    shown = {}
    for handle in forest.walk():
        one = forest.delegation(handle)
        facts = {name: getattr(one, name) for name in one.__struct_fields__ if "origin" not in name}
        facts |= {"wait": one.wait and (one.wait.until, one.wait.by), "level": forest.level(handle)}
        facts["claims"] = sorted((claim.field, claim.value) for claim in one.claims)
        shown[one.id] = facts | {"state": forest.state(handle)}
    return shown


WHOLE = picture(read(line for lines in SOURCES.values() for line in lines))


def test_the_material_holds_every_kind_of_end() -> None:
    states = {str(facts["state"]) for facts in WHOLE.values()}
    assert states >= {"completed", "failed", "silent", "waiting", "idle"}
    assert {facts["level"] for facts in WHOLE.values()} == {0, 1, 2}
    assert {"c", "d", "w", "g", "r", f"{SESSION}/w2"} <= WHOLE.keys()
    assert WHOLE["r"]["tool"] == "Read"
    assert WHOLE["d"]["outcome"] == "failed"
    assert WHOLE["c"]["outcome"] is None
    assert len(WHOLE) == 14


@st.composite
def interleavings(draw: st.DrawFn) -> list[Line]:
    """The lines of all files, each file's in their order, the files mixed in runs of any length."""
    waiting = {name: list(lines) for name, lines in SOURCES.items()}
    order: list[Line] = []
    while waiting:
        name = draw(st.sampled_from(sorted(waiting)))
        count = draw(st.integers(1, 9) | st.just(1_000))
        order += waiting[name][:count]
        waiting[name] = waiting[name][count:]
        if not waiting[name]:
            del waiting[name]
    return order


@FEW
@given(order=interleavings())
def test_any_order_of_files_gives_the_same_tree(order: list[Line]) -> None:
    assert picture(read(iter(order))) == WHOLE


@FEW
@given(order=interleavings(), data=st.data())
def test_unknown_records_and_glued_lines_change_nothing(order: list[Line], data: st.DataObject) -> None:
    odd = [
        b'{"type":"brand-new","at":1}',
        b"{}",
        b'{"type":"mode","sessionId":"s"}',
        b"",
        b"not json",
        b'{"type":"user"',
    ]
    lines: list[Line] = []
    for line in order:
        previous = lines[-1] if lines else None
        is_log = line.origin.source.endswith(".jsonl")
        if previous and is_log and previous.origin.source == line.origin.source and data.draw(st.booleans()):
            lines[-1] = Line(previous.origin, previous.data + line.data)
            continue
        lines.append(line)
        if is_log and data.draw(st.integers(0, 9)) == 0:
            lines.append(Line(line.origin, data.draw(st.sampled_from(odd))))
    assert picture(read(iter(lines))) == WHOLE


@FEW
@given(order=interleavings(), cut=st.integers(0, 200))
def test_a_last_line_that_is_not_finished_is_read_when_it_is(order: list[Line], cut: int) -> None:
    """A torn line is unreadable and tells nothing; the same line, whole, then tells all."""
    at = cut % len(order)
    torn = Line(order[at].origin, order[at].data[: len(order[at].data) // 2])
    assert picture(read(iter([*order[:at], torn, *order[at:]]))) == WHOLE


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)


@FEW
@given(
    name=st.sampled_from(sorted(SOURCES)),
    number=st.integers(0, 30),
    key=st.integers(0, 40),
    value=VALUES,
    deep=st.booleans(),
)
def test_a_record_with_a_field_of_any_kind_breaks_nothing(
    name: str, number: int, key: int, value: Any, deep: bool
) -> None:
    lines = SOURCES[name]
    line = lines[number % len(lines)]
    record = json.loads(line.data)
    inner = record.get("message") if deep else record
    place = inner if isinstance(inner, dict) and inner else record
    keys = [*place, "toolUseResult", "attachment", "data", "error", "content"]
    place[keys[key % len(keys)]] = value
    spoiled = Line(line.origin, json.dumps(record).encode())
    events = read(spoiled if each is line else each for each in (each for lines in SOURCES.values() for each in lines))
    assert picture(events)


@FEW
@given(
    name=st.sampled_from(sorted(SOURCES)), data=st.binary(max_size=200) | VALUES.map(lambda v: json.dumps(v).encode())
)
def test_bytes_of_any_kind_are_answered(name: str, data: bytes) -> None:
    told = list(ClaudeCode().read(Line(Origin(name, 3, 99), data, Millis(5))))
    assert all(isinstance(each, Unreadable) or each.origin.source == name for each in told)
    for whole in (True, False):
        assert 0 <= ClaudeCode.sniff(Sample(name, data, whole)) <= 100
