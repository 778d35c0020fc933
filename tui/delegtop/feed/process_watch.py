"""The minder: looks now and then whether the processes of this machine's delegations are still there.

A process writes its last lines before it goes. So whoever is found gone is told of only after everything was read once
more: `missing` asks, then the logs are read, then `ends` tells.
"""

from collections.abc import Iterator, Sequence

from delegtop.base.clock import DAY, Clock, Millis, WallClock, monotonic
from delegtop.base.origin import kernel
from delegtop.base.text import line
from delegtop.dialects.products import product
from delegtop.model.events import LOCALHOST, Ended, Ending, Event, Noted, Outcome, Started
from delegtop.model.notes import VANISHED
from delegtop.model.session_manner import KERNEL, PID_DOMAIN, PROC_START, SEEN
from delegtop.sources import processes

EVERY = 2.0
"""Seconds."""
OLD = DAY
"""Of one that began longer ago it is not told why its process cannot be looked at: mostly its log is of the past."""
_HOST = 60
"""Characters."""
LINGERS = 5.0
"""Seconds in which a process that signed off is expected to go."""


class ProcessWatch:
    """Only a process of this machine can be looked at, and only while time is real."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._here = {processes.hostname(), LOCALHOST} if isinstance(clock, WallClock) else set()
        self._is_live = isinstance(clock, WallClock)
        self._started: dict[str, Started] = {}
        self._elsewhere: dict[str, str] = {}
        """Why the processes of those that are not of this machine cannot be looked at."""
        self._alive: set[tuple[str, int | None, Millis | None]] = set()
        """The starts whose process was there when it was last looked for."""
        self._begun: dict[tuple[str, int | None, Millis | None], int | None] = {}
        """What the kernel called the start of their process when it was read of: that stays what it is when somebody
        sets the clock."""
        self._gone: set[tuple[str, int | None, Millis | None]] = set()
        """The starts whose end was told: a log that is read again tells the start anew, but the end was then."""
        self._met: dict[tuple[str, int | None, Millis | None], Started] = {}
        """Those of them of which it was not yet told."""
        self._signed_off: dict[str, tuple[float, Event]] = {}
        """Those whose process took its entry away, since when, and the end that means: it may still write."""
        self._new = False
        self._checked_at = monotonic() - EVERY

    @property
    def is_new(self) -> bool:
        """Whether there is a process that nobody has looked for yet."""
        return self._new and bool(self._started)

    def follows(self, id: str) -> bool:
        """Whether its process is known, and was not found gone."""
        return id in self._started or id in self._elsewhere

    @property
    def has_any(self) -> bool:
        """Whether a process of anybody is known, here or elsewhere."""
        return bool(self._started or self._elsewhere)

    def mind(self, event: Started | Ended, *, is_there: bool = False) -> None:
        """Follow the process of a start, which may have been seen, until an end is told."""
        if is_there and isinstance(event, Started):
            self._alive.add(_key(event))
        if isinstance(event, Ended):
            if (known := self._started.pop(event.id, None)) is not None:
                self._alive.discard(_key(known))
                self._begun.pop(_key(known), None)
            self._elsewhere.pop(event.id, None)
        elif why := self._hides(event):
            self._elsewhere[event.id] = why
        elif event.pid is not None and event.host in self._here and _key(event) not in self._gone:
            known = self._started.get(event.id)
            if known is None or (known.at or 0) <= (event.at or 0):  # a session goes on in the process that came last
                self._started[event.id] = event
                self._begun.setdefault(_key(event), _met(event))
                self._elsewhere.pop(event.id, None)
                self._new = self._new or _key(event) not in self._alive

    def _hides(self, event: Started) -> str:
        """Why nobody can look at that process from here."""
        if not self._is_live or event.pid is None or event.at is None or self._clock.now() - event.at > OLD:
            return ""
        if event.host is None:
            return "its log does not tell on which machine they are"
        if event.host not in self._here:
            return f"they are on {line(event.host, _HOST)}, and this is another machine"
        is_ours = processes.is_ours(dict(event.refs).get(PID_DOMAIN))
        return "" if is_ours else "its pid is that of another machine or container (its pid namespace is not ours)"

    def there(self) -> list[Started]:
        """The sessions of agent programs whose very process is there for certain."""
        known = self._begun
        return [
            each for each in self._started.values() if each.product is not None and lives(each, known.get(_key(each)))
        ]

    def out_of_sight(self) -> dict[str, str]:
        """Those whose process is known and cannot be looked at, and why."""
        return self._elsewhere

    def sign_off(self, events: Sequence[Event]) -> Iterator[Event]:
        """What a process that took its entry away means by that: told at once, unless the process can be seen."""
        for event in events:
            if isinstance(event, Ended) and event.id in self._started:
                self._signed_off[event.id] = monotonic(), event
                self._checked_at = float("-inf")
            else:
                yield event

    def missing(self) -> list[Started]:
        """Those whose process is gone now, if it is time to look."""
        if not self._started or not (self._new or monotonic() - self._checked_at >= EVERY):
            return []
        self._checked_at, self._new = monotonic(), False
        found: list[Started] = []
        for started in self._started.values():
            key = _key(started)
            if _is_gone(started, self._begun.get(key)):
                found.append(started)
            elif key not in self._alive:
                self._alive.add(key)
                self._met[key] = started
        return found

    def met(self) -> Iterator[Event]:
        """That the processes of sessions that logs name are there, and how they were started: told once of each."""
        met, self._met = self._met, {}
        for key, started in met.items():
            if key in self._alive and started.product is not None:
                yield _seen(started)

    def ends(self, missing: Sequence[Started]) -> Iterator[Event]:
        """The ends of those who were found gone, but for those whose logs told of one since."""
        for started in missing:
            key = _key(started)
            if self._started.get(started.id) is not started:
                continue
            del self._started[started.id]
            self._signed_off.pop(started.id, None)
            self._gone.add(key)
            self._begun.pop(key, None)
            now, origin = self._clock.now(), kernel(started.pid)
            if key in self._alive:
                self._alive.discard(key)
                yield Noted(started.id, now, origin, VANISHED, "its process went")
            yield Ended(started.id, now, origin, Outcome.LOST, Ending.GONE)
        yield from self._overstayed()

    def _overstayed(self) -> Iterator[Event]:
        """The ends of those who signed off, whatever their process still does."""
        for id, (since, event) in list(self._signed_off.items()):
            if id not in self._started or monotonic() - since >= LINGERS:
                del self._signed_off[id]
                yield event


def _key(started: Started) -> tuple[str, int | None, Millis | None]:
    return started.id, started.pid, started.at


def _met(started: Started) -> int | None:
    """What the kernel calls the start of its process, if that is there for certain."""
    return processes.start_ticks(started.pid or 0) if lives(started) else None


def _is_gone(started: Started, ticks: int | None) -> bool:
    return started.at is not None and bool(started.pid) and processes.is_gone(*_process(started, ticks))


def _seen(started: Started) -> Started:
    """Its start once more, as the system tells it. What else its log says of the process stays as it is."""
    from delegtop.feed.session_manners import seen  # nobody needs it where no log names a process
    from delegtop.kernel.program_process import program

    process, known = program(started.pid or 0), product(started.product)
    is_it = process is not None and known is not None and process.runs(known.executables, known.scripts)
    refs = seen(process, known) if process is not None and is_it else ((SEEN, KERNEL),)
    return Started(
        started.id,
        started.at,
        kernel(started.pid),
        pid=started.pid,
        host=started.host,
        refs=refs,
        listed=True,
        product=started.product,
    )


def lives(started: Started, ticks: int | None = None) -> bool:
    """Whether its process is one of this machine, and there for certain; the ticks are those it was met with."""
    here = started.host in (processes.hostname(), LOCALHOST)
    return here and started.at is not None and bool(started.pid) and processes.is_there(*_process(started, ticks))


def _process(started: Started, met: int | None) -> tuple[int, Millis, int | None, str | None]:
    """Its process; a log may tell by what to know it from another that got the same number later."""
    refs = dict(started.refs)
    ticks = refs.get(PROC_START, "")
    pid, at = started.pid or 0, started.at or Millis(0)
    return pid, at, int(ticks) if ticks.isdecimal() else met, refs.get(PID_DOMAIN)
