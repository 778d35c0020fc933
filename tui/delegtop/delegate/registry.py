"""The orchestrator's registry: which delegations are out, until when, and what is done when one does not come back."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from delegtop.base.clock import Clock, Millis, WallClock, monotonic
from delegtop.base.system_errors import place_and_reason
from delegtop.delegate.child_ends import ChildEnd, children_in, errors_of, lines_since, undone
from delegtop.delegate.context import Context
from delegtop.delegate.journal import Journal, as_given
from delegtop.delegate.new_session_id import generate_session_id
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry_file import RegistryInvalid, SharedRegistryFile
from delegtop.delegate.return_objects import made_return, refused_fields, timeout_error, timeout_return
from delegtop.delegate.return_validation import ReturnInvalid, validate_return
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return, ReturnArtifact, ReturnError


REMEMBERED = 10_000
"""Delegations that have ended and are still known: who comes back after so many others is judged by its id alone."""


class Listing(Protocol):
    """Where a registry's entries are put for others to read."""

    def register(self, at: Millis, context: Context) -> None: ...

    def remove(self, session_id: str) -> None: ...


@dataclass(frozen=True)
class Active:
    """A delegation that is out."""

    context: DelegationContext
    started: Millis
    deadline: Millis
    until: float = inf
    """The same by the monotonic clock of this process."""


class DelegationRegistry:
    """Every active delegation of one orchestrator. What happens is written to the log and the snapshot, if given.

    Nothing here waits or starts anything: the orchestrator calls `monitor` as often as it likes. Threads may share it.
    What cannot be written costs a warning (of the logger `delegtop.delegate`), once, and no work; `trouble` is told
    of it instead, if given.
    """

    def __init__(
        self,
        log: Journal | None = None,
        snapshot: Listing | None = None,
        clock: Clock | None = None,
        trouble: Callable[[OSError], None] | None = None,
    ) -> None:
        self.log = log
        self._snapshot = snapshot
        self._clock = clock or WallClock()
        self._clock_may_step = clock is None
        self._trouble = trouble or self._warn
        self._has_warned = False
        self._active: dict[str, Active] = {}
        self._contexts: dict[str, DelegationContext] = {}
        """Those that are here or were not long ago: a return may come after the end."""
        self._ends: dict[str, ChildEnd] = {}
        """How these ended."""
        self._offsets: dict[str, int] = {}
        """The size of the log when each of them began."""
        self._left: deque[str] = deque()
        self._lock = RLock()

    def renew_lock(self) -> None:
        """For a process that was forked."""
        self._lock = RLock()

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._active

    def __len__(self) -> int:
        return len(self._active)

    def register(self, context: DelegationContext, *, pid: int | None = None) -> Active:
        """A delegation starts now. `pid` is the process that does the work, if it is another than this one.

        Raises RegistryInvalid for a registry file that is none.
        """
        with self._lock:
            active = self.expect(context)
            entry = context.entry(active.started, pid=pid or os.getpid(), host=os.uname().nodename)
            try:
                self._write(lambda: self.note_start(active.started, entry))
            except BaseException:
                self._active.pop(context.session_id, None)
                self._forget(context.session_id)
                raise
            return active

    def expect(self, context: DelegationContext) -> Active:
        """Wait for a delegation that somebody else has written down, or will."""
        now = self._clock.now()
        active = Active(context, now, context.entry(now).deadline or now, monotonic() + context.timeout)
        self._active[context.session_id] = active
        self._contexts[context.session_id] = context
        self._ends[context.session_id] = ChildEnd(context.name, context.parent, now)
        self._offsets[context.session_id] = self.log.size() if self.log is not None else 0
        _keepers[context.session_id] = self
        return active

    def note_start(self, at: Millis, entry: Context) -> None:
        """Write down that a delegation starts. What cannot be written in one place is written in the other."""
        try:
            if self._snapshot is not None:
                self._snapshot.register(at, entry)
        finally:
            if self.log is not None:
                self.log.register(at, entry)

    def environment(self, context: DelegationContext) -> dict[str, str]:
        """The variables for a process that works for this delegation."""
        snapshot = self._snapshot
        shared = snapshot.path if isinstance(snapshot, SharedRegistryFile) else None
        return context.to_environment(self.log.path if self.log else None, shared)

    def heartbeat(self, session_id: str, activity: str) -> None:
        """A sign of life, if a log is kept."""
        if (log := self.log) is not None and session_id in self._active:
            self._write(lambda: log.heartbeat(self._clock.now(), session_id, activity))

    def error(
        self, session_id: str, error: "ReturnError | Mapping[str, Any]", *, stack_trace: str | None = None
    ) -> None:
        """Something went wrong, whether or not the delegation goes on."""
        if (end := self._ends.get(session_id)) is not None:
            end.noted.append(as_given(error))
        if (log := self.log) is not None:
            self._write(lambda: log.error(self._clock.now(), session_id, error, stack_trace=stack_trace))

    def refused(self, session_id: str, target: str, error: "ReturnError") -> None:
        """It was not allowed to hand work to that target: nothing began, so it is its own error, and one to hand up."""
        self.error(session_id, error)
        with self._lock:
            now, id = self._clock.now(), generate_session_id(clock=self._clock)
            self._ends[id] = ChildEnd(target, session_id, now, now, "refused", [as_given(error)])
            self._remember(id)

    def overdue(self, now: Millis) -> list[Active]:
        """The delegations whose deadline has passed at that moment."""
        with self._lock:
            return [active for active in self._active.values() if now > active.deadline]

    def monitor(self, now: Millis | None = None) -> "dict[str, Return]":
        """Give up on every delegation that is past its deadline: the partial return for the caller, by session id."""
        overdue = self.overdue(self._clock.now() if now is None else now)
        if now is None and self._clock_may_step:  # somebody may set it: what counts is how long it really took
            with self._lock:
                overdue = [active for active in self._active.values() if monotonic() > active.until]
        return {active.context.session_id: self.handle_timeout(active.context.session_id) for active in overdue}

    def complete(self, session_id: str, returned: object, *, root: Path | None = None) -> "Return":
        """Take a return: it is logged, its entry goes, and it is given back, typed.

        One that is not valid is recorded as failed, as the documents have it, and that failed return is given back: its
        error says everything that is wrong, and its metadata keep what was given. With the root of the project the
        files it names must be there. A return that comes after a timeout or a cancel is taken like any other.
        """
        try:
            taken = validate_return(returned, session_id, root=root)
        except ReturnInvalid as invalid:
            return self.refuse(session_id, invalid)
        self.record(session_id, returned)
        return taken

    def refuse(self, session_id: str, invalid: ReturnInvalid) -> "Return":
        """Take the failed return in place of one that is not valid."""
        return self.fail(session_id, refused_fields(self._context(session_id), invalid))

    def fail(self, session_id: str, failed: Mapping[str, Any], *, stack_trace: str | None = None) -> "Return":
        """Take a failed return that delegtop made, with its errors; those of its children are handed up with them."""
        for error in failed["errors"]:
            self.error(session_id, error, stack_trace=stack_trace)
        below = [error for error in errors_of(self.undone(session_id)) if error not in failed["errors"]]
        failed = {**failed, "errors": [*failed["errors"], *below]}
        self.record(session_id, failed)
        return made_return(failed)

    def undone(self, session_id: str) -> list[ChildEnd]:
        """What it handed out, here or in other processes, and that did not succeed."""
        children = children_in(self.written_since(session_id), session_id)
        with self._lock:
            own = {id: end for id, end in self._ends.items() if end.parent == session_id and end.outcome}
        others = [end for id, end in children.items() if id not in own]
        return undone([*own.values(), *others])  # of those that ended in one millisecond, as they began

    def written_since(self, session_id: str) -> Iterator[bytes]:
        """The lines that were written to the log since that delegation began."""
        return lines_since(self.log.path, self._offsets.get(session_id, 0)) if self.log is not None else iter(())

    def record(self, session_id: str, returned: object) -> None:
        """Log a return as it is, and let go of its delegation."""
        with self._leaving(session_id):
            if (end := self._ends.get(session_id)) is not None:
                end.returned(self._clock.now(), as_given(returned))
            if (log := self.log) is not None:
                self._write(lambda: log.returned(self._clock.now(), session_id, returned))

    def handle_timeout(
        self,
        session_id: str,
        artifacts: "Iterable[ReturnArtifact | Mapping[str, Any]]" = (),
        *,
        goes_on: str | None = None,
    ) -> "Return":
        """Stop waiting for a delegation: the partial return its caller gets, with the artifacts that were found.

        Of what was found as plain objects, those that are no artifacts are only logged. `goes_on` is what still works
        and cannot be ended, such as a thread.
        """
        context, found = self._context(session_id), [as_given(artifact) for artifact in artifacts]
        with self._leaving(session_id):
            if (end := self._ends.get(session_id)) is not None:
                end.timed_out(self._clock.now())
            self.error(session_id, timeout_error(context, goes_on))
            if (log := self.log) is not None:
                kept = [each for each in found if isinstance(each, Mapping)]
                self._write(lambda: log.timed_out(self._clock.now(), session_id, kept))
        return timeout_return(context, _typed(found), goes_on)

    def cancel(self, session_id: str, reason: str | None = None) -> None:
        """Somebody ended it before it was done."""
        if session_id not in self._active:
            raise KeyError(session_id)
        with self._leaving(session_id):
            if (log := self.log) is not None:
                self._write(lambda: log.cancel(self._clock.now(), session_id, reason))

    def _context(self, session_id: str) -> DelegationContext:
        """What was registered under that id; of what was not, only the id is known."""
        known = self._contexts.get(session_id)
        return known or DelegationContext(
            session_id=session_id, delegation_depth=0, delegation_path=(ORCHESTRATOR, "unknown"), timeout=1
        )

    @contextmanager
    def _leaving(self, session_id: str) -> Iterator[None]:
        """The log is written first: a snapshot that cannot be replaced must not cost the end of a delegation. Nor does
        a log that cannot be written keep its entry there."""
        with self._lock:
            try:
                yield
            finally:
                self._leave(session_id)

    def _leave(self, session_id: str) -> None:
        if self._active.pop(session_id, None) is None:
            return
        self._remember(session_id)
        if (snapshot := self._snapshot) is not None:
            self._write(lambda: snapshot.remove(session_id))

    def _write(self, write: Callable[[], None]) -> None:
        """Monitoring must not cost the work, nor what came of it."""
        try:
            write()
        except RegistryInvalid:
            raise
        except OSError as error:
            self._trouble(error)

    def _warn(self, error: OSError) -> None:
        if not self._has_warned:
            self._has_warned = True
            from logging import getLogger  # which takes a while to load, and seldom is needed

            getLogger("delegtop.delegate").warning(
                "the log cannot be written, the work goes on: %s", place_and_reason(error)
            )

    def _remember(self, session_id: str) -> None:
        self._left.append(session_id)
        if len(self._left) > REMEMBERED:
            self._forget(self._left.popleft())

    def _forget(self, session_id: str) -> None:
        for kept in (self._contexts, self._ends, self._offsets, _keepers):
            kept.pop(session_id, None)


_keepers: WeakValueDictionary[str, DelegationRegistry] = WeakValueDictionary()


def keeper_of(session_id: str) -> DelegationRegistry | None:
    """The registry of this process that a delegation is or was in."""
    return _keepers.get(session_id)


def forget_keepers() -> None:
    """For a process that was forked: the registries of its parent are not its own."""
    _keepers.clear()


def _renew_locks() -> None:
    """For a process that was forked: a lock that another thread held would never be free."""
    for registry in set(_keepers.values()):
        registry.renew_lock()


os.register_at_fork(after_in_child=_renew_locks)


def _typed(artifacts: Iterable[object]) -> "Iterable[ReturnArtifact]":
    from delegtop.protocols.contract_model import breaches
    from delegtop.protocols.standard.contract.return_model import ReturnArtifact

    return [ReturnArtifact.model_validate(each) for each in artifacts if not breaches(ReturnArtifact, each)]
