"""How many hosts one dashboard can look at: measured with many, and computed for many more.

    python -m tests.fleet.how_far [--hosts 50,200] [--sessions 10] [--events 360] [--seconds 30] [--for 5000]

The hosts are streams as ssh would bring them: for each the dashboard starts a process that stands in for ssh and hands
on what one feeder writes, so all but ssh and the recorder there is real. What these two cost is measured with three
real ones. Of each number of hosts are printed: the time and the processor to the first complete picture, memory, bytes,
the processor at rest and with so many events a second of all hosts together, and what a key costs. From two of them a
line is drawn to the number that is asked `--for`; what is computed so is said to be.
"""

import argparse
import os
import selectors
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import percentile
from tests.bench.terminal import Terminal
from tests.fleet.acceptance import MB, Writers, say
from tests.fleet.host_stand_ins import WHY_NOT, FakeSsh, fleet
from tests.fleet.told_streams import HERE, SOURCE, data, header, told

from delegtop.base.clock import SECOND, Millis, WallClock
from delegtop.dialects.recording.tape import TapeBeat
from delegtop.model.events import Described, Heard, Started

_BEAT = 5 * SECOND
_LINES = 20
"""Signs of life that each session has given before."""
_KEYS = 40


class HostFeed:
    """One host: its pipe, and what it has yet to write there."""

    def __init__(self, path: Path, name: str, sessions: int) -> None:
        os.mkfifo(path)
        self.pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.name, self._lines = name, count(1)
        self._ids = [f"{name}-{number:04d}" for number in range(sessions)]
        self.unsent = bytearray(data(header(mark=name, beat=_BEAT), SOURCE))
        now = WallClock().now()
        for number, id in enumerate(self._ids):
            began = Millis(now - (number + _LINES) * SECOND)
            self._tell(Started(id, began, HERE, product="claude-code", depth=0))
            self._tell(Described(id, began, HERE, title=f"the work of {id}", cwd=f"/srv/{name}/app"))
            for each in range(_LINES):
                self._tell(Heard(id, Millis(began + each * SECOND), HERE, f"step {each} of {id}", tool="bash"))
        self.beat()
        self.first = len(self.unsent)

    def _tell(self, event: Started | Described | Heard) -> None:
        self.unsent += data(told(next(self._lines), event))

    def work(self) -> None:
        number = next(self._lines)
        self._tell(Heard(self._ids[number % len(self._ids)], WallClock().now(), HERE, f"step {number}", tool="bash"))

    def beat(self) -> None:
        self.unsent += data(TapeBeat(WallClock().now()))


class Feeder:
    """Writes what all hosts tell, in one thread."""

    def __init__(self, hosts: list[HostFeed]) -> None:
        self._hosts, self._over = hosts, threading.Event()
        self.events_a_second = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Feeder":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()
        for host in self._hosts:
            os.close(host.pipe)

    def _run(self) -> None:
        began, beats, works, worked = time.monotonic(), 0, 0.0, 0
        while not self._over.is_set():
            self._write()
            now = time.monotonic()
            while beats < (now - began) / (_BEAT / SECOND) * len(self._hosts):  # each at a moment of its own
                self._hosts[beats % len(self._hosts)].beat()
                beats += 1
            works = max(works, now - 1) if self.events_a_second else now
            while self.events_a_second and works < now:
                works += 1 / self.events_a_second
                self._hosts[worked % len(self._hosts)].work()
                worked += 1
            time.sleep(0.02)

    def _write(self) -> None:
        with selectors.DefaultSelector() as ready:
            for host in self._hosts:
                if host.unsent:
                    ready.register(host.pipe, selectors.EVENT_WRITE, host)
            for key, _ in ready.select(0) if ready.get_map() else ():
                try:
                    del key.data.unsent[: os.write(key.fd, key.data.unsent[:65_536])]
                except BlockingIOError:
                    continue


class Cost(NamedTuple):
    """What so many hosts cost whoever looks at them."""

    hosts: int
    complete: float
    """Seconds to the first complete picture."""
    cpu: float
    """Seconds of the processor for it."""
    memory: int
    """Bytes, in the end."""
    told: int
    """Bytes of a host at first."""
    idle: float
    busy: float
    """Share of a core, with nothing but beats and with events."""
    key: float
    """Seconds of the processor for a key and its frame."""
    frames: list[float]
    """Seconds from a key to what it writes."""


@contextmanager
def _streams(folder: Path, hosts: int, sessions: int) -> Iterator[tuple[FakeSsh, list[HostFeed], Feeder]]:
    ssh = FakeSsh(folder)
    made = [HostFeed(folder / f"h{number}.pipe", f"h{number}", sessions) for number in range(hosts)]
    for host in made:
        ssh.host(host.name, f'exec cat "{folder}/{host.name}.pipe"')
    with Feeder(made) as feeder:
        yield ssh, made, feeder


def looked_at(folder: Path, hosts: int, sessions: int, events: float, seconds: float) -> Cost:
    with _streams(folder, hosts, sessions) as (ssh, made, feeder):
        line = [sys.executable, "-m", "delegtop", *(f"ssh://{host.name}" for host in made)]
        with Terminal(line, env={"PATH": ssh.path}, rows=45, columns=160) as terminal:
            terminal.wait_for(f"live  {hosts} hosts".encode(), timeout=600)
            terminal.wait_for(f"{hosts * sessions:,} running".encode(), timeout=600)
            complete, cpu = time.monotonic() - terminal.began, terminal.cpu()
            terminal.settle(busy=0.3)
            idle = terminal.cpu_over(seconds)
            frames, before = list[float](), terminal.cpu()
            for number in range(_KEYS):
                written, at = terminal.written, terminal.press(b"G" if number % 8 == 0 else b"k")
                while terminal.written == written and time.monotonic() - at < 5:
                    terminal.watch(0.002)
                frames.append(time.monotonic() - at)
                terminal.watch(0.1)
            key = max(terminal.cpu() - before - idle * sum(each + 0.1 for each in frames), 0) / _KEYS
            feeder.events_a_second = events
            terminal.watch(3)
            busy = terminal.cpu_over(seconds)
            return Cost(hosts, complete, cpu, _resident(terminal.pid), made[0].first, idle, busy, key, frames)


def _resident(pid: int, field: str = "Pss") -> int:
    """What it takes of memory that no other process has, too."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def ssh_costs(folder: Path, hosts: int = 3) -> str:
    """What a real ssh takes here, and a recorder there."""
    if WHY_NOT:
        return f"real ssh: not measured, {WHY_NOT}"
    with fleet(folder) as world:
        names = [f"real{number}" for number in range(hosts)]
        made = world.add(*names)
        Writers(made, 200)
        line = [sys.executable, "-m", "delegtop", *(f"ssh://{name}" for name in names)]
        with Terminal(line, env={"PATH": world.path}) as terminal:
            terminal.wait_for(f"{hosts} hosts".encode(), timeout=120)
            terminal.settle(busy=0.2)
            ssh = [pid for pid in _children(terminal.pid) if Path(f"/proc/{pid}/comm").read_text().strip() == "ssh"]
            here = [_resident(pid) for pid in ssh]
            there = [_resident(pid) for host in made for pid in host.recorders()]
            cpu = sum(map(_cpu, ssh))
            terminal.watch(20)
            share = (sum(map(_cpu, ssh)) - cpu) / 20 / max(len(ssh), 1)
    return (
        f"real ssh, {len(here)} of them: {max(here, default=0) / MB:.1f} MB and {share:.2%} of a core each at rest; "
        f"a recorder there {max(there, default=0) / MB:.0f} MB"
    )


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _cpu(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _measured(cost: Cost) -> str:
    p50, p95 = (percentile(cost.frames, share) * 1000 for share in (0.5, 0.95))
    return (
        f"measured, {cost.hosts} hosts: complete after {cost.complete:.1f} s, {cost.cpu:.1f} s of the processor; "
        f"{cost.memory / MB:.0f} MB; {cost.told / 1000:.0f} KB a host at first; at rest {cost.idle:.1%} of a core, "
        f"with events {cost.busy:.1%}; a key {cost.key * 1000:.1f} ms of the processor, "
        f"seen after {p50:.0f} ms (p95 {p95:.0f})"
    )


def _computed(few: Cost, many: Cost, hosts: int) -> str:
    def drawn(a: float, b: float) -> float:
        """The line through both, not below what the larger one takes."""
        return max(b + (b - a) / (many.hosts - few.hosts) * (hosts - many.hosts), b)

    return (
        f"computed, {hosts} hosts: {drawn(few.cpu, many.cpu):.0f} s of the processor to the first complete picture; "
        f"{drawn(few.memory, many.memory) / MB:.0f} MB; at rest {drawn(few.idle, many.idle):.0%} of a core"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="50,200")
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--events", type=float, default=360)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--for", type=int, default=5_000, dest="many")
    arguments = parser.parse_args()
    costs = []
    for hosts in map(int, arguments.hosts.split(",")):
        with tempfile.TemporaryDirectory(prefix="how-far-") as folder:
            costs.append(looked_at(Path(folder), hosts, arguments.sessions, arguments.events, arguments.seconds))
        say(_measured(costs[-1]))
    if len(costs) > 1:
        say(_computed(costs[0], costs[-1], arguments.many))
    with tempfile.TemporaryDirectory(prefix="how-far-") as folder:
        say(ssh_costs(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
