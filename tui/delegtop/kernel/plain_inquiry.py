"""Why a process stands still, where the system does not say what it waits for: by its state, by those it started, by
its command line and by its connections. Of whatever these do not tell nothing is said, and nothing is endless.
"""

from collections.abc import Iterable

from delegtop.base.clock import SECOND, Millis
from delegtop.kernel import known_programs
from delegtop.kernel.blocked import Blocked, anothers, gentlest
from delegtop.kernel.call_process import put_aside
from delegtop.kernel.inquirer import Moves
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.process_table import ProcessTable, moment
from delegtop.kernel.psutil_source import Connection, connections, is_open, owner
from delegtop.model.events import Outlook, WaitsFor

_DEBUGGERS = frozenset({"gdb", "lldb", "debugserver", "strace", "dtruss", "rr"})
_WAITERS = frozenset({*("sh", "bash", "dash", "zsh", "fish"), *("make", "xargs", "timeout", "env", "npm")})
"""Programs that do nothing but wait for those they start."""


class PlainInquiry:
    """One look."""

    def __init__(self, table: ProcessTable, moves: Moves) -> None:
        self._table, self._moves = table, moves
        self._partners: set[int] = set()
        self._ends: dict[str, int] | None = None

    def about(self, pid: int) -> tuple[Blocked, frozenset[int]]:
        self._partners = set()
        found = self._why(pid)
        return found, frozenset(self._partners)

    def outputs(self, pid: int) -> frozenset[str]:  # noqa: ARG002 # nobody tells that two have one pipe open
        return frozenset()

    def heirs(self, outputs: Iterable[str], call: OpenCall) -> list[int]:  # noqa: ARG002 # likewise
        """What the call may have put into the background: nobody tells whether it has its output open."""
        return put_aside(self._table, call)

    def _why(self, pid: int) -> Blocked:
        unknown = Blocked(pid, WaitsFor.UNKNOWN, "")
        row = self._table.rows.get(pid)
        if row is None or row.is_dead:
            return unknown
        if row.is_stopped:
            held = row.state == "t" or self._table.name(row.parent) in _DEBUGGERS
            said = "is stopped (state T) until somebody sends it SIGCONT"
            return unknown if held else Blocked(pid, WaitsFor.STOPPED, said)
        command = self._table.command(pid)
        if endless := known_programs.never_ends(command):
            return Blocked(pid, WaitsFor.TIMER, endless)
        seconds = known_programs.sleeps_for(command)
        if seconds is not None:
            until = Millis(int(moment(row.started) + seconds * SECOND))
            return Blocked(pid, WaitsFor.TIMER, f"sleeps {seconds:g} s", until=until)
        if children := [child for child in self._table.children.get(pid, ()) if child in self._table.rows]:
            return self._of_children(pid, children)
        if not is_open(pid):
            return anothers(pid, owner(pid), asks=known_programs.asks_for_a_password(self._table.name(pid)))
        return self._of_connections(pid) or unknown

    def _of_children(self, pid: int, children: list[int]) -> Blocked:
        living = [child for child in children if not self._table.rows[child].is_dead]
        if living:
            return gentlest(self._why(child) for child in living)
        if self._table.name(pid) not in _WAITERS:
            return Blocked(pid, WaitsFor.UNKNOWN, "")
        dead = f"pid {children[0]} `{self._table.words(children[0])}`"
        return Blocked(pid, WaitsFor.CHILD, f"its child {dead}, which has ended and was not taken note of")

    def _of_connections(self, pid: int) -> Blocked | None:
        """Only of one that does nothing at all: whether bytes came in is not told."""
        open_ones = connections(pid) if self._moves(pid) is False else []
        with_others = [each for each in open_ones if each.other and not each.listens]
        if with_others:
            first = with_others[0]
            other = self._at_other_end(first)
            if other is None or other == pid:
                return Blocked(pid, WaitsFor.NETWORK, first.other) if other is None else None
            self._partners.add(other)
            outlook = Outlook.AT_WORK if self._moves(other) else Outlook.OPEN
            return Blocked(pid, WaitsFor.NETWORK, f"{first.other} (pid {other} `{self._table.words(other)}`)", outlook)
        listens = next((each for each in open_ones if each.listens), None)
        return Blocked(pid, WaitsFor.CLIENTS, f"connections on {listens.own}") if listens else None

    def _at_other_end(self, connection: Connection) -> int | None:
        """The process of this machine that it is connected with, among those that we may look at."""
        if self._ends is None:
            self._ends = {each.own: pid for pid in self._table.rows for each in connections(pid) if each.other}
        return self._ends.get(connection.other)
