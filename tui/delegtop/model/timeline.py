"""A recording: all that happened, by time, and the forest at any moment of it.

While it is studied, the forest is frozen every few thousand events and every problem is noted when it appears. To be
at a moment is then to thaw the forest before it and to apply what lies between, wherever in the recording it is; the
result is the same as that of folding everything up to the moment afresh.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import TypeGuard

from delegtop.clock import DAY, MINUTE, Millis, monotonic
from delegtop.model.chronicle import in_order
from delegtop.model.delegation import ACTIVE, PROBLEMS, State
from delegtop.model.events import Event, Heard, Noted, Sighted
from delegtop.model.forest import Checkpoint, Forest
from delegtop.model.ledger import Handle
from delegtop.model.notes import REVIEW
from delegtop.model.phases import FOR_PEOPLE
from delegtop.model.policy import Policy
from delegtop.origin import Origin

SPACING = 2_000
"""Events between two checkpoints, as long as memory allows."""
BUDGET = 256 * 1024 * 1024
"""About so many bytes checkpoints may take together; when they take more, every other one is given up."""
LOOKS = 2_000
"""A recording is looked at for problems about so many times; one of fewer events at each of them."""
_NONE = float("-inf")


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
        self._troubled: set[Handle] = set()
        self._asking: set[Handle] = set()

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
        self._touched |= self._fold.apply(batch).touched
        self._look(Millis(last))
        self._look_for_people(batch, Millis(last))
        self._folded = end
        if end - (self._checkpoints[-1][0] if self._checkpoints else 0) >= self._spacing:
            self._keep()

    def _study_end(self) -> None:
        """Let the deadlines pass that nobody met: that is what an operator would have seen next."""
        forest = self._fold
        active = (handle for handle in range(len(forest)) if forest.state(handle) in ACTIVE)
        firm = (limit.at for handle in active if (limit := forest.deadline(handle)) and limit.is_firm)
        met_by_nobody = min(max((at + 1 for at in firm), default=self.last), self.last + DAY)
        end = met_by_nobody if self._until is None else min(met_by_nobody, self._until)
        self.last = Millis(max(self.last, end if self._end is None else self._end))
        self._look(self.last)
        self.studied = True

    def _look(self, at: Millis) -> None:
        """Note every problem that appeared since the last look."""
        forest, since = self._fold, self._fold.now
        if at < since:
            return
        changed = forest.advance(at)
        self._touched |= changed
        for handle in changed:
            if forest.state(handle) in PROBLEMS:
                self._note(handle, self._appeared(handle, since, at))
            elif handle not in self._asking:
                self._troubled.discard(handle)

    def _look_for_people(self, batch: Sequence[Event], at: Millis) -> None:
        """Note who needs a person: it is not a state, and ends when something else is heard."""
        forest = self._fold
        asked = {found: event.at for event in batch if _asks(event) and (found := forest.find(event.id)) is not None}
        for handle in self._asking.union(asked):
            if forest.needs_review(handle) or forest.awaits_person(handle):
                self._asking.add(handle)
                self._note(handle, min(asked.get(handle) or at, at))
                continue
            self._asking.discard(handle)
            if forest.state(handle) not in PROBLEMS:
                self._troubled.discard(handle)

    def _appeared(self, handle: Handle, since: Millis, at: Millis) -> Millis:
        """When it did, as exactly as the facts tell."""
        forest = self._fold
        deadline = forest.deadline(handle)
        if forest.state(handle) is State.OVERDUE and deadline is not None:
            told: int | None = deadline.at + 1
        else:
            told = forest.delegation(handle).ended_at
        return Millis(told) if told is not None and since < told <= at else at

    def _note(self, handle: Handle, at: Millis) -> None:
        if handle not in self._troubled:
            self._troubled.add(handle)
            insort(self.problems, (at, handle))

    def _keep(self) -> None:
        before = self._checkpoints[-1][1] if self._checkpoints else None
        self._checkpoints.append((self._folded, self._fold.freeze(before, self._touched)))
        self._touched = set()
        if sum(checkpoint.spent for _, checkpoint in self._checkpoints) > BUDGET:
            del self._checkpoints[-2::-2]
            self._spacing *= 2


def _asks(event: Event) -> TypeGuard[Heard | Sighted | Noted]:
    if isinstance(event, Heard | Sighted):
        return event.phase in FOR_PEOPLE
    return isinstance(event, Noted) and event.kind == REVIEW


def telling(events: Sequence[Event]) -> list[Event]:
    """The events, in order, without the signs of life that no trace is left of once the later ones are known.

    Of each delegation the first is kept, for it may be how it became known, and the last; and whatever counts more
    tokens or dollars than all later ones, or is the only one in its minute.
    """
    kept: list[Event] = []
    first = {event.id: event for event in reversed(events) if isinstance(event, Heard)}
    told: dict[str, tuple[float, float, tuple[int, Origin]]] = {}
    minutes: set[int] = set()
    for event in reversed(events):
        if isinstance(event, Heard) and event.at is not None:
            known, minute = told.get(event.id), event.at // MINUTE
            more = _more(event, known)
            if more == known and minute in minutes and event is not first[event.id]:
                continue
            told[event.id] = more
            minutes.add(minute)
        kept.append(event)
    kept.reverse()
    return kept


def _more(
    event: Heard, known: tuple[float, float, tuple[int, Origin]] | None
) -> tuple[float, float, tuple[int, Origin]]:
    """The most tokens, the most dollars and the latest record, with this one."""
    tokens = _NONE if event.tokens is None else event.tokens
    cost = _NONE if event.cost is None else event.cost
    last = (event.at or 0, event.origin)
    return (max(tokens, known[0]), max(cost, known[1]), max(last, known[2])) if known else (tokens, cost, last)
