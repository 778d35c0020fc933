"""Goal 5: how long until something is on the screen, and until the log is."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

from tests.bench import rivals
from tests.bench.measure import PEERS, in_turn, ratio, say
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.bench.terminal import Terminal


def rows(plan: Plan) -> list[Row]:
    log = plan.log(plan.big)
    size = f"{log.stat().st_size / 1e6:,.0f} MB"
    own = rivals.delegtop()
    empty = str(plan.empty("nothing"))
    methods: dict[str, Callable[[], float]] = {
        "minimal": partial(_until, [sys.executable, str(PEERS / "minimal.py")], b"hello"),
        "empty": partial(_until, [own, empty], b"delegtop"),
        "log": partial(_until, [own, str(log)], b"delegtop"),
        "content": partial(_until, [own, str(log)], b"sess_"),
    }
    lnav, toolong = rivals.tool("lnav"), rivals.python_with("toolong")
    if toolong:
        methods["toolong"] = partial(_until, [str(toolong / "tl"), str(log)], b"sess_")
    if lnav:
        settings = rivals.lnav_settings(plan.folder)
        methods["lnav"] = partial(_until, [lnav, "-I", str(settings), "-c", ":goto 0", str(log)], b"sess_")
    taken = in_turn(methods, plan.rounds * 2 + 1)
    say("  " + ", ".join(f"{name} {median(seconds) * 1e3:.0f} ms" for name, seconds in taken.items()))

    def compared(what: str, mine: str, other: str, limit: float) -> Row:
        if mine not in taken or other not in taken:
            return Row(5, what, None, limit, note=f"{mine if mine not in taken else other} is missing")
        took = f"{median(taken[mine]) * 1e3:.0f} ms"
        felt = {
            "minimal": ("the first picture", f"after {took}"),
            "lnav": (f"the first rows of a log of {size}", f"after {took}"),
        }
        return Row.of(5, what, ratio(taken[mine], taken[other]), limit, note=took, felt=felt.get(other))

    return [
        compared("first paint, of a minimal Textual app", "empty", "minimal", 1.2),
        compared(f"first paint with a log of {size}, of with none", "log", "empty", 1.1),
        compared(f"first log content of {size}, of toolong", "content", "toolong", 0.35),
        compared(f"first log content of {size}, of lnav", "content", "lnav", 0.1),
    ]


def _until(argv: Sequence[str], text: bytes) -> float:
    """Seconds from the start of the program to that text on its screen."""
    with Terminal(argv, env=rivals.SETTINGS) as terminal:
        return terminal.wait_for(text, timeout=120) - terminal.began
