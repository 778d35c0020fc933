"""What one look knows of the looks before: one moment awake ends no wait, and nobody is looked for who is known."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.without_proc import without_proc

from delegtop.base.clock import SECOND, WallClock
from delegtop.kernel import call_witness, proc_files
from delegtop.kernel.blocked import Blocked
from delegtop.kernel.call_witness import CallWitness, Sight
from delegtop.kernel.open_call import OpenCall
from delegtop.model.events import Outlook, WaitsFor

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")


class Told:
    """An inquiry that says what it is told to, look by look."""

    def __init__(self, said: Iterable[Blocked]) -> None:
        self._said = iter(said)

    def about(self, _pid: int) -> tuple[Blocked, frozenset[int]]:
        return next(self._said), frozenset()

    def outputs(self, _pid: int) -> frozenset[str]:
        return frozenset()

    def heirs(self, _outputs: Iterable[str], _call: OpenCall) -> list[int]:
        return []


@contextmanager
def started(*command: str, **how: Any) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(command, **how) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("said", "seen"),
    [("listens runs listens", "listens listens listens"), ("listens runs runs", "listens listens runs")],
)
def test_who_is_awake_at_one_look_still_waits_and_at_two_is_at_work(
    said: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started("sleep", "1000") as process:
        words = {
            "listens": Blocked(process.pid, WaitsFor.CLIENTS, "connections on 127.0.0.1:80"),
            "runs": Blocked(process.pid, WaitsFor.NOTHING, ""),
        }
        told = Told(words[word] for word in said.split())
        monkeypatch.setattr(call_witness, "begun_inquiry", lambda *_: told)
        witness, call, now = CallWitness(), OpenCall("a", process.pid), WallClock().now()
        sights = [
            sight for at in range(4) for sight in witness.look([call], type(now)(now + at * 5 * SECOND), 5.0 * at)
        ]
    assert [sight.found for sight in sights] == [words[word] for word in seen.split()]
    waits = [sight.still_since for sight in sights if sight.found == words["listens"]]
    assert len(set(waits)) == 1, "it waits since the same moment"


WRITER = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.001)"


def test_who_is_known_to_write_is_not_looked_for_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[object] = []
    numbers = proc_files.numbers

    def counted(*parts: object, **how: str) -> list[int]:
        listed.extend(parts[:1] if parts[1:] == ("fd",) else ())
        return numbers(*parts, **how)

    monkeypatch.setattr(proc_files, "numbers", counted)
    read, write = os.pipe()
    with (
        started("cat", stdin=read, stdout=subprocess.DEVNULL) as reader,
        started(sys.executable, "-c", WRITER, stdout=write) as writer,
    ):
        os.close(write)
        os.close(read)
        witness, call, looks = CallWitness(), OpenCall("a", reader.pid), count()

        def look() -> list[Sight]:
            listed.clear()
            return list(witness.look([call], WallClock().now(), 5.0 * next(looks)))

        def is_known() -> bool:
            return any(sight.found.outlook is Outlook.AT_WORK for sight in look()) and not listed

        until(is_known, "that its writer is known, and is at work")
        writer.kill()
        writer.wait()
        until(lambda: reader.poll() is not None, "the end of the reader, whose input has ended")
        assert look() == []


def test_where_nobody_tells_of_pipes_what_a_call_put_aside_is_not_called_its_end() -> None:
    command, pipe = "read line; sleep 1000 & echo $!", subprocess.PIPE
    with subprocess.Popen(["sh", "-c", command], stdin=pipe, stdout=pipe, text=True) as tool, without_proc():
        witness, call, looks = CallWitness(), OpenCall("a", os.getpid(), WallClock().now(), command), count()

        def look() -> list[WaitsFor]:
            sights = witness.look([call], WallClock().now(), 3.0 * next(looks))
            return [sight.found.waits_for for sight in sights]

        until(lambda: look() and witness.calls, "that it is known")
        assert tool.stdout
        print("", file=tool.stdin, flush=True)
        aside = int(tool.stdout.readline())
        tool.wait()
        seen = [waits for _ in range(4) for waits in look()]
        os.kill(aside, 9)
        assert set(seen) == {WaitsFor.TIMER}, "it sleeps, as its command line tells"
        until(lambda: look() == [WaitsFor.ENDED], "its end")
