"""The replay in a real terminal: it opens at the beginning, goes where keys and mouse send it, and leaves at once."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

SAMPLES = Path(__file__).parents[2] / "sample_logs"


def test_a_recording_is_played_sought_and_left(terminal: "Terminal") -> None:
    terminal.delegtop("replay", SAMPLES / "02_hang", "--from", "20m")
    shown = terminal.wait_for("replay", "playing  1x  2026-03-03 10:2", "1 problem")
    assert "overdue" not in shown
    terminal.keys("n")
    terminal.wait_for("paused", "2026-03-03 10:47:00", "overdue", "+0:00")
    terminal.keys("<")
    terminal.wait_until(lambda: "0:00 of 2:00:00" in terminal.screen() and "overdue" not in terminal.screen(), "back")
    timeline = len(terminal.rows()) - 1  # the line above the last one
    terminal.click(terminal.rows()[timeline - 1].rindex("!") + 1, timeline)
    terminal.wait_for("47:00 of 2:00:00", "hung in a tool")
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0


def test_a_live_view_goes_back_and_returns(terminal: "Terminal") -> None:
    terminal.delegtop(SAMPLES / "02_hang", "--at", "2026-03-03T10:59:40Z")
    terminal.wait_for("implementer", "overdue", "+12m", "frozen")
    terminal.keys("r")
    terminal.wait_for("paused  1x  2026-03-03 10:59:40", "replay", "+12m")
    terminal.keys("N")
    terminal.wait_for("2026-03-03 10:47:00", "+0:00")
    terminal.keys("r")
    terminal.wait_until(lambda: "paused" not in terminal.screen(), "the bar is gone")
    terminal.wait_for("+12m", "frozen")
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0


def test_samples_in_the_folder_are_offered_and_replayed_on_r(terminal: "Terminal", tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(SAMPLES / "02_hang", clone / "samples" / "02_hang", copy_function=shutil.copyfile)
    terminal.shell(f"cd {clone}")
    terminal.delegtop()
    shown = terminal.wait_for("No agent was at work lately", "samples/02_hang", "last record", "R replays")
    assert "implementer" not in shown
    terminal.keys("R")
    terminal.wait_for("replay", "2026-03-03 10:21:48", "implementer", "bash: lake build")
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0


def test_logs_that_only_their_files_date_keep_nobody_from_what_is_long_over(
    terminal: "Terminal", tmp_path: Path
) -> None:
    """A clone or a copy dates its files anew, and transcripts of Cursor have no times in them."""
    for name in ("02_hang", "cursor"):
        shutil.copytree(SAMPLES / name, tmp_path / "copied" / name, copy_function=shutil.copy)
    terminal.delegtop(tmp_path / "copied")
    terminal.wait_for("lost", "last record", "ago: R replays it")
    terminal.keys("R")
    terminal.wait_for("paused", "2026-03-03 10:21:48", "running")
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0


def test_named_logs_that_are_long_over_say_so_and_are_shown_as_they_were_on_r(terminal: "Terminal") -> None:
    terminal.delegtop(SAMPLES / "02_hang")
    terminal.wait_for("lost", "last record", "ago: R replays it")
    terminal.keys("R")
    shown = terminal.wait_for("paused", "2026-03-03 10:21:48", "running")
    assert "lost" not in shown
    terminal.keys("r")
    terminal.wait_for("ago: R replays it", "lost")
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0
