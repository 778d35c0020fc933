"""Hook payloads: agents joined to the calls that started them, and no time but what somebody wrote down."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.claude_code.hooks import ClaudeHooks
from delegtop.base.clock import MINUTE, SECOND, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.delegation import Delegation
from delegtop.model.events import Deviation, Event, Phase
from delegtop.model.forest import Forest
from delegtop.model.notes import INFERRED
from delegtop.sources.records import Line, Unreadable

REAL_LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
NINE = parse_time("2026-05-04T09:00:00Z") or Millis(0)


def hook(event: str, agent: str | None = None, kind: str = "Plan", **fields: Any) -> dict[str, Any]:
    where = {"agent_id": agent, "agent_type": kind} if agent else {}
    return {"session_id": "s", "cwd": "/srv/garden", "hook_event_name": event, **where, **fields}


def ask(call: str, agent: str | None = None, kind: str = "Plan") -> dict[str, Any]:
    given = {"description": f"work of {call}", "prompt": "please", "subagent_type": kind}
    return hook("PreToolUse", agent, tool_name="Agent", tool_input=given, tool_use_id=call)


def answered(call: str, child: str, agent: str | None = None, **response: Any) -> dict[str, Any]:
    told = {"status": "completed", "agentId": child, "content": [{"type": "text", "text": "fine"}]} | response
    return hook("PostToolUse", agent, tool_name="Agent", tool_response=told, tool_use_id=call)


def stop(agent: str, text: str = "fine") -> dict[str, Any]:
    return hook("SubagentStop", agent, last_assistant_message=text)


def events_of(*payloads: dict[str, Any] | bytes, source: str = "hooks.jsonl") -> list[Event]:
    dialect = ClaudeHooks()
    found: list[Event] = []
    for number, payload in enumerate(payloads, 1):
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        for event in dialect.read(Line(Origin(source, number, number * 1_000), data)):
            assert not isinstance(event, Unreadable | Deviation)
            found.append(event)
    return found


def forest_of(*payloads: dict[str, Any] | bytes, now: int = NINE + MINUTE) -> Forest:
    return forest_at(now, events_of(*payloads))


def shape(forest: Forest) -> dict[str, tuple[str | None, int | None, str]]:
    found = {}
    for handle in forest.walk():
        parent = forest.parent(handle)
        facts = forest.delegation(handle)
        above = forest.delegation(parent).id if parent is not None else None
        found[facts.id] = (above, facts.depth, str(forest.state(handle)))
    return found


def named(forest: Forest, id: str) -> Delegation:
    return forest.delegation(handle_of(forest, id))


def inferences(forest: Forest, id: str) -> list[str]:
    return [note.text for note in named(forest, id).notes if note.kind == INFERRED]


def test_a_call_for_an_agent_is_a_delegation_of_the_session() -> None:
    forest = forest_of(hook("SessionStart", source="startup"), ask("c1"))
    assert shape(forest) == {"s": (None, 0, "waiting"), "c1": ("s", 1, "running")}
    found = named(forest, "c1")
    assert (found.agent, found.title, found.prompt, found.product) == ("Plan", "work of c1", "please", "claude-code")
    assert named(forest, "s").cwd == "/srv/garden"


def test_no_time_is_invented() -> None:
    events = events_of(hook("SessionStart"), ask("c1"), hook("SubagentStart", "a1"), stop("a1"), hook("SessionEnd"))
    assert {getattr(event, "at", None) for event in events} == {None}


@pytest.mark.parametrize("stamp", ["2026-05-04T09:00:30Z", 1_777_885_230, 1_777_885_230.25, 1_777_885_230_000])
def test_a_time_that_the_hook_added_counts(stamp: object) -> None:
    forest = forest_of(hook("SessionStart"), ask("c1") | {"timestamp": stamp})
    at = named(forest, "c1").started_at
    assert at is not None
    assert abs(at - (NINE + 30 * SECOND)) < SECOND


def test_the_only_open_call_of_its_kind_is_the_agents_and_that_is_noted_as_inferred() -> None:
    forest = forest_of(ask("c1"), ask("c2", kind="Explore"), hook("SubagentStart", "a1"), ask("c3", "a1"))
    assert shape(forest)["c3"] == ("c1", 2, "running")
    assert dict(named(forest, "c1").refs)["agent_id"] == "a1"
    assert inferences(forest, "c1")
    assert not inferences(forest, "c2")


def test_the_note_goes_when_the_result_confirms_it() -> None:
    forest = forest_of(ask("c1"), hook("SubagentStart", "a1"), stop("a1"), answered("c1", "a1"))
    assert inferences(forest, "c1") == []
    assert shape(forest)["c1"] == ("s", 1, "completed")


def test_of_two_open_calls_of_one_kind_none_is_guessed() -> None:
    payloads = [ask("c1"), ask("c2"), hook("SubagentStart", "a2"), ask("c3", "a2"), stop("a2", "two")]
    unsure = forest_of(*payloads)
    assert shape(unsure) == {"s": (None, 0, "waiting"), "c1": ("s", 1, "running"), "c2": ("s", 1, "running")}
    told = forest_of(*payloads, answered("c2", "a2"))
    assert shape(told) == {
        "s": (None, 0, "waiting"),
        "c1": ("s", 1, "running"),
        "c2": ("s", 1, "completed"),
        "c3": ("c2", 2, "running"),
    }
    assert named(told, "c2").report.summary == "two"


def test_a_background_agent_is_over_when_it_stops_and_not_when_it_was_launched() -> None:
    launched = answered("c1", "a1", status="async_launched", content=None)
    assert shape(forest_of(ask("c1"), launched))["c1"][2] == "running"
    forest = forest_of(ask("c1"), launched, hook("SubagentStart", "a1"), stop("a1", "found it"))
    assert shape(forest)["c1"][2] == "completed"
    assert named(forest, "c1").report.summary == "found it"


def test_a_helper_of_the_program_itself_is_no_delegation() -> None:
    helper = hook("SubagentStop", "a9", kind="", last_assistant_message="(summary)")
    failed = hook("StopFailure", error="invalid_request") | {"agent_id": "a8"}
    assert list(shape(forest_of(hook("SessionStart"), helper, failed))) == ["s"]
    unkind = ask("c1") | {"tool_input": {"prompt": "please"}}
    forest = forest_of(unkind, hook("SubagentStart", "a9", kind=""), helper)
    assert shape(forest)["c1"] == ("s", 1, "running")


@pytest.mark.parametrize(
    ("payload", "state"),
    [
        (stop("a1", "API Error: 529 overloaded"), "failed"),
        (hook("PostToolUseFailure", tool_name="Agent", tool_use_id="c1", error="no such agent"), "failed"),
        (hook("PostToolUseFailure", tool_name="Agent", tool_use_id="c1", is_interrupt=True), "interrupted"),
        (
            hook("PostToolUse", tool_name="Agent", tool_use_id="c1", tool_response="User rejected tool use"),
            "interrupted",
        ),
        (hook("SessionEnd", reason="other"), "interrupted"),
    ],
)
def test_how_an_agent_ends(payload: dict[str, Any], state: str) -> None:
    assert shape(forest_of(ask("c1"), hook("SubagentStart", "a1"), payload))["c1"][2] == state


def test_a_session_that_ends_between_two_turns_completed_and_one_that_ends_in_a_turn_was_interrupted() -> None:
    assert shape(forest_of(ask("c1"), answered("c1", "a1"), hook("Stop"), hook("SessionEnd")))["s"][2] == "completed"
    assert shape(forest_of(ask("c1"), answered("c1", "a1"), hook("SessionEnd")))["s"][2] == "interrupted"


@pytest.mark.parametrize(
    ("payload", "phase"),
    [
        (hook("PreToolUse", tool_name="Bash", tool_use_id="t", tool_input={"command": "make"}), Phase.TOOL),
        (hook("PostToolUse", tool_name="Bash", tool_use_id="t"), Phase.MODEL),
        (hook("PermissionRequest", tool_name="Bash", tool_input={"command": "make"}), Phase.PERMISSION),
        (hook("Notification", message="Claude needs your permission to use Bash"), Phase.PERMISSION),
        (hook("Notification", message="Claude is waiting for your input"), Phase.ANSWER),
        (hook("UserPromptSubmit", prompt="go on"), Phase.MODEL),
        (hook("Stop"), Phase.IDLE),
    ],
)
def test_what_a_session_is_in_the_middle_of(payload: dict[str, Any], phase: Phase) -> None:
    forest = forest_of(hook("SessionStart"), payload | {"ts": "2026-05-04T09:00:30Z"})
    assert named(forest, "s").phase is phase


def test_an_agent_that_starts_again_after_its_stop_has_not_ended() -> None:
    times = [{"ts": f"2026-05-04T09:00:0{second}Z"} for second in range(5)]
    payloads = [ask("c1"), hook("SubagentStart", "a1"), stop("a1"), hook("SubagentStart", "a1")]
    forest = forest_of(*(payload | at for payload, at in zip(payloads, times, strict=False)), now=NINE + 9 * SECOND)
    assert shape(forest)["c1"][2] == "running"


@pytest.mark.parametrize(
    "odd",
    [
        b"{}",
        b'{"session_id":"s"}',
        hook("PreToolUse", tool_name="Agent", tool_use_id=7, tool_input=[]),
        hook("PreToolUse", tool_name="Agent", tool_use_id="x", tool_input="text"),
        hook("PostToolUse", tool_name="Agent", tool_use_id="never", tool_response=[1]),
        hook("SubagentStop", "never seen"),
        hook("SomethingNew", more={"a": 1}),
    ],
)
def test_a_payload_of_an_odd_shape_hurts_nobody(odd: dict[str, Any] | bytes) -> None:
    forest = forest_of(odd, ask("c1"), hook("SubagentStart", "a1"), stop("a1"), answered("c1", "a1"))
    assert shape(forest)["c1"] == ("s", 1, "completed")


def test_it_is_known_by_its_shape() -> None:
    payload = json.dumps(hook("Stop")).encode()
    assert ClaudeHooks.sniff(Sample("x", payload + b"\n" + payload[:20], False)) == 95
    assert ClaudeHooks.sniff(Sample("x", b'{"session_id":"s","event":"register"}\n', True)) == 0


REAL = {
    "hang": ("a5d394ce", "interrupted", {("1bce118f", None, 1, "interrupted")}),
    "nested": (
        "79f72aa1",
        "completed",
        {
            ("a9cc8bce", None, 1, "completed"),
            ("0eaa55c1", "a9cc8bce", 2, "completed"),
            ("fd1198e9", "0eaa55c1", 3, "completed"),
        },
    ),
    "parallel": (
        "5a02221a",
        "completed",
        {
            ("029eb4b4", None, 1, "completed"),
            ("2d2d679d", None, 1, "completed"),
            ("90fc59d6", None, 1, "completed"),
            ("aee51155", "029eb4b4", 2, "completed"),
        },
    ),
}


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
@pytest.mark.parametrize("run", REAL)
def test_a_real_file_of_payloads_has_exactly_its_delegations(run: str) -> None:
    session, state, spawns = REAL[run]
    path = Path(REAL_LOGS, f"agents/claude_code/hooks/{run}.hooks.jsonl")
    forest = forest_of(*path.read_bytes().splitlines())
    found = shape(forest)
    root = next(id for id in found if id.startswith(session))
    assert found.pop(root) == (None, 0, state)
    short = {
        (id[6:14], above[6:14] if above and above != root else None, *rest) for id, (above, *rest) in found.items()
    }
    assert short == spawns
    assert all(not named(forest, id).claims for id in found)
    assert all("agent_id" in dict(named(forest, id).refs) for id in found)
    assert [id for id in found if inferences(forest, id)] == ([*found] if run == "hang" else [])
    assert forest.state(forest.roots()[0]).value == state
