"""A recording may say anything of a process: nothing of it is advised that would end others, nor shown as it is."""

import subprocess
import sys
from pathlib import Path

import pytest

import delegtop
from delegtop.base.clock import SECOND, Millis, WallClock
from delegtop.base.origin import Origin, kernel
from delegtop.diagnosis.verdicts import Kind
from delegtop.feed.recorder import Recorder
from delegtop.model.events import LOCALHOST, Event, Outlook, ProcessSeen, Started, WaitsFor

HOSTILE = "\x1b[2J[red]x[/]\n\u202epassword=hunter2 "
THREE = ("descendant", "started", "command")


def tape(folder: Path, **said: object) -> Path:
    """A recording of one delegation and what was seen of its process."""
    now = WallClock().now()
    at = Millis(now - 30 * SECOND)
    place = Origin("run.jsonl", 1, 0)
    given: dict[str, object] = {"pid": 4711, "on": HOSTILE, "name": HOSTILE, "command": HOSTILE, **said}
    seen = ProcessSeen(
        id="a",
        at=Millis(now - SECOND),
        origin=kernel(4711),
        waits_for=WaitsFor.INPUT,
        outlook=Outlook.ENDLESS,
        still_since=at,
        fits=THREE,
        **given,  # type: ignore[arg-type] # whatever a test wants
    )
    recorder = Recorder(WallClock(), "a test")
    events: list[Event] = [Started("a", at, place, agent="runner", pid=99, host=LOCALHOST), seen]
    path = folder / "kept.delegtop"
    path.write_bytes(recorder.header() + b"".join(recorder.record(None, [event]) for event in events))
    return path


@pytest.mark.parametrize("pid", [1, 0, -1, -4711, 1 << 40])
def test_no_number_is_advised_to_be_ended_that_is_not_that_of_one_process(tmp_path: Path, pid: int) -> None:
    with delegtop.open(tape(tmp_path, pid=pid), at=WallClock().now()) as seen:
        assert seen.assessments.of(0).verdict is Kind.HUNG_IN_TOOL
        assert "kill" not in (seen.issue(0).command or "")


def test_who_is_waited_for_is_not_ended_in_place_of_the_tool(tmp_path: Path) -> None:
    with delegtop.open(tape(tmp_path, call_pid=5000), at=WallClock().now()) as seen:
        assert seen.issue(0).command == "kill 5000"


@pytest.mark.parametrize("words", [["tree"], ["tree", "--json"]])
def test_what_it_says_is_masked_and_harmless(tmp_path: Path, words: list[str]) -> None:
    path = tape(tmp_path, share=1e300, flow=1 << 62, memory=1 << 62, until=Millis(1 << 62))
    done = subprocess.run(
        [sys.executable, "-m", "delegtop", *words, str(path)], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout
    assert "\x1b" not in done.stdout
    if words == ["tree"]:  # JSON has it as it is
        assert "\u202e" not in done.stdout
