"""tmux is given lists of words, and of what it says only numbers and ids are read."""

import os
import shlex
from pathlib import Path

import pytest

from delegtop.app import tmux_panes
from delegtop.app.tmux_panes import Pane, TmuxTrouble


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tmux that writes down what it was given, and answers what stands in a file."""
    given, answer = tmp_path / "given", tmp_path / "answer"
    answer.write_text("")
    program = tmp_path / "tmux"
    program.write_text(f'#!/bin/sh\nprintf "%s\\0" "$@" > {shlex.quote(str(given))}\ncat {shlex.quote(str(answer))}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def given(tmux: Path) -> list[str]:
    return (tmux / "given").read_text().split("\0")[:-1]


def test_lines_that_are_no_panes_are_left_out(tmux: Path) -> None:
    (tmux / "answer").write_text("12 %3 $0\n12 %3 $0 #(touch x)\nx %4 $1\n99 %7 $2\n\x1b]0;t\x07\n")
    assert tmux_panes.panes() == [Pane(12, "%3", "$0"), Pane(99, "%7", "$2")]


def test_the_pane_of_a_process_is_found_by_who_started_it() -> None:
    own, far = Pane(os.getppid(), "%1", "$0"), Pane(1 << 22, "%2", "$0")
    assert tmux_panes.holding(os.getpid(), [far, own]) == own
    assert tmux_panes.holding(os.getpid(), [far]) is None
    assert tmux_panes.holding(os.getpid(), [far, Pane(os.getpid(), "%3", "$0"), own]) == Pane(os.getpid(), "%3", "$0")


@pytest.mark.parametrize("command", ["claude --resume x", "a;", "cd '#(touch x)' && claude", "x;;", "-t %1", "a \\;"])
def test_a_command_reaches_its_window_as_one_word(tmux: Path, command: str) -> None:
    (tmux / "answer").write_text("%9\n")
    assert tmux_panes.open_window(command) == "%9"
    words = given(tmux)
    assert words[-2] == "delegtop"
    assert words[-1] == (f"{command[:-1]}\\;" if command.endswith(";") else command)
    assert ";" not in words


def test_why_tmux_did_not_do_it_is_told(tmux: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmux / "tmux").write_text("#!/bin/sh\necho no server running >&2\nexit 1\n")
    with pytest.raises(TmuxTrouble, match="no server running"):
        tmux_panes.panes()
    monkeypatch.setenv("PATH", str(tmux / "nowhere"))
    with pytest.raises(TmuxTrouble, match="not there"):
        tmux_panes.panes()
    with pytest.raises(TmuxTrouble):
        tmux_panes.open_window("a\0b")


def test_one_is_inside_only_in_a_pane() -> None:
    assert tmux_panes.is_inside({"TMUX": "/tmp/s,1,0", "TMUX_PANE": "%1"})
    assert not tmux_panes.is_inside({"TMUX": "", "TMUX_PANE": ""})
    assert not tmux_panes.is_inside({})
