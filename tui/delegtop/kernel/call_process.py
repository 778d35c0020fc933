"""Which process a call of a tool runs in.

Three things tell it: it was started, by whatever way, by the agent's own process; it started when the call was made;
and its command line has the command of the call in it. A shell may have replaced itself by the command.
"""

from collections.abc import Iterable
from typing import NamedTuple

from delegtop.base.clock import SECOND, Millis
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.process_table import ProcessTable, moment

BELOW, STARTED, COMMAND = "descendant", "started", "command"
_EARLY, _LATE = 3 * SECOND, 8 * SECOND
"""How far the start of the process may lie from that of the call: records are stamped before and after, and the kernel
dates to a second."""
_QUOTES = lazy_pattern(r"[\s'\"\\]+")
_SHORT = 4
"""A command of fewer characters may be part of any other: then the process must have started with the call as well."""
_CUT = "…"


class CallProcess(NamedTuple):
    """The process that a call runs in."""

    pid: int
    fits: tuple[str, ...]
    """What of the three tells so."""
    whole: bool = True
    """Whether it runs the whole call; else a part of it, and others may follow."""


def processes_of(
    table: ProcessTable, calls: Iterable[OpenCall], others: Iterable[CallProcess] = ()
) -> dict[OpenCall, CallProcess]:
    """The topmost process of each call, for those that have one. No process is that of two calls: of several that it
    fits, the longest command is the one it runs. `others` are those of calls that are known."""
    found: dict[OpenCall, CallProcess] = {}
    taken = {process.pid for process in others}
    for call in sorted(calls, key=lambda call: -len(call.command or "")):
        process = _process_of(table, call, taken)
        if process is not None:
            found[call] = process
            taken.add(process.pid)
    return found


def _process_of(table: ProcessTable, call: OpenCall, others: set[int]) -> CallProcess | None:
    if call.command is None:
        return CallProcess(call.pid, (BELOW, STARTED, COMMAND)) if call.pid in table.rows else None
    command = _bare(call.command)
    fitting: dict[int, tuple[bool, bool, int, int]] = {}
    for pid in table.below(call.pid)[1:]:
        line = _bare(" ".join(table.command(pid)))
        whole = command in line
        if not (line and command and (whole or line in command)) or pid in others or table.rows[pid].parent in fitting:
            continue
        apart = _apart(table, pid, call.began)
        began = apart is not None and -_EARLY <= apart <= _LATE
        if began or len(command) >= _SHORT:
            fitting[pid] = (not began, not whole, abs(len(line) - len(command)), abs(apart or 0))
    if not fitting:
        return None
    best = min(fitting, key=fitting.__getitem__)
    late, part, _, _ = fitting[best]
    return CallProcess(best, (BELOW, COMMAND) if late else (BELOW, STARTED, COMMAND), whole=not (late or part))


def _bare(command: str) -> str:
    """Without what shells write otherwise: blanks, quotes and what guards them."""
    return _QUOTES.sub("", command.removesuffix(_CUT))


def _apart(table: ProcessTable, pid: int, began: Millis | None) -> int | None:
    """How much later than the call it started."""
    started = moment(table.rows[pid].started)
    return None if started is None or began is None else started - began
