"""What is promised of other machines, tried at length with real ssh servers, and measured.

    python -m tests.fleet.acceptance [--hosts 20] [--seconds 150] [--schedules 10] [--records 20000] [--seed 1] [NAME…]

All of them, or those named: `faults` (hosts whose recorder, ssh server or ssh is killed and that are cut off, then
compared with what each prints itself), `cut` (62 s without a word and impatient limits), `latency`, `first`,
`reconnect`, `idle`, `killed`, `secrets`, `hostile`, `crowd` (40 hosts through one server with its defaults). Each
prints what it measured, and whether that is what docs/fleet.md promises. A host is cut off by stopping its ssh server
and the sessions of that: nobody answers any more, and nothing is closed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.make_logs import LogMaker
from tests.bench.measure import percentile
from tests.bench.terminal import Terminal
from tests.fleet.byte_counters import ByteCounters
from tests.fleet.host_stand_ins import WHY_NOT, FakeSsh, FleetStandIn, HostStandIn, fleet
from tests.fleet.told_streams import ToldStreams, header
from tests.masking.planted import leaked, plant

from delegtop.base.clock import Millis, WallClock, iso
from delegtop.base.ssh_command import SshAddress
from delegtop.feed.host_link import HostLink
from delegtop.feed.host_states import HostState
from delegtop.model.store.ledger import Handle
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.report import tree_json
from delegtop.settings import Settings

LOG = "state/delegtop/logs/run.jsonl"
_PLACES = ("rank", "host", "source", "origin", "assessment", "findings", "notes", "claims", "reason")
"""What is told otherwise here than there, or counts the minutes."""
_JUDGED = ("state", "waiting_on")
"""What goes by the last word of the host, and not by the moment that is shown."""
MB = 1 << 20


class Result(NamedTuple):
    """One promise, and what came of it."""

    name: str
    holds: bool
    measured: str


def say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


# -- hosts and who looks at them ---------------------------------------------------------------------------------------


class Writers:
    """Logs of all hosts that grow, so many lines a second each."""

    def __init__(self, hosts: Sequence[HostStandIn], records: int) -> None:
        self.paths, self._makers = [host.home / LOG for host in hosts], list[LogMaker]()
        for number, path in enumerate(self.paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            maker = LogMaker(WallClock().now() - records * 20, step=20, seed=number + 1)
            with path.open("w") as file:
                file.writelines(maker.line() for _ in range(records))
            self._makers.append(maker)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, a_second: float) -> None:
        self._over.clear()
        self._thread = threading.Thread(target=self._write, args=(a_second,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _write(self, a_second: float) -> None:
        while not self._over.wait(1 / a_second):
            for path, maker in zip(self.paths, self._makers, strict=True):
                maker._at = WallClock().now()
                maker._step = 0
                with path.open("a") as file:
                    file.write(maker.line())


@contextmanager
def watched(world: FleetStandIn, names: Sequence[str], **settings: Any) -> Iterator[Observation]:
    places = Places([], hosts=tuple(SshAddress(name, name, since="all") for name in names))
    before = os.environ["PATH"]
    os.environ["PATH"] = world.path
    try:
        with opened(places, Settings(**settings), patience=300.0) as seen:
            yield seen
    finally:
        os.environ["PATH"] = before


def states(seen: Observation) -> dict[str, HostState]:
    return {host.name: host.state for host in seen.hosts}


def look_until(seen: Observation, holds: Callable[[], object], seconds: float = 300) -> float:
    """Look until it holds; gives the seconds that took."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not within {seconds:.0f} s: {seen.hosts}")
        seen.wait(0.2)
        seen.look()
    return time.monotonic() - began


def told_here(seen: Observation) -> dict[str, dict[str, dict[str, Any]]]:
    """By host and id, what the viewer says of each at this moment."""
    document = json.loads("\n".join(tree_json.tree(seen.forest, ())))
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in document["delegations"]:
        assert row["id"] not in found.get(row["host"], {}), f"{row['id']} twice"
        found.setdefault(row["host"], {})[row["id"]] = _bare(row)
    return found


def told_there(host: HostStandIn, at: Millis) -> dict[str, dict[str, Any]]:
    environ = {**os.environ, "HOME": str(host.home), "XDG_STATE_HOME": str(host.home / "state")}
    line = [sys.executable, "-m", "delegtop", "tree", "--json", "--at", iso(at), str(host.home / LOG)]
    document = subprocess.run(line, env=environ, cwd=host.home, capture_output=True, check=True).stdout
    return {row["id"]: _bare(row) for row in json.loads(document)["delegations"]}


def _bare(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _PLACES}


def compared(seen: Observation, hosts: Sequence[HostStandIn]) -> tuple[list[str], int]:
    """The hosts of which something else is said here than there, states included, and how many rows there are."""
    look_until(seen, lambda: all(seen.forest.now_on(host.name) == seen.forest.shown_at for host in hosts))
    at = seen.forest.shown_at
    here = told_here(seen)
    wrong = []
    for host in hosts:
        now, judged = told_there(host, at), told_there(host, seen.forest.judged_on(host.name))
        told = here.get(host.name, {})
        there = {id: now[id] | {name: row[name] for name in _JUDGED} for id, row in judged.items()}
        if told != there:
            wrong.append(f"{host.name} ({_difference(told, there)})")
    return wrong, len(seen.forest)


def _difference(here: dict[str, dict[str, Any]], there: dict[str, dict[str, Any]]) -> str:
    """The first that is told otherwise, and how many are."""
    ids = [id for id in here.keys() | there.keys() if here.get(id) != there.get(id)]
    first = min(ids)
    ours, theirs = here.get(first, {}), there.get(first, {})
    fields = {name: (ours.get(name), theirs.get(name)) for name in ours | theirs if ours.get(name) != theirs.get(name)}
    return f"{len(ids)} rows; {first}, here and there: {fields}"


# -- the promises ------------------------------------------------------------------------------------------------------


def faults(folder: Path, arguments: argparse.Namespace) -> Iterator[Result]:
    for schedule in range(arguments.schedules):
        yield _schedule(folder / f"faults{schedule}", arguments, arguments.seed + schedule)


def _schedule(folder: Path, arguments: argparse.Namespace, seed: int) -> Result:
    dice = random.Random(seed)
    with fleet(folder) as world:
        names = [f"dev{number}" for number in range(arguments.hosts)]
        hosts = world.add(*names)
        writers = Writers(hosts, arguments.records)
        with watched(world, names) as seen:
            seen.catch_up()
            began = look_until(seen, lambda: set(states(seen).values()) == {HostState.LIVE})
            first = sum(stream.spool.size for stream in seen.fleet.streams) if seen.fleet else 0
            writers.begin(5)
            done = _disturb(seen, hosts, dice, arguments.seconds)
            writers.end()
            again = look_until(seen, lambda: set(states(seen).values()) == {HostState.LIVE} and _is_read(seen, hosts))
            more = sum(stream.spool.size for stream in seen.fleet.streams) - first if seen.fleet else 0
            damaged = sum(status.unreadable for status in seen.statuses)
            wrong, rows = compared(seen, hosts)
    measured = (
        f"seed {seed}: {len(hosts) - len(wrong)}/{len(hosts)} hosts equal with states, {rows:,} rows; {done}; "
        f"all live {again:.0f} s after the last; {more / len(hosts) / 1000:.0f} KB a host after the first "
        f"{first / len(hosts) / MB:.1f} MB; {damaged} damaged lines; caught up in {began:.0f} s"
    )
    return Result("faults", not wrong and not damaged, measured + (f"; WRONG: {wrong}" if wrong else ""))


def _is_read(seen: Observation, hosts: Sequence[HostStandIn]) -> bool:
    """Whether every log is told to its end."""
    if seen.fleet is None:
        return False
    marks = {stream.name: stream.marks for stream in seen.fleet.streams}
    return all(any(mark[0] == (host.home / LOG).stat().st_size for mark in marks[host.name].values()) for host in hosts)


def _disturb(seen: Observation, hosts: Sequence[HostStandIn], dice: random.Random, seconds: float) -> str:
    """Kill recorders, sessions and clients and cut hosts off, at random; gives what was done."""
    cut = dice.sample(list(hosts), max(len(hosts) * 3 // 10, 1))
    length = min(62.0, seconds * 0.4)
    plan: list[tuple[float, Callable[[], None]]] = []
    cut_at = dice.uniform(0, seconds - length)
    plan += [(cut_at, _all(cut, HostStandIn.freeze)), (cut_at + length, _all(cut, HostStandIn.thaw))]
    kills = max(len(hosts) * 3 // 20, 1)
    for kind in (_kill_recorder, _kill_session, _kill_client):
        plan += [(dice.uniform(0, seconds), _killing(kind, seen, dice.choice(hosts))) for _ in range(kills)]
    began = time.monotonic()
    for at, act in sorted(plan, key=lambda each: each[0]):
        while time.monotonic() - began < at:
            seen.wait(0.2)
            seen.look()
        act()
    while time.monotonic() - began < seconds:
        seen.wait(0.2)
        seen.look()
    killed = f"{kills} recorders, {kills} servers' sessions and {kills} clients killed"
    return f"{killed}, {len(cut)} hosts cut off for {length:.0f} s"


def _all(hosts: Sequence[HostStandIn], act: Callable[[HostStandIn], None]) -> Callable[[], None]:
    def done() -> None:
        for host in hosts:
            act(host)

    return done


Kill = Callable[[Observation, HostStandIn], None]


def _killing(kind: Kill, seen: Observation, host: HostStandIn) -> Callable[[], None]:
    return lambda: kind(seen, host)


def _kill_recorder(_seen: Observation, host: HostStandIn) -> None:
    for pid in host.recorders():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _kill_session(_seen: Observation, host: HostStandIn) -> None:
    for pid in host.servers():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _links(seen: Observation) -> list[HostLink]:
    return [link for link in seen.fleet.links if isinstance(link, HostLink)] if seen.fleet is not None else []


def _kill_client(seen: Observation, host: HostStandIn) -> None:
    for link in _links(seen):
        process = getattr(link.connection, "_process", None)
        if link.name == host.name and process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def cut(folder: Path, arguments: argparse.Namespace) -> Iterator[Result]:
    """All open rows have just been heard of; silent is who says nothing for 20 s."""
    with fleet(folder) as world:
        names = [f"dev{number}" for number in range(min(arguments.hosts, 6))]
        hosts = world.add(*names)
        writers = Writers(hosts, 500)
        with watched(world, names, silent_after=20_000) as seen:
            seen.catch_up()
            writers.begin(5)
            look_until(seen, lambda: set(states(seen).values()) == {HostState.LIVE})
            _look_for(seen, 10)
            lost = hosts[: len(hosts) // 2]
            for host in lost:
                host.freeze()
            at, stale, changed = time.monotonic(), dict[str, float](), 0
            _look_for(seen, 1)  # what is on its way
            before = {host.name: _states_on(seen, host.name) for host in lost}
            while time.monotonic() - at < 62:
                seen.wait(0.2)
                seen.look()
                for name, state in states(seen).items():
                    if state is HostState.STALE:
                        stale.setdefault(name, time.monotonic() - at)
                changed = max(changed, sum(_differ(before[host.name], _states_on(seen, host.name)) for host in lost))
            gone = sum(states(seen)[host.name] in (HostState.UNREACHABLE, HostState.CONNECTING) for host in lost)
            waits = max(link.seconds_left for link in _links(seen))
            for host in lost:
                host.thaw()
            back = look_until(seen, lambda: set(states(seen).values()) == {HostState.LIVE})
            writers.end()
    slowest = max(stale.values(), default=float("inf"))
    holds = changed == 0 and len(stale) == len(lost) and slowest <= 17.5 and gone == len(lost) and back <= waits + 15
    yield Result(
        "cut",
        holds,
        f"{len(lost)} hosts cut off for 62 s: {changed} states changed by time; stale after {slowest:.1f} s at most; "
        f"live again {back:.1f} s after, {waits:.0f} s of which the next try was due in",
    )


def _states_on(seen: Observation, host: str) -> dict[Handle, str]:
    return {handle: seen.forest.state(handle).value for handle in seen.forest.on_host(host)}


def _differ(before: dict[Handle, str], after: dict[Handle, str]) -> int:
    """Of those that were known then."""
    return sum(after[handle] != state for handle, state in before.items())


def _look_for(seen: Observation, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        seen.wait(0.2)
        seen.look()


def latency(folder: Path, _arguments: argparse.Namespace) -> Iterator[Result]:
    """From the line in the file there to the row on the screen here."""
    with fleet(folder) as world:
        (host,) = world.add("dev1")
        path = host.home / LOG
        path.parent.mkdir(parents=True)
        maker, dice = LogMaker(WallClock().now() - 60_000), random.Random(7)
        path.write_text(maker.start(root=True))
        id = json.loads(path.read_text())["session_id"]
        taken = []
        with Terminal([sys.executable, "-m", "delegtop", "ssh://dev1"], env={"PATH": world.path}) as terminal:
            terminal.settle(busy=0.25)
            for number in range(100):
                terminal.watch(dice.uniform(0.1, 0.6))
                terminal.forget()
                mark = f"MARK{number:05d}"
                told = {"event": "heartbeat", "at": iso(WallClock().now()), "session_id": id}
                with path.open("a") as file:
                    file.write(json.dumps(told | {"activity": f"{mark} done"}) + "\n")
                written = time.monotonic()
                taken.append(terminal.wait_for(mark.encode(), timeout=10) - written)
    p50, p95, most = (percentile(taken, share) * 1000 for share in (0.5, 0.95, 1.0))
    yield Result("latency", p95 < 200, f"append to row: p50 {p50:.0f} ms, p95 {p95:.0f} ms, max {most:.0f} ms of 100")


def first(folder: Path, _arguments: argparse.Namespace) -> Iterator[Result]:
    """From the start of the program to the first row of another host on the screen."""
    with fleet(folder) as world:
        (host,) = world.add("dev1")
        Writers([host], 200)
        taken = []
        for _ in range(5):
            with Terminal([sys.executable, "-m", "delegtop", "ssh://dev1"], env={"PATH": world.path}) as terminal:
                taken.append(terminal.wait_for(b"DELEGATION", timeout=30) - terminal.began)
    yield Result("first", min(taken) < 1.5, f"first row: {min(taken):.2f} s at best, {max(taken):.2f} s at worst of 5")


def reconnect(folder: Path, arguments: argparse.Namespace) -> Iterator[Result]:
    with fleet(folder) as world, ByteCounters() as counters:
        (host,) = world.add("dev1")
        Writers([host], arguments.records)
        world.write_config(ports={"dev1": counters.before(host.port)})
        with watched(world, ["dev1"]) as seen:
            seen.catch_up()
            assert seen.fleet is not None
            (stream,) = seen.fleet.streams
            _look_for(seen, 2)
            told, sent = stream.spool.size, counters.received(host.port)
            shares = []
            for _ in range(3):
                size = counters.received(host.port)
                _kill_recorder(seen, host)
                look_until(seen, lambda: states(seen)["dev1"] is not HostState.LIVE)
                look_until(seen, lambda: states(seen)["dev1"] is HostState.LIVE)
                _look_for(seen, 1)
                shares.append((counters.received(host.port) - size) / sent)
    worst = max(shares)
    yield Result(
        "reconnect",
        worst < 0.05,
        f"{arguments.records:,} records are {told / MB:.1f} MB, {sent / 1000:,.0f} KB on the wire "
        f"({sent / arguments.records:.0f} B a record); a reconnection takes {worst:.1%} of that at most",
    )


def idle(folder: Path, arguments: argparse.Namespace) -> Iterator[Result]:
    with fleet(folder) as world, ByteCounters() as counters:
        names = [f"dev{number}" for number in range(arguments.hosts)]
        hosts = world.add(*names)
        Writers(hosts, 500)
        world.write_config(ports={host.name: counters.before(host.port) for host in hosts})
        line = [sys.executable, "-m", "delegtop", *(f"ssh://{name}" for name in names)]
        with Terminal(line, env={"PATH": world.path}) as terminal:
            terminal.wait_for(f"{len(names)} hosts".encode(), timeout=300)
            terminal.settle(busy=0.2)
            _watch(terminal, 20)
            before = sum(counters.received(host.port) for host in hosts)
            share = terminal.cpu_over(60)
            a_second = (sum(counters.received(host.port) for host in hosts) - before) / 60 / len(hosts)
            memory = _resident(terminal.pid)
            there = [_resident(pid) for host in hosts for pid in host.recorders()]
    yield Result(
        "idle",
        share < 0.03 and a_second < 100,
        f"{len(hosts)} idle hosts: {share:.1%} of a core, {memory / MB:.0f} MB here, {max(there) / MB:.0f} MB there; "
        f"{a_second:.0f} B/s a host on the wire",
    )


def _watch(terminal: Terminal, seconds: float) -> None:
    terminal.watch(seconds)


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def killed(folder: Path, _arguments: argparse.Namespace) -> Iterator[Result]:
    with fleet(folder) as world:
        (host,) = world.add("dev1")
        Writers([host], 500)
        before = {path for path in host.home.rglob("*") if path.is_file()}
        taken = []
        for _ in range(3):
            line = [sys.executable, "-m", "delegtop", "watch", "ssh://dev1", "--since", "all"]
            environ = {**os.environ, "PATH": world.path}
            viewer = subprocess.Popen(line, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert viewer.stdout is not None
            viewer.stdout.readline()
            assert host.recorders()
            viewer.kill()
            viewer.wait()
            began = time.monotonic()
            while host.recorders() and time.monotonic() - began < 60:
                time.sleep(0.02)
            taken.append(time.monotonic() - began)
            viewer.stdout.close()
        left = {path for path in host.home.rglob("*") if path.is_file()} - before
    yield Result(
        "killed",
        max(taken) < 10 and not left,
        f"viewer killed: no recorder there after {max(taken):.1f} s at most of 3; {len(left)} files left",
    )


def secrets(folder: Path, _arguments: argparse.Namespace) -> Iterator[Result]:
    planted = list(plant(500, seed=11))
    with fleet(folder) as world:
        (host,) = world.add("dev1")
        path = host.home / LOG
        path.parent.mkdir(parents=True)
        maker = LogMaker(WallClock().now() - 60_000)
        path.write_text(maker.start(root=True))
        id = json.loads(path.read_text())["session_id"]
        with path.open("a") as file:
            for number, each in enumerate(planted):
                at = iso(Millis(WallClock().now() - 50_000 + number))
                record = {"event": "heartbeat", "at": at, "session_id": id, "activity": each.text}
                file.write(json.dumps(record) + "\n")
        with watched(world, ["dev1"]) as seen:
            seen.catch_up()
            assert seen.fleet is not None
            (stream,) = seen.fleet.streams
            sent = b"\n".join(line for _, line in stream.spool.lines()).decode()
    out = leaked(planted, sent)
    kinds = len({each.kind for each in planted})
    names = ", ".join(each.kind for each in out) or "none"
    yield Result(
        "secrets", len(out) <= 5, f"{500 - len(out)} of 500 secrets of {kinds} kinds masked there; seen: {names}"
    )


_NAMES = """import sys
from itertools import count
from delegtop.dialects.recording.tape import TapeSource, frames
for number in count(2):
    sys.stdout.buffer.write(b"".join(frames(TapeSource(number, f"/{number}" + "x" * 4_000))))"""

HOSTILE: dict[str, str] = {
    "an endless line": "exec tr '\\0' x </dev/zero",
    "endless short lines": "exec yes",
    "endless lines that begin as ours": """exec yes '{"crc":"00000000","is":"told"'""",
    "random bytes": "exec cat /dev/urandom",
    "endless zero bytes and newlines": "while :; do head -c 65536 /dev/zero; echo; done",
    "a stream and then noise": 'cat "$0.stream"; exec cat /dev/urandom',
    "a stream and then an endless line": 'cat "$0.stream"; exec tr "\\\\0" x </dev/zero',
    "its stream again and again": 'while cat "$0.stream"; do :; done',  # it ends with who reads it
    "names of logs without end": f"cat \"$0.stream\"; exec {sys.executable} -c '{_NAMES}'",
    "endless words on stderr": "exec yes >&2",
    "nothing": "exec sleep 600",
    "it closes its output and stays": "exec >&-; exec sleep 600",
    "it does not listen": 'cat "$0.stream"; exec <&-; exec sleep 600',
}


def hostile(folder: Path, _arguments: argparse.Namespace) -> Iterator[Result]:
    """Thirteen hosts that send whatever they like, and one that is as it should be."""
    world = ToldStreams(folder)
    for number, script in enumerate(HOSTILE.values()):
        world.streams(f"bad{number}", header(mark=str(number)))
        world.ssh.host(f"bad{number}", script.replace("$0.stream", f"{folder}/bad{number}.stream"))
    home = world.ssh.runs_delegtop("good")
    path = home / ".local" / LOG
    path.parent.mkdir(parents=True)
    path.write_text(LogMaker(WallClock().now() - 60_000).start(root=True))
    base = _looked_at(world.ssh, ["good"], 15)
    names = ["good", *(f"bad{number}" for number in range(len(HOSTILE)))]
    memory = _looked_at(world.ssh, names, 45)
    commands = [each for each in ("pwned",) if (folder / each).exists()]
    yield Result(
        "hostile",
        memory - base < 100 * MB and not commands,
        f"{len(HOSTILE)} hostile hosts beside a good one for 45 s: {memory / MB:.0f} MB, {(memory - base) / MB:.0f} MB "
        "over the good one alone; it goes on",
    )


def _looked_at(ssh: FakeSsh, names: Sequence[str], seconds: float) -> int:
    """The most memory that somebody who looks at these takes."""
    line = [sys.executable, "-m", "delegtop", *(f"ssh://{name}" for name in names)]
    most = 0
    with Terminal(line, env={"PATH": ssh.path}) as terminal:
        terminal.wait_for(b"DELEGATION", timeout=60)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            terminal.watch(0.5)
            most = max(most, _resident(terminal.pid))
    return most


def crowd(folder: Path, _arguments: argparse.Namespace) -> Iterator[Result]:
    """Forty homes behind one server with the defaults of sshd."""
    with fleet(folder) as world:
        (host,) = world.add("bastion", extra=["AcceptEnv TEST_HOME"])
        host.install(f'export HOME="${{TEST_HOME:-$HOME}}" XDG_STATE_HOME=; exec {sys.executable} -m delegtop')
        names = [f"h{number}" for number in range(40)]
        for name in names:
            (world.folder / "homes" / name).mkdir(parents=True)
        homes = {name: f"TEST_HOME={world.folder / 'homes' / name}" for name in names}
        world.write_config(aliases=dict.fromkeys(names, "bastion"), environs=homes)
        with watched(world, names) as seen:
            refused: set[str] = set()
            began = time.monotonic()
            seen.look()
            while set(states(seen).values()) != {HostState.LIVE} and time.monotonic() - began < 280:
                seen.wait(0.2)
                seen.look()
                refused |= {host.text for host in seen.hosts if host.state is HostState.UNREACHABLE}
            live = sum(state is HostState.LIVE for state in states(seen).values())
            taken = time.monotonic() - began
    yield Result("crowd", live == 40 and not refused, f"{live} of 40 live in {taken:.0f} s, {len(refused)} refused")


PROMISES: dict[str, Callable[[Path, argparse.Namespace], Iterator[Result]]] = {
    "faults": faults,
    "cut": cut,
    "latency": latency,
    "first": first,
    "reconnect": reconnect,
    "idle": idle,
    "killed": killed,
    "secrets": secrets,
    "hostile": hostile,
    "crowd": crowd,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROMISES))
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--schedules", type=int, default=10)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if WHY_NOT:
        parser.error(WHY_NOT)
    failed = 0
    for name in arguments.names or PROMISES:
        folder = Path(tempfile.mkdtemp(prefix=f"fleet-{name}-"))
        try:
            for result in PROMISES[name](folder, arguments):
                say(f"{'holds ' if result.holds else 'FAILS '} {result.name:<10} {result.measured}")
                failed += not result.holds
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
