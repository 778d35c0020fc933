"""Goal 7: how soon the program is there."""

import sys
from functools import partial

from tests.bench import rivals
from tests.bench.measure import command, in_turn
from tests.bench.plan import Plan
from tests.bench.table import Row


def rows(plan: Plan) -> list[Row]:
    taken = in_turn(
        {
            "nothing": partial(command, [sys.executable, "-c", "pass"]),
            "version": partial(command, [rivals.delegtop(), "--version"]),
        },
        rounds=25 if plan.quick else 75,
    )
    what = "`delegtop --version`, of `python -c pass`"
    measured = taken["version"] / taken["nothing"] if len(taken) == 2 else None
    again = "not built: a log is read anew each time"
    return [
        Row(7, what, measured, 1.5, note=f"{taken.get('version', 0) * 1e3:.1f} ms of CPU"),
        Row(7, "opening a log again, of the first read", None, 0.33, note=again),
    ]
