"""What CLEO subagents answer: every version of the message, and what the four lines of the last one say."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.finding import Severity
from delegtop.model.events import Ended, Event, Noted, Outcome, Started
from delegtop.protocols.cleo import response_contract
from delegtop.protocols.cleo.response import CleoResponse
from delegtop.protocols.cleo.response_contract import VERSIONS, Gate
from delegtop.sources.records import Line, Unreadable

FIELDS = {
    "status": "complete",
    "manifest": "T12-cache-20260929",
    "commits": "4f1c2aa,9e0d1bb",
    "gates": "implemented=pass testsPassed=pass lint=skip",
    "blocker": "none",
}


def four(**fields: str | None) -> str:
    """An answer of four lines; a line that is None is left out."""
    told = {**FIELDS, **fields}
    head = f"Implementation {told['status']}. manifest:{told['manifest']}"
    lines = [f"{name}: {told[name]}" for name in ("commits", "gates", "blocker") if told[name] is not None]
    return "\n".join([head, *lines])


def check(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    main(["check", *map(str, arguments), "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return found


def told(text: str) -> list[Event | Unreadable]:
    return list(CleoResponse().read(Line(Origin("a.txt", 1, 0), text.encode())))


@pytest.mark.parametrize(
    ("text", "version", "type", "status"),
    [
        ("Research complete. See MANIFEST.jsonl for summary.", "1.0.0", "Research", "complete"),
        ("  Research blocked. See MANIFEST.jsonl for blocker details.\n", "1.0.0", "Research", "blocked"),
        ("Testing partial. See MANIFEST.jsonl for details.", "1.1.0", "Testing", "partial"),
        ("[Type] complete. See MANIFEST.jsonl for summary.", "1.1.0", "Type", "complete"),
        ("Epic created. See MANIFEST.jsonl for summary.", "1.1.0", "Epic", "complete"),
        ("Validation blocked. See pipeline manifest.", "1.2.0", "Validation", "blocked"),
        ("Research completed. Manifest appended to pipeline_manifest.", "2026-04", "Research", "complete"),
        ("Lead rollup partial. Manifest appended to pipeline_manifest.", "2026-04", "Lead rollup", "partial"),
        (four(), "2026-09", "Implementation", "complete"),
        (f"```\n{four(status='completed')}\n```", "2026-09", "Implementation", "complete"),
    ],
)
def test_the_message_of_every_version_breaks_no_rule(
    text: str, version: str, type: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = response_contract.read(text)
    assert read.version is not None
    assert (read.version.name, read.type, read.status) == (version, type, status)
    (tmp_path / "answer.txt").write_text(text)
    assert not [each for each in check(capsys, tmp_path / "answer.txt") if each["rule"].startswith("OUT-")]


def test_a_template_that_nobody_filled_in_says_nothing_of_how_it_ended() -> None:
    text = "Testing <complete|partial|blocked>. manifest:<entryId>\ncommits: <sha7>\ngates: <gate>\nblocker: <words>"
    (ended,) = [event for event in told(text) if isinstance(event, Ended)]
    assert ended.outcome is Outcome.UNKNOWN


def test_every_version_has_an_answer_here() -> None:
    assert {version.name for version in VERSIONS} == {"1.0.0", "1.1.0", "1.2.0", "2026-04", "2026-09"}


def test_the_four_lines_are_read() -> None:
    read = response_contract.read(four(gates="implemented=pass testsPassed=fail"))
    assert read.entry == "T12-cache-20260929"
    assert read.commits == ("4f1c2aa", "9e0d1bb")
    assert read.gates == (Gate("implemented", "pass"), Gate("testsPassed", "fail"))
    assert read.failed == ("testsPassed",)
    assert read.blocker is None


def test_an_answer_stands_below_the_entry_it_names_with_its_commits() -> None:
    (started,) = [event for event in told(four()) if isinstance(event, Started)]
    assert (started.parent, started.agent) == ("T12-cache-20260929", "implementation")
    assert started.refs == (("commit", "4f1c2aa"), ("commit", "9e0d1bb"))


def test_what_blocks_is_the_first_thing_that_is_told_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = four(status="blocked", gates="testsPassed=fail", blocker="the database is down")
    (ended,) = [event for event in told(text) if isinstance(event, Ended)]
    assert ended.outcome is Outcome.BLOCKED
    assert [event.text for event in told(text) if isinstance(event, Noted) and event.kind == "blocker"] == [
        "the database is down"
    ]
    path = tmp_path / "answer.txt"
    path.write_text(text)
    assert main(["check", str(path)]) == Exit.ENDED_BADLY
    assert "It ended blocked: the database is down" in capsys.readouterr().out
    assert main(["report", str(path)]) in (Exit.OK, Exit.ENDED_BADLY)
    report = capsys.readouterr().out
    assert "blocked by: the database is down" in report


@pytest.mark.parametrize(
    ("text", "rule", "severity", "said"),
    [
        (four(gates=None, blocker=None), "OUT-003", "warning", 'no line "gates", "blocker"'),
        (four() + "\nblocker: none", "OUT-003", "error", 'twice, or empty: the line "blocker"'),
        (four(gates=""), "OUT-003", "error", 'twice, or empty: the line "gates"'),
        (four(manifest="<entryId>"), "OUT-003", "error", "not hold the message of any version"),
        ("All is done.\n" + four(), "OUT-004", "error", "1 line beside the message"),
        (four() + "\nTesting blocked. manifest:T13-x", "OUT-004", "error", "1 line beside the message"),
        (four(gates="implemented=pass testsPassed=fail"), "OUT-133", "error", 'gate not passed: "testsPassed"'),
        (four(gates="tests are red"), "OUT-133", "info", 'cannot be told: "tests are red"'),
        (
            four(status="partial", gates="a=fail b=fail", blocker="no key"),
            "OUT-133",
            "info",
            'gates not passed: "a", "b"',
        ),
        (four(status="blocked"), "OUT-132", "error", "blocked, and does not name what is in the way"),
        (four(status="partial", blocker=None), "OUT-132", "error", "partial, and does not name what is in the way"),
        (four(blocker="no key"), "OUT-132", "error", 'complete, and names a blocker: "no key"'),
        (four(status="blocked", blocker="word " * 13), "OUT-132", "info", "13 words; at most 12"),
        (four(manifest="none"), "OUT-134", "error", "complete, and that it left no entry"),
    ],
)
def test_an_answer_of_four_lines_that_departs_is_told(
    text: str, rule: str, severity: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(text)
    (found,) = [each for each in check(capsys, path, "--format", "cleo-response") if each["rule"] == rule]
    assert found["severity"] == severity
    assert said in found["message"]
    if rule == "OUT-004":
        line = text.count("\n") + 1 if text.startswith("Implementation") else 1
        assert found["evidence"] == [{"source": str(path), "line": line}]


@pytest.mark.parametrize("text", [four(manifest="none", status="blocked", blocker="manifest append failed"), four()])
def test_an_answer_as_cleo_asks_for_it_is_let_pass(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answer.txt").write_text(text)
    assert not [each for each in check(capsys, tmp_path / "answer.txt") if each["rule"].startswith("OUT-")]


ENTRY = {
    "id": FIELDS["manifest"],
    "file": "2026-09-29_cache.md",
    "title": "Cache",
    "date": "2026-09-29",
    "status": "completed",
    "agent_type": "implementation",
    "topics": ["cache"],
    "actionable": False,
}
OLD = "Research complete. See MANIFEST.jsonl for summary."


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        (four(gates="testsPassed=fail"), "OUT-133", 3),
        (four(status="blocked"), "OUT-132", 4),
        (four(status="blocked", blocker=None), "OUT-132", 1),
        (four(blocker=""), "OUT-003", 4),
    ],
)
def test_what_is_wrong_with_one_of_the_four_lines_is_told_at_it(
    text: str, rule: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answer.txt").write_text(text)
    told = [each["evidence"][0]["line"] for each in check(capsys, tmp_path / "answer.txt") if each["rule"] == rule]
    assert told == [line]


@pytest.mark.parametrize(
    ("answer", "entry", "severity", "said"),
    [
        (four(), {}, None, ""),
        (four(), {"status": "blocked", "needs_followup": ["no key"]}, "error", "its entry"),
        (four(), {"id": "T13-other-20260929"}, "warning", "which no manifest has that was read"),
        (OLD, {}, None, ""),
        (OLD, {"status": "blocked", "needs_followup": ["no key"]}, "warning", "no entry that was read says so"),
    ],
)
def test_an_answer_that_its_entry_contradicts_is_told(
    answer: str,
    entry: dict[str, Any],
    severity: str | None,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "answer.txt").write_text(answer)
    (tmp_path / "MANIFEST.jsonl").write_text(json.dumps({**ENTRY, **entry}) + "\n")
    found = check(capsys, tmp_path / "answer.txt", tmp_path / "MANIFEST.jsonl", "--rule", "OUT-134")
    assert [each["severity"] for each in found] == ([severity] if severity else [])
    assert all(said in each["message"] for each in found)


@pytest.mark.parametrize("text", ["I found three caches.\nTwo of them overlap.\n", "\n"])
def test_an_answer_that_is_no_message_is_a_breach_where_it_is_said_to_be_an_answer(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(text)
    found = check(capsys, path, "--format", "cleo-response")
    assert {each["rule"] for each in found} == ({"OUT-003", "OUT-004"} if text.strip() else {"OUT-003"})
    assert all(each["severity"] == Severity.ERROR for each in found)
