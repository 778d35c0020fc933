"""What is on the board: the forest, what is the matter in it, the rows, and how the operator wants to see them.

The board knows nothing of widgets. Events go in, assessments and the outline follow.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from delegtop.app import cell_width
from delegtop.app.state.board_signal import Signal
from delegtop.app.state.finished_rows import FinishedRows
from delegtop.app.state.fold_memory import FoldMemory
from delegtop.app.state.incremental_filter import IncrementalFilter
from delegtop.app.state.problem_marks import Marks
from delegtop.app.state.row_remarks import Remarks
from delegtop.app.state.seen_to import SeenTo
from delegtop.app.state.shown_trees import Showing
from delegtop.app.state.table_rows import TableRows
from delegtop.base.clock import SECOND, Clock, Millis, StepWatch, WallClock, monotonic, slept
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import Event
from delegtop.model.forest import Change, Forest
from delegtop.model.policy import Policy
from delegtop.model.query import parse
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.tree.order import order
from delegtop.model.tree.order_names import ORDERS, PROBLEMS
from delegtop.model.tree.outline import Outline
from delegtop.report.table.cells import Table
from delegtop.report.table.columns import chosen
from delegtop.report.table.drawing import drawing
from delegtop.settings import Settings

LANDMARKS = 200
_AT_ONCE, _TO_BEGIN_WITH = 0.004, 0.05
"""Seconds for judging what changed within the same frame, where many follow each other, and for the first look at all
of it."""
_MANY, _STEP = 8_000, 500
"""Delegations that wait at most for their states and rows where much arrives, and those that get rows in one step."""
_FIRST_ROWS = 2_000
"""So many come at once while the past is read. The others wait until all is read if nobody is at the keys: to make them
one by one takes five times as long."""


class Board:
    """What the monitor shows, and how."""

    def __init__(self, settings: Settings, clock: Clock, policy: Policy | None = None) -> None:
        self.clock = clock
        self.forest = Forest(policy or settings.policy())
        self.outline = Outline()
        self.assessments = Assessments(self.forest)
        self.pressing = Pressing(self.assessments)
        self.remarks = Remarks(self.assessments)
        self.seen_to = SeenTo(self.assessments, Marks())
        self.table = Table(
            self.assessments,
            self.pressing,
            drawing(ascii=settings.ascii),
            cell_width,
            masked=settings.mask_secrets,
            remarks=self.remarks,
            seen=self.seen_to,
        )
        self.rows = TableRows(self.table, self.outline, chosen(settings.columns))
        self.showing = Showing(self.forest, self.outline, self.pressing)
        self.sort: str = settings.sort
        self.rows.sorted_by = settings.sort
        self.reversed = settings.reverse
        self.query = parse("")
        """The filter in force."""
        self.sieve: IncrementalFilter | None = None
        """The filter that is being applied."""
        self.only_open = False
        """Whether only what is open is shown."""
        self.by_host = False
        """Whether what is on one host stands together."""
        self.focus: Handle | None = None
        self.paused = False
        self.moment: Millis | None = None
        """The moment in the past that is shown; None for the present."""
        self.forest_replaced: Signal[[Forest, Forest]] = Signal()
        """Tells the forest before and now when delegations got other handles or are not there any more."""
        self.renumbered: Signal[[Forest]] = Signal()
        """Tells the forest before when delegations of the present got other handles."""
        self.finished = FinishedRows(self.assessments, clock.now())
        self._present: Forest | None = None
        self._memory = FoldMemory()
        self._added: list[Handle] = []
        self._moved: set[Handle] = set()
        self._touched: set[Handle] = set()
        self._lives: set[Handle] = set()
        self._under_way: Iterator[bool] | None = None  # a refresh of which a part is done
        self.news: tuple[set[Handle], set[Handle]] | None = None
        """What changed in the present, and what is assessed otherwise, gathered for whoever tells of it; None if nobody
        does."""
        self.loading = True
        """Until `loaded` is called the past is still being read."""
        self.is_watched = True
        """Whether somebody may want to see all rows as they are now."""
        self._have_waited = False
        self.is_judged = False
        """Whether all that was there at the start has been assessed."""
        self._at_once = _AT_ONCE
        """Seconds for judging what changed within the same frame. What is left then is judged after it, and drawn once
        more."""
        self._steps = StepWatch(self.clock) if isinstance(self.clock, WallClock) else None
        self._apply_sort()
        self.forest.advance(self.now)

    @property
    def now(self) -> Millis:
        """The moment that is shown: the present by whole seconds, so that all that is said within one is said alike."""
        return Millis(self.clock.now() // SECOND * SECOND) if self.moment is None else self.moment

    # What arrives

    def reach(self, at: Millis | None) -> None:
        """All that was received is what was known then; None is the present, which was kept as it was left."""
        if at is None and self._present is not None:
            present, self._present = self._present, None
            self._replace(present)
        self.moment = at
        if at is not None:
            self._lives |= self.forest.advance(at)

    def leap(self, forest: Forest) -> None:
        """Show another moment of the past. The present is kept until it is asked for again."""
        self.refresh()
        if self.moment is None:
            self._present = self.forest.leave()
        self._replace(forest)

    def _replace(self, forest: Forest) -> None:
        """Look at other trees with the same eyes: folds, focus, filter and order stay."""
        self.finished.cancel()
        before = self._become(forest)
        self._begin_to_judge()
        self._tell_replaced(before)

    def _become(self, forest: Forest) -> Forest:
        """Take over everything of that one; what was there before."""
        before = self.forest.leave()
        self._forget_changes()
        self._memory.keep(before, self.outline, self.focus)
        self.forest.become(forest)
        self._plant()
        return before

    def _forget_changes(self) -> None:
        """All rows are made anew."""
        self._under_way, self._have_waited = None, False
        self._added, self._moved, self._touched, self._lives = [], set(), set(), set()

    def _plant(self) -> None:
        """Rows for all there are, folded as they were."""
        self.outline.replant(self.forest.parents(), self._memory.folded(self.forest))
        self._focus(self._memory.focused(self.forest))

    def _tell_replaced(self, before: Forest) -> None:
        if self.sieve is not None:
            self.filter(self.sieve.query.text)
        self.forest_replaced.publish(before, self.forest)

    def _shorten(self) -> None:
        """Now and then leave out what is long over, so that a year of it takes no more room than a day."""
        if self.loading or self.moment is not None or self.sieve is not None:
            return
        untold = () if self.news is None else self.news[0].union(self.news[1])
        shorter = self.finished.second(untold)
        if shorter is None:
            return
        judged = self.assessments.judged()
        before = self._become(shorter)
        self._memory.folds.clear()
        self.assessments.renumber(before, judged)
        self._settle_judged()
        if self.news is not None:
            changed, assessed = (
                {new for old in handles if (new := self.forest.same(before, old)) is not None} for handles in self.news
            )
            self.news = changed, assessed
        self.renumbered.publish(before)
        self._tell_replaced(before)
        before.become(Forest(before.policy))  # by hand: else all of it may lie there until circles are looked for

    def show_finished(self, id: str | None = None) -> bool:
        """Give rows again to what is over: to the tree of that one, or to the newest; False if there is none."""
        told = self.finished.more() if id is None else self.finished.of(id)
        self.receive(told)
        self.refresh()
        return bool(told)

    def _begin_to_judge(self) -> None:
        """All is new: assess what matters most at once, and the rest between the frames."""
        self.assessments.begin_again()
        self.rows.forget()
        self.assessments.update(_TO_BEGIN_WITH)
        self._settle_judged()

    def _settle_judged(self) -> None:
        """What presses, what is shown, and in which order, by the assessments as they are."""
        self.remarks.forget()
        self.pressing.begin_again()
        self.showing.begin_again()
        self._apply_sort()

    def _settle_in(self, added: Sequence[Handle]) -> None:
        """New rows. Some may have been there before the operator went back: they are as they were."""
        folds = self._memory.folds
        if not folds:
            self.outline.add_all(added, self.forest.parents_of(added))
        for handle in added if folds else ():
            self.outline.add(handle, self.forest.parent(handle), folded=self.forest.full_id(handle) in folds)
        if self.focus is None and (focus := self._memory.focused(self.forest)) is not None:
            self._focus(focus)

    def receive(self, events: Sequence[Event]) -> None:
        """Take in events; they show with the next `refresh`."""
        self._take_in(self.forest.apply(events))

    def absorb(self, told: Ledger) -> None:
        """The same of all that a ledger knows."""
        self._take_in(self.forest.absorb(told))

    def _take_in(self, change: Change) -> None:
        self.finished.follow(change)
        self._added += change.added
        self._moved.update(change.moved)
        if self._rows_wait:
            self._have_waited = True
            return
        self._touched |= change.touched
        self._lives |= change.lives

    @property
    def _rows_wait(self) -> bool:
        """Whether there are rows enough for now. What they are filtered by is known only as they come."""
        if self.is_watched or not self.loading or self.moment is not None:
            return False
        return not (self.query or self.only_open) and self.sieve is None and len(self.outline) >= _FIRST_ROWS

    @property
    def lags(self) -> bool:
        """Whether so many wait for their states and rows that they come before whatever else there is to receive."""
        if self._under_way is not None or self._rows_wait:
            return self._under_way is not None
        return len(self._touched) + len(self._added) > _MANY

    def refresh(self, seconds: float = inf) -> bool:
        """Bring states and rows up to everything received, for about that long; True if rows came or moved.

        To look at a delegation costs more than folding an event, and many events touch one: so not with each of them.
        """
        moved, until = False, monotonic() + seconds
        while self._under_way is not None or self._added or self._moved or self._touched or self._lives:
            if self._under_way is None and self._rows_wait:
                break
            if self._under_way is None:
                self._under_way = self._bring_up()
            for came in self._under_way:
                moved |= came
                if monotonic() > until:
                    return moved
            self._under_way = None
        return moved

    def _bring_up(self) -> Iterator[bool]:
        """All of it in steps; each tells whether rows came or moved."""
        added, moved, have_waited = self._added, self._moved, self._have_waited
        touched, lives = self._touched, self._lives.union(added, self._pass_time())
        self._added, self._moved, self._touched, self._lives = [], set(), set(), set()
        self._have_waited = False
        yield False
        for first in range(0, len(added), _STEP):
            self._settle_in(added[first : first + _STEP])
            yield True
        for handle in moved.difference(added):
            self.outline.move(handle, self.forest.parent(handle))
        self._look_at(touched | lives)
        if have_waited:  # nobody noted who changed meanwhile
            self._apply_sort()
        if not self.loading:
            self.assessments.touch(touched, lives)
            self.judge(self._at_once, moved=bool(moved))
        yield bool(moved)

    def broaden(self, breadth: float) -> None:
        """Frames come so many times less often than usual: more may be judged within each."""
        self._at_once = _AT_ONCE * breadth

    def advance(self) -> None:
        """Let time pass, unless the picture is held still."""
        if not self.paused:
            self._lives |= self._pass_time()
            self.refresh(self._at_once if self.loading else inf)  # very many rows may have waited
            if not self.loading:
                self.judge(self._at_once)
            self._shorten()

    def _pass_time(self) -> set[Handle]:
        if self._steps is not None and self.moment is None and (step := self._steps.step()) is not None:
            self.forest.step(step)
        if self._steps is not None and self.moment is None:
            self.forest.heed_kernel(slept())
        return self.forest.advance(self.now)

    def _look_at(self, handles: set[Handle]) -> None:
        """These changed: who is told of it, whether they are shown, and where."""
        if self.news is not None and self.moment is None:
            self.news[0].update(handles)
        self.outline.refilter(handles)
        self.outline.resort(handles)

    def judge(self, seconds: float, *, moved: bool = False) -> bool:
        """Assess for about that long what has changed; True if something is assessed otherwise now."""
        assessed = self.assessments.update(seconds)
        self.is_judged = self.is_judged or not (self.loading or self.assessments.waiting)
        if not (assessed or moved):
            return False
        if self.news is not None and self.moment is None:
            self.news[1].update(assessed)
        others = self.pressing.update(assessed, moved=moved) | assessed
        self.showing.follow(others)
        if self.sort == PROBLEMS:
            self.outline.resort(others)
        return True

    # How to look at it

    def filter(self, text: str) -> None:
        """Begin to show only what matches; QueryError if `text` means nothing, and then nothing changes.

        It is in force once `sift` has gone through everything.
        """
        self.sieve = IncrementalFilter(parse(text), self.forest, only_open=self.only_open)

    def show_open(self, only: bool) -> None:
        """Begin to show only what is open, or all; likewise."""
        self.only_open = only
        self.filter(self.query.text if self.sieve is None else self.sieve.query.text)

    def sift(self, seconds: float) -> bool:
        """Go on with the filter for about that long; True once it is in force."""
        sieve = self.sieve
        if sieve is None or (sieve and not sieve.sift(seconds)):
            return sieve is None
        self.sieve, self.query = None, sieve.query
        self.outline.filter(sieve if sieve else None, unfolds=bool(sieve.query))
        self.showing.searched(bool(sieve.query))
        sieve.forget()
        return True

    def show_earlier(self, shown: bool) -> None:
        """Earlier troubles too, or in a line."""
        self.showing.earlier_shown = shown

    def next_sort(self) -> None:
        names = list(ORDERS)
        self.sort_by(names[(names.index(self.sort) + 1) % len(names)])

    def sort_by(self, name: str, *, reverse: bool = False) -> None:
        """Each order begins with what one looks for by it."""
        self.sort, self.reversed = name, reverse
        self.rows.sorted_by = name
        self._apply_sort()

    def reverse(self) -> None:
        self.sort_by(self.sort, reverse=not self.reversed)

    def loaded(self) -> None:
        """Everything that was there at the start has been received."""
        if self._have_waited or self._rows_wait:
            self._pass_time()
            self._forget_changes()
            self._memory.keep(self.forest, self.outline, self.focus)
            self._plant()
        self.refresh()
        self.loading = False
        self.finished.begin()
        self._begin_to_judge()

    def _apply_sort(self) -> None:
        if self.loading and self.sort == PROBLEMS:
            # Problems come and go while the past is read: what counts is the order at the end of it.
            self.outline.sort(None)
            return
        key = order(self.forest, self.sort, reverse=self.reversed, pressing=self.pressing.key)
        self.outline.sort((lambda handle: (self.forest.host_of(handle), key(handle))) if self.by_host else key)

    def group_by_host(self, wanted: bool) -> None:
        self.by_host = wanted
        self._apply_sort()

    def zoom(self, handle: Handle | None) -> None:
        self._memory.focus = None
        self._focus(handle)

    def _focus(self, handle: Handle | None) -> None:
        self.focus = handle
        self.outline.focus(handle)

    def show_row(self, handle: Handle) -> None:
        """Give it a row: fold nothing over it, and lift whatever leaves it out."""
        if handle not in self.outline:
            self.is_watched = True
            self.refresh()
        self.outline.reveal(handle)
        if self.outline.row_of(handle) is None and self.focus is not None:
            self.zoom(None)
            self.outline.reveal(handle)
        if self.outline.row_of(handle) is None and (self.query or self.only_open):
            self.query, self.sieve, self.only_open = parse(""), None, False
            self.outline.filter(None)
            self.showing.searched(False)
            self.outline.reveal(handle)
        if self.outline.row_of(handle) is None:
            self.show_earlier(True)
            self.outline.reveal(handle)

    # What presses

    def problems(self) -> list[Handle]:
        """What an operator goes through, in the order of looking, what nobody has seen to before the rest; earlier ones
        only if they are shown."""
        handles = self.assessments.in_order(earlier=self.showing.earlier_shown)
        return sorted(handles, key=self.table.is_seen) if self.seen_to else handles

    @property
    def first(self) -> Assessment | None:
        """What to look at first; where nothing is the matter now, earlier trouble if that is what there is to see."""
        first = next(iter(self.seen_to.unseen()), None) if self.seen_to else None
        first = first or self.assessments.first()
        return first if first is not None and (first.is_now or not self.showing.hides_earlier) else None

    @property
    def landmarks(self) -> Iterable[Handle]:
        """The problems that nobody has seen to, if they are few enough to be shown as places; more would be a wall."""
        few = self.assessments.count(earlier=self.showing.earlier_shown) <= LANDMARKS
        return [each for each in self.problems() if not self.table.is_seen(each)] if few else ()

    def problem(self, cursor: Handle | None, step: int) -> Handle | None:
        """The next (or previous) problem in the order of looking; it wraps round. What the filter or the focus leave
        out is no problem to go to."""
        handles = [*filter(self.is_in_sight, self.problems())]
        if not handles:
            return None
        if cursor not in handles:
            return handles[0 if step > 0 else -1]
        return handles[(handles.index(cursor) + step) % len(handles)]

    def is_in_sight(self, handle: Handle) -> bool:
        """Whether there is a row for it, or would be if nothing was folded."""
        if not self.outline.shows(handle):
            return False
        climber: Handle | None = handle
        while self.focus is not None and climber != self.focus:
            if climber is None:
                return False
            climber = self.forest.parent(climber)
        return True
