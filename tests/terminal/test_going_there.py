"""From a row to its session, to its words and to its log, in a real tmux with real processes."""

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import stand_ins
from tests.patience import until
from tests.terminal.conftest import program

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="only there a session is known to be alive")
_CLAUDE = "exec -a claude /bin/bash -c 'read -r line'"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    return home


def environ(home: Path, **more: object) -> str:
    places = {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "XDG_STATE_HOME": home / "state",
        "XDG_CONFIG_HOME": home / "config",
        **more,
    }
    return "env " + " ".join(f"{name}={shlex.quote(str(value))}" for name, value in places.items())


def show(terminal: "Terminal", home: Path, *, words: str = "claude", **more: object) -> None:
    """The dashboard, with the session under the cursor."""
    terminal.delegtop(home / ".claude/projects", "--all", environ=environ(home, **more))
    terminal.wait_for(words, "J go to session")


class Inner:
    """A tmux within the terminal: with somebody who looks at it, as an operator does."""

    def __init__(self, terminal: "Terminal") -> None:
        self._terminal = terminal
        terminal.shell("env -u TMUX tmux -L inner -f /dev/null -u new-session -s main")
        terminal.wait_until(self._is_there, "somebody looks at the inner tmux")

    def _is_there(self) -> bool:
        try:
            return bool(self.shown())
        except subprocess.CalledProcessError:
            return False

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-L", "inner", *words]
        return subprocess.run(
            command, env=self._terminal._environ, check=True, capture_output=True, text=True
        ).stdout.strip()

    def stand_in(self, home: Path, *where: str) -> str:
        """A session at work in a pane of its own; gives the pane."""
        cwd = home / "work"
        line = f"cd {shlex.quote(str(cwd))}; bash -c {shlex.quote(_CLAUDE)}; true"
        pane = self.tmux(*where, "-d", "-P", "-F", "#{pane_id}", line)
        root = self.tmux("display-message", "-p", "-t", pane, "#{pane_pid}")
        found: list[int] = []

        def is_there() -> bool:
            told = subprocess.run(["pgrep", "-P", root], capture_output=True, text=True, check=False).stdout
            found[:] = [pid for pid in map(int, told.split()) if b"claude" in _command(pid)]
            return bool(found)

        until(is_there, "the stand-in runs")
        stand_ins.claude(home, cwd)
        stand_ins.claude_entry(home, cwd, found[0])
        return pane

    def shown(self) -> str:
        """The pane that whoever looks at it sees."""
        return self.tmux("list-clients", "-F", "#{pane_id}")

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "main:0")

    def delegtop(self, home: Path) -> None:
        line = f"{environ(home)} {program()} {shlex.quote(str(home / '.claude/projects'))} --all"
        self.tmux("send-keys", "-t", "main:0", "-l", line)
        self.tmux("send-keys", "-t", "main:0", "Enter")
        until(lambda: "J go to session" in self.screen() and "Do the work" in self.screen(), "the dashboard is there")

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", "-t", "main:0", *names)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def inner_tmux(terminal: "Terminal") -> Iterator[Inner]:
    try:
        yield Inner(terminal)
    finally:
        terminal.close_inner("inner")


@pytest.mark.parametrize(
    "where", [("new-window", "-t", "main:"), ("split-window", "-t", "main:0"), ("new-session", "-s", "other")]
)
def test_the_pane_whose_process_tree_holds_the_session_is_shown(
    terminal: "Terminal", home: Path, where: tuple[str, ...]
) -> None:
    with inner_tmux(terminal) as inner:
        pane = inner.stand_in(home, *where)
        inner.tmux("select-pane", "-t", pane, "-T", "#(touch /tmp/never) \x1b]0;x")
        inner.tmux("select-pane", "-t", "main:0.0")
        own = inner.shown()
        inner.delegtop(home)
        until(lambda: "pid" in inner.screen() or "claude" in inner.screen(), "it is listed")
        inner.keys("J", "J")
        until(lambda: inner.shown() == pane, "its pane is shown")
        inner.tmux("switch-client", "-t", own)
        assert "Do the work" in inner.screen()
        assert len(inner.tmux("list-panes", "-a").splitlines()) == 2, "nothing was opened"


def fake(folder: Path, name: str, body: str = "") -> Path:
    """A program that writes down what it was given, and where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(
        f'#!/bin/bash\n{{ pwd; printf "%s\\n" "$@"; }} > {shlex.quote(str(folder / "given.new"))}\n'
        f"mv {shlex.quote(str(folder / 'given.new'))} {shlex.quote(str(folder / 'given'))}\n{body}\n"
    )
    path.chmod(0o755)
    return folder / "given"


HOSTILE = 'we\'re "#(touch HIT)"; $(touch HIT) `touch HIT` #{pane_id} 名;'


def test_what_opens_a_gone_session_is_shown_first_and_run_only_when_it_is_confirmed(
    terminal: "Terminal", home: Path
) -> None:
    cwd = home / HOSTILE
    cwd.mkdir()
    stand_ins.claude(home, cwd, ago=60)
    given = fake(home / "bin", "claude", "read -r _")
    show(terminal, home, words="Do the work", PATH=f"{home / 'bin'}:{os.environ['PATH']}")
    terminal.keys("J")
    terminal.wait_for("Open its session", "cancel: nothing is run", "claude --resume")
    terminal.keys("Enter")
    terminal.wait_until(lambda: "Open its session" not in terminal.screen(), "the dialog is gone")
    assert terminal.tells("session_windows") == "1"
    assert not given.exists()
    terminal.keys("J")
    terminal.wait_for("Open its session")
    terminal.keys("o")
    until(given.exists, "the command runs")
    assert given.read_text().splitlines() == [str(cwd), "--resume", stand_ins.CLAUDE_ID]
    assert terminal.tells("session_windows") == "2"
    assert not [*home.rglob("HIT")]
    terminal._tmux("select-window", "-t", ":0")
    terminal.wait_for("Do the work", "J go to session")
    terminal.keys("J")  # it is on its way: it is shown, and not opened once more
    terminal.wait_until(lambda: terminal.tells("window_index") == "1", "its window is shown")
    assert terminal.tells("session_windows") == "2"


def test_outside_tmux_the_command_is_shown_and_copied_and_nothing_is_run(terminal: "Terminal", home: Path) -> None:
    stand_ins.claude(home, home / "work", ago=60)
    given = fake(home / "bin", "claude")
    show(terminal, home, words="Do the work", PATH=f"{home / 'bin'}:{os.environ['PATH']}", TMUX="", TMUX_PANE="")
    terminal.keys("J")
    terminal.wait_for("Open its session", "Copied", "claude --resume")
    terminal.keys("o", "Enter")
    terminal.wait_until(lambda: "Open its session" not in terminal.screen(), "the dialog is gone")
    assert (home / "state/delegtop/clipboard.txt").read_text().strip().endswith(stand_ins.CLAUDE_ID)
    assert terminal.tells("session_windows") == "1"
    assert not given.exists()


def test_a_session_that_lives_elsewhere_is_not_opened_and_it_is_said_where_it_is(
    terminal: "Terminal", home: Path
) -> None:
    cwd = home / "work"
    stand_ins.claude(home, cwd)
    with stand_ins.running("claude", folder=cwd) as it:
        stand_ins.claude_entry(home, cwd, it.pid)
        show(terminal, home, words="Do the work")
        terminal.keys("J")
        terminal.wait_for("Not opened", f"pid {it.pid}")
        assert "Open its session" not in terminal.screen()
        assert terminal.tells("session_windows") == "1"


# -- the editor ------------------------------------------------------------------------------------------------------


def test_the_editor_gets_the_file_and_the_line_and_the_tree_stays_where_it_was(
    terminal: "Terminal", home: Path
) -> None:
    log = stand_ins.claude(home, home / "work", ago=60)
    given = fake(home / "bin", "vim", "echo EDITING; read -r _")
    show(terminal, home, words="Do the work", VISUAL=f"{home / 'bin' / 'vim'} -n", EDITOR="false")
    terminal.wait_for("its process is gone")  # more is not found; only clocks go on, and these never stand still
    before = terminal.rows()[:8]
    terminal.keys("V")
    terminal.wait_for("EDITING")
    assert terminal.tells("alternate_on") == "0"
    terminal.keys("Enter")
    terminal.wait_for("Do the work", "J go to session")
    assert given.read_text().splitlines()[1:] == ["-n", "-R", "+1", str(log)]
    assert [row.split()[:3] for row in terminal.rows()[1:8]] == [row.split()[:3] for row in before[1:8]]
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0


def test_told_to_end_while_the_editor_is_open_both_end_and_the_terminal_is_given_back(
    terminal: "Terminal", home: Path
) -> None:
    stand_ins.claude(home, home / "work", ago=60)
    given = fake(home / "bin", "vim", "echo EDITING; exec sleep 1000")
    show(terminal, home, words="Do the work", EDITOR=home / "bin" / "vim", VISUAL="")
    terminal.keys("V")
    terminal.wait_for("EDITING")
    until(given.exists, "the editor runs")
    os.kill(terminal.children()[0], signal.SIGTERM)
    assert terminal.wait_for_the_end() == 143
    assert terminal.tells("alternate_on") == "0"
    assert terminal.tells("cursor_flag") == "1"


def test_an_editor_that_stops_gives_the_terminal_to_the_shell_and_fg_brings_it_back(
    terminal: "Terminal", home: Path
) -> None:
    stand_ins.claude(home, home / "work", ago=60)
    fake(home / "bin", "vim", "echo EDITING; kill -STOP $$; echo AGAIN; read -r _")
    show(terminal, home, words="Do the work", EDITOR=home / "bin" / "vim", VISUAL="")
    terminal.keys("V")
    terminal.wait_for("EDITING", "Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.wait_for("AGAIN")
    terminal.keys("Enter")
    terminal.wait_for("Do the work", "J go to session")
    terminal.keys("q")
    terminal.wait_until(lambda: terminal.tells("alternate_on") == "0", "it has ended")


def test_without_an_editor_that_is_there_it_is_said(terminal: "Terminal", home: Path) -> None:
    stand_ins.claude(home, home / "work", ago=60)
    show(terminal, home, words="Do the work", EDITOR="no-such-editor", VISUAL="")
    terminal.keys("V")
    terminal.wait_for("Not opened", "no-such-editor")


# -- what was said ---------------------------------------------------------------------------------------------------


def test_what_is_said_is_read_and_what_is_added_appears_while_it_is_looked_at(terminal: "Terminal", home: Path) -> None:
    log = stand_ins.claude(home, home / "work", ago=60)
    show(terminal, home, words="Do the work")
    terminal.keys("v")
    terminal.wait_for("delegtop · transcript", "prompt", "Do the work")
    stand_ins.claude_done(log, home / "work")
    terminal.wait_for("answer", "Done.")
    terminal.resize(80, 24)
    terminal.wait_for("answer", "Done.")
    terminal.keys("v")
    terminal.wait_until(lambda: "delegtop · transcript" not in terminal.screen(), "the dashboard is back")
    terminal.wait_for("its turn ended")
