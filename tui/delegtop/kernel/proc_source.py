"""What Linux tells of processes, in `/proc`."""

import os
import stat
from collections.abc import Iterator
from functools import lru_cache

from delegtop.base.clock import SECOND, Millis, booted_at
from delegtop.kernel import proc_files
from delegtop.kernel.process_row import TICKS, Effort, ProcessRow

_PARENT, _USER_TIME, _DEAD_TIME_END, _THREADS, _START, _PAGES = 1, 11, 15, 17, 19, 21
"""Where these stand in `stat`, counted from the state, which is the first after the name."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_COMMAND = 1 << 17
"""Bytes of a command line that are read: it may have megabytes."""
_ROWS = 2_048
"""Processes whose `stat` is remembered: of most of them it is the same at the next look."""
_CHARS = (b"rchar:", b"wchar:")
_TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")


def pids() -> list[int]:
    return proc_files.numbers()


def row(pid: int) -> ProcessRow | None:
    """What the kernel tells of one process; None if there is none of that number."""
    return _row(pid, proc_files.data(pid, "stat", most=proc_files.RECORD))


@lru_cache(_ROWS)
def _row(pid: int, told: bytes) -> ProcessRow | None:
    head, _, rest = told.rpartition(b")")
    fields = rest.split(None, _PAGES + 1)
    try:
        used = sum(map(int, fields[_USER_TIME:_DEAD_TIME_END]))
        name = head.partition(b"(")[2].decode("utf-8", "replace")
        pages = int(fields[_PAGES])
        return ProcessRow(
            pid,
            int(fields[_PARENT]),
            name,
            fields[0].decode(),
            used,
            int(fields[_START]),
            pages * _PAGE,
            int(fields[_THREADS]),
        )
    except (IndexError, ValueError):
        return None


def words(pid: int) -> tuple[str, ...]:
    """Its command line, as far as it tells one."""
    told = proc_files.text(pid, "cmdline", most=_COMMAND).rstrip("\0")
    return tuple(told.split("\0")) if told else ()


def moment(ticks: int) -> Millis:
    """When something happened that the kernel dates in ticks since the start of the machine."""
    return Millis(booted_at() + ticks * SECOND // TICKS)


def ticks(at: Millis) -> int:
    """What the kernel calls that moment."""
    return (at - booted_at()) * TICKS // SECOND


def effort(row: ProcessRow, before: Effort | None = None) -> Effort:
    """What it has done since it started; `before` is what it had done by the last look."""
    ran = woken = 0
    for counted in _counted(row):
        counts = counted.split()
        if len(counts) == 3:
            ran += int(counts[0])
            woken += int(counts[2])
    if not woken:  # a kernel that does not count it: ticks still tell work from none
        woken = row.ticks
    elif row.threads == 1 and before is not None and before[:4] == (row.started, ran, row.ticks, woken):
        return before  # who did not run has moved nothing
    chars = 0
    for line in proc_files.data(row.pid, "io", most=proc_files.RECORD).splitlines():
        if line.startswith(_CHARS):
            chars += int(line[6:])
    return Effort(row.started, ran, row.ticks, woken, chars)


def _counted(row: ProcessRow) -> Iterator[bytes]:
    """How long and how often each of its threads ran."""
    if row.threads == 1:
        yield proc_files.data(row.pid, "schedstat", most=proc_files.RECORD)
        return
    for thread in proc_files.numbers(row.pid, "task"):
        yield proc_files.data(row.pid, "task", thread, "schedstat", most=proc_files.RECORD)


def children(pid: int) -> list[int]:
    """As it lists them for each thread; some kernels do not."""
    return [
        int(child)
        for thread in proc_files.numbers(pid, "task")
        for child in proc_files.data(pid, "task", thread, "children").split()
    ]


def is_open(pid: int) -> bool:
    """Whether we may see what it has open, and so what it waits for: not if it is another user's."""
    return proc_files.is_open(pid)


def owner(pid: int) -> str:
    """The name of its user, else the number; nothing if it is gone."""
    return proc_files.owner(pid)


def folders(pid: int) -> tuple[str, ...]:
    """Where it works, and where its shell told it that it does: some programs believe that. None if it is gone, or not
    ours to look at."""
    told = proc_files.data(pid, "environ").split(b"\0")
    named = [os.fsdecode(each[4:]) for each in told if each.startswith(b"PWD=")]
    return tuple(folder for folder in (proc_files.link(pid, "cwd"), *named) if folder)


def files(pid: int) -> Iterator[str]:
    """The files it has open to write in: anybody may read along."""
    for fd in proc_files.numbers(pid, "fd"):
        leads_to = proc_files.link(pid, "fd", fd)
        if leads_to.startswith("/") and _is_writable(pid, fd):
            yield leads_to


def has_terminal(pid: int) -> bool:
    return all(proc_files.link(pid, "fd", fd).startswith(_TERMINALS) for fd in (0, 1))


def _is_writable(pid: int, fd: int) -> bool:
    try:
        return bool(os.lstat(f"{proc_files.PROC}/{pid}/fd/{fd}").st_mode & stat.S_IWUSR)
    except OSError:
        return False
