"""Told to end, or with its streams elsewhere, the program gives back the terminal it took; its status says why."""

import os
import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.patience import until
from tests.terminal.conftest import program

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

SAMPLES = Path(__file__).parents[2] / "sample_logs"
HANG = f"{SAMPLES / '02_hang'} --at 2026-03-03T10:59:40Z"
TERM, HUP = signal.SIGTERM, signal.SIGHUP
LISTENS = 1 << (TERM - 1)
"""In the signals that a process catches."""
pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux tells which signals a process catches")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Path]:
    """Where the demo makes its folder; it takes everything with it."""
    stage = tmp_path / "stage"
    stage.mkdir()
    yield stage
    assert list(stage.iterdir()) == []


def begun(terminal: "Terminal", command: str, stage: Path, started: str = "") -> int:
    """Start the program, or what is started in its place; gives its process once it listens to signals."""
    terminal.shell(f"TMPDIR={stage} {started or program()} {command}")
    terminal.wait_until(lambda: any(map(listens, terminal.children()[:1])), "the program listens")
    return terminal.children()[0]


def opened(terminal: "Terminal", command: str, stage: Path, *words: str, started: str = "") -> int:
    """Start the program; gives its process once the screen shows the words."""
    process = begun(terminal, command, stage, started)
    terminal.wait_for(*(words or ("q quit",)))
    assert terminal.tells("alternate_on") == "1"
    return process


def listens(process: int) -> bool:
    try:
        caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    except OSError:
        return False
    return caught is not None and bool(int(caught[1], 16) & LISTENS)


def assert_given_back(terminal: "Terminal") -> None:
    """Screen, mouse, cursor and keys are the shell's again, and there is no word of how it came about."""
    shown = "alternate_on", "mouse_any_flag", "cursor_flag"
    terminal.wait_until(lambda: terminal.tells(*shown) == "0 0 1", "the terminal is given back")
    assert "Traceback" not in terminal.screen()
    terminal.shell("stty -a | grep -qw -e '-echo' -e '-icanon'")
    assert terminal.wait_for_the_end() == 1
    terminal.shell("true")
    assert terminal.wait_for_the_end() == 0


@pytest.mark.parametrize("how", [TERM, HUP], ids=lambda how: how.name)
@pytest.mark.parametrize("command", [HANG, f"replay {SAMPLES / '02_hang'}", "demo"], ids=["live", "replay", "demo"])
def test_told_to_end_it_gives_the_terminal_back(
    terminal: "Terminal", stage: Path, command: str, how: signal.Signals
) -> None:
    os.kill(opened(terminal, command, stage), how)
    assert terminal.wait_for_the_end() == 128 + how
    assert_given_back(terminal)


@pytest.mark.parametrize("command", [HANG, f"replay {SAMPLES / '02_hang'}", "demo"], ids=["live", "replay", "demo"])
def test_whom_nobody_tells_that_its_terminal_is_gone_ends_as_well(
    terminal: "Terminal", stage: Path, command: str
) -> None:
    terminal.shell("trap '' HUP")  # as below `nohup`
    process = opened(terminal, command, stage)
    terminal._tmux("kill-server")
    until(lambda: not listens(process), "it ends")


def test_told_again_and_again_it_ends_no_less_cleanly(terminal: "Terminal", stage: Path) -> None:
    process = opened(terminal, "demo", stage)
    for _ in range(5):
        os.kill(process, TERM)
    assert terminal.wait_for_the_end() == 128 + TERM
    assert_given_back(terminal)


@pytest.mark.parametrize(
    ("key", "words"), [("y", "recommendation"), ("C-p", "Search"), ("t", "acknowledge"), ("K", "Nothing can be done")]
)
def test_what_lies_over_the_monitor_is_not_in_the_way(terminal: "Terminal", stage: Path, key: str, words: str) -> None:
    process = opened(terminal, HANG, stage, "+12m")
    terminal.keys(key)
    terminal.wait_for(words)
    os.kill(process, TERM)
    assert terminal.wait_for_the_end() == 128 + TERM
    assert_given_back(terminal)


def test_it_may_be_told_as_soon_as_it_listens(terminal: "Terminal", stage: Path) -> None:
    os.kill(begun(terminal, "demo", stage), TERM)
    assert terminal.wait_for_the_end() == 128 + TERM
    assert_given_back(terminal)


def test_it_may_be_told_while_it_takes_the_screen(terminal: "Terminal", stage: Path) -> None:
    process = begun(terminal, "demo", stage)
    terminal.wait_until(lambda: terminal.tells("alternate_on") == "1", "it takes the screen")
    os.kill(process, TERM)
    assert terminal.wait_for_the_end() == 128 + TERM
    assert_given_back(terminal)


def test_a_big_log_that_loads_is_not_waited_for(terminal: "Terminal", stage: Path, tmp_path: Path) -> None:
    log = tmp_path / "big.jsonl"
    begin = (SAMPLES / "02_hang" / "session.jsonl").read_text().splitlines()
    beat = next(line for line in begin if '"heartbeat"' in line)
    log.write_text("\n".join([*begin, *[beat] * 300_000]) + "\n")
    process = opened(terminal, str(log), stage, "loading")
    os.kill(process, TERM)
    assert terminal.wait_for_the_end() == 128 + TERM
    assert_given_back(terminal)


def stopped(terminal: "Terminal", stage: Path, how: signal.Signals) -> int:
    process = opened(terminal, "demo", stage)
    if how is signal.SIGTSTP:
        terminal.keys("C-z")
    else:
        os.kill(process, how)
    terminal.wait_for("Stopped")
    return process


@pytest.mark.parametrize("how", [signal.SIGTSTP, signal.SIGSTOP], ids=lambda how: how.name)
def test_told_to_end_while_stopped_it_leaves_the_shell_alone(
    terminal: "Terminal", stage: Path, how: signal.Signals
) -> None:
    process = stopped(terminal, stage, how)
    os.kill(process, TERM)
    os.kill(process, signal.SIGCONT)
    terminal.wait_until(lambda: is_over(process), "it ends")
    assert_given_back(terminal)
    terminal.keys("Enter")  # a shell tells of it before its next prompt
    terminal.wait_for("Exit 143")


@pytest.mark.parametrize("how", [signal.SIGTSTP, signal.SIGSTOP], ids=lambda how: how.name)
def test_told_to_end_while_stopped_it_ends_when_it_is_brought_back(
    terminal: "Terminal", stage: Path, how: signal.Signals
) -> None:
    os.kill(stopped(terminal, stage, how), TERM)
    terminal.shell("fg")
    assert terminal.wait_for_the_end() == 128 + TERM
    assert_given_back(terminal)


def is_over(process: int) -> bool:
    """Ended, and the shell has not asked yet how."""
    try:
        return "State:\tZ" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


def test_a_terminal_that_is_closed_leaves_nothing_behind(terminal: "Terminal", stage: Path) -> None:
    process = opened(terminal, "demo", stage)
    terminal.close()
    until(lambda: is_over(process))


def test_a_program_that_cannot_end_is_ended(terminal: "Terminal", tmp_path: Path) -> None:
    """Whatever holds it up: here the first thing that is asked of it once it was told."""
    script = tmp_path / "stuck.py"
    script.write_text(
        "import sys, threading\n"
        "from delegtop.base import signals\n"
        "from delegtop.app.main import DelegtopApp\n"
        "from delegtop.cli import main\n"
        "signals.PATIENCE = 0.5\n"
        "DelegtopApp._leave = lambda app: threading.Event().wait()\n"
        f"sys.exit(main({shlex.split(HANG)!r}))\n"
    )
    terminal.shell(f"{program().removesuffix(' -m delegtop')} {script}")
    terminal.wait_for("+12m")
    os.kill(terminal.children()[0], TERM)
    assert terminal.wait_for_the_end() == 128 + TERM
    terminal.wait_until(lambda: terminal.tells("alternate_on") == "0", "the terminal is given back")


# Where the streams lead


@pytest.mark.parametrize("streams", ["2>{file}", "2>&-"])
def test_with_standard_error_elsewhere_the_picture_is_still_on_the_terminal(
    terminal: "Terminal", stage: Path, tmp_path: Path, streams: str
) -> None:
    file = tmp_path / "errors"
    opened(terminal, f"{HANG} {streams.format(file=file)}", stage, "+12m")
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0
    assert_given_back(terminal)
    assert not file.exists() or file.read_text() == ""


@pytest.mark.parametrize("command", [HANG, f"replay {SAMPLES / '02_hang'}", "demo"], ids=["live", "replay", "demo"])
def test_with_standard_input_elsewhere_the_keys_still_come_from_the_terminal(
    terminal: "Terminal", stage: Path, command: str
) -> None:
    opened(terminal, f"{command} </dev/null", stage)
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0
    assert_given_back(terminal)


def test_without_standard_input_it_says_what_is_missing(terminal: "Terminal", stage: Path) -> None:
    terminal.shell(f"TMPDIR={stage} {program()} demo <&-")
    assert terminal.wait_for_the_end() == 2
    assert "reads keys from standard input, and that is closed" in terminal.screen()
