"""Which process a call of a tool runs in.

Three things tell it: it was started, by whatever way, by the agent's own process; it started when the call was made;
and its command line has the command of the call in it. A shell may have replaced itself by the command.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from delegtop.base.clock import SECOND, Millis
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.open_files import OpenFiles
from delegtop.kernel.output_heirs import writes_to
from delegtop.kernel.process_table import ProcessTable, moment, ticks

BELOW, STARTED, COMMAND = "descendant", "started", "command"
_EARLY, _LATE = 500, 8 * SECOND
"""How far the start of the process may lie before and after that of the call, as the log dates it."""
_AT_ONCE = 2 * SECOND
"""So soon after its call a process starts that only its start tells."""
_QUOTES = lazy_pattern(r"[\s'\"\\]+")
_SHORT = 4
"""A command of fewer characters may be part of any other: then the process must have started with the call, and run
just that."""
_CUT = "…"
_REAPERS = ("systemd", "init")
"""What the process is called that takes over those of one user whose parent ends."""
_BEFORE = ("eval", "-c", "-lc")
"""What a shell has before the command that it is told to run."""


class CallProcess(NamedTuple):
    """The process that a call runs in."""

    pid: int
    fits: tuple[str, ...]
    """What of the three tells so."""
    whole: bool = True
    """Whether it runs the whole call; else a part of it, and others may follow."""
    is_heir: bool = False
    """Whether the one that ran the call has ended, and this one still has its output open."""
    beside: tuple[int, ...] = ()
    """Other heirs."""


def processes_of(
    table: ProcessTable, calls: Iterable[OpenCall], others: Iterable[CallProcess] = ()
) -> dict[OpenCall, CallProcess]:
    """The topmost process of each call, for those that have one. No process is that of two calls, and none below one
    is that of another: of several that it fits, the longest command is the one it runs. `others` are those of calls
    that are known."""
    found: dict[OpenCall, CallProcess] = {}
    taken = {pid for process in others for pid in table.below(process.pid)}
    longest_first = sorted(calls, key=lambda call: -len(call.command or ""))
    alike = Counter((call.pid, call.command) for call in longest_first)
    """Of several calls with one command nobody can say which of their processes is whose."""
    for link in (_whole, _part, _by_start, _by_output):
        for call in longest_first:
            process = link(table, call, taken) if call not in found else None
            if process is not None:
                alone = call.command is None or alike[call.pid, call.command] == 1
                found[call] = process if alone else CallProcess(process.pid, (BELOW, COMMAND), whole=False)
                taken.update(table.below(process.pid))
    return found


def left_by(table: ProcessTable, calls: Iterable[OpenCall]) -> dict[OpenCall, int]:
    """The processes that calls of sessions which are gone still run in: taken over by the first process of the machine
    or of its user, as all are whose parent ends, with the command of the call, and started with it."""
    found: dict[OpenCall, int] = {}
    for call in calls:
        if call.gone and call.began is not None and len(_bare(call.command or "")) >= _SHORT:
            taken = set(found.values())
            best = _whole(table, call, taken) or _part(table, call, taken)
            if best is not None and STARTED in best.fits:
                found[call] = best.pid
    return found


def _taken_over(table: ProcessTable) -> list[int]:
    reapers = {1, *(pid for pid in {row.parent for row in table.rows.values()} if table.name(pid) in _REAPERS)}
    return [pid for pid, row in table.rows.items() if row.parent in reapers]


def _whole(table: ProcessTable, call: OpenCall, taken: set[int]) -> CallProcess | None:
    """The process whose command line has the whole command of the call in it."""
    if call.command is None:
        return CallProcess(call.pid, (BELOW, STARTED, COMMAND)) if call.pid in table.rows else None
    command = _bare(call.command)
    fitting: dict[int, tuple[bool, bool, bool, int]] = {}
    for pid, apart in _candidates(table, call, taken):
        line, late = _line(table, pid), call.began is None or apart > _LATE
        if not command or command not in line:
            continue
        told = line == command or any(_has_word(line, f"{before}{command}") for before in _BEFORE)
        if len(command) >= _SHORT or (told and not late):
            fitting[pid] = (late, not told, apart < 0, apart)
    best = _topmost(table, fitting)
    if best is None:
        return None
    late = fitting[best][0]
    return CallProcess(best, (BELOW, COMMAND) if late else (BELOW, STARTED, COMMAND), whole=not late)


def _has_word(line: str, words: str) -> bool:
    """Whether the line has these words, and not only as the beginning of longer ones."""
    return words in line and not line.partition(words)[2][:1].isalnum()


def _part(table: ProcessTable, call: OpenCall, taken: set[int]) -> CallProcess | None:
    """A process that runs a part of the command, where no shell that runs the whole can be seen."""
    command = _bare(call.command or "")
    fitting: dict[int, tuple[bool, bool, bool, int]] = {}
    for pid, apart in _candidates(table, call, taken):
        line = _line(table, pid)
        if line in command and len(line) >= _SHORT:
            fitting[pid] = (call.began is None or apart > _LATE, False, apart < 0, apart)
    best = _topmost(table, fitting)
    if best is None:
        return None
    return CallProcess(best, (BELOW, COMMAND) if fitting[best][0] else (BELOW, STARTED, COMMAND), whole=False)


def _by_start(table: ProcessTable, call: OpenCall, taken: set[int]) -> CallProcess | None:
    """The only process that was started when the call was made, of a tool that starts one: a shell may have made
    another command line of the command. Of several, the only one of the program that the command begins with."""
    if not call.runs or call.began is None or not (call.command or "").strip():
        return None
    begun = {pid: apart for pid, apart in _candidates(table, call, taken) if apart <= _AT_ONCE}
    top = [pid for pid in begun if table.rows[pid].parent not in begun]
    if len(top) > 1 and call.command:
        top = [pid for pid in top if table.name(pid) == call.command.split()[0]]
    return CallProcess(top[0], (BELOW, STARTED), whole=False) if len(top) == 1 else None


def put_aside(table: ProcessTable, call: OpenCall) -> list[int]:
    """Those that a call may have put into the background before it ended: begun since, taken over by a process above
    the agent, as all are whose parent ends, and with a part of its command for a command line."""
    if call.began is None or call.command is None:
        return []
    command, above, first = _bare(call.command), set(table.above(call.pid)), ticks(Millis(call.began - _EARLY))
    begun = [pid for pid, row in table.rows.items() if row.started >= first and not row.is_dead and row.parent in above]
    return [pid for pid in begun if len(_line(table, pid)) >= _SHORT and _line(table, pid) in command]


def _by_output(table: ProcessTable, call: OpenCall, taken: set[int]) -> CallProcess | None:
    """One that the call put into the background, where the call itself ended before anybody looked: its command line is
    part of the command, and it writes into a pipe that the agent reads."""
    if not call.runs or call.began is None or call.gone:
        return None
    command, below = _bare(call.command or ""), set(table.below(call.pid))
    first, last = ticks(Millis(call.began - _EARLY)), ticks(Millis(call.began + _LATE))
    begun = [pid for pid, row in table.rows.items() if first <= row.started <= last and not row.is_dead]
    for pid in begun:
        line = _line(table, pid) if pid not in taken and pid not in below else ""
        if len(line) >= _SHORT and line in command and writes_to(OpenFiles(table), pid, call.pid):
            return CallProcess(pid, (BELOW, STARTED, COMMAND), whole=False, is_heir=True)
    return None


def _candidates(table: ProcessTable, call: OpenCall, taken: set[int]) -> Iterator[tuple[int, int]]:
    """The processes below the agent's that are nobody else's, and how much later than the call they started; those
    without a parent of their own if the agent's is gone."""
    for pid in _taken_over(table) if call.gone else table.below(call.pid)[1:]:
        row = table.rows[pid]
        apart = 0 if call.began is None else moment(row.started) - call.began
        if pid not in taken and not row.is_dead and apart >= -_EARLY:
            yield pid, apart


def _topmost(table: ProcessTable, fitting: dict[int, tuple[bool, bool, bool, int]]) -> int | None:
    """The best of those that are below none of the others."""
    top = [pid for pid in fitting if not any(above in fitting for above in table.above(pid))]
    return min(top, key=fitting.__getitem__, default=None)


def _line(table: ProcessTable, pid: int) -> str:
    if pid not in table.bare:
        table.bare[pid] = _bare(" ".join(table.command(pid)))
    return table.bare[pid]


def _bare(command: str) -> str:
    """Without what shells write otherwise: blanks, quotes and what guards them."""
    return _QUOTES.sub("", command.removesuffix(_CUT))
