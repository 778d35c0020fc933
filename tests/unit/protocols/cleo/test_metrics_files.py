"""CLEO's other files: its compliance and session logs, its database, and the answers of its subagents."""

import json
import os
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import parse_time
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.dialects import Dialect, Sample
from delegtop.model.events import Deviation, Ended, Erred, Event, Heard, Noted, Outcome, Phase, Resumed, Started
from delegtop.protocols.cleo.compliance import CleoCompliance
from delegtop.protocols.cleo.manifest import CleoManifest
from delegtop.protocols.cleo.response import CleoResponse
from delegtop.protocols.cleo.tasks_database import CleoTasks
from delegtop.protocols.cleo.violations import violations
from delegtop.protocols.cleo.working_sessions import CleoSessions
from delegtop.sources.database import columns_of
from delegtop.sources.records import Line, Unreadable

REAL = Path(os.environ.get("DELEGTOP_REAL_LOGS", "/nowhere")) / "seed_systems" / "cleo"
STOP: dict[str, Any] = {
    "timestamp": "2026-02-01T06:13:19Z",
    "source_id": "a03fa91",
    "source_type": "subagent",
    "compliance": {"compliance_pass_rate": 1.0, "violation_count": 0, "violation_severity": "none"},
    "efficiency": {"input_tokens": 0, "output_tokens": 0},
    "_context": {"agent_type": "Explore"},
}
NO_LINE = {"requirement": "MANIFEST-001", "severity": "error", "message": "No manifest entry found", "fix": ""}


def told(dialect: Dialect, *texts: str, path: str = "log") -> list[Event | Unreadable]:
    lines = [Line(Origin(path, number, number * 1000), text.encode()) for number, text in enumerate(texts, start=1)]
    return [event for line in lines for event in dialect.read(line)]


def ends(events: list[Event | Unreadable]) -> list[Ended]:
    return [event for event in events if isinstance(event, Ended)]


# -- the compliance log


def test_a_compliance_line_is_the_stop_of_one_subagent_and_says_nothing_of_its_work() -> None:
    (ended,) = ends(told(CleoCompliance(), json.dumps(STOP)))
    assert (ended.id, ended.at, ended.outcome) == ("a03fa91", parse_time("2026-02-01T06:13:19Z"), Outcome.UNKNOWN)


@pytest.mark.parametrize(("source", "ref"), [("a03fa91", "agent_id"), ("T2950", "task_id")])
def test_a_source_is_an_agent_or_a_task(source: str, ref: str) -> None:
    (started,) = [
        e for e in told(CleoCompliance(), json.dumps({**STOP, "source_id": source})) if isinstance(e, Started)
    ]
    assert started.refs == ((ref, source),)
    assert started.agent == "Explore"


def test_violations_are_noted_one_a_line() -> None:
    line = {**STOP, "_context": {"agent_type": "", "violations": [NO_LINE, {**NO_LINE, "requirement": "RSCH-001"}]}}
    (noted,) = [e for e in told(CleoCompliance(), json.dumps(line)) if isinstance(e, Noted)]
    assert [violation.requirement for violation in violations(noted.text)] == ["MANIFEST-001", "RSCH-001"]


def test_violations_that_are_only_counted_are_told_as_that() -> None:
    line = {**STOP, "compliance": {"compliance_pass_rate": 0.5, "violation_count": 2, "violation_severity": "medium"}}
    (noted,) = [e for e in told(CleoCompliance(), json.dumps(line)) if isinstance(e, Noted)]
    assert "2 violations, which the log does not name" in noted.text


def test_a_later_check_that_passes_withdraws_the_objection() -> None:
    failed = {**STOP, "_context": {"violations": [NO_LINE]}}
    noted = [e for e in told(CleoCompliance(), json.dumps(failed), json.dumps(STOP)) if isinstance(e, Noted)]
    assert [bool(note.text) for note in noted] == [True, False]


@pytest.mark.parametrize(
    "line",
    [
        '{"timestamp":"x","source_id":"","compliance":{}}',
        '{"source_id":"a1","compliance":7,"_context":[],"timestamp":5}',
        '{"source_id":"a1","compliance":{"violation_count":"many"},"_context":{"violations":[3,null]}}',
        "[]",
        "{",
    ],
)
def test_an_odd_compliance_line_is_named(line: str) -> None:
    assert [e for e in told(CleoCompliance(), line) if isinstance(e, Deviation | Unreadable)]


def test_a_compliance_log_is_known_by_its_shape() -> None:
    assert CleoCompliance.sniff(Sample("x.jsonl", json.dumps(STOP).encode(), True)) > 0
    assert CleoCompliance.sniff(Sample("COMPLIANCE.jsonl", b'{"source_id":"a","passed":true}', True)) == 0
    assert CleoCompliance.sniff(Sample("COMPLIANCE.jsonl", b"\xff\xfe", True)) == 0


# -- the session log

SESSION = {
    "session_id": "session_20260123_011426_fe31d5",
    "start_timestamp": "2026-01-23T09:14:26Z",
    "end_timestamp": "2026-01-23T09:14:38Z",
    "tokens": {"start": 0, "end": 5, "consumed": 5, "max": 200000},
    "stats": {"tasks_completed": 0},
}


def test_a_session_has_its_start_its_end_and_its_tokens() -> None:
    events = told(CleoSessions(), json.dumps(SESSION))
    assert [e.at for e in events if isinstance(e, Started)] == [parse_time("2026-01-23T09:14:26Z")]
    assert [e.at for e in ends(events)] == [parse_time("2026-01-23T09:14:38Z")]
    assert [e.tokens for e in events if isinstance(e, Heard)] == [5]


def test_a_session_over_several_lines_is_read_and_one_without_a_start_has_none() -> None:
    events = told(CleoSessions(), *json.dumps({**SESSION, "start_timestamp": ""}, indent=1).splitlines())
    assert [e.at for e in events if isinstance(e, Started)] == [None]
    assert [e.kind for e in events if isinstance(e, Deviation)] == ["spread over lines"]
    assert CleoSessions.sniff(Sample("x", json.dumps(SESSION).encode(), True)) > 0
    assert CleoSessions.sniff(Sample("x", json.dumps(SESSION, indent=1).encode(), True)) > 0


# -- the database

AGENT = {
    "table": "agent_instances",
    "id": "agt_1",
    "agent_type": "executor",
    "status": "active",
    "session_id": "ses_1",
    "task_id": "T5",
    "started_at": "2026-04-20 10:00:00",
    "last_heartbeat": "2026-04-20 10:04:30",
    "stopped_at": None,
    "parent_agent_id": "agt_0",
}


def row(**columns: Any) -> str:
    return json.dumps({**AGENT, **columns})


def test_a_live_agent_has_a_parent_a_start_and_a_heartbeat() -> None:
    started, heard = told(CleoTasks(), row())
    assert isinstance(started, Started)
    assert isinstance(heard, Heard)
    assert (started.id, started.parent, started.agent, started.task) == ("agt_1", "agt_0", "executor", "T5")
    assert started.at == parse_time("2026-04-20T10:00:00Z")
    assert (heard.at, heard.doing, heard.phase) == (parse_time("2026-04-20T10:04:30Z"), "active", None)


@pytest.mark.parametrize(
    ("columns", "outcome", "at"),
    [
        ({"status": "stopped", "stopped_at": "2026-04-20T10:06:00Z"}, Outcome.UNKNOWN, "2026-04-20T10:06:00Z"),
        (
            {"status": "stopped", "stopped_at": "2026-04-20 10:06:00", "total_tasks_completed": 1},
            Outcome.COMPLETED,
            "2026-04-20T10:06:00Z",
        ),
        ({"status": "crashed"}, Outcome.LOST, "2026-04-20T10:04:30Z"),
    ],
)
def test_an_agent_that_is_no_more_has_ended(columns: dict[str, Any], outcome: Outcome, at: str) -> None:
    (ended,) = ends(told(CleoTasks(), row(**columns)))
    assert (ended.outcome, ended.at) == (outcome, parse_time(at))


def test_an_agent_that_comes_back_after_a_crash_is_resumed() -> None:
    events = told(CleoTasks(), row(status="crashed"), row(last_heartbeat="2026-04-20 10:20:00"))
    assert [e.at for e in events if isinstance(e, Resumed)] == [parse_time("2026-04-20T10:20:00Z")]


def test_an_idle_agent_is_idle() -> None:
    assert [e.phase for e in told(CleoTasks(), row(status="idle")) if isinstance(e, Heard)] == [Phase.IDLE]


@pytest.mark.parametrize("table", ["agent_error_log", "tasks_agent_error_log"])
@pytest.mark.parametrize(
    ("kind", "resolved", "recoverable"),
    [("retriable", 0, True), ("permanent", 0, False), ("permanent", 1, True), ("unknown", 0, None)],
)
def test_an_error_says_whether_trying_again_can_help(
    table: str, kind: str, resolved: int, recoverable: bool | None
) -> None:
    line = {
        "table": table,
        "agent_id": "agt_1",
        "error_type": kind,
        "message": "no disk",
        "occurred_at": "2026-04-20 10:05:00",
        "resolved": resolved,
    }
    (erred,) = told(CleoTasks(), json.dumps(line))
    assert isinstance(erred, Erred)
    assert (erred.fault.recoverable, erred.fault.message) == (recoverable, "no disk")


@pytest.mark.parametrize("table", ["pipeline_manifest", "tasks_pipeline_manifest", "docs_pipeline_manifest"])
def test_an_entry_of_the_database_is_an_end_with_a_moment(table: str) -> None:
    line = {
        "table": table,
        "id": "pm_1",
        "task_id": "T5",
        "epic_id": "T1",
        "type": "research",
        "content": "What was found.",
        "status": "distilled",
        "metadata_json": '{"status":"partial","needs_followup":["T9"],"title":"Found"}',
        "created_at": "2026-04-20T10:05:00.000Z",
    }
    events = told(CleoTasks(), json.dumps(line))
    (ended,) = [e for e in ends(events) if e.id == "pm_1"]
    assert (ended.outcome, ended.at) == (Outcome.PARTIAL, parse_time("2026-04-20T10:05:00Z"))
    assert ended.report.summary == "What was found."
    assert [e.parent for e in events if isinstance(e, Started) and e.id == "pm_1"] == ["T1"]
    assert [e.text for e in events if isinstance(e, Noted) and e.kind == "followup"] == ["T9"]


@pytest.mark.parametrize("columns", [{"id": None}, {"started_at": 10**30, "last_heartbeat": []}, {"table": "tasks"}])
def test_an_odd_row_is_no_harm(columns: dict[str, Any]) -> None:
    told(CleoTasks(), row(**columns))


def make_database(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.execute(
            "create table agent_instances (id text primary key, agent_type text, status text, session_id text, "
            "task_id text, started_at text, last_heartbeat text, stopped_at text, parent_agent_id text)"
        )
        db.execute("create table tasks (id text primary key, title text)")
        db.executemany(
            "insert into agent_instances values (?, ?, ?, 'ses_1', ?, ?, ?, ?, ?)",
            [
                ("agt_0", "orchestrator", "active", "T1", "2026-04-20 10:00:00", "2026-04-20 10:10:00", None, None),
                ("agt_1", "executor", "active", "T5", "2026-04-20 10:01:00", "2026-04-20 10:02:00", None, "agt_0"),
                ("agt_2", "executor", "crashed", "T6", "2026-04-20 10:01:00", "2026-04-20 10:03:00", None, "agt_0"),
            ],
        )
    db.close()


def test_a_database_is_known_by_its_tables_and_else_by_its_folder(tmp_path: Path) -> None:
    path = tmp_path / ".cleo" / "tasks.db"
    make_database(path)
    head = path.read_bytes()[:65536]
    assert CleoTasks.sniff(Sample(str(path), head, True)) > 0
    assert CleoTasks.sniff(Sample("/elsewhere/copy.db", head, True, columns_of(str(path)))) > 0
    assert CleoTasks.sniff(Sample(str(path), head, True, frozenset({"agenda_tasks"}))) == 0
    assert CleoTasks.sniff(Sample(str(path), b"not a database", True)) == 0
    assert CleoTasks.sniff(Sample("/elsewhere/tasks.db", head[:100], True)) == 0


def test_the_tree_of_a_database_is_that_of_its_agents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_database(tmp_path / ".cleo" / "tasks.db")
    assert main(["tree", str(tmp_path), "--json", "--at", "2026-04-20T10:10:30Z"]) == Exit.OK
    shown = {row["id"]: row for row in json.loads(capsys.readouterr().out)["delegations"]}
    assert {id: row["parent"] for id, row in shown.items()} == {"agt_0": None, "agt_1": "agt_0", "agt_2": "agt_0"}
    assert shown["agt_2"]["state"] == "lost"
    assert [finding["rule"] for finding in shown["agt_1"]["findings"]] == ["OUT-150"]
    assert not shown["agt_0"]["findings"]


# -- the answer

EXACT = "Research complete. See MANIFEST.jsonl for summary."


def test_an_answer_is_an_end_with_its_very_words() -> None:
    events = told(CleoResponse(), EXACT, path="out/answer.txt")
    (ended,) = ends(events)
    assert (ended.id, ended.outcome, ended.at) == ("response@answer.txt", Outcome.COMPLETED, None)
    assert [e.text for e in events if isinstance(e, Noted)] == [EXACT]


@pytest.mark.parametrize("text", [EXACT, "Done!\nResearch blocked. See MANIFEST.jsonl for blocker details.\n"])
def test_an_answer_is_known_by_its_sentence(text: str) -> None:
    assert CleoResponse.sniff(Sample("answer.txt", text.encode(), True)) > 0


@pytest.mark.parametrize("text", ["", "See MANIFEST.jsonl", "All complete.", '{"x":"complete. See MANIFEST.jsonl"}'])
def test_other_texts_are_no_answer(text: str) -> None:
    assert CleoResponse.sniff(Sample("MANIFEST.md", text.encode(), True)) == 0


# -- real files


@pytest.mark.skipif(not REAL.is_dir(), reason="DELEGTOP_REAL_LOGS is not set")
def test_every_real_file_is_read_and_its_records_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", str(REAL), "--json"]) == Exit.OK
    sources = {Path(each["path"]).relative_to(REAL): each for each in json.loads(capsys.readouterr().out)["sources"]}
    on_disk = {path.relative_to(REAL) for path in REAL.rglob("*.jsonl")}
    assert on_disk == sources.keys()
    assert all(each["dialect"] for each in sources.values())
    # The three later versions in growth/ begin alike, so the longest of them tells what the others tell.
    expected = {
        "conforming/.cleo/metrics/COMPLIANCE.jsonl": 2162,
        "conforming/claudedocs/agent-outputs/MANIFEST.jsonl": 229,
        "drifted/.cleo/agent-outputs/T760-rcasd/MANIFEST.jsonl": 6,
        "invalid/MANIFEST.jsonl": 6,
    }
    assert {name: sources[Path(name)]["records"] for name in expected} == expected
    assert sources[Path("invalid/MANIFEST.jsonl")]["unreadable"] == 1


@pytest.mark.skipif(not REAL.is_dir(), reason="DELEGTOP_REAL_LOGS is not set")
@pytest.mark.parametrize("path", sorted(REAL.rglob("*.jsonl")), ids=lambda path: path.name)
def test_nothing_of_a_real_file_is_lost_or_told_twice(path: Path) -> None:
    """Counted apart from our own reader: a plain decoder that takes one JSON value after the other."""
    kinds: dict[str, type[Dialect]] = {"COMPLIANCE.jsonl": CleoCompliance, "SESSIONS.jsonl": CleoSessions}
    dialect = kinds.get(path.name, CleoManifest)()
    data = path.read_bytes()
    offset, events = 0, list[Event | Unreadable]()
    for number, line in enumerate(data.split(b"\n"), start=1):
        events += dialect.read(Line(Origin(str(path), number, offset), line))
        offset += len(line) + 1
    values, bad = plainly(data.decode())
    holders = {e.id for e in events if isinstance(e, Started) and e.listed}
    told_of = Counter(e.id for e in events if isinstance(e, Started) and not e.listed)
    assert sum(told_of.values()) == len(values)
    assert sum(isinstance(e, Unreadable) for e in events) == bad
    assert holders or path.name in kinds or len(values) < 10


def plainly(text: str) -> tuple[list[Any], int]:
    """All JSON values of a text, and how many lines are none."""
    decoder, values, bad, at = json.JSONDecoder(), list[Any](), 0, 0
    while (at := at + len(text[at:]) - len(text[at:].lstrip())) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
            values.append(value)
        except ValueError:
            bad += 1
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
    return values, bad


@pytest.mark.skipif(not REAL.is_dir(), reason="DELEGTOP_REAL_LOGS is not set")
def test_the_check_of_the_real_files_finds_what_was_counted_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(REAL), "--json"]) == Exit.FINDINGS
    report = json.loads(capsys.readouterr().out)
    found = Counter(finding["rule"] for finding in report["findings"])
    assert len(report["sources"]) == 9
    # 126 lines of the compliance log say so, ten of them twice of the same task.
    assert sum("left no line" in finding["message"] for finding in report["findings"]) == 116
    assert found["OUT-121"] == 1
    assert found["LOG-001"] == 1
