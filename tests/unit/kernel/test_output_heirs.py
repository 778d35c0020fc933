"""What a call put into the background with its output is found, also if it began while all were listed."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import until

from delegtop.base.clock import WallClock
from delegtop.kernel import output_heirs
from delegtop.kernel.call_witness import CallWitness, Sight
from delegtop.kernel.open_call import OpenCall
from delegtop.model.events import Outlook, WaitsFor

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")

COMMAND = "read line; sleep infinity & echo $!"


@pytest.fixture
def tool() -> Iterator["subprocess.Popen[str]"]:
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", COMMAND], stdin=pipe, stdout=pipe, text=True) as process:
        yield process


@pytest.mark.parametrize("missed", [0, 1], ids=["at once", "at the next look"])
def test_who_keeps_the_output_of_a_call_open_that_has_ended_is_named(
    tool: "subprocess.Popen[str]", missed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness, call = CallWitness(), OpenCall("a", os.getpid(), WallClock().now(), COMMAND)
    looks = iter(range(100))

    def look() -> list[Sight]:
        return list(witness.look([call], WallClock().now(), 3.0 * next(looks)))

    until(lambda: look() and witness.calls, "that it is known")
    assert tool.stdin
    assert tool.stdout
    tool.stdin.write("\n")
    tool.stdin.flush()
    heir = int(tool.stdout.readline())
    tool.wait()
    heirs, asked = output_heirs.heirs, iter(range(100))
    monkeypatch.setattr(output_heirs, "heirs", lambda *given: heirs(*given) if next(asked) >= missed else [])
    seen = [sight.found for _ in range(4) for sight in look()]
    os.kill(heir, signal.SIGKILL)
    assert [found.waits_for for found in seen[:missed]] == [WaitsFor.ENDED] * missed
    assert (seen[-1].pid, seen[-1].waits_for, seen[-1].outlook) == (heir, WaitsFor.KEEPS, Outlook.ENDLESS)
    assert seen[-1].on == "keeps the output of its tool open, which has ended, and sleeps for ever"
