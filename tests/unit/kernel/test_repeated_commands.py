"""Who repeats a command for ever is never done, however much the command does each time."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import until

from delegtop.base.clock import WallClock
from delegtop.kernel.call_witness import CallWitness, Sight
from delegtop.kernel.open_call import OpenCall
from delegtop.model.events import Outlook, WaitsFor

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at"),
    pytest.mark.skipif(shutil.which("watch") is None, reason="watch is not here"),
]


@pytest.fixture
def tool() -> Iterator["subprocess.Popen[bytes]"]:
    command, quiet = ["watch", "-n", "0.1", "seq 200000 | tail -1"], subprocess.DEVNULL
    environ = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, env=environ) as process:
        yield process
        process.kill()


def test_what_is_repeated_for_ever_is_so_while_the_command_works_too(tool: "subprocess.Popen[bytes]") -> None:
    witness, call = CallWitness(), OpenCall("a", tool.pid)
    sights: list[Sight] = []

    def is_busy() -> bool:
        sights.extend(witness.look([call], WallClock().now(), 0.1 * len(sights)))
        return sum(sight.share > 0.05 for sight in sights) >= 3

    until(is_busy, "three looks at which it works")
    assert {(sight.found.waits_for, sight.found.outlook) for sight in sights} == {(WaitsFor.TIMER, Outlook.ENDLESS)}
