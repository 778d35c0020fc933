"""What is promised of hubs, tried at length and measured: a cluster of three NATS servers, real shippers, one viewer.

    python -m tests.fleet.nats_acceptance [--hosts 200] [--events 1000000] [--nodes-killed 30] [--shippers-killed 300]
                                          [--seconds 300] [--latencies 300] [--seed 1]

First nobody is disturbed, and it is measured how long a line takes from a log to the viewer's forest. Then servers and
shippers are killed (-9) in turn while all logs grow to their full length; at last everything that the viewer says is
compared with what a fresh reading of each log says. `lost` are lines that never came; `twice` are rows that are there
more than once, or otherwise than by reading the log; `carried twice` are lines that came more than once and were
folded.
"""

import argparse
import random
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.bench.make_logs import LogMaker
from tests.bench.measure import percentile
from tests.fleet.hub_rights import probes
from tests.fleet.hub_stand_ins import WHY_NOT, Cluster, Started, hub

from delegtop.base.clock import FrozenClock, WallClock
from delegtop.base.hub_address import hub_address
from delegtop.feed.host_states import HostState
from delegtop.model.delegation import Delegation
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings
from delegtop.sources.records import Line

_PLACES = ("host", "prompt", "claims", "origins", "started_origin", "heard_origin", "ended_origin")
"""What is told otherwise here than there, or does not leave a host."""
BURST = 50


def say(words: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {words}\n")
    sys.stdout.flush()


class Host:
    """One host: its log, and the shipper of it."""

    def __init__(self, folder: Path, number: int, address: str) -> None:
        self.name = f"h{number}"
        self.home = folder / self.name
        self.log = self.home / "run.jsonl"
        self.home.mkdir(parents=True)
        self._maker = LogMaker(WallClock().now() - 60_000, step=0, seed=number + 1)
        self.lines = 0
        self.write(1)
        self.shipper = Started(self.home, "ship", "--to", address, "--as", self.name, "--since", "all", str(self.log))

    def write(self, lines: int) -> None:
        self._maker._at = self.written_at = WallClock().now()
        with self.log.open("a") as file:
            file.writelines(self._maker.line() for _ in range(lines))
        self.lines += lines


class Counted:
    """Which lines of which logs came, and how often more than once."""

    def __init__(self) -> None:
        self.came: dict[str, set[int]] = {}
        self.again = 0

    def __call__(self, line: Line | None, _told: object) -> None:
        if line is not None and line.origin.source.endswith("run.jsonl"):
            came = self.came.setdefault(line.origin.host, set())
            self.again += line.origin.offset in came
            came.add(line.origin.offset)


class Fleet:
    """All hosts of a run, the cluster, and the viewer."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.cluster = Cluster()
        self.hosts: list[Host] = []
        self.counted = Counted()
        self.dice = random.Random(arguments.seed)
        self.killed = Counter[str]()

    def start(self, folder: Path) -> None:
        self.cluster.start(folder / "cluster")
        for number in range(self.arguments.hosts):
            self.hosts.append(Host(folder, number, self.address))

    @property
    def address(self) -> str:
        return self.cluster.address

    def close(self) -> None:
        for host in self.hosts:
            with suppress(ProcessLookupError):
                host.shipper.kill()
        self.cluster.close()

    def states(self, seen: Observation) -> Counter[HostState]:
        return Counter(host.state for host in seen.hosts)

    def look_until(self, seen: Observation, holds: Callable[[], object], what: str, seconds: float) -> float:
        began = said = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                say(f"not within {seconds:.0f} s: {what}; {self.states(seen)}")
                return -1.0
            if time.monotonic() - said > 20:
                said = time.monotonic()
                say(f"  waiting for {what}: {self.came:,} lines of {self.written:,}; {dict(self.states(seen))}")
            seen.wait(0.2)
            seen.look()
        return time.monotonic() - began

    @property
    def came(self) -> int:
        return sum(map(len, self.counted.came.values()))

    @property
    def written(self) -> int:
        return sum(host.lines for host in self.hosts)

    # -- undisturbed -----------------------------------------------------------------------------------------------

    def latencies(self, seen: Observation) -> list[float]:
        """Seconds from the log to the forest of single lines of hosts taken at random, two of them a second."""
        took: list[float] = []
        waiting: dict[str, tuple[float, int]] = {}
        left, due = self.arguments.latencies, time.monotonic()
        while left or waiting:
            now = time.monotonic()
            if left and now >= due:
                host = self.dice.choice(self.hosts)
                if host.name not in waiting:
                    host.write(1)
                    waiting[host.name] = (time.monotonic(), host.lines)
                    left, due = left - 1, now + 0.1
            seen.wait(0.05)
            seen.look()
            for name, (at, lines) in list(waiting.items()):
                if len(self.counted.came.get(name, ())) >= lines:
                    took.append(time.monotonic() - at)
                    del waiting[name]
                elif time.monotonic() - at > 60:
                    took.append(60.0)
                    del waiting[name]
        return took

    # -- disturbed -------------------------------------------------------------------------------------------------

    def write_all(self, over: threading.Event) -> None:
        """Every log to its full length, in bursts, within the time there is."""
        full = self.arguments.events // len(self.hosts)
        rounds = max(1, -(-full // BURST))
        pause = self.arguments.seconds / rounds / len(self.hosts)
        for _ in range(rounds):
            for host in self.dice.sample(self.hosts, len(self.hosts)):
                if over.is_set():
                    return
                host.write(max(0, min(BURST, full - host.lines)))
                time.sleep(pause)

    def kill_nodes(self, over: threading.Event) -> None:
        dice = random.Random(self.arguments.seed + 1)
        pause = self.arguments.seconds / max(self.arguments.nodes_killed, 1)
        for number in range(self.arguments.nodes_killed):
            node = self.cluster.nodes[number % 3]
            node.kill()
            self.killed["nodes"] += 1
            over.wait(dice.uniform(0.5, max(0.6, pause / 3)))
            node.start()
            if over.wait(pause * 2 / 3):
                return

    def kill_shippers(self, over: threading.Event) -> None:
        dice = random.Random(self.arguments.seed + 2)
        pause = self.arguments.seconds / max(self.arguments.shippers_killed, 1)
        for _ in range(self.arguments.shippers_killed):
            host = dice.choice(self.hosts)
            host.shipper.kill()
            host.shipper.start()
            self.killed["shippers"] += 1
            if over.wait(pause):
                return

    def disturb(self, seen: Observation) -> None:
        over = threading.Event()
        work = [
            threading.Thread(target=each, args=(over,))
            for each in (self.write_all, self.kill_nodes, self.kill_shippers)
        ]
        for thread in work:
            thread.start()
        said = time.monotonic()
        try:
            while any(thread.is_alive() for thread in work):
                seen.wait(0.5)
                seen.look()
                if time.monotonic() - said > 20:
                    said = time.monotonic()
                    told = f"{self.came:,} lines of {self.written:,}; {dict(self.states(seen))}"
                    say(f"  {dict(self.killed)} killed, {told}")
        finally:
            over.set()
            for thread in work:
                thread.join()

    # -- comparing -------------------------------------------------------------------------------------------------

    def compare(self, seen: Observation) -> tuple[int, list[str], int]:
        """Lines that are missing, hosts of which something else is said here than there, and rows twice."""
        missing = sum(max(0, host.lines - len(self.counted.came.get(host.name, ()))) for host in self.hosts)
        doubled, wrong = 0, []
        for host in self.hosts:
            handles = list(seen.forest.on_host(host.name))
            told = _rows(seen.forest, handles)
            doubled += len(handles) - len(told)
            with opened(Places([str(host.log)]), Settings(), FrozenClock(seen.forest.judged_on(host.name))) as read:
                read.read()
                there = _rows(read.forest, range(len(read.forest)))
            if told != there:
                wrong.append(host.name)
                self._show_difference(told, there)
        return missing, wrong, doubled

    def _show_difference(self, told: dict[str, dict[str, Any]], there: dict[str, dict[str, Any]]) -> None:
        differ = [id for id in there if told.get(id) != there[id]]
        say(f"  {len(differ)} of {len(there)} rows differ, {len(told.keys() - there.keys())} are too many")
        for id in differ[:2]:
            say(f"    {id}: {_difference(told.get(id, {}), there[id])[:300]}")


def _difference(told: dict[str, Any], there: dict[str, Any]) -> str:
    differ = [name for name in there if told.get(name) != there[name]]
    return ", ".join(f"{name}: {told.get(name)!r} for {there[name]!r}" for name in differ)


def _rows(forest: Forest, handles: Iterable[Handle]) -> dict[str, dict[str, Any]]:
    """All facts of these, by their ids, with their state and their parent; but for where they were read."""
    found: dict[str, dict[str, Any]] = {}
    for handle in handles:
        facts, parent = forest.delegation(handle), forest.parent(handle)
        told = {name: getattr(facts, name) for name in Delegation.__struct_fields__ if name not in _PLACES}
        found[facts.id] = told | {
            "state": forest.state(handle),
            "parent": None if parent is None else forest.delegation(parent).id,
        }
    return found


def chaos(folder: Path, arguments: argparse.Namespace) -> bool:
    began = time.monotonic()
    fleet = Fleet(arguments)
    try:
        fleet.start(folder)
        places = Places([], hosts=(hub_address(fleet.address, "all"),))
        say(f"{len(fleet.hosts)} shippers started, {time.monotonic() - began:.0f} s")
        with opened(places, Settings(), witness=fleet.counted, patience=0.0) as seen:
            all_live = {HostState.LIVE: len(fleet.hosts)}
            fleet.look_until(seen, lambda: fleet.states(seen) == all_live, "all hosts to be live", 600)
            took = fleet.latencies(seen)
            p50, p99 = (percentile(took, each) * 1000 for each in (0.5, 0.99))
            say(f"undisturbed: p50 {p50:.0f} ms, p99 {p99:.0f} ms, max {max(took) * 1000:.0f} ms of {len(took)} lines")
            fleet.disturb(seen)
            say(f"disturbed: {dict(fleet.killed)} killed; {fleet.came:,} lines of {fleet.written:,} came meanwhile")

            def is_over() -> bool:
                return fleet.came >= fleet.written and fleet.states(seen) == all_live

            after = fleet.look_until(seen, is_over, "all to be told", 900)
            written = {host.name: host.written_at for host in fleet.hosts}
            fleet.look_until(
                seen, lambda: all((host.news_at or 0) > written[host.name] for host in seen.hosts), "one more beat", 60
            )
            damaged = sum(status.unreadable for status in seen.statuses)
            missing, wrong, doubled = fleet.compare(seen)
            rows = len(seen.forest)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        holds = not (missing or wrong or doubled or damaged) and p99 < 1000
        say(
            f"{'holds' if holds else 'FAILS'}: {len(fleet.hosts)} hosts, {fleet.written:,} events, {rows:,} rows, "
            f"{fleet.killed['nodes']} servers and {fleet.killed['shippers']} shippers killed: {missing} lost, "
            f"{doubled} rows twice, {len(fleet.hosts) - len(wrong)} of {len(fleet.hosts)} hosts equal with states, "
            f"{damaged} damaged lines; {fleet.counted.again:,} lines carried twice and folded; all told {after:.0f} s "
            f"after the last kill; viewer {usage.ru_utime + usage.ru_stime:.0f} s CPU with the comparison, "
            f"{usage.ru_maxrss // 1024} MB; {time.monotonic() - began:.0f} s in all"
            + (f"; WRONG {wrong[:10]}" if wrong else "")
        )
        return holds
    finally:
        fleet.close()


def rights(folder: Path) -> bool:
    with hub(folder) as world:
        results = probes(world)
    for name, held in results.items():
        if not held:
            say(f"FAILS: {name}")
    say(f"rights: {sum(results.values())} of {len(results)}")
    return all(results.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--nodes-killed", type=int, default=30)
    parser.add_argument("--shippers-killed", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--latencies", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", default=["rights", "chaos"], metavar="NAME", help="rights, chaos")
    arguments = parser.parse_args()
    if WHY_NOT:
        parser.error(WHY_NOT)
    holds = True
    for name in arguments.names:
        folder = Path(tempfile.mkdtemp(prefix="nats-fleet-"))
        try:
            holds = (rights(folder) if name == "rights" else chaos(folder, arguments)) and holds
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
