"""The minder: looks now and then whether the processes of this machine's delegations are still there."""

from collections.abc import Iterator

from delegtop.base.clock import Clock, Millis, WallClock, monotonic
from delegtop.model.events import LOCALHOST, Ended, Ending, Event, Noted, Outcome, Started
from delegtop.model.notes import VANISHED
from delegtop.sources import processes

EVERY = 5.0
"""Seconds."""


class ProcessWatch:
    """Only a process of this machine can be looked at, and only while time is real."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._here = {processes.hostname(), LOCALHOST} if isinstance(clock, WallClock) else set()
        self._started: dict[str, Started] = {}
        self._alive: set[tuple[str, int | None, Millis | None]] = set()
        """The starts whose process was there when it was last looked for."""
        self._gone: set[tuple[str, int | None, Millis | None]] = set()
        """The starts whose end was told: a log that is read again tells the start anew, but the end was then."""
        self._checked_at = monotonic() - EVERY

    def mind(self, event: Started | Ended) -> None:
        if isinstance(event, Ended):
            self._started.pop(event.id, None)
        elif event.pid is not None and event.host in self._here and _key(event) not in self._gone:
            known = self._started.get(event.id)
            if known is None or (known.at or 0) <= (event.at or 0):  # a session goes on in the process that came last
                self._started[event.id] = event

    def gone(self) -> Iterator[Event]:
        """The ends of those whose process is gone."""
        if not self._started or monotonic() - self._checked_at < EVERY:
            return
        self._checked_at = monotonic()
        for started in list(self._started.values()):
            key = _key(started)
            if not _is_gone(started):
                self._alive.add(key)
                continue
            del self._started[started.id]
            self._gone.add(key)
            now = self._clock.now()
            if key in self._alive:
                self._alive.discard(key)
                yield Noted(started.id, now, started.origin, VANISHED, "its process went")
            yield Ended(started.id, now, started.origin, Outcome.LOST, Ending.GONE)


def _key(started: Started) -> tuple[str, int | None, Millis | None]:
    return started.id, started.pid, started.at


def _is_gone(started: Started) -> bool:
    return started.at is not None and bool(started.pid) and processes.is_gone(*_process(started))


def lives(started: Started) -> bool:
    """Whether its process is one of this machine, and there for certain."""
    here = started.host in (processes.hostname(), LOCALHOST)
    return here and started.at is not None and bool(started.pid) and processes.is_there(*_process(started))


def _process(started: Started) -> tuple[int, Millis, int | None, str | None]:
    """Its process; a log may tell by what to know it from another that got the same number later."""
    refs = dict(started.refs)
    ticks = refs.get("proc_start", "")
    pid, at = started.pid or 0, started.at or Millis(0)
    return pid, at, int(ticks) if ticks.isdecimal() else None, refs.get("pid_domain")
