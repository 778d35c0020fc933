"""All processes at one moment: who started whom, what they are called, and how much each has done so far."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from delegtop.base.clock import SECOND, Millis, WallClock, booted_at
from delegtop.kernel import proc_files

_PARENT, _USER_TIME, _DEAD_TIME_END, _THREADS, _START, _PAGES = 1, 11, 15, 17, 19, 21
"""Where these stand in `stat`, counted from the state, which is the first after the name."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
"""In a second."""
_COMMAND = 1 << 17
"""Bytes of a command line that are read: it may have megabytes."""
_WORDS = 200
"""Characters of a command line that are told."""


class ProcessRow(NamedTuple):
    """One process."""

    pid: int
    parent: int
    name: str
    state: str
    """The kernel's letter: R runs, S sleeps, D waits for a device, T is stopped, Z has ended and nobody has noticed."""
    ticks: int
    """Of the processor, its own and those of its children that have ended."""
    started: int
    """In ticks since the machine started: with the number it names one process for good."""
    memory: int
    """Bytes."""
    threads: int

    @property
    def is_dead(self) -> bool:
        return self.state in "ZX"

    @property
    def is_stopped(self) -> bool:
        return self.state in "Tt"


class ProcessTable:
    """What there was at one look."""

    def __init__(self) -> None:
        self.looked_at = WallClock().now()
        self.rows: dict[int, ProcessRow] = {}
        self.children: dict[int, list[int]] = {}
        for pid in proc_files.numbers():
            row = row_of(pid)
            if row is not None:
                self.rows[pid] = row
                self.children.setdefault(row.parent, []).append(pid)
        self._commands: dict[int, tuple[str, ...]] = {}
        self.bare: dict[int, str] = {}
        """Command lines without blanks and quotes, as far as somebody compared them with something."""

    def below(self, pid: int) -> list[int]:
        """It and all that it started, and what these did, from the top down."""
        found = dict.fromkeys([pid] if pid in self.rows else [])
        pending = list(found)
        for each in pending:
            new = [child for child in self.children.get(each, ()) if child not in found]
            found.update(dict.fromkeys(new))  # a number that is given again while all are read makes a circle
            pending += new
        return pending

    def above(self, pid: int) -> Iterator[int]:
        """Who started it, and so on up."""
        met, row = {pid}, self.rows.get(pid)
        while row is not None and row.parent and row.parent not in met:
            met.add(row.parent)
            yield row.parent
            row = self.rows.get(row.parent)

    def command(self, pid: int) -> tuple[str, ...]:
        """Its command line, as far as it tells one."""
        if pid not in self._commands:
            self._commands[pid] = words_of(pid)
        return self._commands[pid]

    def words(self, pid: int) -> str:
        """Its command line in one line of bounded length, else its name."""
        row = self.rows.get(pid)
        line = " ".join(" ".join(self.command(pid)).split()) or (row.name if row else "")
        return line if len(line) <= _WORDS else line[: _WORDS - 1] + "…"

    def name(self, pid: int) -> str:
        """What the program is called: by its command line, else by the kernel, which knows 15 characters."""
        command, row = self.command(pid), self.rows.get(pid)
        name = command[0].split(" ")[0].rpartition("/")[2] if command else ""
        return name.lstrip("-") or (row.name if row else "")


def command_of(pid: int) -> str:
    """Its command line in one line, as far as it tells one."""
    return " ".join(" ".join(words_of(pid)).split())


def words_of(pid: int) -> tuple[str, ...]:
    """Its command line, as far as it tells one."""
    words = proc_files.text(pid, "cmdline", most=_COMMAND).rstrip("\0")
    return tuple(words.split("\0")) if words else ()


def row_of(pid: int) -> ProcessRow | None:
    """What the kernel tells of one process; None if there is none of that number."""
    head, _, rest = proc_files.data(pid, "stat").rpartition(b")")
    fields = rest.split()
    try:
        ticks = sum(map(int, fields[_USER_TIME:_DEAD_TIME_END]))
        name = head.partition(b"(")[2].decode("utf-8", "replace")
        pages = int(fields[_PAGES])
        return ProcessRow(
            pid,
            int(fields[_PARENT]),
            name,
            fields[0].decode(),
            ticks,
            int(fields[_START]),
            pages * _PAGE,
            int(fields[_THREADS]),
        )
    except (IndexError, ValueError):
        return None


def is_anothers(pid: int) -> bool:
    """Whether it is there, and not ours to look into: what it waits for only its own user may see."""
    row = row_of(pid)
    return row is not None and not row.is_dead and not proc_files.is_open(pid)


def moment(ticks: int) -> Millis:
    """When something happened that the kernel dates in ticks since the start of the machine."""
    return Millis(booted_at() + ticks * SECOND // TICKS)


def ticks(at: Millis) -> int:
    """What the kernel calls that moment."""
    return (at - booted_at()) * TICKS // SECOND
