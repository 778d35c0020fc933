"""The kernel watch: what the kernel shows of the calls that are open and quiet, as events like any others.

Only while time is real, and only of processes of this machine that one may look at.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from delegtop.base.clock import Clock, Millis, WallClock, monotonic, spent
from delegtop.base.origin import kernel
from delegtop.base.text import line, whole_words
from delegtop.kernel import process_source
from delegtop.model.events import Event, Noted, ProcessSeen
from delegtop.model.notes import OUT_OF_SIGHT

if TYPE_CHECKING:
    from delegtop.kernel.call_witness import CallWitness, Sight
    from delegtop.kernel.open_call import OpenCall

EVERY = 5.0
"""Seconds between two looks."""
AT_FIRST = 2.5
"""The same while there are calls of which little is known yet."""
_SOON = 1.0
"""The same before the first look at a new one."""
SELDOM = 10.0
"""Seconds between two looks at most."""
_SHARE = 0.002
"""Of one processor that looking may take: where there is much to look at, it is looked at less often."""
_AGAIN = 30.0
"""Seconds after which it is said once more that nothing has changed."""
_WORDS = 300
_USER = 40
"""Characters."""
_LAST = Millis(253_402_300_799_000)
"""The end of the year 9999: somebody may want to sleep longer, and no calendar goes further."""


class KernelWatch:
    """One thread asks; another may say what to look at."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_live = isinstance(clock, WallClock) and process_source.can_tell()
        self._calls: Sequence[OpenCall] = ()
        self._witness: CallWitness | None = None
        self._told: dict[str, tuple[float, ProcessSeen]] = {}
        """What was said last, and when by the clock that is never set."""
        self._at = Millis(0)
        self._closed: dict[str, int] = {}
        """The processes that belong to another user, by the delegation whose call it was."""
        self._next = self._looked_at = float("-inf")

    def watch(self, calls: "Sequence[OpenCall]") -> None:
        """From now on look at these calls, and at no others. New ones are looked at soon."""
        if not set(self._calls).issuperset(calls):
            self._next = min(self._next, self._looked_at + _SOON)
        self._calls = calls

    @property
    def has_calls(self) -> bool:
        """Whether there is anything to look at."""
        return self._is_live and bool(self._calls)

    @property
    def knows_calls(self) -> bool:
        """Whether something was told of every call that has a process."""
        return self._witness is not None and self._told.keys() >= {call.id for call in self._witness.calls}

    def seen(self, *, at_once: bool = False) -> Iterator[Event]:
        """What is new since the look before, if it is time for one or somebody cannot wait."""
        began, calls = monotonic(), self._calls
        if not (self._is_live and calls) or (began < self._next and not at_once):
            return
        if self._witness is None:
            from delegtop.kernel.call_witness import CallWitness  # nothing is open in most of what is read

            self._witness = CallWitness()
        now, effort, self._looked_at = self._now(), spent(), began
        from delegtop.kernel.process_table import is_anothers  # as above

        closed = {call.id: call.pid for call in calls if is_anothers(call.pid)}
        yield from self._hidden(closed, now)
        for sight in self._witness.look([call for call in calls if call.id not in closed], now, began):
            event = _told(sight, now)
            if self._is_news(event, began):
                self._told[event.id] = began, event
                yield event
        open_ids = {call.id for call in calls}
        for id in [id for id in self._told if id not in open_ids]:
            del self._told[id]
        pause = min(max(EVERY, (spent() - effort) / _SHARE), SELDOM)
        self._next = began + (AT_FIRST if self._witness.is_new(began) else pause)

    def _hidden(self, closed: dict[str, int], now: Millis) -> Iterator[Event]:
        """Whose process is another's, so that nobody sees what it waits for; said once, and taken back once it
        is otherwise."""
        for id, pid in closed.items():
            if id not in self._closed:
                self._closed[id] = pid
                whose = line(process_source.source().owner(pid), _USER)
                said = f"its process (pid {pid}) is that of another user{f' ({whose})' if whose else ''}"
                yield Noted(id, now, kernel(pid), OUT_OF_SIGHT, said)
        for id in [id for id in self._closed if closed.get(id) != self._closed[id]]:
            yield Noted(id, now, kernel(self._closed.pop(id)), OUT_OF_SIGHT, "")

    def _now(self) -> Millis:
        """The moment of a look: later than that of the last one, even if the clock was set back since. Else what was
        seen then would count as the newer."""
        self._at = max(self._clock.now(), Millis(self._at + 1))
        return self._at

    def _is_news(self, event: ProcessSeen, at: float) -> bool:
        told_at, before = self._told.get(event.id, (at, None))
        return before is None or at - told_at >= _AGAIN or _said(before) != _said(event)


def told_command(words: str) -> str:
    """A command line as it is told: by that the process is known again."""
    return line(words, 2 * _WORDS)


def _told(sight: "Sight", now: Millis) -> ProcessSeen:
    found = sight.found
    return ProcessSeen(
        sight.call.id,
        now,
        kernel(found.pid),
        found.pid,
        found.waits_for,
        on=line(whole_words(found.on, _WORDS), 2 * _WORDS) or None,
        outlook=found.outlook,
        still_since=sight.still_since if found.since is None else Millis(now - found.since),
        until=None if found.until is None else min(found.until, _LAST),
        name=line(sight.name, _WORDS) or None,
        command=told_command(sight.command) or None,
        fits=sight.process.fits,
        share=round(sight.share, 3),
        flow=sight.flow,
        memory=sight.memory,
        call_pid=sight.process.pid if sight.outside else None,
    )


def _said(event: ProcessSeen) -> tuple[object, ...]:
    return event.pid, event.waits_for, event.on, event.outlook, event.still_since is None
