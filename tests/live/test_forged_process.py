"""A log that names a process which is none of its program's: anybody who can write a log can write any number."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.telling import handle_of

from delegtop import act_log
from delegtop.act.ladder import whose
from delegtop.act.plan_sight import PlanSight
from delegtop.act.process_identity import identity
from delegtop.base.clock import WallClock
from delegtop.feed.live_feed import Feed
from delegtop.model.forest import Forest

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")
SESSION = "5e551011-0000-4000-8000-000000000666"


@pytest.fixture
def editor() -> Iterator["subprocess.Popen[bytes]"]:
    """A program of the user's that has nothing to do with any agent."""
    with subprocess.Popen(["sleep", "5000"], start_new_session=True) as process:
        yield process
        process.kill()


def registered(home: Path, victim: int) -> Path:
    """An entry of the live registry, right in everything but in what it names."""
    found, now = identity(victim), time.time_ns() // 1_000_000
    assert found is not None
    entry = {"pid": victim, "sessionId": SESSION, "cwd": str(home), "startedAt": now, "procStart": found.started}
    entry |= {"version": "2.1.325", "kind": "interactive", "entrypoint": "cli", "status": "busy", "updatedAt": now}
    path = home / ".claude" / "sessions" / f"{victim}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(entry), "utf-8")
    return path


def journal(home: Path, victim: int, id: str = SESSION, **more: str) -> Path:
    """A log of an orchestrator, whose processes are called anything."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    entry = {"schema_version": 1, "event": "register", "at": at, "session_id": id, "command": "implement"}
    entry |= {"caller": "user", "timeout": 7200, "delegation_depth": 0, "delegation_path": ["orchestrator"]}
    path = home / "run.jsonl"
    path.write_text(json.dumps(entry | {"pid": victim, "host": os.uname().nodename} | more) + "\n", "utf-8")
    return path


def stop(home: Path, log: Path, *more: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "delegtop", "stop", SESSION, str(log), "--json", "--timeout", "1s", *more]
    environ = os.environ | {"HOME": str(home)}
    done = subprocess.run(command, env=environ, cwd=home, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("how", [(), ("--rung", "session"), ("--rung", "process"), ("--kill", "claude")])
def test_a_process_that_does_not_run_the_program_of_the_log_is_never_signalled(
    tmp_path: Path, editor: "subprocess.Popen[bytes]", how: tuple[str, ...]
) -> None:
    code, told = stop(tmp_path, registered(tmp_path, editor.pid), "--act", *how)
    assert code == 1
    assert not any(rung["possible"] for rung in told["rungs"])
    assert told["rungs"][-1]["why_not"] == (
        f"its log names pid {editor.pid}, `sleep 5000`, and that is no process of Claude Code"
    )
    assert editor.poll() is None
    assert not act_log.place().exists()


def test_where_only_a_log_says_which_process_it_is_the_plan_says_so(
    tmp_path: Path, editor: "subprocess.Popen[bytes]"
) -> None:
    _, told = stop(tmp_path, journal(tmp_path, editor.pid))
    does = {rung["rung"]: rung["does"] for rung in told["rungs"]}
    assert "only its log says" in told["session"]
    assert "only its log says" in does["session"]
    assert "only its log says" in does["process"]
    assert "only its log says" in does["kill"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_log_of_another_user_names_none_of_our_processes(tmp_path: Path, editor: "subprocess.Popen[bytes]") -> None:
    log = journal(tmp_path, editor.pid)
    os.chown(log, 12345, -1)
    code, told = stop(tmp_path, log, "--act", "--rung", "process")
    assert code == 1
    assert "belongs to another user" in told["rungs"][-1]["why_not"]
    assert editor.poll() is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_log_of_another_user_that_calls_itself_the_kernel_names_none_of_our_processes(
    tmp_path: Path, editor: "subprocess.Popen[bytes]"
) -> None:
    honest = journal(tmp_path, editor.pid)
    forged = honest.rename(tmp_path / f"kernel:{editor.pid}")
    os.chown(forged, 12345, -1)
    own = json.loads(journal(tmp_path, editor.pid).read_text("utf-8"))
    own.pop("pid")
    honest.write_text(json.dumps(own) + "\n", "utf-8")
    code, told = stop(tmp_path, Path(forged.name), honest.name, "--act", "--rung", "process")
    assert code == 1, told
    assert "belongs to another user" in told["rungs"][-1]["why_not"]
    assert editor.poll() is None


@pytest.mark.parametrize("name", ["kernel:{}", "kernel:processes", "kernel:{}/run.jsonl"])
def test_a_file_is_never_taken_for_the_word_of_the_kernel(
    tmp_path: Path, editor: "subprocess.Popen[bytes]", name: str
) -> None:
    named = name.format(editor.pid)
    (tmp_path / named).parent.mkdir(exist_ok=True)
    journal(tmp_path, editor.pid).rename(tmp_path / named)
    command = [sys.executable, "-m", "delegtop", "tree", named.partition("/")[0], "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    [row] = json.loads(done.stdout)["delegations"]
    assert row["origin"] == {"source": f"./{named}", "line": 1}
    command = [sys.executable, "-m", "delegtop", "stop", SESSION, named.partition("/")[0], "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["refused"] is None, "it is a log like any other"


def test_a_log_that_is_gone_since_it_was_read_names_no_process(
    tmp_path: Path, editor: "subprocess.Popen[bytes]"
) -> None:
    log = journal(tmp_path, editor.pid)
    feed = Feed([str(log)], clock=WallClock())
    forest = Forest()
    forest.apply([event for batch in feed.poll() for event in batch.events])
    feed.close()
    forest.advance(WallClock().now())
    assert whose(forest, handle_of(forest, SESSION), PlanSight()).process is not None
    log.unlink()
    owner = whose(forest, handle_of(forest, SESSION), PlanSight())
    assert owner.process is None
    assert "is gone" in owner.why_not


@pytest.mark.parametrize("made", ["pipe", "given away"])
def test_an_act_log_that_is_no_file_of_our_own_is_not_written_and_nothing_is_done(
    tmp_path: Path, editor: "subprocess.Popen[bytes]", made: str
) -> None:
    path = act_log.place()
    path.parent.mkdir(parents=True)
    if made == "pipe":
        os.mkfifo(path)
    elif os.getuid() == 0:
        path.touch()
        os.chown(path, 12345, -1)
    else:
        pytest.skip("only root can give a file away")
    code, told = stop(tmp_path, journal(tmp_path, editor.pid), "--act", "--rung", "process")
    assert code == 1
    assert told["act"]["outcome"] == "refused"
    assert "cannot be written" in told["act"]["words"]
    assert editor.poll() is None


def test_a_recording_read_beside_a_log_cannot_say_which_process_its_delegation_is(
    tmp_path: Path, editor: "subprocess.Popen[bytes]"
) -> None:
    log = journal(tmp_path, editor.pid)
    command = [sys.executable, "-m", "delegtop", "record", log.name, "--once", "-o", "forged.delegtop"]
    subprocess.run(command, env=os.environ | {"HOME": str(tmp_path)}, cwd=tmp_path, check=True, capture_output=True)
    honest = json.loads(log.read_text("utf-8"))
    honest.pop("pid")
    log.write_text(json.dumps(honest) + "\n", "utf-8")
    code, told = stop(tmp_path, tmp_path, "--act", "--rung", "process")
    assert code == 1
    assert "forged.delegtop is a recording" in told["refused"]
    assert editor.poll() is None
    assert not act_log.place().exists()


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_nothing_that_a_log_names_moves_the_terminal_or_shows_a_secret(
    tmp_path: Path, editor: "subprocess.Popen[bytes]", form: list[str]
) -> None:
    secret = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    log = journal(tmp_path, editor.pid, "sess_1 \x1b[2J\x9b31m\u202e\n--act", subagent=f"a {secret}")
    command = [sys.executable, "-m", "delegtop", "stop", "sess_1", str(log), *form]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert not {"\x1b", "\x9b", "\u202e"}.intersection(told)
    assert "\n--act" not in told
    assert secret[:12] not in told
