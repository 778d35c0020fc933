"""Rules on CLEO subagents: each is broken once, kept once, and says where and what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import judging

from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule_table import RULES
from delegtop.dialects import Dialect
from delegtop.model.events import Ended, Ending, Event, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.protocols.cleo import manifest_contract
from delegtop.protocols.cleo.compliance import CleoCompliance
from delegtop.protocols.cleo.manifest import CleoManifest
from delegtop.protocols.cleo.response import CleoResponse
from delegtop.protocols.cleo.tasks_database import CleoTasks
from delegtop.sources.records import Line, Unreadable

ENTRY: dict[str, Any] = {
    "id": "cache-layers-2026-02-03",
    "file": "2026-02-03_cache-layers.md",
    "title": "Cache layers",
    "date": "2026-02-03",
    "status": "complete",
    "topics": ["cache"],
    "key_findings": ["Two caches overlap.", "The outer one is never hit.", "Its size is not bounded."],
    "actionable": True,
    "needs_followup": [],
    "linked_tasks": ["T200", "T201"],
}
SUMMARY = "Two caches do the same. One of them can go."
OUTPUT = f"""# Cache

## Summary

{SUMMARY}

## Findings

### Size

It grows.

## Recommendations

- Drop the outer one.

## Sources

- `cache.py`

## Linked Tasks

- Epic: T200
- Task: T201
"""
NOW = parse_time("2026-04-20T12:00:00Z") or Millis(0)


def judged(
    dialect: Dialect,
    *texts: str,
    exists: Callable[[str], bool | None] = lambda _path: None,
    read: Callable[[str], str | None] = lambda _path: None,
    now: Millis = NOW,
) -> list[Finding]:
    forest = Forest()
    for number, text in enumerate(texts, start=1):
        line = Line(Origin("out/MANIFEST.jsonl", number, number * 1000), text.encode())
        forest.apply([event for event in dialect.read(line) if not isinstance(event, Unreadable)])
    forest.advance(now)

    def found(path: str) -> tuple[str, str] | None:
        return None if (text := read(path)) is None else (f"out/{path}", text)

    return [finding for handle in forest.walk() for finding in judging.found(forest, handle, exists, read=found)]


def entry(**fields: Any) -> str:
    return json.dumps({**ENTRY, **fields})


def without(*names: str) -> str:
    return json.dumps({name: value for name, value in ENTRY.items() if name not in names})


def of(rule: str, findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule == rule]


def one(rule: str, findings: list[Finding]) -> Finding:
    (finding,) = of(rule, findings)
    assert finding.message.endswith(".")
    assert ".." not in finding.message.replace("…", "")
    assert finding.advice
    assert finding.evidence
    return finding


def test_a_conforming_entry_with_its_file_breaks_no_rule() -> None:
    assert not judged(CleoManifest(), entry(), exists=lambda _path: True, read=lambda _path: OUTPUT)


def test_the_rules_have_the_ids_the_protocol_gives_them() -> None:
    assert {"OUT-001", "OUT-002", "OUT-003", "OUT-004"} <= RULES.keys()


# OUT-001


def test_an_output_file_that_is_not_there_is_an_error() -> None:
    finding = one("OUT-001", judged(CleoManifest(), entry(), exists=lambda _path: False))
    assert finding.severity is Severity.ERROR
    assert '"2026-02-03_cache-layers.md" does not exist' in finding.message


def test_where_nobody_can_tell_nothing_is_said_of_the_file() -> None:
    assert not of("OUT-001", judged(CleoManifest(), entry()))


def test_a_section_that_is_missing_is_named() -> None:
    text = OUTPUT.replace("## Sources\n\n- `cache.py`\n", "")
    finding = one("OUT-001", judged(CleoManifest(), entry(), exists=lambda _p: True, read=lambda _p: text))
    assert finding.severity is Severity.WARNING
    assert 'no section "Sources"' in finding.message


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("# Cache\n", "", "has no title"),
        ("# Cache\n", "# Summary\n", "has no title"),
        ("### Size\n\nIt grows.\n", "", 'says nothing under "Findings"'),
        ("It grows.\n", "", 'says nothing under "Findings"'),
        ("- Epic: T200\n- Task: T201\n", "", 'says nothing under "Linked Tasks"'),
        ("- Epic: T200\n- Task: T201\n", "- Epic:\n- Task: none\n", 'says nothing under "Linked Tasks"'),
        ("# Cache\n", "```\n# Cache\n```\n", "has no title"),
    ],
)
def test_a_part_of_the_file_that_says_nothing_is_named(before: str, after: str, said: str) -> None:
    text = OUTPUT.replace(before, after)
    finding = one("OUT-001", judged(CleoManifest(), entry(), exists=lambda _p: True, read=lambda _p: text))
    assert finding.severity is Severity.WARNING
    assert said in finding.message


def test_of_other_work_than_research_only_a_title_and_a_summary_are_asked_for() -> None:
    def told(text: str) -> list[Finding]:
        line = entry(agent_type="implementation")
        return of("OUT-001", judged(CleoManifest(), line, exists=lambda _p: True, read=lambda _p: text))

    assert not told(f"# Cache\n\n## Summary\n\n{SUMMARY}\n\n## Changes\n")
    assert 'no section "Summary"' in told("# Cache\n\n## Changes\n")[0].message


def test_numbered_and_deeper_headings_are_sections_as_well() -> None:
    text = (
        "# Caches\n# 1. Summary\na\n## 2 Findings ##\nb\n### RECOMMENDATIONS\nc\n## Sources\r\nd\n## Linked Tasks\nT1\n"
    )
    assert not of("OUT-001", judged(CleoManifest(), entry(), exists=lambda _p: True, read=lambda _p: text))


def test_the_check_reads_the_files_beside_the_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "claudedocs" / "agent-outputs"
    folder.mkdir(parents=True)
    first = "claudedocs/agent-outputs/2026-02-03_cache-layers.md"
    (folder / "2026-02-03_cache-layers.md").write_text(OUTPUT.replace("## Findings", "## Other"))
    lines = [entry(file=first), entry(id="other-2026-02-03", file="2026-02-03_other.md")]
    (folder / "MANIFEST.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["check", str(tmp_path), "--json"]) == Exit.FINDINGS
    findings = json.loads(capsys.readouterr().out)["findings"]
    told = {finding["subject"]: finding["message"] for finding in findings if finding["rule"] == "OUT-001"}
    assert told == {
        "cache-layers-2026-02-03": f'The output file "{first}" has no section "Findings".',
        "other-2026-02-03": 'The output file "2026-02-03_other.md" does not exist.',
    }


def test_a_file_that_is_not_beside_a_manifest_in_its_place_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its place is one in a repository, or with other texts beside it; one alone may be a copy."""
    path = tmp_path / "out" / "MANIFEST.jsonl"
    path.parent.mkdir()
    path.write_text(entry() + "\n")

    def rules() -> set[str]:
        main(["check", str(path), "--json"])
        return {finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]}

    assert rules() == {"LOG-004"}
    (tmp_path / ".git").mkdir()
    assert rules() == {"OUT-001"}
    (tmp_path / ".git").rmdir()
    (path.parent / "2026-02-04_other.md").touch()
    assert rules() == {"OUT-001", "OUT-002"}


def test_an_output_file_that_no_line_names_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "agent-outputs"
    folder.mkdir()
    (folder / "MANIFEST.jsonl").write_text(entry() + "\n")
    for name in ("2026-02-03_cache-layers.md", "2026-02-04_other.md", "README.md"):
        (folder / name).write_text(OUTPUT)

    def told() -> list[tuple[str, list[dict[str, Any]]]]:
        main(["check", str(folder / "MANIFEST.jsonl"), "--json", "--rule", "OUT-002"])
        return [(each["message"], each["evidence"]) for each in json.loads(capsys.readouterr().out)["findings"]]

    place = {"source": str(folder / "2026-02-04_other.md"), "line": 1}
    assert told() == [("No entry names 2026-02-04_other.md.", [place])]
    (folder / "MANIFEST.archive.jsonl").write_text('{"file": "2026-02-04_other.md"}\n')
    assert told() == []


@pytest.mark.parametrize(
    ("old", "new", "said", "line"),
    [
        ("- Task: T201", "- Task: T999", 'is linked to "T999", its entry to "T200", "T201"', "- Task: T999"),
        ("- Task: T201\n", "", 'does not name the task of its entry, "T201"', "## Linked Tasks"),
    ],
)
def test_a_file_that_is_linked_to_another_task_than_its_entry_is_told(old: str, new: str, said: str, line: str) -> None:
    file = OUTPUT.replace(old, new)
    finding = one("OUT-109", judged(CleoManifest(), entry(), exists=lambda _p: True, read=lambda _p: file))
    assert said in finding.message
    assert finding.evidence[0].line == 1 + file.count("\n", 0, file.index(line))


@pytest.mark.parametrize(
    ("linked", "new"),
    [
        (["T200", "T201", "T202"], "- Task: T201\n- Related: T300"),
        (["T200", "T201", "T202"], "- Task: T201\n- Task: T202"),
        (["T201"], "- Task: T201"),
    ],
)
def test_a_file_may_name_other_tasks_besides(linked: list[str], new: str) -> None:
    file = OUTPUT.replace("- Task: T201", new)
    file = file if "T200" in linked else file.replace("- Epic: T200\n", "")
    told = judged(CleoManifest(), entry(linked_tasks=linked), exists=lambda _p: True, read=lambda _p: file)
    assert not of("OUT-109", told)


@pytest.mark.parametrize(
    ("new", "line"), [("# {{TITLE}}", 1), ("Only {{TITLE}} is about tokens", None), ("```\n{{TITLE}}\n```", None)]
)
def test_a_token_that_is_all_of_a_line_of_the_file_was_not_filled_in(new: str, line: int | None) -> None:
    file = f"{new}\n{OUTPUT}"
    told = of("OUT-112", judged(CleoManifest(), entry(), exists=lambda _p: True, read=lambda _p: file))
    assert [finding.evidence[0].line for finding in told] == ([] if line is None else [line])


@pytest.mark.parametrize(
    ("text", "count"), [("", "0 sentences"), ("One.", "1 sentence;"), ("A b. C d. E f. G h.", "4 s")]
)
def test_the_summary_of_the_output_file_has_two_or_three_sentences(text: str, count: str) -> None:
    file = OUTPUT.replace(SUMMARY, text)
    finding = one("OUT-108", judged(CleoManifest(), entry(), exists=lambda _p: True, read=lambda _p: file))
    assert count in finding.message


# OUT-002


def test_an_entry_over_several_lines_is_told() -> None:
    finding = one("OUT-002", judged(CleoManifest(), *json.dumps(ENTRY, indent=1).splitlines()))
    assert "spread over" in finding.message
    assert finding.evidence[0].line == 1


def test_entries_that_share_a_line_are_told() -> None:
    findings = of("OUT-002", judged(CleoManifest(), entry() + entry(id="b-2026-02-03")))
    assert len(findings) == 2


def test_an_entry_that_is_there_twice_is_told() -> None:
    assert "twice" in one("OUT-002", judged(CleoManifest(), entry(), entry())).message


def stop(*violations: dict[str, str], count: int = 0) -> str:
    return json.dumps(
        {
            "timestamp": "2026-02-01T06:13:19Z",
            "source_id": "T77",
            "compliance": {"compliance_pass_rate": 0.0, "violation_count": count, "violation_severity": "medium"},
            "_context": {"agent_type": "testing", "violations": list(violations)},
        }
    )


def violation(requirement: str, fix: str = "", severity: str = "error") -> dict[str, str]:
    return {"requirement": requirement, "severity": severity, "message": "Something is wrong", "fix": fix}


def test_a_subagent_that_left_no_line_is_an_error() -> None:
    finding = one("OUT-002", judged(CleoCompliance(), stop(violation("MANIFEST-001"))))
    assert finding.severity is Severity.ERROR
    assert finding.since == parse_time("2026-02-01T06:13:19Z")
    assert finding.subject == "T77"


# OUT-003 and OUT-004

EXACT = "Research complete. See MANIFEST.jsonl for summary."


@pytest.mark.parametrize(
    "text",
    [
        "Research complete! See MANIFEST.jsonl for the summary.",
        "research complete. See MANIFEST.jsonl for summary.",
        "Research complete. See MANIFEST.jsonl for details.",
    ],
)
def test_the_message_in_other_words_is_told_once(text: str) -> None:
    findings = judged(CleoResponse(), text)
    assert [finding.rule for finding in findings] == ["OUT-003"]
    assert f'"{EXACT}"' in one("OUT-003", findings).advice


def test_content_beside_the_message_is_told() -> None:
    findings = judged(CleoResponse(), f"I found three caches.\n\n- one\n- two\n\n{EXACT}")
    finding = one("OUT-004", findings)
    assert 'holds 3 lines beside the message (31 characters), beginning "I found three caches."' in finding.message
    assert not of("OUT-003", findings)


def test_an_answer_that_is_all_content_breaks_both() -> None:
    findings = judged(CleoResponse(), "I found three caches.\nTwo of them overlap.")
    assert {finding.rule for finding in findings} == {"OUT-003", "OUT-004"}
    assert all(finding.severity is Severity.ERROR for finding in findings)


def test_content_and_another_message_break_both() -> None:
    findings = judged(CleoResponse(), "Here is all.\nWork complete: see MANIFEST.jsonl please")
    assert {finding.rule for finding in findings} == {"OUT-003", "OUT-004"}


def test_the_answer_is_judged_wherever_it_is_told() -> None:
    def summary(text: str) -> list[str]:
        return [finding.rule for finding in told_elsewhere(text)]

    assert summary(EXACT) == []
    assert summary(f"Long story.\n{EXACT}") == ["OUT-004"]
    assert summary("A story of another kind that is complete.") == []
    assert summary("I created MANIFEST.jsonl, and the pipeline manifest is complete.") == []


def told_elsewhere(text: str) -> list[Finding]:
    """What is said of an answer that the log of another program holds."""
    forest = Forest()
    events: list[Event] = [
        Started("a1", NOW, Origin("s.jsonl", 1, 0), product="claude-code", parent="s"),
        Ended("a1", NOW, Origin("s.jsonl", 2, 9), Outcome.COMPLETED, Ending.RETURN, Report(summary=text)),
    ]
    forest.apply(events)
    forest.advance(NOW)
    return [finding for finding in judging.all_found(forest) if finding.rule.startswith("OUT")]


def test_what_an_answer_elsewhere_names_as_its_blocker_is_told() -> None:
    """Its program takes it for done, and its state is that."""
    head = "Testing blocked. manifest:T5-load-20260929"
    findings = told_elsewhere(f"{head}\ncommits: none\ngates: tests=fail\nblocker: the broker is down")
    finding = one("OUT-132", findings)
    assert (finding.severity, finding.by, finding.advice) == (Severity.WARNING, "agent", "the broker is down")
    assert {each.rule for each in findings} == {"OUT-132", "OUT-133"}


@pytest.mark.parametrize("rule", ["OUT-001", "OUT-003", "OUT-004"])
def test_what_cleo_says_of_these_rules_is_told_under_them(rule: str) -> None:
    finding = one(rule, judged(CleoCompliance(), stop(violation(rule, fix="Answer shortly"))))
    assert finding.advice == "Answer shortly"


def test_a_response_is_checked_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(f"Everything I found: much.\n{EXACT}\n")
    assert main(["check", str(path), "--json"]) == Exit.FINDINGS
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["rule"] for finding in findings] == ["OUT-004"]


# the fields


@pytest.mark.parametrize(
    ("rule", "text", "said"),
    [
        ("OUT-101", without("topics", "actionable"), "no topics, actionable"),
        ("OUT-102", without("linked_tasks")[:-1] + ', "taskId": "T5"}', "taskId for linked_tasks"),
        ("OUT-103", entry(topics="cache"), "topics is text, not a list"),
        ("OUT-103", entry(actionable="yes"), "actionable is text, not true or false"),
        ("OUT-104", entry(status="completed"), '"completed" is none of complete, partial or blocked'),
        ("OUT-104", entry(status="archived"), '"archived" is none of'),
        ("OUT-105", entry(date="3 Feb"), '"3 Feb"'),
        ("OUT-106", entry(id="T201-cache"), '"T201-cache" does not end in the date'),
        ("OUT-107", entry(file="cache.md"), '"cache.md" is not named by its date'),
        ("OUT-107", entry(file="/tmp/2026-02-03_c.md x"), "an absolute path"),
        ("OUT-107", entry(file="/srv/out/2026-02-03_cache-layers.md"), "an absolute path"),
        ("OUT-110", entry(key_findings=["One.", "Two."]), "3 to 7 are asked for, and the entry has 2"),
        ("OUT-110", entry(key_findings=["x"] * 8), "the entry has 8"),
        ("OUT-111", entry(key_findings=["One is so. Two is not.", "b", "c"]), '"One is so. Two is not."'),
        ("OUT-111", entry(key_findings=["It goes over HTTP. Use UDP.", "b", "c"]), '"It goes over HTTP. Use UDP."'),
        ("OUT-111", entry(key_findings=["Take option A. Then go.", "b", "c"]), '"Take option A. Then go."'),
        ("OUT-101", entry(title="  "), "no title"),
        ("OUT-101", entry(topics=None), "no topics"),
        ("OUT-103", entry(key_findings=[1, 2, "c"]), "key_findings[1] is a number, not text"),
        ("OUT-103", entry(topics=["a", ""]), "topics[1] is empty"),
        ("OUT-106", entry(id="cache layers-2026-02-03", file="2026-02-03_x.md"), "is not URL-safe"),
        ("OUT-107", entry(file="2026-02-03_other.md"), "another topic than the id"),
        ("OUT-109", entry(linked_tasks=[]), "linked_tasks is empty"),
        ("OUT-112", entry(linked_tasks=["{{EPIC_ID}}", "T2"]), "linked_tasks[0] is {{EPIC_ID}}"),
        ("OUT-112", entry(title="{{TITLE}}"), "title is {{TITLE}}"),
    ],
)
def test_a_field_that_departs_is_told(rule: str, text: str, said: str) -> None:
    assert said in one(rule, judged(CleoManifest(), text)).message


@pytest.mark.parametrize("count", [3, 7])
def test_three_to_seven_findings_are_welcome(count: int) -> None:
    assert not of("OUT-110", judged(CleoManifest(), entry(key_findings=["x"] * count)))


@pytest.mark.parametrize(
    "text", ["See v2.1 of a.b.c for it.", "Use e.g. This one", "It is 3.5 times as fast!", "Found by J. Smith"]
)
def test_a_full_stop_within_a_sentence_ends_none(text: str) -> None:
    assert not of("OUT-111", judged(CleoManifest(), entry(key_findings=[text, "b", "c"])))


def test_a_token_that_a_finding_is_about_is_no_breach() -> None:
    assert not of("OUT-112", judged(CleoManifest(), entry(key_findings=["Fill in {{TASK_ID}} first.", "b", "c"])))


RICH = {**{name: value for name, value in ENTRY.items() if name in manifest_contract.RICH.required}, "agent_type": "ct"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"id": "T201-cache-layers"},
        {"status": "completed"},
        {"status": "archived"},
        {"key_findings": ["One."]},
        {"linked_tasks": [], "needs_followup": []},
    ],
)
def test_an_entry_of_a_later_version_keeps_the_rules_of_that(fields: dict[str, Any]) -> None:
    assert not judged(CleoManifest(), json.dumps({**RICH, **fields}))


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("OUT-101", {"topics": None}),
        ("OUT-104", {"status": "final"}),
        ("OUT-106", {"id": "cache-layers"}),
        ("OUT-110", {"key_findings": []}),
    ],
)
def test_an_entry_of_a_later_version_is_judged_by_that(rule: str, fields: dict[str, Any]) -> None:
    one(rule, judged(CleoManifest(), json.dumps({**RICH, **fields})))


def test_an_id_that_is_taken_is_told_with_the_line_that_has_it() -> None:
    finding = one("OUT-121", judged(CleoManifest(), entry(), entry(title="Another")))
    assert "line 1 has the id" in finding.message
    assert finding.evidence[0].line == 2


# the way on


@pytest.mark.parametrize("status", ["partial", "blocked"])
def test_a_stuck_entry_must_say_why(status: str) -> None:
    assert f"The work is {status}" in one("OUT-130", judged(CleoManifest(), entry(status=status))).message


def test_what_is_left_to_do_is_the_agents_own_advice() -> None:
    findings = judged(CleoManifest(), entry(status="blocked", needs_followup=["T210", "Ask for access"]))
    finding = one("OUT-131", findings)
    assert (finding.by, finding.advice, finding.command) == ("agent", "T210; Ask for access", "cleo show T210")
    assert finding.severity is Severity.WARNING
    assert not of("OUT-130", findings)


def test_what_a_complete_entry_leaves_to_do_is_only_mentioned() -> None:
    assert one("OUT-131", judged(CleoManifest(), entry(needs_followup=["T210"]))).severity is Severity.INFO


def test_other_objections_of_cleo_are_told_with_its_fix() -> None:
    finding = one("OUT-140", judged(CleoCompliance(), stop(violation("RSCH-001", fix="Revert the code"))))
    assert (finding.severity, finding.advice) == (Severity.ERROR, "Revert the code")
    assert "Something is wrong (RSCH-001)" in finding.message


def test_objections_that_are_only_counted_are_told() -> None:
    assert "2 violations" in one("OUT-140", judged(CleoCompliance(), stop(count=2))).message


def test_a_check_without_objections_says_nothing() -> None:
    assert not judged(CleoCompliance(), stop())


# the heartbeat


def agent(**columns: Any) -> str:
    row = {
        "table": "agent_instances",
        "id": "agt_1",
        "agent_type": "executor",
        "status": "active",
        "started_at": "2026-04-20 11:00:00",
        "last_heartbeat": "2026-04-20 11:56:00",
    }
    return json.dumps({**row, **columns})


def test_a_heartbeat_older_than_three_minutes_is_told() -> None:
    finding = one("OUT-150", judged(CleoTasks(), agent()))
    assert "Its last heartbeat was 4:00 ago, but it is registered as active" in finding.message


@pytest.mark.parametrize(
    "columns",
    [{"last_heartbeat": "2026-04-20 11:57:30"}, {"status": "stopped", "stopped_at": "2026-04-20 11:57:00"}],
)
def test_a_fresh_heartbeat_or_an_end_is_not_told(columns: dict[str, Any]) -> None:
    assert not of("OUT-150", judged(CleoTasks(), agent(**columns)))


def test_a_row_that_only_holds_others_is_judged_by_no_rule() -> None:
    findings = judged(CleoManifest(), entry(status="odd"), exists=lambda _path: False)
    assert not [finding for finding in findings if finding.subject == "T200"]
