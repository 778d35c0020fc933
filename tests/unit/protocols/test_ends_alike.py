"""What ended alike is as grave in every system, and ends check alike."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main


def standard(status: str) -> str:
    path = ["orchestrator", "plan", "planner"]
    error = {"type": "execution", "message": "No server", "code": "UNKNOWN_ERROR", "recoverable": True}
    return json.dumps(
        {
            "status": status,
            "summary": "It got nowhere. The server does not answer.",
            "artifacts": [],
            "metadata": {
                "session_id": "sess_1766743200_k3x9qa",
                "duration_seconds": 1,
                "agent_type": path[-1],
                "delegation_depth": 1,
                "delegation_path": path,
            },
            "errors": [error | {"recommendation": "Start the server"}],
        }
    )


def hyper(status: str) -> str:
    meta = {"agent_name": "scout", "status": status, "execution_time_ms": 5}
    value: dict[str, Any] = {"meta": meta, "artifacts": [], "next_steps": ["Start the server"]}
    return json.dumps(value | {"error": {"code": "NO_SERVER", "message": "No server"}})


def cleo_entry(status: str) -> str:
    day, lists = "2026-02-03", {"topics": ["a"], "key_findings": ["One", "Two", "Three"], "linked_tasks": ["T1", "T2"]}
    entry = {"id": f"a-{day}", "file": f"{day}_a.md", "title": "A", "date": day, "status": status, "actionable": True}
    return json.dumps(entry | lists | {"needs_followup": ["No server"]})


def cleo_response(status: str) -> str:
    return f"Research {status}. See MANIFEST.jsonl for {'blocker ' * (status == 'blocked')}details.\n"


@pytest.mark.parametrize(
    ("name", "text", "severity"),
    [
        ("return.json", standard("failed"), "error"),
        ("answer.json", hyper("error"), "error"),
        ("answer.json", hyper("failed"), "error"),
        ("return.json", standard("blocked"), "warning"),
        ("answer.json", hyper("blocked"), "warning"),
        ("MANIFEST.jsonl", cleo_entry("blocked"), "warning"),
        ("response.txt", cleo_response("blocked"), "warning"),
        ("return.json", standard("partial"), "warning"),
        ("answer.json", hyper("partial"), "warning"),
        ("MANIFEST.jsonl", cleo_entry("partial"), "warning"),
        ("response.txt", cleo_response("partial"), "warning"),
    ],
)
def test_what_ended_badly_ends_check_with_1_and_what_failed_is_an_error(
    name: str, text: str, severity: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert main(["check", str(tmp_path / name), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [each["severity"] for each in findings if each["rule"] == "END-001"] == [severity]


def test_an_artifact_of_hyper_is_missing_if_the_workspace_that_the_environment_names_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = ["One is fast", "One is right", "Both are small"]
    artifact = {"type": "document", "path": "projects/x/notes.md", "summary": "Notes.", "key_points": points}
    answer = json.loads(hyper("complete")) | {"artifacts": [artifact]}
    del answer["error"]
    (tmp_path / "answer.json").write_text(json.dumps(answer, indent=2), "utf-8")
    space = tmp_path / "space"
    space.mkdir()

    def told() -> set[str]:
        main(["check", str(tmp_path / "answer.json"), "--json", "--ignore", "HYP-001"])
        return {each["rule"] for each in json.loads(capsys.readouterr().out)["findings"]}

    assert told() == {"LOG-004"}
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", str(space))
    assert told() == {"HYP-008"}
    (space / "projects" / "x").mkdir(parents=True)
    (space / "projects" / "x" / "notes.md").write_text("Notes.", "utf-8")
    assert told() == set()
