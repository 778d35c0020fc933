"""Who waits at an open file: a terminal, a pipe, a FIFO, or several at once; and who has the other end."""

import os
import re
from collections.abc import Iterable

from delegtop.kernel import known_programs, proc_files
from delegtop.kernel.blocked import Blocked, gentlest
from delegtop.kernel.machine_look import LATELY, MachineLook, Why
from delegtop.kernel.open_files import Descriptor, Enough
from delegtop.kernel.socket_waits import SocketWaits
from delegtop.kernel.thread_waits import ThreadWait, Waiting
from delegtop.model.events import Outlook, WaitsFor

_FIFO = re.compile(r"wait_for_partner|fifo_open")
"""The places in the kernel where somebody waits for the other end of one."""
_FAMILY = 20
"""Processes: who has more below it does not merely wait for the network."""
_ARGUMENTS = 50
"""Words of a command line among which the name of a FIFO is looked for."""


class DescriptorWaits:
    """Those of one look."""

    def __init__(self, look: MachineLook, why: Why) -> None:
        self._look, self._why = look, why
        self._sockets = SocketWaits(look)
        self._at_work: dict[int, Blocked] = {}

    def at_one(self, pid: int, wait: ThreadWait, above: frozenset[int]) -> Blocked:
        at = self._look.files.one(pid, wait.fd) if wait.fd is not None else self._likely(pid, wait)
        if at is None:
            return Blocked(pid, WaitsFor.UNKNOWN, "input" if wait.waiting is Waiting.READ else "")
        if at.kind == "terminal":
            return self._terminal(pid, at)
        if at.kind == "socket":
            return self._sockets.of(pid, at, above)
        if wait.waiting is Waiting.WRITE:
            readers = self._look.files.readers(at.leads_to, self._decides(pid, above)) - {pid}
            return self._others(pid, at, readers, above, "somebody to read what it writes", WaitsFor.OUTPUT)
        if at.kind == "pipe" or (at.kind == "file" and proc_files.is_fifo(at.path)):
            which = f"the FIFO {at.path}" if at.kind == "file" else "standard input" if at.fd == 0 else "a pipe"
            writers = self._look.files.writers(at.leads_to, self._decides(pid, above)) - {pid}
            return self._others(pid, at, writers, above, which, WaitsFor.INPUT)
        return Blocked(pid, WaitsFor.UNKNOWN, at.kind if at.kind != "file" else at.path)

    def to_open(self, pid: int, wait: ThreadWait) -> Blocked:
        """It opens a FIFO, and nobody opens the other end."""
        folder = proc_files.link(pid, "cwd")
        words = self._look.table.command(pid)[1:_ARGUMENTS]
        fifo = next((word for word in words if word and proc_files.is_fifo(os.path.join(folder, word))), "")  # noqa: PTH118 # any text may stand there
        if not fifo and not _FIFO.search(wait.place):
            return Blocked(pid, WaitsFor.UNKNOWN, "a file that it opens")  # a device, or a file system of programs
        which = f"the FIFO {fifo}" if fifo else "a FIFO"
        return Blocked(pid, WaitsFor.INPUT, f"somebody to open the other end of {which}", outlook=Outlook.ENDLESS)

    def at_several(self, pid: int, wait: ThreadWait, above: frozenset[int]) -> Blocked:
        """It waits at several descriptors, for whichever is first."""
        watched = self._watched(pid, wait)
        found = [self._sockets.of(pid, each, above) for each in watched if self._sockets.is_connected(pid, each)]
        if clients := [each for each in found if each.waits_for is WaitsFor.CLIENTS]:
            return clients[0]
        if found:
            return min(found, key=lambda each: -1 if each.since is None else each.since)
        # Of an epoll the kernel says what it watches; a poll with a time limit may watch anything.
        terminal = next((each for each in watched if each.kind == "terminal" and self._is_input(pid, each)), None)
        if terminal is not None and (wait.fd is not None or not wait.timed):
            return self._terminal(pid, terminal)
        if wait.timed:
            return Blocked(pid, WaitsFor.TIMER, "sleeps")
        kinds = {each.kind for each in watched}
        if kinds & {"timerfd", "inotify", "signalfd"}:
            return Blocked(pid, WaitsFor.UNKNOWN, "a change")
        pipes = [each for each in watched if each.kind == "pipe" and self._look.files.is_readable(pid, each.fd)]
        decides = self._decides(pid, above)
        writers = {writer for each in pipes for writer in self._look.files.writers(each.leads_to, decides)} - {pid}
        if writers:
            return self._others(pid, pipes[0], writers, above, "input", WaitsFor.INPUT)
        if wait.timed is False and "socket" not in kinds - self._sockets.own_pairs(pid, watched):
            return Blocked(pid, WaitsFor.INPUT, "something that nobody can send it", outlook=Outlook.ENDLESS)
        return Blocked(pid, WaitsFor.UNKNOWN, "")

    def _terminal(self, pid: int, at: Descriptor) -> Blocked:
        name = self._look.table.name(pid)
        who = known_programs.talks_to_a_person(name)
        prompt = f", where {who} {name} waits for a person" if who else ", where nobody types"
        typed_at = proc_files.read_at(pid, "fd", at.fd)
        outlook = (
            Outlook.ENDLESS if typed_at is None or typed_at + LATELY < self._look.table.looked_at else Outlook.OPEN
        )
        return Blocked(pid, WaitsFor.INPUT, f"input from the terminal {at.path}{prompt}", outlook)

    def _of_one_at_work(self, pid: int) -> Blocked:
        """What one waits for that was woken; asked once at a look, for many may wait for it, and it may have many
        children."""
        if pid not in self._at_work:
            self._at_work[pid] = Blocked(pid, WaitsFor.NOTHING, "")  # in a circle nobody waits for the network
            if len(self._look.table.below(pid)) <= _FAMILY:
                self._at_work[pid] = self._why(pid, frozenset())
        return self._at_work[pid]

    def _decides(self, pid: int, above: frozenset[int]) -> Enough:
        """Whether among those at the other end there is one by whom it is decided what `_others` says: its agent, or
        one that is at work."""

        def decides(partners: set[int]) -> bool:
            others = partners - above - {pid}
            return not self._look.agents.isdisjoint(others) or any(map(self._look.moves, others))

        return decides

    def _others(
        self, pid: int, at: Descriptor, partners: Iterable[int], above: frozenset[int], what: str, kind: WaitsFor
    ) -> Blocked:
        """It waits for what one of several others should do."""
        partners = sorted(partners)
        self._look.partners.update(partners)
        if not partners or set(partners) <= above:
            circle = [partner for partner in partners if partner != pid]
            if not circle and self._look.files.may_be_held_unseen(at.leads_to, pid, self._look.agent(pid)):
                return Blocked(pid, kind, f"{what}, which nobody else has open who can be seen")
            by = f", while {self._look.named(circle[0])} waits for it" if circle else ", which nobody else has open"
            return Blocked(pid, kind, f"{what}{by}", self._look.circle(above) if circle else Outlook.ENDLESS)
        others = [partner for partner in partners if partner not in above]
        if not self._look.agents.isdisjoint(others):
            return Blocked(pid, kind, f"{what} from its agent, which holds it open and writes nothing")
        for partner in others:
            if self._look.moves(partner):
                found = self._of_one_at_work(partner)
                if found.waits_for in (WaitsFor.NETWORK, WaitsFor.CLIENTS):
                    return found  # it only looks now and then whether something came
                return Blocked(pid, kind, f"{what} of {self._look.named(partner)}, which is at work", Outlook.AT_WORK)
        if any(self._look.moves(partner) is None for partner in others):
            return Blocked(pid, kind, f"{what} of {self._look.named(others[0])}")
        found = gentlest(self._why(partner, above) for partner in others)
        if found.waits_for is WaitsFor.UNKNOWN:
            return Blocked(pid, kind, f"{what} of {self._look.named(others[0])}")
        return found

    def _likely(self, pid: int, wait: ThreadWait) -> Descriptor | None:
        """At which descriptor it waits, where the kernel does not say: its input first, then the only one that fits."""
        kinds = ("pipe",) if "pipe" in wait.place else ("terminal",) if "tty" in wait.place else ("socket", "terminal")
        fitting = [each for each in self._look.files.of(pid) if each.kind in kinds]
        first = [each for each in fitting if each.fd == 0]
        if first:
            return first[0]
        return fitting[0] if len(fitting) == 1 else None

    def _is_input(self, pid: int, at: Descriptor) -> bool:
        return (at.fd == 0 or at.path == "/dev/tty" or at.fd > 2) and self._look.files.is_readable(pid, at.fd)

    def _watched(self, pid: int, wait: ThreadWait) -> list[Descriptor]:
        """The descriptors it may wait at: those that an epoll lists, else all it has open."""
        if wait.fd is None:
            return self._look.files.of(pid)
        listed = proc_files.text(pid, "fdinfo", wait.fd).splitlines()
        fds = {int(line.split()[1]) for line in listed if line.startswith("tfd:")}
        return [each for each in self._look.files.of(pid) if each.fd in fds]
