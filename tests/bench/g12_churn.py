"""Goal 12: what each session costs that has come and gone while the dashboard runs.

As a program of its own it goes on for longer, or gives every session a log of its own, which stays or is deleted:

python -m tests.bench.g12_churn [--sessions 100000] [--logs stay|deleted] [--seconds 600] [--program COMMAND]

What a dashboard once needed for a moment it keeps for later, so a small slope hides behind one busy minute. `--inside`
does the same without a terminal, in this process, which gives all that back before each look: what is left stays.

python -m tests.bench.g12_churn --inside --logs stay --sessions 50000
"""

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import rivals
from tests.bench.g11_load import resident, slope
from tests.bench.make_logs import heartbeat, register
from tests.bench.measure import Failed, method, now, say
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.bench.terminal import Terminal

if TYPE_CHECKING:
    from delegtop.app.state.board import Board
    from delegtop.feed.live_feed import Feed

FILES = 50
_STEPS = 40
_WARM = 0.5
"""The share of the sessions after which all that grows only once has grown: the newest few thousand have rows."""
_CALM = 0.25
_LOOKS = 8
_DELETED_AFTER = 5
"""Seconds."""
_A_FOLDER = 1_000
_A_SECOND, _LOGS_A_SECOND = 150, 110
"""Sessions: if they come faster, more of them have rows at a time, and that is what would be measured."""
_MANY = 40_000
_WAYS = ("deleted", "stay")


def rows(plan: Plan) -> list[Row]:
    """Side by side, each in a process of its own: memory is not disturbed by what else runs, and one after the other
    they would take forty minutes."""
    many = 30_000 if plan.quick else _MANY
    ways = {f"by {many:,} of them": ""}
    if not plan.quick:
        ways |= {f"with a log of its own that {'is deleted' if way == 'deleted' else 'stays'}": way for way in _WAYS}
    folders = {how: plan.empty(f"churn-{way or 'files'}") for how, way in ways.items()}
    with ThreadPoolExecutor() as pool:
        asked = {how: pool.submit(method, "g12_churn.measured", folders[how], many, way) for how, way in ways.items()}
    return [_row(how, found) for how, found in asked.items()]


def _row(how: str, found: "Future[dict[str, float]]") -> Row:
    what = f"memory a session that has come and gone, {how}"
    try:
        cost = found.result()["bytes"]
    except Failed as error:
        return Row(12, what, None, 100, unit=" B", note=f"not measured: {error}")
    return Row(12, what, max(cost, 0), 100, unit=" B", note=_of_many(cost))


def measured(folder: str, sessions: str, way: str) -> dict[str, float]:
    """Bytes a session, in whichever way they come and go."""
    place, many, program = Path(folder), int(sessions), [rivals.delegtop()]
    if not way:
        return {"bytes": churn(place, many, many / _A_SECOND, program)}
    return {"bytes": logs(place, many, many / _LOGS_A_SECOND, program, stay=way == "stay")}


def _of_many(cost: float) -> str:
    return f"a million would be {max(cost, 0):,.0f} MB"


def churn(folder: Path, sessions: int, seconds: float, program: Sequence[str]) -> float:
    """Bytes a session, by the line of least squares through looks at the second half of them."""
    step = sessions // _STEPS
    sizes: list[tuple[float, int]] = []
    _write(folder, 0, FILES)
    with Terminal([*program, str(folder)], env=rivals.SETTINGS) as terminal:
        terminal.settle(busy=_CALM)
        for number in range(_STEPS):
            _write(folder, FILES + number * step, step)
            terminal.watch(seconds / _STEPS)
            sizes.append((float((number + 1) * step), resident(terminal)))
            say(f"  {(number + 1) * step:,} sessions: {sizes[-1][1] / 1e6:.1f} MB")
    return slope(sizes[int(_WARM * _STEPS) :])


def logs(folder: Path, sessions: int, seconds: float, program: Sequence[str], *, stay: bool) -> float:
    """The same of sessions that each write a log of their own, which stays or is deleted when they are over."""
    sizes: list[tuple[float, int]] = []
    old: deque[tuple[float, Path]] = deque()
    _log(folder, 0)
    with Terminal([*program, str(folder)], env=rivals.SETTINGS) as terminal:
        terminal.settle(busy=_CALM)
        began, written = time.monotonic(), 1
        while (passed := time.monotonic() - began) < seconds:
            while written < passed / seconds * sessions:
                old.append((passed, _log(folder, written)))
                written += 1
            while not stay and old and old[0][0] < passed - _DELETED_AFTER:
                old.popleft()[1].unlink()
            terminal.watch(0.1)
            if len(sizes) < passed / seconds * _STEPS:
                sizes.append((float(written), resident(terminal)))
                say(f"  {written:,} sessions: {sizes[-1][1] / 1e6:.1f} MB")
    return slope(sizes[int(_WARM * _STEPS) :])


def inside(folder: Path, sessions: int, *, stay: bool) -> float:
    """The same of what reads, folds and judges, without a screen, as if an hour passed between any two sessions."""
    from tests.fuzz.reading_broken import resident as held

    from delegtop.app.state.board import Board
    from delegtop.base.clock import WallClock
    from delegtop.feed import live_feed
    from delegtop.feed.live_feed import Feed
    from delegtop.settings import Settings

    live_feed.TIDY_SECONDS = 0.0
    board, feed = Board(Settings(), WallClock()), Feed([str(folder)], clock=WallClock())
    feed._tail._linger = 0
    feed.wait(0)
    board.loading = False
    sizes: list[tuple[float, int]] = []
    step = sessions // _STEPS
    for number in range(_STEPS):
        paths = [_log(folder, number * step + each) for each in range(step)]
        for path in paths:
            os.utime(path, (now() / 1_000 - 3_600,) * 2)
        _look(feed, board)
        for path in () if stay else paths:
            path.unlink()
        _look(feed, board)
        sizes.append((float((number + 1) * step), held()))
        followed, rows = len(feed._readings), len(board.forest)
        say(f"  {(number + 1) * step:,} sessions: {sizes[-1][1] / 1e6:.1f} MB; {followed:,} followed, {rows:,} rows")
    feed.close()
    return slope(sizes[int(_WARM * _STEPS) :])


def _look(feed: "Feed", board: "Board") -> None:
    """Until all is read, put away and judged."""
    for _ in range(_LOOKS):
        feed._rounds.at_once()
        for batch in feed.poll():
            board.receive(batch.events)
        board.refresh()
        board.judge(1)
        board._shorten()
    while board.finished._shortening is not None:
        board._shorten()


def _write(folder: Path, first: int, count: int) -> None:
    """Sessions that begin, say something and end, spread over the files."""
    for place in range(FILES):
        with (folder / f"{place:02d}.jsonl").open("a") as file:
            file.writelines(_session(number) for number in range(first + place, first + count, FILES))


def _log(folder: Path, number: int) -> Path:
    path = folder / f"{number // _A_FOLDER:04d}" / f"{number:07d}.jsonl"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(_session(number))
    return path


def _session(number: int) -> str:
    id, at = f"sess_1766743200_{number:07d}", now()
    told = f'"return":{{"status":"completed","summary":"Step {number} is done.","artifacts":[]}}'
    end = heartbeat(id, at + 2, "x").replace('"heartbeat"', '"return"').rstrip("}\n")
    return register(id, at) + heartbeat(id, at + 1, f"working on {number}") + f"{end},{told}}}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--logs", choices=_WAYS)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--program", type=shlex.split, default=[rivals.delegtop()])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="delegtop-churn-"))
    try:
        if options.inside:
            cost = inside(folder, options.sessions, stay=options.logs == "stay")
        elif options.logs:
            stay = options.logs == "stay"
            cost = logs(folder, options.sessions, options.seconds, options.program, stay=stay)
        else:
            cost = churn(folder, options.sessions, options.seconds, options.program)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(f"{cost:,.0f} bytes a session; {_of_many(cost)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
