"""Grok Build: what the files of a session's folder tell together."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.grok.grok_sessions import Grok
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line

T = 1_773_568_800_000
NOW = Millis(T + 60_000)
ROOT, CHILD = "019f2a10-0000-7000-8000-000000000001", "019f2a10-0000-7000-8000-000000000002"
HOME = "/h/.grok/sessions/%2Fw"
SUMMARY = {
    "info": {"id": ROOT, "cwd": "/w"},
    "created_at": "2026-03-15T10:00:00Z",
    "num_chat_messages": 3,
    "current_model_id": "grok-4.5",
    "session_kind": "interactive",
    "head_branch": "main",
    "generated_title": "Mend the mill",
    "agent_name": "grok-build",
}
META = {"subagent_id": CHILD, "parent_session_id": ROOT, "child_session_id": CHILD, "subagent_type": "explore"}
META |= {"description": "Look at the wheel", "prompt": "Look.", "started_at": "2026-03-15T10:00:05Z"}


def read(file: str, *values: dict[str, Any]) -> list[Any]:
    dialect = Grok()
    made = [
        Line(Origin(f"{HOME}/{file}", n, n * 100), json.dumps(value).encode(), NOW) for n, value in enumerate(values, 1)
    ]
    return [event for line in made for event in dialect.read(line)]


def event(second: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"ts": f"2026-03-15T10:00:{second:02d}.000Z", "type": kind, **more}


def update(second: int, kind: str, **more: Any) -> dict[str, Any]:
    told = {
        "sessionId": ROOT,
        "update": {"sessionUpdate": kind, **more},
        "_meta": {"agentTimestampMs": T + second * 1000},
    }
    return {"timestamp": (T + second * 1000) // 1000, "method": "session/update", "params": told}


def shown(id: str, *events: Any) -> tuple[Delegation, State]:
    made = forest_at(NOW, events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


BEGUN = event(1, "turn_started", session_id=ROOT, turn_number=0, model_id="grok-4.5")
ASKED = update(1, "user_message_chunk", content={"type": "text", "text": "Mend the mill, please."})
CALL = update(5, "tool_call", toolCallId="c", title="run_terminal_command", rawInput={"command": "make"})
SPAWNED = update(
    6, "subagent_spawned", child_session_id=CHILD, subagent_id=CHILD, subagent_type="explore", description="Look"
)


def test_the_summary_of_a_session_makes_it_a_root() -> None:
    found, _ = shown(ROOT, *read(f"{ROOT}/summary.json", SUMMARY))
    assert (found.agent, found.depth, found.title, found.cwd) == ("grok", 0, "Mend the mill", "/w")
    assert (found.model, found.branch) == ("grok-4.5", "main")


@pytest.mark.parametrize(
    ("more", "state", "said"),
    [
        ({"status": "running"}, State.RUNNING, None),
        ({"status": "completed", "completed_at": "2026-03-15T10:00:30Z"}, State.COMPLETED, None),
        (
            {"status": "failed", "error": 'Session error: {\n "message": "API error: no"\n}'},
            State.FAILED,
            "API error: no",
        ),
        ({"status": "cancelled"}, State.INTERRUPTED, None),
    ],
)
def test_the_sidecar_of_a_sub_agent_names_its_parent_and_how_it_stands(
    more: dict[str, Any], state: State, said: str | None
) -> None:
    found, now = shown(CHILD, *read(f"{ROOT}/subagents/{CHILD}/meta.json", {**META, **more}))
    assert (found.agent, found.parent, found.title, found.prompt) == ("explore", ROOT, "Look at the wheel", "Look.")
    assert (now, found.report.summary) == (state, said)


def test_a_tool_is_named_with_what_it_is_given_though_the_events_name_only_the_tool() -> None:
    told = [*read(f"{ROOT}/updates.jsonl", ASKED, CALL), *read(f"{ROOT}/events.jsonl", BEGUN, event(5, "tool_started"))]
    found, _ = shown(ROOT, *told)
    assert (found.phase, found.tool, found.doing) == (Phase.TOOL, "run_terminal_command", "make")


def test_a_permission_that_is_asked_for_in_the_moment_of_the_call_is_waited_for_until_it_is_given() -> None:
    updates = read(f"{ROOT}/updates.jsonl", ASKED, CALL)
    asks = (BEGUN, event(5, "tool_started", tool_name="run_terminal_command"), event(5, "permission_requested"))
    found, _ = shown(ROOT, *updates, *read(f"{ROOT}/events.jsonl", *asks))
    assert (found.phase, found.doing) == (Phase.PERMISSION, "make")
    given = event(5, "permission_resolved", decision="allow")
    assert shown(ROOT, *updates, *read(f"{ROOT}/events.jsonl", *asks, given))[0].phase is Phase.TOOL


def test_the_events_tell_that_the_model_is_waited_for_before_the_updates_do() -> None:
    told = read(
        f"{ROOT}/events.jsonl", BEGUN, event(5, "tool_started"), event(8, "phase_changed", phase="waiting_for_model")
    )
    assert shown(ROOT, *read(f"{ROOT}/updates.jsonl", ASKED, CALL), *told)[0].phase is Phase.MODEL


def test_a_turn_that_is_over_leaves_the_session_idle_by_either_file() -> None:
    summary = read(f"{ROOT}/summary.json", SUMMARY)
    assert shown(ROOT, *summary, *read(f"{ROOT}/events.jsonl", BEGUN, event(9, "turn_ended")))[1] is State.IDLE
    over = update(9, "turn_completed", stop_reason="error", agent_result="API error", usage={"totalTokens": 90})
    found, state = shown(ROOT, *summary, *read(f"{ROOT}/updates.jsonl", ASKED, over))
    assert (state, found.tokens, [fault.message for fault in found.errors]) == (State.IDLE, 90, ["API error"])


def test_kinds_of_tokens_of_a_turn_are_charged_by_model_and_once() -> None:
    each = {"inputTokens": 600_000, "outputTokens": 9, "cachedReadTokens": 50, "modelCalls": 4}
    usage = {"totalTokens": 600_009, "cachedReadTokens": 50, "modelUsage": {"g": each, "h": each | {"modelCalls": 2}}}
    over = update(9, "turn_completed", prompt_id="p", usage=usage)
    found, _ = shown(ROOT, *read(f"{ROOT}/updates.jsonl", ASKED, over, over))
    assert found.usage == (Usage("g", 599_950, 9, 50, over=100_000), Usage("h", 599_950, 9, 50, over=272_000))


def test_tokens_that_count_those_of_sub_agents_too_are_left_out() -> None:
    over = update(9, "turn_completed", stop_reason="end_turn", usage={"totalTokens": 90})
    assert shown(ROOT, *read(f"{ROOT}/updates.jsonl", ASKED, SPAWNED, over))[0].tokens is None


def test_the_updates_tell_how_a_sub_agent_ended_and_that_it_was_taken_up_again() -> None:
    over = update(20, "subagent_finished", child_session_id=CHILD, status="completed", output="Round.")
    found, state = shown(CHILD, *read(f"{ROOT}/updates.jsonl", ASKED, SPAWNED, over))
    assert (found.parent, state, found.report.summary) == (ROOT, State.COMPLETED, "Round.")
    again = update(30, "subagent_spawned", child_session_id=CHILD)
    assert shown(CHILD, *read(f"{ROOT}/updates.jsonl", ASKED, SPAWNED, over, again))[0].outcome is None


def test_a_retry_is_told_with_its_reason() -> None:
    found, _ = shown(
        ROOT, *read(f"{ROOT}/updates.jsonl", ASKED, update(9, "retry_state", type="retrying", message="503"))
    )
    assert (found.phase, found.doing) == (Phase.MODEL, "503")


def test_lines_and_documents_are_told_apart_and_others_left_alone() -> None:
    for value, unit in (
        (BEGUN, Unit.LINES),
        (ASKED, Unit.LINES),
        (SUMMARY, Unit.DOCUMENT),
        ({**META, "status": "x"}, Unit.DOCUMENT),
    ):
        sample = Sample("x", json.dumps(value).encode() + b"\n", True)
        assert Grok.sniff(sample) >= 90
        assert Grok.unit_of(sample) is unit
    long = json.dumps({**META, "prompt": "x" * 9000}, indent=2).encode()
    assert (Grok.sniff(Sample("x", long[:5000], False)), Grok.unit_of(Sample("x", long[:5000], False))) == (
        95,
        Unit.DOCUMENT,
    )
    strangers: tuple[dict[str, Any], ...] = (
        {"ts": "2026-03-15T10:00:00Z", "type": "click"},
        {"method": "session/update", "params": []},
        {"info": {}},
    )
    for other in strangers:
        assert Grok.sniff(Sample("events.jsonl", json.dumps(other).encode() + b"\n", True)) == 0


@pytest.mark.parametrize(
    "value",
    [update(3, "tool_call", rawInput=3), update(3, "subagent_finished"), event(3, "turn_started", session_id=4)],
)
def test_records_of_any_shape_hurt_nobody(value: dict[str, Any]) -> None:
    assert shown(ROOT, *read(f"{ROOT}/updates.jsonl", ASKED, value))[0].title == "Mend the mill, please."


def test_its_folders_are_called_after_those_of_the_projects() -> None:
    (home,) = Grok.product.homes
    assert home.of_project is not None
    assert home.of_project(Path("/home/ada/a b")) == ("%2Fhome%2Fada%2Fa%20b", "%2Fhome%2Fada%2Fa%20b%2F*")
    assert str(home.path({"GROK_HOME": "/g"}, Path("/h"), Path("/p"))) == "/g/sessions"
