"""Stages two to four of a delegation: a subagent is invoked, waited for no longer than its time, and judged.

Whatever the subagent does, its caller gets a return: what it gave, if that is valid; `failed` with what was wrong, if
it is not or if it raised; `partial` with what is there of the work, if its time is over.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread
from typing import TYPE_CHECKING, Any, Literal

from delegtop.base.clock import WallClock, monotonic
from delegtop.delegate.artifact_search import ArtifactSearch
from delegtop.delegate.conclude import Conclusion
from delegtop.delegate.invoked_command import InvokedCommand
from delegtop.delegate.invoked_process import InvokedProcess
from delegtop.delegate.prepare import DelegationContext, check_timeout
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.return_objects import failed_fields
from delegtop.delegate.return_validation import ReturnInvalid, validate_return
from delegtop.delegate.work_end import WorkEnd, end_of
from delegtop.protocols.standard.contract import own_words

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return

Subagent = Callable[[DelegationContext], object]
"""Work as a function: it gets its context and gives a return, as a model, as an object, or as the text it stands in."""
AsyncSubagent = Callable[[DelegationContext], Awaitable[object]]
CommandLine = Sequence[str]
Within = Literal["thread", "process"]

_FAREWELL = 1.0
"""Seconds that a task which was cancelled has to end."""


def invoke(
    context: DelegationContext,
    subagent: Subagent | CommandLine,
    *,
    timeout: float | None = None,
    within: Within = "thread",
    registry: DelegationRegistry | None = None,
    artifacts: Sequence[str] = (),
    root: Path | None = None,
    output: Path | str | None = None,
) -> "Return":
    """Hand work to a function or a command line, and wait for its return, for `timeout` seconds at most.

    Never raises for what the subagent does. A function runs in a thread, or in a process of its own; a thread cannot
    be ended, so after a timeout it goes on alone, and what it returns then is logged. A process and a command are ended
    with their whole process group. `artifacts` are patterns of files that are looked for after a timeout, below `root`,
    the root of the project; with a `root`, files that a return names must be there. What a command prints is appended
    to `output`, if that is given.
    """
    _check(subagent, output)
    if inspect.iscoroutinefunction(subagent):
        raise TypeError("a coroutine function is invoked with ainvoke")
    call = _Call(context, timeout, registry, artifacts, root)
    try:
        if not callable(subagent):
            return call.taken(InvokedCommand(call.context, subagent, call.registry, call.begin, _file(output)).wait())
        if within == "process":
            return call.taken(InvokedProcess(call.context, subagent, call.registry, call.begin).wait())
        call.begin()
        return call.taken(_in_thread(call, subagent))
    except BaseException as error:  # Ctrl-C, or what a signal handler of the caller raised
        call.cancelled("Ctrl-C" if isinstance(error, KeyboardInterrupt) else type(error).__name__)
        raise


async def ainvoke(
    context: DelegationContext,
    subagent: AsyncSubagent | CommandLine,
    *,
    timeout: float | None = None,
    registry: DelegationRegistry | None = None,
    artifacts: Sequence[str] = (),
    root: Path | None = None,
    output: Path | str | None = None,
) -> "Return":
    """The same for a coroutine function or a command line, while the event loop goes on.

    After a timeout the coroutine is cancelled. If this call itself is cancelled, so is the work, and the log says so.
    """
    _check(subagent, output)
    call = _Call(context, timeout, registry, artifacts, root)
    began = monotonic()
    if callable(subagent):
        call.begin()
        work: asyncio.Future[WorkEnd] = asyncio.ensure_future(_awaited(subagent, call.context))
        stop: Callable[[], object] = work.cancel
    else:
        command = InvokedCommand(call.context, subagent, call.registry, call.begin, _file(output))
        pool = ThreadPoolExecutor(1)  # of its own: in one that is shared it might have to wait for its turn
        work = asyncio.get_running_loop().run_in_executor(pool, command.wait)
        pool.shutdown(wait=False)
        stop = command.stop
    try:
        limit = call.context.timeout if callable(subagent) else None  # a command keeps its own time
        done, _ = await asyncio.wait({work}, timeout=limit)
        if not done:
            work.add_done_callback(call.taken_late_of)
            work.cancel()
            await asyncio.wait({work}, timeout=_FAREWELL)
    except asyncio.CancelledError:
        stop()
        call.cancelled("its caller was cancelled")
        raise
    if not done:
        return call.taken(WorkEnd(timed_out=True, goes_on=None if work.done() else "its task"))
    end = work.result()
    if limit is not None and monotonic() - began >= limit and not call.is_valid(end):
        return call.taken(WorkEnd(timed_out=True))  # it has held up the event loop, so nobody could end it in time
    return call.taken(end)


def _check(subagent: object, output: object) -> None:
    """Refuse what can only be a mistake of the caller."""
    if isinstance(subagent, str | bytes) or (not callable(subagent) and not subagent):
        raise TypeError('a command line is a list of words, such as ["ls", "-l"]')
    if callable(subagent) and output is not None:
        raise TypeError("only of a command line the output can be kept; a function prints where the program does")


def _file(output: Path | str | None) -> Path | None:
    return None if output is None else Path(output)


async def _awaited(subagent: AsyncSubagent, context: DelegationContext) -> WorkEnd:
    try:
        coming = subagent(context)
        if not inspect.isawaitable(coming):
            raise TypeError("ainvoke needs a coroutine function; a plain function is for invoke")  # noqa: TRY301  # as if await had said it
        return WorkEnd(value=await coming)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return end_of(error)  # it cancelled itself
    except KeyboardInterrupt:  # a second Ctrl-C, which no event loop keeps from its tasks
        raise
    except BaseException as error:  # noqa: BLE001  # whatever the subagent raises is its own end, not ours
        return end_of(error)


def _in_thread(call: "_Call", subagent: Subagent) -> WorkEnd:
    ends: SimpleQueue[WorkEnd] = SimpleQueue()
    handing = Lock()
    given_up = False

    def work() -> None:
        try:
            end = WorkEnd(value=subagent(call.context))
        except BaseException as error:  # noqa: BLE001  # a thread has nobody to raise to
            end = end_of(error)
        with handing:
            if not given_up:
                ends.put(end)
                return
        call.taken_late(end)

    Thread(target=work, name=f"delegation {call.context.name}", daemon=True).start()
    try:
        return ends.get(timeout=min(call.context.timeout, TIMEOUT_MAX))
    except Empty:
        with handing:
            return WorkEnd(timed_out=True, goes_on="its thread") if ends.empty() else ends.get()
    finally:
        given_up = True


class _Call:
    """One invocation, from its register to its return."""

    def __init__(
        self,
        context: DelegationContext,
        timeout: float | None,
        registry: DelegationRegistry | None,
        artifacts: Sequence[str],
        root: Path | None,
    ) -> None:
        check_timeout(timeout)
        self.context = context if timeout is None else replace(context, timeout=timeout)
        self.registry = DelegationRegistry() if registry is None else registry  # an empty one is false
        self._root = root
        self._beginning = Lock()
        self._is_cancelled = False
        self._search = ArtifactSearch(artifacts, WallClock().now(), root)

    def begin(self, pid: int | None = None) -> bool:
        """It begins, in that process if not in this one: if we are killed, its number still tells that it runs. False
        if nobody wants it any more."""
        with self._beginning:
            if self._is_cancelled:
                return False
            if self.context.session_id not in self.registry:
                self.registry.register(self.context, pid=pid)
            return True

    def taken(self, end: WorkEnd) -> "Return":
        """What the caller gets, recorded."""
        id = self.context.session_id
        if end.command is not None:
            conclusion = Conclusion(self.context, self.registry, self._search, own_words.DELEGTOP)
            return conclusion.take(end.command, self._root)
        if end.timed_out:
            return self.registry.handle_timeout(id, self._search.found(), goes_on=end.goes_on)
        if end.error is not None:
            summary = f"{self.context.name} ended with an error and gave no return. The log says more of it."
            return self._failed(summary, end.error, end.trace)
        return self.registry.complete(id, end.returned(), root=self._root)

    def taken_late(self, end: WorkEnd) -> None:
        """What came after the timeout: a valid return says more than that."""
        if self.is_valid(end):
            self.registry.record(self.context.session_id, end.returned())

    def is_valid(self, end: WorkEnd) -> bool:
        """Whether it ended with a return that is one."""
        try:
            validate_return(end.returned(), self.context.session_id, root=self._root)
        except ReturnInvalid:
            return False
        return True

    def taken_late_of(self, task: "asyncio.Future[WorkEnd]") -> None:
        """The same of a task."""
        if not task.cancelled() and task.exception() is None:
            self.taken_late(task.result())

    def cancelled(self, reason: str) -> None:
        with self._beginning:
            self._is_cancelled = True
            if self.context.session_id in self.registry:
                self.registry.cancel(self.context.session_id, reason)

    def _failed(self, summary: str, error: dict[str, Any], trace: str | None = None) -> "Return":
        failed = failed_fields(self.context, summary, error)
        return self.registry.fail(self.context.session_id, failed, stack_trace=trace)
