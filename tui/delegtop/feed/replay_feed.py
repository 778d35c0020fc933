"""Replay: the same sources, read once through the same dialects, told in their own time as a clock reaches it.

Beside a live feed it is silent until somebody goes back; then it reads the past in the reader's thread, tells it
instead of the present, and the files keep what happens meanwhile. A recording has no present to return to.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from delegtop.base.clock import Clock, Millis, ReplayClock, WallClock, monotonic
from delegtop.base.origin import Origin
from delegtop.feed.batch import Batch
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.sources.records import Line

if TYPE_CHECKING:
    from delegtop.feed.fleet import Fleet, PastFleet
    from delegtop.feed.spoken_pages import SpokenPages
    from delegtop.kernel.open_call import OpenCall
    from delegtop.model.history.timeline import Observer, Timeline

NEAR = 1_000
"""So many events ahead are told one by one; farther away the whole forest of that moment is quicker."""
_FRAME = 0.05
"""Seconds between two looks at a clock that moves."""
_STUDY, _AT_FIRST = 0.02, 0.3
"""Seconds the recording is studied between two looks at the clock, and before the first picture."""
_TELL = 0.2
"""Seconds between two words about how far reading the past has come."""
_LINES = 20_000
"""Lines of a delegation that are looked through for those of its past."""


class Replay:
    """A feed whose time can be moved. One thread polls it; controls may be used by another."""

    possible = True
    """Whether there is a past to go to."""

    def __init__(
        self,
        clock: ReplayClock,
        read: "Callable[[], Feed | PastFleet]",
        *,
        live: "Feed | Fleet | None" = None,
        present: Clock | None = None,
        policy: Policy | None = None,
        observe: "Callable[[Forest], Observer] | None" = None,
        start: Callable[[Millis], Millis] | None = None,
    ) -> None:
        self.clock = clock
        self.timeline: Timeline | None = None
        """What is told; None until somebody goes back and the past has been read."""
        self.past = live is None
        """Whether the past is told. Beside a live feed, `rewind` and `resume` decide."""
        self.loading: tuple[int, int] | None = None
        """While the past is read: bytes read, and bytes known to be there."""
        self.recording = live is None
        """There is no present to return to."""
        self._read, self._live = read, live
        self._present = present or WallClock()
        self._policy, self._observe = policy, observe
        self._start = start
        """Where to begin, found from the first moment; else there."""
        self._source: Feed | PastFleet | None = None
        self._events: list[Event] = []
        self._unwritten: dict[Event, None] = {}
        self._told: tuple[int, Millis] | None = None
        """How many events have been told, and up to which moment."""
        self._leaps = -1
        self._was_past = self.past
        self._stirred = threading.Event()

    # -- controls --------------------------------------------------------------------------------------------------

    def rewind(self, to: Millis | None = None) -> None:
        """Tell the past, paused at that moment or at the end of it."""
        if not self.past:
            self.clock.pause()
            at = to if to is not None else self._present.now()
            self._start, self.past = lambda _first: at, True
        elif to is not None:
            self.clock.seek(to)
        self.wake()

    def resume(self) -> None:
        """Tell the present again, if there is one."""
        self.past = self.recording
        self.wake()

    def wake(self) -> None:
        """The clock was moved: look at it at once."""
        self._stirred.set()
        if self._live is not None:
            self._live.wake()

    # -- reading ---------------------------------------------------------------------------------------------------

    def poll(self) -> Iterator[Batch]:
        """What the clock has reached, or what is new in the present."""
        turned, self._was_past = self._was_past != self.past, self.past
        if not self.past and self._live is not None:
            if turned:
                yield Batch([])
            yield from self._live.poll()
            return
        if turned or self.timeline is None:
            yield from self._load()
        yield from self._reached()

    def read_all(self) -> Iterator[Batch]:
        """The same: what is later is there once the clock has reached it."""
        return self.poll()

    @property
    def is_over(self) -> bool:
        """Whether a recording has been played to its end."""
        timeline = self.timeline if self.recording else None
        return timeline is not None and timeline.studied and self.clock.now() >= timeline.last

    def _load(self) -> Iterator[Batch]:
        """Read everything there is; what was read before is only read on."""
        first = self._source is None
        source = self._source = self._source or self._read()
        source.tell_once()
        self.loading, told_at = (0, 0), monotonic()
        before = len(self._events)
        for batch in source.read_all() if first else source.poll():
            self._events += batch.events
            if monotonic() - told_at > _TELL:
                self.loading, told_at = source.progress(), monotonic()
                yield Batch([])
        self._events += self._new_unwritten()
        if self.timeline is None or len(self._events) > before:
            now = self._present.now()
            end = None if self.recording else now
            from delegtop.model.history.timeline import Timeline  # only who goes back waits for it

            self.timeline = Timeline(self._events, self._policy, until=now, end=end, observe=self._observe)
            self.timeline.study(_AT_FIRST)
        self._told, self.loading = None, None
        self._bound()
        begin = self.timeline.first
        self.clock.seek(self._start(begin) if self._start is not None else begin)

    def _new_unwritten(self) -> list[Event]:
        """What the present was told by no line since the past was read last."""
        told = dict.fromkeys(self._live.unwritten) if self._live is not None else {}
        new = [event for event in told if event not in self._unwritten]
        self._unwritten = told
        return new

    def _bound(self) -> None:
        if self.timeline is not None:
            end = self.timeline.last if self.recording else max(self.timeline.last, self._present.now())
            self.clock.bounds = (self.timeline.first, Millis(end))

    def _reached(self) -> Iterator[Batch]:
        timeline, leaps, now = self.timeline, self.clock.leaps, self.clock.now()
        if timeline is None or (self._told is not None and leaps == self._leaps and now == self._told[1]):
            return
        position = timeline.position(now)
        told, self._told, self._leaps = self._told, (position, now), leaps
        if told is not None and told[1] <= now and position - told[0] <= NEAR:
            yield Batch(timeline.events[told[0] : position], at=now)
        else:
            yield Batch([], at=now, forest=timeline.forest(now))

    def wait(self, timeout: float) -> None:
        """Until something probably changed. What is not studied yet is studied meanwhile."""
        if not self.past and self._live is not None:
            self._live.wait(timeout)
            return
        timeline = self.timeline
        if timeline is not None and not timeline.studied:
            if timeline.study(_STUDY):
                self._bound()
            timeout = 0.0
        self._stirred.wait(min(timeout, _FRAME) if self.clock.playing else timeout)
        self._stirred.clear()

    # -- what a feed tells besides ---------------------------------------------------------------------------------

    @property
    def _feed(self) -> "Feed | Fleet | None":
        return self._live or (self._source if isinstance(self._source, Feed) else None)

    @property
    def fleet(self) -> "Fleet | None":
        """The hosts whose present this is beside, if there are others than this machine."""
        return None if isinstance(self._live, Feed) else self._live

    def watch_calls(self, calls: "Sequence[OpenCall]") -> None:
        """Only the present can be looked at."""
        if self._live is not None:
            self._live.watch_calls(() if self.past else calls)

    def rest_with(self, rest: Callable[[], None]) -> None:
        if self._live is not None:
            self._live.rest_with(rest)

    @property
    def is_behind(self) -> bool:
        """Whether what happens now is known and the history behind it is still being read."""
        return not self.past and self._live is not None and self._live.is_behind

    def statuses(self) -> Sequence[SourceStatus]:
        return self._feed.statuses() if self._feed else ()

    def progress(self) -> tuple[int, int]:
        return self.loading or (self._feed.progress() if self._feed else (0, 0))

    def raw(self, origin: Origin) -> bytes | None:
        return self._feed.raw(origin) if self._feed else None

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:
        """The lines about one delegation, as far as they were written by then."""
        if self._feed is None:
            return []
        if not self.past:
            return self._feed.history(delegation, limit)
        now = self.clock.now()
        lines = self._feed.history(delegation, _LINES)
        return [(line, events) for line, events in lines if not _is_later(events, now)][-limit:]

    def transcript(self, delegation: Delegation) -> "SpokenPages":
        """What was said in one delegation, as far as it was said by then."""
        feed = self._feed
        if feed is None:
            raise OSError("nothing is read yet")
        found = feed.transcript(delegation)
        found.until = self.clock.now() if self.past else None
        return found

    def is_first_hand(self, origin: Origin) -> bool:
        return self._feed is not None and self._feed.is_first_hand(origin)

    def close(self) -> None:
        for feed in (self._live, self._source):
            if feed is not None:
                feed.close()


def _is_later(events: list[Event], now: Millis) -> bool:
    times = [at for event in events if (at := getattr(event, "at", None)) is not None]
    return bool(times) and min(times) > now


class NoReplay(Replay):
    """What stands beside a feed that can be read only once: it always tells of the present, which it leaves alone."""

    possible = False

    def __init__(self) -> None:
        clock = ReplayClock(Millis(0), paused=True)
        super().__init__(clock, lambda: Feed((), clock=clock))
        self.past = self.recording = False

    def rewind(self, to: Millis | None = None) -> None:
        """There is no way back."""
