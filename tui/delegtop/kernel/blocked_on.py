"""Why a process stands still: what it waits for, who could end that, and whether anybody can.

The wait is followed to where it begins: from a shell to its child, from a reader to who should write, from a lock to
its holder. A wait is endless only if that can be shown: nobody holds the other end, the holder itself is stuck, two
wait for each other.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from delegtop.base.clock import SECOND, Millis
from delegtop.kernel import file_locks, known_programs, proc_files, sockets
from delegtop.kernel.open_files import Descriptor, OpenFiles
from delegtop.kernel.process_table import ProcessTable, moment
from delegtop.kernel.thread_waits import ThreadWait, Waiting, waits
from delegtop.model.events import Outlook, WaitsFor

Moves = Callable[[int], bool | None]
"""Whether a process, or one that it started, did anything since the last look; None if that is not known yet."""

_FOLLOWS_CHILDREN = (Waiting.CHILD, Waiting.POLL, Waiting.THREAD, Waiting.SIGNAL, Waiting.OTHER)
_VAGUE = (Waiting.THREAD, Waiting.POLL, Waiting.SLEEP, Waiting.SIGNAL, Waiting.OTHER)
"""What other threads of the process may tell better."""
_FIFO = re.compile(r"wait_for_partner|fifo_open")
"""The places in the kernel where somebody waits for the other end of one."""
_ARGUMENTS = 50
"""Words of a command line among which the name of a FIFO is looked for."""
_DEEP = 100
"""Waits in a row that are followed."""
_LATELY = 10 * SECOND
_SOON = 60 * SECOND


class Blocked(NamedTuple):
    """One process that stands still, at the beginning of a chain of waits."""

    pid: int
    waits_for: WaitsFor
    on: str
    """In words that follow on "waits for"; where it says of itself what it does, on its name."""
    outlook: Outlook = Outlook.OPEN
    until: Millis | None = None
    """When it ends by itself, if it says so."""
    since: int | None = None
    """Milliseconds since the last data came in, of what waits for the network."""

    @property
    def endless(self) -> bool:
        return self.outlook is Outlook.ENDLESS


class Inquiry:
    """One look at why processes stand still."""

    def __init__(self, table: ProcessTable, moves: Moves, agents: Collection[int]) -> None:
        self._table, self._moves = table, moves
        self._agents = frozenset(agents)
        """The agent programs themselves: they read what their tools write, and rarely write to them."""
        self._files = OpenFiles(table)
        self._locks: dict[int, file_locks.FileLock] | None = None
        self._peers: dict[int, sockets.Peer] | None = None
        self._partners: set[int] = set()
        self._asked: dict[int, Blocked] = {}
        """What was found of those on the way: there may be many ways to each of a crowd."""

    def about(self, pid: int) -> tuple[Blocked, frozenset[int]]:
        """Why it stands still, and who else was met on the way: if one of these does something, it may be otherwise."""
        self._partners, self._asked = set(), {}
        found = self.why(pid)
        return found, frozenset(self._partners)

    def why(self, pid: int, above: frozenset[int] = frozenset()) -> Blocked:
        """Why it stands still. `above` are those that wait for it: to meet one of them again is a circle."""
        if pid not in self._asked:
            deep = len(above) > _DEEP
            self._asked[pid] = Blocked(pid, WaitsFor.UNKNOWN, "") if deep else self._why(pid, above | {pid})
        return self._asked[pid]

    def _why(self, pid: int, above: frozenset[int]) -> Blocked:
        row = self._table.rows.get(pid)
        if row is None:
            return Blocked(pid, WaitsFor.UNKNOWN, "")
        if row.is_dead:
            parent = self._named(row.parent)
            return Blocked(pid, WaitsFor.PARENT, f"has ended, and {parent} has not noticed", self._dead(pid))
        if row.is_stopped:
            return self._stopped(pid, above)
        command = self._table.command(pid)
        if endless := known_programs.never_ends(command):
            return Blocked(pid, WaitsFor.TIMER, endless, self._follows(pid))
        threads = waits(pid)
        wait = _foremost(threads)
        children = [child for child in self._table.children.get(pid, ()) if not self._is_held(child, pid, above)]
        if wait is None or len(threads) < row.threads:
            return Blocked(pid, WaitsFor.NOTHING, "")
        if children and wait.waiting in _FOLLOWS_CHILDREN:
            return self._of_children(pid, children, above)
        return self._of_itself(pid, wait, threads, above)

    def _is_held(self, child: int, by: int, above: frozenset[int]) -> bool:
        """Whether a child is not waited for: it waits itself, or its debugger holds it."""
        return child in above or (self._table.rows[child].is_stopped and _tracer(child) == by)

    def _dead(self, pid: int) -> Outlook:
        """Who has ended just now is noticed in a moment."""
        return Outlook.ENDLESS if self._moves(pid) is False else Outlook.OPEN

    # -- who else -----------------------------------------------------------------------------------------------------

    def _of_children(self, pid: int, children: list[int], above: frozenset[int]) -> Blocked:
        living = [child for child in children if not self._table.rows[child].is_dead]
        if not living:
            dead = children[0]
            said = f"its child {self._named(dead)}, which has ended and was not taken note of"
            return Blocked(pid, WaitsFor.CHILD, said, self._dead(dead))
        return _gentlest(self.why(child, above) for child in living)

    def _agent(self, pid: int) -> int:
        """The agent program that it belongs to, else itself."""
        return next((each for each in self._table.above(pid) if each in self._agents), pid)

    def _others(
        self, pid: int, at: Descriptor, partners: Iterable[int], above: frozenset[int], what: str, kind: WaitsFor
    ) -> Blocked:
        """It waits for what one of several others should do."""
        partners = sorted(partners)
        self._partners.update(partners)
        if not partners or set(partners) <= above:
            circle = [partner for partner in partners if partner != pid]
            if not circle and self._files.may_be_held_unseen(at.leads_to, pid, self._agent(pid)):
                return Blocked(pid, kind, f"{what}, which nobody else has open who can be seen")
            by = f", while {self._named(circle[0])} waits for it" if circle else ", which nobody else has open"
            return Blocked(pid, kind, f"{what}{by}", outlook=Outlook.ENDLESS)
        others = [partner for partner in partners if partner not in above]
        if not self._agents.isdisjoint(others):
            return Blocked(pid, kind, f"{what} from its agent, which holds it open and writes nothing")
        for partner in others:
            if self._moves(partner):
                found = self.why(partner, above)
                if found.waits_for in (WaitsFor.NETWORK, WaitsFor.CLIENTS):
                    return found  # it only looks now and then whether something came
                return Blocked(pid, kind, f"{what} of {self._named(partner)}, which is at work", Outlook.AT_WORK)
        if any(self._moves(partner) is None for partner in others):
            return Blocked(pid, kind, f"{what} of {self._named(others[0])}")
        found = _gentlest(self.why(partner, above) for partner in others)
        if found.waits_for is WaitsFor.UNKNOWN:
            return Blocked(pid, kind, f"{what} of {self._named(others[0])}")
        return found

    def _named(self, pid: int) -> str:
        words = self._table.words(pid)
        return f"pid {pid} `{words}`" if words else f"pid {pid}"

    # -- one process --------------------------------------------------------------------------------------------------

    def _follows(self, pid: int) -> Outlook:
        """Whether one that follows what is written to a file may still come to an end: when its reader has enough."""
        out = self._files.one(pid, 1)
        readers = self._files.readers(out.leads_to) - self._agents if out is not None and out.kind == "pipe" else set()
        for each in self._files.of(pid) if readers else ():
            if each.fd > 2 and each.kind == "file" and not each.path.startswith("/dev/"):
                written = proc_files.written_at(pid, "fd", each.fd)
                if written is not None and written + _SOON > self._table.looked_at:
                    return Outlook.AT_WORK
        return Outlook.ENDLESS

    def _of_itself(self, pid: int, wait: ThreadWait, threads: list[ThreadWait], above: frozenset[int]) -> Blocked:
        match wait.waiting:
            case Waiting.LOCK:
                return self._lock(pid, above)
            case Waiting.OPEN:
                return self._partner(pid, wait)
            case Waiting.READ | Waiting.RECEIVE | Waiting.ACCEPT | Waiting.CONNECT | Waiting.WRITE:
                return self._descriptor(pid, wait, above)
            case Waiting.POLL:
                return self._poll(pid, wait, above)
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
            self._partners.add(tracer)
            if self._moves(tracer) is False:
                return self.why(tracer, above)
            return Blocked(pid, WaitsFor.NOTHING, f"is held by its debugger {self._named(tracer)}")
        return Blocked(
            pid, WaitsFor.STOPPED, "is stopped (state T) until somebody sends it SIGCONT", outlook=Outlook.ENDLESS
        )

    def _sleep(self, pid: int) -> Blocked:
        command, row = self._table.command(pid), self._table.rows[pid]
        seconds, began = known_programs.sleeps_for(command), moment(row.started)
        if seconds is None:
            return Blocked(pid, WaitsFor.TIMER, "sleeps")
        return Blocked(pid, WaitsFor.TIMER, f"sleeps {seconds:g} s", until=Millis(int(began + seconds * SECOND)))

    def _lock(self, pid: int, above: frozenset[int]) -> Blocked:
        if self._locks is None:
            self._locks = file_locks.awaited()
        lock = self._locks.get(pid)
        if lock is None:
            return Blocked(pid, WaitsFor.LOCK, "a lock on a file")
        what = f"a lock on {self._locked_file(pid, lock)}"
        holders = [holder for holder in lock.holders if holder in self._table.rows] or self._open_elsewhere(pid, lock)
        if not holders:
            return Blocked(pid, WaitsFor.LOCK, f"{what} whose holder cannot be seen")
        self._partners.update(holders)
        holder = holders[0]
        if holder in above:
            return Blocked(
                pid, WaitsFor.LOCK, f"{what} that {self._named(holder)} holds, which waits for it", Outlook.ENDLESS
            )
        worker = self._leaf(holder)
        held = f"{what} that {self._named(holder)} holds"
        if worker != holder:
            held = f"{what} that pid {holder} holds for {self._named(worker)}"
        moves = self._moves(holder)
        if moves is not False:
            outlook = Outlook.AT_WORK if moves else Outlook.OPEN
            return Blocked(pid, WaitsFor.LOCK, f"{held}, which is at work" if moves else held, outlook)
        reason = self.why(holder, above)
        if reason.waits_for is WaitsFor.TIMER and not reason.endless and self._wakes_soon(reason, worker):
            return Blocked(pid, WaitsFor.LOCK, held)
        if reason.waits_for is WaitsFor.NETWORK and not reason.endless:
            return Blocked(pid, WaitsFor.LOCK, f"{held}, which waits for {reason.on}")
        because = f" and which {_does(reason)}" if reason.endless and reason.on else ""
        return Blocked(pid, WaitsFor.LOCK, f"{held}{because}", outlook=Outlook.ENDLESS)

    def _leaf(self, pid: int) -> int:
        """Who works for the holder of a lock: `flock` holds it while its command runs."""
        for each in self._table.below(pid):
            if len(self._table.children.get(each, ())) != 1:
                return each
        return pid

    def _wakes_soon(self, reason: Blocked, pid: int) -> bool:
        """Whether who sleeps says that it is for a moment only, or has just begun to: it may do so again and again."""
        now, row = self._table.looked_at, self._table.rows.get(pid)
        if reason.until is not None and reason.until < now + _SOON:
            return True
        return row is not None and moment(row.started) + _LATELY > now

    def _locked_file(self, pid: int, lock: file_locks.FileLock) -> str:
        return next((each.path for each in self._locked(pid, lock)), "a file")

    def _locked(self, pid: int, lock: file_locks.FileLock) -> list[Descriptor]:
        found = []
        for each in self._files.of(pid):
            if each.kind == "file":
                found += [each] if proc_files.inode(pid, each.fd) == lock.inode else []
        return found

    def _open_elsewhere(self, pid: int, lock: file_locks.FileLock) -> list[int]:
        """Who has the locked file open, where the one that took the lock is gone and left it to others."""
        return [
            holder
            for each in self._locked(pid, lock)
            for holder, _ in self._files.holders(each.leads_to)
            if holder != pid and (self._locks is None or holder not in self._locks)
        ]

    def _partner(self, pid: int, wait: ThreadWait) -> Blocked:
        """It opens a FIFO, and nobody opens the other end."""
        folder = proc_files.link(pid, "cwd")
        words = self._table.command(pid)[1:_ARGUMENTS]
        fifo = next((word for word in words if word and proc_files.is_fifo(os.path.join(folder, word))), "")  # noqa: PTH118 # any text may stand there
        if not fifo and not _FIFO.search(wait.place):
            return Blocked(pid, WaitsFor.UNKNOWN, "a file that it opens")  # a device, or a file system of programs
        which = f"the FIFO {fifo}" if fifo else "a FIFO"
        return Blocked(pid, WaitsFor.INPUT, f"somebody to open the other end of {which}", outlook=Outlook.ENDLESS)

    def _descriptor(self, pid: int, wait: ThreadWait, above: frozenset[int]) -> Blocked:
        at = self._files.one(pid, wait.fd) if wait.fd is not None else self._likely(pid, wait)
        if at is None:
            return Blocked(pid, WaitsFor.UNKNOWN, "input" if wait.waiting is Waiting.READ else "")
        if at.kind == "terminal":
            return self._terminal(pid, at)
        if at.kind == "socket":
            return self._socket(pid, at, above)
        if wait.waiting is Waiting.WRITE:
            readers = self._files.readers(at.leads_to) - {pid}
            return self._others(pid, at, readers, above, "somebody to read what it writes", WaitsFor.OUTPUT)
        if at.kind == "pipe" or (at.kind == "file" and proc_files.is_fifo(at.path)):
            which = f"the FIFO {at.path}" if at.kind == "file" else "standard input" if at.fd == 0 else "a pipe"
            writers = self._files.writers(at.leads_to) - {pid}
            return self._others(pid, at, writers, above, which, WaitsFor.INPUT)
        return Blocked(pid, WaitsFor.UNKNOWN, at.kind if at.kind != "file" else at.path)

    def _likely(self, pid: int, wait: ThreadWait) -> Descriptor | None:
        """At which descriptor it waits, where the kernel does not say: its input first, then the only one that fits."""
        kinds = ("pipe",) if "pipe" in wait.place else ("terminal",) if "tty" in wait.place else ("socket", "terminal")
        fitting = [each for each in self._files.of(pid) if each.kind in kinds]
        first = [each for each in fitting if each.fd == 0]
        if first:
            return first[0]
        return fitting[0] if len(fitting) == 1 else None

    def _terminal(self, pid: int, at: Descriptor) -> Blocked:
        name = self._table.name(pid)
        who = known_programs.talks_to_a_person(name)
        prompt = f", where {who} {name} waits for a person" if who else ", where nobody types"
        typed_at = proc_files.read_at(pid, "fd", at.fd)
        outlook = Outlook.ENDLESS if typed_at is None or typed_at + _LATELY < self._table.looked_at else Outlook.OPEN
        return Blocked(pid, WaitsFor.INPUT, f"input from the terminal {at.path}{prompt}", outlook)

    def _socket(self, pid: int, at: Descriptor, above: frozenset[int]) -> Blocked:
        peer = self._peer(at)
        if peer is None:
            return Blocked(pid, WaitsFor.NETWORK, "a socket")
        if peer.listens:
            outlook = Outlook.AT_WORK if peer.visited else Outlook.OPEN
            return Blocked(pid, WaitsFor.CLIENTS, f"connections on {peer.words}", outlook)
        other = self._at_other_end(peer)
        if other is None:
            return Blocked(pid, WaitsFor.NETWORK, peer.words, since=self._quiet(pid, peer))
        self._partners.add(other)
        what = self._named(other) if not peer.own else f"{peer.words} ({self._named(other)})"
        if other in above:
            return Blocked(pid, WaitsFor.NETWORK, f"{what}, which waits for it", outlook=Outlook.ENDLESS)
        row = self._table.rows[other]
        if row.is_stopped:
            return Blocked(pid, WaitsFor.NETWORK, f"{what}, which is stopped (state T)", outlook=Outlook.ENDLESS)
        if self._moves(other):
            return Blocked(pid, WaitsFor.NETWORK, f"{what}, which is at work", Outlook.AT_WORK)
        return Blocked(pid, WaitsFor.NETWORK, what, since=self._quiet(pid, peer))

    def _quiet(self, pid: int, peer: sockets.Peer) -> int | None:
        """Since when nothing came in: not longer than the process is there."""
        lives = self._table.looked_at - moment(self._table.rows[pid].started)
        return None if peer.quiet is None else min(peer.quiet, lives)

    def _peer(self, at: Descriptor) -> sockets.Peer | None:
        if self._peers is None:
            self._peers = sockets.peers()
        return None if at.inode is None else self._peers.get(at.inode)

    def _at_other_end(self, peer: sockets.Peer) -> int | None:
        if peer.inode is None:
            return None
        return next((pid for pid, _ in self._files.holders(f"socket:[{peer.inode}]")), None)

    def _poll(self, pid: int, wait: ThreadWait, above: frozenset[int]) -> Blocked:
        """It waits at several descriptors, for whichever is first."""
        watched = self._watched(pid, wait)
        found = [self._socket(pid, each, above) for each in watched if self._is_connected(pid, each)]
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
        pipes = [each for each in watched if each.kind == "pipe" and self._files.is_readable(pid, each.fd)]
        writers = {writer for each in pipes for writer in self._files.writers(each.leads_to)} - {pid}
        if writers:
            return self._others(pid, pipes[0], writers, above, "input", WaitsFor.INPUT)
        if wait.timed is False and "socket" not in kinds - self._own_pairs(pid, watched):
            return Blocked(pid, WaitsFor.INPUT, "something that nobody can send it", outlook=Outlook.ENDLESS)
        return Blocked(pid, WaitsFor.UNKNOWN, "")

    def _own_pairs(self, pid: int, watched: list[Descriptor]) -> set[str]:
        """The kind of sockets, if it holds both ends of all that it waits at: with these it wakes itself."""
        held = all(self._is_own_pair(pid, each) for each in watched if each.kind == "socket")
        return {"socket"} if held else set()

    def _is_own_pair(self, pid: int, at: Descriptor) -> bool:
        peer = self._peer(at)
        return peer is not None and self._at_other_end(peer) == pid

    def _is_connected(self, pid: int, at: Descriptor) -> bool:
        peer = self._peer(at) if at.kind == "socket" else None
        return peer is not None and not peer.unread and not self._is_own_pair(pid, at)

    def _is_input(self, pid: int, at: Descriptor) -> bool:
        return (at.fd == 0 or at.path == "/dev/tty" or at.fd > 2) and self._files.is_readable(pid, at.fd)

    def _watched(self, pid: int, wait: ThreadWait) -> list[Descriptor]:
        """The descriptors it may wait at: those that an epoll lists, else all it has open."""
        if wait.fd is None:
            return self._files.of(pid)
        listed = proc_files.text(pid, "fdinfo", wait.fd).splitlines()
        fds = {int(line.split()[1]) for line in listed if line.startswith("tfd:")}
        return [each for each in self._files.of(pid) if each.fd in fds]


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


def _gentlest(found: Iterable[Blocked]) -> Blocked:
    """Of several that are waited for, the one that may come to its end: only if none may, all is stuck. Who cannot be
    looked at may."""
    all_found = list(found)
    best = min(all_found, key=_hope)
    hidden = any(each.waits_for is WaitsFor.UNKNOWN for each in all_found)
    return best._replace(outlook=Outlook.OPEN) if hidden and best.endless else best


def _hope(found: Blocked) -> int:
    if found.waits_for is WaitsFor.NOTHING or found.outlook is Outlook.AT_WORK:
        return 0
    if found.endless:
        return 5
    return 6 if found.waits_for is WaitsFor.UNKNOWN else 1


def _threads(pid: int, threads: list[ThreadWait]) -> Blocked:
    if any(each.timed for each in threads):
        return Blocked(pid, WaitsFor.TIMER, "sleeps")
    forever = all(each.waiting is Waiting.THREAD and each.timed is False for each in threads)
    what = "a lock within itself: all its threads wait for each other" if forever else "one of its threads"
    return Blocked(pid, WaitsFor.THREADS, what, Outlook.ENDLESS if forever else Outlook.OPEN)


def _does(reason: Blocked) -> str:
    own = (WaitsFor.STOPPED, WaitsFor.TIMER, WaitsFor.PARENT)
    return reason.on if reason.waits_for in own else f"waits for {reason.on}"


def _tracer(pid: int) -> int:
    for line in proc_files.data(pid, "status").splitlines():
        if line.startswith(b"TracerPid:"):
            return int(line.split()[1])
    return 0
