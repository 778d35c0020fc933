"""What is on the board: the forest, the outline of rows, and how the operator wants to see them.

The board knows nothing of widgets. Events go in, the outline follows; pausing holds events back, and nothing else.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from delegtop.app.rows import SORTS, Rows
from delegtop.app.trouble import Trouble
from delegtop.clock import Clock
from delegtop.config import Settings
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.outline import Outline
from delegtop.model.query import parse

HELD = 500_000
"""Events held back by a pause before the reader is made to wait: the files keep the rest."""
RATES = 60
LANDMARKS = 200


class Board:
    """The state of the monitor. `structural` and `changed` say what the next frame must look at."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.clock = clock
        self.forest = Forest(settings.policy())
        self.outline = Outline()
        self.rows = Rows(self.forest, self.outline, ascii=settings.ascii)
        self.sort: str = settings.sort
        self.reversed = settings.reverse
        self.query = parse("")
        self.focus: Handle | None = None
        self.paused = False
        self.held = 0
        """Events waiting for the pause to end."""
        self.rates: deque[int] = deque([0] * RATES, RATES)
        """Events in each of the last seconds, newest last."""
        self._counted = 0
        self._held: list[Sequence[Event]] = []
        self._trouble = Trouble(self.forest)
        self._apply_sort()
        self.forest.advance(clock.now())

    # What arrives

    def receive(self, events: Sequence[Event]) -> bool:
        """Take a batch; True if rows came or moved."""
        self._counted += len(events)
        if self.paused:
            self._held.append(events)
            self.held += len(events)
            return False
        return self._apply(events)

    def _apply(self, events: Sequence[Event]) -> bool:
        change = self.forest.apply(events)
        later = self.forest.advance(self.clock.now())
        for handle in change.added:
            self.outline.add(handle, self.forest.parent(handle))
        for handle in change.moved:
            self.outline.move(handle, self.forest.parent(handle))
        self._touched(change.touched | later, moved=bool(change.moved))
        return bool(change.added or change.moved)

    def advance(self) -> None:
        """Let time pass, unless the picture is held still."""
        if not self.paused:
            self._touched(self.forest.advance(self.clock.now()))

    def second(self) -> None:
        """Close one second of the event rate."""
        self.rates.append(self._counted)
        self._counted = 0

    def _touched(self, handles: set[Handle], *, moved: bool = False) -> None:
        if not handles and not moved:
            return
        troubled = self._trouble.update(handles, moved)
        if self.query:
            self.outline.refilter(handles)
        self.outline.resort(handles | troubled if self.sort == "problems" else handles)

    @property
    def full(self) -> bool:
        """Has a pause held back so much that reading must wait?"""
        return self.held >= HELD

    def pause(self, paused: bool) -> bool:
        """Hold the picture still, or let everything that waited in; True if rows came or moved."""
        self.paused = paused
        if paused:
            return False
        held, self._held, self.held = self._held, [], 0
        structural = [self._apply(events) for events in held]
        self.advance()
        return any(structural)

    # How to look at it

    def filter(self, text: str) -> None:
        """Show only what matches; QueryError if `text` means nothing, and then nothing changes."""
        self.query = parse(text)
        self.outline.filter(self._matches if self.query else None)

    def _matches(self, handle: Handle) -> bool:
        return self.query.matches(self.forest, handle)

    def next_sort(self) -> None:
        self.sort_by(SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)])

    def sort_by(self, name: str) -> None:
        self.sort = name
        self._apply_sort()

    def reverse(self) -> None:
        self.reversed = not self.reversed
        self._apply_sort()

    def _apply_sort(self) -> None:
        key = self._by_trouble if self.sort == "problems" else self.rows.sort_key(self.sort)
        self.outline.sort(key, self.reversed)

    def _by_trouble(self, handle: Handle) -> tuple[object, ...]:
        return self._trouble.rank(handle), self.forest.birth(handle)

    def zoom(self, handle: Handle | None) -> None:
        self.focus = handle
        self.outline.focus(handle)

    @property
    def landmarks(self) -> Iterable[Handle]:
        """The problems, if they are few enough to be shown as places; more would be a wall."""
        problems = self._trouble.problems
        return problems if len(problems) <= LANDMARKS else ()

    def problem(self, cursor: Handle | None, step: int) -> Handle | None:
        """The next (or previous) problem in the order of the rows, folded ones too; it wraps round."""
        places = sorted(place for handle in self._trouble.problems if (place := self._place(handle)) is not None)
        if not places:
            return None
        here = self._place(cursor) if cursor is not None else None
        if here is None:
            return places[0 if step > 0 else -1][-1]
        if step > 0:
            return next((place for place in places if place > here), places[0])[-1]
        return next((place for place in reversed(places) if place < here), places[-1])[-1]

    def _place(self, handle: Handle) -> tuple[int, tuple[object, ...], Handle] | None:
        """Where it stands: its row, or its order within the fold it hides in. None if filter or focus leave it out."""
        row = self.outline.row_of(handle)
        if row is not None:
            return row, (), handle
        if self.query and not self._matches(handle):
            return None
        hidden: list[object] = [self.forest.birth(handle)]
        climber = self.forest.parent(handle)
        while climber is not None:
            row = self.outline.row_of(climber)
            if row is not None:
                return row, tuple(reversed(hidden)), handle
            hidden.append(self.forest.birth(climber))
            climber = self.forest.parent(climber)
        return None
