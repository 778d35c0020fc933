"""Goal 6: how long a line takes from the file to the screen, and a key from the finger to the paint."""

import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench import rivals
from tests.bench.make_logs import heartbeat, register
from tests.bench.measure import PEERS, Failed, method, now, percentile, say, spread
from tests.bench.plan import Plan, short
from tests.bench.table import Row
from tests.bench.terminal import Terminal

_MARKED = 12
"""So many delegations are in view; lines are marked only for these."""
_DOWN, _UP = b"j", b"k"
_FOLDERS = 200
_FEW, _KEYS = 10, 100
"""Keys that must be pressed while a log loads, and that are at most."""
_LOADED = "● live".encode()
"""What the first line says once all is read."""
_ANY = b"sess_"
"""Of any id: the inspector tells whose page it is. Once all is read, what was long ago has no rows any more."""
_READS = {"DELEGTOP_INDEX": "no"}
"""What an earlier measurement has left would be there at once, and nothing would load."""
_CALM = 0.25
"""Looking at thousands of files costs something even when nothing happens."""


def rows(plan: Plan) -> list[Row]:
    parts: dict[str, Callable[[], list[Row]]] = {
        "append to screen, 1 file": lambda: _appends(plan, 1),
        "append to screen, 100 files": lambda: _appends(plan, 100),
        "append to screen, many files": lambda: _crowd(plan, 500 if plan.quick else 5_000),
        "key to paint": lambda: _keys(plan),
        "new folders": lambda: _race(plan),
    }
    found: list[Row] = []
    for name, part in parts.items():
        try:
            found += part()
        except Failed as error:
            found.append(Row(6, name, None, note=f"not measured: {error}"))
    return found


# Lines


class _Files:
    """Log files with one delegation each, and a way to add marked lines to those in view."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self._at = now() - 60_000
        self._files = [folder / f"{number % 50:02d}" / f"{number:05d}.jsonl" for number in range(count)]
        self._number = 0
        for number, path in enumerate(self._files):
            path.parent.mkdir(exist_ok=True)
            path.write_text(register(self._id(number), self._at + number))

    def _id(self, number: int) -> str:
        return f"sess_1766743200_{number:06d}"

    def mark(self, dice: random.Random) -> bytes:
        """Append a line that will be seen; returns what to look for."""
        self._number += 1
        marker = f"MARK{self._number:05d}"
        self._append(dice.randrange(min(len(self._files), _MARKED)), f"{marker} done")
        return marker.encode()

    def murmur(self, dice: random.Random) -> None:
        """Append a line to any of them."""
        self._append(dice.randrange(len(self._files)), "working")

    def _append(self, number: int, activity: str) -> None:
        with self._files[number].open("a") as file:
            file.write(heartbeat(self._id(number), now(), activity))


def _programs(folder: Path) -> dict[str, list[str]]:
    return {
        "delegtop": [rivals.delegtop(), str(folder)],
        "defaults": [sys.executable, str(PEERS / "watcher.py"), str(folder)],
    }


def _appends(plan: Plan, count: int) -> list[Row]:
    """One line at a time, at odd moments."""
    lags: dict[str, list[float]] = {}
    for name in ("delegtop", "defaults"):
        files = _Files(plan.empty(f"appends-{count}-{name}"), count)
        lags[name] = _one_by_one(_programs(files.folder)[name], files, plan.appends)
        say(f"  {name}, {count} files: {_told(lags[name])}")
    what = f"append to screen, {count} file{'s' if count > 1 else ''}, p99"
    own, other = (percentile(lags[name], 0.99) * 1e3 for name in ("delegtop", "defaults"))
    low, high = (at * 1e3 for at in spread(lags["delegtop"], 0.99))
    felt = ("a new line in a log is on the screen, 99 of 100 times", f"within {own:.0f} ms") if count == 1 else None
    return [
        Row(6, what, own, 60, unit=" ms", note=_told(lags["delegtop"]), spread=(low, high), felt=felt),
        Row(6, f"{what}, of watchfiles' defaults", own / other, 0.5),
    ]


def _told(lags: Sequence[float]) -> str:
    p50, p95, p99 = (percentile(lags, share) * 1e3 for share in (0.5, 0.95, 0.99))
    return f"p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f} ms of {len(lags)}"


def _one_by_one(argv: Sequence[str], files: _Files, times: int) -> list[float]:
    dice = random.Random(7)
    taken: list[float] = []
    with Terminal(argv, env=rivals.SETTINGS) as terminal:
        terminal.settle(busy=_CALM)
        for _ in range(times):
            terminal.watch(dice.uniform(0.1, 0.6))
            terminal.forget()
            marker = files.mark(dice)
            written = time.monotonic()
            taken.append(terminal.wait_for(marker, timeout=60) - written)
    return taken


def _crowd(plan: Plan, count: int) -> list[Row]:
    """1,000 lines/s spread over many files; ten of them each second are looked for."""
    p99: dict[str, float] = {}
    for name in ("delegtop", "defaults"):
        files = _Files(plan.empty(f"crowd-{name}"), count)
        taken = _in_the_crowd(_programs(files.folder)[name], files, plan.window)
        p99[name] = percentile(taken, 0.99)
        say(f"  {name}, 1,000 lines/s over {count:,} files: p99 {p99[name] * 1e3:.0f} ms of {len(taken)}")
    what = f"append to screen, 1,000 lines/s over {count:,} files, p99, of watchfiles' defaults"
    return [Row(6, what, p99["delegtop"] / p99["defaults"], 0.05, note=f"{p99['delegtop'] * 1e3:.0f} ms")]


def _in_the_crowd(argv: Sequence[str], files: _Files, seconds: float) -> list[float]:
    """A line overtaken by a later one before it was painted counts as painted with that."""
    dice = random.Random(7)
    waiting: dict[bytes, float] = {}
    taken: list[float] = []
    with Terminal(argv, env=rivals.SETTINGS) as terminal:
        terminal.settle(busy=_CALM)
        terminal.forget()
        began = time.monotonic()
        written = 0
        while (passed := time.monotonic() - began) < seconds + 3:
            if passed < seconds:
                for _ in range(int(passed * 1_000) - written):
                    written += 1
                    if written % 100 == 0:
                        marker = files.mark(dice)
                        waiting[marker] = time.monotonic()
                    else:
                        files.murmur(dice)
            terminal.watch(0.002)
            text = terminal.seen()
            newest = max((marker for marker in waiting if marker in text), default=b"")
            for marker in [marker for marker in waiting if marker <= newest]:
                taken.append(time.monotonic() - waiting.pop(marker))
    return taken + [time.monotonic() - at for at in waiting.values()]


# Keys


def _keys(plan: Plan) -> list[Row]:
    """The cursor goes down and up between the first two rows; the inspector tells where it is."""
    log = plan.log(plan.sizes[-1])  # the biggest there is: a smaller one is loaded after a few keys
    first, second = _first_two(log)
    with Terminal([rivals.delegtop(), str(log)], env=rivals.SETTINGS | _READS) as terminal:
        terminal.wait_for(first)
        loading = _press(terminal, first, second, _KEYS, until=_LOADED)
        terminal.settle(busy=_CALM)
        idle = _press(terminal, _ANY, _ANY, max(len(loading), _FEW))  # the slowest of as many
    if len(loading) < _FEW:
        raise Failed(f"the log was loaded after {len(loading)} keys")
    late, calm = percentile(loading, 0.99), percentile(idle, 0.99)
    say(
        f"  key to paint while loading p50 {percentile(loading, 0.5) * 1e3:.0f} ms, p99 {late * 1e3:.0f} ms; "
        f"idle p50 {percentile(idle, 0.5) * 1e3:.0f} ms, p99 {calm * 1e3:.0f} ms"
    )
    what = f"key to paint, p99, while {short(int(plan.sizes[-1] / 0.24))} lines load, of idle"
    note = f"{late * 1e3:.0f} ms of {len(loading)} keys; idle {calm * 1e3:.0f} ms"
    felt = ("a key is answered while a big log loads, 99 of 100 times", f"within {late * 1e3:.0f} ms")
    low, high = spread(loading, 0.99)
    return [Row(6, what, late / calm, 1.5, note=note, spread=(low / calm, high / calm), felt=felt)]


def _press(terminal: Terminal, first: bytes, second: bytes, times: int, *, until: bytes = b"") -> list[float]:
    """The times from key to paint, of keys that were pressed before that text was on the screen."""
    dice = random.Random(7)
    taken: list[float] = []
    over = False
    for turn in range(times + times % 2):  # the cursor comes back to where it was
        terminal.watch(dice.uniform(0.05, 0.15))
        over = over or bool(until and until in terminal.seen())
        if over and not turn % 2:
            break
        key, text = (_UP, first) if turn % 2 else (_DOWN, second)
        pressed = terminal.press(key)
        try:
            painted = terminal.wait_for(text, timeout=20)
        except Failed:
            if until and until in terminal.seen():  # all was read as it was pressed, and other rows stand there now
                break
            raise
        if not over:
            taken.append(painted - pressed)
    return taken


def _first_two(log: Path) -> tuple[bytes, bytes]:
    """The ids of the first two rows: the first command and its first child."""
    with log.open() as file:
        first = file.readline().split('"session_id":"')[1].split('"')[0]
        child = next(line for line in file if f'"parent_session_id":"{first}"' in line)
    return first.encode(), child.split('"session_id":"')[1].split('"')[0].encode()


# New folders


def _race(plan: Plan) -> list[Row]:
    missed = method("g6_latency.new_folders", plan.empty("folders"))["missed"]
    return [Row(6, f"files missed of {_FOLDERS} written into new folders at once", missed, 0, unit="")]


def new_folders(folder: str) -> dict[str, float]:
    """Make folders and write a file into each at once, while the feed looks; how many files it never sees."""
    from delegtop.base.clock import WallClock
    from delegtop.feed.live_feed import Feed
    from delegtop.model.events import Started

    feed = Feed([folder], clock=WallClock())
    seen: set[str] = set()

    def look(seconds: float) -> None:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and len(seen) < _FOLDERS:
            for batch in feed.poll():
                seen.update(event.id for event in batch.events if isinstance(event, Started))
            feed.wait(0.2)

    def write() -> None:
        for number in range(_FOLDERS):
            path = Path(folder) / f"{number:03d}" / "below"
            path.mkdir(parents=True)
            (path / "session.jsonl").write_text(register(f"sess_1766743200_{number:06d}", now()))
            time.sleep(0.005)

    look(0.5)
    writer = threading.Thread(target=write)
    writer.start()
    look(10)
    writer.join()
    feed.close()
    return {"missed": _FOLDERS - len(seen)}
