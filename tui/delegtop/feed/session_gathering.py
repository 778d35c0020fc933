"""What the files of one session tell, gathered while they are read, so that it can be kept once they are at rest."""

from collections.abc import Sequence

from delegtop.base.clock import MINUTE
from delegtop.feed.kept_session import Told, told_by
from delegtop.feed.running_starts import RunningStarts
from delegtop.model.call_durations import CallCounts
from delegtop.model.events import Deviation, Event, Heard
from delegtop.model.store.ledger import Ledger
from delegtop.model.usage import Usage

_MOST = 200_000
"""Events beside signs of life: more are not held in memory only to be kept."""


class LastSigns:
    """Signs of life, of which all but the last is nearly always outdone: a ledger folds only what is not."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._last: dict[str, Heard] = {}
        self.minutes: set[int] = set()
        """In which there were any."""

    def take(self, signs: Sequence[Heard]) -> None:
        last, minutes, minute = self._last, self.minutes, -1
        besides: list[Heard] = []
        for sign in signs:
            at = sign.at
            if at is not None and at // MINUTE != minute:
                minute = at // MINUTE
                minutes.add(minute)
            before = last.get(sign.id)
            if before is not None and not _outdoes(sign, before):
                besides.append(before)
            last[sign.id] = sign
        if besides:
            self._ledger.apply(besides, set(), set(), set(), set())

    def all(self) -> list[Heard]:
        """The last of each, with the most that it used."""
        self._ledger.apply(self._last.values(), set(), set(), set(), set())
        return [self._ledger.last_sign(handle) for handle in self._ledger]


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
            or more.account != less.account
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
        self._order: dict[str, None] = {}

    def take(self, events: Sequence[Event]) -> None:
        if len(self._events) > _MOST:
            self.is_spoilt = True
            self._events, self._signs, self._running, self.calls = [], LastSigns(), RunningStarts(), CallCounts()
            return
        heard: list[Heard] = []
        order, source, id = self._order, "", ""
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
                order[getattr(event, "id", "")] = None
                self._running.mind(event)
        self._signs.take(heard)
        self.calls.heed(events)

    def told(self) -> Told | None:
        """All of it; None if it cannot be kept."""
        order = [id for id in self._order if id]
        return told_by(self._events, self._signs.all(), self._signs.minutes, order, [*self._running])
