"""Goal 7: how soon the program is there."""

import sys
from functools import partial
from pathlib import Path

from tests.bench import rivals
from tests.bench.measure import command, in_turn
from tests.bench.plan import Plan
from tests.bench.table import Row

_SAMPLE = Path(__file__).parents[2] / "sample_logs" / "02_hang"
_ITSELF = "from delegtop.cli import main; main(['--version'])"


def rows(plan: Plan) -> list[Row]:
    taken = in_turn(
        {
            "nothing": partial(command, [sys.executable, "-c", "pass"]),
            "version": partial(command, [rivals.delegtop(), "--version"]),
            "tree": partial(command, [rivals.delegtop(), "tree", str(_SAMPLE)]),
            "itself": partial(command, [sys.executable, "-c", _ITSELF]),
        },
        rounds=25 if plan.quick else 75,
    )
    what = "`delegtop --version`, of `python -c pass`"
    again = "not built: a log is read anew each time"

    def of_nothing(name: str) -> float | None:
        return taken[name] / taken["nothing"] if name in taken and "nothing" in taken else None

    return [
        Row(7, what, of_nothing("version"), 1.5, note=f"{taken.get('version', 0) * 1e3:.1f} ms of CPU"),
        Row(7, "the same without the script that pip wrote, which imports `re`", of_nothing("itself"), 1.5),
        Row(7, "`delegtop tree` on a sample, of `python -c pass`", of_nothing("tree"), 9.0),
        Row(7, "opening a log again, of the first read", None, 0.33, note=again),
    ]
