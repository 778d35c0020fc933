"""What processes have open, and who else has the same open: the other ends of pipes and sockets, and locked files."""

import os
from collections.abc import Callable
from typing import NamedTuple

from delegtop.kernel import proc_files
from delegtop.kernel.process_table import ProcessTable

_READS, _WRITES = (os.O_RDONLY, os.O_RDWR), (os.O_WRONLY, os.O_RDWR)
_DELETED = " (deleted)"
_MANY = 10_000
"""Descriptors of one process that are looked at."""


Enough = Callable[[set[int]], bool]
"""Whether it makes no difference who else there is."""


class Descriptor(NamedTuple):
    """One open file of a process."""

    fd: int
    leads_to: str
    """`pipe:[1234]`, `socket:[1234]`, a path, or what the kernel calls it."""

    @property
    def kind(self) -> str:
        """`pipe`, `socket`, `terminal`, `fifo`, an anonymous one such as `eventpoll`, or `file`."""
        to = self.leads_to
        if to.startswith(("pipe:", "socket:")):
            return to.partition(":")[0]
        if to.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
            return "terminal"
        if to.startswith("anon_inode:"):
            return to.partition(":")[2].strip("[]")
        return "file"

    @property
    def inode(self) -> int | None:
        """Of a pipe or a socket."""
        number = self.leads_to.partition("[")[2].rstrip("]")
        return int(number) if number.isdecimal() else None

    @property
    def path(self) -> str:
        return self.leads_to.removesuffix(_DELETED)


class KnownHolders:
    """Who had what open when all processes were last looked through."""

    def __init__(self) -> None:
        self.of: dict[str, list[tuple[int, int]]] = {}


class OpenFiles:
    """The open files of all processes that we may look at, at one look. Nothing is read before it is asked for."""

    def __init__(self, table: ProcessTable, before: KnownHolders | None = None) -> None:
        self._table = table
        self._before = before or KnownHolders()
        self._known: dict[int, list[Descriptor]] = {}
        self._holders: dict[str, list[tuple[int, int]]] | None = None

    def of(self, pid: int) -> list[Descriptor]:
        """In the order of their numbers; nothing of a process that is not ours."""
        if pid not in self._known:
            fds = sorted(proc_files.numbers(pid, "fd"))[:_MANY]
            self._known[pid] = [Descriptor(fd, to) for fd in fds if (to := proc_files.link(pid, "fd", fd))]
        return self._known[pid]

    def one(self, pid: int, fd: int) -> Descriptor | None:
        to = proc_files.link(pid, "fd", fd)
        return Descriptor(fd, to) if to else None

    def is_readable(self, pid: int, fd: int) -> bool:
        return _mode(pid, fd) in _READS

    def is_writable(self, pid: int, fd: int) -> bool:
        return _mode(pid, fd) in _WRITES

    def writers(self, leads_to: str, enough: Enough = lambda _: False) -> set[int]:
        """Who could write to a pipe; all that can be seen, unless those that are known to are enough."""
        return self._who(leads_to, self.is_writable, enough)

    def readers(self, leads_to: str, enough: Enough = lambda _: False) -> set[int]:
        """Who could read from a pipe, likewise."""
        return self._who(leads_to, self.is_readable, enough)

    def _who(self, leads_to: str, may: Callable[[int, int], bool], enough: Enough) -> set[int]:
        before = self._before.of.get(leads_to, ()) if self._holders is None else ()
        known = {pid for pid, fd in before if proc_files.link(pid, "fd", fd) == leads_to and may(pid, fd)}
        return known if known and enough(known) else {pid for pid, fd in self.holders(leads_to) if may(pid, fd)}

    def holders(self, leads_to: str) -> list[tuple[int, int]]:
        """Which processes have it open, and as what."""
        if self._holders is None:
            self._holders = self._before.of = {}
            for pid in self._table.rows:
                for each in self.of(pid):
                    self._holders.setdefault(each.leads_to, []).append((pid, each.fd))
        return self._holders.get(leads_to, [])

    def may_be_held_unseen(self, leads_to: str, pid: int, top: int) -> bool:
        """Whether somebody may have the same open as that process without our seeing it: one that is started below
        `top`, as by `sudo`, or one above from whom it comes, as if `sshd` gave it to a shell, and somebody outside to
        a container."""
        if any(not self._is_shown(each) for each in self._table.below(top)):
            return True
        above, holders = list(self._table.above(pid)), {holder for holder, _ in self.holders(leads_to)}
        pairs = zip((pid, *above), (*above, 0), strict=True)
        return any(heir in holders and not self._is_shown(giver) for heir, giver in pairs)

    def _is_shown(self, pid: int) -> bool:
        row = self._table.rows.get(pid)
        return row is not None and (row.is_dead or (may_look(pid) and len(self.of(pid)) < _MANY))


def may_look(pid: int) -> bool:
    """Whether its open files are shown to us; those of one that has gone meanwhile are none."""
    return proc_files.is_open(pid) or not proc_files.is_there(pid)


def _mode(pid: int, fd: int) -> int:
    """Whether it was opened to read, to write, or for both; -1 if that cannot be told."""
    for line in proc_files.data(pid, "fdinfo", fd).splitlines():
        if line.startswith(b"flags:"):
            return int(line.split()[1], 8) & os.O_ACCMODE
    return -1
