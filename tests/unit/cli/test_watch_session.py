"""`delegtop watch --for SESSION --exec COMMAND`: one session and all below it, and a command for what happens there."""

import json
import signal
from pathlib import Path

import pytest
from tests import stand_ins
from tests.patience import PATIENCE, until
from tests.stand_ins import CLAUDE_ID, claude, claude_entry
from tests.unit.cli.test_watch import returned, running, write

from delegtop.base.clock import MINUTE, Millis, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.jsonl").write_text("")


def family() -> None:
    """Two trees: one with a child below a child, and another."""
    write("register", "mine", subagent="lead")
    write("register", "child", subagent="planner", parent_session_id="sess_mine")
    write("register", "leaf", subagent="tester", parent_session_id="sess_child")
    write("register", "other", subagent="stranger")


def late(session: str) -> None:
    """One that has been past its deadline for long."""
    begun = iso(Millis(WallClock().now() - 20 * MINUTE))
    write("register", session, at=begun, subagent="late", timeout=5)


def script(tmp_path: Path) -> Path:
    """Writes down what it is told."""
    tell = tmp_path / "tell.sh"
    tell.write_text('#!/bin/sh\necho "$DELEGTOP_EVENT $DELEGTOP_ID" >> told.txt\ncat >> told.json\n')
    tell.chmod(0o755)
    return tell


def test_only_that_session_and_what_is_below_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    family()
    assert main(["watch", "run.jsonl", "--for", "sess_m", "--json", "--timeout", "0.2"]) == Exit.OK
    told = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert set(told) == {"sess_mine", "sess_child", "sess_leaf"}


def test_only_that_counts_for_the_condition(capsys: pytest.CaptureFixture[str]) -> None:
    family()
    write("register", "stuck", subagent="late", timeout=1, parent_session_id="sess_child")
    assert main(["watch", "run.jsonl", "--for", "sess_other", "--exit-when", "problem", "--timeout", "0.2"]) == 124
    assert main(["watch", "run.jsonl", "--for", "sess_mine", "--exit-when", "stuck-or-done", "--timeout", "60"]) == 3
    assert "delegtop: late sess_stuck: It is " in capsys.readouterr().err


def test_what_it_stopped_for_is_masked(capsys: pytest.CaptureFixture[str]) -> None:
    late("password=hunter2hunter2")
    assert main(["watch", "run.jsonl", "--exit-when", "problem"]) == Exit.STUCK
    assert "hunter2" not in capsys.readouterr().err


def test_several_that_may_be_meant_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    family()
    assert main(["watch", "run.jsonl", "--for", "sess_"]) == Exit.USAGE
    assert "sess_ may mean several: " in capsys.readouterr().err


def test_the_command_is_run_once_for_a_problem_and_once_when_it_is_over(tmp_path: Path) -> None:
    family()
    with running("watch", "run.jsonl", "--for", "sess_mine", "--exec", str(script(tmp_path))) as process:
        assert process.stdout is not None
        assert " present " in process.stdout.readline()
        write("register", "slow", subagent="late", timeout=1, parent_session_id="sess_child")
        write("register", "strange", subagent="late", timeout=1, parent_session_id="sess_other")
        until(lambda: Path("told.txt").exists())
        for session in ("slow", "strange", "leaf", "child", "mine", "other"):
            returned(session, "completed")
        until(lambda: "resolved" in Path("told.txt").read_text() and '"resolved"' in Path("told.json").read_text())
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == Exit.INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read() == ""
    lines = Path("told.txt").read_text().splitlines()
    assert lines[-1] == "resolved sess_slow"
    assert lines.count("resolved sess_slow") == 1
    assert all("sess_slow" in line for line in lines)
    facts = [json.loads(line) for line in Path("told.json").read_text().splitlines()]
    assert [fact["event"] for fact in facts] == [line.split()[0] for line in lines]
    assert facts[-1]["session"] == "sess_mine"


def test_what_is_so_already_is_told_to_whoever_asks_for_one_session(tmp_path: Path) -> None:
    late("stuck")
    with running("watch", "run.jsonl", "--for", "sess_stuck", "--exec", str(script(tmp_path))):
        until(lambda: Path("told.txt").exists() and "sess_stuck" in Path("told.txt").read_text())


def test_one_that_is_not_there_yet_is_waited_for() -> None:
    with running("watch", "run.jsonl", "--for", "sess_late", "--exit-when", "stuck-or-done") as process:
        assert process.stderr is not None
        assert process.stderr.readline() == (
            "delegtop: --for sess_late: no delegation is known by that id yet; it is waited for\n"
        )
        write("register", "other", subagent="stranger")
        write("register", "late", subagent="planner")
        returned("late", "completed")
        assert process.wait(PATIENCE) == Exit.OK


def test_the_session_that_it_runs_in_is_known_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "0badcafe-9c10-4d23-b53b-5bcf255777e9"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", CLAUDE_ID)
    with stand_ins.running("claude", folder=tmp_path) as one, stand_ins.running("claude", folder=tmp_path) as two:
        for session, process in ((CLAUDE_ID, one), (other, two)):
            claude(Path.home(), tmp_path, id=session)
            claude_entry(Path.home(), tmp_path, process.pid, session)
        assert main(["watch", "--for", "-", "--json", "--timeout", "0.2"]) == Exit.OK
    told = {json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()}
    assert told == {CLAUDE_ID}


def test_where_nobody_can_tell_which_it_is_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    write("register", "one", subagent="planner")
    main(["watch", "run.jsonl", "--for", "-", "--timeout", "0.2"])
    assert "--for -: none of the programs above this one is known to run a session" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program", "--exec: the command of --exec no-such-program is not found"),
        ("say 'me", "argument --exec: it is no command: No closing quotation"),
        ("", "--exec: there is no command of --exec"),
    ],
)
def test_a_command_that_cannot_be_run_is_one_sentence(
    command: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "run.jsonl", "--exec", command]) == Exit.USAGE
    assert capsys.readouterr().err.startswith(f"delegtop: {message}")


def test_no_shell_sees_the_command(tmp_path: Path) -> None:
    late("stuck")
    echo = tmp_path / "args.sh"
    echo.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > args.txt\n')
    echo.chmod(0o755)
    with running("watch", "run.jsonl", "--for", "sess_stuck", "--exec", f"{echo} '$(touch pwned)' ';' ok"):
        until(lambda: Path("args.txt").exists() and "ok" in Path("args.txt").read_text())
    assert Path("args.txt").read_text().splitlines() == ["$(touch pwned)", ";", "ok"]
    assert not Path("pwned").exists()
