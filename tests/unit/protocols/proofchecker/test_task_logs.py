"""The two logs of a task: what its dispatches used, and what went wrong on the way."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

SESSION = "sess_1789358400_a311aa"
FOLDER = "specs/311_measure_the_queue"
AT = "2026-09-14T10:00:00Z"


def metric(**fields: Any) -> dict[str, Any]:
    return {
        "entry_id": "met_1789360200000_aB3dE1",
        "recorded_at": "2026-09-14T04:30:00Z",
        "task": 311,
        "phase": "implement",
        "agent": "mail-agent",
        "outcome": "completed",
        "dispatch_seq": 4,
        "session_id": SESSION,
        "backfilled": False,
        "wall_clock_seconds": 600.5,
        "model": "claude-sonnet-5",
        "tokens": {"input": 100, "cache_creation": 2_000, "cache_read": 900_000, "output": 300},
        **fields,
    }


def issue(**fields: Any) -> dict[str, Any]:
    return {
        "entry_id": "iss_1789359900000_qW9rT1",
        "timestamp": "2026-09-14T04:25:00Z",
        "kind": "issue",
        "class": "gate collision",
        "severity": "blocking",
        "phase": "implement",
        "dispatch_seq": 4,
        "what_happened": "Two gates disagree.",
        "resolution": "open",
        "tags": {},
        "task_dir": FOLDER,
        "session_id": None,
        **fields,
    }


class Project:
    """A folder of tasks on disk."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._root, self._capsys = root, capsys

    def write(self, name: str, *lines: dict[str, Any] | str, folder: str = FOLDER) -> None:
        path = self._root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))

    def rows(self) -> dict[str, dict[str, Any]]:
        main(["tree", str(self._root / "specs"), "--json", "--at", AT])
        return {row["id"]: row for row in json.loads(self._capsys.readouterr().out)["delegations"]}

    def row(self, operation: str = "implement") -> dict[str, Any]:
        return self.rows()[f"{SESSION}/311/{operation}"]

    def check(self, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        code = main(["check", str(self._root / "specs"), "--json", "--at", AT, *arguments])
        found: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)["findings"]
        return code, found


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, capsys)


# -- metrics -----------------------------------------------------------------------------------------------------------


def test_a_dispatch_has_its_agent_times_outcome_tokens_model_and_transcript(project: Project) -> None:
    transcript = {"path": "/home/kim/.claude/projects/-x/s/subagents/agent-a.jsonl", "span_seconds": 590}
    project.write("metrics.jsonl", metric(transcript=transcript, cc_session_id="7b1f0c9e-52d4"))
    row = project.row()
    assert (row["agent"], row["state"], row["task"], row["command"]) == ("mail-agent", "completed", "311", "implement")
    assert (row["started_at"], row["ended_at"]) == ("2026-09-14T04:19:59.500Z", "2026-09-14T04:30:00.000Z")
    assert row["tokens"] == 2_400
    assert row["model"] == "claude-sonnet-5"
    assert row["cost"] is not None
    assert row["cost_estimated"]
    assert row["refs"]["transcript"] == transcript["path"]
    session = project.rows()[SESSION]
    assert session["state"] == "idle"
    assert session["refs"]["session_id"] == "7b1f0c9e-52d4"


def test_what_could_not_be_measured_is_unknown_and_not_zero(project: Project) -> None:
    line = {
        name: value
        for name, value in metric().items()
        if name not in ("tokens", "model", "wall_clock_seconds", "agent")
    }
    project.write("metrics.jsonl", line)
    row = project.row()
    assert (row["tokens"], row["cost"], row["model"], row["started_at"]) == (None, None, None, None)
    assert row["state"] == "completed"


def test_of_several_models_nobody_knows_which_used_how_much(project: Project) -> None:
    project.write("metrics.jsonl", metric(model=["claude-opus-5", "claude-sonnet-5"]))
    row = project.row()
    assert (row["tokens"], row["cost"], row["model"]) == (2_400, None, "claude-opus-5, claude-sonnet-5")


@pytest.mark.parametrize(
    ("word", "state"),
    [("completed", "completed"), ("partial", "partial"), ("blocked", "blocked"), ("failed", "failed")],
)
def test_every_outcome_is_a_state(word: str, state: str, project: Project) -> None:
    project.write("metrics.jsonl", metric(outcome=word))
    assert project.row()["state"] == state
    assert project.check()[0] == (Exit.OK if state == "completed" else Exit.ENDED_BADLY)


def test_what_was_put_off_has_not_ended(project: Project) -> None:
    project.write("metrics.jsonl", metric(outcome="deferred"))
    row = project.row()
    assert (row["ended_at"], row["state"]) == (None, "idle")


def test_dispatches_of_one_operation_add_up_and_the_last_one_tells_how_it_ended(project: Project) -> None:
    again = metric(
        entry_id="met_2", recorded_at="2026-09-14T05:00:00Z", outcome="partial", tokens={"input": 7, "output": 3}
    )
    project.write("metrics.jsonl", metric(), again, metric())
    row = project.row()
    assert (row["tokens"], row["state"], row["ended_at"]) == (2_410, "partial", "2026-09-14T05:00:00.000Z")
    assert row["started_at"] == "2026-09-14T04:19:59.500Z"
    (usage,) = row["usage"]
    assert (usage["input"], usage["output"], usage["cache_read"]) == (107, 303, 900_000)


def test_the_return_outweighs_the_measurement_and_keeps_its_words(project: Project) -> None:
    project.write("metrics.jsonl", metric(outcome="completed"))
    project.write(
        ".return-meta.json",
        {
            "status": "partial",
            "summary": "Half of it.",
            "artifacts": [],
            "metadata": {"session_id": SESSION, "agent_type": "mail-agent", "delegation_path": ["o", "implement", "m"]},
        },
    )
    row = project.row()
    assert (row["state"], row["summary"], row["tokens"]) == ("partial", "Half of it.", 2_400)


def test_what_was_reckoned_up_later_is_no_clock(project: Project) -> None:
    project.write("metrics.jsonl", metric(backfilled=True))
    assert project.row()["times_by"] == "model"


@pytest.mark.parametrize("fields", [{"session_id": None}, {"session_id": "$session_id"}])
def test_a_line_that_names_no_session_is_told_and_makes_no_row(fields: dict[str, Any], project: Project) -> None:
    project.write("metrics.jsonl", metric(**fields))
    assert not project.rows()
    assert [each["rule"] for each in project.check()[1]] == ["LOG-002"]


def test_figures_beyond_all_measure_stop_nothing(project: Project) -> None:
    tokens = {"input": 10**15 - 1, "output": 10**40, "cache_creation": -1, "cache_read": 10**15 - 1}
    project.write("metrics.jsonl", *(metric(entry_id=f"met_{number}", tokens=tokens) for number in range(40)))
    assert project.row()["tokens"] == 40 * (10**15 - 1)


def test_odd_figures_are_left_out(project: Project) -> None:
    project.write("metrics.jsonl", metric(wall_clock_seconds=-5, tokens={"input": "many", "output": True}, model=7))
    row = project.row()
    assert (row["started_at"], row["tokens"]) == (None, None)


@pytest.mark.parametrize(
    ("fields", "rule", "severity"),
    [
        ({"status": "completed"}, "FAM-020", "error"),
        ({"status": "done"}, "FAM-020", "error"),
        ({"status": "report_written"}, "FAM-020", "info"),
        ({"status": "implemented"}, "FAM-028", "warning"),
        ({"status": "implemented", "completion_data": {"completion_summary": " "}}, "FAM-028", "warning"),
        ({"status": "implemented", "completion_data": "all of it"}, "FAM-028", "warning"),
        ({"status": "implemented", "completion_data": {"completion_summary": "The queue is measured."}}, "", ""),
        ({"status": "planned"}, "", ""),
        ({"status": "researched"}, "", ""),
    ],
)
def test_a_return_is_judged_as_the_family_does(
    fields: dict[str, Any], rule: str, severity: str, project: Project
) -> None:
    metadata = {"session_id": SESSION, "agent_type": "mail-agent", "delegation_path": ["o", "implement", "mail-agent"]}
    project.write(".return-meta.json", json.dumps({"artifacts": [], "metadata": metadata, **fields}))
    _, found = project.check("--rule", "FAM-020", "--rule", "FAM-028")
    assert [(each["rule"], each["severity"]) for each in found] == ([(rule, severity)] if rule else [])


def test_a_planner_that_asks_for_research_is_blocked_by_its_questions(project: Project) -> None:
    metadata = {"session_id": SESSION, "agent_type": "planner-agent", "delegation_path": ["o", "plan", "planner-agent"]}
    asks = {"status": "needs_research", "artifacts": [], "research_questions": ["Which broker is it?"]}
    project.write(".return-meta.json", json.dumps({**asks, "metadata": metadata}))
    assert project.row("plan")["state"] == "blocked"
    _, found = project.check("--rule", "FAM-016", "--rule", "FAM-020", "--rule", "FAM-027")
    assert [(each["rule"], each["advice"]) for each in found] == [("FAM-016", "Which broker is it?")]


# -- issues ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({}, "warning"),
        ({"resolution": None}, "warning"),
        ({"severity": "costly"}, "info"),
        ({"resolution": "worked_around"}, None),
        ({"resolution": "fixed_inline"}, None),
        ({"severity": "minor"}, None),
        ({"severity": "none"}, None),
        ({"kind": "win"}, None),
        ({"session_id": SESSION}, "warning"),
        ({"session_id": f"{SESSION}_311"}, "warning"),
        ({"session_id": "sess_1789350000_b0b0b0"}, None),
        ({"phase": None}, "warning"),
        ({"phase": "research"}, None),
        ({"timestamp": "2026-09-20T04:25:00Z"}, None),
    ],
)
def test_what_is_open_and_was_costly_is_told_of_whom_it_concerns(
    fields: dict[str, Any], severity: str | None, project: Project
) -> None:
    project.write("issues.jsonl", issue(**fields))
    project.write("metrics.jsonl", metric())
    code, found = project.check("--rule", "FAM-032")
    assert [each["severity"] for each in found] == ([severity] if severity else [])
    assert all(each["message"] == "gate collision: Two gates disagree." for each in found)
    assert all(each["subject"] == f"{SESSION}/311/implement" for each in found)
    assert code == Exit.OK


def test_an_issue_alone_makes_no_row(project: Project) -> None:
    project.write("issues.jsonl", issue(session_id=SESSION))
    assert not project.rows()


def test_every_issue_of_a_row_is_told(project: Project) -> None:
    lines = [issue(entry_id=f"iss_{number}", what_happened=f"It broke {number}.") for number in range(3)]
    project.write("issues.jsonl", *lines, issue(entry_id="iss_1", what_happened="It broke 1."))
    project.write("metrics.jsonl", metric())
    _, found = project.check("--rule", "FAM-032")
    assert [each["message"] for each in found] == [f"gate collision: It broke {number}." for number in range(3)]


def test_a_torn_line_costs_nothing_else(project: Project) -> None:
    project.write("metrics.jsonl", metric(), json.dumps(metric())[:80], metric(entry_id="met_2", phase="plan"))
    assert {f"{SESSION}/311/implement", f"{SESSION}/311/plan"} <= project.rows().keys()
    assert [each["rule"] for each in project.check()[1]] == ["LOG-001"]
