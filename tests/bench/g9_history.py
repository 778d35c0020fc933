"""Goal 9: a long history costs nothing until it is asked for, and little then."""

import os
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench import rivals
from tests.bench.make_history import append_session, make_history
from tests.bench.measure import Failed, command, in_turn, now, percentile, ratio, say
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.bench.terminal import Terminal

_SESSION = 555_000
"""Bytes of one session with its agents: 900 of them are 500 MB."""
_NOW = 0xFFFFFF
_CALM = 0.25
_STILL = 12
"""Seconds after which a file that grew is no longer looked at more often than the others."""
_ALL = ("--all",)


def rows(plan: Plan) -> list[Row]:
    sessions = 180 if plan.quick else 900
    full, empty = _home(plan, "history"), _home(plan, "no-history")
    agents = make_history(full / "claude", sessions, _SESSION, now())
    size = sum(path.stat().st_size for path in full.rglob("*.json*"))
    say(f"  made {sessions:,} sessions with {agents:,} agents, {size / 1e6:,.0f} MB")
    for home in (full, empty):
        append_session(home / "claude", _NOW, now())
    what = f"{sessions} sessions of {size / 1e6:,.0f} MB"
    return [
        *_start(plan, full, empty, what),
        *_whole(plan, full, empty, size, sessions + agents, what),
        _again(plan, full, what),
    ]


def _home(plan: Plan, name: str) -> Path:
    home = plan.empty(name)
    (home / "work").mkdir()
    return home


def _open(home: Path, arguments: Sequence[str] = ()) -> Terminal:
    """delegtop in an empty folder of a machine whose only agent is this one."""
    return Terminal(["env", "-C", str(home / "work"), rivals.delegtop(), *arguments], env=_places(home, "cache"))


def _places(home: Path, cache: str) -> dict[str, str]:
    places = {"HOME": home, "CLAUDE_CONFIG_DIR": home / "claude", "CODEX_HOME": home / "codex"}
    places |= {"XDG_DATA_HOME": home / "data", "XDG_STATE_HOME": home / "state", "XDG_CACHE_HOME": home / cache}
    return {**rivals.SETTINGS, **{name: str(path) for name, path in places.items()}}


# What the history costs that nobody asked for


def _start(plan: Plan, full: Path, empty: Path, what: str) -> list[Row]:
    running = f"NOWWORKING{_NOW}".encode()
    taken = in_turn(
        {
            "paint": partial(_until, full, b"delegtop"),
            "paint of none": partial(_until, empty, b"delegtop"),
            "row": partial(_until, full, running),
            "row of none": partial(_until, empty, running),
        },
        plan.rounds * 2 + 1,
    )
    say("  " + ", ".join(f"{name} {median(seconds) * 1e3:.0f} ms" for name, seconds in taken.items()))
    return [
        Row.of(
            9,
            f"{title} with {what}, of with none",
            ratio(taken[key], taken[f"{key} of none"]),
            1.2,
            note=f"{median(taken[key]):.2f} s",
        )
        for title, key in (("first paint", "paint"), ("first live row", "row"))
    ]


def _until(home: Path, text: bytes) -> float:
    with _open(home) as terminal:
        return terminal.wait_for(text, timeout=60) - terminal.began


# What it costs to read all of it


def _whole(plan: Plan, full: Path, empty: Path, size: int, delegations: int, what: str) -> list[Row]:
    with _open(empty, _ALL) as terminal:
        terminal.settle(busy=_CALM)
        calm = press_help(terminal, plan.keys)
        terminal.settle(busy=_CALM)
        program = _memory(terminal)  # with the help that the same keys show below: that is no history
        read = _bytes_read(terminal)
        idle = _idle(terminal, plan)
    with _open(full, _ALL) as terminal:
        terminal.wait_for(b"loading", timeout=30)
        loading = press_help(terminal, plan.keys)
        seconds = terminal.settle(timeout=600, busy=_CALM)
        memory, read = _memory(terminal) - program, _bytes_read(terminal) - read
        watched = _idle(terminal, plan)
    late, still = percentile(loading, 0.99), percentile(calm, 0.99)
    say(f"  all of it is read after {seconds:.0f} s; {program / 1e6:.0f} MB without it, {memory / 1e6:.0f} MB for it")
    keys = f"{late * 1e3:.0f} ms; idle {still * 1e3:.0f} ms"
    return [
        Row(9, f"memory for {what}, of its bytes", memory / size, 0.15, note=f"{memory / 1e6:.0f} MB"),
        Row(9, "memory a delegation that has files of its own", memory / delegations, 2_000, unit=" B"),
        # Beside the reading itself, the beginning of each file is looked at to tell its format.
        Row(9, "bytes read, of all there are", read / size, 2.0),
        Row(9, "key to paint, p99, while it loads, of idle", late / still, 1.5, note=keys),
        Row(9, "CPU while nothing happens, of with none", watched / idle, note=f"{watched:.2%} of a core"),
    ]


def _again(plan: Plan, home: Path, what: str) -> Row:
    """All of it once more, as a command: what is kept of it, if anything is, lies in a cache of its own."""
    argv = ["env", "-C", str(home / "work"), rivals.delegtop(), "tree", *_ALL]
    taken: dict[str, list[float]] = {"first": [], "again": []}
    for number in range(plan.rounds):
        environ = {**os.environ, **_places(home, f"cache-{number}")}
        for name in taken:
            taken[name].append(command(argv, environ, ends=(0, 1, 3)))
    first, again = median(taken["first"]), median(taken["again"])
    felt = (f"`delegtop tree --all` over {what}, once it was read", f"{again:.1f} s of CPU, {first:.1f} the first time")
    return Row.of(
        9, f"`tree --all` again over {what}, of the first time", ratio(taken["again"], taken["first"]), 0.15, felt=felt
    )


def _idle(terminal: Terminal, plan: Plan) -> float:
    """The share of a core it uses once it has stopped looking for folders that came while it read."""
    terminal.watch(_STILL)
    return terminal.cpu_over(plan.window)


def press_help(terminal: Terminal, times: int) -> list[float]:
    """The times from `?` to the help on the screen."""
    dice = random.Random(7)
    taken: list[float] = []
    for _ in range(max(times // 3, 10)):
        terminal.watch(dice.uniform(0.05, 0.15))
        pressed = terminal.press(b"?")
        taken.append(terminal.wait_for(b"Keep the newest", timeout=20) - pressed)
        terminal.press(b"\x1b")
        terminal.watch(0.3)
    return taken


def _memory(terminal: Terminal) -> int:
    return _told(terminal, "status", "VmRSS:") * 1024


def _bytes_read(terminal: Terminal) -> int:
    return _told(terminal, "io", "rchar:")


def _told(terminal: Terminal, file: str, name: str) -> int:
    for line in Path(f"/proc/{terminal.pid}/{file}").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise Failed(f"/proc tells no {name}")
