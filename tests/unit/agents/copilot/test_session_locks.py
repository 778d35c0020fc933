"""The locks of Copilot CLI: which process has a session open, and that it is gone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from delegtop.agents.copilot.session_locks import CopilotLocks
from delegtop.base.clock import Millis, WallClock, iso
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.dialects import Sample, load, names, recognise
from delegtop.model.events import LOCALHOST, Ended, Outcome, Resumed, Started
from delegtop.sources.records import Line

SESSION = "6f1d2c7a-3b58-4e90-a1c4-7d20e9b5f318"
LOCK = f"/h/.copilot/session-state/{SESSION}/inuse.4711.lock"
AT = Millis(1_773_568_800_000)


def test_a_lock_names_the_session_and_its_process() -> None:
    started, resumed = CopilotLocks().read(Line(Origin(LOCK, 1, 0), b"", AT))
    assert isinstance(started, Started)
    assert (started.id, started.pid, started.host, started.at, started.listed) == (SESSION, 4711, LOCALHOST, AT, True)
    assert resumed == Resumed(SESSION, AT, Origin(LOCK, 1, 0))


def test_a_lock_that_is_taken_away_ends_the_process_and_says_nothing_of_the_outcome() -> None:
    (ended,) = CopilotLocks().vanished(Origin(LOCK, 1, 0), AT)
    assert isinstance(ended, Ended)
    assert (ended.id, ended.outcome) == (SESSION, Outcome.UNKNOWN)


@pytest.mark.parametrize("content", [b"", b"4711", b'{"pid": 4711}\n'])
def test_a_lock_is_told_by_its_name_whatever_is_in_it(content: bytes) -> None:
    assert recognise(Sample(LOCK, content, True), map(load, names())) is CopilotLocks


@pytest.mark.parametrize("name", ["inuse.lock", "inuse.0.lock", "inuse.x.lock", "inuse.1.lock.bak", "yarn.lock"])
def test_other_locks_are_left_alone(name: str) -> None:
    assert CopilotLocks.sniff(Sample(f"/h/{SESSION}/{name}", b"", True)) == 0


def session(home: Path, pid: int) -> None:
    folder = home / ".copilot" / "session-state" / SESSION
    folder.mkdir(parents=True)
    now = iso(WallClock().now())
    data = {"sessionId": SESSION, "copilotVersion": "1.0.102", "startTime": now, "context": {"cwd": "/w"}}
    lines = [{"type": "session.start", "data": data}, {"type": "user.message", "data": {"content": "Mend it"}}]
    told = [{**line, "id": f"e{n}", "timestamp": now} for n, line in enumerate(lines)]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))
    (folder / f"inuse.{pid}.lock").touch()


def shown(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int]]:
    main(["tree", "--json"])
    return [(row["state"], row["pid"]) for row in json.loads(capsys.readouterr().out)["delegations"]]


def test_a_session_whose_process_lives_is_found_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    session(tmp_path, os.getpid())
    assert shown(capsys) == [("running", os.getpid())]


def test_a_session_whose_process_was_killed_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    session(tmp_path, gone.pid)
    assert shown(capsys) == [("lost", gone.pid)]
