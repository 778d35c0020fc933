"""The orchestrator's registry: which delegations are out, until when, and what is done when one does not come back."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from delegtop.base.clock import Clock, Millis, WallClock
from delegtop.delegate.context import Context
from delegtop.delegate.journal import Journal
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.return_objects import timeout_error, timeout_return
from delegtop.delegate.return_validation import ReturnInvalid, validate_return


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


class DelegationRegistry:
    """Every active delegation of one orchestrator. What happens is written to the log and the snapshot, if given.

    Nothing here waits or starts anything: the orchestrator calls `monitor` as often as it likes.
    """

    def __init__(self, log: Journal | None = None, snapshot: Listing | None = None, clock: Clock | None = None) -> None:
        self._log = log
        self._snapshot = snapshot
        self._clock = clock or WallClock()
        self._active: dict[str, Active] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._active

    def __len__(self) -> int:
        return len(self._active)

    def register(self, context: DelegationContext, *, pid: int | None = None) -> Active:
        """A delegation starts now. `pid` is the process that does the work, if it is another than this one."""
        now = self._clock.now()
        entry = context.entry(now, pid=pid or os.getpid(), host=os.uname().nodename)
        active = Active(context, now, entry.deadline or now)
        self._active[context.session_id] = active
        if self._snapshot is not None:
            self._snapshot.register(now, entry)
        try:
            if self._log is not None:
                self._log.register(now, entry)
        except OSError:
            self._leave(context.session_id)
            raise
        return active

    def heartbeat(self, session_id: str, activity: str) -> None:
        """A sign of life, if a log is kept."""
        if self._log is not None and session_id in self._active:
            self._log.heartbeat(self._clock.now(), session_id, activity)

    def error(self, session_id: str, error: Mapping[str, Any]) -> None:
        """Something went wrong, whether or not the delegation goes on."""
        if self._log is not None:
            self._log.error(self._clock.now(), session_id, error)

    def overdue(self, now: Millis) -> list[Active]:
        """The delegations whose deadline has passed."""
        return [active for active in self._active.values() if now > active.deadline]

    def monitor(self, now: Millis | None = None) -> dict[str, dict[str, Any]]:
        """Give up on every delegation that is past its deadline: the partial return for the caller, by session id."""
        overdue = self.overdue(self._clock.now() if now is None else now)
        return {active.context.session_id: self.handle_timeout(active.context.session_id) for active in overdue}

    def complete(self, session_id: str, returned: object) -> dict[str, Any]:
        """Take a return: it is logged as it is, its entry goes, and it is given back if valid, else ReturnInvalid.

        A return that comes after a timeout or a cancel is taken like any other.
        """
        if self._log is not None:
            self._log.returned(self._clock.now(), session_id, returned)
        self._leave(session_id)
        try:
            return validate_return(returned, session_id)
        except ReturnInvalid as invalid:
            self.error(session_id, invalid.error())
            raise

    def handle_timeout(self, session_id: str, artifacts: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """Stop waiting for a delegation: the partial return its caller gets, with the artifacts that were found."""
        context = self._active[session_id].context
        found = [dict(artifact) for artifact in artifacts]
        self.error(session_id, timeout_error(context))
        if self._log is not None:
            self._log.timed_out(self._clock.now(), session_id, found)
        self._leave(session_id)
        return timeout_return(context, found)

    def cancel(self, session_id: str, reason: str | None = None) -> None:
        """Somebody ended it before it was done."""
        if session_id not in self._active:
            raise KeyError(session_id)
        if self._log is not None:
            self._log.cancel(self._clock.now(), session_id, reason)
        self._leave(session_id)

    def _leave(self, session_id: str) -> None:
        """The log is written before: a snapshot that cannot be replaced must not cost the end of a delegation."""
        if self._active.pop(session_id, None) is not None and self._snapshot is not None:
            self._snapshot.remove(session_id)
