"""The common case in one block: a delegation that is registered when it begins and recorded when it is left."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from delegtop.base.clock import WallClock, iso, monotonic
from delegtop.base.paths import logs_folder
from delegtop.delegate.artifact_search import ArtifactSearch
from delegtop.delegate.child_ends import errors_of
from delegtop.delegate.error_objects import typed
from delegtop.delegate.invocation import AsyncSubagent, CommandLine, Subagent, Within, ainvoke, invoke
from delegtop.delegate.journal import Journal
from delegtop.delegate.made_returns import return_of_block
from delegtop.delegate.prepare import (
    LOG_VARIABLE,
    REGISTRY_VARIABLE,
    DelegationContext,
    DelegationRefused,
    prepare_delegation,
)
from delegtop.delegate.registry import DelegationRegistry, Listing, keeper_of
from delegtop.delegate.registry_file import SharedRegistryFile
from delegtop.delegate.return_objects import failed_fields, made_return, return_fields, standard_return
from delegtop.delegate.work_end import WorkEnd, end_of
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.return_contract import ArtifactType, Status

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return, ReturnArtifact, ReturnError


def delegation(
    parent: "DelegationContext | Work | None",
    target: str,
    *,
    timeout: float | None = None,
    log: Journal | Path | str | None = None,
    registry: DelegationRegistry | Listing | Path | str | None = None,
    task_context: Mapping[str, Any] | None = None,
    artifacts: Sequence[str] = (),
    root: Path | None = None,
    max_depth: int = MAX_DEPTH,
) -> "Work":
    """A delegation as a block: `with delegation(parent, "researcher", timeout=600) as work:`, or `async with`.

    Log and registry are those that its parent was registered with in this process, if none is given; else those of
    $DELEGTOP_LOG and $DELEGTOP_REGISTRY, or the log of the day where delegtop looks by itself. A path of a registry is
    one that several processes may share. Raises DelegationRefused.
    """
    above = parent.context if isinstance(parent, Work) else parent
    if above is not None and not isinstance(above, DelegationContext):
        raise TypeError("who hands out comes first: a block, a context, or None for the orchestrator")
    if isinstance(parent, Work):
        parent.check_not_returned()
    desk = _desk(above, log, registry)
    try:
        context = prepare_delegation(above, target, timeout=timeout, task_context=task_context, max_depth=max_depth)
    except DelegationRefused as refused:
        if above is not None:  # it never begins, so it is its caller that has an error
            desk.error(above.session_id, refused.error())
        raise
    return Work(context, desk, artifacts, root)


def _desk(
    above: DelegationContext | None,
    log: Journal | Path | str | None,
    registry: DelegationRegistry | Listing | Path | str | None,
) -> DelegationRegistry:
    if isinstance(registry, DelegationRegistry):
        return registry
    keeper = keeper_of(above.session_id) if above is not None else None
    if keeper is not None and log is None and registry is None:
        return keeper
    if log is None and keeper is not None:
        log = keeper.log
    if registry is None and log is None:
        registry = os.environ.get(REGISTRY_VARIABLE) or None
    if not isinstance(log, Journal):
        day = logs_folder() / f"{iso(WallClock().now())[:10]}.jsonl"
        log = Journal(Path(log or os.environ.get(LOG_VARIABLE) or day))
    return DelegationRegistry(log, SharedRegistryFile(Path(registry)) if isinstance(registry, str | Path) else registry)


class Work:
    """A delegation at work, within its block.

    It is registered on entering. On leaving it has the return that was given; if none was, one that delegtop makes:
    `completed`, or `partial` with the errors of those that it called, if not all of them succeeded. An exception makes
    a `failed` one, with the stack trace in the log, and goes on its way; Ctrl-C and a cancelled task are a cancel.
    `async with` ends the block when its time is over (TimeoutError), and that is `partial`; a plain `with` cannot end a
    block, but what raises after its time is over is `partial` too.
    """

    def __init__(
        self, context: DelegationContext, registry: DelegationRegistry, artifacts: Sequence[str], root: Path | None
    ) -> None:
        self.context = context
        self.registry = registry
        self.returned: Return | None = None
        """What was recorded, once it has ended by a return, an exception or a timeout."""
        self._root = root
        self._search = ArtifactSearch(artifacts, WallClock().now(), root)
        self._artifacts: list[dict[str, Any]] = []
        self._deadline = monotonic() + context.timeout
        self._limit: asyncio.Timeout | None = None
        self._is_entered = False

    @property
    def session_id(self) -> str:
        return self.context.session_id

    # While it lasts

    def heartbeat(self, activity: str) -> None:
        """A sign of life, with what it is doing."""
        self.registry.heartbeat(self.session_id, activity)

    def artifact(self, type: ArtifactType, path: str, summary: str | None = None) -> "ReturnArtifact":
        """A file that it has made: part of the return, and of what is found if it does not get so far."""
        from delegtop.protocols.standard.contract.return_model import ReturnArtifact

        made = ReturnArtifact(type=type, path=path, summary=summary)
        self._artifacts.append(made.model_dump(mode="json", exclude_none=True))
        return made

    def give(self, returned: object) -> "Return":
        """Return this: a model, or what an agent gave. What is not valid is recorded as failed, and given back so."""
        self._check_open()
        end = WorkEnd(value=returned)
        self.returned = self.registry.complete(self.session_id, end.returned(), root=self._root)
        return self.returned

    def end(
        self, status: Status, summary: str, *, errors: "Sequence[ReturnError]" = (), next_steps: str | None = None
    ) -> "Return":
        """Return with this status and all artifacts so far. Raises ReturnInvalid for what is not allowed."""
        from delegtop.protocols.standard.contract.return_model import ReturnArtifact

        made = [ReturnArtifact.model_validate(each) for each in self._artifacts]
        return self.give(
            standard_return(self.context, status, summary, artifacts=made, errors=errors, next_steps=next_steps)
        )

    def complete(self, summary: str, *, next_steps: str | None = None) -> "Return":
        """Return that all is done."""
        return self.end("completed", summary, next_steps=next_steps)

    def check_not_returned(self) -> None:
        """Raises RuntimeError if it has: who has returned hands nothing on."""
        if self.returned is not None:
            raise RuntimeError(f"{self.context.name} has returned already")

    def _check_open(self) -> None:
        self.check_not_returned()
        if not self._is_entered:
            raise RuntimeError(
                f"{self.context.name} has not begun: it does with its block (with delegation(…) as work)"
            )

    # Handing on

    def errors_below(self) -> "tuple[ReturnError, ...]":
        """The errors of what it handed on and that did not succeed so far: they are to be handed up with its own."""
        return tuple(map(typed, errors_of(self.registry.undone(self.session_id))))

    def invoke(
        self,
        target: str,
        subagent: Subagent | CommandLine,
        *,
        timeout: float | None = None,
        within: Within = "thread",
        artifacts: Sequence[str] = (),
        output: Path | str | None = None,
    ) -> "Return":
        """Hand work on, and wait for its return. A delegation that is refused is a failed return, too."""
        self._check_open()
        try:
            context = prepare_delegation(self.context, target, timeout=timeout)
        except DelegationRefused as refused:
            return self._refused(target, refused)
        return invoke(
            context,
            subagent,
            within=within,
            registry=self.registry,
            artifacts=artifacts,
            root=self._root,
            output=output,
        )

    async def ainvoke(
        self,
        target: str,
        subagent: AsyncSubagent | CommandLine,
        *,
        timeout: float | None = None,
        artifacts: Sequence[str] = (),
        output: Path | str | None = None,
    ) -> "Return":
        """The same for a coroutine function or a command line, while the event loop goes on."""
        self._check_open()
        try:
            context = prepare_delegation(self.context, target, timeout=timeout)
        except DelegationRefused as refused:
            return self._refused(target, refused)
        return await ainvoke(
            context, subagent, registry=self.registry, artifacts=artifacts, root=self._root, output=output
        )

    def _refused(self, target: str, refused: DelegationRefused) -> "Return":
        """It never began, so it is this one that has the error; what comes back speaks for it all the same."""
        self.registry.refused(self.session_id, target, refused.error())
        summary = f"{target} was not called: {refused.message}. Nothing was started."
        error = refused.error().model_dump(mode="json")
        return made_return(
            return_fields(self.context, "failed", summary, errors=[error], duration=0, made_by=own_words.DELEGTOP)
        )

    # Entering and leaving

    def __enter__(self) -> Self:
        if self._is_entered:
            raise RuntimeError(f"{self.context.name} has begun already; another delegation is another block")
        self._is_entered = True
        self._deadline = monotonic() + self.context.timeout
        self.registry.register(self.context)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self.returned is not None or self.session_id not in self.registry:
            if error is not None:  # it has returned; that something went wrong after that is noted
                end = end_of(error)
                self.registry.error(self.session_id, end.error or {}, stack_trace=end.trace)
        elif error is None:
            self.returned = self._unsaid()
        elif isinstance(error, Exception) and monotonic() >= self._deadline:
            self.returned = self.registry.handle_timeout(self.session_id, self._search.found(self._artifacts))
        elif isinstance(error, Exception):
            self.returned = self._failed(error)
        else:
            reason = "Ctrl-C" if isinstance(error, KeyboardInterrupt) else type(error).__name__
            self.registry.cancel(self.session_id, reason)

    async def __aenter__(self) -> Self:
        self.__enter__()
        self._limit = asyncio.timeout(self.context.timeout)
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self, type_: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        try:
            if self._limit is not None:
                await self._limit.__aexit__(type_, error, at)
        except TimeoutError as late:
            self.__exit__(TimeoutError, late, late.__traceback__)
            raise
        self.__exit__(type_, error, at)

    def _unsaid(self) -> "Return":
        made = return_of_block(self.context, self.registry.undone(self.session_id), self._search.found(self._artifacts))
        self.registry.record(self.session_id, made)
        return made_return(made)

    def _failed(self, error: Exception) -> "Return":
        end = end_of(error)
        summary = f"{self.context.name} ended with an error and gave no return. The log says more of it."
        failed = failed_fields(self.context, summary, end.error or {})
        return self.registry.fail(self.session_id, failed, stack_trace=end.trace)
