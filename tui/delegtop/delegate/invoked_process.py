"""A function that was invoked as a subagent in a process of its own, which can be ended."""

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pickle import PicklingError

from delegtop.base.clock import monotonic
from delegtop.delegate.group import ProcessGroup, end
from delegtop.delegate.journal import as_given
from delegtop.delegate.made_returns import failure
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry import DelegationRegistry, forget_keepers
from delegtop.delegate.supervise import grace
from delegtop.delegate.work_end import WorkEnd, end_of

_FAREWELL = 1.0
"""Seconds that a process which has returned has to end by itself."""
_LOOK = 1.0
"""Seconds between two looks whether it still lives: what it has forked may hold its end of the pipe after it."""


class InvokedProcess:
    """One function in a process that multiprocessing starts in its usual way, and that leads a process group."""

    def __init__(
        self,
        context: DelegationContext,
        subagent: Callable[[DelegationContext], object],
        registry: DelegationRegistry,
        begin: Callable[[int | None], bool],
    ) -> None:
        """`begin` is told in which process it begins."""
        self._context = context
        self._subagent = subagent
        self._environ = registry.environment(context)
        self._begin = begin

    def wait(self) -> WorkEnd:
        """Run it until it gives something, ends, or its time is over."""
        # What the process needs, it must not load itself: another thread of ours may be loading it just now.

        deadline = monotonic() + self._context.timeout
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(
            target=_work,
            args=(theirs, self._subagent, self._context, self._environ),
            name=f"delegation {self._context.name}",
        )
        try:
            with warnings.catch_warnings():  # that there are threads its caller knows, who chose a process
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
        except (AttributeError, TypeError, PicklingError, OSError) as error:  # it cannot be handed to a process
            theirs.close()
            ours.close()
            self._begin(None)
            return end_of(error)
        theirs.close()
        try:
            self._begin(process.pid)
            return self._heard(ours, process, deadline) or _silent(process)
        finally:
            ours.close()
            process.join(_FAREWELL if monotonic() < deadline else 0)
            if process.pid is not None and process.is_alive():
                end(ProcessGroup(process.pid), lambda: not process.is_alive(), grace(self._context))
            process.join()

    def _heard(self, ours: Connection, process: multiprocessing.Process, deadline: float) -> WorkEnd | None:
        """What it gives; None if it ended without a word."""
        try:
            lives = True
            while not ours.poll(min(_LOOK, max(0.0, deadline - monotonic())) if lives else 0):
                if not lives:
                    return None
                if monotonic() >= deadline:
                    return WorkEnd(timed_out=True)
                lives = process.is_alive()
            end = ours.recv()
        except (EOFError, OSError):
            return None
        except Exception as error:  # noqa: BLE001  # what it gave cannot be understood here
            return end_of(error)
        return end if isinstance(end, WorkEnd) else None


def _silent(process: multiprocessing.Process) -> WorkEnd:
    process.join(_FAREWELL)
    return WorkEnd(error=failure(f"its process ended with exit code {process.exitcode} and gave no return"))


def _work(
    theirs: Connection,
    subagent: Callable[[DelegationContext], object],
    context: DelegationContext,
    environ: dict[str, str],
) -> None:
    """The work itself, in its process."""
    with suppress(OSError):
        os.setsid()  # as a command has it: no terminal, and a group of its own
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.update(environ)
    forget_keepers()
    try:
        end = WorkEnd(value=as_given(subagent(context)))
    except BaseException as error:  # noqa: BLE001  # whatever it raises is told to whoever waits
        end = end_of(error)
    try:
        theirs.send(end)
    except Exception as error:  # noqa: BLE001  # what it gave cannot be handed over
        theirs.send(end_of(error))
