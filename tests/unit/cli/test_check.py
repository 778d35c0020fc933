"""`delegtop check`: what it prints in its four forms, and what it returns."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.homes import operators_home

from delegtop.base.clock import WallClock
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis import log_findings
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule_table import RULES
from delegtop.diagnosis.rules.log_rules import UNREADABLE
from delegtop.report.check_report import findings_json, sarif
from delegtop.report.tree_json import Found
from delegtop.sources.artifact_files import existence

AT = "2025-12-26T10:30:00Z"
PLANNER, RESEARCHER = "sess_20251226_ccc333", "sess_20251226_ddd444"


def line(event: str, at: str, session: str, **more: object) -> str:
    record = {"event": event, "at": f"2025-12-26T{at}Z", "session_id": session, **more}
    return json.dumps(record) + "\n"


def register(at: str, session: str, agent: str, **more: object) -> str:
    path = ["orchestrator", "plan", agent]
    given = {"timeout": 3600, "delegation_depth": 1, "delegation_path": path, "command": "plan", "task_number": 191}
    return line("register", at, session, subagent=agent, **(given | more))


def returned(at: str, session: str, agent: str, **more: object) -> str:
    told = {
        "status": "completed",
        "summary": "Wrote the plan. It has three phases.",
        "artifacts": [],
        "errors": [],
        "metadata": {
            "session_id": session,
            "duration_seconds": 60,
            "agent_type": agent,
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "plan", agent],
        },
    }
    return line("return", at, session, **{"return": told | more})


HEALTHY = register("10:00:00", PLANNER, "planner") + returned("10:01:00", PLANNER, "planner")
OVERDUE = register("09:00:00", PLANNER, "planner", timeout=600) + line("heartbeat", "10:29:30", PLANNER, activity="hm")
FAILED = register("10:00:00", RESEARCHER, "researcher") + returned(
    "10:05:00", RESEARCHER, "researcher", status="failed"
)
UNLIMITED = register("10:29:00", PLANNER, "planner", timeout=None)
"""A warning: no timeout."""
DEEP = register("10:29:00", PLANNER, "d", delegation_depth=3, delegation_path=["orchestrator", "plan", "a", "b", "d"])
"""Only an info: the depth limit is reached."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(log: str, *more: str) -> int:
    Path("run.jsonl").write_text(log)
    return main(["check", "run.jsonl", "--at", AT, *more])


def printed(log: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    check(log, *more)
    told = capsys.readouterr()
    assert told.err == ""
    return told.out


def rules_in(document: str) -> list[str]:
    return [finding["rule"] for finding in json.loads(document)["findings"]]


# Exit codes


@pytest.mark.parametrize(
    ("log", "fail_on", "expected"),
    [
        (HEALTHY, "info", Exit.OK),
        (DEEP, "error", Exit.OK),
        (DEEP, "warning", Exit.OK),
        (DEEP, "info", Exit.FINDINGS),
        (UNLIMITED, "error", Exit.OK),
        (UNLIMITED, "warning", Exit.FINDINGS),
        (FAILED, "error", Exit.FINDINGS),
        (FAILED, "never", Exit.OK),
        (OVERDUE, "error", Exit.STUCK),
        (OVERDUE + FAILED, "info", Exit.STUCK),
        (OVERDUE, "never", Exit.OK),
    ],
)
def test_the_exit_code_tells_the_worst_from_the_chosen_level_on(log: str, fail_on: str, expected: Exit) -> None:
    assert check(log, "--fail-on", fail_on) == expected


def test_errors_fail_by_default_and_warnings_do_not() -> None:
    assert check(FAILED) == Exit.FINDINGS
    assert check(UNLIMITED) == Exit.OK


def test_what_was_lost_long_ago_counts_as_ended_badly() -> None:
    Path("run.jsonl").write_text(OVERDUE)
    assert main(["check", "run.jsonl", "--fail-on", "error", "--at", "2025-12-28T10:30:00Z"]) == Exit.ENDED_BADLY


def test_a_source_that_cannot_be_read_outweighs_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.jsonl").write_text(OVERDUE)
    assert main(["check", "run.jsonl", "nowhere.jsonl", "--at", AT]) == Exit.UNREADABLE
    told = capsys.readouterr()
    assert "DEL-020" in told.out
    assert "nowhere.jsonl: not found" in told.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rule", "DEL-20"], "--rule DEL-20: no such rule; did you mean DEL-020?"),
        (["--ignore", "nonsense"], "--ignore nonsense: no such rule; delegtop rules lists them"),
        (["--fail-on", "doom"], "invalid choice: 'doom'"),
        (["--json", "--sarif"], "not allowed with"),
        (["--root", "nowhere"], "--root nowhere: that is no folder"),
        (["--at", "soon"], "that is no time"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "run.jsonl", *arguments]) == Exit.USAGE
    assert told in capsys.readouterr().err


# One finding for a fact


def test_what_a_rule_says_of_a_delegation_is_not_said_of_the_log_again(capsys: pytest.CaptureFixture[str]) -> None:
    odd = {"status": "done", "metadata": {"session_id": RESEARCHER}}
    log = register("10:00:00", PLANNER, "planner") + returned("10:01:00", PLANNER, "planner", **odd)
    log += register("10:00:00", "no id", "planner") + returned("10:01:00", "no id", "planner")
    log += line("return", "10:02:00", RESEARCHER, **{"return": {"status": "completed", "summary": "One. Two."}})
    rules = rules_in(printed(log, capsys, "--json"))
    assert {"RET-001", "RET-002", "RET-007", "DEL-012"} <= set(rules)
    assert "LOG-002" not in rules


def test_what_no_rule_is_asked_about_is_still_said_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    log = register("10:00:00", PLANNER, "planner") + returned("10:01:00", PLANNER, "planner", status="done")
    assert rules_in(printed(log, capsys, "--json", "--ignore", "RET-002")) == ["LOG-002"]


# Which rules


def test_only_the_rules_that_are_named_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    log = OVERDUE + FAILED + "no json\n"
    assert rules_in(printed(log, capsys, "--json", "--rule", "del-020", "--rule", "LOG-001")) == ["DEL-020", "LOG-001"]


def test_a_rule_that_is_ignored_is_not_asked_and_does_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(OVERDUE, "--ignore", "DEL-020") == Exit.OK
    capsys.readouterr()
    assert "DEL-020" not in printed(OVERDUE, capsys, "--ignore", "del-020")


# Text


def test_findings_stand_by_delegation_the_worst_first(capsys: pytest.CaptureFixture[str]) -> None:
    log = UNLIMITED.replace(PLANNER, "sess_20251226_eee555") + FAILED + OVERDUE
    headings = [row for row in printed(log, capsys).splitlines() if row and not row.startswith(" ")]
    assert headings == [
        f"planner {PLANNER} (overdue)",
        f"researcher {RESEARCHER} (failed)",
        "planner sess_20251226_eee555 (running)",
        "4 findings (3 errors, 1 warning): 3 delegations from 1 source at 2025-12-26T10:30:00Z.",
    ]


def test_a_finding_has_its_rule_place_advice_and_command(capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(OVERDUE, capsys).splitlines()
    assert rows[1].startswith("  error DEL-020: It is 1:20:00 past its deadline")
    assert rows[2] == "    at run.jsonl:1, run.jsonl:2"
    assert rows[3].startswith("    do: ")
    assert rows[4] == "    run: /plan 191"


def test_a_command_that_opens_a_session_again_comes_with_what_has_to_be_seen_to_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operators_home(tmp_path, WallClock().now(), old=0)
    assert main(["check", str(tmp_path / ".claude" / "projects")]) == Exit.STUCK
    lines = capsys.readouterr().out.splitlines()
    place = next(number for number, line in enumerate(lines) if "VER-007" in line)
    do, run = (next(line for line in lines[place:] if line.startswith(f"    {word}: ")) for word in ("do", "run"))
    assert "claude --resume" in run
    assert "Look first whether its program is still open" in do


def test_a_clean_log_is_said_to_be_clean(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(HEALTHY, capsys) == "No findings: 1 delegation from 1 source at 2025-12-26T10:30:00Z.\n"


def test_the_same_advice_is_given_once_for_a_row_of_findings(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(HEALTHY + "one\ntwo\nthree\n", capsys)
    assert told.count("LOG-001") == 3
    assert told.count("    do: ") == 1


HOSTILE = "\x1b]52;c;x\x07<&>'\"]]>\u202e\ufffe"


@pytest.mark.parametrize("form", [[], ["--json"], ["--sarif"], ["--junit"]])
def test_no_form_lets_foreign_text_act_on_a_terminal(form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    fault = {"type": HOSTILE, "message": HOSTILE, "code": HOSTILE, "recoverable": False, "recommendation": HOSTILE}
    log = register("10:00:00", HOSTILE, HOSTILE, command=HOSTILE, timeout=None)
    log += returned("10:02:00", HOSTILE, HOSTILE, status="failed", summary=HOSTILE, errors=[fault])
    told = printed(log + "\x1b]0;hello\x07\n", capsys, *form)
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(told)
    assert "DEL-" in told


@pytest.mark.parametrize("form", [[], ["--sarif"], ["--junit"]])
def test_the_words_of_the_agent_are_told_apart(form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    fault = {"type": "execution", "message": "no tool", "code": "X", "recoverable": True, "recommendation": "Get it."}
    log = register("10:00:00", PLANNER, "planner") + returned(
        "10:02:00", PLANNER, "planner", status="failed", errors=[fault]
    )
    assert "The agent says: Get it." in printed(log, capsys, *form)


# LOG rules


def test_unreadable_lines_and_deviations_are_findings_of_their_source(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(HEALTHY.replace('"timeout"', '"mood": 1, "timeout"') + "no json\n", capsys, "--json"))
    found = {finding["rule"]: finding for finding in document["findings"]}
    assert found["LOG-001"]["subject"] == found["LOG-002"]["subject"] == "run.jsonl"
    assert found["LOG-001"]["evidence"] == [{"source": "run.jsonl", "line": 3}]
    assert found["LOG-002"]["message"] == "unknown key: mood"
    assert (found["LOG-001"]["severity"], found["LOG-002"]["severity"]) == ("warning", "info")


def test_what_is_beyond_the_examples_is_counted() -> None:
    told = [finding.message for finding in log_findings.judge(UNREADABLE, "x", 12, [(Origin("x", 1, 0), "torn")])]
    assert told == ["torn", "11 other lines cannot be read."]
    assert not list(log_findings.judge(UNREADABLE, "x", 0, []))


def test_nobody_is_told_to_mend_what_an_agent_program_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {"type": "user", "sessionId": "s", "parentUuid": None, "uuid": "u", "timestamp": "2026-11-02T10:00:00Z"}
    prompt = {**told, "message": {"role": "user", "content": "go"}}
    (tmp_path / "s.jsonl").write_text(json.dumps(prompt) + "\n" + '{"text": "' + "x" * 3_000_000 + '"}\n{}\n', "utf-8")
    main(["check", str(tmp_path), "--at", "2026-11-02T10:00:10Z", "--json"])
    (found,) = [each for each in json.loads(capsys.readouterr().out)["findings"] if each["rule"] == "LOG-001"]
    assert found["message"].startswith("oversize: ")
    assert found["advice"].startswith("Claude Code wrote it so: ")


# Artifacts


MADE = returned(
    "10:01:00",
    PLANNER,
    "planner",
    artifacts=[{"type": "plan", "path": "specs/plan.md"}, {"type": "plan", "path": "specs/other.md"}],
)


def missing(capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    log = register("10:00:00", PLANNER, "planner") + MADE
    return rules_in(printed(log, capsys, "--json", "--rule", "RET-023", *more))


def test_an_artifact_is_missing_if_others_of_its_log_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    Path("specs").mkdir()
    Path("specs/plan.md").touch()
    assert missing(capsys) == ["RET-023"]
    Path("specs/other.md").touch()
    assert missing(capsys) == []


def test_far_from_the_project_no_artifact_is_called_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert missing(capsys) == []


def test_far_from_the_project_it_says_that_no_artifact_was_judged(capsys: pytest.CaptureFixture[str]) -> None:
    log = register("10:00:00", PLANNER, "planner") + MADE
    assert "None of the 2 artifacts that it names is found from here" in printed(log, capsys, "--rule", "LOG-004")
    Path("specs").mkdir()
    Path("specs/plan.md").touch()
    assert "found from here" not in printed(log, capsys, "--rule", "LOG-004")


def test_with_a_root_every_artifact_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "project").mkdir()
    assert missing(capsys, "--root", "project") == ["RET-023"]


def test_a_path_that_leads_out_of_the_project_is_neither_there_nor_missing(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    (tmp_path / "project").mkdir()
    exists = existence(["../secret", "/etc/passwd", "\0", "x" * 5000], [tmp_path / "project"], sure=True)
    assert exists("../secret") is None
    assert exists("/etc/passwd") is None
    assert exists("never asked for") is None


# A return by itself


ALONE = json.loads(returned("10:01:00", PLANNER, "planner", status="failed"))["return"]


@pytest.mark.parametrize(
    ("text", "status_line", "errors_line"),
    [
        (json.dumps(ALONE), 1, 1),
        (json.dumps(ALONE, indent=2), 2, 5),
        (f"I am done.\n\n```json\n{json.dumps(ALONE, indent=2)}\n```\n", 5, 8),
        (f"words\n<!-- AGENT_OUTPUT_START -->\n{json.dumps(ALONE)}\n<!-- AGENT_OUTPUT_END -->\n", 3, 3),
        (json.dumps({"type": "result", "result": f"words\n{json.dumps(ALONE)}"}), 1, 1),
    ],
    ids=["line", "document", "fenced", "marked", "agent CLI"],
)
def test_a_return_or_an_output_that_holds_one_is_judged_at_the_lines_of_its_fields(
    text: str, status_line: int, errors_line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("answer.md").write_text(text)
    assert main(["check", "answer.md", "--json", "--at", AT]) == Exit.FINDINGS
    document = json.loads(capsys.readouterr().out)
    assert document["sources"][0]["dialect"] == "return"
    assert [(found["rule"], found["subject"]) for found in document["findings"]] == [
        ("END-001", PLANNER),
        ("RET-030", PLANNER),
    ]
    assert [found["evidence"] for found in document["findings"]] == [
        [{"source": "answer.md", "line": status_line}],
        [{"source": "answer.md", "line": errors_line}],
    ]


def test_what_departs_from_the_standard_in_a_return_alone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("answer.json").write_text(json.dumps(ALONE | {"artifacts": "x.md", "mood": 1}))
    main(["check", "answer.json", "--json", "--at", AT, "--rule", "LOG-002"])
    told = [found["message"] for found in json.loads(capsys.readouterr().out)["findings"]]
    assert "unknown key: return.mood" in told


def test_a_return_in_a_folder_is_not_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    Path("logs").mkdir()
    Path("logs/answer.json").write_text(json.dumps(ALONE))
    assert main(["check", "logs", "--at", AT]) == Exit.OK
    assert "No findings: 0 delegations" in capsys.readouterr().out


def test_a_file_without_a_return_stays_unreadable(capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes.md").write_text('# Notes\n\n```json\n{"a": 1}\n```\n')
    assert main(["check", "notes.md", "--at", AT]) == Exit.UNREADABLE
    assert "notes.md: no known log format" in capsys.readouterr().err


# JSON


def test_the_document_fits_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(OVERDUE + FAILED + "no json\n", capsys, "--json")
    document = msgspec.json.decode(told, type=findings_json.Check)
    assert document.schema_version == 1
    assert document.at == "2025-12-26T10:30:00.000Z"
    assert [source.path for source in document.sources] == ["run.jsonl"]
    first = document.findings[0]
    assert (first.rule, first.severity, first.subject, first.command, first.by, first.since) == (
        "DEL-020",
        Severity.ERROR,
        PLANNER,
        "/plan 191",
        "delegtop",
        "2025-12-26T09:10:00.000Z",
    )
    assert first.evidence[0].line == 1


def test_a_document_without_findings_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(printed(HEALTHY, capsys, "--json"))["findings"] == []


def test_the_schema_on_disk_is_that_of_the_code(project: Path, update_golden: bool) -> None:
    path = project / "docs" / "schema" / "check.schema.json"
    if update_golden:
        path.write_text(findings_json.schema())
    assert path.read_text() == findings_json.schema()


def test_the_page_names_every_field_of_a_finding(project: Path) -> None:
    page = (project / "docs" / "check.md").read_text()
    assert all(f"| `{field}` |" in page for field in Found.__struct_fields__)


# SARIF


def sarif_of(log: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(printed(log, capsys, "--sarif"))
    return document


def test_sarif_has_what_the_specification_requires(capsys: pytest.CaptureFixture[str]) -> None:
    document = sarif_of(OVERDUE + FAILED + UNLIMITED.replace(PLANNER, "s") + "no json\n", capsys)
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("/sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "delegtop"
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    for rule in driver["rules"]:
        assert rule["name"] == RULES[rule["id"]].name
        assert rule["shortDescription"]["text"] == RULES[rule["id"]].title
        assert rule["fullDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    assert run["results"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "run.jsonl"
        assert location["physicalLocation"]["region"]["startLine"] >= 1


def test_sarif_names_the_delegation_and_all_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = sarif_of(OVERDUE, capsys)["runs"][0]["results"]
    assert result["message"]["text"].startswith(f"planner {PLANNER}: It is 1:20:00 past its deadline")
    assert result["message"]["text"].endswith("\nRun: /plan 191")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert result["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 2}


def test_a_finding_without_a_line_keeps_a_logical_location(capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = sarif_of(HEALTHY + "no json\n" * 60, capsys)["runs"]
    (counted,) = [result for result in run["results"] if "other lines" in result["message"]["text"]]
    assert counted["locations"] == [{"logicalLocations": [{"name": "run.jsonl", "kind": "object"}]}]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("logs/run.jsonl", "logs/run.jsonl"),
        ("a b:ü%/run.jsonl", "a%20b%3A%C3%BC%25/run.jsonl"),
        ("/tmp/a b.jsonl", "file:///tmp/a%20b.jsonl"),
        ("./logs//run.jsonl", "logs/run.jsonl"),
        ("\udcff.jsonl", "%FF.jsonl"),
        ("-", "-"),
    ],
)
def test_a_path_becomes_a_uri(path: str, uri: str) -> None:
    assert sarif.uri(path) == uri


# JUnit


def junit_of(log: str, capsys: pytest.CaptureFixture[str], *more: str) -> ElementTree.Element:
    return ElementTree.fromstring(printed(log, capsys, "--junit", *more))  # noqa: S314 - delegtop's own output


def test_junit_has_a_suite_for_each_source_and_a_case_for_each_delegation(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.jsonl").write_text(HEALTHY.replace(PLANNER, "sess_20251226_eee555"))
    report = junit_of(OVERDUE + FAILED, capsys, "other.jsonl")
    assert {suite.get("name"): suite.get("tests") for suite in report} == {"run.jsonl": "3", "other.jsonl": "2"}
    names = [case.get("name") for case in report.iter("testcase")]
    assert f"planner {PLANNER}" in names
    assert names.count("the source itself") == 2
    assert (report.get("tests"), report.get("failures"), report.get("errors")) == ("5", "2", "0")


def test_junit_fails_a_case_from_the_chosen_level_on(capsys: pytest.CaptureFixture[str]) -> None:
    (failure,) = junit_of(OVERDUE, capsys).iter("failure")
    assert failure.get("type") == "DEL-020"
    assert "run.jsonl:1" in (failure.text or "")
    assert "/plan 191" in (failure.text or "")
    quiet = junit_of(OVERDUE, capsys, "--fail-on", "never")
    assert not list(quiet.iter("failure"))
    assert "DEL-020" in next(quiet.iter("system-out")).text  # type: ignore[operator]  # it has text
    assert list(junit_of(UNLIMITED, capsys, "--fail-on", "warning").iter("failure"))


def test_junit_reports_a_source_that_is_not_there_as_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes.txt").write_text("Nothing that a machine could read.\n")
    main(["check", "nowhere.jsonl", "notes.txt", "--junit", "--at", AT])
    report = ElementTree.fromstring(capsys.readouterr().out)  # noqa: S314 - delegtop's own output
    errors = {case.get("classname"): error.get("message") for case in report.iter("testcase") for error in case}
    assert errors == {"nowhere.jsonl": "not found", "notes.txt": "no known log format"}
    assert report.get("errors") == "2"


def test_files_of_other_formats_in_a_folder_are_no_harm(capsys: pytest.CaptureFixture[str]) -> None:
    Path("logs").mkdir()
    Path("logs/notes.txt").write_text("Nothing that a machine could read.\n")
    Path("logs/run.jsonl").write_text(HEALTHY)
    assert main(["check", "logs", "--junit", "--at", AT]) == Exit.OK
    assert "notes.txt" not in capsys.readouterr().out


def test_junit_is_xml_whatever_the_log_says(capsys: pytest.CaptureFixture[str]) -> None:
    report = junit_of(register("10:00:00", HOSTILE, HOSTILE, timeout=None), capsys, "--fail-on", "info")
    assert [case.get("classname") for case in report.iter("testcase")] == ["run.jsonl"] * 2
    assert report.get("failures") == "1"
