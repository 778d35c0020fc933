"""A command line that was invoked as a subagent: heard, waited for, and ended with all that it started."""

import os
import select
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Event
from typing import IO

from delegtop.base.system_errors import reason_of
from delegtop.delegate.group import LOOK, ProcessGroup, end
from delegtop.delegate.kept_output import KeptOutput
from delegtop.delegate.made_returns import failure
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.started_command import StartedCommand
from delegtop.delegate.supervise import Listener, Supervision, grace
from delegtop.delegate.work_end import WorkEnd

_CHUNK = 64 * 1024
_LAST = 1024 * 1024
"""Bytes that a process may have left in a pipe when it ended: no pipe holds more."""
_DRAIN = "exec 3<&0; cat <&3 >/dev/null 2>&1 &"


class InvokedCommand(Listener):
    """One command, in a session of its own: nobody is there who could answer what it asks at a terminal."""

    def __init__(
        self,
        context: DelegationContext,
        command: Sequence[str],
        registry: DelegationRegistry,
        begin: Callable[[int | None], bool],
        output: Path | None,
    ) -> None:
        """`begin` is told in which process it begins; False if it need not any more. `output` is a file that gets all
        that it prints. Raises OSError if that cannot be opened."""
        self._output = None if output is None else output.open("ab", buffering=0)
        self._context = context
        self._command = list(command)
        self._registry = registry
        self._begin = begin
        self._stop = Event()
        self._stopped = False

    def stop(self) -> None:
        """End it; from any thread."""
        self._stop.set()

    def wait(self) -> WorkEnd:
        """Run it until it ends, is stopped, or its time is over."""
        environ = {**os.environ, **self._registry.environment(self._context)}
        with self._output or nullcontext():
            return self._wait(environ)

    def _wait(self, environ: Mapping[str, str]) -> WorkEnd:
        try:
            started = _Invoked(self._command, environ, grace(self._context), self._output)
        except (OSError, ValueError) as error:
            self._begin(None)
            missing = isinstance(error, FileNotFoundError)
            return WorkEnd(error=failure(f"{self._command[0]} cannot be started: {reason_of(error)}", missing=missing))
        try:
            wanted = self._begin(started.pid)
        except BaseException:
            started.close()
            raise
        if not wanted:
            started.close()
            return WorkEnd(timed_out=True)
        ended = Supervision(started, self._context, self._news, self).run()
        return WorkEnd(command=ended)

    def _news(self, seconds: float, files: Sequence[int]) -> Sequence[int]:
        poll = select.poll()
        for file in files:
            poll.register(file, select.POLLIN)
        poll.poll(1000 * min(max(0.0, seconds), LOOK))
        if self._stop.is_set() and not self._stopped:
            self._stopped = True
            return (signal.SIGTERM,)
        return ()

    def heard(self, activity: str) -> None:
        self._registry.heartbeat(self._context.session_id, activity)

    def stopped(self, name: str) -> None:
        """Whoever stopped it has it in the log."""


class _Invoked(StartedCommand):
    """The command itself. All that it prints comes through one pipe."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], seconds: float, copy: IO[bytes] | None
    ) -> None:
        self._copy = copy
        self._output, theirs = os.pipe()
        try:
            self._child = Popen(  # noqa: S603  # the very purpose
                command, stdin=DEVNULL, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
            )
        except BaseException:
            os.close(self._output)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._output, False)
        self._kept = KeptOutput()
        self._grace = seconds
        self._is_open = True
        """Somebody may still write."""
        self.pid = self._child.pid
        self.group = ProcessGroup(self.pid)

    def kept(self) -> Sequence[KeptOutput]:
        return (self._kept,)

    def poll(self) -> int | None:
        return self._child.poll()

    def files(self) -> Sequence[int]:
        return (self._output,) if self._is_open else ()

    def turn(self) -> float:
        self._read(_CHUNK)
        return LOOK if self._is_open else _SOON

    def is_heard_out(self) -> bool:
        self._read(_LAST)
        return True

    def close(self) -> None:
        try:
            if self.poll() is None:  # whoever waited for it does so no more
                end(self.group, lambda: self.poll() is not None, self._grace)
            self._child.wait()
        finally:
            if self._is_open:
                self._leave_behind()
            os.close(self._output)

    def _read(self, most: int) -> None:
        """What is there, and no more than that."""
        while self._is_open and most > 0:
            try:
                data = os.read(self._output, _CHUNK)
            except BlockingIOError:
                return
            self._is_open = bool(data)
            if data:
                self._kept.add(data)
                self._write(data)
            most -= len(data)

    def _write(self, data: bytes) -> None:
        if self._copy is not None:
            try:
                self._copy.write(data)
            except OSError:  # a disk that is full costs the copy, and not the work
                self._copy = None

    def _leave_behind(self) -> None:
        """What it left in the background may go on printing, although nobody will read it."""
        with suppress(OSError):
            os.set_blocking(self._output, True)
            line = ["sh", "-c", _DRAIN]
            Popen(line, stdin=self._output, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True).wait()  # noqa: S603  # fixed words


_SOON = 0.005
"""Seconds between two looks whether who closed its output has ended."""
