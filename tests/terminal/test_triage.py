"""Triage in a real terminal: the worst problem, what to do about it, a mark that stays, and the way back."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

SAMPLES = Path(__file__).parents[2] / "sample_logs"
HANG = (SAMPLES / "02_hang", "--at", "2026-03-03T10:59:40Z")


def prints(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_the_hung_one_is_first_with_whom_it_holds_up_and_how_to_resume(terminal: "Terminal") -> None:
    terminal.delegtop(*HANG)
    terminal.wait_for("implementer ◀2", "on implementer")
    terminal.keys("t")
    terminal.wait_for("delegtop · triage", "1 of 1 problem", "hung in a tool", "VER-005", "holds up", "/implement 191")
    terminal.keys("Enter")
    shown = terminal.wait_for("overdue", "+12m")
    assert "delegtop · triage" not in shown


def test_what_is_acknowledged_stays_so_and_no_watched_file_is_touched(terminal: "Terminal") -> None:
    before = prints(SAMPLES / "02_hang")
    terminal.delegtop(*HANG)
    terminal.wait_for("implementer")
    terminal.keys("t")
    terminal.wait_for("1 of 1 problem")
    terminal.keys("a")
    terminal.wait_for("1 seen to", "Nothing else")
    terminal.keys("q")
    terminal.wait_for("+12m")
    terminal.keys("t")
    terminal.wait_for("1 seen to", "Nothing else")
    terminal.keys("D")
    terminal.wait_for("hung in a tool", "acknowledged")
    assert prints(SAMPLES / "02_hang") == before
