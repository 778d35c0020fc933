"""What check finds in a file of JSON, or in a text that holds some, points at the line of the very field."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main

RETURN: dict[str, Any] = {
    "status": "completed",
    "summary": "Two plans were made. Both are short.",
    "artifacts": [{"type": "plan", "path": "plans/a.md"}, {"type": "plan", "path": "/tmp/b.md"}],
    "metadata": {
        "session_id": "sess_1766743200_k3x9qa",
        "duration_seconds": 12,
        "agent_type": "planner",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "plan", "planner"],
    },
}
SAMPLES = Path(__file__).parents[3] / "sample_logs"
ANSWER: dict[str, Any] = {
    "meta": {"agent_name": "scout", "status": "complete", "execution_time_ms": 10},
    "artifacts": [],
    "next_steps": ["Review it", 5],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def line_in(text: str, words: str) -> int:
    assert text.count(words) == 1
    return 1 + text.count("\n", 0, text.index(words))


def found(path: str, rule: str, capsys: pytest.CaptureFixture[str], *options: str) -> list[int]:
    main(["check", path, "--json", *options])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return [place["line"] for each in findings if each["rule"] == rule for place in each["evidence"]]


@pytest.mark.parametrize("before", ["", "\ufeff", "I made two plans: ä.\n\n```json\n"])
def test_a_finding_on_a_loose_return_names_the_line_of_its_field(
    before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = before + json.dumps(RETURN, indent=2) + ("\n```\n" if "```" in before else "\n")
    Path("r.json").write_text(text, "utf-8")
    assert found("r.json", "RET-021", capsys) == [line_in(text, "/tmp/b.md")]


def test_so_do_the_reports_for_code_viewers_and_tests(capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(RETURN, indent=2)
    Path("r.json").write_text(text, "utf-8")
    line = line_in(text, "/tmp/b.md")
    main(["check", "r.json", "--sarif"])
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    [place] = [each["locations"][0]["physicalLocation"] for each in results if each["ruleId"] == "RET-021"]
    assert place["region"]["startLine"] == line
    main(["check", "r.json", "--junit"])
    assert f"r.json:{line}" in capsys.readouterr().out


def test_several_fields_have_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = RETURN | {"artifacts": [{"type": "plan", "path": f"/tmp/{name}.md"} for name in "ab"]}
    text = json.dumps(wrong, indent=2)
    Path("r.json").write_text(text, "utf-8")
    assert found("r.json", "RET-021", capsys) == [line_in(text, "/tmp/a.md"), line_in(text, "/tmp/b.md")]


def test_what_is_missing_is_told_at_what_lacks_it(capsys: pytest.CaptureFixture[str]) -> None:
    metadata = {name: value for name, value in RETURN["metadata"].items() if name != "agent_type"}
    text = json.dumps(RETURN | {"metadata": metadata}, indent=2)
    Path("r.json").write_text(text, "utf-8")
    assert found("r.json", "RET-003", capsys) == [line_in(text, '"metadata"')]


def test_a_block_of_hyper_in_a_text_has_lines_of_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    block = json.dumps(ANSWER, indent=2)
    text = f"# Done\n\nAll is well.\n\n<!-- AGENT_OUTPUT_START -->\n```json\n{block}\n```\n<!-- AGENT_OUTPUT_END -->\n"
    Path("answer.md").write_text(text, "utf-8")
    assert found("answer.md", "HYP-005", capsys) == [line_in(text, "    5")]


def test_a_lone_artifact_is_judged_at_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    Path("artifact.json").write_text('{\n  "summary": "A plan",\n  "type": "poem",\n  "path": "/a.md"\n}\n', "utf-8")
    assert found("artifact.json", "RET-020", capsys) == [3]
    assert found("artifact.json", "RET-021", capsys) == [4]


def test_an_entry_of_a_registry_is_judged_at_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"command": "plan", "subagent": "planner", "start_time": "2026-02-03T09:00:00Z", "timeout": 60}
    entry |= {"deadline": "2026-02-03T09:01:00Z", "status": "running", "delegation_depth": 9}
    entries = {"sess_1766743200_aaaaaa": entry | {"delegation_depth": 1}, "sess_1766743200_bbbbbb": entry}
    text = json.dumps(entries, indent=2)
    Path("registry.json").write_text(text, "utf-8")
    assert found("registry.json", "DEL-004", capsys) == [line_in(text, '"delegation_depth": 9')]


def test_a_file_without_findings_on_its_fields_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    from delegtop.observation import field_lines

    looked: list[Any] = []
    monkeypatch.setattr(field_lines, "_text_at", looked.append)
    Path("good.json").write_text(json.dumps(RETURN | {"artifacts": []}), "utf-8")
    assert main(["check", "good.json"]) == 0
    assert looked == []


@pytest.mark.parametrize("torn", [1, 2])
def test_a_torn_line_in_a_file_of_lines_is_told_at_that_line(torn: int, capsys: pytest.CaptureFixture[str]) -> None:
    measured = SAMPLES / "proofchecker" / "specs" / "311_measure_the_queue" / "metrics.jsonl"
    lines = measured.read_text("utf-8").splitlines()
    lines.insert(torn, '{"half":')
    task = Path("specs", measured.parent.name)
    task.mkdir(parents=True)
    (task / measured.name).write_text("\n".join(lines) + "\n", "utf-8")
    assert found(str(task / measured.name), "LOG-001", capsys) == [torn + 1]
