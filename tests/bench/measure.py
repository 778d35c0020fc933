"""Measuring: each method in its own process, methods in turn, medians of CPU time.

Neighbours on the machine lengthen wall time far more than CPU time, and whatever else they do to one method they do to
the next in the same round; so only ratios within one run are worth writing down.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import accumulate
from math import comb
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).parent
RUN = HERE / "run.py"
PEERS = HERE / "peers"


class Failed(Exception):  # noqa: N818 - reads better where it is raised
    """A method could not be measured; the message says why."""


def command(argv: Sequence[str], env: Mapping[str, str] | None = None, ends: Container[int] = (0,)) -> float:
    """CPU seconds of a whole command, its output thrown away; it has failed if it does not end with one of `ends`."""
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends:
        raise Failed(f"{Path(argv[0]).name} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def method(name: str, *arguments: object, env: Mapping[str, str] | None = None) -> dict[str, float]:
    """What `module.function` of this folder returns when it is called in a process of its own."""
    argv = [sys.executable, str(RUN), "--method", name, *map(str, arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise Failed(f"{name}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


class Ratio(NamedTuple):
    """Of two methods that took turns: the median of the rounds' ratios, and between which it lies in 95 of 100 runs."""

    value: float
    low: float
    high: float


def in_turn(methods: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each method took, round by round. One that fails is left out and said on stderr."""
    taken: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name in list(taken):
            try:
                taken[name].append(methods[name]())
            except (Failed, OSError) as error:
                say(f"  {name} cannot be measured: {error}")
                del taken[name]
    return taken


def ratio(own: Sequence[float], other: Sequence[float]) -> Ratio:
    """Each round for itself, since a neighbour that disturbs one method of it disturbs the other, too."""
    ratios = sorted(mine / theirs for mine, theirs in zip(own, other, strict=True))
    out = _outside(len(ratios))
    return Ratio(median(ratios), ratios[out], ratios[-1 - out])


def _outside(count: int) -> int:
    """How many values at each end are left out, so that the median lies between the others in 95 of 100 runs; none of
    five or fewer, which decide less."""
    left, out = 0.0, 0
    while (left := left + comb(count, out) / 2**count) <= 0.025:
        out += 1
    return out


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process, all its threads, for one piece of work."""
    before = time.process_time()
    work()
    return time.process_time() - before


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest rank: with few values the 99th is the largest."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def spread(values: Sequence[float], share: float) -> tuple[float, float]:
    """Between which that percentile lies in 95 of 100 runs, by how many values may lie below it."""
    ordered, count = sorted(values), len(values)
    odds = [comb(count, below) * share**below * (1 - share) ** (count - below) for below in range(count + 1)]
    sums = list(accumulate(odds))
    low = next(below for below, total in enumerate(sums) if total > 0.025)
    high = next((below for below, total in enumerate(sums) if total >= 0.975), count)
    return ordered[max(low - 1, 0)], ordered[min(high, count - 1)]


def resident() -> int:
    """Bytes of memory this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


def say(text: str) -> None:
    """Progress, on stderr: stdout is the table."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
