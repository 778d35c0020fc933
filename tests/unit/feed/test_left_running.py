"""What a session left running is told once it is gone: only what was seen to be its own, and with what stops it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests import stand_ins
from tests.patience import until

import delegtop
from delegtop.base.clock import WallClock
from delegtop.diagnosis import recovery
from delegtop.feed import left_running, process_watch
from delegtop.kernel import outliving, proc_files, process_table
from delegtop.model.delegation import Note
from delegtop.model.notes import LEFT_RUNNING
from delegtop.model.states import State
from delegtop.observation.observation import Observation

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show its processes")


class Session:
    """A process that is called as the agent program, with a tool below it."""

    def __init__(self, home: Path, project: Path, command: str, *, named: bool) -> None:
        self.log = stand_ins.claude(home, project)
        if named:
            self._call(project, command)
        starts = f"{stand_ins.SHELL} -c '{command}; :' >/dev/null 2>&1 & echo $!; read -r line"
        self._agent = subprocess.Popen(
            ["claude", "-c", starts],
            executable=stand_ins.SHELL,
            cwd=project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._agent.pid
        assert self._agent.stdout
        self.tools = [int(self._agent.stdout.readline())]
        until(lambda: process_table.ProcessTable().children.get(self.tools[0]), "the tool")
        self.tools += process_table.ProcessTable().children[self.tools[0]]
        self.entry = stand_ins.claude_entry(home, project, self.pid)

    def _call(self, project: Path, command: str) -> None:
        use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}
        message = {"role": "assistant", "model": "m", "stop_reason": "tool_use", "usage": {}, "content": [use]}
        common = {"parentUuid": None, "isSidechain": False, "cwd": str(project), "sessionId": stand_ins.CLAUDE_ID}
        about = {"type": "assistant", "uuid": "u2", "timestamp": stand_ins.moment(), "version": "2.1.325"}
        stand_ins.write(self.log, {**common, **about, "message": message})

    def die(self) -> None:
        self._agent.kill()
        self._agent.wait()
        for pipe in (self._agent.stdin, self._agent.stdout):
            assert pipe
            pipe.close()

    def end_tools(self) -> None:
        for pid in self.tools:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for module, name in (
        (left_running, "AT_FIRST"),
        (left_running, "EVERY"),
        (outliving, "LINGERS"),
        (process_watch, "EVERY"),
    ):
        monkeypatch.setattr(module, name, 0.0)
    return tmp_path / "home"


@pytest.fixture
def session(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Session]:
    """Its tool is named by its log, unless a test wants otherwise."""
    project = tmp_path / "proj"
    project.mkdir()
    made = Session(home, project, f"tail -f {tmp_path}/nothing /dev/null", named=getattr(request, "param", True))
    yield made
    made.end_tools()
    made.die()


unnamed = pytest.mark.parametrize("session", [False], indirect=True, ids=["a tool that no log names"])


def left(seen: Observation) -> list[Note]:
    seen.look()
    facts = seen.forest.delegation(0)
    return [note for note in facts.notes if note.kind == LEFT_RUNNING]


@unnamed
def test_what_was_seen_below_a_session_and_outlives_it_is_told_until_it_ends(home: Path, session: Session) -> None:
    with delegtop.open(home / ".claude") as seen:
        assert left(seen) == []
        session.die()
        until(lambda: len(left(seen)) == len(session.tools), "what it left")
        assert seen.forest.state(0) is State.LOST
        notes = {note.origin.pid: note.text for note in left(seen)}
        assert set(notes) == set(session.tools)
        shell, tail = session.tools
        assert notes[tail].startswith("`tail -f ")
        assert f"/dev/null` (pid {tail}), " in notes[tail]
        assert notes[tail].endswith("B")
        (issue,) = seen.problems()
        assert f"kill {' '.join(map(str, sorted(session.tools)))}" in [
            step.command for step in seen.assessments.todo(0, ())
        ], issue
        saved = [each for each in recovery.salvage(seen.forest.delegation(0)) if each.what == "still running"]
        assert [each.text for each in saved if f"pid {tail}" in each.text] == [notes[tail]]
        assert all(note.origin.source == f"kernel:{note.origin.pid}" for note in left(seen))
        told = [event for _, events in seen.feed.history(seen.forest.delegation(0)) for event in events]
        assert LEFT_RUNNING in {getattr(event, "kind", None) for event in told}
        os.kill(tail, signal.SIGKILL)
        os.kill(shell, signal.SIGKILL)
        until(lambda: left(seen) == [], "their end")


def test_whoever_comes_later_knows_the_process_of_the_call_that_was_left_open(home: Path, session: Session) -> None:
    told = [sys.executable, "-m", "delegtop", "sources", str(home / ".claude")]
    before = subprocess.run(told, capture_output=True, text=True, check=True).stdout
    assert "Still running" not in before
    session.die()
    listed = subprocess.run(told, capture_output=True, text=True, check=True).stdout
    shell, tail = session.tools
    assert f"; `kill {shell}` stops it." in listed
    assert f"(pid {tail}), " in listed
    whole = json.loads(subprocess.run([*told, "--json"], capture_output=True, text=True, check=True).stdout)
    assert {each["pid"] for each in whole["left_running"]} == set(session.tools)
    assert {each["session_id"] for each in whole["left_running"]} == {stand_ins.CLAUDE_ID}
    at = [*told, "--json", "--at", stand_ins.moment()]
    past = json.loads(subprocess.run(at, capture_output=True, text=True, check=True).stdout)
    assert past["left_running"] == []


@unnamed
def test_what_nobody_saw_below_the_session_is_not_said_to_be_its_own(home: Path, session: Session) -> None:
    session.die()
    with delegtop.open(home / ".claude") as seen:
        until(lambda: left(seen) == [] and seen.forest.state(0) is State.LOST, "its loss")
        assert left(seen) == []


@unnamed
def test_a_recording_carries_what_was_left_and_nobody_asks_the_present(
    home: Path, session: Session, tmp_path: Path
) -> None:
    from delegtop.feed.recorder import Recorder
    from delegtop.observation.observation import opened
    from delegtop.observation.source_discovery import places
    from delegtop.settings import Settings

    recorder, tape = Recorder(WallClock(), "a test"), bytearray()
    tape += recorder.header()
    found = places([str(home / ".claude")], Settings())
    with opened(found, Settings(), witness=lambda line, told: tape.extend(recorder.record(line, told))) as seen:
        seen.catch_up()
        assert left(seen) == []
        session.die()
        until(lambda: len(left(seen)) == len(session.tools), "what it left")
        said = {note.text for note in left(seen)}
    session.end_tools()
    kept = tmp_path / "kept.delegtop"
    kept.write_bytes(tape)
    with delegtop.open(kept, at=seen.forest.shown_at) as again:
        (facts,) = (again.forest.delegation(each) for each in again.forest.walk())
        assert {note.text for note in facts.notes if note.kind == LEFT_RUNNING} == said


def test_a_session_below_another_is_none_of_its_tools(home: Path, tmp_path: Path, session: Session) -> None:
    del home, tmp_path
    watched = outliving.Outliving()
    watched.follow("above", session.pid)
    watched.follow("below", session.tools[0])
    assert watched.look(0.0) == []
    session.die()
    assert proc_files.data(session.tools[0], "stat")
    assert watched.look(1.0) == []
    os.kill(session.tools[0], signal.SIGKILL)
    until(lambda: [each.session for each in watched.look(2.0)] == ["below"], "what the inner one left")
