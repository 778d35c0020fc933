"""`delegtop sources` tells what was found, and the page about it tells the same."""

import json
import re
from pathlib import Path

import pytest

from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.report.source_table import size

SAMPLES = Path(__file__).parents[3] / "sample_logs"


def test_every_source_is_listed_with_format_version_size_and_delegations(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", str(SAMPLES / "claude-code"), str(SAMPLES / "02_hang")]) == Exit.OK
    title, *rows = capsys.readouterr().out.splitlines()
    assert title.split() == ["FORMAT", "VERSION", "SIZE", "WRITTEN", "STATUS", "DELEGATIONS", "SOURCE"]
    assert any(re.match(r"claude-code +2\.1\.331 +[\d.]+ k?B +\d+[smhd] ago (live|read) ", row) for row in rows)
    assert any(re.match(r"session-log +– .* 4 .*02_hang/session\.jsonl", row) for row in rows)
    assert rows[-1].startswith("13 sources: 12 claude-code, 1 session-log")


def test_a_log_that_is_ahead_of_the_clock_says_by_how_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, ahead in (("late", 5 * HOUR + MINUTE), ("well", 20 * SECOND)):
        begun = {"event": "register", "session_id": f"sess_1772532120_{name}00", "delegation_depth": 0, "timeout": 900}
        begun |= {"at": iso(Millis(WallClock().now() + ahead)), "delegation_path": ["implement", name]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(begun) + "\n")
    assert main(["sources", str(tmp_path)]) == Exit.OK
    assert re.findall(r"(\w+).jsonl  \(.*5:0\d:\d\d ahead", capsys.readouterr().out) == ["late"]
    main(["sources", str(tmp_path / "late.jsonl"), "--json"])
    assert json.loads(capsys.readouterr().out)["sources"][0]["ahead_seconds"] > 5 * 3600
    main(["tree", str(tmp_path / "late.jsonl")])
    assert re.search(r"the last record is 5:0\d:\d\d ahead of the clock", capsys.readouterr().err)
    main(["tree", str(tmp_path / "well.jsonl")])
    assert "ahead" not in capsys.readouterr().err


def test_what_cannot_be_read_is_listed_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.json").write_text('{"just": "notes"}')
    assert main(["sources", str(tmp_path), str(tmp_path / "nowhere.jsonl")]) == Exit.UNREADABLE
    listed = capsys.readouterr().out
    assert re.search(r"unrecognised .*notes\.json  \(no known log format\)", listed)
    assert re.search(r"missing .*nowhere\.jsonl  \(not found\)", listed)


@pytest.mark.parametrize(
    "line",
    [
        {"level": 30, "time": 1794843535561, "event": "hub.started", "msg": "listening"},
        {"event": "session_ended", "session_id": "session_64d9b5fe", "timestamp": 1794842835.1, "properties": {}},
    ],
)
def test_what_other_programs_log_is_not_taken_for_a_session_log(
    line: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.jsonl").write_text(3 * (json.dumps(line) + "\n"))
    assert main(["sources", str(tmp_path)]) == Exit.OK
    assert re.search(r"unrecognised .*other\.jsonl  \(no known log format\)", capsys.readouterr().out)


def test_what_watch_printed_is_not_taken_for_a_session_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = {"event": "register", "session_id": "sess_1772532120_h9w4dg", "delegation_depth": 0, "timeout": 1}
    log = tmp_path / "run.jsonl"
    log.write_text(
        json.dumps({**begun, "at": iso(Millis(WallClock().now() - MINUTE)), "delegation_path": ["implement"]}) + "\n"
    )
    main(["watch", str(log), "--json", "--exit-when", "problem"])
    (kept := tmp_path / "watched.jsonl").write_text(capsys.readouterr().out)
    assert json.loads(kept.read_text().splitlines()[0])["event"] == "present"
    assert main(["sources", str(kept)]) == Exit.UNREADABLE
    assert re.search(r"unrecognised .*watched\.jsonl  \(no known log format\)", capsys.readouterr().out)


def test_on_a_machine_without_agents_it_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sources"]) == Exit.OK
    title, *looked = capsys.readouterr().out.splitlines()
    assert title == "No logs of agents are found. They are looked for in"
    assert f"  {Path.home() / '.claude' / 'projects'}" in looked


def test_the_page_names_every_key_of_the_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", str(SAMPLES / "02_hang"), "--json"]) == Exit.OK
    told = json.loads(capsys.readouterr().out)
    page = (project / "docs" / "sources.md").read_text("utf-8").split("## JSON")[1]
    assert set(told) == {"schema_version", "at", "sources", "left_running"}
    assert "`left_running`" in page
    assert list(told["sources"][0]) == re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)


@pytest.mark.parametrize(
    ("count", "told"), [(0, "–"), (812, "812 B"), (1_400_000, "1.4 MB"), (999_999, "1000 kB"), (7 * 10**12, "7.0 TB")]
)
def test_sizes_are_told_for_people(count: int, told: str) -> None:
    assert size(count) == told
