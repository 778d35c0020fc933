"""The demo's real hung tool, as a newcomer meets it: on top with the kernel's word, freed with K, and gone with it."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.patience import has_ended, until
from tests.terminal.test_ending import opened

from delegtop.app.screens import stop_dialog
from delegtop.base.clock import monotonic

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

pytestmark = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who waits for whom")
TOOL = "manage migrate"
PROJECT = Path(__file__).parents[2]


def tools(demo: int) -> list[int]:
    """The processes that the demo started."""
    told = subprocess.run(["pgrep", "-P", str(demo), "-f", "manage"], capture_output=True, text=True, check=False)
    return [int(number) for number in told.stdout.split()]


QUICK = f"PYTHONPATH={shlex.quote(str(PROJECT))} {shlex.quote(sys.executable)} -m tests.quick_looks"
"""The program, looking at processes so often that nobody has to wait for it."""


def hanging(terminal: "Terminal", stage: Path, command: str = "demo --speed 5") -> tuple[int, list[int]]:
    """The demo, and both of its processes, once they are there."""
    demo = opened(terminal, command, stage, started=QUICK)
    until(lambda: len(tools(demo)) == 2, every=0.1)
    return demo, tools(demo)


ENDS: dict[str, Callable[["Terminal", int], object]] = {
    "q": lambda terminal, _: terminal.keys("q"),
    "ctrl+c": lambda terminal, _: terminal.keys("C-c"),
    **{
        number.name: lambda _, demo, number=number: os.kill(demo, number)  # type: ignore[misc] # mypy knows no such lambda
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGSEGV)
    },
    "closed terminal": lambda terminal, _: terminal.close(),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_it_leaves_no_process_behind(
    terminal: "Terminal", tmp_path: Path, end: Callable[["Terminal", int], object]
) -> None:
    demo, both = hanging(terminal, tmp_path)
    end(terminal, demo)
    until(lambda: all(map(has_ended, (demo, *both))))


def test_a_newcomer_sees_the_hang_and_the_kernels_word_and_frees_the_path(terminal: "Terminal", tmp_path: Path) -> None:
    demo, _ = hanging(terminal, tmp_path, "demo")
    terminal.wait_for("STUCK", TOOL, "waits for a lock", "manage backup", "K stop")
    terminal.keys("K")
    terminal.wait_for("certain", "SIGINT to pid", "this is delegtop itself")
    terminal.keys("Up", "Enter")
    terminal.wait_for("Enter once more")

    pressed = monotonic()

    def is_freed() -> bool:
        nonlocal pressed
        if "Enter once more" in terminal.screen() and monotonic() - pressed > 2 * stop_dialog._AT_ONCE:
            terminal.keys("Enter")  # one that comes at once is not heeded: a key that is held down comes so
            pressed = monotonic()
        return "the path moved on" in terminal.screen()

    terminal.wait_until(is_freed, "the path moves on")
    until(lambda: tools(demo) == [], every=0.1)


def test_who_only_looks_can_stop_nothing_in_it_either(terminal: "Terminal", tmp_path: Path) -> None:
    demo, both = hanging(terminal, tmp_path, "demo --readonly")
    terminal.wait_for("STUCK", TOOL)
    terminal.keys("K")
    terminal.wait_for("Nothing can be sent", "readonly")
    assert tools(demo) == both
