"""The terminal, lent: a command in a process group of its own may read it and be stopped with Ctrl-Z like any other."""

import os
import signal
from contextlib import suppress

_STDIN = 0
_STDOUT = 1


class Foreground:
    """Lends the terminal of standard input to a process group; without one, or in the background, it does nothing.

    In a pipeline the terminal is left to the others (`| less` reads its keys from there), unless the pipe is that of a
    `delegtop run` around this one: `nested`.
    """

    def __init__(self, group: int, *, nested: bool) -> None:
        self._nested = nested
        self._group = group
        self._lent = False
        self.lend()

    def lend(self) -> None:
        if self._is_ours():
            self._give(self._group)
            self._lent = True
            # It may have asked for the terminal before it had it, and been stopped for that.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGCONT)

    def take_back(self) -> None:
        if self._lent:
            self._give(os.getpgrp())
            self._lent = False

    def is_lent(self) -> bool:
        """Whether the command has the terminal at this moment."""
        try:
            return self._lent and os.tcgetpgrp(_STDIN) == self._group
        except OSError:
            return False

    def follow_stop(self, pid: int) -> None:
        """If the command was stopped from the terminal, stop as well, so that the shell is back; then go on with it."""
        if not self._lent or not _is_stopped(pid):
            return
        self.take_back()
        os.kill(0, signal.SIGSTOP)
        self.lend()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGCONT)

    def _is_ours(self) -> bool:
        try:
            alone = self._nested or os.isatty(_STDOUT)
            return alone and os.isatty(_STDIN) and os.tcgetpgrp(_STDIN) == os.getpgrp()
        except OSError:
            return False

    @staticmethod
    def _give(group: int) -> None:
        # Whoever is in the background is stopped for touching the terminal, unless it says that it will not be.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
        try:
            with suppress(OSError):
                os.tcsetpgrp(_STDIN, group)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_stopped(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None
    except ChildProcessError:  # it has ended
        return False
