"""A command at a terminal: it has one of its own, and what is typed at ours goes there."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from math import inf
from subprocess import Popen

from delegtop.base.clock import monotonic
from delegtop.delegate.group import TerminalSession
from delegtop.delegate.kept_output import KeptOutput
from delegtop.delegate.own_terminal import OwnTerminal
from delegtop.delegate.process_list import processes
from delegtop.delegate.pump import OutputPump
from delegtop.delegate.session_leader import BACKGROUND, FOREGROUND, GO_ON, SessionLeader
from delegtop.delegate.started_command import PumpedCommand, spawn

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LOOK, _LOOK_ROUND = 0.1, 1.0
"""Seconds between two looks whether the keys are ours to give, and at who else is there: nobody tells of that."""
_FULL = 0.02
"""Seconds between two tries to hand over keys that the command has no room for."""
_ASKING = (signal.SIGTTIN, signal.SIGTTOU)
"""Who uses a terminal from the background is stopped by these."""


class TerminalCommand(PumpedCommand):
    """One that reads its keys from, and is stopped and ended by, a terminal that is not ours.

    So it finds everything as it would without us, and what it prints can be heard all the same. It has the keys while
    we are in the foreground. If its standard input is another, as in a pipeline, it has them only when it asks for them
    or when nobody else is there who might.
    """

    at_terminal = True
    needs = (signal.SIGTSTP, signal.SIGCONT)
    """Signals of our terminal that this has to hear of."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        begin: Callable[[], str],
        signals: Sequence[int],
        terminal: OwnTerminal,
    ) -> None:
        self._terminal = terminal
        theirs, errors = self._terminal.theirs, None if os.isatty(_STDERR) else os.pipe()
        self._reads_keys = os.isatty(_STDIN)

        def start(prepare: Callable[[], None]) -> tuple[Popen[bytes], str]:
            def prepare_and_begin() -> str:
                prepare()
                return begin()

            try:
                return spawn(
                    command,
                    environ,
                    prepare_and_begin,
                    stdin=theirs if self._reads_keys else None,
                    stdout=theirs,
                    stderr=theirs if errors is None else errors[1],
                    process_group=0,
                )
            finally:
                for fd in errors or ():
                    os.close(fd)

        try:
            self._leader = SessionLeader(self._terminal, signals, start)
        finally:
            for fd in (theirs, *(errors[1:] if errors else ())):
                os.close(fd)
        self.trouble = self._leader.trouble
        self.pid = self._leader.command
        self.group = TerminalSession(self._leader.pid, self.pid)
        pumps = [OutputPump(os.dup(self._terminal.ours), _STDOUT, KeptOutput())]
        if errors is not None:
            pumps.append(OutputPump(errors[0], _STDERR, KeptOutput()))
        super().__init__(pumps)
        self._code: int | None = None
        self._in_foreground = self._terminal.is_in_foreground()
        self._looked_round_at = -inf
        self._is_alone = False
        self._attend()

    def poll(self) -> int | None:
        for told in self._leader.news():
            if "ended" in told:
                self._code = told["ended"]
            elif self._code is None:
                self._stop(told["stopped"])
        if self._code is None and self._leader.is_gone:  # somebody has killed it; its session is over
            self.group.send(signal.SIGKILL)
            self._code = -signal.SIGKILL
        return self._code

    def files(self) -> Sequence[int]:
        return () if self._leader.is_gone else (self._leader.fileno(), *self._terminal.files())

    def turn(self) -> float:
        if self.poll() is not None:
            return inf
        self._attend()
        self._terminal.pass_on_keys()
        return _FULL if self._terminal.is_full else inf if self._terminal.has_keys else _LOOK

    def takes(self, number: int) -> bool:
        if number == signal.SIGWINCH:
            return self._terminal.follow_size()  # if that has changed, the command hears of it by itself
        if number == signal.SIGTSTP:
            self.group.send(number, wakes=False)  # it stops, and then so do we
        return number in self.needs

    def ended_by_key(self, number: int) -> bool:
        return number in self._terminal.typed

    def close(self) -> None:
        self._terminal.take_keys()
        self.leave_behind(self._leader.fileno())
        self._leader.close()
        os.close(self._terminal.ours)

    def _attend(self) -> None:
        """Let the command have the terminal and the keys if, and only if, we may have them."""
        in_foreground = self._terminal.is_in_foreground()
        if in_foreground != self._in_foreground:
            self._in_foreground = in_foreground
            self._leader.tell(FOREGROUND if in_foreground else BACKGROUND)
        if in_foreground and (self._reads_keys or self._terminal.is_asked_for_keys() or self._nobody_else_is_there()):
            self._terminal.give_keys()
        else:
            self._terminal.take_keys(in_foreground)

    def _nobody_else_is_there(self) -> bool:
        """Whether no other command of a pipeline has the terminal, too."""
        if not self._is_alone and monotonic() >= self._looked_round_at + _LOOK_ROUND:
            there = {each.pid: each for each in processes() if not each.is_dead}
            ancestors, pid = set(), os.getpid()
            while pid in there and pid not in ancestors:
                ancestors.add(pid)
                pid = there[pid].parent
            group = os.getpgrp()
            self._is_alone = all(each.group != group or each.pid in ancestors for each in there.values())
            self._looked_round_at = monotonic()
        return self._is_alone

    def _stop(self, number: int) -> None:
        """The command was stopped. So we stop, with all who are in our group, and the shell is back; then go on."""
        if number in _ASKING and self._terminal.is_in_foreground():
            self._leader.tell(FOREGROUND + GO_ON)
            return
        self._terminal.take_keys(self._terminal.is_in_foreground())
        woken: list[int] = []
        handlers = {signal.SIGCONT: signal.signal(signal.SIGCONT, lambda *_: woken.append(1))}
        if number != signal.SIGSTOP:
            handlers[signal.Signals(number)] = signal.signal(number, signal.SIG_DFL)
        os.kill(0, number)
        for each, handler in handlers.items():
            signal.signal(each, handler)
        self._terminal.follow_size()
        self._attend()
        if not woken and number in _ASKING:  # there is no shell to wake us, so nobody is stopped
            self._leader.tell(FOREGROUND)
        self._leader.tell(GO_ON)
