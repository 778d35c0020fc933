"""Wake-ups, and how long to wait without one."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.patience import PATIENCE, until

from delegtop.base.clock import monotonic
from delegtop.sources.wakeups import FAST, IDLE, SLOW, Pace, Waker, interval


def test_the_interval_is_short_after_growth_and_grows_with_the_quiet() -> None:
    asked = [interval(quiet) for quiet in (0, 1, 5, 10, 30, 60, 1e9)]
    assert asked == sorted(asked)
    assert (asked[0], asked[-2], asked[-1]) == (FAST, IDLE, IDLE)
    assert SLOW in asked
    assert interval(20) == 0.5, "what has rested for long is not waited for by quarters of a second"


def test_the_pace_is_fast_after_something_moved() -> None:
    pace = Pace()
    assert pace.interval() == IDLE
    pace.moved()
    assert pace.interval() == FAST


@pytest.mark.parametrize("forced", ["", "1"])
def test_a_change_in_a_watched_folder_wakes(tmp_path: Path, forced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", forced)
    waker = Waker()
    waker.watch([str(tmp_path)])
    try:
        until(lambda: waker.mode == "watching")
        count = iter(range(1_000))

        def woken() -> bool:
            (tmp_path / f"{next(count)}.jsonl").write_text("{}")
            return waker.wait(0.05)

        until(woken)
        assert waker.stirred()
    finally:
        waker.close()


def test_what_was_written_to_is_told_by_its_name_and_anything_else_without_one(tmp_path: Path) -> None:
    log, below = tmp_path / "a.jsonl", tmp_path / "below"
    log.write_text("{}")
    waker = Waker()
    waker.watch([str(tmp_path)])
    try:
        until(lambda: waker.mode == "watching")
        with log.open("a") as file:
            file.write("{}")
        until(waker.stirred)
        assert set(waker.grown()) == {str(log)}
        below.mkdir()
        until(waker.stirred)
        assert "" in waker.grown()
    finally:
        waker.close()


def test_nothing_stirs_when_nothing_is_watched() -> None:
    waker = Waker()
    assert (waker.mode, waker.wait(0.01), waker.stirred()) == ("polling", False, False)
    waker.close()


def test_a_missing_folder_leaves_plain_waiting(tmp_path: Path) -> None:
    waker = Waker()
    waker.watch([str(tmp_path / "nowhere")])
    assert (waker.mode, waker.wait(0.01)) == ("polling", False)
    waker.close()


def test_a_failing_watcher_leaves_plain_waiting_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchfiles

    failures = threading.Semaphore(0)

    def fail(*_: object, **__: object) -> None:
        failures.release()
        raise OSError(28, "no watches left")

    with monkeypatch.context() as patch:
        patch.setattr(watchfiles, "watch", fail)
        waker = Waker()
        waker.watch([str(tmp_path)])
        assert failures.acquire(timeout=PATIENCE)
        until(lambda: waker._watched is None)
        assert (waker.mode, waker.wait(0.01)) == ("polling", False)
    waker.watch([str(tmp_path)])
    until(lambda: waker.mode == "watching")
    waker.close()


def test_a_folder_made_again_is_watched_again(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    keep = tmp_path / "keeps the inode from being used again"
    waker = Waker()
    waker.watch([str(folder)])
    first = waker._watched
    folder.rename(keep)
    folder.mkdir()
    waker.watch([str(folder)])
    assert waker._watched != first
    waker.close()


def test_closing_waits_for_nobody_and_ends_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = set(threading.enumerate())
    waker = Waker()
    waker.watch([str(tmp_path)])
    until(lambda: waker.mode == "watching")
    assert set(threading.enumerate()) - others
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", pytest.fail)
        waker.close()
    assert waker.mode == "polling"
    until(lambda: not set(threading.enumerate()) - others)


_ENDS_WHILE_WATCHING = """
import atexit, sys, threading
atexit.register(lambda: print([thread.name for thread in threading.enumerate()]))
from delegtop.sources.wakeups import Waker
waker = Waker()
waker.watch([sys.argv[1]])
while waker.mode != "watching":
    waker.wait(0.01)
"""


def test_no_thread_is_left_in_native_code_when_the_program_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _ENDS_WHILE_WATCHING, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "['MainThread']\n"


def test_watchfiles_is_not_imported_before_something_is_watched() -> None:
    script = "import sys, delegtop.sources.wakeups as w; w.Waker(); print('watchfiles' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


def test_what_merely_grew_is_told_by_its_name_and_anything_else_is_not(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text("")
    waker = Waker()
    try:
        waker.watch([str(tmp_path)])
        grown: list[str] = []

        def grows() -> bool:
            with log.open("a") as file:
                file.write("x\n")
            waker.wait(0.5)
            grown.extend(waker.grown())
            return str(log) in grown

        def another_comes() -> bool:
            (tmp_path / f"{monotonic()}.jsonl").touch()
            waker.wait(0.5)
            grown.extend(waker.grown())
            return "" in grown

        until(grows)
        until(another_comes)
        assert list(waker.grown()) == [] or waker.stirred()
    finally:
        waker.close()
