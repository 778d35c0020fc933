"""Goal 14: what was read once is not read again, and of what nobody knows other processes read a part."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench import rivals
from tests.bench.g9_history import press_help
from tests.bench.make_history import make_history
from tests.bench.make_logs import make_log
from tests.bench.measure import Failed, command, in_turn, method, now, percentile, ratio, say, spread
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.bench.terminal import Terminal

_SESSION = 555_000
_DAYS = 86_400_000
_KEYS = 45
"""A third of these are pressed in each round: so long it takes to read all there is."""
_COMMANDS = {
    "tree": ["tree", "--all"],
    "stats": ["stats", "--all"],
    "report": ["report", "--all"],
    "learn": ["learn", "--since", "365d"],
}


def rows(plan: Plan) -> list[Row]:
    home = plan.empty("indexed")
    (home / "work").mkdir()
    make_history(home / "claude", 300 if plan.quick else 900, _SESSION, now())  # more than others are asked for
    size = sum(path.stat().st_size for path in home.rglob("*.json*"))
    log = home / "log" / "session.jsonl"
    log.parent.mkdir()
    make_log(log, 24_000, now() - 2 * _DAYS)
    found = [row for name, words in _COMMANDS.items() for row in _again(plan, home, name, words, size)]
    return [*found, _keys(plan, home, size), *_log(plan, home, log), *_loaders(plan, home, size)]


def _again(plan: Plan, home: Path, name: str, words: Sequence[str], size: int) -> list[Row]:
    """A whole command: with no index, with one that has to be made, and with one that is there."""
    cold = _run(home, [*words, "--no-index"])

    def first() -> float:
        _clear(home)
        return _run(home, words)()

    taken = in_turn({"cold": cold, "first": first, "again": _run(home, words)}, plan.rounds)
    say("  " + ", ".join(f"{name} {each} {median(seconds):.2f} s" for each, seconds in taken.items()))
    index = home / "cache" / "delegtop" / "index.db"
    share = index.stat().st_size / size if index.exists() else None
    what = f"`{' '.join(words)}`, {size / 1e6:,.0f} MB"
    note = f"{median(taken['again']):.2f} s of CPU, {median(taken['cold']):.2f} s without"
    found = [
        Row.of(14, f"{what}: again, of without an index", ratio(taken["again"], taken["cold"]), 0.15, note=note),
        Row.of(14, f"{what}: with an index to be made, of without", ratio(taken["first"], taken["cold"]), 1.3),
    ]
    return [*found, Row(14, "index of these transcripts, of their bytes", share, 0.02)] if name == "tree" else found


def _keys(plan: Plan, home: Path, size: int) -> Row:
    """Whether a key waits for it that an index is made. Of so few the 99th percentile would be the unluckiest."""
    what = f"key to paint, p90, while {size / 1e6:,.0f} MB are read and indexed, of read alone"
    taken: dict[str, list[float]] = {"indexed": [], "not": []}
    for _ in range(plan.rounds):
        for name, words in (("indexed", ["--all"]), ("not", ["--all", "--no-index"])):
            _clear(home)
            try:
                with Terminal(_argv(home, words), env=_environ(home) | rivals.SETTINGS) as terminal:
                    terminal.wait_for(b"loading", timeout=30)
                    taken[name] += press_help(terminal, _KEYS)
            except Failed as error:
                return Row(14, what, None, 1.1, note=f"not measured ({name}): {error}")
    own, other = (percentile(each, 0.9) for each in taken.values())
    note = f"{own * 1e3:.0f} ms of {len(taken['indexed'])} keys; {other * 1e3:.0f} ms without"
    low, high = (at / other for at in spread(taken["indexed"], 0.9))
    return Row(14, what, own / other, 1.1, spread=(low, high), note=note)


def _log(plan: Plan, home: Path, log: Path) -> list[Row]:
    """Reading alone, up to the states: a log from its top, and one of which all but the last lines are known."""
    whole = log.read_bytes()
    end = whole.rfind(b"\n", 0, len(whole) - 200_000) + 1

    def known() -> float:
        log.write_bytes(whole[:end])
        _clear(home)
        _read(home, log, 1, 0)
        with log.open("ab") as file:
            file.write(whole[end:])
        return _read(home, log, 1, 0)["cpu"]

    cold = partial(lambda: _read(home, log, 0, 0)["cpu"])
    taken = in_turn({"cold": cold, "known": known}, plan.rounds)
    note = f"{median(taken['known']):.3f} s of CPU; read from its top {median(taken['cold']):.3f} s"
    what = f"log of {len(whole) / 1e6:,.0f} MB opened again and read on, reading alone, of the first read"
    return [Row.of(14, what, ratio(taken["known"], taken["cold"]), 0.2, note=note)]


def _loaders(plan: Plan, home: Path, size: int) -> list[Row]:
    """Wall time of reading alone, on all processors there are."""

    def wall(loaders: int) -> float:
        _clear(home)
        return _read(home, home / "claude", 1, loaders)["wall"]

    taken = in_turn({"alone": partial(wall, 0), "together": partial(wall, 1)}, plan.rounds)
    note = f"{os.cpu_count()} processors; load {os.getloadavg()[0]:.0f}: at more than one it says little"
    what = f"{size / 1e6:,.0f} MB that nobody knows: how much sooner other processes make it"
    return [Row.of(14, what, ratio(taken["alone"], taken["together"]), 1.3, at_least=True, note=note)]


def _clear(home: Path) -> None:
    shutil.rmtree(home / "cache", ignore_errors=True)


def _run(home: Path, words: Sequence[str]) -> Callable[[], float]:
    return partial(command, _argv(home, words), _environ(home))


def _argv(home: Path, words: Sequence[str]) -> list[str]:
    return ["env", "-C", str(home / "work"), rivals.delegtop(), *words]


def _environ(home: Path) -> dict[str, str]:
    places = {"HOME": home, "CLAUDE_CONFIG_DIR": home / "claude", "CODEX_HOME": home / "codex"}
    places |= {"XDG_DATA_HOME": home / "data", "XDG_STATE_HOME": home / "state", "XDG_CACHE_HOME": home / "cache"}
    return {**os.environ, **{name: str(path) for name, path in places.items()}}


def _read(home: Path, source: Path, indexed: int, loaders: int) -> dict[str, float]:
    return method("g14_index.read", source, indexed, loaders, env=_environ(home))


def read(source: str, indexed: str, loaders: str) -> dict[str, float]:
    """Read a source once, up to the states, in this process."""
    import gc
    import time

    from delegtop.feed import lending
    from delegtop.observation import observation
    from delegtop.observation.source_discovery import places
    from delegtop.settings import Settings

    if loaders == "0":
        lending.WORTH = sys.maxsize
    gc.disable()
    settings = Settings()
    began, used = time.monotonic(), time.process_time()
    with observation.opened(places([source], settings).as_is(), settings, indexed=indexed == "1") as seen:
        seen.read()
    return {"wall": time.monotonic() - began, "cpu": time.process_time() - used, "delegations": len(seen.forest)}
