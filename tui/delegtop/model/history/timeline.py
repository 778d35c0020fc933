"""A recording: all that happened, by time, and the forest at any moment of it.

While it is studied, the forest is frozen every few thousand events and every problem is noted when it appears. To be
at a moment is then to thaw the forest before it and to apply what lies between, wherever in the recording it is; the
result is the same as that of folding everything up to the moment afresh.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from delegtop.base.clock import DAY, MINUTE, Millis, monotonic
from delegtop.base.origin import Origin
from delegtop.model.events import Event, Heard
from delegtop.model.forest import Checkpoint, Forest
from delegtop.model.history.chronicle import in_order
from delegtop.model.policy import Policy
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle

SPACING = 2_000
"""Events between two checkpoints, as long as memory allows."""
BUDGET = 256 * 1024 * 1024
"""About so many bytes checkpoints may take together; when they take more, every other one is given up."""
LOOKS = 2_000
"""A recording is looked at for problems about so many times; one of fewer events at each of them."""
_NONE = float("-inf")
_TURNS = 1_000
"""Moments between two events at which time alone changes something, at most."""


class Observer(Protocol):
    """Whoever knows what a problem is follows the forest while it is studied."""

    def look(self, touched: set[Handle], lives: set[Handle]) -> Iterable[Handle]:
        """Who became a problem since the last look."""

    def next_turn(self) -> Millis | None:
        """When to look again if nothing happens."""


class _Blind:
    """Sees no problem."""

    def __init__(self, _forest: Forest) -> None:
        """It looks at nothing."""

    def look(self, _touched: set[Handle], _lives: set[Handle]) -> Iterable[Handle]:
        return ()

    def next_turn(self) -> Millis | None:
        return None


class Timeline:
    """Events in order, and the way back. One thread studies and asks for forests; any may ask the rest."""

    def __init__(
        self,
        events: Sequence[Event],
        policy: Policy | None = None,
        *,
        until: Millis | None = None,
        end: Millis | None = None,
        spacing: int = SPACING,
        observe: "Callable[[Forest], Observer] | None" = None,
    ) -> None:
        """`until` is the moment of reading, after which nothing can have happened; `end`, if it is known that all went
        on until then whether or not something was told."""
        self._policy = policy or Policy()
        self._until, self._end = until, end
        self.events, self.times = in_order(events, until)
        self.first = Millis(self.times[0] if self.times else until or 0)
        self.last = Millis(self.times[-1] if self.times else self.first)
        """The last moment; once all is studied, also the last deadline that passes is in it."""
        self.problems: list[tuple[Millis, Handle]] = []
        """When a delegation became a problem, as far as the recording is studied."""
        self.studied = False
        self._spacing = spacing
        self._portion = max(1, min(len(self.events) // LOOKS, spacing))
        self._checkpoints: list[tuple[int, Checkpoint]] = []
        """The number of events applied, and the forest then."""
        self._fold = Forest(self._policy)
        self._folded = 0
        self._touched: set[Handle] = set()
        self._stirred: tuple[set[Handle], set[Handle]] = (set(), set())
        """What changed since the last look, and of whom more than what they do."""
        self._looked_at = Millis(0)
        self._observer = (observe or _Blind)(self._fold)

    def __len__(self) -> int:
        return len(self.events)

    # -- at a moment -----------------------------------------------------------------------------------------------

    def position(self, at: Millis) -> int:
        """How many events are known at that moment."""
        return bisect_right(self.times, at)

    def forest(self, at: Millis) -> Forest:
        """All as it was then."""
        count = self.position(at)
        number = bisect_right(self._checkpoints, count, key=lambda checkpoint: checkpoint[0]) - 1
        applied, forest = 0, None
        if number >= 0:
            applied, checkpoint = self._checkpoints[number]
            forest = checkpoint.thaw()
        forest = forest or Forest(self._policy)
        forest.apply(telling(self.events[applied:count]))
        forest.advance(at)
        return forest

    # -- steps -----------------------------------------------------------------------------------------------------

    def next_event(self, at: Millis) -> Millis | None:
        """The moment of the first event after that one."""
        index = bisect_right(self.times, at)
        return Millis(self.times[index]) if index < len(self.times) else None

    def previous_event(self, at: Millis) -> Millis | None:
        index = bisect_left(self.times, at)
        return Millis(self.times[index - 1]) if index else None

    def next_problem(self, at: Millis) -> tuple[Millis, Handle] | None:
        """The first problem that appears after that moment, and when."""
        index = bisect_right(self.problems, at, key=lambda problem: problem[0])
        return self.problems[index] if index < len(self.problems) else None

    def previous_problem(self, at: Millis) -> tuple[Millis, Handle] | None:
        index = bisect_left(self.problems, at, key=lambda problem: problem[0])
        return self.problems[index - 1] if index else None

    def id(self, handle: Handle) -> str:
        """Whom a problem is about."""
        return self._fold.id(handle)

    # -- studying --------------------------------------------------------------------------------------------------

    def study(self, seconds: float) -> bool:
        """Go on for about that long; True once all is studied."""
        limit = monotonic() + seconds
        while not self.studied and monotonic() < limit:
            if self._folded < len(self.events):
                self._study_portion()
            else:
                self._study_end()
        return self.studied

    @property
    def share(self) -> float:
        """How much is studied."""
        return 1.0 if self.studied else self._folded / max(len(self.events), 1)

    def _study_portion(self) -> None:
        begin, times = self._folded, self.times
        last = times[min(begin + self._portion, len(times)) - 1]
        end = bisect_right(times, last, lo=begin)  # a moment is never torn apart
        batch = self.events[begin:end]
        self._look(Millis(times[begin] - 1))
        change = self._fold.apply(batch)
        self._touched |= change.touched
        self._stirred = change.touched, change.lives
        self._looked_at = Millis(times[begin] - 1)
        self._look_at(Millis(last))
        self._folded = end
        if end - (self._checkpoints[-1][0] if self._checkpoints else 0) >= self._spacing:
            self._keep()

    def _study_end(self) -> None:
        """Let the deadlines pass that nobody met: that is what an operator would have seen next."""
        forest = self._fold
        active = (handle for handle in range(len(forest)) if forest.state(handle) in ACTIVE)
        limits = ((forest.word_of(each), forest.deadline(each)) for each in active)
        firm = (limit.at + host.offset for host, limit in limits if limit is not None and limit.is_firm)
        met_by_nobody = min(max((at + 1 for at in firm), default=self.last), self.last + DAY)
        end = met_by_nobody if self._until is None else min(met_by_nobody, self._until)
        self.last = Millis(max(self.last, end if self._end is None else self._end))
        self._look(self.last)
        self.studied = True

    def _look(self, at: Millis) -> None:
        """Let time pass up to that moment, and note every problem when it appears."""
        forest = self._fold
        for _ in range(_TURNS):
            turn = min(
                (turn for turn in (forest.next_turn(), self._observer.next_turn()) if turn is not None), default=at
            )
            if turn >= at or turn <= forest.shown_at:
                break
            self._look_at(turn)
        if at >= forest.shown_at:
            self._look_at(at)

    def _look_at(self, at: Millis) -> None:
        lives = self._fold.advance(at)
        touched, self._stirred = self._stirred, (set(), set())
        self._touched |= lives
        for handle in self._observer.look(touched[0], touched[1] | lives):
            insort(self.problems, (self._appeared(handle, at), handle))

    def _appeared(self, handle: Handle, at: Millis) -> Millis:
        """When it did: not before the look that found it, but for an end, whose moment is told."""
        own = self._fold.times(handle)[2]
        ended = None if own is None else own + self._fold.word_of(handle).offset
        return Millis(ended) if ended is not None and self._looked_at < ended <= at else at

    def _keep(self) -> None:
        before = self._checkpoints[-1][1] if self._checkpoints else None
        self._checkpoints.append((self._folded, self._fold.freeze(before, self._touched)))
        self._touched = set()
        if sum(checkpoint.spent for _, checkpoint in self._checkpoints) > BUDGET:
            del self._checkpoints[-2::-2]
            self._spacing *= 2


def telling(events: Sequence[Event]) -> list[Event]:
    """The events, in order, without the signs of life that no trace is left of once the later ones are known.

    Of each delegation the first is kept, for it may be how it became known, and the last; and whatever counts more
    tokens or dollars than all later ones, or is the only one of its host in its minute.
    """
    kept: list[Event] = []
    first = {(event.origin.host, event.id): event for event in reversed(events) if isinstance(event, Heard)}
    told: dict[tuple[str, str], _Most] = {}
    minutes: set[tuple[str, int]] = set()
    for event in reversed(events):
        if isinstance(event, Heard) and event.at is not None:
            host = event.origin.host
            about, minute = (host, event.id), (host, event.at // MINUTE)
            known = told.get(about)
            more = _more(event, known)
            if more == known and minute in minutes and event is not first[about]:
                continue
            told[about] = more
            minutes.add(minute)
        kept.append(event)
    kept.reverse()
    return kept


_Most = tuple[float, float, int, tuple[int, Origin]]


def _more(event: Heard, known: _Most | None) -> _Most:
    """The most tokens, the most dollars, the most of all kinds of tokens and the latest record, with this one."""
    tokens = _NONE if event.tokens is None else event.tokens
    cost = _NONE if event.cost is None else event.cost
    used = 0 if event.used is None else sum(sum(each.counts) for each in event.used)
    last = (event.at or 0, event.origin)
    if known is None:
        return tokens, cost, used, last
    return max(tokens, known[0]), max(cost, known[1]), max(used, known[2]), max(last, known[3])
