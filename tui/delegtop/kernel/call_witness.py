"""Looks again and again at the processes of open calls, and says what each of them does or waits for.

One look shows what stands still; only a second shows that it stays so. So nothing is said of a process that was met for
the first time.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from delegtop.base.clock import SECOND, Millis
from delegtop.kernel import known_programs
from delegtop.kernel.blocked import Blocked, does, gentlest
from delegtop.kernel.call_process import BELOW, COMMAND, STARTED, CallProcess, processes_of
from delegtop.kernel.inquirer import Inquirer
from delegtop.kernel.inquiries import inquiry as begun_inquiry
from delegtop.kernel.movement import Moved, efforts, moved
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.open_files import KnownHolders
from delegtop.kernel.process_row import Effort
from delegtop.kernel.process_table import ProcessTable
from delegtop.model.events import Outlook, WaitsFor

_BUSY = 0.01
"""Of one processor: who uses more is at work."""
_FIRST = 1
"""The process that all others come from: no work of anybody's."""
_NEW = 20.0
"""Seconds."""
_FLOW = 4_000
"""Bytes a second: who moves more is at work."""


_PULSING = (WaitsFor.NETWORK, WaitsFor.CLIENTS, WaitsFor.TIMER, WaitsFor.KEEPS)
"""Who waits for these may wake now and then and go on waiting."""


class Sight(NamedTuple):
    """What the kernel shows of the process of one call."""

    call: OpenCall
    process: CallProcess
    found: Blocked
    """The process at the beginning of the chain of waits."""
    name: str
    command: str
    share: float
    """Of one processor, all its processes together."""
    flow: int
    """Bytes a second."""
    memory: int
    """Bytes."""
    still_since: Millis | None
    """Since when none of its processes did anything, as far as it was looked at; None if one did."""
    outside: bool = False
    """What was found is of another process than those of the call."""


class _Watched(NamedTuple):
    """What is known of one call from the looks before."""

    process: CallProcess
    started: int
    still_since: float
    """By the clock that is never set, as all that follows."""
    pids: frozenset[int]
    found: Blocked | None = None
    """None as long as it was looked at only once."""
    found_since: float = 0.0
    """Since when it is found like that."""
    partners: frozenset[int] = frozenset()
    """Those by whom it may be otherwise without doing anything itself."""
    settled: bool = False
    """Whether it was known what these do."""
    awake: bool = False
    """One of its threads ran when it was looked at, and nothing else tells that it does anything."""
    ended_at: float | None = None
    """When it was found to have ended."""
    met_at: float = 0.0
    outputs: frozenset[str] = frozenset()
    """Where what it writes goes, if somebody may wait for the end of that."""

    def is_new_end(self, at: float) -> bool:
        """Whether it ended a moment ago: who began while all processes were listed is seen at the next look only."""
        return self.ended_at is None or at - self.ended_at < _NEW

    def holds(self, change: Moved) -> bool:
        """Whether what was found is so still, as far as the call itself shows: nothing moved since."""
        found = self.found
        return self.settled and change.still and found is not None and found.since is None


class CallWitness:
    """Remembers the last look."""

    def __init__(self) -> None:
        self._watched: dict[OpenCall, _Watched] = {}
        self._looked_at = 0.0
        self._before: dict[int, Effort] = {}
        self._now: dict[int, Effort] = {}
        self._moved: dict[int, bool] = {}
        """Who did anything between these two, as far as somebody asked."""
        self._table: ProcessTable
        self._holders = KnownHolders()
        self._seconds = 0.0

    def look(self, calls: Iterable[OpenCall], now: Millis, at: float) -> Iterator[Sight]:
        """One look at all of them; `at` is the time of a clock that is never set."""
        table = self._table = ProcessTable()
        self._seconds, self._looked_at = at - self._looked_at, at
        watched, self._watched = self._watched, {}
        ours = {os.getpid(), *table.above(os.getpid()), _FIRST}
        there = [
            call for call in calls if call.pid in table.rows and (call.command is not None or call.pid not in ours)
        ]
        processes = {call: watched[call].process for call in there if _is_there(table, watched.get(call))}
        new = processes_of(table, (call for call in there if call not in processes), processes.values())
        processes.update(new)
        inquiry = begun_inquiry(table, self._moves, {call.pid for call in there}, self._holders)
        for call in there:
            known = watched.get(call)
            if call not in processes and known is not None and known.process.whole and known.is_new_end(at):
                left = inquiry.heirs(known.outputs, call)
                if left:
                    fits, keeps = known.process.fits, bool(known.outputs)
                    processes[call] = CallProcess(left[0], fits, is_heir=keeps, beside=tuple(left[1:]))
        below = {call: self._below(process) for call, process in processes.items()}
        met = frozenset[int]().union(*(known.partners for known in watched.values()))
        of_interest = met.union(*below.values()).union(pid for partner in met for pid in table.below(partner))
        self._before, self._now, self._moved = self._now, efforts(table, of_interest, self._now), {}
        for call in there:
            known = watched.get(call)
            if table.rows[call.pid].is_stopped and call.command is not None:
                yield _stopped(table, call, self._moment(known.still_since, now) if known is not None else now)
            elif call in processes:
                seen = self._again(call, processes[call], below[call], known, inquiry, now)
                if seen is not None:
                    yield seen
            elif known is not None and known.process.whole:
                ended_at = at if known.ended_at is None else known.ended_at
                self._watched[call] = known._replace(ended_at=ended_at)
                yield _ended(call, known.process, self._moment(ended_at, now))

    @property
    def calls(self) -> Collection[OpenCall]:
        """Those that were found to have a process."""
        return self._watched.keys()

    def is_new(self, at: float) -> bool:
        """Whether one of the calls was met a moment ago: then it is worth looking again soon."""
        return any(at - known.met_at < _NEW for known in self._watched.values())

    def _again(
        self,
        call: OpenCall,
        process: CallProcess,
        pids: frozenset[int],
        known: _Watched | None,
        inquiry: Inquirer,
        now: Millis,
    ) -> Sight | None:
        """One more look at a call; nothing to say if it is the first one."""
        started = self._table.rows[process.pid].started
        if known is None or (known.process.pid, known.started) != (process.pid, started):
            written = inquiry.outputs(process.pid)
            self._watched[call] = _Watched(
                process, started, self._looked_at, pids, met_at=self._looked_at, outputs=written
            )
            return None
        change = self._change(known.pids, pids)
        still_since = known.still_since if change.still else self._looked_at
        found, partners, settled, awake = known.found, known.partners, known.settled, False
        if found is None or not known.holds(change) or any(map(self._moves, partners)):
            found, partners = self._found(process, pids, change, inquiry)
            awake = found == Blocked(found.pid, WaitsFor.NOTHING, "") and not _is_busy(change)
            if awake and not known.awake and known.found is not None and self._pulses(known.found):
                found, partners = known.found, known.partners  # it was woken just now, and mostly goes on waiting
            lasts = found.endless or found.waits_for is WaitsFor.TIMER  # else time alone may make it another
            settled = change.still and lasts and partners <= self._before.keys()
            self._meet(partners)
        same = known.found is not None and known.found[:3] == found[:3]
        found_since = known.found_since if same else self._looked_at
        if known.found is None:
            found_since = still_since  # if nothing moved since the first look, it was like that already
        self._watched[call] = known._replace(
            still_since=still_since,
            pids=pids,
            found=found,
            found_since=found_since,
            partners=partners,
            settled=settled,
            awake=awake,
        )
        table, pid = self._table, found.pid
        still = still_since if change.still else None
        if found.waits_for in _PULSING:
            still = found_since  # it may look round now and then, and it is still the same
        if not partners <= self._before.keys():
            return None  # what these do is known at the next look
        memory = sum(table.rows[each].memory for each in pids)
        name, command = table.name(pid), table.words(pid)
        since = None if still is None else self._moment(still, now)
        outside = found.pid not in pids
        return Sight(call, process, found, name, command, change.share, change.flow, memory, since, outside)

    def _moment(self, at: float, now: Millis) -> Millis:
        """What the clock would have said then, if nobody has set it since."""
        return Millis(now - int((self._looked_at - at) * SECOND))

    def _found(
        self, process: CallProcess, pids: frozenset[int], change: Moved, inquiry: Inquirer
    ) -> tuple[Blocked, frozenset[int]]:
        is_us = os.getpid() in pids  # a tool that looks, as we do now, does not hang
        if is_us or (_is_busy(change) and not self._repeats(process)):
            return Blocked(process.pid, WaitsFor.NOTHING, ""), frozenset()
        asked = [inquiry.about(pid) for pid in (process.pid, *process.beside)]
        found, partners = gentlest(each for each, _ in asked), frozenset[int]().union(*(met for _, met in asked))
        if found.waits_for is WaitsFor.NETWORK and found.since is not None and found.since < change.seconds * SECOND:
            found = Blocked(found.pid, WaitsFor.NOTHING, found.on)  # what is slow still comes in
        elif change.others and not found.endless:
            found = Blocked(found.pid, WaitsFor.TIMER, "sleeps again and again")
        elif found.endless and not change.still and found.waits_for not in _PULSING:
            found = found._replace(outlook=Outlook.OPEN)  # it was woken, and may be again
        return _kept(process, found, pids) if process.is_heir else found, partners

    def _pulses(self, found: Blocked) -> bool:
        """Whether it waits for something for which one may wake now and then, and go on waiting."""
        return found.waits_for in _PULSING and found.pid in self._table.rows

    def _repeats(self, process: CallProcess) -> bool:
        """Whether all of it is a command that is repeated for ever: at work now and then, and never done."""
        for pid in self._table.below(process.pid):
            if known_programs.repeats(self._table.command(pid)):
                return True
            if len(self._table.children.get(pid, ())) != 1:
                return False
        return False

    def _below(self, process: CallProcess) -> frozenset[int]:
        """All processes of a call."""
        return frozenset(pid for each in (process.pid, *process.beside) for pid in self._table.below(each))

    def _meet(self, partners: frozenset[int]) -> None:
        """Whether these do anything is known at the next look."""
        pids = {pid for partner in partners for pid in self._table.below(partner)}
        self._now.update(efforts(self._table, pids - self._now.keys(), self._before))

    def _moves(self, pid: int) -> bool | None:
        """Whether it or one that it started did anything since the last look; None if it was not looked at then."""
        if pid not in self._before or pid not in self._now:
            return None
        if pid not in self._moved:
            pids = self._table.below(pid)
            self._moved[pid] = not self._change(pids, pids).still
        return self._moved[pid]

    def _change(self, before: Iterable[int], after: Iterable[int]) -> Moved:
        then = {pid: self._before[pid] for pid in before if pid in self._before}
        return moved(then, {pid: self._now[pid] for pid in after if pid in self._now}, self._seconds)


def _is_busy(change: Moved) -> bool:
    return change.share >= _BUSY or change.flow >= _FLOW


def _is_there(table: ProcessTable, known: _Watched | None) -> bool:
    """Whether the process of the look before is still there."""
    row = table.rows.get(known.process.pid) if known is not None else None
    return row is not None and known is not None and row.started == known.started


def _kept(process: CallProcess, found: Blocked, pids: frozenset[int]) -> Blocked:
    """What was put into the background: as long as it is there the agent waits for the end of its output."""
    ends = found.waits_for is WaitsFor.TIMER and not found.endless
    if ends or found.waits_for is WaitsFor.NOTHING or found.outlook is Outlook.AT_WORK:
        return found
    also = f", and {does(found)}" if found.on else ""
    said = f"keeps the output of its tool open, which has ended{also}"
    return Blocked(found.pid if found.pid in pids else process.pid, WaitsFor.KEEPS, said, found.outlook)


def _stopped(table: ProcessTable, call: OpenCall, since: Millis) -> Sight:
    """The agent itself is stopped: whatever its tool does, nobody takes note of it."""
    said = "is the agent itself, and is stopped (state T) until somebody sends it SIGCONT"
    found = Blocked(call.pid, WaitsFor.STOPPED, said, Outlook.ENDLESS)
    process = CallProcess(call.pid, (BELOW, STARTED, COMMAND))
    return Sight(call, process, found, table.name(call.pid), table.words(call.pid), 0.0, 0, 0, since, outside=True)


def _ended(call: OpenCall, process: CallProcess, since: Millis) -> Sight:
    return Sight(call, process, Blocked(process.pid, WaitsFor.ENDED, "has ended"), "", "", 0.0, 0, 0, since)
