"""Goal 7: how soon the program is there."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench import rivals
from tests.bench.measure import command, in_turn, ratio
from tests.bench.plan import Plan
from tests.bench.table import Row

_SAMPLE = Path(__file__).parents[2] / "sample_logs" / "02_hang"
_LOOKED = (0, 1, 3)
"""How `tree` may end: by what is the matter in the log."""
_NO_ROW = ("-f", "state:unknown")
"""To print a row takes longer than to read its lines, and is no different the second time."""
_ITSELF = "from delegtop.cli import main; main(['--version'])"

_KEEP = """
from delegtop.base.clock import WallClock
from delegtop.report.status import status_file
from delegtop.report.status.machine_status import FirstProblem, MachineStatus, SessionStatus, Tally
now = WallClock().now()
first = FirstProblem("b", "implementer", "webapp", "silent", "stuck", "hung in a tool", "hung in a tool", "bash", True,
                     now - 291_000, 2, "It is inside bash for 4:51 and nothing of it moves.")
tally = Tally({"running": 8, "waiting": 3, "silent": 1}, 0, 1, 3, first)
id = "a1b2c3d4-0000-4000-8000-000000000000"
session = SessionStatus(id, (), "claude-code", "claude", "/w/webapp", "webapp", tally)
status_file.write(MachineStatus(now, "dashboard", 0, tally, (session,) * 6))
"""


def rows(plan: Plan) -> list[Row]:
    taken = in_turn(
        {
            "nothing": partial(command, [sys.executable, "-c", "pass"]),
            "version": partial(command, [rivals.delegtop(), "--version"]),
            "tree": partial(command, [rivals.delegtop(), "tree", str(_SAMPLE)]),
            "status": _status(plan.empty("home")),
            "itself": partial(command, [sys.executable, "-c", _ITSELF]),
        },
        rounds=25 if plan.quick else 75,
    )

    def of_nothing(name: str, what: str, limit: float) -> Row:
        if name not in taken or "nothing" not in taken:
            return Row(7, what, None, limit, note="not measured")
        found = ratio(taken[name], taken["nothing"])
        cost = f"{median(taken[name]) * 1e3:.0f} ms of CPU"
        return Row.of(
            7, what, found, limit, note=cost, felt=("`delegtop tree` on a small log", cost) if name == "tree" else None
        )

    return [
        of_nothing("version", "`delegtop --version`, of `python -c pass`", 1.5),
        of_nothing("itself", "the same without the script that pip wrote, which imports `re`", 1.5),
        of_nothing("tree", "`delegtop tree` on a sample, of `python -c pass`", 9.0),
        of_nothing("status", "`delegtop status --short`, its file fresh, of `python -c pass`", 5.0),
        _again(plan),
    ]


def _again(plan: Plan) -> Row:
    """A log that is at rest is read once more: what is kept of it, if anything is, lies in a cache of its own."""
    log, own = plan.log(plan.peers), rivals.delegtop()
    taken: dict[str, list[float]] = {"first": [], "again": []}
    for number in range(plan.rounds):
        environ = {**os.environ, **rivals.SETTINGS, "XDG_CACHE_HOME": str(plan.empty(f"cache-{number}"))}
        for name in taken:
            taken[name].append(command([own, "tree", *_NO_ROW, str(log)], environ, ends=_LOOKED))
    what = f"`delegtop tree` again on a log of {log.stat().st_size / 1e6:,.0f} MB without printing, of the first time"
    felt = (
        "opening a log that was read before",
        f"{median(taken['again']):.1f} s of CPU, {median(taken['first']):.1f} the first time",
    )
    return Row.of(7, what, ratio(taken["again"], taken["first"]), 0.15, felt=felt)


def _status(home: Path) -> Callable[[], float]:
    """As a status bar asks while a dashboard keeps the file fresh: here nobody does, so it is written before each."""
    environ = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    write = [sys.executable, "-c", _KEEP]
    asked = [rivals.delegtop(), "status", "--short", "--no-wait"]

    def measured() -> float:
        subprocess.run(write, env=environ, check=True)
        return command(asked, environ)

    return measured
