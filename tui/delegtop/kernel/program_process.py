"""Which program a process runs, where, and with which files open: by that the process of a session is known."""

import os
from collections.abc import Sequence
from functools import cached_property

from delegtop.base.clock import Millis
from delegtop.kernel import proc_files, process_source
from delegtop.kernel.process_table import ProcessTable, moment, row_of, words_of

_INTERPRETERS = ("node", "bun", "deno", "python", "npm", "npx", "electron", "uv")
"""How the names of programs begin that run others."""
_SCRIPT = 8
"""Words of a command line among which an interpreter's script stands."""


class ProgramProcess:
    """One process, as it is now. Where it works and what it has open is looked at when somebody asks, and only once."""

    def __init__(self, pid: int, parent: int, ticks: int, started_at: Millis, words: tuple[str, ...]) -> None:
        self.pid, self.parent = pid, parent
        self.ticks = ticks
        """When it started, as the kernel counts: with the number, that names one process for good."""
        self.started_at = started_at
        self.words = words

    def runs(self, executables: Sequence[str], scripts: Sequence[str]) -> bool:
        """Whether it is a program of that name, by itself or in an interpreter."""
        first = self.words[0]
        name = first.rpartition("/")[2]
        if name in executables or any(part in first for part in scripts):
            return True
        if not name.startswith(_INTERPRETERS):
            return False
        more = [word for word in self.words[1:_SCRIPT] if "/" in word]
        return any(word.rpartition("/")[2] in executables or any(part in word for part in scripts) for word in more)

    @cached_property
    def is_open(self) -> bool:
        """Whether we may see its folder and its files."""
        return process_source.source().is_open(self.pid)

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Where it works, and where its shell told it that it does: some programs believe that. None if it is gone, or
        not ours to look at."""
        return process_source.source().folders(self.pid)

    @cached_property
    def has_terminal(self) -> bool | None:
        """Whether somebody sees what it writes, and may type what it reads, in a terminal; None if that is not ours to
        look at."""
        return process_source.source().has_terminal(self.pid) if self.is_open else None

    @property
    def terminal(self) -> str:
        """`pts/3`; nothing if it has none, or that is not ours to look at."""
        return proc_files.link(self.pid, "fd", 0).removeprefix("/dev/") if self.has_terminal else ""

    @property
    def tmux_pane(self) -> str:
        """The pane of tmux that it was started in, `%3`; nothing without one, or if tmux is not asked as usual."""
        server, pane = self._variable("TMUX").partition(",")[0], self._variable("TMUX_PANE")
        return pane if server.endswith("/default") and pane[:1] == "%" and pane[1:].isdecimal() else ""

    @property
    def listens(self) -> str:
        """The address at which it waits for connections, `127.0.0.1:4096`; nothing if it has none, or several."""
        held = {proc_files.link(self.pid, "fd", fd) for fd in proc_files.numbers(self.pid, "fd")}
        if not any(each.startswith("socket:") for each in held):
            return ""
        from delegtop.kernel.sockets import peers  # only servers are asked where they listen

        own = {peer.words for inode, peer in peers().items() if peer.listens and f"socket:[{inode}]" in held}
        addresses = [address for address in own if address.rpartition(":")[2].isdecimal()]
        return addresses[0] if len(addresses) == 1 else ""

    def _variable(self, name: str) -> str:
        """Of the environment it was started with."""
        told = proc_files.data(self.pid, "environ").split(b"\0")
        begins = name.encode() + b"="
        return next((os.fsdecode(each[len(begins) :]) for each in told if each.startswith(begins)), "")

    @cached_property
    def files(self) -> frozenset[str]:
        """The files it has open to write in, as far as they can be seen: anybody may read along."""
        return frozenset(process_source.source().files(self.pid))


def programs(table: ProcessTable) -> list[ProgramProcess]:
    """All that are there, but for the kernel's own and those that have ended."""
    return [
        ProgramProcess(row.pid, row.parent, row.started, at, words)
        for row in table.rows.values()
        if not row.is_dead and (words := table.command(row.pid)) and (at := moment(row.started)) is not None
    ]


def program(pid: int) -> ProgramProcess | None:
    """The one of that number, if it is there and has a command line."""
    row, words = row_of(pid), words_of(pid)
    return ProgramProcess(pid, row.parent, row.started, moment(row.started), words) if row and words else None
