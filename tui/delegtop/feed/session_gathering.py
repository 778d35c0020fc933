"""What the files of one session tell, gathered while they are read, so that it can be kept once they are at rest."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from delegtop.base.clock import MINUTE
from delegtop.feed.bounded_facts import bounded
from delegtop.feed.kept_session import (
    Family,
    KeptFile,
    KeptSession,
    Moments,
    SessionBlock,
    fields_of,
    has_secret,
    minutes_told,
    packed_files,
)
from delegtop.feed.running_starts import RunningStarts
from delegtop.model.call_durations import CallCounts, CallsOfOne
from delegtop.model.events import (
    Awaited,
    Described,
    Deviation,
    Ended,
    Erred,
    Event,
    Heard,
    Noted,
    Resumed,
    Sighted,
    Started,
)
from delegtop.model.sleep_detector import SleepDetector
from delegtop.model.store.details import NOWHERE
from delegtop.model.store.ledger import Ledger
from delegtop.model.usage import Usage

_MOST = 200_000
"""Events beside signs of life: more are not held in memory only to be kept."""
_KEEPABLE = frozenset({Started, Described, Noted, Awaited, Sighted, Resumed, Erred, Ended})
"""What is said of one delegation, whoever else there is."""


class LastSigns:
    """Signs of life, of which all but the last is nearly always outdone: a ledger folds only what is not."""

    def __init__(self) -> None:
        self._besides: Ledger | None = None
        """Those that were not outdone."""
        self._last: dict[str, Heard] = {}
        self._bare: dict[str, Heard] = {}
        """Of each the last that tells only when it was and does not outdo the other: most likely the next outdoes
        both."""
        self.minutes: set[int] = set()
        """In which there were any."""

    def take(self, signs: Sequence[Heard]) -> None:
        last, bare, minutes, minute = self._last, self._bare, self.minutes, -1
        besides: list[Heard] = []
        for sign in signs:
            at = sign.at
            if at is not None and at // MINUTE != minute:
                minute = at // MINUTE
                minutes.add(minute)
            id = sign.id
            before = last.get(id)
            is_first = before is None or _outdoes(sign, before)
            if bare and (other := bare.pop(id, None)) is not None and not _outdoes(sign, other):
                besides.append(other)
            if before is not None and not is_first:
                is_bare = sign.tokens is None and sign.cost is None and sign.used is None
                if is_bare and (at != before.at or sign.origin != before.origin):  # else the later one counts
                    bare[id] = sign
                    continue
                besides.append(before)
            last[id] = sign
        if besides:
            self._put_beside(besides)

    def _put_beside(self, signs: Iterable[Heard]) -> Ledger:
        if self._besides is None:
            self._besides = Ledger()
        self._besides.apply(signs, set(), set(), set(), set())
        return self._besides

    def all(self) -> list[Heard]:
        """The last of each, with the most that it used."""
        ledger = self._put_beside(self._bare.values()) if self._bare else self._besides
        if ledger is None:
            return [*self._last.values()]
        ledger.apply(self._last.values(), set(), set(), set(), set())
        return [ledger.last_sign(handle) for handle in ledger]


def _outdoes(sign: Heard, before: Heard) -> bool:
    """Whether nothing is left of the one before it once it is known: by how a ledger folds them."""
    at, earlier = sign.at, before.at
    if at is None or (earlier is not None and (earlier > at or (earlier == at and not sign.origin > before.origin))):
        return False
    if before.tokens is not None and (sign.tokens is None or sign.tokens < before.tokens):
        return False
    if before.cost is not None and (sign.cost is None or sign.cost < before.cost or (before.whole and not sign.whole)):
        return False
    used, known = sign.used, before.used
    return used is known or known is None or (used is not None and _covers(used, known))


def _covers(used: tuple[Usage, ...], known: tuple[Usage, ...]) -> bool:
    if len(used) < len(known):
        return False
    for more, less in zip(used, known, strict=False):
        if more is not less and (
            more.input < less.input
            or more.output < less.output
            or more.cache_read < less.cache_read
            or more.cache_write < less.cache_write
            or more.cache_write_1h < less.cache_write_1h
            or more.model != less.model
            or more.over != less.over
            or more.fast != less.fast
        ):
            return False
    return True


class SessionGathering:
    """All that was told since its files are read. Signs of life are folded: there may be millions."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.is_spoilt = False
        """Something in it is not of these files alone, or was told of what stands in them no longer."""
        self.calls = CallCounts()
        self._signs = LastSigns()
        self._events: list[Event] = []
        self._running = RunningStarts()
        self._order: dict[str | None, None] = {}

    def take(self, events: Sequence[Event], *, is_counted: bool = False) -> list[str]:
        """Gather these; gives the ids of which nothing was told before. By what `is_counted` calls were counted."""
        heard: list[Heard] = []
        order, source, id = self._order, "", None
        known = len(order)
        for event in events:
            if event.origin.source is not source:
                source = event.origin.source
                if source not in self.paths:
                    self.is_spoilt = True
            if type(event) is Heard:
                heard.append(event)
                if event.id is not id:
                    id = event.id
                    order[id] = None
            elif not isinstance(event, Deviation):
                self._events.append(event)
                order[getattr(event, "id", None)] = None
                self._running.mind(event)
        self._signs.take(heard)
        if not is_counted:
            self.calls.heed(events)
        if len(self._events) > _MOST:
            self.is_spoilt = True
        return [id for id in islice(order, known, None) if id is not None] if len(order) > known else []

    def all_calls(self) -> list[CallsOfOne]:
        """How long calls took, under the ids and names that events have."""
        return [*map(bounded, self.calls.all())]

    @property
    def holds_any(self) -> bool:
        return bool(self._order)

    def let_go(self) -> None:
        """Nothing of it is held any more."""
        self._events, self._signs, self._running, self.calls = [], LastSigns(), RunningStarts(), CallCounts()
        self._order = {}

    def told(self) -> tuple[list[Event], Ledger]:
        """All of it at once: what is said of no delegation alone, and the rest folded."""
        ledger, signs = Ledger(), self._signs.all()
        order = [Heard(id, None, NOWHERE) for id in self.ids]
        own = [event for event in self._events if type(event) in _KEEPABLE]
        ledger.apply([*order, *own, *signs], set(), set(), set(), set())
        ledger.pulse = SleepDetector(self._signs.minutes.union(ledger.pulse.minutes))
        return [event for event in self._events if type(event) not in _KEEPABLE], ledger

    def keep_in(
        self,
        block: SessionBlock,
        name: str,
        files: Sequence[KeptFile],
        others: Sequence[KeptFile],
        family: Family | None = None,
    ) -> KeptSession | None:
        """Put all of it into a block that knows none of those it tells of; None if it cannot be kept."""
        if not {*map(type, self._events)} <= _KEEPABLE:
            return None
        try:
            packed = packed_files(files)
        except (UnicodeEncodeError, OverflowError):
            return None
        ledger, first, signs, calls = block.ledger, len(block.ledger), self._signs.all(), self.all_calls()
        ledger.pulse = SleepDetector()
        order = [Heard(id, None, NOWHERE) for id in self.ids]
        ledger.apply([*order, *self._events, *signs], set(), set(), set(), set())
        made = [(one.id, [(each.tool, each.program) for each in one.spreads]) for one in calls]
        words = fields_of((*self._events, *signs)), made, [each.words for file in files for each in file.examples]
        places = name, [file.path for file in (*files, *others)]
        session = KeptSession(
            name,
            packed,
            tuple(others),
            tuple(self._running),
            minutes_told(self._signs.minutes.union(ledger.pulse.minutes)),
            first,
            len(ledger) - first,
            has_secret=has_secret((words, places)),
            family=family,
        )
        block.put(session, self.moments(), calls)
        return session

    @property
    def ids(self) -> list[str]:
        """Of all that it tells of, as they were first told of: what else is equal stands in this order."""
        return [id for id in self._order if id is not None]

    def moments(self) -> Moments:
        """What a ledger folds away of it."""
        ends = Counter(event.id for event in self._events if type(event) is Ended)
        again = {event.id for event in self._events if type(event) is Resumed}
        found = Moments([], [], [], [])
        for event in self._events:
            if type(event) is Noted:
                found.notes.append(event)
            elif type(event) is Awaited:
                found.waits.append(event)
            elif type(event) is Resumed:
                found.resumed.append(event)
            elif type(event) is Ended and (ends[event.id] > 1 or event.id in again):
                found.ends.append(event)
        return found
