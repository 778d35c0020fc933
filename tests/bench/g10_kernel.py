"""Goal 10: what it costs to ask the kernel about tools that are silent: real processes, half of which hang, and half of
which work a little."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.measure import method, now, say
from tests.bench.plan import Plan
from tests.bench.table import Row

import delegtop
from delegtop.base.clock import Millis, iso

_OPEN = 50
_PROCESSES = 300
"""On the whole machine."""
_AT_FIRST = 65.0
"""Seconds in which new calls are looked at more often, and files that have just grown."""
_HANGS = ("cat",)
_WORKS = (sys.executable, "-c", "import time\nwhile True: sum(range(1000)); time.sleep(0.5)")
_IDLES = ("sleep", "100000")


def rows(plan: Plan) -> list[Row]:
    folder = plan.empty("kernel")
    with _processes() as pids:
        count = sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit())
        load = os.getloadavg()[0]
        shares = {ended: method("g10_kernel.watch", _log(folder, pids, ended=ended), plan.window) for ended in (0, 1)}
    busy, calm = shares[0], shares[1]
    say(f"  {count} processes, load {load:.1f}; open {busy['share']:.3%} of a core, ended {calm['share']:.3%}")
    say(f"  asking the kernel {busy['kernel']:.3%}, looks {busy['looks']:.0f}; ended {calm['looks']:.0f}")
    asked = f"asking the kernel about {_OPEN} silent tools, of a core"
    note = f"{count} processes, load {load:.1f}; a look every {busy['seconds'] / max(busy['looks'], 1):.0f} s"
    whole = f"{calm['share']:.2%} once all have ended"
    return [
        Row(10, asked, 100 * busy["kernel"], 0.5, unit=" %", note=note),
        Row(10, "the whole watcher beside them, of a core", 100 * busy["share"], 0.5, unit=" %", note=whole),
        Row(10, f"looks at processes for {_OPEN} ended ones", calm["looks"], 0, unit=""),
    ]


@contextmanager
def _processes() -> Iterator[list[int]]:
    """The tools, and as many others as make a usual machine."""
    begun: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(_OPEN):
            command = _WORKS if number % 2 else _HANGS
            begun.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
        tools = [process.pid for process in begun]
        there = sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit())
        begun += [subprocess.Popen(_IDLES) for _ in range(max(_PROCESSES - there, 0))]
        yield tools
    finally:
        for process in begun:
            process.kill()
            process.wait()


def _log(folder: Path, pids: list[int], *, ended: int) -> Path:
    path = folder / f"ended-{ended}.jsonl"
    records: list[dict[str, object]] = []
    for number, pid in enumerate(pids):
        at = iso(Millis(now() - 4_000))
        session = {"session_id": f"s{number}", "at": at}
        records.append({"event": "register", **session, "subagent": "runner", "pid": pid, "host": "localhost"})
        if ended:
            body = {"status": "completed", "summary": "done", "artifacts": [], "errors": []}
            records.append({"event": "return", **session, "return": body})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def watch(log: str, seconds: str) -> dict[str, float]:
    """The share of a core that a watcher takes, and of it what the looks at processes take."""
    from delegtop.kernel.call_witness import CallWitness

    spent, looks, look = [0.0], [0], CallWitness.look

    def counted(self, *given):  # type: ignore[no-untyped-def] # stands for the other
        before = time.thread_time()
        found = list(look(self, *given))
        spent[0] += time.thread_time() - before
        looks[0] += 1
        return iter(found)

    CallWitness.look = counted  # type: ignore[method-assign] # likewise
    with delegtop.open(log) as seen:
        _run(seen, _AT_FIRST)
        spent[0], looks[0], began, used = 0.0, 0, time.monotonic(), time.process_time()
        _run(seen, max(float(seconds), 20.0))
        span = time.monotonic() - began
        share = (time.process_time() - used) / span
        return {"share": share, "kernel": spent[0] / span, "looks": looks[0], "seconds": span}


def _run(seen: delegtop.Observation, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        seen.wait(min(left, 1.0))
        seen.look()
