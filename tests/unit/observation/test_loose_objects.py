"""Files that are a part of a return, or words: `check` says what they are instead of that it knows no such format."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.dialects import OWN, Unit, load
from delegtop.observation import loose_objects

ARTIFACT = {"type": "research", "path": "specs/1_x/reports/a.md", "summary": "A report."}
ERROR = {
    "type": "timeout",
    "message": "It took too long",
    "code": "TIMEOUT",
    "recoverable": True,
    "recommendation": "Try again",
}


def check(path: Path, value: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    path.write_text(json.dumps(value, indent=2))
    code = main(["check", str(path), "--json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out), printed.err


@pytest.mark.parametrize(("value", "what"), [(ARTIFACT, "artifact"), (ERROR, "error")])
def test_a_part_of_a_return_is_named_and_keeps_to_its_contract(
    value: dict[str, Any], what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "specs/1_x/reports").mkdir(parents=True)
    (tmp_path / "specs/1_x/reports/a.md").touch()
    code, report, said = check(tmp_path / "x.json", value, capsys)
    assert code == Exit.OK
    assert report["findings"] == []
    assert [source["dialect"] for source in report["sources"]] == [what]
    assert f"it is an {what} of a return, judged by its contract, and tells of no delegation" in said


@pytest.mark.parametrize(
    ("value", "rule", "line"),
    [
        ({**ARTIFACT, "type": "poem"}, "RET-020", 2),
        (ARTIFACT, "LOG-004", 1),
        ({**ARTIFACT, "type": "plan"}, "RET-024", 2),
        ({**ARTIFACT, "summary": "A report. It has numbers."}, "RET-025", 4),
        ({**ARTIFACT, "summary": 5}, "LOG-002", 4),
        ({**ARTIFACT, "path": "/tmp/a.md"}, "RET-021", 3),
        ({"path": "a.md", "summary": "x"}, "RET-020", 1),
        ({**ERROR, "recoverable": "yes"}, "RET-034", 5),
        ({**ERROR, "code": "E42"}, "RET-033", 4),
        ({**ERROR, "recommendation": ""}, "RET-035", 6),
        ({"message": "x", "recoverable": True, "recommendation": "y"}, "RET-032", 1),
    ],
)
def test_a_part_that_breaks_its_contract_is_told_by_the_rule_on_that(
    value: dict[str, Any], rule: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report, _ = check(tmp_path / "x.json", value, capsys)
    (found,) = [each for each in report["findings"] if each["rule"] == rule]
    assert found["evidence"] == [{"source": str(tmp_path / "x.json"), "line": line}]


@pytest.mark.parametrize(
    "value", [{"name": "x"}, {"path": "a"}, {"message": "x"}, {"path": "a", "type": "b", "status": 1}]
)
def test_other_objects_are_of_no_known_format(
    value: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report, said = check(tmp_path / "x.json", value, capsys)
    assert (code, report["findings"]) == (Exit.UNREADABLE, [])
    assert "no known log format" in said
    assert "--format" not in said


def test_of_words_it_is_said_how_they_would_be_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("I found three caches.\nTwo of them overlap.\n")
    assert main(["check", str(path)]) == Exit.UNREADABLE
    said = capsys.readouterr().err
    assert (
        "if it is what an agent answered, --format cleo-response, --format hyper-output or --format return judges it"
        in said
    )


@pytest.mark.parametrize("value", [{"status": "invalid_status"}, {"summary": "Done.", "artifacts": []}, {"meta": {}}])
def test_of_an_object_that_may_be_an_answer_it_is_said_how_it_would_be_judged(
    value: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = check(tmp_path / "x.json", value, capsys)
    assert code == Exit.UNREADABLE
    assert "if it is what an agent answered, " in said


def test_an_answer_that_begins_as_json_and_is_none_is_told_where_it_stops_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer.json"
    path.write_text('{\n  "status": "completed",\n  "summary": "It is. All of it.",\n  oops\n}\n')
    assert main(["check", str(path), "--format", "return", "--json"]) == Exit.FINDINGS
    told = {(each["rule"], each["evidence"][0]["line"]) for each in json.loads(capsys.readouterr().out)["findings"]}
    assert told == {("RET-001", 2), ("RET-005", 1), ("LOG-001", 4)}


def test_the_formats_that_are_named_are_those_of_one_answer() -> None:
    formats = [load(name) for name in OWN]
    named = {each.name for each in formats if each.about and each.about.where == "one answer in a text file"}
    assert named == set(loose_objects.answers())
    assert all(load(name).unit is Unit.TEXT for name in named)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n "status": "completed",\n "summary": "Done.",\n}\n', "a.json: it is no valid JSON, as line 4 shows"),
        ('{\n "status": "completed",\n "summary": "Do', "a.json: it is no valid JSON, as line 3 shows"),
        ('{\n "status": "completed, not NaN",\n "took": NaN\n}\n', "a.json: it is no valid JSON, as line 3 shows"),
    ],
)
def test_of_a_return_that_is_no_valid_json_the_line_is_said(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text(text)
    assert main(["check", "a.json"]) == Exit.UNREADABLE
    assert said in capsys.readouterr().err


def test_of_lines_that_are_valid_no_fault_is_invented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert main(["check", str(path)]) == Exit.UNREADABLE
    assert "no valid JSON" not in capsys.readouterr().err


def test_tree_says_of_a_return_that_it_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "return.json"
    path.write_text('{"status": "completed", "summary": "Done. It works.", "artifacts": [], "metadata": {}}')
    assert main(["tree", str(path)]) == Exit.UNREADABLE
    assert "it is a return and no log; delegtop check judges it" in capsys.readouterr().err
