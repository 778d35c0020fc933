"""Kimi Code and Kimi CLI: wires that name nobody, and the folders and documents that do."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.patience import growth
from tests.telling import forest_at, handle_of

from delegtop.agents.kimi.wire_log import Kimi
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.model.delegation import Delegation
from delegtop.model.events import Described, Ended, Outcome, Phase, Started
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line, Unreadable

REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
START = 1_770_109_200_000
NOW = Millis(START + 60_000)
SESSION = "session_1"
HOME = f"/k/sessions/wd_x/{SESSION}"
MAIN, SUB = f"{HOME}/agents/main/wire.jsonl", f"{HOME}/agents/agent-0/wire.jsonl"
BEGIN = {"type": "metadata", "protocol_version": "1.4", "created_at": START}
STATE: dict[str, Any] = {
    "createdAt": "2026-02-03T09:00:00Z",
    "title": "Count the files",
    "workDir": "/w",
    "agents": {
        "main": {"homedir": f"{HOME}/agents/main", "type": "main", "parentAgentId": None},
        "agent-0": {"homedir": f"{HOME}/agents/agent-0", "type": "sub", "parentAgentId": "main"},
    },
}


def wire(second: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "time": START + second * 1000, **more}


def loop(second: int, kind: str, **event: Any) -> dict[str, Any]:
    return wire(second, "context.append_loop_event", event={"type": kind, **event})


def read(path: str, *values: dict[str, Any]) -> list[Any]:
    dialect = Kimi()
    made = [Line(Origin(path, n, n * 100), json.dumps(value).encode(), NOW) for n, value in enumerate(values, 1)]
    return [event for line in made for event in dialect.read(line)]


def row(id: str, *events: Any) -> tuple[Delegation, State]:
    made = forest_at(NOW, events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


ASKED = wire(1, "turn.prompt", input=[{"type": "text", "text": "Count the files"}])
SPAWN = loop(
    3,
    "tool.call",
    toolCallId="Agent_1",
    name="Agent",
    args={"description": "Count", "subagent_type": "explore", "prompt": "Count them all"},
)
BACK = "agent_id: agent-0\nactual_subagent_type: explore\nstatus: %s\n\n[summary]\nThere are nine."


def result(status: str) -> dict[str, Any]:
    return loop(9, "tool.result", toolCallId="Agent_1", result={"output": BACK % status})


def test_the_main_wire_is_the_session() -> None:
    used = wire(5, "usage.record", usage={"inputOther": 10, "output": 4, "inputCacheRead": 6, "inputCacheCreation": 0})
    config = wire(0, "config.update", modelAlias="k2", cwd="/w")
    found, state = row(SESSION, *read(MAIN, BEGIN, config, ASKED, used, wire(6, "turn.ended", reason="completed")))
    assert (found.agent, found.depth, found.model, found.cwd, found.title) == ("kimi", 0, "k2", "/w", "Count the files")
    assert (found.tokens, state) == (14, State.IDLE)
    assert found.usage == (), "nobody says of which model"
    named = used | {"model": "k/k2"}
    assert row(SESSION, *read(MAIN, BEGIN, ASKED, named))[0].usage == (Usage("k/k2", 10, 4, 6),)


@pytest.mark.parametrize(
    ("told", "phase", "doing"),
    [
        (wire(2, "llm.request", model="k2"), Phase.MODEL, None),
        (loop(2, "tool.call", toolCallId="b", name="Bash", args={"command": "ls"}), Phase.TOOL, "ls"),
        (SPAWN, Phase.CHILD, "Count"),
        (loop(2, "content.part", part={"type": "text", "text": "Nine."}), Phase.MODEL, "Nine."),
        (loop(2, "step.end", finishReason="end_turn"), Phase.IDLE, None),
        (wire(2, "turn.cancel"), Phase.IDLE, "cancelled"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_it_is_in_the_middle_of(told: dict[str, Any], phase: Phase, doing: str | None) -> None:
    found, _ = row(SESSION, *read(MAIN, BEGIN, ASKED, told))
    assert (found.phase, found.doing) == (phase, doing)


@pytest.mark.parametrize(("source", "phase"), [("manual", Phase.IDLE), ("auto", Phase.MODEL)])
def test_after_a_compaction_it_goes_on_unless_a_person_asked_for_it(source: str, phase: Phase) -> None:
    told = [wire(2, "full_compaction.begin", source=source), wire(4, "full_compaction.complete")]
    assert row(SESSION, *read(MAIN, BEGIN, ASKED, *told))[0].phase is phase


@pytest.mark.parametrize(("status", "state"), [("completed", State.COMPLETED), ("failed", State.FAILED)])
def test_the_result_of_a_call_names_the_agent_and_its_end(status: str, state: State) -> None:
    found, told = row(f"{SESSION}/agent-0", *read(MAIN, BEGIN, ASKED, SPAWN, result(status)))
    assert (told, found.agent, found.parent, found.depth) == (state, "explore", SESSION, 1)
    assert (found.title, found.prompt, found.report.summary) == ("Count", "Count them all", "There are nine.")


def test_the_state_document_links_an_agent_that_has_not_come_back() -> None:
    inner = read(SUB, BEGIN, wire(3, "config.update", profileName="explore"), wire(4, "llm.request"))
    found, state = row(f"{SESSION}/agent-0", *inner, *read(f"{HOME}/state.json", STATE))
    assert (found.agent, found.parent, found.phase, state) == ("explore", SESSION, Phase.MODEL, State.RUNNING)
    main, _ = row(SESSION, *read(f"{HOME}/state.json", STATE))
    assert (main.title, main.cwd) == ("Count the files", "/w")


def test_what_the_program_puts_before_a_prompt_is_not_what_was_asked() -> None:
    asked = "<git-context>\nWorking directory: /w\n</git-context>\n\nCount them all"
    inner = read(SUB, BEGIN, wire(4, "turn.prompt", input=[{"type": "text", "text": asked}]))
    found, _ = row(f"{SESSION}/agent-0", *inner)
    assert (found.title, found.prompt) == ("Count them all", "Count them all")


def test_the_words_of_the_call_are_a_better_title_than_the_prompt() -> None:
    inner = read(SUB, BEGIN, wire(4, "turn.prompt", input=[{"type": "text", "text": "Count them all"}]))
    found, _ = row(f"{SESSION}/agent-0", *inner, *read(MAIN, BEGIN, ASKED, SPAWN, result("completed")))
    assert (found.title, found.prompt) == ("Count", "Count them all")
    main, _ = row(SESSION, *read(MAIN, BEGIN, ASKED), *read(f"{HOME}/state.json", {**STATE, "title": "Files"}))
    assert main.title == "Files"


def test_the_older_program_has_a_document_for_each_agent() -> None:
    path = "/share/sessions/ab/s-9/subagents/a7/meta.json"
    meta = {"agent_id": "a7", "subagent_type": "coder", "status": "completed", "created_at": START / 1000}
    meta |= {"updated_at": START / 1000 + 30, "description": "Write it", "launch_spec": {"effective_model": "k2"}}
    found, state = row("s-9/a7", *read(path, meta))
    assert (found.agent, found.parent, found.title, found.model, state) == (
        "coder",
        "s-9",
        "Write it",
        "k2",
        State.COMPLETED,
    )
    assert found.ended_at == START + 30_000
    killed = [each for each in read(path, {**meta, "status": "killed"}) if isinstance(each, Ended)]
    assert [each.outcome for each in killed] == [Outcome.INTERRUPTED]
    running = read(path, {**meta, "status": "running_background"})
    assert row("s-9/a7", *running)[1] is State.RUNNING


def test_the_older_wire_tells_turns_tools_approvals_and_agents() -> None:
    path = "/share/sessions/ab/s-9/wire.jsonl"

    def said(second: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": START / 1000 + second, "message": {"type": kind, "payload": payload}}

    call = said(2, "ToolCall", id="c", function={"name": "Shell", "arguments": '{"command": "ls"}'})
    asks = said(3, "ApprovalRequest", id="r", sender="Shell", description="run ls")
    told = [{"type": "metadata", "protocol_version": "1.1"}, said(1, "TurnBegin", user_input="Look"), call]
    assert row("s-9", *read(path, *told))[0].phase is Phase.TOOL
    assert row("s-9", *read(path, *told, asks))[0].phase is Phase.PERMISSION
    assert row("s-9", *read(path, *told, asks, said(4, "TurnEnd")))[1] is State.IDLE
    sub = said(5, "SubagentEvent", agent_id="a7", subagent_type="coder", event={"type": "StepBegin", "payload": {}})
    found, _ = row("s-9/a7", *read(path, *told, sub))
    assert (found.parent, found.agent) == ("s-9", "coder")


SPAWNED = wire(4, "subagent.spawned", subagentId="agent-0", subagentName="coder", description="Sort", taskId="agent-xy")
TASK: dict[str, Any] = {
    "taskId": "agent-xy",
    "kind": "agent",
    "agentId": "agent-0",
    "subagentType": "coder",
    "detached": True,
}
TASK |= {"description": "Sort", "startedAt": START + 4000, "timeoutMs": 0}


@pytest.mark.parametrize(
    ("event", "state", "said"),
    [
        (wire(9, "subagent.completed", subagentId="agent-0", resultSummary="Sorted."), State.COMPLETED, "Sorted."),
        (wire(9, "subagent.failed", subagentId="agent-0", error="400 no"), State.FAILED, "400 no"),
        (wire(9, "subagent.cancelled", subagentId="agent-0"), State.INTERRUPTED, None),
        (
            wire(9, "task.terminated", info={**TASK, "status": "completed"}, outputTail="Tail."),
            State.COMPLETED,
            "Tail.",
        ),
        (wire(9, "task.terminated", info={**TASK, "kind": "process"}), State.RUNNING, None),
    ],
)
def test_the_wire_of_the_caller_tells_what_became_of_an_agent_in_the_background(
    event: dict[str, Any], state: State, said: str | None
) -> None:
    found, shown = row(f"{SESSION}/agent-0", *read(MAIN, BEGIN, ASKED, SPAWNED, event))
    assert (found.agent, found.title, found.parent) == ("coder", "Sort", SESSION)
    assert (shown, found.report.summary) == (state, said)


@pytest.mark.parametrize(
    ("status", "state"), [("completed", State.COMPLETED), ("killed", State.INTERRUPTED), ("running", State.RUNNING)]
)
def test_the_document_of_a_task_tells_what_became_of_its_agent(status: str, state: State) -> None:
    task = read(f"{HOME}/agents/main/tasks/agent-xy.json", {**TASK, "status": status, "endedAt": START + 9000})
    found, shown = row(f"{SESSION}/agent-0", *task, *read(SUB, BEGIN, ASKED))
    assert (found.agent, found.title, found.parent, found.depth, shown) == ("coder", "Sort", SESSION, 1, state)


@pytest.mark.parametrize(
    ("reason", "state"), [("cancelled", State.INTERRUPTED), ("failed", State.FAILED), ("completed", State.IDLE)]
)
def test_an_agent_whose_turn_was_broken_off_is_over_and_one_that_came_through_waits_for_its_callers_word(
    reason: str, state: State
) -> None:
    broken = wire(8, "turn.step.interrupted", message="Session closed")
    found, shown = row(f"{SESSION}/agent-0", *read(SUB, BEGIN, ASKED, broken, wire(9, "turn.ended", reason=reason)))
    assert (shown, found.report.summary) == (state, None if state is State.IDLE else "Session closed")
    session, shown = row(SESSION, *read(MAIN, BEGIN, ASKED, broken, wire(9, "turn.ended", reason=reason)))
    assert (shown, [error.message for error in session.errors]) == (
        State.IDLE,
        ["Session closed"] if reason == "failed" else [],
    )


def test_a_retry_says_which_it_is_and_why() -> None:
    again = wire(9, "turn.step.retrying", nextAttempt=2, maxAttempts=10, errorMessage="terminated")
    found, _ = row(SESSION, *read(MAIN, BEGIN, ASKED, again))
    assert (found.phase, found.doing) == (Phase.MODEL, "retry 2 of 10: terminated")


def test_the_state_of_a_later_version_names_folder_and_kinds() -> None:
    agents = {**STATE["agents"], "agent-0": {**STATE["agents"]["agent-0"], "labels": {"profileName": "coder"}}}
    told = read(f"{HOME}/state.json", {"version": 2, "cwd": "/v", "createdAt": START, "agents": agents})
    assert row(f"{SESSION}/agent-0", *told)[0].agent == "coder"
    assert row(SESSION, *told)[0].cwd == "/v"


def test_both_homes_of_kimi_are_looked_into_and_a_variable_moves_that_of_kimi_code() -> None:
    here, there = [home.path({"KIMI_CODE_HOME": "/k"}, Path("/h"), Path("/p")) for home in Kimi.product.homes]
    assert (str(here), str(there)) == ("/k/sessions", "/h/.kimi/sessions")


def test_wires_and_documents_are_told_apart() -> None:
    for value, unit in ((BEGIN, Unit.LINES), (STATE, Unit.DOCUMENT), ({**TASK, "status": "running"}, Unit.DOCUMENT)):
        sample = Sample("x", json.dumps(value).encode() + b"\n", True)
        assert (Kimi.sniff(sample), Kimi.unit_of(sample)) == (90, unit)
    assert Kimi.sniff(Sample("state.json", b'{"agents": {}}', True)) == 0
    assert Kimi.sniff(Sample("state.json", b'{"agents": {"a": {"type": "sub"}}}', True)) == 0
    assert Kimi.sniff(Sample("wire.jsonl", b'{"type": "metadata"}\n', True)) == 0


@pytest.mark.parametrize(
    "value", [wire(1, "turn.prompt", input=3), loop(1, "tool.result", result=[]), {"message": []}, {"agents": 1}]
)
def test_records_of_any_shape_hurt_nobody(value: dict[str, Any]) -> None:
    assert not [each for each in read(MAIN, BEGIN, SPAWN, value) if isinstance(each, Unreadable)]


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_the_fixture_has_one_spawned_agent_that_came_back() -> None:
    folder = Path(REAL) / "agents" / "other_agents" / "agent_sessions_stage0" / "kimi"
    data = (folder / "assistant_tools.jsonl").read_bytes().splitlines()
    dialect = Kimi()
    events = [e for n, d in enumerate(data) for e in dialect.read(Line(Origin(str(folder / "x.jsonl"), n, n), d))]
    children = [event for event in events if isinstance(event, Started) and event.parent]
    assert [(each.agent, dict(each.refs)["agent_id"]) for each in children] == [("explore", "agent-0")]
    assert [event.outcome for event in events if isinstance(event, Ended)] == [Outcome.COMPLETED]


def test_a_request_after_a_failed_one_goes_on_waiting_for_the_same_answer() -> None:
    asked = [wire(2, "llm.request"), wire(300, "turn.step.retrying", failedAttempt=1), wire(301, "llm.request")]
    mode = wire(0, "permission.set_mode", mode="auto")
    found, _ = row(SESSION, *read(MAIN, BEGIN, mode, ASKED, *asked))
    assert (found.phase, found.phase_since, found.asked) == (Phase.MODEL, START + 1000, 2)
    assert found.permission_mode == "auto"


@pytest.mark.parametrize("piece", [" ", "\n", "<git-context>"])
def test_a_long_prompt_takes_no_longer_than_its_length(piece: str) -> None:
    def work(size: int) -> None:
        read(SUB, BEGIN, wire(0, "turn.prompt", input=[{"type": "text", "text": piece * (size // len(piece))}]))

    assert growth(work, 8_000) < 30


def test_what_kimi_puts_before_a_prompt_is_left_out_of_it() -> None:
    text = "  <git-context>\nbranch: main\n</git-context>\n\nCount <git-context>the</git-context> files."
    told = read(SUB, BEGIN, wire(0, "turn.prompt", input=[{"type": "text", "text": text}]))
    assert [each.prompt for each in told if isinstance(each, Described) and each.prompt] == [
        "Count <git-context>the</git-context> files."
    ]
