"""A command as a delegation: heard, waited for, and ended when its time is over."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf

from delegtop.base.clock import monotonic
from delegtop.delegate.command_end import CommandEnd, exit_code
from delegtop.delegate.group import LOOK
from delegtop.delegate.kept_output import KeptOutput
from delegtop.delegate.mailbox import Mailbox
from delegtop.delegate.own_terminal import OwnTerminal
from delegtop.delegate.piped_command import PipedCommand, SharingCommand
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.started_command import PumpedCommand, StartedCommand
from delegtop.delegate.terminal_command import TerminalCommand

GRACE = 5.0
"""Seconds between asking a command to end and killing it, for the outermost delegation. Each one inside has a second
less: it must be done with its own before its caller loses patience."""
BEAT = 1.0
"""Seconds between two heartbeats, at least."""

_FAREWELL = 1.0
"""Seconds those that were killed have to leave; who is not gone then is outside of our reach."""
_STDOUT = 1
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Somebody wants it to end."""
_MILD = (signal.SIGINT, signal.SIGQUIT)
"""From the keyboard: they may mean something milder to an agent, so what follows is left to it."""
_UNTOUCHED = {
    *(signal.SIGKILL, signal.SIGSTOP),  # nobody can
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL),  # of our own making
    *(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT),  # the terminal's
    *(signal.SIGPIPE, signal.SIGURG, signal.SIGXFSZ, signal.SIGCHLD),  # which do us no harm
    *_STOPPING,
}
_PASSED_ON = tuple(sorted(int(number) for number in signal.valid_signals() if number not in _UNTOUCHED))
"""What would end us and leave the command alone, and word of a new size: the command decides what to make of it."""


def grace(context: DelegationContext) -> float:
    """Seconds that a delegation has to end when it is asked to."""
    return max(min(1.0, GRACE), GRACE - context.delegation_depth)


class Listener:
    """Who is told of a command that is supervised."""

    def begun(self, pid: int) -> str:
        """It begins, in the process `pid`, which calls this itself; what could not be done about that, in words."""
        raise NotImplementedError

    def troubled(self, words: str) -> None:
        """What `begun` could not do."""
        raise NotImplementedError

    def heard(self, activity: str) -> None:
        """The last line of output, at most once a second and only if there was some."""
        raise NotImplementedError

    def stopped(self, name: str) -> None:
        """A signal to end it was passed on, or has ended it."""
        raise NotImplementedError


def supervise(
    command: Sequence[str], context: DelegationContext, environ: Mapping[str, str], listener: Listener
) -> CommandEnd:
    """Run the command until it has ended, with our own input and output. Raises CannotStart. For the main thread only.

    Nothing of the listener is called from a signal handler.
    """
    signals = (*_STOPPING, *_PASSED_ON)
    in_terminal = os.isatty(_STDOUT)
    with Mailbox(*signals, signal.SIGCHLD, *(TerminalCommand.needs if in_terminal else ())) as mailbox:

        def begin() -> str:
            return listener.begun(os.getpid())

        started: PumpedCommand
        if (terminal := _own_terminal() if in_terminal else None) is not None:
            started = TerminalCommand(command, environ, begin, signals, terminal)
        elif _has_terminal():
            started = SharingCommand(command, environ, begin, mailbox)
        else:
            started = PipedCommand(command, environ, begin)
        if started.trouble:
            listener.troubled(started.trouble)
        for pump in started.pumps:
            pump.begin(mailbox.knock)
        return Supervision(started, context, mailbox.wait, listener).run()


def _own_terminal() -> OwnTerminal | None:
    try:
        return OwnTerminal()
    except OSError:  # there are no more: then it goes without
        return None


def _has_terminal() -> bool:
    """Whether there is a terminal to ask at, wherever input and output go."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


class Supervision:
    """One command from its start to its end.

    `wait` waits so many seconds, or until there is something to be read from one of the files; it gives the signals
    that have come meanwhile.
    """

    def __init__(
        self,
        command: StartedCommand,
        context: DelegationContext,
        wait: Callable[[float, Sequence[int]], Sequence[int]],
        listener: Listener,
    ) -> None:
        now = monotonic()
        self._command = command
        self._wait = wait
        self._listener = listener
        self._grace = grace(context)
        self._deadline = now + context.timeout
        self._beaten_at = now
        self._told_at = 0.0
        """When that was printed which the last heartbeat has told."""
        self._kill_at = inf
        self._timed_out = False
        self._interrupted = False

    def run(self) -> CommandEnd:
        command = self._command
        try:
            while not self._is_over() and monotonic() < self._kill_at:
                self._turn()
            if not self._is_over():
                self._kill()
            code = command.poll()
        finally:
            command.close()
        self._note_death(code)
        output = command.kept()[0]
        by_key = -code if code is not None and -code in _MILD and command.at_terminal and not self._timed_out else 0
        return CommandEnd(
            exit_code(code),
            self._timed_out,
            self._interrupted,
            output.text(),
            self._latest().last_line(),
            output.dropped,
            by_key=by_key,
            by_key_alone=command.ended_by_key(by_key),
        )

    def _turn(self) -> None:
        """Wait for the next thing that happens or is due, and do what it asks for."""
        stopping = self._kill_at < inf
        due = min(self._kill_at, monotonic() + LOOK) if stopping else min(self._deadline, self._beaten_at + BEAT)
        if self._has_ended():  # its time does not matter any more, only that what it said is passed on
            due = self._beaten_at + BEAT
        due = min(due, monotonic() + self._command.turn())
        for number in self._wait(due - monotonic(), self._command.files()):
            self._hear(number)
        now = monotonic()
        if now >= self._beaten_at + BEAT:
            self._beat(now)
        if now >= self._deadline and self._kill_at == inf and not self._has_ended():
            self._timed_out = True
            self._kill_at = now + self._grace
            self._command.group.send(signal.SIGTERM)

    def _hear(self, number: int) -> None:
        if number == signal.SIGCHLD or self._command.takes(number):
            return
        if number in _STOPPING:
            self._interrupt(number)
            self._command.group.send(number)
            if number not in _MILD:
                self._kill_at = min(self._kill_at, monotonic() + self._grace)
        elif number == signal.SIGWINCH:
            self._command.group.send(number, wakes=False)
        elif not self._has_ended():
            # to the command alone, as without us: what it started may not know the signal, and would die of it
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self._command.pid, number)

    def _has_ended(self) -> bool:
        return self._command.poll() is not None

    def _is_over(self) -> bool:
        if not self._has_ended() or (self._kill_at < inf and self._command.group.is_alive()):
            return False
        return self._command.is_heard_out()

    def _beat(self, now: float) -> None:
        latest, self._beaten_at = self._latest(), now
        if latest.heard_at > self._told_at:
            self._told_at = latest.heard_at
            if activity := latest.last_line():
                self._listener.heard(activity)

    def _latest(self) -> KeptOutput:
        """What it printed last."""
        return max(self._command.kept(), key=lambda kept: kept.heard_at)

    def _interrupt(self, number: int) -> None:
        if not self._interrupted:
            self._listener.stopped(signal.Signals(number).name)
        self._interrupted = True

    def _note_death(self, code: int | None) -> None:
        """A signal that ended it without us is a wish that it ends, and meant for all that it started."""
        died_of = -(code or 0)
        if self._timed_out or self._interrupted:
            return
        if exit_code(code) == 128 + signal.SIGINT:  # Ctrl-C; a shell says so with its exit code
            self._interrupt(signal.SIGINT)
        elif died_of in _STOPPING:
            self._interrupt(died_of)
            self._command.group.send(died_of)

    def _kill(self) -> None:
        self._command.group.send(signal.SIGKILL)
        leave_at = monotonic() + _FAREWELL
        while not (self._has_ended() and self._command.is_heard_out()) and monotonic() < leave_at:
            self._wait(LOOK, self._command.files())
            self._command.turn()
