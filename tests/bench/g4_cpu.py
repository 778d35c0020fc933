"""Goal 4: what the dashboard costs while it stands there, against htop in a terminal beside it."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from tests.bench import rivals
from tests.bench.make_logs import LogMaker
from tests.bench.measure import RUN, Failed, Ratio, now, ratio, say
from tests.bench.plan import Plan, short
from tests.bench.table import Row
from tests.bench.terminal import Terminal

LIVE = 60
"""Delegations that still run at the end of a log."""
_THEN = "66b2476"
_SLICES = 5
_END = b"\x1b[F"


def rows(plan: Plan) -> list[Row]:
    htop = rivals.tool("htop")
    log = plan.log(plan.big, live=LIVE)
    with ExitStack() as stack:
        beside = stack.enter_context(Terminal([htop, "-d10"])) if htop else None
        calm, loaded = _idle(plan, log, beside)
        processes = sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit())
        say(f"  loaded after {loaded:.1f} s; {processes} processes; idle {_share(calm):.2%} of a core")
        slow = _busy(plan, 1_000, beside)
        fast = _busy(plan, 10_000, beside)
        say(f"  1,000 events/s {_share(slow):.2%}, 10,000 events/s {_share(fast):.2%} of a core")
    lines = short(int(plan.big / 0.24))
    of_few = Ratio(*(middle / _share(slow) for middle in (_share(fast), min(_own(fast)), max(_own(fast)))))
    return [
        _row(f"idle over {lines} lines, countdowns running, of htop", calm, 3, "nothing happens"),
        _row("1,000 events/s, of htop", slow, None, "1,000 events a second"),
        _since(plan),
        Row.of(4, "10,000 events/s, of 1,000", of_few, 4.5, note=f"{_share(fast):.1%} of a core"),
    ]


def _since(plan: Plan) -> Row:
    """The same beside the state that the target was set by."""
    from tests.bench import against  # which measures with what is here

    what = f"1,000 events/s, of the state of 2026-11-16 ({_THEN})"
    try:
        return Row.of(4, what, against.busy(plan, against.States(_THEN, plan.empty("then"))), 0.6)
    except Failed as error:
        return Row(4, what, None, 0.6, note=f"not measured: {error}")


Slices = list[tuple[float, float]]
"""The shares of a core that delegtop and htop used, slice by slice of the time they were watched."""


def _own(taken: Slices) -> list[float]:
    return [own for own, _ in taken]


def _share(taken: Slices) -> float:
    return median(_own(taken))


def _row(what: str, taken: Slices, limit: float | None, when: str) -> Row:
    share = f"{_share(taken):.2%} of a core"
    if not all(htop for _, htop in taken):
        return Row(4, what, None, limit, note=f"htop is missing; {share}", felt=(when, share))
    return Row.of(4, what, ratio(_own(taken), [htop for _, htop in taken]), limit, note=share, felt=(when, share))


def shares(terminals: Sequence[Terminal | None], seconds: float) -> list[float]:
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


def _sliced(plan: Plan, own: Terminal, htop: Terminal | None) -> Slices:
    taken = [shares((own, htop), plan.window / _SLICES) for _ in range(_SLICES)]
    return [(mine, other) for mine, other in taken]


def _idle(plan: Plan, log: Path, htop: Terminal | None) -> tuple[Slices, float]:
    with Terminal([rivals.delegtop(), str(log)], env=rivals.SETTINGS) as terminal:
        loaded = terminal.settle()
        terminal.press(_END)
        terminal.watch(3)
        return _sliced(plan, terminal, htop), loaded


def _busy(plan: Plan, rate: int, htop: Terminal | None) -> Slices:
    """On a log of its own, so that the one of the other measurements stays what it is."""
    log = plan.empty(f"rate-{rate}") / "session.jsonl"
    with writer(log, rate, plan.window + 3), Terminal([rivals.delegtop(), str(log)], env=rivals.SETTINGS) as terminal:
        terminal.watch(2)
        return _sliced(plan, terminal, htop)


@contextmanager
def writer(log: Path, rate: int, seconds: float) -> Iterator[None]:
    """Another process writes so many lines a second to that log, at most for so long."""
    log.write_text("".join(LogMaker(now() - 60_000).line() for _ in range(200)))
    argv = [sys.executable, str(RUN), "--method", "g4_cpu.write", str(log), str(rate), str(seconds)]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        yield
        if process.poll():
            raise Failed("the writer failed")
    finally:
        process.kill()
        process.wait()


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
