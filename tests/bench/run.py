"""Measure delegtop against its goals and print the table.

python tests/bench/run.py [--quick] [--only 1,3] [--fetch] [--markdown docs/performance.md] [--felt README.md]
python tests/bench/run.py [--quick] [--only 4,5] --against COMMIT
"""

import argparse
import compileall
import importlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import against, rivals, table
from tests.bench.measure import Failed, say
from tests.bench.plan import Plan
from tests.bench.table import Row

import delegtop

GOALS = {
    1: "g1_ingest",
    2: "g2_memory",
    3: "g3_frames",
    4: "g4_cpu",
    5: "g5_first_paint",
    6: "g6_latency",
    7: "g7_start",
    8: "g8_seek",
    9: "g9_history",
    10: "g10_kernel",
    11: "g11_load",
    12: "g12_churn",
    13: "g13_page",
    14: "g14_index",
}


def main() -> int:
    if sys.argv[1:2] == ["--method"]:
        _, _, name, *arguments = sys.argv
        module, _, function = name.partition(".")
        found = getattr(importlib.import_module(f"tests.bench.{module}"), function)(*arguments)
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    options = _options()
    # Other programs come with their bytecode; without this ours would be compiled at every start, or at the first.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(Path(delegtop.__file__).parent, quiet=1)
    if options.fetch:
        os.environ[rivals.FETCH] = "1"
    folder = Path(tempfile.mkdtemp(prefix="delegtop-bench-"))
    # What is kept of logs is neither the user's nor an earlier run's, nor is the filter that was left on when somebody
    # looked last, with which a dashboard that loads a log took twice as long.
    for kept in ("cache", "state", "config"):
        os.environ[f"XDG_{kept.upper()}_HOME"] = str(folder / kept)
    plan = Plan(folder, quick=options.quick, rounds=options.rounds)
    try:
        if options.against:
            return _compare(plan, options.against, options.only)
        rows: list[Row] = []
        for goal in options.only:
            rows = sorted([*rows, *_measured(plan, goal)], key=lambda row: row.goal)
            _write_pages(rows, options)  # after each: a run that is cut short has told what it had
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(table.text(rows) + "\n")
    return 0


def _write_pages(rows: list[Row], options: argparse.Namespace) -> None:
    if options.markdown:
        how = "`python tests/bench/run.py" + (" --quick`: small logs, few rounds" if options.quick else "`")
        how += f", {options.rounds} rounds" if options.rounds else ""
        table.write(options.markdown, table.markdown(rows, how))
    if options.felt:
        table.write(options.felt, table.felt(rows), table.FELT)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small logs and few rounds: minutes instead of an hour")
    parser.add_argument("--rounds", type=int, help="how often what takes turns does; 5, or 3 in a quick run")
    parser.add_argument("--only", type=_goals, default=sorted(GOALS), metavar="1,3", help="these goals, in this order")
    parser.add_argument("--against", metavar="COMMIT", help="compare with that commit instead, interleaved")
    parser.add_argument("--fetch", action="store_true", help="fetch programs to compare with that are missing")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table into this page too")
    parser.add_argument("--felt", type=Path, metavar="FILE", help="write what an operator feels of it into this page")
    return parser.parse_args()


def _goals(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if int(part) in GOALS]


def _compare(plan: Plan, commit: str, goals: list[int]) -> int:
    try:
        rows = list(against.measured(plan, commit, goals))
    except Failed as error:
        say(str(error))
        return 1
    sys.stdout.write(against.text(rows, commit) + "\n")
    return 0


def _measured(plan: Plan, goal: int) -> list[Row]:
    began = monotonic()
    say(f"goal {goal}, at a load of {os.getloadavg()[0]:.1f}")
    try:
        found: list[Row] = importlib.import_module(f"tests.bench.{GOALS[goal]}").rows(plan)
    except (Failed, OSError) as error:
        found = [Row(goal, GOALS[goal], None, note=f"not measured: {error}")]
    say(f"  {monotonic() - began:.0f} s")
    return found


if __name__ == "__main__":
    sys.exit(main())
