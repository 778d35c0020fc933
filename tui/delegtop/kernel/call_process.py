"""Which process a call of a tool runs in.

Three things tell it: it was started, by whatever way, by the agent's own process; it started when the call was made;
and its command line has the command of the call in it. A shell may have replaced itself by the command.
"""

from collections.abc import Iterable
from typing import NamedTuple

from delegtop.base.clock import SECOND
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.process_table import ProcessTable, moment

BELOW, STARTED, COMMAND = "descendant", "started", "command"
_EARLY, _LATE = 500, 8 * SECOND
"""How far the start of the process may lie before and after that of the call, as the log dates it."""
_QUOTES = lazy_pattern(r"[\s'\"\\]+")
_SHORT = 4
"""A command of fewer characters may be part of any other: then the process must have started with the call as well."""
_CUT = "…"
_BEFORE = ("eval", "-c", "-lc")
"""What a shell has before the command that it is told to run."""


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
    """The topmost process of each call, for those that have one. No process is that of two calls, and none below one
    is that of another: of several that it fits, the longest command is the one it runs. `others` are those of calls
    that are known."""
    found: dict[OpenCall, CallProcess] = {}
    taken = {pid for process in others for pid in table.below(process.pid)}
    for call in sorted(calls, key=lambda call: -len(call.command or "")):
        process = _process_of(table, call, taken)
        if process is not None:
            found[call] = process
            taken.update(table.below(process.pid))
    return found


def _process_of(table: ProcessTable, call: OpenCall, taken: set[int]) -> CallProcess | None:
    if call.command is None:
        return CallProcess(call.pid, (BELOW, STARTED, COMMAND)) if call.pid in table.rows else None
    command = _bare(call.command)
    fitting: dict[int, tuple[bool, bool, bool, bool, int]] = {}
    for pid in table.below(call.pid)[1:]:
        row = table.rows[pid]
        apart = 0 if call.began is None else moment(row.started) - call.began
        if pid in taken or row.parent in fitting or row.is_dead or apart < -_EARLY:
            continue
        line = _bare(" ".join(table.command(pid)))
        whole, late = command in line, call.began is None or apart > _LATE
        if line and command and (whole or line in command) and not (late and len(command) < _SHORT):
            told = line == command or any(f"{before}{command}" in line for before in _BEFORE)
            fitting[pid] = (late, not whole, not told, apart < 0, apart)
    if not fitting:
        return None
    best = min(fitting, key=fitting.__getitem__)
    late, part, *_ = fitting[best]
    return CallProcess(best, (BELOW, COMMAND) if late else (BELOW, STARTED, COMMAND), whole=not (late or part))


def _bare(command: str) -> str:
    """Without what shells write otherwise: blanks, quotes and what guards them."""
    return _QUOTES.sub("", command.removesuffix(_CUT))
