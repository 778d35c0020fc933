"""Goal 4: what the dashboard costs while it stands there, against htop in a terminal beside it."""

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.bench import rivals
from tests.bench.make_logs import LogMaker
from tests.bench.measure import RUN, Failed, now, say
from tests.bench.plan import Plan, short
from tests.bench.table import Row
from tests.bench.terminal import Terminal

_LIVE = 60
_SETTINGS = {**rivals.SETTINGS, "DELEGTOP_FRAME_RATE": "10"}
_END = b"\x1b[F"


def rows(plan: Plan) -> list[Row]:
    htop = rivals.tool("htop")
    log = plan.log(plan.big, live=_LIVE)
    with ExitStack() as stack:
        beside = stack.enter_context(Terminal([htop, "-d10"])) if htop else None
        calm, loaded = _idle(plan, log, beside)
        processes = sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit())
        say(f"  loaded after {loaded:.1f} s; {processes} processes; idle {calm[0]:.2%} of a core, htop {calm[1]:.2%}")
        slow = _busy(plan, 1_000, beside)
        fast = _busy(plan, 10_000, beside)
        say(f"  1,000 events/s {slow[0]:.2%}, 10,000 events/s {fast[0]:.2%} of a core")
    lines = short(int(plan.big / 0.24))
    none = "" if htop else "htop is missing"
    return [
        _row(f"idle over {lines} lines, countdowns running, of htop", calm, 1.8, none),
        _row("1,000 events/s at 10 frames/s, of htop", slow, 7, none),
        Row(4, "10,000 events/s, of 1,000", fast[0] / slow[0], 4.5, note=f"{fast[0]:.1%} of a core"),
    ]


def _row(what: str, taken: tuple[float, float], limit: float, note: str) -> Row:
    own, htop = taken
    return Row(4, what, own / htop if htop else None, limit, note=note or f"{own:.2%} of a core, htop {htop:.2%}")


def _shares(terminals: Sequence[Terminal | None], seconds: float) -> list[float]:
    """The share of a core each uses over the same time. Each is read in turn, so none is held up."""
    before = [terminal.cpu() if terminal else 0.0 for terminal in terminals]
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        for terminal in terminals:
            if terminal:
                terminal.watch(0.02)
    span = time.monotonic() - began
    return [
        (terminal.cpu() - start) / span if terminal else 0.0 for terminal, start in zip(terminals, before, strict=True)
    ]


def _idle(plan: Plan, log: Path, htop: Terminal | None) -> tuple[tuple[float, float], float]:
    with Terminal([rivals.delegtop(), str(log)], env=_SETTINGS) as terminal:
        loaded = terminal.settle()
        terminal.press(_END)
        terminal.watch(3)
        own, other = _shares((terminal, htop), plan.window)
        return (own, other), loaded


def _busy(plan: Plan, rate: int, htop: Terminal | None) -> tuple[float, float]:
    """On a log of its own, so that the one of the other measurements stays what it is."""
    log = plan.empty(f"rate-{rate}") / "session.jsonl"
    log.write_text("".join(LogMaker(now() - 60_000).line() for _ in range(200)))
    with Terminal([rivals.delegtop(), str(log)], env=_SETTINGS) as terminal:
        terminal.settle()
        seconds = plan.window + 3
        argv = [sys.executable, str(RUN), "--method", "g4_cpu.write", str(log), str(rate), str(seconds)]
        writer = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        try:
            terminal.watch(2)
            own, other = _shares((terminal, htop), plan.window)
        finally:
            if writer.wait():
                raise Failed("the writer failed")
        return own, other


def write(log: str, rate: str, seconds: str) -> dict[str, float]:
    """Append lines at that rate, a few at a time, for that long."""
    maker = LogMaker(now(), step=1_000 / int(rate))
    began = time.monotonic()
    written = 0
    with Path(log).open("a") as file:
        while (passed := time.monotonic() - began) < float(seconds):
            due = int(passed * int(rate))
            file.write("".join(maker.line() for _ in range(due - written)))
            file.flush()
            written = due
            time.sleep(0.01)
    return {"lines": written}
