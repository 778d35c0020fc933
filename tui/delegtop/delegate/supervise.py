"""A command as a delegation: run in a process group of its own, heard, and ended when its time is over."""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf
from subprocess import Popen, SubprocessError, TimeoutExpired

from delegtop.base.clock import monotonic
from delegtop.base.text import line
from delegtop.delegate.command_end import CommandEnd, exit_code
from delegtop.delegate.foreground import Foreground
from delegtop.delegate.group import ProcessGroup
from delegtop.delegate.mailbox import Mailbox
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.pump import OutputPump, leave_behind
from delegtop.delegate.terminal_output import OutputWays

GRACE = 5.0
"""Seconds between asking a process group to end and killing it, for the outermost delegation. Each one inside has a
second less: it must be done with its own before its caller loses patience."""
BEAT = 1.0
"""Seconds between two heartbeats, at least."""
ACTIVITY = 200
"""Characters of output a heartbeat carries, at most."""
KEPT = 1024 * 1024
"""Bytes of output that are searched for a return: the last of them."""

_LOOK = 0.05
"""Seconds between two looks whether a group that was asked to end is gone."""
_FAREWELL = 1.0
"""Seconds a killed group has to leave; what is not gone then holds our pipe from outside of the group."""
_MODES = 0.1
"""Seconds between two looks at what a command in the terminal asks of its keyboard: nobody tells of that."""
_STDOUT = 1
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Somebody wants it to end."""
_MILD = (signal.SIGINT, signal.SIGQUIT)
"""From the keyboard: they may mean something milder to an agent, so what follows is left to it."""
_UNTOUCHED = {
    *(signal.SIGKILL, signal.SIGSTOP),  # nobody can
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL),  # of our own making
    *(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT),  # the terminal's, see Foreground
    *(signal.SIGPIPE, signal.SIGURG, signal.SIGXFSZ, signal.SIGCHLD),  # which do us no harm
    *_STOPPING,
}
_PASSED_ON = tuple(sorted(int(number) for number in signal.valid_signals() if number not in _UNTOUCHED))
"""What would end us and leave the command alone, and word of a new size: the command decides what to make of it."""


class CannotStart(Exception):  # noqa: N818  # the name says what is wrong
    """The command is not there, or cannot be executed."""

    def __init__(self, name: str, error: OSError) -> None:
        self.missing = isinstance(error, FileNotFoundError)
        super().__init__(f"{name}: {'there is no such command' if self.missing else error.strerror}")


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
    """Run the command until it has ended. Raises CannotStart. For the main thread only.

    Nothing of the listener is called from a signal handler.
    """
    with Mailbox(*_STOPPING, *_PASSED_ON, signal.SIGCHLD) as mailbox:
        ways = OutputWays()
        note, note_end = os.pipe()

        def begin() -> None:
            os.write(note_end, listener.begun(os.getpid()).encode("utf-8", "replace")[:_NOTE])

        try:
            # Descriptors that a shell opened for the command are left open for it; ours close by themselves.
            child = Popen(  # noqa: S603  # the very purpose
                command,
                stdout=ways.out_end,
                stderr=ways.err_end,
                env=environ,
                process_group=0,
                close_fds=False,
                preexec_fn=begin,  # no thread is running yet, and its own number only it can note
            )
        except (OSError, SubprocessError) as error:
            ways.close_ours()
            raise CannotStart(command[0], error if isinstance(error, OSError) else OSError(0, str(error))) from None
        finally:
            ways.close_theirs()
            os.close(note_end)
            if words := os.read(note, _NOTE).decode("utf-8", "replace"):
                listener.troubled(words)
            os.close(note)
        pumps = [
            OutputPump(source, target, KEPT if target == _STDOUT else ACTIVITY * 4, mailbox.knock)
            for target, source in ways.sources.items()
        ]
        return _Watch(child, pumps, ways, context, mailbox, listener).run()


_NOTE = 4096


class _Watch:
    """One command from its start to its end."""

    def __init__(
        self,
        child: Popen[bytes],
        pumps: Sequence[OutputPump],
        ways: OutputWays,
        context: DelegationContext,
        mailbox: Mailbox,
        listener: Listener,
    ) -> None:
        now = monotonic()
        self._child = child
        self._group = ProcessGroup(child.pid)
        self._pumps = pumps
        self._ways = ways
        self._mailbox = mailbox
        self._listener = listener
        self._foreground = Foreground(child.pid, nested=context.parent is not None)
        self._grace = max(1.0, GRACE - context.delegation_depth)
        self._deadline = now + context.timeout
        self._beaten_at = now
        self._kill_at = inf
        self._timed_out = False
        self._interrupted = False

    def run(self) -> CommandEnd:
        for pump in self._pumps:
            pump.start()
        try:
            while not self._is_over() and monotonic() < self._kill_at:
                self._turn()
            if not self._is_over():
                self._kill()
        finally:
            self._foreground.take_back()
            self._ways.restore_modes()
        self._note_death()
        output = self._pumps[0].tail().decode("utf-8", "replace")
        if all(pump.ended for pump in self._pumps):
            for pump in self._pumps:
                pump.join()
            leave_behind(self._pumps)
        return CommandEnd(exit_code(self._child.returncode), self._timed_out, self._interrupted, output)

    def _turn(self) -> None:
        """Wait for the next thing that happens or is due, and do what it asks for."""
        stopping = self._kill_at < inf
        due = min(self._kill_at, monotonic() + _LOOK) if stopping else min(self._deadline, self._beaten_at + BEAT)
        if self._has_ended():  # its time does not matter any more, only that what it said is passed on
            due = self._beaten_at + BEAT
        if self._foreground.is_lent():
            due = min(due, monotonic() + _MODES)
        for number in self._mailbox.wait(due - monotonic()):
            self._hear(number)
        self._follow_modes()
        now = monotonic()
        if now >= self._beaten_at + BEAT:
            self._beat(now)
            if self._ways.follow_size():  # the command heard of it before us, and found the old one
                self._group.send(signal.SIGWINCH, wakes=False)
        if now >= self._deadline and self._kill_at == inf and not self._has_ended():
            self._timed_out = True
            self._kill_at = now + self._grace
            self._group.send(signal.SIGTERM)

    def _follow_modes(self) -> None:
        if self._foreground.is_lent():
            self._ways.follow_modes()

    def _hear(self, number: int) -> None:
        if number in _STOPPING:
            self._interrupt(number)
            self._group.send(number)
            if number not in _MILD:
                self._kill_at = min(self._kill_at, monotonic() + self._grace)
        elif number == signal.SIGCHLD:
            if self._child.returncode is None:
                self._follow_modes()  # what stops leaves the terminal as it found it
                self._foreground.follow_stop(self._child.pid)
        else:
            if number == signal.SIGWINCH:
                self._ways.follow_size()
            self._group.send(number, wakes=False)

    def _has_ended(self) -> bool:
        return self._child.poll() is not None

    def _is_over(self) -> bool:
        if not self._has_ended() or (self._kill_at < inf and self._group.is_alive()):
            return False
        for pump in self._pumps:
            pump.leave()
        return all(pump.ended for pump in self._pumps)

    def _beat(self, now: float) -> None:
        latest = max(self._pumps, key=lambda pump: pump.heard_at)
        if latest.heard_at > self._beaten_at and (activity := latest.last_line()):
            self._listener.heard(line(activity)[:ACTIVITY])
        self._beaten_at = now

    def _interrupt(self, number: int) -> None:
        if not self._interrupted:
            self._listener.stopped(signal.Signals(number).name)
        self._interrupted = True

    def _note_death(self) -> None:
        """A signal that ended it without us is a wish that it ends, and meant for all that it started."""
        code, died_of = exit_code(self._child.returncode), -(self._child.returncode or 0)
        if self._timed_out or self._interrupted:
            return
        if code == 128 + signal.SIGINT:  # Ctrl-C; a shell says so with its exit code
            self._interrupt(signal.SIGINT)
        elif died_of in _STOPPING:
            self._interrupt(died_of)
            self._group.send(died_of)

    def _kill(self) -> None:
        self._group.send(signal.SIGKILL)
        with suppress(TimeoutExpired):
            self._child.wait(_FAREWELL)
        for pump in self._pumps:
            pump.leave()
            pump.join(_FAREWELL)
