"""A program that died: whoever watched, whoever waited and whoever looks afterwards say the same of it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import stand_ins

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.kernel import process_table

pytestmark = pytest.mark.skipif(process_table.moment(0) is None, reason="this system does not show its processes")

CASES = [
    (stand_ins.claude, "claude", stand_ins.CLAUDE_ID, signal.SIGTERM),
    (stand_ins.codex, "codex", stand_ins.CODEX_ID, signal.SIGKILL),
    (stand_ins.opencode, "opencode", stand_ins.OPENCODE_ID, signal.SIGINT),
    (stand_ins.qwen, "qwen", stand_ins.QWEN_ID, signal.SIGHUP),
]
each_program = pytest.mark.parametrize(("write", "name", "id", "by"), CASES, ids=[name for _, name, _, _ in CASES])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return tmp_path / "home"


@contextmanager
def session(write: Callable[..., Path], name: str, home: Path, project: Path) -> Iterator[stand_ins.StandIn]:
    """A session at work, with its process."""
    project.mkdir(exist_ok=True)
    holds = [write(home, project)] if write in (stand_ins.codex, stand_ins.opencode) else []
    with stand_ins.running(name, folder=project, holds=holds) as process:
        if not holds:
            write(home, project)
        if write is stand_ins.claude:
            stand_ins.claude_entry(home, project, process.pid)
        yield process


def kill(process: stand_ins.StandIn, by: signal.Signals, home: Path) -> None:
    """As a program goes: the entry in the registry is taken away by one that is asked to end."""
    if by is not signal.SIGKILL:
        (home / ".claude/sessions" / f"{process.pid}.json").unlink(missing_ok=True)
    process.die(by)


@contextmanager
def command(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    words: Sequence[str] = [sys.executable, "-m", "delegtop", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=os.environ) as process:
        try:
            yield process
        finally:
            process.kill()


def tree(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    main(["tree", "--json"])
    return [(each["id"], each["state"]) for each in json.loads(capsys.readouterr().out)["delegations"]]


@each_program
def test_watch_and_wait_and_whoever_looks_afterwards_agree(
    write: Callable[..., Path],
    name: str,
    id: str,
    by: signal.Signals,
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with session(write, name, home, tmp_path / "proj") as process:
        assert tree(capsys) == [(id, "running")]
        with command("watch", "--exit-when", "problem") as watch, command("wait", id) as wait:
            assert watch.stdout is not None
            assert " running " in watch.stdout.readline()
            kill(process, by, home)
            told = watch.communicate()[0]
            assert "lost" in told
            assert (watch.returncode, wait.wait()) == (Exit.STUCK, Exit.STUCK)
        assert tree(capsys) == [(id, "lost")]
        assert main(["wait", id, "--timeout", "60"]) == Exit.STUCK
