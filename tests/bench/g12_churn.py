"""Goal 12: what each session costs that has come and gone while the dashboard runs.

As a program of its own it goes on for longer: python -m tests.bench.g12_churn [--sessions 100000]
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench import rivals
from tests.bench.g11_load import resident, slope
from tests.bench.make_logs import heartbeat, register
from tests.bench.measure import now, say
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.bench.terminal import Terminal

FILES = 50
_STEPS = 10
_CALM = 0.25


def rows(plan: Plan) -> list[Row]:
    sessions = 20_000 if plan.quick else 100_000
    cost = churn(plan.empty("churn"), sessions)
    what = f"memory a session that has come and gone, by {sessions:,} of them"
    return [Row(12, what, cost, 100, unit=" B", note=f"a million would be {cost / 1e3:,.2f} GB")]


def churn(folder: Path, sessions: int) -> float:
    """Bytes a session, by the line of least squares through ten looks without the first two, when much grows once."""
    step = sessions // _STEPS
    sizes: list[tuple[float, int]] = []
    _write(folder, 0, FILES)
    with Terminal([rivals.delegtop(), str(folder)], env=rivals.SETTINGS) as terminal:
        terminal.settle(busy=_CALM)
        for number in range(_STEPS):
            _write(folder, FILES + number * step, step)
            terminal.settle(busy=_CALM)
            sizes.append((float((number + 1) * step), resident(terminal)))
            say(f"  {(number + 1) * step:,} sessions: {sizes[-1][1] / 1e6:.1f} MB")
    return slope(sizes[_STEPS // 5 :])


def _write(folder: Path, first: int, count: int) -> None:
    """Sessions that begin, say something and end, spread over the files."""
    for place in range(FILES):
        with (folder / f"{place:02d}.jsonl").open("a") as file:
            for number in range(first + place, first + count, FILES):
                id, at = f"sess_1766743200_{number:07d}", now()
                told = f'"return":{{"status":"completed","summary":"Step {number} is done.","artifacts":[]}}'
                file.write(register(id, at) + heartbeat(id, at + 1, f"working on {number}"))
                file.write(heartbeat(id, at + 2, "x").replace('"heartbeat"', '"return"').rstrip("}\n") + f",{told}}}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="delegtop-churn-"))
    try:
        cost = churn(folder, options.sessions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(f"{cost:,.0f} bytes a session; a million would be {cost / 1e3:,.2f} GB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
