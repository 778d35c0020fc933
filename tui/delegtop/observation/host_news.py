"""News of hosts: one that was there is lost, one that was lost is back. Who is away for long is worth an alert."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from delegtop.base.clock import MINUTE, SECOND, Millis
from delegtop.diagnosis.alerts import Alert, Cause
from delegtop.feed.host_states import THERE, HostState, HostStatus
from delegtop.model.states import State

LOST, BACK = "host lost", "host back"
LONG = 2 * MINUTE
"""A network that is gone for less is nobody's business."""
_NO_HANDLE = -1


class HostChange(NamedTuple):
    """A host is lost, or back."""

    what: str
    host: str
    at: Millis
    message: str


class HostNews:
    """Looks at hosts again and again. Who was never there is not lost."""

    def __init__(self) -> None:
        self._met: set[str] = set()
        self._lost: set[str] = set()
        self._alerted: dict[str, Alert] = {}

    def look(self, hosts: Iterable[HostStatus], now: Millis) -> tuple[list[HostChange], list[Alert]]:
        """What changed, and what to tell somebody who does not look."""
        changes: list[HostChange] = []
        alerts: list[Alert] = []
        for host in hosts:
            if host.state in THERE:
                self._met.add(host.name)
                changes += self._back(host, now)
                alerts += self._resolved(host, now)
            elif host.name in self._met and host.state not in (HostState.CONNECTING, HostState.STALE, HostState.SAME):
                changes += self._gone(host, now)
                alerts += self._missed(host, now)
        return changes, alerts

    def _back(self, host: HostStatus, now: Millis) -> Sequence[HostChange]:
        if host.name not in self._lost:
            return ()
        self._lost.discard(host.name)
        return (HostChange(BACK, host.name, now, "it tells again"),)

    def _gone(self, host: HostStatus, now: Millis) -> Sequence[HostChange]:
        if host.name in self._lost:
            return ()
        self._lost.add(host.name)
        return (HostChange(LOST, host.name, now, host.plain.removeprefix(f"{host.name}: ")),)

    def _missed(self, host: HostStatus, now: Millis) -> Sequence[Alert]:
        away = round(host.seconds * SECOND)
        if host.name in self._alerted or away <= LONG:
            return ()
        since, id = Millis(now - away), f"host {host.name}"
        message = f"{host.plain}. Nothing on it is judged meanwhile."
        alert = Alert(
            Cause.LOST, _NO_HANDLE, id, host.name, None, State.LOST, message, now, since, id, kind=host.state.value
        )
        self._alerted[host.name] = alert
        return (alert,)

    def _resolved(self, host: HostStatus, now: Millis) -> Sequence[Alert]:
        told = self._alerted.pop(host.name, None)
        if told is None:
            return ()
        return (
            Alert(
                Cause.RESOLVED,
                _NO_HANDLE,
                told.id,
                told.name,
                None,
                State.RUNNING,
                "It can be reached again.",
                now,
                told.since,
                told.root,
                kind=told.kind,
                was=Cause.LOST,
            ),
        )
