"""The real program in a real terminal: it opens, follows its files, answers keys and mouse, and leaves no trace."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

SAMPLES = Path(__file__).parents[2] / "sample_logs"
HANG = (SAMPLES / "02_hang", "--at", "2026-03-03T10:59:40Z")
HUNG = "sess_1772532120_h9w4dg"
COLOUR = re.compile(rb"\x1b\[(?:[0-9;:]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:[;:][0-9;:]*)?m")
LOOKS = 50
"""So often it is looked in vain from a line in the log to its row, at most: two seconds on a quiet machine."""


def register(session: str, agent: str, **more: object) -> str:
    record = {"event": "register", "at": "2026-05-01T10:00:00Z", "session_id": f"sess_20260501_{session}"}
    path = {"delegation_path": ["orchestrator", "plan", agent], "delegation_depth": 1, "subagent": agent}
    return json.dumps(record | path | {"timeout": 3600} | more) + "\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with one log that has one delegation in it."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "session.jsonl").write_text(register("aaa111", "planner"))
    return folder


def quits(terminal: "Terminal", key: str = "q") -> int:
    terminal.keys(key)
    return terminal.wait_for_the_end()


def stop(terminal: "Terminal", how: signal.Signals) -> None:
    """Send the program a signal that stops it."""
    os.kill(terminal.children()[0], how)
    terminal.wait_for("Stopped")


class TestOpeningAndLeaving:
    def test_it_shows_the_tree_and_gives_the_screen_back_when_it_quits(self, terminal: "Terminal") -> None:
        terminal.shell("echo what was here before")
        terminal.delegtop(*HANG)
        shown = terminal.wait_for("implementer", "overdue", "+12m", "1 source", "STUCK")
        assert shown.splitlines()[1].split()[:2] == ["STUCK", "implementer"]
        assert [row.split()[1] for row in shown.splitlines()[3:5]] == ["/implement", "task-executor"]
        assert "what was here before" not in shown

        assert quits(terminal) == 0
        left = terminal.wait_for("what was here before")
        assert "+12m" not in left
        assert terminal.tells("alternate_on") == "0"
        assert terminal.tells("cursor_flag") == "1"
        assert terminal.tells("mouse_any_flag") == "0"
        terminal.shell("stty -a | grep -qw -e '-echo' -e '-icanon'")
        assert terminal.wait_for_the_end() == 1

    def test_ctrl_c_leaves_as_cleanly_as_q(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m")
        assert quits(terminal, "C-c") == 0
        assert terminal.tells("alternate_on") == "0"
        assert "Traceback" not in terminal.screen()

    def test_a_stop_gives_the_terminal_to_the_shell_and_fg_takes_it_back(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m")
        stop(terminal, signal.SIGTSTP)
        assert terminal.tells("alternate_on") == "0"
        terminal.type("fg\n")
        terminal.wait_for("+12m", "q quit")
        terminal.keys("3")
        terminal.wait_for("Errors")
        terminal.keys("q")
        terminal.wait_until(lambda: terminal.tells("alternate_on") == "0", "it leaves after all")

    def test_what_the_shell_wrote_over_the_screen_is_gone_after_a_stop_it_was_not_asked_about(
        self, terminal: "Terminal"
    ) -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m", "q quit")
        before = terminal.wait_until_still()
        stop(terminal, signal.SIGSTOP)
        terminal.type("fg\n")
        terminal.wait_until(lambda: terminal.screen() == before, "the screen is as it was")
        terminal.keys("q")
        terminal.wait_until(lambda: terminal.tells("alternate_on") == "0", "it leaves")

    def test_without_a_terminal_to_draw_on_it_says_what_to_do_instead(self) -> None:
        told = subprocess.run(
            [sys.executable, "-m", "delegtop", str(HANG[0])], capture_output=True, text=True, check=False
        )
        assert (told.returncode, told.stdout) == (2, "")
        assert told.stderr.startswith("delegtop: the dashboard needs a terminal")

    def test_the_demo_plays_and_takes_its_files_with_it(self, terminal: "Terminal", tmp_path: Path) -> None:
        stage = tmp_path / "stage"
        stage.mkdir()
        terminal.delegtop("demo", "--speed", "20", environ=f"TMPDIR={stage}")
        terminal.wait_for("/implement", "task-executor", "running", "completed")
        assert list(stage.iterdir())
        assert quits(terminal) == 0
        assert not list(stage.iterdir())
        assert "Traceback" not in terminal.screen()


class TestFollowing:
    def test_a_line_a_rotation_and_a_new_folder_appear_while_it_runs(self, terminal: "Terminal", logs: Path) -> None:
        terminal.delegtop(logs)
        terminal.wait_for("planner", "last record")
        log = logs / "session.jsonl"

        with log.open("a") as file:
            file.write(register("bbb222", "appended-agent"))
        terminal.wait_for("appended-agent", looks=LOOKS)

        log.rename(logs / "session.jsonl.1")
        log.write_text(register("ccc333", "rotated-agent"))
        with (logs / "session.jsonl.1").open("a") as file:
            file.write(register("ddd444", "late-agent"))
        terminal.wait_for("rotated-agent", "late-agent", looks=2 * LOOKS)

        (logs / "new" / "deeper").mkdir(parents=True)
        (logs / "new" / "deeper" / "other.jsonl").write_text(register("eee555", "distant-agent"))
        terminal.wait_for("distant-agent", "3 sources", looks=2 * LOOKS)

        agents = re.findall(r"(\S+)-agent +\S+ running|(\S+)-agent", terminal.screen())
        assert len(agents) == 4
        assert quits(terminal) == 0

    def test_a_pipe_is_read_while_the_keys_come_from_the_terminal(self, terminal: "Terminal", tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        terminal.shell(f"cat {pipe} | {sys.executable} -m delegtop -")
        with pipe.open("w", buffering=1) as writer:
            writer.write(register("aaa111", "piped-agent"))
            terminal.wait_for("piped-agent")
            writer.write(register("bbb222", "second-agent"))
            terminal.wait_for("second-agent", looks=LOOKS)
            terminal.keys("j", "5")
            terminal.wait_for('"sess_20260501_bbb222"')
        terminal.filter("piped")
        terminal.wait_for(" 1 row")
        terminal.escape("/ piped")
        assert quits(terminal) == 0


class TestLooks:
    def test_it_fits_whatever_size_the_terminal_is_given(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m", "frozen")
        wide = terminal.wait_until_still()
        terminal.resize(80, 24)
        terminal.wait_until(
            lambda: len(terminal.rows()) <= 24 and "quit" in terminal.rows()[-1] and "+12m" in terminal.screen(),
            "the narrow screen is complete",
        )
        assert max(map(len, terminal.rows())) <= 80
        terminal.resize(160, 45)
        terminal.wait_until(lambda: terminal.screen() == wide, "the wide screen is as it was")
        assert quits(terminal) == 0

    @pytest.mark.parametrize(("value", "coloured"), [("1", False), ("", True)])
    def test_no_color_removes_every_colour_unless_it_is_empty(
        self, value: str, coloured: bool, terminal: "Terminal"
    ) -> None:
        terminal.delegtop(*HANG, environ=f"NO_COLOR={value}")
        terminal.wait_for("+12m")
        terminal.keys("e", "?")
        terminal.wait_for("Keep the newest")
        terminal.escape("Keep the newest")
        assert quits(terminal) == 0
        assert bool(COLOUR.search(terminal.written())) is coloured

    def test_ascii_sends_nothing_but_ascii_from_any_screen(self, terminal: "Terminal") -> None:
        terminal.delegtop(SAMPLES / "12_malformed", "--at", "2026-03-13T07:07:00Z", "--ascii")
        terminal.wait_for("implementer", "silent")
        for tab in "12345":
            terminal.keys(tab)
            terminal.wait_for("Overview")
        pages = (("?", "Keep the newest"), ("o", "unreadable"), ("y", "recommendation"), ("C-p", "Search"))
        lines = ((":", "sort cost"), ("\\", "words to look for"), ("C", "shows or hides"), ("F6", "Sort by"))
        for key, words in pages + lines:
            terminal.keys(key)
            terminal.wait_for(words)
            terminal.escape(words)
        assert quits(terminal) == 0
        assert terminal.written().isascii()


class TestHands:
    def test_keys_are_heard_after_a_rest_and_after_a_stop(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m", "q quit")
        terminal.wait_until_still()
        for _ in range(2):
            terminal.keys("?")
            terminal.wait_for("Keep the newest")
            terminal.escape("Keep the newest")  # alone: nothing follows by which one could tell that it is a key
            terminal.filter("agent:nobody")
            terminal.escape("/ agent:nobody")
            terminal.type("\x1b[B\x1b[A")
            stop(terminal, signal.SIGTSTP)
            terminal.type("fg\n")
            terminal.wait_for("q quit")
        terminal.keys("q")
        terminal.wait_until(lambda: terminal.tells("alternate_on") == "0", "it leaves")

    def test_what_comes_in_one_go_is_done_in_its_order(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m", "q quit")
        terminal.wait_until_still()
        terminal.type("/implementer\rt")
        terminal.wait_for("delegtop · triage")
        terminal.escape("delegtop · triage")
        terminal.wait_for("/ implementer")
        assert quits(terminal) == 0

    def test_what_is_pasted_is_one_text(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m", "q quit")
        terminal.filter("ag")
        terminal.type("\x1b[200~ent:imple\x1b[201~")
        terminal.wait_for("/ agent:imple")
        terminal.escape("/ agent:imple")
        assert quits(terminal) == 0

    def test_a_click_selects_the_row_under_it(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        rows = terminal.wait_for("STUCK", "+12m").splitlines()
        row = next(number for number, text in enumerate(rows, 1) if "+12m" in text)
        assert terminal.tells("mouse_any_flag") == "1"
        terminal.click(30, row)
        terminal.wait_for("implementer   ◀2 holds up 2", HUNG)
        assert quits(terminal) == 0

    def test_copying_reaches_the_clipboard_and_a_private_file(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("+12m")
        terminal.keys("e", "y")
        terminal.wait_for("recommendation")
        assert terminal.clipboard() == []
        terminal.keys("i")
        terminal.wait_until(lambda: terminal.clipboard() == [HUNG], "the id is in the clipboard")
        copy = Path(os.environ["XDG_STATE_HOME"]) / "delegtop" / "clipboard.txt"
        terminal.wait_until(copy.exists, "the id is in the file")
        assert copy.read_text() == f"{HUNG}\n"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert quits(terminal) == 0


class TestViews:
    def test_a_view_that_was_kept_is_called_by_its_name_at_the_next_start(self, terminal: "Terminal") -> None:
        terminal.delegtop(*HANG)
        terminal.wait_for("implementer", "+12m")
        for command in ("filter agent:task-executor", "columns state,age", "save mine"):
            terminal.keys(":")
            terminal.wait_for("sort cost")
            terminal.type(command)
            terminal.wait_for(command)
            terminal.keys("Enter")
            terminal.wait_until(lambda typed=command: f": {typed}" not in terminal.screen(), "the line is closed")  # type: ignore[misc]  # mypy cannot tell the type of a default
        terminal.wait_for("Kept as mine.", "AGE")
        terminal.wait_until(lambda: "QUIET" not in terminal.screen(), "the other columns are gone")
        assert quits(terminal) == 0
        terminal.delegtop(*HANG, "--view", "mine")
        shown = terminal.wait_for("agent:task-executor", "AGE")
        assert "QUIET" not in shown
        assert quits(terminal) == 0

    def test_a_name_nobody_kept_is_a_usage_error(self, terminal: "Terminal") -> None:
        terminal.shell(f"{sys.executable} -m delegtop {HANG[0]} --view nothing-like-it")
        assert terminal.wait_for_the_end() == 2
        assert "no view is kept as nothing-like-it" in " ".join(terminal.screen().split())
