"""The cases themselves: there are enough of them, each has its own name, and none leaves a process behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.live.keeper import below
from tests.live.stage import Stage
from tests.live.tables import EVERY, HANGS, HEALTHY
from tests.patience import until

ELUSIVE = ("stopped_by_a_signal", "background_child_keeps_the_output", "session_of_its_own", "worker_without_a_parent")
"""What does not go with its parent."""
_PUTS_ON = """
import sys
from pathlib import Path
from tests.live.stage import Stage
from tests.live.tables import EVERY
with Stage(Path(sys.argv[1]), [case for case in EVERY if case.name in sys.argv[2:]]) as stage:
    print(stage.keeper, flush=True)
    sys.stdin.read()
"""


def test_there_are_thirty_ways_to_hang_and_thirty_to_be_slow() -> None:
    assert len(HANGS) >= 30
    assert len(HEALTHY) >= 30
    assert len({case.name for case in EVERY}) == len(EVERY)
    assert all(case.says for case in HANGS), "a hang has a cause to be named"


def _is_there(pid: int) -> bool:
    """And is no zombie."""
    try:
        return Path("/proc", str(pid), "stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at")
def test_no_process_is_left_when_the_stage_is_left(tmp_path: Path) -> None:
    with Stage(tmp_path, [case for case in EVERY if case.name in ELUSIVE]) as stage:
        pids = below(stage.keeper)
        assert {*stage.sessions.values()} < {*pids}
        until(lambda: len(below(stage.keeper)) >= len({*stage.sessions.values()}) + len(ELUSIVE), "all have begun")
        pids = below(stage.keeper)
    assert [pid for pid in pids if _is_there(pid)] == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at")
def test_no_process_is_left_when_whoever_put_it_on_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PUTS_ON, str(tmp_path / "stage"), *ELUSIVE]
    (tmp_path / "stage").mkdir()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as test:
        assert test.stdout
        keeper = int(test.stdout.readline())
        pids = below(keeper)
        assert pids
        os.kill(test.pid, signal.SIGKILL)
        until(lambda: not any(map(_is_there, (keeper, *pids))), "the end of all of them")
