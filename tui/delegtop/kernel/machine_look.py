"""What one look knows of the machine: its processes, what they have open, and who does anything.

Nothing is read before it is asked for, and nothing twice.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cached_property

from delegtop.base.clock import SECOND
from delegtop.kernel import file_locks, sockets
from delegtop.kernel.blocked import Blocked
from delegtop.kernel.inquirer import Moves
from delegtop.kernel.open_files import KnownHolders, OpenFiles
from delegtop.kernel.process_table import ProcessTable
from delegtop.kernel.thread_waits import waits
from delegtop.model.events import Outlook

Why = Callable[[int, frozenset[int]], Blocked]
"""Why a process stands still; those that wait for it are given, so that a circle is noticed."""
LATELY, SOON = 10 * SECOND, 60 * SECOND


class MachineLook:
    """One look, for all that is asked at it."""

    def __init__(
        self, table: ProcessTable, moves: Moves, agents: Collection[int], holders: KnownHolders | None = None
    ) -> None:
        self.table, self.moves = table, moves
        self.agents = frozenset(agents)
        """The agent programs themselves: they read what their tools write, and rarely write to them."""
        self.files = OpenFiles(table, holders)
        self.partners: set[int] = set()
        """Who was met while one process was asked about: if one of these does something, it may be otherwise."""

    @cached_property
    def locks(self) -> dict[int, file_locks.FileLock]:
        """The locks that are waited for, by who waits."""
        return file_locks.awaited()

    @cached_property
    def peers(self) -> dict[int, sockets.Peer]:
        """With whom sockets are connected, by their inodes."""
        return sockets.peers()

    def circle(self, pids: Iterable[int]) -> Outlook:
        """What becomes of processes that wait for each other: nothing, unless one of them gives up after a time."""
        timed = any(wait.may_give_up for pid in pids for wait in waits(pid))
        return Outlook.OPEN if timed else Outlook.ENDLESS

    def named(self, pid: int) -> str:
        words = self.table.words(pid)
        return f"pid {pid} `{words}`" if words else f"pid {pid}"

    def agent(self, pid: int) -> int:
        """The agent program that it belongs to, else itself."""
        return next((each for each in self.table.above(pid) if each in self.agents), pid)
