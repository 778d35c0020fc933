"""The processes of a command: everything it started and did not send away."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Protocol

from delegtop.base.clock import monotonic, sleep
from delegtop.delegate.process_list import ListedProcess, processes

LOOK = 0.05
"""Seconds between two looks whether those that were asked to end are gone."""
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


class Group(Protocol):
    """Processes that are signalled together."""

    def send(self, number: int, *, wakes: bool = True) -> None:
        """Signal all of them; one that is gone already is no error. One that is stopped is woken to hear it."""

    def is_alive(self) -> bool:
        """True if one of them is left. The dead that nobody has collected yet do not count."""


class ProcessGroup:
    """The group a process leads."""

    def __init__(self, leader: int) -> None:
        self._leader = leader

    def send(self, number: int, *, wakes: bool = True) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, number)
            if wakes and number != signal.SIGKILL:
                os.killpg(self._leader, signal.SIGCONT)

    def is_alive(self) -> bool:
        try:
            os.killpg(self._leader, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return any(each.group == self._leader for each in processes() if not each.is_dead)


class TerminalSession:
    """The group of a command and, when it is to end, all others in its session: a shell makes one for each job."""

    def __init__(self, leader: int, command: int) -> None:
        self._leader = leader
        self._command = command

    def send(self, number: int, *, wakes: bool = True) -> None:
        groups = {self._command}
        if number in _ENDING:
            groups.update(each.group for each in self._members())
        for group in groups:
            ProcessGroup(group).send(number, wakes=wakes)

    def is_alive(self) -> bool:
        return any(not each.is_dead for each in self._members())

    def _members(self) -> Iterator[ListedProcess]:
        return (each for each in processes() if each.session == self._leader != each.group)


class Offspring:
    """All that descend from this process, in its own session: for a command that shares our group with others."""

    def send(self, number: int, *, wakes: bool = True) -> None:
        for each in self._members():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each.pid, number)
                if wakes and number != signal.SIGKILL:
                    os.kill(each.pid, signal.SIGCONT)

    def is_alive(self) -> bool:
        return any(not each.is_dead for each in self._members())

    def _members(self) -> Iterator[ListedProcess]:
        ours, session = {os.getpid()}, os.getsid(0)
        there, found = list(processes()), -1
        while found != len(ours):  # a parent may stand behind its children
            found = len(ours)
            ours.update(each.pid for each in there if each.parent in ours)
        return (each for each in there if each.pid in ours and each.pid != os.getpid() and each.session == session)


def end(group: Group, is_over: Callable[[], bool], grace: float) -> None:
    """Ask a group to end, and kill what has not after a while."""
    kill_at = monotonic() + grace
    group.send(signal.SIGTERM)
    while monotonic() < kill_at:
        if is_over() and not group.is_alive():
            return
        sleep(LOOK)
    group.send(signal.SIGKILL)
