"""Codex CLI: rollouts become rows, whoever wrote what they repeat, and waits become deadlines."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.samples import forest_of
from tests.telling import handle_of

from delegtop.agents.codex.rollouts import Codex
from delegtop.agents.codex.state_database import CodexState
from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.delegation import Basis, Delegation
from delegtop.model.events import (
    Awaited,
    Deviation,
    Ended,
    Event,
    Heard,
    Noted,
    Outcome,
    Phase,
    Resumed,
    Started,
    Trust,
)
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line, Unreadable

ROOT, CHILD, OTHER = (f"019c2{n}00-0000-7000-8000-000000000000" for n in "123")
OLD_TURN, TURN, LATER = (f"019c2{n}ff-0000-7000-8000-000000000000" for n in "126")
SAMPLES = Path(__file__).parents[4] / "sample_logs" / "codex"
REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
needs_real_logs = pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")

Told = tuple[str, dict[str, Any]]


def at(second: float) -> Millis:
    return Millis(1_770_109_200_000 + int(second * 1000))


def stamp(second: float) -> str:
    return f"2026-02-03T09:{int(second) // 60:02d}:{second % 60:06.3f}Z"


def meta(id: str = ROOT, **more: Any) -> Told:
    given = {"id": id, "timestamp": stamp(0), "cwd": "/w", "cli_version": "0.166.0", "source": "cli", **more}
    return "session_meta", given


def child_meta(**more: Any) -> Told:
    spawn = {"parent_thread_id": ROOT, "depth": 1, "agent_nickname": "Ada", "agent_role": "explorer"}
    return meta(CHILD, parent_thread_id=ROOT, source={"subagent": {"thread_spawn": spawn}}, **more)


def event(kind: str, **payload: Any) -> Told:
    return "event_msg", {"type": kind, **payload}


def item(kind: str, **payload: Any) -> Told:
    return "response_item", {"type": kind, **payload}


def call(name: str, id: str = "c1", **arguments: Any) -> Told:
    return item("function_call", name=name, call_id=id, arguments=json.dumps(arguments))


def output(value: Any, id: str = "c1") -> Told:
    return item("function_call_output", call_id=id, output=value if isinstance(value, str) else json.dumps(value))


def lines(*told: Told, path: str = "rollout.jsonl", numbered: bool = False) -> list[Line]:
    """One record a second."""
    made = []
    for second, (kind, payload) in enumerate(told):
        record: dict[str, Any] = {"timestamp": stamp(second), "type": kind, "payload": payload}
        if numbered:
            record["ordinal"] = second
        made.append(Line(Origin(path, second + 1, second * 1000), json.dumps(record).encode()))
    return made


def read(*told: Told, dialect: Codex | None = None, numbered: bool = False) -> list[Any]:
    reader = dialect or Codex()
    return [found for line in lines(*told, numbered=numbered) for found in reader.read(line)]


def only(events: Iterable[Event | Unreadable], kind: type[Any], id: str | None = None) -> list[Any]:
    return [each for each in events if isinstance(each, kind) and id in (None, each.id)]


def forest(*files: list[Line], now: float = 1_000) -> Forest:
    made = Forest()
    for file in files:
        dialect = Codex()
        made.apply([e for line in file for e in dialect.read(line) if not isinstance(e, Unreadable)])
    made.advance(at(now))
    return made


def row(made: Forest, id: str) -> tuple[Delegation, State]:
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


PROMPT = event("user_message", message="Find the slow query\nand fix it")
STARTED = event("task_started", turn_id=TURN)
COMPLETE = event("task_complete", turn_id=TURN, last_agent_message="It is the join.")


# -- one thread ----------------------------------------------------------------------------------------------------


def test_a_session_is_a_root_row_with_what_its_first_record_says() -> None:
    found, state = row(forest(lines(meta(), STARTED, ("turn_context", {"model": "gpt-5.5"}), PROMPT, COMPLETE)), ROOT)
    assert state is State.IDLE
    assert (found.agent, found.depth, found.parent, found.product) == ("codex", 0, None, "codex")
    assert (found.cwd, found.version, found.model) == ("/w", "0.166.0", "gpt-5.5")
    assert (found.title, found.prompt) == ("Find the slow query", "Find the slow query\nand fix it")
    assert ("thread_id", ROOT) in found.refs


@pytest.mark.parametrize(("git", "branch"), [({"branch": "feature/join"}, "feature/join"), ({}, None), (None, None)])
def test_a_session_is_on_the_branch_that_its_first_record_names(git: object, branch: str | None) -> None:
    found, _ = row(forest(lines(meta(git=git))), ROOT)
    assert found.branch == branch


def test_a_spawned_thread_is_a_child_with_its_own_name_and_its_role() -> None:
    found, state = row(forest(lines(child_meta(), STARTED, COMPLETE)), CHILD)
    assert state is State.COMPLETED
    assert (found.agent, found.own_name, found.depth, found.parent) == ("explorer", "Ada", 1, ROOT)
    assert found.report.summary == "It is the join."
    assert found.ended_at == at(2)


def test_a_thread_without_a_role_has_the_default_one() -> None:
    spawn = {"parent_thread_id": ROOT, "depth": 2, "agent_role": None}
    told = meta(CHILD, source={"subagent": {"thread_spawn": spawn}})
    (started,) = only(read(told), Started)
    assert (started.agent, started.parent, started.depth) == ("default", ROOT, 2)


@pytest.mark.parametrize(
    "source",
    [
        {"subagent": "review"},
        {"subagent": "compact"},
        {"subagent": {"other": "guardian"}},
        {"internal": "memory_consolidation"},
    ],
)
def test_a_thread_that_codex_started_for_itself_is_no_delegation(source: Any) -> None:
    told = meta(CHILD, source=source, parent_thread_id=ROOT)
    assert read(told, STARTED, PROMPT, call("exec_command", cmd="ls"), COMPLETE) == []


def test_a_failed_turn_ends_a_child_with_its_error() -> None:
    error = {"message": "stream disconnected", "codex_error_info": "response_stream_disconnected"}
    failed = event("task_complete", turn_id=TURN, last_agent_message=None, error=error)
    found, state = row(forest(lines(child_meta(), STARTED, failed)), CHILD)
    assert state is State.FAILED
    assert found.report.errors[0].message == "stream disconnected"
    assert found.report.errors[0].type == "response_stream_disconnected"


def test_an_aborted_turn_interrupts_a_child() -> None:
    aborted = event("turn_aborted", turn_id=TURN, reason="interrupted")
    assert row(forest(lines(child_meta(), STARTED, aborted)), CHILD)[1] is State.INTERRUPTED


def test_an_aborted_turn_leaves_a_session_at_the_prompt_but_ends_a_run_that_has_none() -> None:
    aborted = event("turn_aborted", turn_id=TURN, reason="interrupted")
    assert row(forest(lines(meta(), STARTED, aborted)), ROOT)[1] is State.IDLE
    assert row(forest(lines(meta(source="exec"), STARTED, aborted)), ROOT)[1] is State.INTERRUPTED


def test_a_failed_turn_of_a_session_is_an_error_it_can_get_over() -> None:
    failed = event("task_complete", turn_id=TURN, error={"message": "usage limit reached"})
    found, state = row(forest(lines(meta(), STARTED, failed)), ROOT)
    assert state is State.IDLE
    assert [fault.message for fault in found.faults] == ["usage limit reached"]


def test_the_end_of_another_turn_is_not_the_end() -> None:
    stale = event("turn_aborted", turn_id=OLD_TURN, reason="interrupted")
    assert row(forest(lines(child_meta(), STARTED, stale)), CHILD)[0].outcome is None


def test_a_child_that_gets_another_turn_runs_again() -> None:
    again = event("task_started", turn_id=LATER)
    told = [child_meta(), STARTED, COMPLETE, again]
    assert only(read(*told), Resumed) == [Resumed(CHILD, at(3), Origin("rollout.jsonl", 4, 3000))]
    found, state = row(forest(lines(*told), now=10), CHILD)
    assert state is State.RUNNING
    assert found.outcome is None


def counted(total: int, cached: int = 0) -> Told:
    return event("token_count", info={"total_token_usage": {"total_tokens": total, "cached_input_tokens": cached}})


def test_tokens_are_the_running_total_and_do_not_hide_what_it_does() -> None:
    told = [meta(), STARTED, call("exec_command", cmd="make test"), counted(4200)]
    found, _ = row(forest(lines(*told, event("token_count", info=None))), ROOT)
    assert found.tokens == 4200
    assert (found.phase, found.tool, found.doing) == (Phase.TOOL, "exec_command", "make test")


def account(model: str, used: tuple[int, int, int], *, last: int = 0) -> list[Told]:
    """A turn with that model, and the count of input, cached input and output so far."""
    into, cached, out = used
    total = {"input_tokens": into, "cached_input_tokens": cached, "output_tokens": out, "total_tokens": into + out}
    info = {"total_token_usage": total, "last_token_usage": total | {"input_tokens": last or into}}
    return [("turn_context", {"model": model}), event("token_count", info=info)]


def test_kinds_of_tokens_are_charged_to_the_model_that_was_asked_and_a_count_told_again_is_not() -> None:
    told = [meta(), STARTED, *account("a", (100, 40, 9)), *account("a", (100, 40, 9)), *account("b", (300, 140, 10))]
    found, _ = row(forest(lines(*told)), ROOT)
    assert found.usage == (Usage("a", 60, 9, 40), Usage("b", 100, 1, 100))


def test_long_prompts_are_told_by_the_last_request_and_not_by_the_sum() -> None:
    told = [meta(), STARTED, *account("a", (900_000, 0, 1), last=1_000), *account("a", (1_200_000, 0, 2), last=300_000)]
    found, _ = row(forest(lines(*told)), ROOT)
    assert found.usage == (Usage("a", 900_000, 1), Usage("a", 300_000, 1, over=272_000))


@pytest.mark.parametrize(
    ("own", "used"),
    [
        pytest.param([(51_000, 0, 6)], (Usage("a", 1_000, 1),), id="its count goes on where the other's was"),
        pytest.param([(700, 0, 2), (800, 0, 3)], (Usage("a", 800, 3),), id="its count begins anew"),
        pytest.param([(51_000, 0, 6), (10, 0, 1)], (Usage("a", 1_000, 1),), id="its count is set back"),
        pytest.param([], (), id="it counted nothing yet"),
    ],
)
def test_what_an_inherited_history_used_is_not_charged_again(own: list[Any], used: tuple[Usage, ...]) -> None:
    inherited = [meta(ROOT), event("task_started", turn_id=OLD_TURN), PROMPT, *account("a", (50_000, 0, 5))]
    counts = [told for each in own for told in account("a", each)]
    told = [child_meta(forked_from_id=ROOT), *inherited, event("task_started", turn_id=TURN), *counts]
    found, _ = row(forest(lines(*told)), CHILD)
    assert found.usage == used


# -- what it is in the middle of -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "phase", "tool", "doing"),
    [
        (call("exec_command", cmd="cargo build"), Phase.TOOL, "exec_command", "cargo build"),
        (call("shell", command=["bash", "-lc", "ls -la"]), Phase.TOOL, "shell", "ls -la"),
        (call("shell", command=["git", "status"]), Phase.TOOL, "shell", "git status"),
        (
            call("exec_command", cmd="rm -r out", sandbox_permissions="require_escalated"),
            Phase.TOOL,
            "exec_command",
            "rm -r out (asks to run outside the sandbox)",
        ),
        (
            item(
                "custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch\n*** Update File: a.py\n"
            ),
            Phase.TOOL,
            "apply_patch",
            "a.py",
        ),
        (item("local_shell_call", call_id="c1", action={"command": ["pwd"]}), Phase.TOOL, "shell", "pwd"),
        (call("wait_agent", targets=[CHILD, OTHER]), Phase.CHILD, "wait_agent", "waits for 2 agents"),
        (call("request_user_input"), Phase.ANSWER, "request_user_input", None),
        (event("exec_approval_request", command=["sudo", "reboot"]), Phase.PERMISSION, None, "sudo reboot"),
        (item("message", role="assistant", content=[{"text": "I look at it."}]), Phase.MODEL, None, "I look at it."),
        (item("reasoning", summary=[]), Phase.MODEL, None, None),
        (("compacted", {"message": ""}), Phase.MODEL, None, "compacted its history"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_it_is_in_the_middle_of(told: Told, phase: Phase, tool: str | None, doing: str | None) -> None:
    last = only(read(meta(), STARTED, told), Heard, ROOT)[-1]
    assert (last.phase, last.tool, last.doing) == (phase, tool, doing)


def test_after_its_tools_it_waits_for_the_model_again() -> None:
    told = [meta(), STARTED, call("exec_command", cmd="a"), call("exec_command", "c2", cmd="b")]
    beats = only(read(*told, output("done", "c2"), output("done")), Heard)
    assert [(beat.phase, beat.doing) for beat in beats[-2:]] == [(Phase.TOOL, "a"), (Phase.MODEL, None)]


# -- what is not its own -------------------------------------------------------------------------------------------


def test_tokens_read_from_a_cache_are_not_counted() -> None:
    found, _ = row(forest(lines(meta(), STARTED, counted(4200, cached=4000), counted(9000, cached=8700))), ROOT)
    assert found.tokens == 300


@pytest.mark.parametrize(
    ("own", "tokens"),
    [
        pytest.param([counted(51_000), counted(52_000)], 2_000, id="its count goes on where the other's was"),
        pytest.param([counted(700), counted(60_000)], 60_000, id="its count begins anew"),
        pytest.param([], None, id="it counted nothing yet"),
    ],
)
def test_tokens_of_an_inherited_history_are_not_its_own(own: list[Told], tokens: int | None) -> None:
    inherited = [meta(ROOT), event("task_started", turn_id=OLD_TURN), PROMPT, counted(50_000)]
    told = [child_meta(forked_from_id=ROOT), *inherited, event("task_started", turn_id=TURN), *own]
    found, _ = row(forest(lines(*told)), CHILD)
    assert found.tokens == tokens


def test_history_inherited_by_ordinal_is_not_its_own() -> None:
    inherited = [meta(ROOT), event("task_started", turn_id=OLD_TURN), PROMPT, event("turn_aborted", turn_id=OLD_TURN)]
    told = [child_meta(subagent_history_start_ordinal=5), *inherited, event("task_started", turn_id=TURN)]
    found = read(*told, event("user_message", message="Its own task"), numbered=True)
    assert {each.id for each in found if not isinstance(each, Deviation | Unreadable)} == {CHILD}
    assert not only(found, Ended)
    assert [each.prompt for each in found if getattr(each, "prompt", None)] == ["Its own task"]


@pytest.mark.parametrize("own", [child_meta(), child_meta(forked_from_id=ROOT)], ids=["spawned", "forked"])
def test_history_without_ordinals_ends_at_the_first_turn_that_is_not_older_than_the_thread(own: Told) -> None:
    inherited = [meta(ROOT), event("task_started", turn_id=OLD_TURN), PROMPT]
    aborted = event("turn_aborted", turn_id=OLD_TURN, reason="interrupted")
    found = read(own, *inherited, aborted, event("task_started", turn_id=TURN), COMPLETE)
    assert [beat.at for beat in only(found, Heard)] == [at(5)]
    assert [end.at for end in only(found, Ended)] == [at(6)]


def test_only_the_first_meta_says_whose_file_it_is() -> None:
    found = read(meta(CHILD), meta(ROOT), event("task_started", turn_id=TURN))
    assert [each.id for each in only(found, Started)] == [CHILD]


def test_a_foreign_meta_in_the_middle_of_a_turn_hides_nothing_of_it() -> None:
    found = read(meta(ROOT), STARTED, meta(OTHER), call("exec_command", cmd="make"))
    assert only(found, Heard)[-1].doing == "make"


def test_a_file_that_lost_its_beginning_is_known_by_its_name() -> None:
    path = f"/h/sessions/2026/02/03/rollout-2026-02-03T09-00-00-{ROOT}.jsonl"
    found = [e for line in lines(STARTED, COMPLETE, path=path) for e in Codex().read(line)]
    assert {each.id for each in found if isinstance(each, Heard)} == {ROOT}


def test_a_file_that_nobody_can_name_deviates() -> None:
    assert [each.kind for each in read(STARTED) if isinstance(each, Deviation)] == ["missing session_id"]


# -- what it hands on ----------------------------------------------------------------------------------------------

SPAWN = call("spawn_agent", message="Measure it", agent_type="explorer")
SPAWNED = output({"agent_id": CHILD, "nickname": "Ada"})


def test_a_spawned_thread_is_a_row_even_if_its_own_file_is_not_there() -> None:
    found, _ = row(forest(lines(meta(), STARTED, SPAWN, SPAWNED)), CHILD)
    assert (found.agent, found.own_name, found.parent, found.depth) == ("explorer", "Ada", ROOT, 1)
    assert (found.title, found.prompt) == ("Measure it", "Measure it")


def test_the_id_of_a_spawned_thread_tells_when_it_was_made() -> None:
    made = "019c22ba-e680-7abc-8000-000000000000"
    found = read(
        meta(), STARTED, SPAWN, output({"agent_id": made}), call("spawn_agent", "c2"), output({"agent_id": "x"}, "c2")
    )
    assert [(each.at, each.trust) for each in only(found, Started, made)] == [(at(0), Trust.EPOCH)]
    assert [(each.at, each.trust) for each in only(found, Started, "x")] == [(at(5), Trust.SCRIPT)]


def test_a_refused_spawn_makes_no_row() -> None:
    found = read(meta(), STARTED, SPAWN, output("unsupported call: spawn_agent"))
    assert [each.id for each in only(found, Started)] == [ROOT]


def test_parent_and_child_agree_whichever_file_is_read_first() -> None:
    parent, child = lines(meta(), STARTED, SPAWN, SPAWNED), lines(child_meta(), STARTED, path="child.jsonl")
    for made in (forest(parent, child), forest(child, parent)):
        found, _ = row(made, CHILD)
        assert (found.agent, found.own_name, found.claims) == ("explorer", "Ada", ())
        assert made.parent(made.find(CHILD) or 0) == made.find(ROOT)


def test_a_wait_is_counted_down_for_everyone_it_waits_for_and_makes_nobody_overdue() -> None:
    wait = call("wait_agent", "c2", targets=[CHILD, OTHER, "nobody"], timeout_ms=30_000)
    told = [meta(), STARTED, SPAWN, SPAWNED, wait]
    waits = only(read(*told), Awaited)
    assert [(each.id, each.until, each.by) for each in waits] == [
        (CHILD, at(34), "wait_agent 30 s"),
        (OTHER, at(34), "wait_agent 30 s"),
    ]
    deadline = forest(lines(*told), now=30).deadline(1)
    assert deadline is not None
    assert (deadline.at, deadline.basis, deadline.is_firm) == (at(34), Basis.WAIT, False)
    made = forest(lines(*told), now=40)
    assert made.deadline(1) is None
    assert (row(made, CHILD)[1], row(made, ROOT)[1]) == (State.SILENT, State.WAITING)


def test_a_wait_that_names_nobody_is_for_all_that_are_not_done() -> None:
    message = '<subagent_notification>\n{"agent_path":"%s","status":{"completed":"ok"}}\n</subagent_notification>'
    done = item("message", role="user", content=[{"type": "input_text", "text": message % CHILD}])
    told = [SPAWN, SPAWNED, call("spawn_agent", "c2"), output({"agent_id": OTHER}, "c2"), done]
    found = read(meta(), STARTED, *told, call("wait_agent", "c3", timeout_ms=1000))
    assert [each.id for each in only(found, Awaited)] == [OTHER]


def test_a_wait_that_gave_up_is_noted_and_ends_nothing() -> None:
    wait = call("wait_agent", "c2", targets=[CHILD], timeout_ms=500)
    found = read(meta(), STARTED, SPAWN, SPAWNED, wait, output({"status": {}, "timed_out": True}, "c2"))
    assert [(each.id, each.kind, each.text) for each in only(found, Noted)] == [
        (CHILD, "wait", "wait_agent gave up waiting after 0.5 s")
    ]
    assert not only(found, Ended)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ({"completed": "done"}, Outcome.COMPLETED),
        ({"errored": "broke"}, Outcome.FAILED),
        ("shutdown", Outcome.INTERRUPTED),
    ],
)
def test_a_wait_that_lasted_until_the_end_tells_the_end(status: Any, outcome: Outcome) -> None:
    wait = call("wait_agent", "c2", targets=[CHILD], timeout_ms=30_000)
    found = read(meta(), STARTED, SPAWN, SPAWNED, wait, output({"status": {CHILD: status}}, "c2"))
    assert [(end.id, end.at, end.outcome) for end in only(found, Ended)] == [(CHILD, at(5), outcome)]


def test_a_status_that_was_there_before_the_wait_tells_no_moment() -> None:
    told = [meta(), STARTED, SPAWN, SPAWNED, PROMPT, call("wait_agent", "c2", targets=[CHILD])]
    kind, payload = output({"status": {CHILD: {"completed": "done"}}}, "c2")
    record = {"timestamp": stamp(5.01), "type": kind, "payload": payload}
    dialect = Codex()
    read(*told, dialect=dialect)
    assert not only(dialect.read(Line(Origin("rollout.jsonl", 9, 9000), json.dumps(record).encode())), Ended)


def test_closing_a_running_agent_interrupts_it() -> None:
    close = call("close_agent", "c2", target=CHILD)
    found = read(meta(), STARTED, SPAWN, SPAWNED, close, output({"previous_status": "running"}, "c2"))
    assert [(end.id, end.outcome) for end in only(found, Ended)] == [(CHILD, Outcome.INTERRUPTED)]
    tidy = output({"previous_status": {"completed": "ok"}}, "c2")
    assert not only(read(meta(), STARTED, SPAWN, SPAWNED, close, tidy), Ended)


def test_the_second_version_of_agents_tells_thread_path_and_end_by_activities() -> None:
    spawn = call("spawn_agent", task_name="index", message="Add the index")
    started = {"type": "SubAgentActivity", "kind": "started", "agent_thread_id": CHILD, "agent_path": "/root/index"}
    begun = event("item_completed", item=started, completed_at_ms=at(2.5))
    over = event("item_completed", item={**started, "kind": "completed"}, completed_at_ms=at(7))
    wait = call("wait_agent", "c2", targets=["/root/index"], timeout_ms=9000)
    found = read(meta(), STARTED, spawn, begun, output({"task_name": "/root/index"}), wait, over)
    (child,) = only(found, Started, CHILD)
    assert (child.parent, child.depth) == (ROOT, 1)
    assert [each.title for each in found if getattr(each, "title", None)] == ["index"]
    assert [each.id for each in only(found, Awaited)] == [CHILD]
    assert [(end.id, end.at, end.outcome) for end in only(found, Ended)] == [(CHILD, at(7), Outcome.COMPLETED)]


def test_an_older_spawn_event_is_understood() -> None:
    spawned = event("collab_agent_spawn_end", new_thread_id=CHILD, new_agent_nickname="Bo", prompt="Do it")
    (child,) = only(read(meta(), STARTED, spawned), Started, CHILD)
    assert (child.parent, child.agent) == (ROOT, "default")


# -- hostile input -------------------------------------------------------------------------------------------------


def test_a_garbled_time_is_a_deviation_and_the_record_still_counts() -> None:
    record = {"timestamp": "yesterday", "type": "event_msg", "payload": {"type": "task_started"}}
    dialect = Codex()
    read(meta(), dialect=dialect)
    found = list(dialect.read(Line(Origin("r", 2, 9), json.dumps(record).encode())))
    assert [type(each) for each in found] == [Deviation, Heard]


@pytest.mark.parametrize(
    "payload",
    [
        [],
        None,
        {"type": []},
        {"type": "item_completed", "item": [1]},
        {"type": "token_count", "info": {"total_token_usage": "many"}},
        {"type": "function_call", "name": 7, "arguments": "{", "call_id": None},
        {"type": "function_call", "name": "wait_agent", "arguments": '{"targets": {}, "timeout_ms": -1}'},
        {"type": "function_call_output", "call_id": "c1", "output": [{"text": 3}]},
        {"type": "function_call_output", "call_id": "c1", "output": '{"status": [], "timed_out": 1}'},
        {"type": "message", "role": "user", "content": "<subagent_notification>{"},
        {"type": "agent_message", "author": {}},
        {"type": "task_complete", "error": [1]},
        {"type": "sub_agent_activity", "agent_thread_id": 1, "kind": "completed"},
    ],
    ids=lambda payload: str(payload)[:50],
)
@pytest.mark.parametrize("kind", ["event_msg", "response_item", "turn_context", "session_meta", "unheard_of"])
def test_records_of_any_shape_hurt_nobody(kind: str, payload: Any) -> None:
    found = read(meta(), STARTED, SPAWN, (kind, payload))
    assert all(not isinstance(each, Unreadable) for each in found)


def test_a_line_is_told_again_without_a_trace() -> None:
    dialect = Codex()
    told = lines(meta(), STARTED, PROMPT, call("exec_command", cmd="ls"), output("x"), COMPLETE)
    first = [list(dialect.read(line)) for line in told]
    again = [list(dialect.retell(line)) for line in told]
    assert again == first
    assert [list(dialect.retell(line)) for line in told] == first


def test_history_is_every_line_of_its_own_file_and_the_lines_of_others_that_name_it() -> None:
    dialect = Codex()
    read(meta(), dialect=dialect)
    assert dialect.needle(ROOT, "rollout.jsonl") == b""
    assert dialect.needle(CHILD, "rollout.jsonl") == CHILD.encode()


# -- which files ---------------------------------------------------------------------------------------------------


def test_a_rollout_is_known_by_its_first_line_even_if_that_is_longer_than_the_sample() -> None:
    first = lines(meta(base_instructions={"text": "x" * 5000}))[0].data
    assert Codex.sniff(Sample("a.jsonl", first + b"\n", True)) == 95
    assert Codex.sniff(Sample("a.jsonl", first.replace(b": ", b":").replace(b", ", b",")[:3000], False)) == 90


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"user","message":{},"timestamp":"2026-02-03T09:00:00Z","uuid":"u"}\n',
        b'{"type":"thread.started","thread_id":"t"}\n',
        b'{"event":"register","at":"2026-02-03T09:00:00Z","session_id":"s"}\n',
        b"",
        b"{",
    ],
)
def test_other_lines_are_not_rollouts(head: bytes) -> None:
    assert Codex.sniff(Sample("rollout-x.jsonl", head, True)) == 0


# -- the state database --------------------------------------------------------------------------------------------


def state_row(**columns: Any) -> list[Event | Unreadable]:
    return list(CodexState().read(Line(Origin("state_5.sqlite", 1, 0), json.dumps(columns).encode())))


def test_the_database_tells_of_spawned_threads() -> None:
    spawn = {"parent_thread_id": ROOT, "depth": 1, "agent_nickname": "Ada", "agent_role": None}
    source = json.dumps({"subagent": {"thread_spawn": spawn}})
    found = state_row(
        table="threads", id=CHILD, source=source, created_at_ms=at(5), updated_at_ms=at(130), tokens_used=77, cwd="/w"
    )
    (started,) = only(found, Started)
    assert (started.id, started.parent, started.depth, started.listed, started.at) == (CHILD, ROOT, 1, True, at(5))
    (heard,) = only(found, Heard)
    assert (heard.at, heard.tokens, heard.phase) == (at(120), 77, None)


def test_the_database_tells_who_spawned_whom_even_of_a_thread_it_does_not_list() -> None:
    found = state_row(table="thread_spawn_edges", parent_thread_id=ROOT, child_thread_id=CHILD, status="closed")
    assert [(each.id, each.parent) for each in only(found, Started)] == [(CHILD, ROOT)]
    assert [each.text for each in only(found, Noted)] == ["closed by the agent that spawned it"]


def test_the_rollout_outweighs_the_database() -> None:
    spawn = {"parent_thread_id": ROOT, "depth": 1}
    source = json.dumps({"subagent": {"thread_spawn": spawn}})
    listed = state_row(table="threads", id=CHILD, source=source, created_at=1, title="stale", agent_nickname="Ada")
    made = forest(lines(child_meta(), STARTED, PROMPT, call("exec_command", cmd="make")), now=10)
    made.apply([each for each in listed if not isinstance(each, Unreadable)])
    made.advance(at(10))
    found, state = row(made, CHILD)
    assert (found.agent, found.title, found.phase, state) == (
        "explorer",
        "Find the slow query",
        Phase.TOOL,
        State.RUNNING,
    )


@pytest.mark.parametrize(
    "columns", [{"table": "threads"}, {"table": "threads", "id": "x", "source": "cli"}, {"table": 3}]
)
def test_rows_that_tell_of_no_spawn_tell_nothing(columns: dict[str, Any]) -> None:
    assert state_row(**columns) == []


def test_a_database_with_those_tables_is_codex_state_and_one_of_that_name_if_its_tables_cannot_be_seen() -> None:
    head = b"SQLite format 3\0" + b"\0" * 100
    tables = frozenset({"threads", "thread_spawn_edges", "thread_spawn_edges.child_thread_id"})
    assert CodexState.sniff(Sample("/h/state_5.sqlite", head, False)) == 95
    assert CodexState.sniff(Sample("/h/x.db", head, False, tables)) == 95
    assert CodexState.sniff(Sample("/h/state_5.sqlite", head, False, frozenset({"threads"}))) == 0
    assert CodexState.sniff(Sample("/h/opencode.db", head, False)) == 0
    assert CodexState.sniff(Sample("/h/state_5.sqlite", b"{}", True)) == 0


# -- whole folders -------------------------------------------------------------------------------------------------


def grown(folder: Path, moment: str) -> Forest:
    now = parse_time(moment)
    assert now is not None
    return forest_of(folder, now)


def test_the_sample_shows_a_wait_an_error_a_fork_and_a_packed_log() -> None:
    made = grown(SAMPLES, "2026-02-03T09:02:30Z")
    found = {made.delegation(handle).own_name or made.delegation(handle).title: handle for handle in made.walk()}
    states = {name: made.state(handle) for name, handle in found.items()}
    assert states == {
        "Which version of the schema is live?": State.IDLE,
        "Find out why the nightly import of orders is slow and fix it": State.WAITING,
        "Ada": State.COMPLETED,
        "Noor": State.FAILED,
        "Iris": State.RUNNING,
    }
    iris = made.delegation(found["Iris"])
    deadline = made.deadline(found["Iris"])
    assert (iris.tool, iris.prompt) == ("exec_command", "Try the import with a larger queue")
    assert [note.text for note in iris.notes] == ["wait_agent gave up waiting after 20 s"]
    assert deadline is not None
    assert deadline.note == "wait_agent 120 s"


@needs_real_logs
def test_every_real_thread_is_one_row_under_the_parent_its_first_line_names() -> None:
    folder = Path(REAL) / "agents" / "codex"
    firsts = [json.loads(path.read_text().partition("\n")[0])["payload"] for path in folder.rglob("rollout-*.jsonl")]
    made = grown(folder, "2026-11-16T00:31:00Z")
    rows = {made.delegation(handle).id: made.delegation(handle).parent for handle in made.walk()}
    assert rows == {first["id"]: first.get("parent_thread_id") for first in firsts}
    assert len(rows) == 15


@needs_real_logs
def test_every_real_thread_is_in_the_state_its_last_turn_left_it_in() -> None:
    made = grown(Path(REAL) / "agents" / "codex" / "self_0.166.0", "2026-11-16T00:31:00Z")
    states = [(made.delegation(h).own_name, str(made.state(h)), made.level(h)) for h in made.walk()]
    named = sorted(state for state in states if state[0])
    assert named == [
        ("Aquinas", "completed", 1),
        ("Dalton", "completed", 2),
        ("Einstein", "running", 1),
        ("Erdos", "interrupted", 1),
        ("Leibniz", "interrupted", 1),
        ("Lorentz", "completed", 1),
        ("Noether", "completed", 1),
    ]
    assert sorted(state for name, state, _ in states if name is None) == [
        "idle",
        "idle",
        "idle",
        "interrupted",
        "waiting",
    ]


# -- a model that does not answer --------------------------------------------------------------------------------------


def test_an_account_that_counts_no_more_tokens_is_another_request() -> None:
    answered = (meta(), STARTED, PROMPT, call("exec_command", cmd="ls"), output("ok"), counted(10))
    found, _ = row(forest(lines(*answered)), ROOT)
    assert (found.phase, found.phase_since, found.asked) == (Phase.MODEL, at(4), None)
    found, _ = row(forest(lines(*answered, counted(10), counted(10))), ROOT)
    assert (found.phase_since, found.asked, found.quiet_since) == (at(4), 3, at(4))
    found, _ = row(forest(lines(*answered, counted(10), item("reasoning"), counted(20))), ROOT)
    assert (found.phase_since, found.asked) == (at(7), None)


def test_the_approval_policy_is_the_permission_mode_and_a_call_has_the_time_it_was_given() -> None:
    told = (meta(), STARTED, ("turn_context", {"approval_policy": "on-request"}), call("shell", timeout_ms=60_000))
    found, _ = row(forest(lines(*told)), ROOT)
    assert (found.permission_mode, found.call_deadline) == ("on-request", at(63))


def test_a_session_begins_with_its_first_line_and_not_when_the_program_was_opened() -> None:
    opened = meta(timestamp="2026-02-03T05:00:00.000Z")
    found, _ = row(forest(lines(opened, STARTED, PROMPT)), ROOT)
    assert found.started_at == at(0)
