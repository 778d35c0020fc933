"""Which process to signal so that a hung command ends, and nothing else.

Not the shell that an agent runs its commands in: a shell that waits for a command lets SIGINT pass, and SIGTERM would
leave the command behind. The command that hangs is meant, the one that the others of its call wait for. If the shell
goes on with the next command, that is seen, and that one can be stopped as well.
"""

from typing import NamedTuple

from delegtop.base.clock import SECOND
from delegtop.feed.kernel_watch import told_command
from delegtop.kernel import proc_files
from delegtop.kernel.process_table import ProcessTable, moment
from delegtop.model.events import ProcessSeen, WaitsFor

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox"})
_SLACK = 2 * SECOND


class ToolProcess(NamedTuple):
    """The process of a hung command; or why there is none to signal."""

    pid: int | None = None
    why_not: str = ""
    top: int | None = None
    """The topmost process of the call, which the agent itself started."""
    others: int = 0
    """Further processes of the same call, that of the shell among them."""


def tool_process(table: ProcessTable, agent: int, seen: ProcessSeen) -> ToolProcess:
    """The process that is meant by what the kernel showed of a call of that agent's."""
    if seen.waits_for is WaitsFor.ENDED:
        return ToolProcess(why_not="its tool has ended already, and no result came")
    known = seen.pid if seen.call_pid is None else seen.call_pid
    if known == agent:
        stopped = seen.waits_for is WaitsFor.STOPPED
        told = "the agent itself is stopped, not its tool" if stopped else "its work is one process, not a tool in it"
        return ToolProcess(why_not=told)
    row = table.rows.get(known)
    if row is None or row.is_dead:
        return ToolProcess(why_not=f"the process of its tool (pid {known}) is gone")
    above = list(table.above(known))
    if agent not in above:
        return ToolProcess(why_not=f"pid {known} is not below the process of its session any more")
    is_it = seen.call_pid is not None or not seen.command or told_command(table.words(known)) == seen.command
    if not is_it or moment(row.started) > seen.at + _SLACK:
        return ToolProcess(why_not=f"pid {known} runs something else than what was seen; look again in a moment")
    top = [known, *above][above.index(agent)]
    pid = _command(table, known)
    if seen.waits_for is WaitsFor.INPUT:
        pid = _source(table, top, pid)
    return ToolProcess(pid, top=top, others=len(table.below(top)) - 1)


def _command(table: ProcessTable, pid: int) -> int:
    """The command that a shell waits for, or the process itself if it is none or waits for nobody. Of a pipeline, the
    first: the others wait for it."""
    met: set[int] = set()
    while table.name(pid) in SHELLS and pid not in met:
        met.add(pid)
        there = [each for each in table.children.get(pid, ()) if not table.rows[each].is_dead]
        if not there:
            break
        pid = min(there, key=lambda each: (table.rows[each].started, each))
    return pid


def _source(table: ProcessTable, top: int, pid: int) -> int:
    """The process of the same call that another one waits to read from, and so on: of `a | b | c` the first."""
    met: set[int] = set()
    while pid not in met:
        met.add(pid)
        pipe = proc_files.link(pid, "fd", 0)
        if pipe.startswith("pipe:"):
            pid = next((each for each in table.below(top) if each not in met and _writes(each, pipe)), pid)
    return pid


def _writes(pid: int, pipe: str) -> bool:
    return pipe in (proc_files.link(pid, "fd", 1), proc_files.link(pid, "fd", 2))
