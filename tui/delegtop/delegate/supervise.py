"""A command as a delegation: run in a process group of its own, heard, and ended when its time is over."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from subprocess import Popen, TimeoutExpired

from delegtop.base.clock import monotonic
from delegtop.base.text import line
from delegtop.delegate.foreground import Foreground
from delegtop.delegate.group import ProcessGroup
from delegtop.delegate.mailbox import Mailbox
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.pump import OutputPump

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
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class CannotStart(Exception):  # noqa: N818  # the name says what is wrong
    """The command is not there, or cannot be executed."""

    def __init__(self, name: str, error: OSError) -> None:
        self.missing = isinstance(error, FileNotFoundError)
        super().__init__(f"{name}: {'there is no such command' if self.missing else error.strerror}")


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended."""

    code: int
    """Its exit code; for a command that a signal ended, 128 and the signal's number, as shells have it."""
    timed_out: bool
    interrupted: bool
    """Somebody asked for its end: by a signal to us, or by Ctrl-C to itself."""
    output: str
    """The end of its standard output."""


def supervise(
    command: Sequence[str],
    context: DelegationContext,
    environ: Mapping[str, str],
    heard: Callable[[str], None],
    stopped: Callable[[str], None],
) -> CommandEnd:
    """Run the command until it has ended and its output is closed. Raises CannotStart.

    `heard` gets the last line of output, at most once a second and only if there was some; `stopped` gets the name of
    a signal to end it that is passed on. Neither is called from a signal handler. For the main thread only.
    """
    with Mailbox(*_STOPPING, signal.SIGCHLD) as mailbox:
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            # Descriptors that a shell opened for the command are left open for it; ours close by themselves.
            child = Popen(command, stdout=out_end, stderr=err_end, env=environ, process_group=0, close_fds=False)  # noqa: S603  # the very purpose
        except OSError as error:
            os.close(out)
            os.close(err)
            raise CannotStart(command[0], error) from None
        finally:
            os.close(out_end)
            os.close(err_end)
        pumps = OutputPump(out, 1, KEPT, mailbox.knock), OutputPump(err, 2, ACTIVITY * 4, mailbox.knock)
        return _Watch(child, pumps, context, mailbox, heard, stopped).run()


class _Watch:
    """One command from its start to its end."""

    def __init__(
        self,
        child: Popen[bytes],
        pumps: tuple[OutputPump, OutputPump],
        context: DelegationContext,
        mailbox: Mailbox,
        heard: Callable[[str], None],
        stopped: Callable[[str], None],
    ) -> None:
        now = monotonic()
        self._child = child
        self._group = ProcessGroup(child.pid)
        self._pumps = pumps
        self._mailbox = mailbox
        self._heard = heard
        self._stopped = stopped
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
        code = self._child.returncode
        code = 128 + signal.SIGKILL if code is None else 128 - code if code < 0 else code
        if code == 128 + signal.SIGINT and not self._interrupted:  # Ctrl-C reached it without us
            self._interrupt(signal.SIGINT)
        output = self._pumps[0].tail().decode("utf-8", "replace")
        return CommandEnd(code, self._timed_out, self._interrupted, output)

    def _turn(self) -> None:
        """Wait for the next thing that happens or is due, and do what it asks for."""
        stopping = self._kill_at < inf
        due = min(self._kill_at, monotonic() + _LOOK) if stopping else min(self._deadline, self._beaten_at + BEAT)
        for number in self._mailbox.wait(due - monotonic()):
            if number in _STOPPING:
                self._interrupt(number)
                self._group.send(number)
                if number != signal.SIGINT:  # Ctrl-C may mean something milder to an agent, so it is left to it
                    self._kill_at = min(self._kill_at, monotonic() + self._grace)
            elif number == signal.SIGCHLD and self._child.returncode is None:
                self._foreground.follow_stop(self._child.pid)
        now = monotonic()
        if now >= self._beaten_at + BEAT:
            self._beat(now)
        if now >= self._deadline and self._kill_at == inf:
            self._timed_out = True
            self._kill_at = now + self._grace
            self._group.send(signal.SIGTERM)

    def _is_over(self) -> bool:
        if self._child.poll() is None or not all(pump.ended for pump in self._pumps):
            return False
        return self._kill_at == inf or not self._group.is_alive()

    def _beat(self, now: float) -> None:
        latest = max(self._pumps, key=lambda pump: pump.heard_at)
        if latest.heard_at > self._beaten_at and (activity := latest.last_line()):
            self._heard(line(activity)[:ACTIVITY])
        self._beaten_at = now

    def _interrupt(self, number: signal.Signals) -> None:
        if not self._interrupted:
            self._stopped(number.name)
        self._interrupted = True

    def _kill(self) -> None:
        self._group.send(signal.SIGKILL)
        with suppress(TimeoutExpired):
            self._child.wait(_FAREWELL)
        for pump in self._pumps:
            pump.join(_FAREWELL)
