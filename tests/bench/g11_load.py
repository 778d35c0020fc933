"""Goal 11: many files that all grow. How late a line is on the screen, what that costs, and whether memory stays flat.

As a program of its own it goes on for longer, or measures another delegtop:

python -m tests.bench.g11_load [--seconds 1800] [--files 500] [--rate 1000] [--program "python -m delegtop"]
"""

import argparse
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench import rivals
from tests.bench.make_logs import heartbeat, register
from tests.bench.measure import RUN, Failed, now, percentile, say
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.bench.terminal import Terminal

FILES = 500
RATE = 1_000
"""Lines a second."""
MARKED = 12
"""So many delegations are in view; lines are marked only for these."""
EVERY = 50
"""Each so many lines one is marked."""
_CALM = 0.25
_WARM = 240
"""Seconds after which all that grows only once has grown: mostly what Textual and we keep of the texts on the screen,
some thousand pieces each."""
_AFTER = 4
"""Seconds for what is still on its way."""


class Minute(NamedTuple):
    """One minute of it."""

    lags: Sequence[float]
    share: float
    resident: int

    def words(self) -> str:
        return f"{_lag(self.lags)}; {self.share:.1%} of a core; {self.resident / 1e6:.1f} MB"


class Load(NamedTuple):
    """What came of it."""

    lags: Sequence[float]
    """Seconds from the append to the screen."""
    share: float
    """Of a core."""
    slope: float
    """Bytes by which memory grows in a minute, once it is warm."""
    resident: int

    def words(self) -> str:
        memory = f"{self.resident / 1e6:.0f} MB, {self.slope / 1e3:+.0f} kB a minute"
        return f"{_lag(self.lags)}; {self.share:.1%} of a core; {memory}"


def _lag(lags: Sequence[float]) -> str:
    if not lags:
        return "nothing seen"
    p50, p95, p99 = (percentile(lags, share) * 1e3 for share in (0.5, 0.95, 0.99))
    worst = max(lags) * 1e3
    return f"lag p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, max {worst:.0f} ms of {len(lags)}"


def rows(plan: Plan) -> list[Row]:
    found = load(plan.empty("load"), [rivals.delegtop()], 60 if plan.quick else 360)
    say(f"  {found.words()}")
    what = f"{RATE:,} lines/s over {FILES} files"
    return [
        Row(11, f"append to screen, {what}, p95", percentile(found.lags, 0.95) * 1e3, 500, unit=" ms"),
        Row(11, f"append to screen, {what}, p99", percentile(found.lags, 0.99) * 1e3, 1_000, unit=" ms"),
        Row(11, f"CPU, {what}, of a core", found.share, 0.2),
        Row(
            11,
            f"memory, {what}, growth in a minute, of all of it",
            None if plan.quick else 1 + found.slope / found.resident,
            1.01,
            note="not in a quick run: it is warm after four minutes"
            if plan.quick
            else f"{found.resident / 1e6:.0f} MB",
        ),
    ]


def load(folder: Path, program: Sequence[str], seconds: float, files: int = FILES, rate: int = RATE) -> Load:
    """The dashboard over files that another process writes."""
    make(folder, files)
    waiting: dict[bytes, float] = {}
    lags: list[float] = []
    sizes: list[tuple[float, int]] = []
    with Terminal([*program, str(folder)], env=rivals.SETTINGS) as terminal:
        terminal.settle(busy=_CALM)
        terminal.forget()
        argv = [
            sys.executable,
            str(RUN),
            "--method",
            "g11_load.write",
            str(folder),
            str(files),
            str(rate),
            str(seconds),
        ]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as writer:
            if writer.stdout is None:
                raise Failed("the writer tells nothing")
            began, spent = time.monotonic(), terminal.cpu()
            share, minute, seen, used = 0.0, 1, 0, spent
            told = folder.with_suffix(".told")
            place = 0
            while (passed := time.monotonic() - began) < seconds + _AFTER:
                terminal.watch(0.005)
                lines, place = _told(told, place)
                for line in lines:
                    marker, at = line.split()
                    waiting[marker.encode()] = float(at)
                if waiting:
                    _notice(terminal.seen(), waiting, lags)
                if passed < seconds:
                    share = (terminal.cpu() - spent) / passed
                    if not sizes or passed - sizes[-1][0] >= 1:
                        sizes.append((passed, resident(terminal)))
                    if passed >= 60 * minute:
                        cpu = terminal.cpu()
                        say(f"  minute {minute}: {Minute(lags[seen:], (cpu - used) / 60, sizes[-1][1]).words()}")
                        minute, seen, used = minute + 1, len(lags), cpu
        if writer.returncode:
            raise Failed("the writer failed")
    lags += [time.monotonic() - at for at in waiting.values()]
    if not lags:
        raise Failed("nothing was seen")
    warm = [each for each in sizes if each[0] > _WARM]
    return Load(lags, share, 60 * slope(warm), sizes[-1][1])


def _told(path: Path, place: int) -> tuple[list[str], int]:
    """What the writer has written down since."""
    try:
        with path.open() as file:
            file.seek(place)
            text = file.read()
    except FileNotFoundError:
        return [], place
    whole = text[: text.rfind("\n") + 1]
    return whole.splitlines(), place + len(whole)


def _notice(text: bytes, waiting: dict[bytes, float], lags: list[float]) -> None:
    """A line overtaken by a later one of the same delegation before it was painted counts as painted with that."""
    at = time.monotonic()
    newest: dict[bytes, bytes] = {}
    for marker in waiting:
        if marker in text:
            newest[marker[4:6]] = max(newest.get(marker[4:6], b""), marker)
    for marker in [each for each in waiting if each <= newest.get(each[4:6], b"")]:
        lags.append(at - waiting.pop(marker))


def resident(terminal: Terminal) -> int:
    return int(Path(f"/proc/{terminal.pid}/statm").read_text().split()[1]) * 4096


def slope(sizes: Sequence[tuple[float, int]]) -> float:
    """Bytes for one more of the other, by the line of least squares."""
    count = len(sizes)
    if count < 2:
        return 0.0
    middle = sum(at for at, _ in sizes) / count
    mean = sum(size for _, size in sizes) / count
    spread = sum((at - middle) ** 2 for at, _ in sizes)
    return sum((at - middle) * (size - mean) for at, size in sizes) / spread


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number % 50:02d}" / f"{number:05d}.jsonl"


def _id(number: int) -> str:
    return f"sess_1766743200_{number:06d}"


def make(folder: Path, files: int) -> None:
    """A log with one delegation each."""
    began = now() - 60_000
    for number in range(files):
        path = _path(folder, number)
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(register(_id(number), began + number))


def write(folder: str, files: str, rate: str, seconds: str) -> dict[str, float]:
    """Append lines at that rate, to any of the files, and tell when the marked ones were written."""
    home, count, pace = Path(folder), int(files), int(rate)
    dice, marked = random.Random(7), min(count - 1, MARKED)  # what is marked is overtaken by no other line
    began, written = time.monotonic(), 0
    with home.with_suffix(".told").open("a") as told:
        while (passed := time.monotonic() - began) < float(seconds):
            for _ in range(int(passed * pace) - written):
                written += 1
                number, activity = dice.randrange(marked, count), "working"
                marker = ""
                if written % EVERY == 0:
                    number = dice.randrange(marked)
                    marker = f"MARK{number:02d}x{written:07d}"
                    activity = f"{marker} done"
                with _path(home, number).open("a") as file:
                    file.write(heartbeat(_id(number), now(), activity))
                if marker:
                    told.write(f"{marker} {time.monotonic()}\n")
                    told.flush()
            time.sleep(0.002)
    return {"lines": written}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--rate", type=int, default=RATE)
    parser.add_argument("--program", type=shlex.split, default=[rivals.delegtop()])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="delegtop-load-"))
    try:
        found = load(folder, options.program, options.seconds, options.files, options.rate)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".told").unlink(missing_ok=True)
    sys.stdout.write(found.words() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
