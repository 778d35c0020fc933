"""hyper's files: the final message of a sub-agent, session sidecars, activity lists and the state of a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.dialects import Dialect, Sample
from delegtop.model.events import (
    Described,
    Deviation,
    Ended,
    Event,
    Heard,
    Noted,
    Outcome,
    Phase,
    Started,
    Surveyed,
    Trust,
)
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.protocols import protocol_drift
from delegtop.protocols.hyper.file_activity import HyperActivity
from delegtop.protocols.hyper.final_message import HyperOutput
from delegtop.protocols.hyper.output_contract import blocks, is_output
from delegtop.protocols.hyper.output_drift import drift_of
from delegtop.protocols.hyper.run_state import HyperRun
from delegtop.protocols.hyper.session_sidecar import HyperSession
from delegtop.sources.records import Line, Unreadable

AT = Millis(1_768_487_722_000)
ANSWER: dict[str, Any] = {
    "meta": {"agent_name": "schema-scout", "status": "complete", "execution_time_ms": 15230},
    "artifacts": [
        {
            "type": "document",
            "path": "projects/billing/resources/schema.md",
            "summary": "The tables of the billing service.",
            "key_points": ["Seven tables.", "Two are unused.", "No foreign keys."],
        }
    ],
    "next_steps": ["Add foreign keys"],
}
SPELLINGS = (
    "<!-- AGENT_OUTPUT_{} -->",
    "AGENT_OUTPUT_{}",
    "---AGENT_OUTPUT_{}---",
    "<<<AGENT_OUTPUT_{}>>>",
)


def told(dialect: Dialect, text: str, path: str = "out/answer.md", at: Millis | None = AT) -> list[Event | Unreadable]:
    return list(dialect.read(Line(Origin(path, 1, 0), text.encode(), at)))


def fenced(value: object) -> str:
    return f"```json\n{json.dumps(value, indent=2)}\n```"


def message(value: object = ANSWER, spelling: str = SPELLINGS[0]) -> str:
    return (
        f"## Done\n\nThe schema is mapped.\n\n{spelling.format('START')}\n{fenced(value)}\n{spelling.format('END')}\n"
    )


def the_end(events: list[Event | Unreadable]) -> Ended:
    (ended,) = [event for event in events if isinstance(event, Ended)]
    return ended


def note(events: list[Event | Unreadable], kind: str) -> str:
    return "\n".join(event.text for event in events if isinstance(event, Noted) and event.kind == kind)


def drifts(events: list[Event | Unreadable]) -> dict[str, list[str]]:
    return protocol_drift.read(note(events, protocol_drift.NOTE))


# -- the answer of a sub-agent


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_answer_is_read_in_each_spelling_of_its_markers(spelling: str) -> None:
    text = message(spelling=spelling)
    assert HyperOutput.sniff(Sample("answer.md", text.encode(), True)) > 0
    ended = the_end(told(HyperOutput(), text))
    assert (ended.id, ended.outcome, ended.at) == ("schema-scout@answer.md", Outcome.COMPLETED, None)
    assert ended.report.duration == 15230
    assert ended.report.next_steps == "Add foreign keys"
    assert [(a.path, a.type) for a in ended.report.artifacts] == [("projects/billing/resources/schema.md", "document")]
    assert ended.report.summary == "## Done\n\nThe schema is mapped."
    assert ended.origin.line == 5


def test_a_conforming_answer_has_no_drift_and_its_key_points_are_noted() -> None:
    events = told(HyperOutput(), message())
    assert drifts(events) == {}
    assert note(events, "findings") == "Seven tables.\nTwo are unused.\nNo foreign keys."


def test_a_fenced_block_without_markers_is_known_by_its_shape() -> None:
    text = f"Here it is.\n{fenced(ANSWER)}\n"
    assert HyperOutput.sniff(Sample("answer.md", text.encode(), True)) > 0
    assert drifts(told(HyperOutput(), text)) == {"no markers": ["the block has no AGENT_OUTPUT_START"]}


def test_a_block_without_meta_is_taken() -> None:
    value = {"artifacts": [], "next_steps": ["Go on"]}
    events = told(HyperOutput(), f"Text.\n{fenced(value)}")
    assert the_end(events).outcome is Outcome.UNKNOWN
    assert drifts(events)["HYP-003"] == ["meta is missing"]


def test_the_block_alone_is_an_answer() -> None:
    text = json.dumps(ANSWER)
    assert HyperOutput.sniff(Sample("answer.json", text.encode(), True)) > 0
    assert the_end(told(HyperOutput(), text)).report.agent == "schema-scout"


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("complete", Outcome.COMPLETED),
        ("partial", Outcome.PARTIAL),
        ("error", Outcome.FAILED),
        ("failed", Outcome.FAILED),
        ("blocked", Outcome.BLOCKED),
        ("sleepy", Outcome.UNKNOWN),
    ],
)
def test_a_status_is_mapped_and_its_word_is_kept(word: str, outcome: Outcome) -> None:
    ended = the_end(told(HyperOutput(), message({**ANSWER, "meta": {"agent_name": "a", "status": word}})))
    assert (ended.outcome, ended.report.status) == (outcome, word)


def test_an_error_object_is_the_error_of_the_return() -> None:
    value = {
        "meta": {"agent_name": "docs", "status": "error", "execution_time_ms": 3},
        "artifacts": [],
        "next_steps": [],
        "error": {"code": "NO_SERVER", "message": "No server answers", "details": "after 3 s"},
    }
    (fault,) = the_end(told(HyperOutput(), message(value))).report.errors
    assert (fault.code, fault.message) == ("NO_SERVER", "No server answers after 3 s")


def test_of_several_blocks_the_last_counts() -> None:
    draft = {**ANSWER, "meta": {"agent_name": "draft", "status": "partial"}}
    assert the_end(told(HyperOutput(), message(draft) + message())).report.agent == "schema-scout"


def test_markers_around_broken_json_are_told() -> None:
    text = "<!-- AGENT_OUTPUT_START -->\n```json\n{broken\n```\n<!-- AGENT_OUTPUT_END -->"
    assert HyperOutput.sniff(Sample("answer.md", text.encode(), True)) > 0
    events = told(HyperOutput(), text)
    assert "not JSON" in drifts(events)
    assert the_end(events).outcome is Outcome.UNKNOWN


def test_a_block_that_never_ends_is_read_and_told() -> None:
    events = told(HyperOutput(), f"<!-- AGENT_OUTPUT_START -->\n{fenced(ANSWER)}\n")
    assert the_end(events).outcome is Outcome.COMPLETED
    assert "no end marker" in drifts(events)


@pytest.mark.parametrize(
    "text",
    [
        "# A page\n\nSome prose about artifacts.",
        '```json\n{"name": "x", "artifacts": ["dist/"]}\n```',
        '{"status":"completed","summary":"s","artifacts":[],"metadata":{},"next_steps":[]}',
        "<!-- AGENT_OUTPUT_START -->\n"
        '{"status":"completed","summary":"s","artifacts":[],"metadata":{}}\n<!-- AGENT_OUTPUT_END -->',
        '{"jobs":{"build":{"artifacts":{"paths":["a"]}}}}',
        "\0\1\2 AGENT_OUTPUT_START",
    ],
)
def test_other_files_are_not_claimed(text: str) -> None:
    assert HyperOutput.sniff(Sample("README.md", text.encode(), True)) == 0


@pytest.mark.parametrize(
    "value",
    [
        {"meta": 7, "artifacts": {"path": "a"}, "next_steps": "go"},
        {"meta": {"status": None}, "artifacts": ["a.md", 5, {"key_points": "x"}], "next_steps": [1, {}]},
        {"meta": {"agent_name": [], "execution_time_ms": "long"}, "artifacts": None, "error": "boom"},
        {"meta": {"execution_time_ms": -1}, "artifacts": [{"type": "commits", "count": 3}], "blockers": [{"x": 1}]},
    ],
)
def test_an_odd_answer_is_taken_as_far_as_it_goes(value: dict[str, Any]) -> None:
    assert drift_of(value)
    assert the_end(told(HyperOutput(), message(value)))


def test_the_standard_return_is_no_answer_of_this_contract() -> None:
    assert not is_output({"status": "completed", "artifacts": [], "next_steps": [], "metadata": {}})
    assert not is_output(None)


def test_a_text_of_nothing_but_markers_is_read_in_a_moment() -> None:
    assert len(blocks("<!-- AGENT_OUTPUT_START -->\n" * 3_000)) == 3_000


def test_a_named_file_is_read_by_the_tree_and_a_folder_is_not_searched_for_prose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer.md"
    path.write_text(message())
    assert main(["tree", str(path), "--json"]) == Exit.OK
    (row,) = json.loads(capsys.readouterr().out)["delegations"]
    assert (row["id"], row["state"]) == ("schema-scout@answer.md", "completed")
    main(["tree", str(tmp_path), "--json"])
    assert not json.loads(capsys.readouterr().out)["delegations"]


# -- session sidecars

SIDECAR: dict[str, Any] = {
    "sessionId": "5b0a-worker",
    "parentId": None,
    "transcriptPath": "/home/u/.claude/projects/x/5b0a-worker.jsonl",
    "workspaceRoot": "/home/u/ws",
    "currentTarget": {
        "type": "task",
        "taskId": "task-001",
        "projectSlug": "billing",
        "filePath": "projects/billing/tasks/task-001.mdx",
    },
    "recentTargets": [],
    "startedAt": "2026-01-18T10:00:00Z",
    "lastActivity": "2026-01-18T10:05:00Z",
    "agent": {
        "role": "worker",
        "name": "Worker One",
        "runId": "20260118-100000-a7b3c9",
        "workflow": "plan",
        "phase": "Research",
    },
}


def sidecar(**fields: Any) -> list[Event | Unreadable]:
    return told(HyperSession(), json.dumps({**SIDECAR, **fields}), "sessions/5b0a-worker.json")


def started(events: list[Event | Unreadable]) -> dict[str, Started]:
    return {event.id: event for event in events if isinstance(event, Started)}


def test_a_session_hangs_under_its_run_and_says_that_no_parent_is_known() -> None:
    events = sidecar()
    assert started(events)["5b0a-worker"].parent == "20260118-100000-a7b3c9"
    assert note(events, "parentless") == (
        "the sidecar names no parent session; shown under its run 20260118-100000-a7b3c9"
    )


def test_a_parent_that_is_named_is_the_parent() -> None:
    events = sidecar(parentId="captain-1")
    assert started(events)["5b0a-worker"].parent == "captain-1"
    assert note(events, "parentless") == ""


def test_a_session_without_parent_and_run_is_a_root_and_none_is_guessed() -> None:
    events = sidecar(agent=None)
    assert started(events)["5b0a-worker"].parent is None
    assert note(events, "parentless") == "the sidecar names no parent session, and no run"


def test_a_session_tells_what_it_works_on_and_when_it_last_wrote() -> None:
    (heard,) = [event for event in sidecar() if isinstance(event, Heard) and event.id == "5b0a-worker"]
    assert (heard.doing, heard.at) == ("task billing/task-001", parse_time("2026-01-18T10:05:00Z"))
    assert heard.phase is None
    (described,) = [event for event in sidecar() if isinstance(event, Described) and event.id == "5b0a-worker"]
    assert (described.name, described.title) == ("Worker One", "plan / Research")


def test_a_session_of_a_person_is_idle_between_its_writes() -> None:
    heard = [event for event in sidecar(agent={"role": None}) if isinstance(event, Heard)]
    assert [event.phase for event in heard] == [Phase.IDLE]


def test_the_other_spelling_of_the_path_of_an_unknown_target_is_read() -> None:
    events = sidecar(currentTarget={"type": "unknown", "file_path": "notes.mdx"})
    assert [e.doing for e in events if isinstance(e, Heard) and e.id == "5b0a-worker"] == ["unknown notes.mdx"]


def test_a_sidecar_is_known_by_its_shape() -> None:
    assert HyperSession.sniff(Sample("x.json", json.dumps(SIDECAR).encode(), True)) > 0
    assert HyperSession.sniff(Sample("sessions/x.json", b'{"sessionId":"a","cwd":"/"}', True)) == 0
    assert HyperSession.sniff(Sample("sessions/x.json", json.dumps(SIDECAR).encode()[:90], False)) == 0


@pytest.mark.parametrize(
    "fields",
    [{"sessionId": None}, {"agent": [], "currentTarget": "x"}, {"startedAt": 5, "lastActivity": "soon"}],
)
def test_an_odd_sidecar_is_named(fields: dict[str, Any]) -> None:
    assert [event for event in sidecar(**fields) if isinstance(event, Deviation)]


BESIDE = {
    "timestamp": "2026-01-15T11:45:00Z",
    "actor": {"type": "session", "id": "child"},
    "parent_id": "mother",
    "action": "modified",
}
INSIDE = {
    "timestamp": "2026-01-15T11:45:00Z",
    "actor": {"type": "session", "id": "child", "parent_id": "mother"},
    "action": "modified",
}


@pytest.mark.parametrize("activity", [BESIDE, INSIDE])
def test_both_schemas_of_an_activity_are_read(activity: dict[str, Any]) -> None:
    events = sidecar(activity=[activity])
    assert started(events)["child"].parent == "mother"
    assert [e.at for e in events if isinstance(e, Heard) and e.id == "child"] == [parse_time("2026-01-15T11:45:00Z")]


MDX = """---
id: task-001
title: A task
activity:
  - timestamp: "2026-01-15T10:30:00Z"
    actor:
      type: session
      id: "mother"
    action: created
  - timestamp: "2026-01-15T11:45:00Z"
    actor:
      type: session
      id: "child"
      parent_id: "mother"
    action: modified
  - timestamp: "2026-01-15T11:50:00Z"
    actor:
      type: user
      id: "ann"
    action: commented
---
# A task
"""


def test_the_activity_in_a_frontmatter_is_read_and_people_are_no_delegations() -> None:
    assert HyperActivity.sniff(Sample("task.mdx", MDX.encode(), True)) > 0
    assert HyperActivity.sniff(Sample("page.mdx", b"---\ntitle: x\n---\nactivity: actor:", True)) == 0
    events = told(HyperActivity(), MDX, "task.mdx")
    assert {id: event.parent for id, event in started(events).items()} == {"mother": None, "child": "mother"}
    assert [e.doing for e in events if isinstance(e, Heard)] == ["created task.mdx", "modified task.mdx"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nactivity: [\n---\n",
        "---\nactivity:\n  - actor: {type: session, id: ses",
        "---\nactivity: &all [*all]\n---\n",
        f"---\nactivity: {'[' * 20}{']' * 20}\n---\n",
        "---\nactivity:\n  - [a]: b\n---\n",
    ],
)
def test_bad_frontmatter_is_named(text: str) -> None:
    events = told(HyperActivity(), text, "task.mdx")
    assert [event.reason for event in events if isinstance(event, Unreadable)] == ["bad frontmatter"]
    assert not started(events)


def test_of_a_very_long_activity_list_the_newest_entries_are_read_and_that_is_said() -> None:
    def entry(number: int) -> str:
        return f'  - timestamp: "2026-01-15T10:30:00Z"\n    actor: {{type: session, id: s{number}}}\n'

    text = "---\nactivity:\n" + "".join(map(entry, range(2_000))) + "title: x\n---\n"
    events = told(HyperActivity(), text, "task.mdx")
    assert [event.reason for event in events if isinstance(event, Unreadable)] == ["long activity list"]
    assert {"s1999", "s1900"} < started(events).keys()
    assert "s0" not in started(events)


# -- the state of a run

STATE = """# Execution State

run: 20260115-143052-a7b3c9
program: feature.prose
started: 2026-01-15T14:30:52Z
updated: 2026-01-15T14:35:22Z

## Execution Trace

```prose
agent researcher:
  prompt: "You research"

let research = session: researcher           # --> bindings/research.md
  prompt: "Read up"

parallel:
  a = session "Weigh risk A"                 # --> bindings/a.md (complete)
  b = session "Weigh risk B"                 # <-- EXECUTING
  c = session "Weigh risk C"                 # <-- RETRYING (attempt 2/3)
  d = session "Weigh risk D"                 # (failed)

session "Put it together"                    # [...next...]
```

## Call Stack

| execution_id | block | depth | status |
|--------------|-------|-------|--------|
| 43 | process | 3 | executing |
| 42 | process | 2 | waiting |
| 41 | process | 1 | waiting |
"""
RUN = "20260115-143052-a7b3c9"
PLACE = f".prose/runs/{RUN}/state.md"


def run(text: str = STATE, at: Millis = AT) -> list[Event]:
    return [event for event in told(HyperRun(), text, PLACE, at) if not isinstance(event, Unreadable)]


def test_the_call_stack_is_a_line_of_descent() -> None:
    parents = {event.id: event.parent for event in run() if isinstance(event, Started)}
    assert parents[f"{RUN}#43"] == f"{RUN}#42"
    assert parents[f"{RUN}#42"] == f"{RUN}#41"
    assert parents[f"{RUN}#41"] == RUN


def test_the_times_a_model_wrote_are_not_trusted_and_the_file_is_the_clock() -> None:
    (start,) = [event for event in run() if isinstance(event, Started) and event.id == RUN]
    assert start.trust is Trust.MODEL
    assert {event.at for event in run() if isinstance(event, Heard)} == {AT}


def test_the_sessions_of_the_trace_are_children_of_the_run() -> None:
    events = run()
    children = {e.id.partition(":")[2]: e for e in events if isinstance(e, Started) and e.id.startswith(f"{RUN}:")}
    assert children.keys() == {"research", "a", "b", "c", "d"}
    assert {child.parent for child in children.values()} == {RUN}
    assert children["research"].agent == "researcher"
    titles = {e.id.partition(":")[2]: e.title for e in events if isinstance(e, Described)}
    assert (titles["research"], titles["a"]) == ("Read up", "Weigh risk A")
    ended = {e.id.partition(":")[2]: e.outcome for e in events if isinstance(e, Ended)}
    assert ended == {"research": Outcome.COMPLETED, "a": Outcome.COMPLETED, "d": Outcome.FAILED}


def test_a_step_that_is_tried_again_is_a_loop() -> None:
    noted = {event.id: event.text for event in run() if isinstance(event, Noted) and event.kind == "loop"}
    assert noted[f"{RUN}:c"] == "attempt 2 of 3"


def test_a_block_that_left_the_stack_has_come_back_and_nobody_says_how() -> None:
    forest = Forest()
    forest.apply(run())
    later = Millis(AT + 60_000)
    forest.apply(run(STATE.replace("| 43 | process | 3 | executing |\n", ""), later))
    forest.advance(later)
    states = {forest.delegation(handle).id: forest.state(handle) for handle in forest.walk()}
    assert states[f"{RUN}#43"] is State.UNKNOWN
    assert states[f"{RUN}#42"] in (State.RUNNING, State.WAITING)
    assert states[RUN] is State.WAITING


def test_a_run_that_only_calls_itself_current_is_known_by_its_folder() -> None:
    ids = [event.id for event in run(STATE.replace(f"run: {RUN}", "run: current")) if isinstance(event, Started)]
    assert ids[0] == RUN


def test_the_root_of_the_stack_is_the_run_itself() -> None:
    text = STATE[: STATE.index("| 43")] + "| (root) | - | 0 | executing |\n"
    (survey,) = [event for event in run(text) if isinstance(event, Surveyed)]
    assert survey.ids == (RUN,)


def test_a_row_that_is_none_is_named() -> None:
    events = run(STATE + "|  | x | y | z |\n")
    assert [event.kind for event in events if isinstance(event, Deviation)] == ["odd row"]


def test_a_state_file_is_known_by_its_shape_not_by_its_name() -> None:
    assert HyperRun.sniff(Sample("any.md", STATE.encode(), True)) > 0
    assert HyperRun.sniff(Sample("state.md", b"# State\n\nrun: fast\n", True)) == 0
    assert HyperRun.sniff(Sample("state.md", b"\xff\x00", True)) == 0


def test_a_folder_with_a_run_shows_its_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / PLACE
    path.parent.mkdir(parents=True)
    path.write_text(STATE)
    assert main(["tree", str(tmp_path), "--json"]) == Exit.OK
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["delegations"]}
    assert len(rows) == 9
    assert rows[f"{RUN}:b"]["parent"] == RUN
