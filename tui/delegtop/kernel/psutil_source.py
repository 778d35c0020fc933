"""What psutil tells of processes, where there is no `/proc`: macOS.

It tells what a process has used, in which state it is, who started whom, command lines and connections. It tells
nothing of what a process waits for, so that less can be said there, and never for certain that something hangs.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import psutil

from delegtop.base import other_systems
from delegtop.base.clock import SECOND, Millis
from delegtop.kernel.process_row import TICKS, Effort, ProcessRow

_NANO = 1_000_000_000
_COMMAND = 1 << 17
"""Characters of a command line that are kept: it may have megabytes."""
_REFUSED = (psutil.Error, OSError, ValueError, OverflowError, SystemError)
"""What asking may end in: it is gone, it is another's, the system does not say."""
_LISTENS = psutil.CONN_LISTEN
_COUNTS_BYTES = hasattr(psutil.Process, "io_counters")
"""Not on macOS."""
Told = TypeVar("Told")


class Connection(NamedTuple):
    """An open connection of a process."""

    own: str
    other: str
    listens: bool


def pids() -> list[int]:
    return psutil.pids()


def row(pid: int) -> ProcessRow | None:
    """What is told of one process; None if there is none of that number."""
    return _asked(pid, _row)


def words(pid: int) -> tuple[str, ...]:
    """Its command line, as far as it is told."""
    kept: list[str] = []
    left = _COMMAND
    for word in _asked(pid, psutil.Process.cmdline) or ():
        kept.append(word[:left])
        left -= len(kept[-1])
        if not left:
            break
    return tuple(kept)


def moment(ticks: int) -> Millis:
    return other_systems.moment(ticks)


def ticks(at: Millis) -> int:
    return at * other_systems.TICKS // SECOND


def effort(row: ProcessRow, before: Effort | None = None) -> Effort:  # noqa: ARG001 # nothing tells that it did not run
    """What it has done: time of the processor, how often it was woken, and bytes where they are counted."""
    told = _asked(row.pid, lambda process: _effort(row, process))
    return told or Effort(row.started, 0, row.ticks, row.ticks, 0)


def children(pid: int) -> list[int]:
    return _asked(pid, lambda process: [child.pid for child in process.children()]) or []


def is_open(pid: int) -> bool:
    """Whether its folder is shown to us: not if it is another user's."""
    return bool(_asked(pid, psutil.Process.cwd))


def owner(pid: int) -> str:
    return _asked(pid, psutil.Process.username) or ""


def folders(pid: int) -> tuple[str, ...]:
    told = _asked(pid, psutil.Process.cwd), (_asked(pid, psutil.Process.environ) or {}).get("PWD")
    return tuple(folder for folder in told if folder)


def files(pid: int) -> list[str]:
    """Those it has open; whether to write in them, only Linux tells."""
    found = _asked(pid, psutil.Process.open_files) or ()
    return [file.path for file in found if getattr(file, "mode", "r+") != "r"]


def has_terminal(pid: int) -> bool:
    return bool(_asked(pid, psutil.Process.terminal))


def connections(pid: int) -> list[Connection]:
    """With whom it is connected, and where it listens."""
    found = _asked(pid, lambda process: process.net_connections("inet")) or ()
    return [Connection(_address(each.laddr), _address(each.raddr), each.status == _LISTENS) for each in found]


def _row(process: psutil.Process) -> ProcessRow:
    with process.oneshot():
        pid = process.pid
        used, memory, threads = 0.0, 0, 1
        with suppress(*_REFUSED):  # another's is not told everywhere
            used, memory, threads = sum(process.cpu_times()[:2]), process.memory_info().rss, process.num_threads()
        started = other_systems.ticks(process)
        letter = other_systems.letter(process)
        return ProcessRow(pid, process.ppid(), process.name(), letter, int(used * TICKS), started, memory, threads)


def _effort(row: ProcessRow, process: psutil.Process) -> Effort:
    ran, woken = int(sum(process.cpu_times()[:2]) * _NANO), sum(process.num_ctx_switches())
    counts = process.io_counters() if _COUNTS_BYTES else None
    chars = getattr(counts, "read_chars", 0) + getattr(counts, "write_chars", 0)
    return Effort(row.started, ran, row.ticks, woken or row.ticks, chars)


def _address(told: Any) -> str:
    if not told:
        return ""
    return f"[{told.ip}]:{told.port}" if ":" in told.ip else f"{told.ip}:{told.port}"


def _asked(pid: int, ask: Callable[[psutil.Process], Told]) -> Told | None:
    """What that process tells; None if it is gone, or does not."""
    try:
        return ask(psutil.Process(pid))
    except _REFUSED:
        return None
