"""The process files of Claude Code: who is there, what they say they do, and what it means that one is gone."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.samples import observed
from tests.telling import forest_at

from delegtop.agents.claude_code.live_registry import ClaudeSessions
from delegtop.base.clock import MINUTE, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.feed import process_watch
from delegtop.model.events import Deviation, Ended, Ending, Event, Heard, Outcome, Phase
from delegtop.model.forest import Forest
from delegtop.model.session_manner import JOB, Manner, manner
from delegtop.model.states import State
from delegtop.sources import processes
from delegtop.sources.records import Line, Unreadable

REAL_LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
START = Millis(1_790_000_000_000)
PLACE = Origin("/home/ada/.claude/sessions/4711.json", 1, 0)


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "pid": 4711,
        "sessionId": "5e55-10",
        "cwd": "/home/ada/lantern",
        "startedAt": START,
        "procStart": "8812",
        "version": "2.1.325",
        "kind": "interactive",
        "entrypoint": "cli",
        "name": "lantern-a1",
        "status": "busy",
        "updatedAt": START + 900,
        "statusUpdatedAt": START + 500,
    } | changes


def read(dialect: ClaudeSessions, value: dict[str, Any]) -> list[Event]:
    found = list(dialect.read(Line(PLACE, json.dumps(value).encode(), Millis(START + 1_000))))
    return [event for event in found if not isinstance(event, Unreadable)]


def forest_of(*events: Event, now: int = START + 5_000) -> Forest:
    return forest_at(now, events)


def test_a_process_file_is_a_session_of_its_own_with_process_folder_and_version() -> None:
    forest = forest_of(*read(ClaudeSessions(), entry()))
    (handle,) = forest.roots()
    found = forest.delegation(handle)
    assert (found.id, found.agent, found.depth, found.product) == ("5e55-10", "claude", 0, "claude-code")
    assert (found.pid, found.host, found.started_at) == (4711, "localhost", START)
    assert (found.own_name, found.cwd, found.version) == ("lantern-a1", "/home/ada/lantern", "2.1.325")
    assert dict(found.refs) == {"session_id": "5e55-10", "proc_start": "8812", "runs_as": "terminal"}


@pytest.mark.parametrize(
    ("told", "runs_as"),
    [
        ({"kind": "interactive", "entrypoint": "cli"}, Manner.TERMINAL),
        ({"kind": "interactive", "entrypoint": "sdk-cli"}, Manner.HEADLESS),
        ({"kind": "interactive", "entrypoint": "sdk-py"}, Manner.HEADLESS),
        ({"kind": "bg", "entrypoint": "cli", "jobId": "5e55"}, Manner.BACKGROUND),
        ({"kind": "interactive", "entrypoint": "claude-vscode"}, Manner.UNKNOWN),
        ({"kind": None, "entrypoint": 7}, Manner.UNKNOWN),
    ],
)
def test_how_its_process_was_started_is_told_by_kind_and_entry_point(told: dict[str, Any], runs_as: Manner) -> None:
    refs = forest_of(*read(ClaudeSessions(), entry(**told))).delegation(0).refs
    assert manner(refs) is runs_as
    assert dict(refs).get(JOB) == told.get("jobId")


def test_a_busy_session_was_heard_of_when_its_status_changed_and_runs() -> None:
    forest = forest_of(*read(ClaudeSessions(), entry()))
    (handle,) = forest.roots()
    assert forest.state(handle) is State.RUNNING
    assert forest.delegation(handle).heard_at == START + 500


def test_an_idle_session_is_idle() -> None:
    forest = forest_of(*read(ClaudeSessions(), entry(status="idle")))
    assert forest.state(forest.roots()[0]) is State.IDLE


@pytest.mark.parametrize(("awaited", "phase"), [("permission", Phase.PERMISSION), ("your answer", Phase.ANSWER)])
def test_a_session_that_waits_for_a_person_leaves_it_to_its_transcript_to_say_at_what(
    awaited: str, phase: Phase
) -> None:
    told = read(ClaudeSessions(), entry(status="waiting", waitingFor=awaited))
    working = Heard("5e55-10", START, Origin("5e55-10.jsonl", 2, 0), "make", "Bash", phase=Phase.TOOL)
    for events in (told, [working, *told], [*told, working]):
        forest = forest_of(*events)
        found = forest.delegation(forest.roots()[0])
        assert (found.phase, found.tool, found.doing) == (
            phase,
            *(("Bash", "make") if working in events else (None,) * 2),
        )
        assert forest.for_people() == {0}


def test_a_file_that_was_taken_away_means_that_the_process_ended_but_not_how() -> None:
    dialect = ClaudeSessions()
    read(dialect, entry())
    assert list(dialect.vanished(PLACE, Millis(START + MINUTE))) == [
        Ended("5e55-10", Millis(START + MINUTE), PLACE, Outcome.UNKNOWN, Ending.GONE)
    ]
    assert list(dialect.vanished(PLACE, Millis(START + 2 * MINUTE))) == []


def test_a_session_that_goes_on_in_another_process_has_not_ended() -> None:
    first, second = ClaudeSessions(), ClaudeSessions()
    events = read(first, entry())
    events += first.vanished(PLACE, Millis(START + MINUTE))
    events += read(second, entry(pid=4712, startedAt=START + 2 * MINUTE, statusUpdatedAt=START + 2 * MINUTE))
    for told in (events, events[::-1]):
        forest = forest_of(*told, now=START + 2 * MINUTE + 1)
        assert forest.state(forest.roots()[0]) is State.RUNNING


@pytest.mark.parametrize("missing", ["pid", "sessionId"])
def test_a_file_without_its_names_is_a_deviation(missing: str) -> None:
    value = entry()
    del value[missing]
    (event,) = read(ClaudeSessions(), value)
    assert isinstance(event, Deviation)
    assert event.detail == missing


@pytest.mark.parametrize("odd", [None, -1, "soon", 10**30, [], True])
def test_odd_values_cost_only_themselves(odd: Any) -> None:
    events = read(ClaudeSessions(), entry(startedAt=odd, statusUpdatedAt=odd, updatedAt=odd, version=odd, name=odd))
    assert forest_of(*events).delegation(0).cwd == "/home/ada/lantern"


def test_it_is_known_by_its_shape_and_a_key_is_never_one() -> None:
    whole = json.dumps(entry()).encode()
    assert ClaudeSessions.sniff(Sample("/tmp/x.json", whole, True)) == 95
    assert ClaudeSessions.sniff(Sample("/tmp/4711.0a1b2c.key", whole, True)) == 0
    assert ClaudeSessions.sniff(Sample("/tmp/x.json", b'{"pid": 1, "sessionId": "a"}', True)) == 0
    assert ClaudeSessions.sniff(Sample("/tmp/x.json", b'{"name": "package", "version": "1"}', True)) == 0
    assert ClaudeSessions.sniff(Sample("/tmp/x.json", whole[:40], False)) == 0


def poll(path: Path) -> Forest:
    """What a live look at one file amounts to."""
    with observed(path, clock=WallClock()) as seen:
        seen.look()
        return seen.forest


def test_a_file_whose_process_was_killed_is_lost_and_one_whose_process_lives_is_not(tmp_path: Path) -> None:
    now = WallClock().now()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    path = tmp_path / "session.json"
    path.write_text(json.dumps(entry(pid=process.pid, startedAt=now, statusUpdatedAt=now)))
    killed = poll(path)
    assert killed.state(killed.roots()[0]) is State.LOST
    ticks = processes.start_ticks(os.getpid())
    path.write_text(json.dumps(entry(pid=os.getpid(), startedAt=now, statusUpdatedAt=now, procStart=str(ticks))))
    alive = poll(path)
    assert alive.state(alive.roots()[0]) is State.RUNNING


def test_a_file_that_goes_ends_its_session_even_if_its_process_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_watch, "LINGERS", 0.0)
    now, ticks = WallClock().now(), processes.start_ticks(os.getpid())
    path = tmp_path / "4711.json"
    path.write_text(json.dumps(entry(pid=os.getpid(), startedAt=now, statusUpdatedAt=now, procStart=str(ticks))))
    with observed(tmp_path, clock=WallClock()) as seen:
        seen.look()
        path.unlink()
        seen.look()
    forest = seen.forest
    (root,) = forest.roots()
    assert (forest.state(root), forest.reason(root)) == (State.UNKNOWN, "its process is gone")


def test_an_idle_session_whose_process_was_killed_rests_and_is_no_error(tmp_path: Path) -> None:
    now = WallClock().now()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    path = tmp_path / "session.json"
    path.write_text(json.dumps(entry(pid=process.pid, startedAt=now, statusUpdatedAt=now, status="idle")))
    forest = poll(path)
    (root,) = forest.roots()
    assert forest.state(root) is State.IDLE
    assert forest.reason(root).endswith("its process is gone")


def test_a_file_whose_number_another_process_got_is_lost(tmp_path: Path) -> None:
    now, ticks = WallClock().now(), processes.start_ticks(os.getpid())
    if ticks is None:
        pytest.skip("this system does not tell when a process started")
    path = tmp_path / "session.json"
    path.write_text(json.dumps(entry(pid=os.getpid(), startedAt=now, statusUpdatedAt=now, procStart=str(ticks - 7))))
    forest = poll(path)
    assert forest.state(forest.roots()[0]) is State.LOST


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
def test_a_real_process_file_is_one_busy_session() -> None:
    (path,) = Path(REAL_LOGS, "agents/claude_code/sessions_registry").glob("*.json")
    data = path.read_bytes()
    assert ClaudeSessions.sniff(Sample(str(path), data, True)) == 95
    events = list(ClaudeSessions().read(Line(Origin(str(path), 1, 0), data)))
    forest = forest_at(1_794_788_540_000, (event for event in events if not isinstance(event, Unreadable)))
    (handle,) = forest.roots()
    found = forest.delegation(handle)
    assert (found.pid, found.version, found.heard_at) == (16641, "2.1.325", 1_794_788_535_372)
    assert forest.state(handle) is State.RUNNING
    assert not [event for event in events if isinstance(event, Unreadable | Deviation)]
