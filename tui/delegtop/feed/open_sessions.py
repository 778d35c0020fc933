"""Which sessions of agent programs are at work, as far as their events tell: their processes are worth looking for.

The feed has no ledger: whoever reads it grows one, or none. So this keeps the little that the question needs.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, MutableSequence, Sequence
from sys import intern

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.event_runs import EventRun, each_of
from delegtop.model.events import Described, Ended, Ending, Erred, Event, Heard, Phase, Resumed, Sighted, Started
from delegtop.model.store.details import NOWHERE
from delegtop.model.store.ends import OPEN
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.numbers import known
from delegtop.model.store.signs_of_life import PHASES

_NEVER = Millis(0)
_ABOVE = 100
"""So many levels are climbed; a circle ends too."""
_TELLING = (Described, Ended, Resumed, Erred, Sighted)
_GOING_ON = (OPEN, int(Ending.GONE))
_MANY = 10_000
"""So many are remembered before those that are over are forgotten."""


class SessionFacts(msgspec.Struct, frozen=True):
    """One session at work, by itself or in those it started within itself."""

    id: str
    product: str
    log: str
    """The file that told its start."""
    started_at: Millis | None
    heard_at: Millis
    """The last sign of life of it and of those at work in it."""
    cwd: str | None
    version: str | None
    members: tuple[tuple[str, Millis], ...]
    """Those at work in it, and when each was last heard of."""
    is_over: bool
    """It has ended itself, and only those in it have not."""


class _Row:
    """What is known of one delegation."""

    __slots__ = (
        "cwd",
        "depth",
        "ended_at",
        "ended_by",
        "heard_at",
        "idle",
        "log",
        "parent",
        "path",
        "product",
        "resumed_at",
        "started_at",
        "version",
    )

    def __init__(self) -> None:
        self.product: str | None = None
        self.log: str | None = None
        self.parent: str | None = None
        self.depth: int | None = None
        self.path = False
        self.started_at: Millis | None = None
        self.heard_at = _NEVER
        self.idle = False
        self.ended_by: Ending | None = None
        self.ended_at = _NEVER
        self.resumed_at = _NEVER
        self.cwd: str | None = None
        self.version: str | None = None

    @property
    def is_session(self) -> bool:
        return self.product is not None and self.depth == 0 and not self.path

    @property
    def is_open(self) -> bool:
        """It has not ended, or goes on; and its turn is not over."""
        if self.product is None or self.idle:
            return False
        if self.ended_by is None:
            return True
        seen = self.resumed_at if self.ended_by is not Ending.GONE else max(self.resumed_at, self.heard_at)
        return seen > self.ended_at


def _is_here(event: Heard | Described | Ended | Resumed | Erred | Sighted) -> bool:
    """What another host tells of a session by the same id is about another one."""
    return not event.origin.host


def _shared(word: str | None) -> str | None:
    """The one copy of what many sessions have in common."""
    return word and intern(word)


def _told_of_sessions(ledger: Ledger, over: MutableSequence[int]) -> Iterator[Event]:
    """Of a whole ledger what tells of sessions, of those at work, and of who stands between them. Of those that are
    over, which are nearly all, only a digest is noted."""
    ids, shapes, by, parents = ledger.ids, ledger.starts.shape, ledger.ends.by, ledger.starts.parent
    wanted = dict[Handle, None]()
    for row, shape in enumerate(shapes[: len(ids)]):
        is_session = shape is not None and ledger.is_session(row)
        if not is_session and by[row] not in _GOING_ON and ledger.details(row).resumed_at is None:
            over.append(hash(ids[row]))
        elif shape is not None and shape.product is not None:
            above: Handle | None = row
            while above is not None and above not in wanted:
                wanted[above] = None
                above = ledger.find(parents[above] or "")
    for row in wanted:
        yield from _told_of(ledger, row)


def _told_of(ledger: Ledger, row: Handle) -> Iterator[Event]:
    """What of one is folded in here: to tell all of it again would take three times as long."""
    id, details, signs = ledger.ids[row], ledger.details(row), ledger.signs
    yield from ledger.starts.told(row, id)
    cwd, version = ledger.descriptions.word(row, "cwd"), ledger.descriptions.word(row, "version")
    if cwd or version:
        yield Described(id, None, NOWHERE, cwd=cwd, version=version)
    if details.sighted is not None:
        yield details.sighted
    if details.resumed_at is not None:
        yield Resumed(id, details.resumed_at, NOWHERE)
    yield Heard(id, known(signs.at[row]), NOWHERE, phase=PHASES[signs.phase[row]])
    yield from ledger.ends.told(row, id)
    yield from ledger.faults(row)


class OpenSessions:
    """Takes in the events of first-hand sources, and says who is at work."""

    def __init__(self, is_first_hand: Callable[[Origin], bool]) -> None:
        self._is_first_hand = is_first_hand
        self._rows: dict[str, _Row] = {}
        self._stirred: set[str] = set()
        """Those that may be at work: all of which something was told since they were last known not to be."""
        self._many = _MANY
        self._over = array("q")
        """Digests of all that were over in what was folded apart: others may tell of them before or after."""
        self._is_sorted = True

    def take(self, events: Sequence[Event | EventRun]) -> None:
        """Fold them in. Nothing is known of a delegation before its start was told."""
        if not self._rows and {each.product for each in events if type(each) is Started} <= {None}:
            return  # in logs of the delegation protocol nobody is a session
        last: dict[str, Heard] = {}
        for event in each_of(events):
            if type(event) is Heard:
                if event.at is not None and ((before := last.get(event.id)) is None or event.at >= (before.at or 0)):
                    last[event.id] = event
            elif isinstance(event, Started):
                if event.product is not None and self._is_first_hand(event.origin):
                    self._start(event)
            elif isinstance(event, _TELLING) and (row := self._rows.get(event.id)) is not None and _is_here(event):
                self._fold(row, event)
        for event in last.values():
            if event.at is not None and _is_here(event) and (row := self._rows.get(event.id)) is not None:
                self._hear(row, event.id, event.at, event.phase)

    def take_whole(self, ledger: Ledger) -> None:
        """Fold in what was folded apart."""
        told = [*_told_of_sessions(ledger, self._over)]
        self._is_sorted = False
        self.take(told)

    def _was_over(self, id: str) -> bool:
        """Whether its own log said so, while others, which know less of it, tell of its start."""
        if not self._is_sorted:
            self._over, self._is_sorted = array("q", sorted(self._over)), True
        digest = hash(id)
        at = bisect_left(self._over, digest)
        return at < len(self._over) and self._over[at] == digest

    def _hear(self, row: _Row, id: str, at: Millis, phase: Phase | None) -> None:
        self._stirred.add(id)
        if at >= row.heard_at:
            row.heard_at, row.idle = at, phase is Phase.IDLE

    def _fold(self, row: _Row, event: Described | Ended | Resumed | Erred | Sighted) -> None:
        self._stirred.add(event.id)
        if isinstance(event, Described):
            row.cwd, row.version = row.cwd or _shared(event.cwd), row.version or _shared(event.version)
        elif isinstance(event, Sighted):
            if event.at is not None:
                self._hear(row, event.id, event.at, event.phase)
        elif isinstance(event, Resumed):
            row.resumed_at = max(row.resumed_at, event.at)
        elif isinstance(event, Ended) or event.fault.recoverable is False:
            by = event.by if isinstance(event, Ended) else Ending.ERROR
            if (
                row.ended_by is None
                or row.resumed_at > row.ended_at
                or (by, event.at or 0)
                >= (
                    row.ended_by,
                    row.ended_at,
                )
            ):
                row.ended_by, row.ended_at = by, event.at or _NEVER

    def _start(self, event: Started) -> None:
        row = self._rows.get(event.id)
        if row is None:
            row = self._rows[event.id] = _Row()
        self._stirred.add(event.id)
        if len(self._stirred) > self._many:
            self._let_go({})
        row.product = row.product or event.product
        row.parent = row.parent or event.parent
        row.depth = event.depth if row.depth is None else row.depth
        row.path = row.path or bool(event.path)
        if not event.listed:
            row.log = row.log or event.origin.source
            if event.at is not None:
                row.started_at = min(row.started_at or event.at, event.at)
                row.heard_at = max(row.heard_at, event.at)

    def at_work(self) -> list[SessionFacts]:
        """The sessions that are at work, or in which somebody is."""
        members: dict[str, dict[str, Millis]] = {}
        self._let_go(members)
        return [found for id, those in members.items() if (found := self._facts(id, those)) is not None]

    def heard_at(self, id: str) -> Millis:
        """The last sign of life of one, by the clock of its log."""
        row = self._rows.get(id)
        return _NEVER if row is None else row.heard_at

    def neighbours(self, session: SessionFacts) -> list[Millis]:
        """When other sessions of its program in the same folder started."""
        return [
            row.started_at
            for id, row in self._rows.items()
            if row.is_session
            and row.started_at is not None
            and (row.product, row.cwd) == (session.product, session.cwd)
            and id != session.id
        ]

    def _let_go(self, members: dict[str, dict[str, Millis]]) -> None:
        """Find the session of each that is at work, and forget those that are not: there may be a million. Sessions
        stay, and who stands between one at work and its session."""
        stirred, between = self._stirred, set[str]()
        if self._over:
            self._end_over(stirred)
        self._stirred = {id for id in stirred if self._rows[id].is_open}
        for id in self._stirred:
            session = self._session(id, between)
            if session is not None:
                members.setdefault(session, {})[id] = self._rows[id].heard_at
        for id in stirred - self._stirred - between:
            if not self._rows[id].is_session:
                del self._rows[id]
        self._many = max(_MANY, 2 * len(self._stirred))
        if len(self._rows) > _MANY:
            self._forget_ended(self._stirred.union(between, members))

    def _end_over(self, stirred: Collection[str]) -> None:
        for id in stirred:
            row = self._rows[id]
            if row.is_open and row.ended_by is None and not row.is_session and self._was_over(id):
                row.ended_by, row.ended_at = Ending.RETURN, row.heard_at

    def _forget_ended(self, needed: Collection[str]) -> None:
        """Of very many sessions those that ended long ago are not asked about any more."""
        ended = [(row.heard_at, id) for id, row in self._rows.items() if row.ended_by is not None and id not in needed]
        for _, id in sorted(ended)[: len(self._rows) - _MANY // 2]:
            del self._rows[id]

    def _session(self, id: str, between: set[str]) -> str | None:
        """The session that one works in, which may be itself; those on the way there are added to `between`."""
        product = self._rows[id].product
        for _ in range(_ABOVE):
            row = self._rows.get(id)
            if row is None or row.product != product:
                return None
            if row.is_session:
                return id
            between.add(id)
            if row.parent is None:
                return None
            id = row.parent
        return None

    def _facts(self, id: str, members: dict[str, Millis]) -> SessionFacts | None:
        row = self._rows[id]
        heard = max(row.heard_at, *members.values())
        if row.product is None or row.log is None or (row.ended_by is Ending.GONE and heard <= row.ended_at):
            return None
        below = tuple(sorted((member, at) for member, at in members.items() if member != id))
        over = not row.idle and not row.is_open
        return SessionFacts(id, row.product, row.log, row.started_at, heard, row.cwd, row.version, below, over)
