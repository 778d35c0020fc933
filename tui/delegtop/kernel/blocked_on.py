"""Why a process stands still: what it waits for, who could end that, and whether anybody can.

The wait is followed to where it begins: from a shell to its child, from a reader to who should write, from a lock to
its holder. A wait is endless only if that can be shown: nobody holds the other end, the holder itself is stuck, two
wait for each other.
"""

import re
from collections.abc import Collection, Iterable

from delegtop.base.clock import SECOND, Millis
from delegtop.kernel import known_programs, output_heirs, proc_files
from delegtop.kernel.blocked import Blocked, anothers, gentlest
from delegtop.kernel.descriptor_waits import DescriptorWaits
from delegtop.kernel.frozen_groups import frozen_with
from delegtop.kernel.inquirer import Moves
from delegtop.kernel.lock_waits import LockWaits
from delegtop.kernel.machine_look import SOON, MachineLook
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.open_files import KnownHolders
from delegtop.kernel.process_table import ProcessTable, moment
from delegtop.kernel.thread_waits import ThreadWait, Waiting, waits
from delegtop.model.events import Outlook, WaitsFor

_FOLLOWS_CHILDREN = (Waiting.CHILD, Waiting.POLL, Waiting.THREAD, Waiting.SIGNAL, Waiting.OTHER)
_VAGUE = (Waiting.THREAD, Waiting.POLL, Waiting.SLEEP, Waiting.SIGNAL, Waiting.OTHER)
"""What other threads of the process may tell better."""
_FREEZES = re.compile(r"get_signal|freez|refrigerator")
"""The places in the kernel where somebody is who is frozen, as far as the place is another than before."""
_DEEP = 100
"""Waits in a row that are followed."""


class Inquiry:
    """One look at why processes stand still."""

    def __init__(
        self, table: ProcessTable, moves: Moves, agents: Collection[int], holders: KnownHolders | None = None
    ) -> None:
        self._look = MachineLook(table, moves, agents, holders)
        self._locks = LockWaits(self._look, self.why)
        self._descriptors = DescriptorWaits(self._look, self.why)
        self._asked: dict[int, Blocked] = {}
        """What was found of those on the way: there may be many ways to each of a crowd."""

    def about(self, pid: int) -> tuple[Blocked, frozenset[int]]:
        """Why it stands still, and who else was met on the way: if one of these does something, it may be otherwise."""
        self._look.partners, self._asked = set(), {}
        found = self.why(pid)
        return found, frozenset(self._look.partners)

    def outputs(self, pid: int) -> frozenset[str]:
        """Where what it writes goes, if somebody may wait for the end of that."""
        return output_heirs.outputs(self._look.files, pid)

    def heirs(self, outputs: Iterable[str], call: OpenCall) -> list[int]:
        """Who could still write there."""
        return output_heirs.heirs(self._look.table, self._look.files, outputs, call.pid)

    def why(self, pid: int, above: frozenset[int] = frozenset()) -> Blocked:
        """Why it stands still. `above` are those that wait for it: to meet one of them again is a circle."""
        if pid not in self._asked:
            deep = len(above) > _DEEP
            self._asked[pid] = Blocked(pid, WaitsFor.UNKNOWN, "") if deep else self._why(pid, above | {pid})
        return self._asked[pid]

    def _why(self, pid: int, above: frozenset[int]) -> Blocked:
        row = self._look.table.rows.get(pid)
        if row is None:
            return Blocked(pid, WaitsFor.UNKNOWN, "")
        if row.is_dead:
            parent = self._look.named(row.parent)
            return Blocked(pid, WaitsFor.PARENT, f"has ended, and {parent} has not noticed", self._dead(pid))
        if row.is_stopped:
            return self._stopped(pid, above)
        command = self._look.table.command(pid)
        if endless := known_programs.never_ends(command):
            return Blocked(pid, WaitsFor.TIMER, endless, self._follows(pid))
        if not proc_files.is_open(pid):
            return self._anothers(pid, above)
        threads = waits(pid)
        if (row.state == "D" or any(map(_may_be_frozen, threads))) and (group := frozen_with(pid)):
            said = f"is frozen with its control group {group} until somebody thaws it"
            return Blocked(pid, WaitsFor.FROZEN, said, Outlook.ENDLESS)
        wait = _foremost(threads)
        children = [child for child in self._look.table.children.get(pid, ()) if not self._is_held(child, pid, above)]
        if wait is None or len(threads) < row.threads:
            return Blocked(pid, WaitsFor.NOTHING, "")
        if children and wait.waiting in _FOLLOWS_CHILDREN:
            return self._of_children(pid, children, above)
        found = self._of_itself(pid, wait, threads, above)
        if found.pid == pid and found.endless and any(each.timed for each in threads):
            return found._replace(outlook=Outlook.OPEN)  # another of its threads goes on after a time
        return found

    def _anothers(self, pid: int, above: frozenset[int]) -> Blocked:
        """It is another user's, as below `sudo`: only who started whom and command lines are told of it."""
        children = [child for child in self._look.table.children.get(pid, ()) if child not in above]
        if children:
            return self._of_children(pid, children, above)
        if not proc_files.is_there(pid):
            return Blocked(pid, WaitsFor.UNKNOWN, "")
        if known_programs.sleeps_for(self._look.table.command(pid)) is not None:
            return self._sleep(pid)
        asks = known_programs.asks_for_a_password(self._look.table.name(pid))
        return anothers(pid, proc_files.owner(pid), asks=asks)

    def _is_held(self, child: int, by: int, above: frozenset[int]) -> bool:
        """Whether a child is not waited for: it waits itself, or its debugger holds it."""
        return child in above or (self._look.table.rows[child].is_stopped and _tracer(child) == by)

    def _dead(self, pid: int) -> Outlook:
        """Who has ended just now is noticed in a moment."""
        return Outlook.ENDLESS if self._look.moves(pid) is False else Outlook.OPEN

    def _of_children(self, pid: int, children: list[int], above: frozenset[int]) -> Blocked:
        living = [child for child in children if not self._look.table.rows[child].is_dead]
        if not living:
            dead = children[0]
            said = f"its child {self._look.named(dead)}, which has ended and was not taken note of"
            return Blocked(pid, WaitsFor.CHILD, said, self._dead(dead))
        return gentlest(self.why(child, above) for child in living)

    def _follows(self, pid: int) -> Outlook:
        """Whether one that follows what is written to a file may still come to an end: when its reader has enough."""
        out = self._look.files.one(pid, 1)
        readers = (
            self._look.files.readers(out.leads_to) - self._look.agents
            if out is not None and out.kind == "pipe"
            else set()
        )
        for each in self._look.files.of(pid) if readers else ():
            if each.fd > 2 and each.kind == "file" and not each.path.startswith("/dev/"):
                written = proc_files.written_at(pid, "fd", each.fd)
                if written is not None and written + SOON > self._look.table.looked_at:
                    return Outlook.AT_WORK
        return Outlook.ENDLESS

    def _of_itself(self, pid: int, wait: ThreadWait, threads: list[ThreadWait], above: frozenset[int]) -> Blocked:
        match wait.waiting:
            case Waiting.LOCK:
                return self._locks.of(pid, above)
            case Waiting.OPEN:
                return self._descriptors.to_open(pid, wait)
            case Waiting.READ | Waiting.RECEIVE | Waiting.ACCEPT | Waiting.CONNECT | Waiting.WRITE:
                return self._descriptors.at_one(pid, wait, above)
            case Waiting.POLL:
                return self._descriptors.at_several(pid, wait, above)
            case Waiting.SLEEP:
                return self._sleep(pid)
            case Waiting.THREAD:
                return _threads(pid, threads)
            case Waiting.SIGNAL:
                return Blocked(pid, WaitsFor.SIGNAL, "a signal")
            case Waiting.QUEUE:
                return Blocked(pid, WaitsFor.QUEUE, "a message or a semaphore that nobody gives it")
            case Waiting.DEVICE:
                return Blocked(pid, WaitsFor.DEVICE, f"a device or a file system ({wait.place or 'state D'})")
        return Blocked(pid, WaitsFor.UNKNOWN, wait.place if wait.place not in ("", "0") else "")

    def _stopped(self, pid: int, above: frozenset[int]) -> Blocked:
        tracer = _tracer(pid)
        if tracer and tracer not in above:
            self._look.partners.add(tracer)
            if self._look.moves(tracer) is False:
                return self.why(tracer, above)
            return Blocked(pid, WaitsFor.NOTHING, f"is held by its debugger {self._look.named(tracer)}")
        return Blocked(
            pid, WaitsFor.STOPPED, "is stopped (state T) until somebody sends it SIGCONT", outlook=Outlook.ENDLESS
        )

    def _sleep(self, pid: int) -> Blocked:
        command, row = self._look.table.command(pid), self._look.table.rows[pid]
        seconds, began = known_programs.sleeps_for(command), moment(row.started)
        if seconds is None:
            return Blocked(pid, WaitsFor.TIMER, "sleeps")
        return Blocked(pid, WaitsFor.TIMER, f"sleeps {seconds:g} s", until=Millis(int(began + seconds * SECOND)))


def _may_be_frozen(wait: ThreadWait) -> bool:
    return wait.place in ("", "0") or _FREEZES.search(wait.place) is not None


def _foremost(threads: list[ThreadWait]) -> ThreadWait | None:
    """What tells most of why a process stands still: the first thread's wait, unless that is vague and another's is
    not. None if a thread runs."""
    if not threads:
        return None
    plain = [each for each in threads if each.waiting not in _VAGUE]
    if threads[0].waiting not in _VAGUE or not plain:
        polls = [each for each in threads if each.waiting is Waiting.POLL]
        return polls[0] if threads[0].waiting is Waiting.THREAD and polls else threads[0]
    return plain[0] if threads[0].waiting is Waiting.THREAD else threads[0]


def _threads(pid: int, threads: list[ThreadWait]) -> Blocked:
    if any(each.timed for each in threads):
        return Blocked(pid, WaitsFor.TIMER, "sleeps")
    forever = all(each.waiting is Waiting.THREAD and each.timed is False for each in threads)
    what = "a lock within itself: all its threads wait for each other" if forever else "one of its threads"
    return Blocked(pid, WaitsFor.THREADS, what, Outlook.ENDLESS if forever else Outlook.OPEN)


def _tracer(pid: int) -> int:
    for line in proc_files.data(pid, "status").splitlines():
        if line.startswith(b"TracerPid:"):
            return int(line.split()[1])
    return 0
