"""The command that goes to the pane of a session does so, in a real tmux and from outside of it."""

import shlex
from pathlib import Path

import pytest
from tests.telling import forest_at, handle_of, started
from tests.terminal.conftest import Terminal

from delegtop.diagnosis.session_commands import pane_command
from delegtop.diagnosis.session_process import session_process
from delegtop.model.events import LOCALHOST
from delegtop.model.session_manner import KERNEL, MANNER, PANE, SEEN


def command(pane: str) -> str:
    refs = ((SEEN, KERNEL), (MANNER, "terminal"), (PANE, pane))
    forest = forest_at(started().at or 0, [started(product="codex", pid=4711, host=LOCALHOST, refs=refs)])
    at = session_process(forest, handle_of(forest, "a"))
    assert at is not None
    found = pane_command(at)
    assert found is not None
    return found


@pytest.mark.parametrize("inside", [True, False])
def test_it_shows_the_pane(terminal: Terminal, tmp_path: Path, inside: bool) -> None:
    file = tmp_path / "pane"
    session = f"echo $TMUX_PANE > {file}; echo the session is $((40 + 2)); exec cat"
    start = "unset TMUX; tmux -L default -f /dev/null -u new-session"
    terminal.shell(f"{start} -d 'bash --norc --noprofile'; tmux new-window -d {shlex.quote(session)}")
    try:
        terminal.wait_until(lambda: file.exists() and file.read_text().strip() != "", "its pane")
        if inside:
            terminal.shell("clear; tmux attach")
            terminal.wait_for("0:bash")  # the line below a screen of tmux
            terminal.wait_until_still()
        terminal.type(command(file.read_text().strip()))
        terminal.keys("Enter")
        terminal.wait_for("the session is 42")
    finally:
        terminal.close_inner("default")
