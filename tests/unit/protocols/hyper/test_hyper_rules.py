"""Rules on hyper's sub-agents: each is broken once, kept once, and says where and what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import judging

from delegtop.base.clock import MINUTE, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.dialects import Dialect
from delegtop.model.forest import Forest
from delegtop.model.policy import AgentLimits, Policy
from delegtop.protocols.hyper.final_message import HyperOutput
from delegtop.protocols.hyper.run_state import HyperRun
from delegtop.protocols.hyper.session_sidecar import HyperSession
from delegtop.sources.records import Line, Unreadable

NOW = parse_time("2026-01-18T10:30:00Z") or Millis(0)
ARTIFACT: dict[str, Any] = {
    "type": "document",
    "path": "projects/billing/resources/schema.md",
    "summary": "The tables of the billing service.",
    "key_points": ["Seven tables.", "Two are unused.", "No foreign keys."],
}
META: dict[str, Any] = {"agent_name": "schema-scout", "status": "complete", "execution_time_ms": 15230}
ANSWER: dict[str, Any] = {"meta": META, "artifacts": [ARTIFACT], "next_steps": ["Add foreign keys"]}

STEPS = {
    "imperative": [
        "Research OAuth",
        "Run lint and typecheck",
        "Fix it",
        "Rerun mobile viewport tests",
        "Process the queue",
        "Address comments",
        "Focus on X",
        "Access logs",
        "Discuss with team",
        "Pass it on",
        "Assess risk",
        "Guess",
        "Bypass cache",
        "Compress",
        "If the build fails, rerun it",
        "First, check logs",
        "Please review",
        "bring it back",
        "String it up",
        "Ping ops",
        "Consider testing X",
        "Then test",
        "Do not merge",
        "Never merge",
        "Optionally add tests",
        "Embed the widget",
        "Feed the cache",
        "Seed data",
        "Proceed to review",
        "Speed up tests",
        "Shed load",
        "Red-team the login",
        "Canvas the team",
        "Bring up services",
        "Ensure tests are added",
        "Check that the login is tested",
        "Fix what was broken",
        "Migrate users who were deleted",
        "Use whatever is configured",
        "Docs: update the page",
        "1. Review it",
        "`pytest` again",
        "Add unit tests for OAuth flow",
        "Create task for database migration",
        "Review security implications",
        "Check for existing social login UI components",
        "Test with staging OAuth credentials",
        "Retry with alternative documentation sources",
        "Always run tests",
        "Carefully review",
        "Let's test",
        "Wait until the build is finished",
        "Merge once CI is passed",
        "Have the team review it",
        "Cannibalise",
    ],
    "statement": [
        "N/A",
        "TODO",
        "testing the login",
        "we should test it",
        "Tests the login flow",
        "Tests were run",
        "The login should be tested",
        "Should we test this?",
        "should we test this?",
        "it needs tests",
        "Login is tested by hand",
        "Is the login tested?",
        "Adding tests",
        "Fixed the bug",
        "Updates the docs",
        "Verifies config",
        "Tested the thing",
        "Documentation should be updated",
        "Tests for the login are added",
        "Database migration must be reviewed",
        "- Adding tests",
        "Review it?",
        "A task for the migration",
        "Next, the login should be tested",
        "Test coverage needs to be improved",
        "The team should review",
        "Perhaps test it",
        "Auth module was refactored",
    ],
}


def judged(
    dialect: Dialect,
    text: str,
    exists: Callable[[str], bool | None] = lambda _path: None,
    at: Millis = NOW,
    policy: Policy | None = None,
) -> list[Finding]:
    forest = Forest(policy)
    line = Line(Origin("out/answer.md", 1, 0), text.encode(), at)
    forest.apply([event for event in dialect.read(line) if not isinstance(event, Unreadable)])
    forest.advance(NOW)
    return list(judging.all_found(forest, exists))


def answer(exists: Callable[[str], bool | None] = lambda _path: None, **fields: Any) -> list[Finding]:
    value = {name: given for name, given in {**ANSWER, **fields}.items() if given is not ...}
    block = f"```json\n{json.dumps(value)}\n```"
    return judged(HyperOutput(), f"<!-- AGENT_OUTPUT_START -->\n{block}\n<!-- AGENT_OUTPUT_END -->", exists)


def one(rule: str, findings: list[Finding]) -> Finding:
    (finding,) = [finding for finding in findings if finding.rule == rule]
    assert finding.message.endswith(".")
    assert finding.advice
    assert finding.evidence
    return finding


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"meta": META | {"agent_name": 5}}, "meta.agent_name is a number, not text"),
        ({"artifacts": [ARTIFACT | {"summary": 3}]}, "artifacts[0].summary is a number"),
        ({"next_steps": ["Go on", 2]}, "next_steps[1] is a number"),
        ({"artifacts": [ARTIFACT | {"key_points": [1, "Two.", "Three."]}]}, "artifacts[0].key_points[0] is a number"),
        ({"error": {"code": "X", "message": "It broke.", "details": {}}}, "error.details is an object"),
    ],
)
def test_a_value_of_another_type_is_told_wherever_it_stands(fields: dict[str, Any], words: str) -> None:
    found = answer(**fields)
    assert words in one("HYP-005", found).message
    assert "HYP-010" not in {finding.rule for finding in found}, "points of a wrong type are points"


def test_text_behind_the_object_makes_the_block_no_json() -> None:
    block = f"```json\n{json.dumps(ANSWER)}\nand that is all\n```"
    text = f"<!-- AGENT_OUTPUT_START -->\n{block}\n<!-- AGENT_OUTPUT_END -->"
    assert "more text follows" in one("HYP-002", judged(HyperOutput(), text)).message.lower()


def test_an_answer_without_a_block_is_a_breach() -> None:
    finding = one("HYP-002", judged(HyperOutput(), "I looked at the schema. All is well.\n"))
    assert finding.severity is Severity.ERROR
    assert finding.message == "The answer has no block of JSON."


def test_what_failed_is_an_error() -> None:
    failed = answer(meta=META | {"status": "error"}, error={"code": "X", "message": "It broke."})
    assert one("HYP-014", failed).severity is Severity.ERROR
    assert one("HYP-014", answer(meta=META | {"status": "partial"})).severity is Severity.WARNING


def test_a_conforming_answer_breaks_no_rule() -> None:
    assert not answer(exists=lambda _path: True)


def test_a_block_without_markers_is_told() -> None:
    findings = judged(HyperOutput(), f"```json\n{json.dumps(ANSWER)}\n```")
    assert "no AGENT_OUTPUT_START" in one("HYP-001", findings).message


def test_a_block_without_its_end_or_its_fence_is_told() -> None:
    findings = judged(HyperOutput(), f"AGENT_OUTPUT_START\n{json.dumps(ANSWER)}\n")
    told = [finding for finding in findings if finding.rule == "HYP-001"]
    assert [finding.severity for finding in told] == [Severity.WARNING, Severity.WARNING]


def test_broken_json_is_an_error_and_no_other_rule_guesses_at_it() -> None:
    findings = judged(HyperOutput(), "AGENT_OUTPUT_START\n```json\n{nope\n```\nAGENT_OUTPUT_END\n")
    assert [finding.rule for finding in findings] == ["HYP-002"]


@pytest.mark.parametrize(
    ("rule", "fields", "said"),
    [
        ("HYP-003", {"meta": ...}, "meta is missing."),
        ("HYP-003", {"meta": {"agent_name": "a", "status": "complete"}}, "meta.execution_time_ms"),
        ("HYP-003", {"next_steps": ...}, "next_steps"),
        ("HYP-003", {"artifacts": ...}, "artifacts"),
        ("HYP-003", {"meta": {**META, "status": "error"}, "error": {"message": "m"}}, "error.code"),
        ("HYP-003", {"meta": {**META, "agent_name": " "}}, "meta.agent_name is empty"),
        ("HYP-003", {"meta": {**META, "execution_time_ms": None}}, "meta.execution_time_ms is null"),
        ("HYP-005", {"meta": {**META, "status": 1}}, "meta.status is 1, not complete, partial or error"),
        ("HYP-004", {"meta": {**META, "status": "done"}}, '"done", not complete, partial or error'),
        ("HYP-005", {"next_steps": "Go on"}, "next_steps is text, not a list"),
        ("HYP-006", {"artifacts": [{**ARTIFACT, "type": "commits"}]}, "commits"),
        ("HYP-007", {"artifacts": [{**ARTIFACT, "path": "/etc/x"}]}, '"/etc/x"'),
        ("HYP-007", {"artifacts": [{**ARTIFACT, "path": "a/../../b"}]}, '"a/../../b"'),
        ("HYP-007", {"artifacts": [{**ARTIFACT, "path": "$HYPER_WORKSPACE_ROOT/b"}]}, "$HYPER"),
        ("HYP-009", {"artifacts": [{**ARTIFACT, "summary": "One. Two. Three."}]}, "has 3 sentences, more than 2"),
        ("HYP-010", {"artifacts": [{**ARTIFACT, "key_points": ["One."]}]}, "key_points has 1, at least 3"),
        ("HYP-010", {"artifacts": [{**ARTIFACT, "key_points": ["x"] * 6}]}, "key_points has 6, more than 5"),
        ("HYP-011", {"next_steps": ["Testing the login"]}, '"Testing the login"'),
        ("HYP-011", {"next_steps": ["We should test"]}, '"We should test"'),
        ("HYP-012", {"meta": {**META, "status": "partial"}, "next_steps": []}, "is partial"),
        ("HYP-013", {"meta": {**META, "status": "error"}}, "error is missing, though the status is error"),
        ("HYP-013", {"error": {"code": "C", "message": "m"}}, "error is there, though the status is complete"),
    ],
)
def test_what_departs_is_told(rule: str, fields: dict[str, Any], said: str) -> None:
    assert said in one(rule, answer(**fields)).message


def test_breaches_of_one_rule_are_told_each_at_its_field_and_many_are_counted() -> None:
    found = [each for each in answer(next_steps=[1] * 20) if each.rule == "HYP-005"]
    assert [each.fields for each in found] == [(f"next_steps[{number}]",) for number in range(5)]
    assert found[-1].message == "In the answer next_steps[4] is a number, not text; 15 more such."


def test_an_endless_list_is_judged_by_its_beginning() -> None:
    assert "45 more such" in [each for each in answer(next_steps=[1] * 100_000) if each.rule == "HYP-005"][-1].message


def test_what_does_not_go_with_the_status_is_told_whatever_else_is_wrong() -> None:
    found = answer(meta={"agent_name": 5, "status": "failed"}, artifacts=...)
    assert {each.rule for each in found} >= {"HYP-003", "HYP-004", "HYP-005", "HYP-013"}


@pytest.mark.parametrize("step", STEPS["imperative"])
def test_an_imperative_is_one(step: str) -> None:
    assert "HYP-011" not in [finding.rule for finding in answer(next_steps=[step])]


@pytest.mark.parametrize("step", STEPS["statement"])
def test_a_statement_is_none(step: str) -> None:
    assert one("HYP-011", answer(next_steps=[step])).fields == ("next_steps[0]",)


def test_an_artifact_that_is_not_there_is_an_error() -> None:
    assert "schema.md" in one("HYP-008", answer(exists=lambda _path: False)).message


def test_the_agents_own_words_are_the_way_on() -> None:
    error = {"code": "NO_SERVER", "message": "No server answers"}
    findings = answer(meta={**META, "status": "error"}, error=error, next_steps=["Start the server", "Retry"])
    finding = one("HYP-014", findings)
    assert (finding.by, finding.advice) == ("agent", "Start the server; Retry")
    assert "NO_SERVER: No server answers" in finding.message


@pytest.mark.parametrize(("file", "told"), [("schema-scouts", True), ("schema-scout", False), ("planner", False)])
def test_an_agent_that_signs_almost_like_its_file_is_told(file: str, told: bool) -> None:
    policy = Policy(agents={file: AgentLimits(f".claude/agents/{file}.md")})
    findings = judged(HyperOutput(), f"```json\n{json.dumps(ANSWER)}\n```", policy=policy)
    assert [finding.rule for finding in findings if finding.rule == "HYP-015"] == ["HYP-015"] * told


@pytest.mark.parametrize(
    ("key", "file", "words"),
    [
        ("schema-scout", "scout", 'its file .claude/agents/scout.md is named "scout"'),
        ("reviewer", "reviewer", "none of the agent files of its project is named so"),
    ],
)
def test_so_is_one_that_signs_otherwise_than_any_file_of_its_project(key: str, file: str, words: str) -> None:
    policy = Policy(agents={key: AgentLimits(f".claude/agents/{file}.md", project="/work")})
    finding = one("HYP-015", judged(HyperOutput(), f"```json\n{json.dumps(ANSWER)}\n```", policy=policy))
    assert words in finding.message
    assert finding.fields == ("meta.agent_name|agent_name|agent",)


def test_a_plain_agent_file_without_limits_is_one_to_sign_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "schema-scouts.md").write_text("---\nname: schema-scouts\ndescription: It looks.\n---\nLook.\n", "utf-8")
    block = json.dumps(ANSWER | {"artifacts": []}, indent=2)
    Path("answer.md").write_text(f"<!-- AGENT_OUTPUT_START -->\n```json\n{block}\n```\n<!-- AGENT_OUTPUT_END -->\n")
    main(["check", "answer.md", "--json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["rule"], finding["evidence"][0]["line"]) == ("HYP-015", 5)
    (agents / "schema-scouts.md").rename(agents / "schema-scout.md")
    main(["check", "answer.md", "--json"])
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_blockers_explain_a_blocked_answer() -> None:
    findings = answer(meta={**META, "status": "blocked"}, next_steps=[], blockers=["No access"])
    assert "No access" in one("HYP-014", findings).message
    assert "HYP-012" not in [finding.rule for finding in findings]


def sidecar(minutes: int, **agent: Any) -> list[Finding]:
    value: dict[str, Any] = {
        "sessionId": "s1",
        "parentId": None,
        "currentTarget": {"type": "task", "taskId": "t"},
        "recentTargets": [],
        "transcriptPath": "/x/s1.jsonl",
        "startedAt": "2026-01-18T10:00:00Z",
        "lastActivity": f"2026-01-18T10:{30 - minutes}:00Z",
        "agent": agent,
    }
    return judged(HyperSession(), json.dumps(value))


def test_a_worker_without_parent_and_run_is_told() -> None:
    assert "Nobody says who started it" in one("HYP-020", sidecar(1, role="worker")).message


def test_a_worker_in_a_run_and_a_persons_session_need_no_parent() -> None:
    assert not sidecar(1, role="worker", runId="r1")
    assert not sidecar(1)


def test_a_worker_that_has_written_nothing_for_long_is_told_with_its_transcript() -> None:
    finding = one("HYP-021", sidecar(10, role="worker", runId="r1"))
    assert "nothing for 10:00" in finding.message
    assert "/x/s1.jsonl" in finding.advice


def test_a_step_that_is_tried_again_is_told() -> None:
    text = (
        "# Execution State\n\nrun: r1\nprogram: p.prose\n\n## Execution Trace\n\n```prose\n"
        'x = session "Try"   # <-- RETRYING (attempt 2/3)\n```\n'
    )
    finding = one("HYP-022", judged(HyperRun(), text, at=Millis(NOW - MINUTE)))
    assert "attempt 2 of 3" in finding.message
    assert finding.evidence[0].line == 9


def transcript(answer: str) -> str:
    """A log of Claude Code in which a delegated agent answers so."""
    at = {"sessionId": "5c1e8f0a-0000-4000-8000-000000000001", "cwd": "/work", "version": "2.0.0"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "Look", "subagent_type": "scout"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": answer}]}
    lines = [
        {"type": "user", "message": {"role": "user", "content": "Look at the parsers"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "claude", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"status": "completed"}},
    ]
    return "".join(
        json.dumps({**at, "uuid": f"u{number}", "timestamp": f"2026-11-18T02:00:0{number}.000Z", **line}) + "\n"
        for number, line in enumerate(lines)
    )


def in_transcript(answer: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str, int]]:
    (folder / "log.jsonl").write_text(transcript(answer))
    main(["check", str(folder / "log.jsonl"), "--json", "--at", "2026-11-18T02:01:00Z"])
    told = json.loads(capsys.readouterr().out)["findings"]
    return [(each["rule"], each["severity"], each["evidence"][0]["line"]) for each in told if "HYP" in each["rule"]]


def marked(value: object) -> str:
    return f"Done.\n\n<!-- AGENT_OUTPUT_START -->\n```json\n{json.dumps(value)}\n```\n<!-- AGENT_OUTPUT_END -->"


GOOD_ANSWER = {"meta": META, "artifacts": [], "next_steps": []}


def test_an_answer_in_the_log_of_another_program_is_judged_at_the_line_of_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {**GOOD_ANSWER, "meta": {**META, "status": "finished"}}
    assert in_transcript(marked(broken), tmp_path, capsys) == [("HYP-004", "warning", 3)]
    stopped = {**GOOD_ANSWER, "meta": {**META, "status": "error"}, "error": {"code": "E", "message": "No server"}}
    assert in_transcript(marked(stopped), tmp_path, capsys) == [("HYP-014", "error", 3)]
    nothing = marked(GOOD_ANSWER).replace("{", "{,", 1)
    assert in_transcript(nothing, tmp_path, capsys) == [("HYP-002", "error", 3)]


def test_a_log_of_another_program_is_asked_for_no_answer_and_a_good_one_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    returned = {"status": "completed", "summary": "Done", "artifacts": [], "metadata": {}}
    cut = marked(GOOD_ANSWER).partition("```\n<!--")[0]
    for text in ("All is well.", marked(GOOD_ANSWER), marked(returned), "It ends with AGENT_OUTPUT_END.", cut):
        assert in_transcript(text, tmp_path, capsys) == []


def test_a_fence_of_another_language_does_not_make_the_json_invalid() -> None:
    text = f"AGENT_OUTPUT_START\n```javascript\n{json.dumps(GOOD_ANSWER)}\n```\nAGENT_OUTPUT_END\n"
    assert [finding.rule for finding in judged(HyperOutput(), text)] == ["HYP-001"]
    listed = f"AGENT_OUTPUT_START\n```json\n[{json.dumps(GOOD_ANSWER)}]\n```\nAGENT_OUTPUT_END\n"
    assert "holds a list" in one("HYP-002", judged(HyperOutput(), listed)).message
