"""What is on the board: the forest, the outline of rows, and how the operator wants to see them.

The board knows nothing of widgets. Events go in, the outline follows.
"""

from collections.abc import Callable, Iterable, Sequence

from delegtop.app.memory import Memory
from delegtop.app.rows import SORTS, Rows
from delegtop.app.sieve import Sieve
from delegtop.app.trouble import Trouble
from delegtop.app.verdicts import Verdicts
from delegtop.clock import Clock, Millis
from delegtop.config import Settings
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.outline import Outline
from delegtop.model.policy import Policy
from delegtop.model.query import parse

LANDMARKS = 200
MANY = 1_000
AROUND, WINDOW = 20_000, 100


class Board:
    """What the monitor shows, and how."""

    def __init__(self, settings: Settings, clock: Clock, policy: Policy | None = None) -> None:
        self.clock = clock
        self.forest = Forest(policy or settings.policy())
        self.outline = Outline()
        self.verdicts = Verdicts(self.forest)
        self.rows = Rows(self.forest, self.outline, self.verdicts, ascii=settings.ascii, masked=settings.mask_secrets)
        self.sort: str = settings.sort
        self.reversed = settings.reverse
        self.query = parse("")
        """The filter in force."""
        self.sieve: Sieve | None = None
        """The filter that is being applied."""
        self.focus: Handle | None = None
        self.paused = False
        self.moment: Millis | None = None
        """The moment in the past that is shown; None for the present."""
        self.moved_house: Callable[[Forest, Forest], None] = lambda _before, _now: None
        """Told the forest before and now when delegations got other handles or are not there any more."""
        self._present: Forest | None = None
        self._memory = Memory()
        self._added: list[Handle] = []
        self._moved: set[Handle] = set()
        self._changed: set[Handle] = set()
        self.changes: set[Handle] | None = None
        """What changed in the present, gathered for whoever tells of it; None if nobody does."""
        self.loading = True
        """Until `loaded` is called the past is still being read."""
        self._trouble = Trouble(self.forest)
        self._apply_sort()
        self.forest.advance(clock.now())

    @property
    def now(self) -> Millis:
        """The moment that is shown."""
        return self.clock.now() if self.moment is None else self.moment

    # What arrives

    def reach(self, at: Millis | None) -> None:
        """All that was received is what was known then; None is the present, which was kept as it was left."""
        if at is None and self._present is not None:
            present, self._present = self._present, None
            self._replace(present)
        self.moment = at
        if at is not None:
            self._changed |= self.forest.advance(at)

    def leap(self, forest: Forest) -> None:
        """Show another moment of the past. The present is kept until it is asked for again."""
        self.refresh()
        if self.moment is None:
            self._present = self.forest.leave()
        self._replace(forest)

    def _replace(self, forest: Forest) -> None:
        """Look at other trees with the same eyes: folds, focus, filter and order stay."""
        before = self.forest.leave()
        self._added, self._moved, self._changed = [], set(), set()
        self._memory.keep(before, self.outline, self.focus)
        self.forest.become(forest)
        self.outline.replant(self.forest.parents(), self._memory.folded(self.forest))
        self._focus(self._memory.focused(self.forest))
        self.verdicts.forget()
        self._trouble.begin_again()
        self._apply_sort()
        if self.sieve is not None:
            self.filter(self.sieve.query.text)
        self.moved_house(before, self.forest)

    def _settle_in(self, added: Iterable[Handle]) -> None:
        """New rows. Some may have been there before the operator went back: they are as they were."""
        folds = self._memory.folds
        for handle in added:
            folded = bool(folds) and self.forest.id(handle) in folds
            self.outline.add(handle, self.forest.parent(handle), folded=folded)
        if self.focus is None and (focus := self._memory.focused(self.forest)) is not None:
            self._focus(focus)

    def receive(self, events: Sequence[Event]) -> None:
        """Take in events; they show with the next `refresh`."""
        change = self.forest.apply(events)
        self._added += change.added
        self._moved.update(change.moved)
        self._changed |= change.touched

    def refresh(self) -> bool:
        """Bring states and rows up to everything received; True if rows came or moved.

        Judging a delegation costs more than folding an event, and many events touch one: so not with each of them.
        """
        if not (self._added or self._moved or self._changed):
            return False
        added, moved, changed = self._added, self._moved, self._changed
        self._added, self._moved, self._changed = [], set(), set()
        changed |= self.forest.advance(self.now)
        self._settle_in(added)
        for handle in moved.difference(added):
            self.outline.move(handle, self.forest.parent(handle))
        self._touched(changed, moved=bool(moved))
        return bool(added or moved)

    def advance(self) -> None:
        """Let time pass, unless the picture is held still."""
        if self.paused:
            return
        self._changed |= self.forest.advance(self.now)
        self.refresh()
        if self.sort == "problems" and not self.loading:
            self.outline.resort(self._trouble.settle())

    def _touched(self, handles: set[Handle], *, moved: bool = False) -> None:
        if self.changes is not None and self.moment is None:
            self.changes |= handles
        troubled = self._trouble.update(handles, moved)
        if self.query:
            self.outline.refilter(handles)
        self.outline.resort(handles | troubled)

    # How to look at it

    def filter(self, text: str) -> None:
        """Begin to show only what matches; QueryError if `text` means nothing, and then nothing changes.

        It is in force once `sift` has gone through everything.
        """
        self.sieve = Sieve(parse(text), self.forest)

    def sift(self, seconds: float) -> bool:
        """Go on with the filter for about that long; True once it is in force."""
        sieve = self.sieve
        if sieve is None or (sieve.query and not sieve.sift(seconds)):
            return sieve is None
        self.sieve, self.query = None, sieve.query
        self.outline.filter(sieve if sieve.query else None)
        sieve.forget()
        return True

    def next_sort(self) -> None:
        self.sort_by(SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)])

    def sort_by(self, name: str) -> None:
        self.sort = name
        self._apply_sort()

    def reverse(self) -> None:
        self.reversed = not self.reversed
        self._apply_sort()

    def loaded(self) -> None:
        """Everything that was there at the start has been received."""
        self.refresh()
        self.loading = False
        self._apply_sort()

    def _apply_sort(self) -> None:
        if self.loading and self.sort == "problems":
            # Problems come and go while the past is read: what counts is the order at the end of it.
            self.outline.sort(None)
            return
        self._trouble.rank_subtrees(self.sort == "problems")
        key = self._by_trouble if self.sort == "problems" else self.rows.sort_key(self.sort)
        self.outline.sort(key, self.reversed)

    def _by_trouble(self, handle: Handle) -> tuple[object, ...]:
        """The worst first; among trees that are equally bad the newest, among siblings the first."""
        unknown, start, id = self.forest.birth(handle)
        newest_first = self.forest.parent(handle) is None
        return self._trouble.rank(handle), unknown, -start if newest_first else start, id

    def zoom(self, handle: Handle | None) -> None:
        self._memory.focus = None
        self._focus(handle)

    def _focus(self, handle: Handle | None) -> None:
        self.focus = handle
        self.outline.focus(handle)

    def show_row(self, handle: Handle) -> None:
        """Give it a row: fold nothing over it, and lift the focus and the filter if they leave it out."""
        self.outline.reveal(handle)
        if self.outline.row_of(handle) is None and self.focus is not None:
            self.zoom(None)
            self.outline.reveal(handle)
        if self.outline.row_of(handle) is None and self.query:
            self.query, self.sieve = parse(""), None
            self.outline.filter(None)
            self.outline.reveal(handle)

    @property
    def landmarks(self) -> Iterable[Handle]:
        """The problems, if they are few enough to be shown as places; more would be a wall."""
        problems = self._trouble.problems
        return problems if len(problems) <= LANDMARKS else ()

    def problem(self, cursor: Handle | None, step: int) -> Handle | None:
        """The next (or previous) problem in the order of the rows, folded ones too; it wraps round."""
        if len(self._trouble.problems) > MANY and (near := self._nearest(cursor, step)) is not None:
            return near
        places = sorted(place for handle in self._trouble.problems if (place := self._place(handle)) is not None)
        if not places:
            return None
        here = self._place(cursor) if cursor is not None else None
        if here is None:
            return places[0 if step > 0 else -1][-1]
        if step > 0:
            return next((place for place in places if place > here), places[0])[-1]
        return next((place for place in reversed(places) if place < here), places[-1])[-1]

    def _nearest(self, cursor: Handle | None, step: int) -> Handle | None:
        """Among very many problems one is near: look at the rows around rather than for all of them."""
        here = self.outline.row_of(cursor) if cursor is not None else None
        row = (-1 if step > 0 else len(self.outline)) if here is None else here
        for _ in range(AROUND // WINDOW):
            top = row + 1 if step > 0 else max(row - WINDOW, 0)
            rows = self.outline.window(top, WINDOW if step > 0 else row - top)
            for shown in rows if step > 0 else reversed(rows):
                if shown.handle in self._trouble.problems:
                    return shown.handle
            row = top + len(rows) - 1 if step > 0 else top
            if not rows:
                return None
        return None

    def _place(self, handle: Handle) -> tuple[int, tuple[object, ...], Handle] | None:
        """Where it stands: its row, or its order within the fold it hides in. None if filter or focus leave it out."""
        row = self.outline.row_of(handle)
        if row is not None:
            return row, (), handle
        if self.query and not self.query.matches(self.forest, handle):
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
