"""A command line that was invoked as a subagent: heard, waited for, and ended with its process group."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from subprocess import DEVNULL, Popen, TimeoutExpired
from tempfile import TemporaryFile
from threading import Event
from typing import IO

from delegtop.base.clock import monotonic, sleep
from delegtop.base.text import line
from delegtop.delegate.command_end import exit_code
from delegtop.delegate.conclude import failure
from delegtop.delegate.group import ProcessGroup
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.work_end import WorkEnd

GRACE = 5.0
"""Seconds between asking a process group to end and killing it."""
BEAT = 1.0
_LOOK = 0.05
_FIRST_LOOK = 0.002
_ACTIVITY = 200
_KEPT = 1024 * 1024
"""Bytes of output that are searched for a return: the last of them."""


class InvokedCommand:
    """One command. Its output goes to a file that is gone with it: whoever keeps it open holds up nobody."""

    def __init__(self, context: DelegationContext, command: Sequence[str], registry: DelegationRegistry) -> None:
        self._context = context
        self._command = list(command)
        self._registry = registry
        self._stop = Event()

    def stop(self) -> None:
        """End it; from any thread."""
        self._stop.set()

    def wait(self) -> WorkEnd:
        """Run it until it ends, is stopped, or its time is over."""
        environ = {**os.environ, **self._registry.environment(self._context)}
        with TemporaryFile() as output:
            try:
                child = Popen(  # noqa: S603  # the very purpose
                    self._command, stdin=DEVNULL, stdout=output, stderr=output, env=environ, process_group=0
                )
            except (OSError, ValueError) as error:
                missing = isinstance(error, FileNotFoundError)
                return WorkEnd(error=failure(f"{self._command[0]} cannot be started: {error}", missing=missing))
            over = self._watch(child, output)
            return WorkEnd(value=_tail(output), timed_out=over, code=exit_code(child.returncode))

    def _watch(self, child: Popen[bytes], output: IO[bytes]) -> bool:
        """Wait for its end; whether its time was over before."""
        deadline, beat, heard, look = monotonic() + self._context.timeout, monotonic() + BEAT, 0, _FIRST_LOOK
        try:
            while not self._stop.is_set() and monotonic() < deadline:
                try:
                    child.wait(min(look, max(0.0, deadline - monotonic())))
                except TimeoutExpired:
                    look = min(2 * look, _LOOK)
                else:
                    return False
                if monotonic() >= beat:
                    beat, size = monotonic() + BEAT, os.fstat(output.fileno()).st_size
                    if size > heard:
                        heard = size
                        with suppress(OSError):  # a log that cannot be written ends no work; its end says so
                            self._registry.heartbeat(self._context.session_id, last_line(_tail(output)))
        finally:
            if child.poll() is None:
                self._end(child)
        return True

    def _end(self, child: Popen[bytes]) -> None:
        end_group(ProcessGroup(child.pid), lambda: child.poll() is not None)
        child.wait()


def end_group(group: ProcessGroup, is_over: Callable[[], bool]) -> None:
    """Ask a process group to end, and kill what has not after a while."""
    kill_at = monotonic() + GRACE
    group.send(signal.SIGTERM)
    while monotonic() < kill_at:
        if is_over() and not group.is_alive():
            return
        sleep(_LOOK)
    group.send(signal.SIGKILL)


def _tail(output: IO[bytes]) -> str:
    size = os.fstat(output.fileno()).st_size
    return os.pread(output.fileno(), _KEPT, max(0, size - _KEPT)).decode("utf-8", "replace")


def last_line(text: str) -> str:
    """The last line that says something."""
    return line(next((each.strip() for each in reversed(text.splitlines()) if each.strip()), ""))[:_ACTIVITY]
