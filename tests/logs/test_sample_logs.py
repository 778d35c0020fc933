"""The sample logs are what their README says they are."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.samples import observed
from tests.telling import handle_of

from delegtop.base.clock import FrozenClock, parse_time
from delegtop.model.states import State
from delegtop.protocols.standard.dialects.session_log_lines import Entry

SAMPLES = Path(__file__).parents[2] / "sample_logs"
MOMENTS: dict[str, dict[str, Any]] = tomllib.loads((SAMPLES / "moments.toml").read_text())
LOGS = sorted(SAMPLES.glob("[0-9]*/*.jsonl*"))
REGISTRIES = sorted(SAMPLES.glob("[0-9]*/registry*.json"))
MALFORMED = SAMPLES / "12_malformed" / "session.jsonl"
BROKEN_ON_PURPOSE = {"04_failed", "12_malformed", "14_broken_returns"}
EVENTS = {"register", "heartbeat", "return", "timeout", "error", "cancel"}


def name(path: Path) -> str:
    return str(path.relative_to(SAMPLES))


def records(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def test_every_sample_has_a_moment_and_a_line_in_the_readme_that_says_the_same_moment() -> None:
    folders = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir() and path.name[0].isdigit())
    rows = re.findall(r"^\| `(\d\d_\w+)` \| .+ \| `(.+)` \|$", (SAMPLES / "README.md").read_text(), re.MULTILINE)
    assert folders == sorted(MOMENTS)
    assert rows == [(folder, MOMENTS[folder]["at"]) for folder in folders]
    assert all(parse_time(sample["at"]) for sample in MOMENTS.values())


@pytest.mark.parametrize("path", [*LOGS, *REGISTRIES], ids=name)
def test_a_sample_is_small_and_names_no_real_place(path: Path) -> None:
    text = path.read_text(errors="replace")
    assert len(text) < 20_000
    assert "@" not in text
    assert set(re.findall(r"https?://[\w.-]*?(\w+\.\w+)(?=[/\"])", text)) <= {"example.org"}
    assert set(re.findall(r'"host":"([^"]*)"', text)) <= {"forge-1", "forge-2"}


@pytest.mark.parametrize("log", [log for log in LOGS if log != MALFORMED], ids=name)
def test_every_line_of_a_log_is_an_event_in_the_order_of_time(log: Path) -> None:
    lines = records(log)
    assert all(line["schema_version"] == 1 and line["event"] in EVENTS for line in lines)
    times = [parse_time(line["at"]) for line in lines]
    assert None not in times
    assert times == sorted(times, key=lambda at: at or 0)


@pytest.mark.parametrize("log", [log for log in LOGS if log != MALFORMED], ids=name)
def test_every_delegation_of_a_log_was_registered_before_anything_happened_to_it(log: Path) -> None:
    folder = log.parent
    seen = {line["session_id"] for older in folder.glob("*.jsonl.*") if older != log for line in records(older)}
    for line in records(log):
        if line["event"] == "register":
            seen.add(line["session_id"])
        assert line["session_id"] in seen


@pytest.mark.parametrize("log", [log for log in LOGS if log.parent.name not in BROKEN_ON_PURPOSE], ids=name)
def test_every_line_of_a_log_that_is_not_about_mistakes_fits_the_documented_format(log: Path) -> None:
    for line in log.read_bytes().splitlines():
        msgspec.json.decode(line, type=Entry)


@pytest.mark.parametrize("registry", REGISTRIES, ids=name)
def test_a_registry_has_the_entries_of_the_delegation_guide(registry: Path) -> None:
    fields = "command subagent task_number start_time timeout deadline status delegation_depth delegation_path"
    for session, entry in json.loads(registry.read_bytes()).items():
        assert re.fullmatch(r"sess_(\d{8}|\d{10})_[a-z0-9]{6}", session)
        assert list(entry) == fields.split()


def test_the_samples_together_have_every_event_and_both_forms_of_session_id() -> None:
    lines = [line for log in LOGS if log != MALFORMED for line in records(log)]
    assert {line["event"] for line in lines} == EVENTS
    assert {len(line["session_id"].split("_")[1]) for line in lines} == {8, 10}


def test_the_disagreeing_sample_disagrees() -> None:
    folder = SAMPLES / "09_two_books"
    logged = {line["session_id"]: line for line in records(folder / "session.jsonl") if line["event"] == "register"}
    listed = json.loads((folder / "registry.json").read_bytes())
    assert listed.keys() - logged.keys()
    assert logged.keys() - listed.keys()
    differing = {
        field
        for session in listed.keys() & logged.keys()
        for field in ("timeout", "deadline", "delegation_depth")
        if str(listed[session][field])[:19] != str(logged[session][field])[:19]
    }
    assert differing == {"timeout", "deadline", "delegation_depth"}


def test_the_malformed_sample_is_malformed_where_its_readme_says() -> None:
    lines = MALFORMED.read_bytes().split(b"\n")
    assert len(lines) == 28
    assert lines[0].startswith(b"\xef\xbb\xbf{")
    assert lines[1].endswith(b"}\r")
    assert lines[2] == b""
    assert lines[3].startswith(b"{")
    assert b"}{" in lines[4]
    assert lines[5].startswith(b"\0" * 48 + b"{")
    with pytest.raises(UnicodeDecodeError):
        lines[6].decode()
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(lines[7])
    assert [type(json.loads(line)) for line in lines[8:10]] == [list, str]
    events = [json.loads(line) for line in lines[10:27]]
    assert events[0]["event"] not in EVENTS
    assert all(field not in event for field, event in zip(("event", "session_id", "at"), events[1:4], strict=True))
    assert parse_time(events[4]["at"]) is None
    assert events[8]["schema_version"] == 99
    assert len({parse_time(event["at"]) for event in events[9:12]}) == 3
    assert "\x1b" in events[15]["activity"]
    for cut in (lines[3], lines[27]):
        with pytest.raises(json.JSONDecodeError):
            json.loads(cut)


def clock_of(sample: str) -> FrozenClock:
    at = parse_time(MOMENTS[sample]["at"])
    assert at is not None
    return FrozenClock(at)


@pytest.mark.parametrize("sample", MOMENTS)
def test_a_sample_shows_its_states_at_its_moment_and_no_more_unreadable_lines_than_it_says(sample: str) -> None:
    with observed(SAMPLES / sample, clock=clock_of(sample)) as seen:
        seen.look()
    forest = seen.forest
    unreadable = sum(status.unreadable for status in seen.statuses)
    assert sorted({str(forest.state(handle)) for handle in forest.walk()}) == MOMENTS[sample]["states"]
    assert unreadable == MOMENTS[sample].get("unreadable", 0)


def test_the_samples_together_show_every_state() -> None:
    protocol = set(State) - {State.IDLE}  # that is for sessions of other programs
    assert {state for sample in MOMENTS.values() for state in sample["states"]} == protocol


def test_an_entry_deleted_from_the_registry_of_a_copy_has_an_unknown_outcome(tmp_path: Path) -> None:
    sample = "09_two_books"
    copy = shutil.copytree(SAMPLES / sample, tmp_path / sample)
    seen = observed(copy, clock=clock_of(sample))
    seen.look()
    forest = seen.forest
    entries = json.loads((copy / "registry.json").read_bytes())
    [gone] = [session for session, entry in entries.items() if entry["subagent"] == "lean-implementation-agent"]
    handle = handle_of(forest, gone)
    assert forest.state(handle) == State.RUNNING

    del entries[gone]
    (copy / "new").write_text(json.dumps(entries))
    (copy / "new").replace(copy / "registry.json")
    seen.look()
    seen.close()
    assert forest.state(handle) == State.UNKNOWN
    assert "left the registry" in forest.reason(handle)
