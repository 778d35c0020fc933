"""The stream of Claude Code: who handed what to whom, and how it ended."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.claude_code.stream_json import ClaudeStream
from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.delegation import Delegation, Link
from delegtop.model.events import Deviation, Ending, Event, Phase
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.sources.records import Line, Unreadable

REAL_LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
GARDEN = Path(__file__).parents[4] / "sample_logs" / "claude-stream" / "garden.stream.jsonl"
SESSION = "6f1d2c3b-0000-4a5b-8c7d-1e2f3a4b5c6d"
NINE = parse_time("2026-05-04T09:00:00Z") or Millis(0)


def events_of(*lines: bytes, source: str = "run.jsonl") -> list[Event]:
    dialect = ClaudeStream()
    found = [e for n, line in enumerate(lines, 1) for e in dialect.read(Line(Origin(source, n, n * 1_000), line))]
    assert not [each for each in found if isinstance(each, Unreadable | Deviation)]
    return [each for each in found if not isinstance(each, Unreadable)]


def forest_of(events: list[Event], now: int = NINE + 40_000) -> Forest:
    return forest_at(now, events)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def shape(forest: Forest) -> dict[str, tuple[str | None, int | None, str]]:
    """Parent, claimed depth and state by id."""
    found = {}
    for handle in forest.walk():
        parent = forest.parent(handle)
        facts = forest.delegation(handle)
        above = forest.delegation(parent).id if parent is not None else None
        assert forest.level(handle) == (facts.depth if facts.depth is not None else forest.level(handle))
        found[facts.id] = (above, facts.depth, str(forest.state(handle)))
    return found


def named(forest: Forest, id: str) -> Delegation:
    return forest.delegation(handle_of(forest, id))


@pytest.fixture
def garden() -> Forest:
    return forest_of(events_of(*lines_of(GARDEN)))


def test_the_session_is_the_root_and_each_delegation_is_named_by_the_call_that_asked_for_it(garden: Forest) -> None:
    assert shape(garden) == {
        SESSION: (None, 0, "waiting"),
        "toolu_seed": (SESSION, 1, "running"),
        "toolu_plan": (SESSION, 1, "completed"),
        "toolu_soil": ("toolu_plan", 2, "failed"),
    }


def test_a_delegation_says_what_it_is(garden: Forest) -> None:
    seed = named(garden, "toolu_seed")
    assert (seed.agent, seed.title, seed.product) == ("Explore", "Look up seed prices", "claude-code")
    assert (seed.prompt, seed.model) == ("Find the price of each seed in prices/", "claude-sonnet-9")
    assert dict(seed.refs) == {"session_id": SESSION, "agent_id": "a11", "tool_use_id": "toolu_seed"}
    root = named(garden, SESSION)
    assert (root.agent, root.cwd, root.version) == ("claude", "/srv/garden", "2.1.325")


def test_the_word_that_a_background_agent_was_launched_is_not_its_end(garden: Forest) -> None:
    seed = named(garden, "toolu_seed")
    assert seed.outcome is None
    assert (seed.tool, seed.doing, seed.phase) == ("Bash", "Running list", Phase.TOOL)


def test_an_end_has_its_own_time_and_what_it_came_back_with(garden: Forest) -> None:
    plan = named(garden, "toolu_plan")
    assert (plan.ended_at, plan.report.summary) == (NINE + 20_000, "Four beds, roses in the north.")
    soil = named(garden, "toolu_soil")
    assert [fault.message for fault in soil.errors] == ["API Error: 529 overloaded"]


def test_the_start_of_an_agent_nobody_dated_follows_from_its_end_and_how_long_it_ran(garden: Forest) -> None:
    assert named(garden, "toolu_soil").started_at == NINE + 8_000


def test_a_stream_that_has_not_told_the_end_yet_leaves_that_start_open() -> None:
    forest = forest_of(events_of(*lines_of(GARDEN)[:10]))
    soil = named(forest, "toolu_soil")
    assert soil.started_at is None
    assert soil.heard_at == NINE + 9_000  # its task had been running for three seconds, from the last moment told


def test_tokens_of_the_session_are_those_of_its_turns_and_the_cost_is_that_of_the_run(garden: Forest) -> None:
    root = named(garden, SESSION)
    assert (root.tokens, root.cost) == (1_180, 0.042)
    assert named(garden, "toolu_seed").tokens == 320


def test_a_turn_that_is_over_leaves_the_session_idle() -> None:
    only_plan = [line for line in lines_of(GARDEN) if b"toolu_seed" not in line]
    forest = forest_of(events_of(*only_plan))
    assert forest.state(forest.roots()[0]) is State.IDLE


def test_the_same_stream_in_any_order_of_batches_gives_the_same_tree(garden: Forest) -> None:
    events = events_of(*lines_of(GARDEN))
    assert shape(forest_of(events[::-1] + events)) == shape(garden)


def record(type: str, **fields: Any) -> bytes:
    return json.dumps({"type": type, "session_id": "s", "uuid": "u", **fields}).encode()


def said(block: dict[str, Any], at: int = 0, **fields: Any) -> bytes:
    moment = f"2026-05-04T09:00:{at:02d}.000Z"
    message = {"id": f"m{at}", "content": [block], "model": "x"}
    return record("assistant", message=message, parent_tool_use_id=None, timestamp=moment, **fields)


def result(call: str, text: str, at: int = 9, **fields: Any) -> bytes:
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": fields.pop("is_error", False)}
    moment = f"2026-05-04T09:00:{at:02d}.000Z"
    return record("user", message={"content": [block]}, parent_tool_use_id=None, timestamp=moment, **fields)


SPAWN = said({"type": "tool_use", "id": "c1", "name": "Task", "input": {"description": "d", "prompt": "p"}})


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (result("c1", "done"), State.COMPLETED),
        (result("c1", "API Error: 500 broken"), State.FAILED),
        (result("c1", "Agent type 'x' not found.", is_error=True), State.FAILED),
        (result("c1", "The user doesn't want to proceed with this tool use.", is_error=True), State.INTERRUPTED),
        (result("c1", "Async agent launched successfully."), State.RUNNING),
        (result("c1", "ok", tool_use_result={"status": "async_launched", "agentId": "a"}), State.RUNNING),
        (result("other", "done"), State.RUNNING),
    ],
)
def test_where_no_task_is_told_of_the_result_of_the_call_is_the_end(answer: bytes, state: State) -> None:
    forest = forest_of(events_of(SPAWN, answer), now=NINE + 10_000)
    handle = handle_of(forest, "c1")
    assert forest.state(handle) is state


def started(**fields: Any) -> bytes:
    return record("system", subtype="task_started", task_id="a1", task_type="local_agent", **fields)


def test_an_agent_that_is_given_a_message_after_its_end_runs_again() -> None:
    over = record("system", subtype="task_updated", task_id="a1", patch={"status": "killed", "end_time": NINE + 5_000})
    again = said({"type": "tool_use", "id": "c2", "name": "SendMessage", "input": {"to": "a1"}}, at=20)
    lines = [SPAWN, started(tool_use_id="c1"), over]
    stopped = named(forest_of(events_of(*lines)), "c1")
    assert (str(stopped.outcome), stopped.ended_by) == ("interrupted", Ending.CANCEL)
    resumed = forest_of(events_of(*lines, again, started(tool_use_id="c2")), now=NINE + 21_000)
    assert resumed.find("c2") is None
    assert named(resumed, "c1").outcome is None


def test_a_shell_in_the_background_is_no_delegation() -> None:
    shell = record("system", subtype="task_started", task_id="b1", tool_use_id="c9", task_type="local_bash")
    assert list(shape(forest_of(events_of(shell)))) == ["s"]


def test_an_agent_whose_start_was_missed_is_drawn_below_the_session_as_inferred() -> None:
    late = said({"type": "text", "text": "hm"}, agent_id="a7", subagent_type="Plan").replace(
        b'"parent_tool_use_id": null', b'"parent_tool_use_id": "c7"'
    )
    forest = forest_of(events_of(late))
    handle = handle_of(forest, "c7")
    assert forest.link(handle) is Link.INFERRED
    assert dict(forest.delegation(handle).refs)["agent_id"] == "a7"


def test_a_question_whether_a_tool_may_run_is_shown_as_such() -> None:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -r build"}}
    forest = forest_of(events_of(SPAWN, record("control_request", request=request)))
    root = forest.delegation(forest.roots()[0])
    assert (root.phase, root.tool, root.doing) == (Phase.PERMISSION, "Bash", "rm -r build")


@pytest.mark.parametrize(
    "odd",
    [
        record("assistant", message=None),
        record("assistant", message={"content": [1, {"type": "tool_use", "id": 5, "name": "Agent", "input": 7}]}),
        record("user", message={"content": [{"tool_use_id": ["x"]}]}),
        record("system", subtype="task_updated", task_id=None, patch=[1]),
        record("system", subtype="task_started", task_id="a", tool_use_id="b", spawn_depth="deep", parent_task_id="no"),
        record("result", usage=[], total_cost_usd="much", is_error=True),
        record("result", total_cost_usd=10**400),
        record("stream_event", event={}),
        record("tomorrow"),
        b"{}",
    ],
)
def test_a_record_of_an_odd_shape_hurts_nobody(odd: bytes) -> None:
    before = shape(forest_of(events_of(*lines_of(GARDEN))))
    assert before.items() <= shape(forest_of(events_of(odd, *lines_of(GARDEN)))).items()


def test_it_is_known_by_its_shape() -> None:
    data = GARDEN.read_bytes()
    assert ClaudeStream.sniff(Sample("x", data, True)) == 95
    assert ClaudeStream.sniff(Sample("x", data[:700], False)) == 95
    assert ClaudeStream.sniff(Sample("x", SPAWN, True)) == 90
    transcript = b'{"type":"user","sessionId":"s","parentUuid":null,"message":{"role":"user","content":"hi"}}\n'
    hook = b'{"session_id":"s","hook_event_name":"Stop","type":"system","subtype":"x"}\n'
    assert ClaudeStream.sniff(Sample("x", transcript, True)) == 0
    assert ClaudeStream.sniff(Sample("x", hook, True)) == 0


REAL: dict[str, tuple[str, list[tuple[str, str | None, int, str]]]] = {
    "hang": ("a5d394ce", [("1bce118f", None, 1, "interrupted")]),
    "nested": (
        "79f72aa1",
        [
            ("a9cc8bce", None, 1, "completed"),
            ("0eaa55c1", "a9cc8bce", 2, "completed"),
            ("fd1198e9", "0eaa55c1", 3, "completed"),
        ],
    ),
    "parallel": (
        "5a02221a",
        [
            ("029eb4b4", None, 1, "completed"),
            ("2d2d679d", None, 1, "completed"),
            ("90fc59d6", None, 1, "completed"),
            ("aee51155", "029eb4b4", 2, "completed"),
        ],
    ),
}


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
@pytest.mark.parametrize("run", REAL)
def test_a_real_stream_has_exactly_its_delegations(run: str) -> None:
    path = Path(REAL_LOGS, f"agents/claude_code/stream_json/{run}.stream.jsonl")
    session, spawns = REAL[run]
    forest = forest_of(events_of(*lines_of(path), source=str(path)), now=1_794_788_600_000)
    found = shape(forest)
    root = next(id for id in found if id.startswith(session))
    assert found.pop(root) == (None, 0, "idle")
    short = {
        (id[6:14], above[6:14] if above and above != root else None, *rest) for id, (above, *rest) in found.items()
    }
    assert short == set(spawns)
    assert all(named(forest, id).started_at is not None and named(forest, id).ended_at is not None for id in found)
    assert all(not named(forest, id).claims for id in found)


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
def test_real_streams_agree_with_what_a_second_reader_found_in_the_transcripts() -> None:
    expected = {
        told["tool_use_id"]: told
        for line in Path(REAL_LOGS, "agents/EXPECTED_claude_code.jsonl").read_bytes().splitlines()
        if (told := json.loads(line))["file"].startswith("claude_code/self_2.1.325/")
    }
    compared = 0
    for run in REAL:
        path = Path(REAL_LOGS, f"agents/claude_code/stream_json/{run}.stream.jsonl")
        forest = forest_of(events_of(*lines_of(path), source=str(path)), now=1_794_788_600_000)
        for id, (_, depth, state) in shape(forest).items():
            if id.startswith("toolu_"):
                told = expected[id]
                facts = named(forest, id)
                assert (told["depth"], told["status"], told["type"]) == (depth, state, facts.agent)
                assert (told["desc"], told["agent"]) == (facts.title, dict(facts.refs)["agent_id"])
                compared += 1
    assert compared == 8
