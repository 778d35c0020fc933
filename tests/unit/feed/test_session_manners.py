"""How the process of a session was started: told by its command line and its terminal, as real processes show them."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import stand_ins
from tests.patience import until
from tests.stand_ins import running

import delegtop
from delegtop.base.clock import WallClock, iso
from delegtop.base.product import Product
from delegtop.diagnosis.session_process import Process, SessionProcess, session_process
from delegtop.dialects.products import product
from delegtop.feed import process_search, process_watch, session_manners
from delegtop.feed.session_manners import manner
from delegtop.kernel import process_table
from delegtop.kernel.program_process import ProgramProcess, program
from delegtop.model.session_manner import LISTENS, MANNER, PANE, TTY, Manner
from delegtop.observation.observation import Observation

pytestmark = pytest.mark.skipif(process_table.moment(0) is None, reason="this system does not show its processes")


def known(name: str) -> Product:
    found = product(name)
    assert found is not None
    return found


def started(pid: int, name: str) -> ProgramProcess:
    """That process, once it has its own command line: right after its start it has none."""
    until(lambda: (found := program(pid)) is not None and found.words[0] == name, "the stand-in")
    process = program(pid)
    assert process is not None
    return process


@pytest.fixture
def in_terminal(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Starts a stand-in in a terminal of its own."""
    running_ones: list[subprocess.Popen[bytes]] = []
    ends: list[int] = []

    def start(*words: str) -> int:
        ours, its = pty.openpty()
        ends.extend((ours, its))
        running_ones.append(
            subprocess.Popen(
                [words[0], "-c", "read -r line", *words[1:]],
                executable=stand_ins.SHELL,
                cwd=tmp_path,
                stdin=its,
                stdout=its,
                stderr=its,
            )
        )
        return running_ones[-1].pid

    yield start
    for process in running_ones:
        process.kill()
        process.wait()
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(
    ("name", "words", "runs_as"),
    [
        ("claude-code", ("claude",), Manner.TERMINAL),
        ("claude-code", ("claude", "--resume", "7f3c"), Manner.TERMINAL),
        ("claude-code", ("claude", "-p", "look"), Manner.HEADLESS),
        ("gemini", ("gemini", "--prompt=look"), Manner.HEADLESS),
        ("codex", ("codex", "-m", "x", "exec", "look"), Manner.HEADLESS),
        ("codex", ("codex", "resume", "019d"), Manner.TERMINAL),
        ("codex", ("codex", "app-server", "--listen", "x"), Manner.SERVER),
        ("opencode", ("opencode", "run", "look"), Manner.HEADLESS),
        ("opencode", ("opencode",), Manner.TERMINAL),
        ("opencode", ("opencode", "serve"), Manner.SERVER),
    ],
)
def test_in_a_terminal_the_command_line_tells(
    in_terminal: Callable[..., int], name: str, words: tuple[str, ...], runs_as: Manner
) -> None:
    assert manner(started(in_terminal(*words), words[0]), known(name)) is runs_as


def test_without_a_terminal_there_is_nothing_to_type_into(tmp_path: Path) -> None:
    with running("claude", folder=tmp_path) as it:
        assert manner(started(it.pid, "claude"), known("claude-code")) is Manner.HEADLESS


def test_nobody_can_say_it_of_a_process_that_is_not_ours_to_look_at(
    in_terminal: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = started(in_terminal("claude"), "claude")
    monkeypatch.setattr("delegtop.kernel.proc_files.is_open", lambda _pid: False)
    assert manner(process, known("claude-code")) is Manner.UNKNOWN


# -- where it is reached -----------------------------------------------------------------------------------------------


def test_the_terminal_is_told_and_the_pane_of_tmux_that_it_was_started_in(tmp_path: Path) -> None:
    with running("claude", folder=tmp_path, terminal=True, pane="%7") as it:
        refs = dict(session_manners.seen(started(it.pid, "claude"), known("claude-code")))
    assert refs[TTY].startswith("pts/")
    assert refs[PANE] == "%7"


@pytest.mark.parametrize("pane", ["%7; reboot", "seven", ""])
def test_what_is_no_pane_is_not_told(tmp_path: Path, pane: str) -> None:
    with running("claude", folder=tmp_path, terminal=True, pane=pane) as it:
        assert PANE not in dict(session_manners.seen(started(it.pid, "claude"), known("claude-code")))


LISTENING = """
import socket, sys
own = open(sys.argv[2], "w")  # a server without a database might be that of another test's
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
input()
"""


@pytest.mark.parametrize(("program", "told"), [("opencode", True), ("codex", False)])
def test_where_a_server_listens_is_told_if_it_can_be_asked_to_abort_a_session(
    program: str, told: bool, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [program, "-c", LISTENING, "serve", str(tmp_path / f"{program}.db")],
        executable=sys.executable,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        refs = dict(session_manners.seen(started(process.pid, program), known(program)))
        process.kill()
    assert refs[MANNER] == Manner.SERVER
    assert refs.get(LISTENS) == (f"127.0.0.1:{port}" if told else None)


# -- as it enters --------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(process_watch, "EVERY", 0.0)
    monkeypatch.setattr(process_search, "EVERY", 0.0)
    monkeypatch.setattr(process_search, "SELDOM", 0.0)
    monkeypatch.setattr(process_search, "hidden", lambda _log: "")  # wherever these tests run
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def at(seen: Observation) -> SessionProcess:
    seen.look()
    told = session_process(seen.forest, 0)
    assert told is not None
    return told


def test_the_process_that_a_log_names_is_seen_and_how_it_was_started_is_told(home: Path, tmp_path: Path) -> None:
    with running("copilot", "-p", folder=tmp_path) as it:
        started(it.pid, "copilot")
        log = stand_ins.copilot(home, tmp_path)
        (log.parent / f"inuse.{it.pid}.lock").write_text(str(it.pid))
        with delegtop.open(log.parent) as seen:
            until(lambda: at(seen).is_there, "the process")
            assert (at(seen).pid, at(seen).runs_as) == (it.pid, Manner.HEADLESS)
            assert at(seen).start_ticks == process_table.row_of(it.pid).started  # type: ignore[union-attr] # it is there
            it.die()
            until(lambda: at(seen).is_gone, "the end")


def test_the_process_that_is_found_is_seen_and_how_it_was_started_is_told(home: Path, tmp_path: Path) -> None:
    log = stand_ins.codex(home, tmp_path)
    with running("codex", "exec", folder=tmp_path, holds=[log]) as it, delegtop.open(log) as seen:
        until(lambda: at(seen).is_there, "the process")
        assert (at(seen).pid, at(seen).runs_as) == (it.pid, Manner.HEADLESS)


def test_of_a_moment_in_the_past_nothing_is_asked_now(home: Path, tmp_path: Path) -> None:
    log = stand_ins.codex(home, tmp_path)
    with running("codex", "exec", folder=tmp_path, holds=[log]):
        with delegtop.open(log) as seen:
            until(lambda: at(seen).is_there, "the process")
        with delegtop.open(log, at=iso(WallClock().now())) as then:
            told = session_process(then.forest, 0)
            assert told is not None
            assert (told.process, told.runs_as) == (Process.UNSEEN, Manner.UNKNOWN)
