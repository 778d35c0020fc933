"""GitHub Copilot CLI: a session and its sub-agents in one log."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.copilot.event_log import Copilot
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ended, Heard, Outcome, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line, Unreadable

SESSION = "5e55-1"
REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
START = Millis(1_770_109_200_000)

Told = tuple[str, dict[str, Any]]
BEGIN: Told = (
    "session.start",
    {
        "sessionId": SESSION,
        "copilotVersion": "1.0.64",
        "startTime": "2026-02-03T09:00:00Z",
        "context": {"cwd": "/w"},
        "selectedModel": "gpt-5",
    },
)
ASKED: Told = ("user.message", {"content": "Find the leak"})


def at(second: int) -> Millis:
    return Millis(START + second * 1000)


def lines(*told: Told, path: str = "s/events.jsonl") -> list[Line]:
    """One record a second; a key that begins with ^ belongs to the record, not to its data."""
    made = []
    for second, (kind, data) in enumerate(told):
        outer = {key[1:]: value for key, value in data.items() if key.startswith("^")}
        inner = {key: value for key, value in data.items() if not key.startswith("^")}
        stamp = f"2026-02-03T09:00:{second:02d}Z"
        record = {"type": kind, "data": inner, "id": f"e{second}", "timestamp": stamp, "parentId": None, **outer}
        made.append(Line(Origin(path, second + 1, second * 1000), json.dumps(record).encode()))
    return made


def read(*told: Told) -> list[Any]:
    dialect = Copilot()
    return [event for line in lines(*told) for event in dialect.read(line)]


def row(id: str, *told: Told, now: int = 50) -> tuple[Delegation, State]:
    made = forest_at(at(now), read(*told))
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


def tool(name: str, id: str = "t1", **arguments: Any) -> Told:
    return "tool.execution_start", {"toolCallId": id, "toolName": name, "arguments": arguments}


def result(text: str = "ok", id: str = "t1") -> Told:
    return "tool.execution_complete", {"toolCallId": id, "success": True, "result": {"content": text}}


SPAWN = tool("task", agent_type="explore", description="Look for the leak", prompt="Look in src")
SPAWNED: Told = (
    "subagent.started",
    {"^agentId": "a1", "toolCallId": "t1", "agentName": "explore", "agentDisplayName": "Scout"},
)
CHILD = f"{SESSION}/t1"


def test_a_session_is_a_root_row() -> None:
    found, state = row(SESSION, BEGIN, ASKED)
    assert (found.agent, found.depth, found.product, state) == ("copilot", 0, "copilot", State.RUNNING)
    assert (found.cwd, found.version, found.model) == ("/w", "1.0.64", "gpt-5")
    assert (found.title, found.prompt, found.phase) == ("Find the leak", "Find the leak", Phase.MODEL)


def test_a_turn_that_asks_for_tools_is_not_the_last() -> None:
    asks = ("assistant.message", {"content": "", "toolRequests": [{"toolCallId": "t1", "name": "bash"}]})
    says = ("assistant.message", {"content": "Found it.", "toolRequests": []})
    end: Told = ("assistant.turn_end", {})
    assert row(SESSION, BEGIN, ASKED, asks, end)[1] is State.RUNNING
    assert row(SESSION, BEGIN, ASKED, asks, end, says, end)[1] is State.IDLE


@pytest.mark.parametrize(
    ("told", "phase", "name", "doing"),
    [
        (tool("bash", command="make test"), Phase.TOOL, "bash", "make test"),
        (SPAWN, Phase.CHILD, "task", "Look for the leak"),
        (
            ("permission.requested", {"permissionRequest": {"kind": "shell", "fullCommandText": "rm -r out"}}),
            Phase.PERMISSION,
            "shell",
            "rm -r out",
        ),
        (("user_input.requested", {"question": "Which one?"}), Phase.ANSWER, None, "Which one?"),
        (("abort", {"reason": "user"}), Phase.IDLE, None, "aborted"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_it_is_in_the_middle_of(told: Told, phase: Phase, name: str | None, doing: str) -> None:
    last = [event for event in read(BEGIN, ASKED, told) if isinstance(event, Heard)][-1]
    assert (last.phase, last.tool, last.doing) == (phase, name, doing)


def test_a_subagent_hangs_under_whoever_made_the_call() -> None:
    found, state = row(CHILD, BEGIN, ASKED, SPAWN, SPAWNED)
    assert (found.agent, found.own_name, found.parent, found.depth) == ("explore", "Scout", SESSION, 1)
    assert (found.title, found.prompt, state) == ("Look for the leak", "Look in src", State.RUNNING)
    assert found.refs == (("session_id", SESSION), ("tool_use_id", "t1"), ("agent_id", "a1"))


def test_a_name_that_only_spells_the_kind_of_agent_is_not_shown_twice() -> None:
    names = {"agentName": "code-review", "agentDisplayName": "Code review"}
    spawned: Told = ("subagent.started", {"^agentId": "a1", "toolCallId": "t1", **names})
    found, _ = row(CHILD, BEGIN, ASKED, SPAWN, spawned)
    assert (found.agent, found.own_name) == ("code-review", None)


@pytest.mark.parametrize("whose", [{"^agentId": "a1"}, {"parentToolCallId": "t1"}], ids=["agent id", "call"])
def test_records_of_a_subagent_tell_of_it_and_its_own_spawns_hang_under_it(whose: dict[str, Any]) -> None:
    kind, data = tool("task", "t2", agent_type="plan")
    nested = (kind, {**data, **whose})
    spawned = ("subagent.started", {"^agentId": "a2", "toolCallId": "t2", "agentName": "plan"})
    found, _ = row(f"{SESSION}/t2", BEGIN, SPAWN, SPAWNED, nested, spawned)
    assert (found.parent, found.depth) == (CHILD, 2)
    child, _ = row(CHILD, BEGIN, SPAWN, SPAWNED, nested)
    assert (child.tool, child.phase) == ("task", Phase.CHILD)


def test_a_completed_subagent_has_its_tokens_and_the_text_it_came_back_with() -> None:
    over = ("subagent.completed", {"^agentId": "a1", "toolCallId": "t1", "agentName": "explore", "totalTokens": 900})
    found, state = row(CHILD, BEGIN, SPAWN, SPAWNED, over, result("It leaks in the cache."))
    assert (state, found.tokens, found.report.summary) == (State.COMPLETED, 900, "It leaks in the cache.")
    assert (found.ended_at, found.claims) == (at(3), ())


def test_tokens_and_errors_belong_to_the_agent_whose_they_are() -> None:
    def used(tokens: int, call: str, **outer: str) -> Told:
        usage = {"inputTokens": tokens, "cacheReadTokens": 10, "outputTokens": 5, "apiCallId": call}
        return "session.usage_record", {"usage": usage, **outer}

    own = {"^agentId": "a1"}
    error: Told = ("session.error", {**own, "errorType": "query", "message": "400"})
    changed: Told = ("session.model_change", {**own, "newModel": "gpt-6"})
    over: Told = ("subagent.failed", {**own, "toolCallId": "t1", "error": "400", "totalTokens": 900})
    told = (BEGIN, ASKED, used(100, "x"), SPAWN, SPAWNED, used(40, "y", **own), changed, error, over)
    session, _ = row(SESSION, *told)
    assert (session.tokens, session.errors, session.model) == (95, (), "gpt-5")
    agent, state = row(f"{SESSION}/t1", *told)
    assert (agent.tokens, [fault.message for fault in agent.errors], state) == (35, ["400"], State.FAILED)


def test_kinds_of_tokens_are_charged_to_the_model_of_the_request_and_once() -> None:
    usage = {"model": "m", "inputTokens": 100, "cacheReadTokens": 60, "cacheWriteTokens": 30, "outputTokens": 5}
    told: Told = ("session.usage_record", {"usage": usage | {"apiCallId": "x"}})
    assert row(SESSION, BEGIN, ASKED, told, told)[0].usage == (Usage("m", 10, 5, 60, 30),)


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (("subagent.failed", {"toolCallId": "t1", "error": "no quota"}), Outcome.FAILED),
        (("subagent.completed", {"toolCallId": "t1", "cancelled": True}), Outcome.INTERRUPTED),
        (
            ("system.notification", {"kind": {"type": "agent_completed", "agentId": "a1", "status": "completed"}}),
            Outcome.COMPLETED,
        ),
        (("session.shutdown", {"shutdownType": "routine"}), Outcome.LOST),
    ],
    ids=lambda value: str(value)[:40],
)
def test_how_a_subagent_ends(told: Told, outcome: Outcome) -> None:
    ends = [event for event in read(BEGIN, SPAWN, SPAWNED, told) if isinstance(event, Ended) and event.id == CHILD]
    assert [end.outcome for end in ends] == [outcome]


def test_a_shutdown_ends_the_session_and_a_resume_undoes_it() -> None:
    down = (
        "session.shutdown",
        {"shutdownType": "routine", "modelMetrics": {"m": {"usage": {"inputTokens": 7, "outputTokens": 2}}}},
    )
    found, state = row(SESSION, BEGIN, down)
    assert (state, found.tokens) == (State.COMPLETED, 9)
    assert row(SESSION, BEGIN, down, ("session.resume", {}))[1] is State.IDLE
    assert row(SESSION, BEGIN, ("session.shutdown", {"shutdownType": "error"}))[1] is State.FAILED


def test_a_session_that_was_told_to_end_in_its_turn_was_interrupted() -> None:
    abort, shutdown = ("abort", {"reason": "user_abort"}), ("session.shutdown", {"shutdownType": "routine"})
    assert row(SESSION, BEGIN, abort, shutdown)[1] is State.INTERRUPTED
    assert row(SESSION, BEGIN, abort, ("user.message", {"content": "go on"}), shutdown)[1] is State.COMPLETED


def test_an_error_is_kept_and_ends_nothing() -> None:
    found, state = row(SESSION, BEGIN, ASKED, ("session.error", {"errorType": "query", "message": "bad request"}))
    assert ([fault.message for fault in found.faults], state) == (["bad request"], State.RUNNING)


def test_a_log_that_lost_its_beginning_is_known_by_its_folder() -> None:
    found = [event for line in lines(ASKED, path=f"/h/{SESSION}/events.jsonl") for event in Copilot().read(line)]
    assert {event.id for event in found if isinstance(event, Heard)} == {SESSION}


@pytest.mark.parametrize(
    "data", [None, [], {"toolRequests": 3}, {"toolCallId": []}, {"permissionRequest": 1}, {"kind": "x"}]
)
@pytest.mark.parametrize(
    "kind", ["session.start", "session.shutdown", "assistant.message", "tool.execution_start", "subagent.started"]
)
def test_records_of_any_shape_hurt_nobody(kind: str, data: Any) -> None:
    record = json.dumps({"type": kind, "data": data, "id": "e"}).encode()
    assert not [found for found in Copilot().read(Line(Origin("p", 1, 0), record)) if isinstance(found, Unreadable)]


def test_history_finds_the_records_of_a_subagent_by_its_id() -> None:
    dialect = Copilot()
    told = lines(BEGIN, SPAWN, SPAWNED)
    first = [list(dialect.read(line)) for line in told]
    assert dialect.needle(SESSION, "p") == b""
    assert dialect.needle(CHILD, "p") == b"a1"
    assert list(dialect.retell(told[0])) == first[0]


def test_a_log_is_known_by_its_first_line() -> None:
    assert Copilot.sniff(Sample("x.jsonl", lines(BEGIN)[0].data, True)) == 95
    assert Copilot.sniff(Sample("x.jsonl", lines(ASKED)[0].data, True)) == 70
    assert Copilot.sniff(Sample("x.jsonl", b'{"type":"user","id":"x","data":{}}', True)) == 0


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_real_sessions_are_one_row_each_and_end_as_they_say() -> None:
    made = Forest()
    paths = sorted((Path(REAL) / "agents" / "copilot").rglob("events.jsonl"))
    for path in paths:
        dialect = Copilot()
        for number, data in enumerate(path.read_bytes().splitlines(), 1):
            made.apply(
                [
                    e
                    for e in dialect.read(Line(Origin(str(path), number, number), data))
                    if not isinstance(e, Unreadable)
                ]
            )
    made.advance(Millis(1_783_100_000_000))
    assert {made.delegation(handle).id for handle in made.walk()} == {path.parent.name for path in paths}
    shut = {path.parent.name for path in paths if b'"session.shutdown"' in path.read_bytes()}
    assert {made.delegation(h).id for h in made.walk() if made.state(h) is State.COMPLETED} == shut
    assert (len(paths), len(shut)) == (3, 2)


def test_nothing_is_told_twice() -> None:
    told = read(BEGIN, SPAWN, SPAWNED)
    assert len([event for event in told if isinstance(event, Started)]) == 2
