"""The timeline of an incident: what the records say happened, and the moments that delegtop concludes from them."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from delegtop.base.clock import Millis, duration, iso
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask, mask_beginning
from delegtop.model import recovery_hints
from delegtop.model.delegation import Delegation
from delegtop.model.events import Awaited, Ended, Erred, Heard, Noted, Resumed
from delegtop.model.events import Event as Told
from delegtop.model.forest import Forest
from delegtop.model.measures import ended_at, label
from delegtop.model.phases import now as doing
from delegtop.model.states import ACTIVE, State
from delegtop.model.store.details import NOWHERE
from delegtop.model.store.ledger import Handle
from delegtop.report.incident.incident_report import Event, Ref, What
from delegtop.report.tree_json import Place

MOST = 300
_SHORT = 300
_DERIVED = frozenset({"deadline", "slept"})
_RANKS: dict[What, int] = {"started": 0, "resumed": 1, "deadline": 3, "ended": 4, "slept": 5}
"""The order of what happened at one moment: it starts before anything else, and ends after it."""
_BETWEEN = 2
_KEPT = (Erred, Noted, Awaited, Resumed, Ended)

Kept = Erred | Noted | Awaited | Resumed | Ended | Heard


class IncidentJournal:
    """Keeps the events a timeline is made of, as they are read. Signs of life are not kept, for there may be millions;
    of the few delegations where they matter, they are read again."""

    def __init__(self) -> None:
        self.events: list[Kept] = []

    def heed(self, events: Iterable[Told]) -> None:
        self.events += [event for event in events if isinstance(event, _KEPT)]

    def remember(self, events: Iterable[Told]) -> None:
        """The signs of life of one delegation."""
        self.events += [event for event in events if isinstance(event, Heard)]


class _Moment(NamedTuple):
    """One moment as it was told: only what there is room for is put into words for people."""

    at: Millis
    id: str
    what: What
    text: str
    origin: Origin | None
    name: str | None
    """Of the delegation; None for what concerns all of them."""
    level: int = 0
    """Of what starts how deep it is, of what ends how high: who hands work on starts before it, and ends after it."""

    def event(self) -> Event:
        masked = mask_beginning(self.text, 4 * _SHORT)
        short = masked if len(masked) <= _SHORT else f"{masked[: _SHORT - 1]}…"
        place = Place(self.origin.name, self.origin.line) if self.origin else None
        subject = None if self.name is None else Ref(self.id, mask(self.name))
        return Event(iso(self.at), self.what, subject, short, derived=self.what in _DERIVED, place=place)


def timeline(
    forest: Forest, journal: IncidentJournal, shown: Collection[Handle], troubled: Collection[Handle]
) -> tuple[list[Event], int]:
    """The moments, oldest first, and how many there was no room for: those of delegations in trouble go first."""
    ids = {forest.delegation(handle).id for handle in troubled}
    found = set(_moments(forest, journal, shown))
    ranked = sorted(found, key=lambda one: (one.name is not None and one.id not in ids, *_order(one)))
    kept = sorted(ranked[:MOST], key=_order)
    end = Event(iso(forest.shown_at), "report", None, "the moment of this report", derived=True, place=None)
    return [*(moment.event() for moment in kept), end], len(ranked) - len(kept)


def _order(one: _Moment) -> tuple[object, ...]:
    place = one.origin or NOWHERE
    return one.at, _RANKS.get(one.what, _BETWEEN), one.level, place, one.id, one.what, one.text, one.name or ""


def _moments(forest: Forest, journal: IncidentJournal, shown: Collection[Handle]) -> Iterator[_Moment]:
    starts = []
    for handle in shown:
        facts = forest.delegation(handle)
        yield from _life(forest, handle, facts)
        if facts.started_at is not None:
            starts.append(facts.started_at)
    for told in journal.events:
        found = forest.find(told.id, told.origin.host)
        if found is None or found not in shown or told.at is None or told.at > forest.now_of(found):
            continue
        facts = forest.delegation(found)
        is_last = isinstance(told, Heard) and told.origin == facts.heard_origin
        if isinstance(told, Ended) and ended_at(facts) is None:  # nobody knows when
            continue
        if isinstance(told, Resumed) and told.at <= (facts.started_at or 0):  # its first work is none that it got again
            continue
        if not is_last and (what := _said(told)) is not None:
            level = -forest.level(found) if isinstance(told, Ended) else 0
            yield _Moment(told.at, facts.id, *what, told.origin, label(facts), level)
    for asleep, awake in forest.sleeps(min(starts, default=forest.shown_at)):
        text = f"every log was silent for {duration(awake - asleep)}: the machine slept, or all of them waited"
        yield _Moment(asleep, "", "slept", text, None, None)


def _life(forest: Forest, handle: Handle, facts: Delegation) -> Iterator[_Moment]:
    """Its start, its last sign of life if it has not ended, and when it ran out of time."""
    state, id, name = forest.state(handle), facts.id, label(facts)
    if facts.started_at is not None:
        above = forest.parent(handle)
        by = f", by {label(forest.delegation(above))}" if above is not None else ""
        level = forest.level(handle)
        yield _Moment(facts.started_at, id, "started", f"started{by}", facts.started_origin, name, level)
    is_open = state in ACTIVE or state is State.LOST
    if is_open and facts.heard_at is not None and facts.heard_at != facts.started_at:
        text = f"last heard of{': ' if doing(facts) else ''}{doing(facts)}"
        yield _Moment(facts.heard_at, id, "heard", text, facts.heard_origin, name)
    deadline = forest.deadline(handle)
    if deadline is None or not deadline.is_firm or deadline.at > (facts.ended_at or forest.now_of(handle)):
        return
    late = "" if facts.ended_at is None else f"; it ended {duration(facts.ended_at - deadline.at)} later"
    yield _Moment(deadline.at, id, "deadline", f"its deadline passed ({deadline.note}){late}", None, name)


def _said(told: Kept) -> tuple[What, str] | None:
    """What one record says, in words; None for what is of no use to a reader."""
    match told:
        case Ended():
            return "ended", f"ended {told.outcome}" + (f": {told.report.summary}" if told.report.summary else "")
        case Erred():
            fault = told.fault
            return "error", f"error: {' '.join(filter(None, (fault.code, fault.message))) or 'no message'}"
        case Noted() if told.text and told.kind in recovery_hints.TITLES:
            return "note", f"{recovery_hints.TITLES[told.kind]}: {told.text}"
        case Heard() if told.doing or told.tool:
            return "heard", told.doing or told.tool or ""
        case Awaited():
            return "awaited", f"awaited until {iso(told.until)} by {told.by}"
        case Resumed():
            return "resumed", "given work again"
    return None
