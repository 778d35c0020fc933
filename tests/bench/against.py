"""Two states of the program against each other: this one and that of a commit, in turn and side by side.

What counts is the CPU time of whole programs. Where a dashboard is watched, both run at the same time on the same log.
"""

import compileall
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from pathlib import Path

from tests.bench import rivals
from tests.bench.g4_cpu import LIVE, shares, writer
from tests.bench.make_history import make_history
from tests.bench.measure import Failed, Ratio, command, in_turn, method, now, ratio, say
from tests.bench.plan import Plan
from tests.bench.terminal import Terminal

_ROOT = Path(__file__).resolve().parents[2]
_SAMPLE = _ROOT / "sample_logs" / "02_hang"
_SLICES = 9
_SESSION = 555_000
_PROGRAM = (sys.executable, "-m", "delegtop")

Measured = tuple[str, Ratio]


class States:
    """The packages of both, each as an environment in which Python finds it first."""

    def __init__(self, commit: str, folder: Path) -> None:
        with tarfile.open(fileobj=BytesIO(_output("git", "-C", str(_ROOT), "archive", commit))) as archive:
            archive.extractall(folder / "source", filter="data")
        # Its formats are found by what is installed, so it is, in a folder of its own.
        into = folder / "installed"
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _output(*pip, "--no-deps", "--no-build-isolation", "--target", str(into), str(folder / "source"))
        compileall.compile_dir(into, quiet=1)
        self.here = _first(_ROOT / "tui")
        self.there = _first(into)


def _output(*argv: str) -> bytes:
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        raise Failed(done.stderr.decode(errors="replace").strip())
    return done.stdout


def _first(package: Path) -> dict[str, str]:
    return {**os.environ, **rivals.SETTINGS, "PYTHONPATH": str(package)}


def measured(plan: Plan, commit: str, goals: Container[int]) -> Iterator[Measured]:
    """Each thing of these goals with this state's CPU time (or memory), of that of the commit."""
    states = States(commit, plan.empty("commit"))
    rounds = plan.rounds * 2 + 1
    log, home, nothing = plan.log(plan.peers), plan.empty("transcripts"), plan.empty("nothing")
    make_history(home, 36 if plan.quick else 180, _SESSION, now())
    several: dict[str, tuple[int, int, Callable[[Mapping[str, str]], float]]] = {
        "`--version`": (7, rounds * 3, lambda env: command([*_PROGRAM, "--version"], env)),
        "`tree` on a sample": (7, rounds * 3, lambda env: command([*_PROGRAM, "tree", str(_SAMPLE)], env)),
        "a log into the tree": (1, rounds, lambda env: method("g1_ingest.load", log, env=env)["cpu"]),
        "memory a delegation of that log": (2, 3, lambda env: method("g1_ingest.load", log, env=env)["bytes"]),
        "transcripts into the tree": (1, rounds, lambda env: method("g1_ingest.load", home, env=env)["cpu"]),
        "first paint": (5, rounds, lambda env: _painted([str(nothing)], env)),
        "first row of a log": (5, rounds, lambda env: _painted([str(_SAMPLE)], env, b"task-executor")),
    }
    for what, (goal, times, work) in several.items():
        if goal not in goals:
            continue
        say(f"  {what}")
        taken = in_turn({"here": partial(work, states.here), "there": partial(work, states.there)}, times)
        if len(taken) == 2:
            yield what, ratio(taken["here"], taken["there"])
    if 4 in goals:
        say("  dashboards side by side")
        yield "a dashboard while nothing happens", idle(plan, states)
        yield "a dashboard at 1,000 events a second", busy(plan, states)


def _painted(arguments: list[str], env: Mapping[str, str], text: bytes = b"delegtop") -> float:
    """CPU seconds up to that text on the screen."""
    with Terminal([*_PROGRAM, *arguments], env=env) as terminal:
        terminal.wait_for(text, timeout=120)
        return terminal.cpu()


def idle(plan: Plan, states: States) -> Ratio:
    """Dashboards side by side, on a log that nobody writes to."""
    return _shared(plan, plan.log(plan.peers, live=LIVE), states)


def busy(plan: Plan, states: States) -> Ratio:
    """Dashboards side by side, on a log of a thousand lines a second."""
    log = plan.empty("busy") / "session.jsonl"
    with writer(log, 1_000, plan.window * 2 + 120):
        return _shared(plan, log, states, settles=False)


def _shared(plan: Plan, log: Path, states: States, *, settles: bool = True) -> Ratio:
    """Each is begun first once: of two that are the same, the first took up to a tenth more."""
    own: list[float] = []
    other: list[float] = []
    for envs, taken in (((states.here, states.there), (own, other)), ((states.there, states.here), (other, own))):
        with ExitStack() as opened:
            beside = [opened.enter_context(Terminal([*_PROGRAM, str(log)], env=env)) for env in envs]
            for terminal in beside if settles else ():
                terminal.settle()
            shares(beside, 5)
            for _ in range(_SLICES):
                for kept, share in zip(taken, shares(beside, plan.window * 2 / _SLICES), strict=True):
                    kept.append(share)
    return ratio(own, other)


def text(rows: list[Measured], commit: str) -> str:
    """The table: below 1 this state takes less."""
    width = max((len(what) for what, _ in rows), default=0)
    lines = [f"{'what':<{width}}  this, of {commit}"]
    lines += [f"{what:<{width}}  {of.value:.2f}x ({of.low:.2f}–{of.high:.2f})  {_verdict(of)}" for what, of in rows]
    return "\n".join(lines)


def _verdict(of: Ratio) -> str:
    return "less" if of.high < 1 else "more" if of.low > 1 else "undecided"
