"""What each session costs that has come and gone on other hosts while one dashboard looks at them.

    python -m tests.fleet.churn [--hosts 3] [--sessions 40000] [--seconds 300] [--kept 1000] [--one-log]

The hosts are streams as ssh would bring them, of sessions that begin, say something and end, each in a log of its own
or all in one. Memory is what the line of least squares through the second half says; `--kept` rows (5,000 in a
dashboard that nobody tries) stay of what is over, so that fewer sessions do to see what stays.
"""

import argparse
import os
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from tests.bench.g11_load import slope
from tests.bench.terminal import Terminal
from tests.fleet.acceptance import MB, say
from tests.fleet.host_stand_ins import FakeSsh
from tests.fleet.told_streams import HERE, NOW, SOURCE, data, header

from delegtop.base.clock import Millis, WallClock
from delegtop.dialects.recording.tape import TapeBeat, TapeEvents, TapeSource, written
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Report, Started

_LOOKS = 40
_WARM = 0.5
_BEAT = 2.0
"""Seconds."""
_START = """
import sys
from delegtop.app.state import finished_rows
from delegtop.__main__ import main

finished_rows.KEPT = {kept}
sys.exit(main())
"""


class Host:
    """One host, whose stream is written as fast as it is read."""

    def __init__(self, folder: Path, name: str, *, one_log: bool) -> None:
        path = folder / f"{name}.pipe"
        os.mkfifo(path)
        self.name, self._pipe = name, os.open(path, os.O_RDWR)
        self._one_log, self._lines = one_log, count(1)
        self._write(data(header(mark=name, beat=int(_BEAT * 1000)), SOURCE))
        self.beat()

    def _write(self, told: bytes) -> None:
        while told:
            told = told[os.write(self._pipe, told) :]

    def beat(self) -> None:
        self._write(data(TapeBeat(WallClock().now())))

    def session(self, number: int) -> None:
        """It comes and goes."""
        id, at = f"sess_{self.name}_{number:07d}", WallClock().now()
        done = Report("completed", f"Step {number} is done.")
        events: list[Event] = [
            Started(id, at, HERE, agent="executor", product="codex", depth=0),
            Heard(id, Millis(at + 1), HERE, f"working on {number}", tool="bash"),
            Ended(id, Millis(at + 2), HERE, Outcome.COMPLETED, Ending.RETURN, done),
        ]
        log = SOURCE if self._one_log else TapeSource(number + 1, f"/srv/logs/{number:07d}.jsonl")
        lines: list[TapeSource | TapeEvents] = [] if self._one_log else [log]
        for event in events:
            line = next(self._lines)
            place = (log.number, line, line)
            lines.append(TapeEvents(place, NOW, (written(event, place, place),)))
        marks = {} if self._one_log else {str(log.number): (300, number, number)}
        self._write(data(*lines, TapeBeat(WallClock().now(), marks=marks)))


def churn(folder: Path, hosts: int, sessions: int, seconds: float, kept: int, *, one_log: bool) -> float:
    """Bytes a session."""
    ssh = FakeSsh(folder)
    made = [Host(folder, f"h{number}", one_log=one_log) for number in range(hosts)]
    for host in made:
        ssh.host(host.name, f'exec cat "{folder}/{host.name}.pipe"')
    program = [sys.executable, "-c", _START.format(kept=kept), *(f"ssh://{host.name}" for host in made)]
    sizes: list[tuple[float, int]] = []
    with Terminal(program, env={"PATH": ssh.path}) as terminal:
        terminal.wait_for(f"{hosts} hosts".encode() if hosts > 1 else b"live", timeout=60)
        began, told, beaten = time.monotonic(), 0, 0.0
        while (passed := time.monotonic() - began) < seconds:
            while told < passed / seconds * sessions:
                made[told % hosts].session(told // hosts + 1)
                told += 1
            if passed - beaten > _BEAT:
                beaten = passed
                for host in made:
                    host.beat()
            terminal.watch(0.1)
            if len(sizes) < passed / seconds * _LOOKS:
                sizes.append((float(told), _resident(terminal.pid)))
                say(f"  {told:,} sessions: {sizes[-1][1] / MB:.1f} MB")
    return slope(sizes[int(_WARM * len(sizes)) :])


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=40_000)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--kept", type=int, default=1_000)
    parser.add_argument("--one-log", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleet-churn-") as folder:
        cost = churn(Path(folder), asked.hosts, asked.sessions, asked.seconds, asked.kept, one_log=asked.one_log)
    say(f"{cost:,.0f} bytes a session")
    return 0


if __name__ == "__main__":
    sys.exit(main())
