"""A command whose output goes through pipes: ours is no terminal."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread

from delegtop.delegate.group import Offspring, ProcessGroup
from delegtop.delegate.kept_output import KeptOutput
from delegtop.delegate.mailbox import Mailbox
from delegtop.delegate.pump import OutputPump
from delegtop.delegate.started_command import CannotStart, PumpedCommand, spawn

_STDOUT, _STDERR = 1, 2
_TYPED = (signal.SIGINT, signal.SIGQUIT)
_SET_CHILD_SUBREAPER = 36


class PipedCommand(PumpedCommand):
    """One in a group of its own, so that all of it can be signalled at once."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], begin: Callable[[], str]) -> None:
        ends, pumps = _piped(_STDOUT, _STDERR)
        super().__init__(pumps)
        try:
            self._child, self.trouble = spawn(
                command, environ, begin, stdout=ends[_STDOUT], stderr=ends[_STDERR], process_group=0
            )
        finally:
            for end in ends.values():
                os.close(end)
        self.pid = self._child.pid
        self.group = ProcessGroup(self.pid)

    def poll(self) -> int | None:
        return self._child.poll()


class SharingCommand(PumpedCommand):
    """One in our own group, as it would be without us, where there is a terminal to share.

    Only so are it and the others of a pipeline in the foreground together: whoever wants a key may read it, and what is
    typed to end or to stop them reaches them all. Errors that go to the terminal go straight there.
    """

    at_terminal = True

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], begin: Callable[[], str], mailbox: Mailbox
    ) -> None:
        ends, pumps = _piped(_STDOUT, *(() if os.isatty(_STDERR) else (_STDERR,)))
        super().__init__(pumps)
        _adopt_orphans()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _TYPED)

        def begin_unmasked() -> str:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return begin()

        try:
            self._child, self.trouble = spawn(
                command, environ, begin_unmasked, stdout=ends[_STDOUT], stderr=ends.get(_STDERR)
            )
        except CannotStart:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise
        finally:
            for end in ends.values():
                os.close(end)
        self.pid = self._child.pid
        self.group = Offspring()
        _SentSignals(mailbox).start()

    def poll(self) -> int | None:
        while self._child.poll() is None and (orphan := _ended()) not in (None, self._child.pid):
            with suppress(ChildProcessError):
                os.waitpid(orphan, os.WNOHANG)
        return self._child.poll()


class _SentSignals(Thread):
    """Hands on what somebody sent to us alone. What was typed has come to the whole group, and is not sent again."""

    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__(name="delegtop signals", daemon=True)
        self._mailbox = mailbox

    def run(self) -> None:
        if not hasattr(signal, "sigwaitinfo"):  # macOS does not say who sent a signal
            return
        while True:
            told = signal.sigwaitinfo(_TYPED)
            if told.si_code <= 0:  # not by the kernel
                self._mailbox.post(told.si_signo)


def _piped(*outputs: int) -> tuple[dict[int, int], list[OutputPump]]:
    """The ends of pipes for a command, and who passes on what it writes there."""
    ways = {fd: os.pipe() for fd in outputs}
    kept = {_STDOUT: KeptOutput(), _STDERR: KeptOutput(_STDERR_KEPT)}
    pumps = [OutputPump(source, fd, kept[fd]) for fd, (source, _) in ways.items()]
    return {fd: end for fd, (_, end) in ways.items()}, pumps


_STDERR_KEPT = 1024


def _ended() -> int | None:
    """A child that has ended, and is left as it is."""
    if not hasattr(os, "waitid"):  # as on macOS, where nobody is adopted either
        return None
    try:
        told = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return told.si_pid if told is not None else None


def _adopt_orphans() -> None:
    """Be the parent of those below us who lose theirs, where the kernel knows how: they must be found to be ended."""
    import ctypes

    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
