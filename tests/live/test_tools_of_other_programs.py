"""A tool that hangs is named below every program whose process is found, however that program starts it."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import stand_ins
from tests.patience import until
from tests.quick_looks import look_quickly

import delegtop
from delegtop.diagnosis.verdicts import Certainty

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")

HANGS = "cat queue"


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    look_quickly(monkeypatch)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "proj"
    folder.mkdir()
    os.mkfifo(folder / "queue")
    return folder


@contextmanager
def program(name: str, project: Path, log: Path) -> Iterator[int]:
    """A process of that name with its log open, whose child is the tool; both end with their standard input."""
    below = f"{HANGS} & read -r line; kill $!"
    with log.open("r+b") as held:
        process = subprocess.Popen(
            [name, "-c", below],
            executable=stand_ins.SHELL,
            cwd=project,
            env={**os.environ, "PWD": str(project)},
            stdin=subprocess.PIPE,
            pass_fds=[held.fileno()],
        )
    assert process.stdin
    try:
        yield process.pid
    finally:
        process.stdin.close()
        process.wait()


def codex(home: Path, project: Path) -> Path:
    log = stand_ins.codex(home, project)
    call = {"type": "function_call", "name": "exec_command", "call_id": "call_1", "id": "fc_1"}
    payload = {**call, "arguments": json.dumps({"cmd": HANGS})}
    return stand_ins.write(log, {"timestamp": stand_ins.moment(), "type": "response_item", "payload": payload})


def opencode(home: Path, project: Path) -> Path:
    place, at = stand_ins.opencode(home, project), stand_ins.millis()
    state = {"status": "running", "input": {"command": HANGS}, "time": {"start": at}}
    part = {"type": "tool", "tool": "bash", "callID": "call_1", "state": state}
    with sqlite3.connect(place) as database:
        id = stand_ins.OPENCODE_ID
        row = (f"prt_1{id[4:]}", f"msg_2{id[4:]}", id, at, at, json.dumps(part))
        database.execute("insert into part values (?,?,?,?,?,?)", row)
    database.close()
    return place


@pytest.mark.parametrize(
    ("write", "name"),
    [(codex, "/opt/@openai/codex/vendor/codex"), (opencode, "opencode")],
    ids=["codex", "opencode"],
)
def test_a_tool_that_hangs_is_named(write: Callable[[Path, Path], Path], name: str, project: Path) -> None:
    log = write(project.parent / "home", project)
    with program(name, project, log), delegtop.open() as seen:

        def is_named() -> bool:
            seen.wait(0.1)
            seen.look()
            return any(each.certainty is Certainty.CERTAIN and "cat (pid" in each.sentence for each in seen.problems())

        until(is_named, f"that the tool hangs: {[seen.issue(each).sentence for each in seen.forest.walk()]}")
        [issue] = seen.problems()
        assert "FIFO queue" in issue.sentence
