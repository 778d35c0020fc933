"""The ledger: what all events together say of each delegation, whatever order they came in.

Facts are kept in columns, one entry a delegation, because a million Python objects would cost a gigabyte; `Delegation`
is the view of one row and the only thing the rest of delegtop sees. Every fold below is a maximum or a set union, so
the same events in any order, in any batches, and any number of times give the same ledger.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress, filterfalse
from sys import intern
from typing import Self

from delegtop.base.clock import MINUTE, ClockStep, Millis, on_present_scale
from delegtop.base.origin import Origin
from delegtop.model.delegation import AGAIN, Claim, Delegation, Wait, name_of
from delegtop.model.event_runs import EventRun, SignRow
from delegtop.model.events import (
    Described,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    HostBeat,
    HostMet,
    Outcome,
    Phase,
    ProcessSeen,
    Report,
    Resumed,
    Sighted,
    Started,
    Surveyed,
)
from delegtop.model.prices import PriceBook
from delegtop.model.sleep_detector import SleepDetector
from delegtop.model.store.column_growth import let_columns_grow
from delegtop.model.store.column_store import ColumnStore, RowsMoved
from delegtop.model.store.descriptions import Descriptions
from delegtop.model.store.details import NO_DETAILS, NOWHERE, Details
from delegtop.model.store.ends import OPEN, Ends
from delegtop.model.store.frozen import Numbers
from delegtop.model.store.merge import disagreements, merge_refs
from delegtop.model.store.numbers import UNSET, known
from delegtop.model.store.origin_column import SourceNumbers
from delegtop.model.store.present_clock import by_present_clock
from delegtop.model.store.registry_listings import RegistryListings
from delegtop.model.store.signs_of_life import ARCHIVED, IN_LOG, PHASES, SignsOfLife, row_of
from delegtop.model.store.starts import NO_SHAPE, Starts, StartShape, shaped
from delegtop.model.usage import Account, Counts, Spent, usages

Handle = int
"""The index of a delegation: stable for the life of the process."""

_BLOCK = 16
_MANY = 50_000

_GONE = int(Ending.GONE)
_NO_LIFE = (OPEN, int(Ending.REGISTRY), _GONE)
"""Who has no end, or one that others tell of at some later moment."""
_IS_LIFE = bytes(by not in (each & 0xFF for each in _NO_LIFE) for by in range(0x100))
"""The same by a byte of the column."""
_ASK_SIGNS = frozenset({Ended, Resumed, EventRun})
"""What is folded by what was said before, and runs, which hold signs of their own."""
_PAUSES = (Phase.PERMISSION, Phase.ANSWER, Phase.IDLE)
"""Nobody at work is in one of these."""


class Ledger(ColumnStore):
    """Facts by delegation. `apply` says which delegations an event touched."""

    STORES = ("starts", "ends", "signs")
    clock_steps: tuple[ClockStep, ...] = ()
    """How the clock was set since all this is looked at, and what it says now."""
    now = Millis(0)
    APART = ("descriptions",)
    BESIDE = ("ids", "sources", "_faults", "registries", "_details", "pulse")

    def __init__(self, prices: PriceBook | None = None) -> None:
        self._prices = prices or PriceBook()
        self.ids: list[str] = []
        self.handles: dict[str, Handle] | Numbers = {}
        self.sources = sources = SourceNumbers()
        self.starts = Starts(sources)
        self.ends = Ends(sources)
        self.signs = SignsOfLife(sources)
        self.descriptions = Descriptions(sources)
        # What only few delegations have.
        self._faults: dict[Handle, dict[tuple[Origin, Fault], Erred]] = {}
        self.registries = RegistryListings()
        self._details: dict[Handle, Details] = {}
        self.pulse = SleepDetector()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Handle]:
        return iter(range(len(self.ids)))

    def find(self, id: str) -> Handle | None:
        return self.handles.get(id)

    # -- folding ---------------------------------------------------------------------------------------------------

    def apply(
        self,
        events: Iterable[Event | EventRun],
        touched: set[Handle],
        started: set[Handle],
        ended: set[Handle],
        noted: set[Handle],
    ) -> None:
        """Fold events in. `touched` gains every delegation that may have changed, `started` and `ended` those whose
        start or end did: the tree is drawn from these two alone. `noted` gains those of which something else was
        told that means more than that they are at work."""
        handles, signs = self.handles, list[Heard]()
        for event in events:
            if type(event) is Heard:
                if event.id not in handles:  # they stand in the order in which they were told of
                    self._handle(event.id, started)
                signs.append(event)
                continue
            if signs and type(event) in _ASK_SIGNS:  # else they are folded together, which takes half as long
                self._hear(map(row_of, signs), NOWHERE.source, touched, started)
                signs = []
            if type(event) is EventRun:
                self._fold_run(event, touched, started, ended)
            else:
                self._fold(event, touched, started, ended, noted)
        self._hear(map(row_of, signs), NOWHERE.source, touched, started)

    def _hear(self, signs: Iterable[SignRow], source: str, touched: set[Handle], started: set[Handle]) -> None:
        new = partial(self._handle, started=started)
        self.signs.take(signs, source, self.handles.get, new, self.pulse.minutes, touched)

    def _fold_run(self, run: EventRun, touched: set[Handle], started: set[Handle], ended: set[Handle]) -> None:
        handles, ids, first, source = self.handles, self.ids, len(self.ids), run.origin.source
        for id in filterfalse(handles.__contains__, run.ids):  # in the order of the lines, as if each was told alone
            self._add(id)
        started.update(range(first, len(ids)))
        self._hear(run.signs, source, touched, started)
        number = self.signs.place.numbers[source]
        starts, ends, minutes, details = self.starts, self.ends, self.pulse.minutes, self._details
        shapes, by, doing = starts.shape, ends.by, self.signs.doing
        minute = -1
        for row in run.starts:
            id, at, line, offset, agent, command, caller, task, path, depth, timeout, deadline, parent, pid, host = row
            handle = handles[id]
            if shapes[handle] is not None:
                if not self._start(handle, run.start(row)):
                    continue
            else:
                if at // MINUTE != minute:
                    minute = at // MINUTE
                    minutes.add(minute)
                if parent is not None:
                    parent = self._shared_id(parent)
                starts.write(
                    handle, at, number, line, offset, agent, command, caller, task, path, depth, timeout, deadline,
                    parent, pid, host,
                )  # fmt: skip
            started.add(handle)
            touched.add(handle)
        for end in run.ends:
            id, at, line, offset, outcome, word, report, signed = end
            handle = handles[id]
            if by[handle] != OPEN or handle in details:
                if not self._end(handle, run.end(end)):
                    continue
            else:
                if at // MINUTE != minute:
                    minute = at // MINUTE
                    minutes.add(minute)
                said = self._said_before(handle)
                ends.write(handle, at, number, line, offset, outcome, word, report, signed, said)
                if said is not None:
                    doing[handle] = ARCHIVED
            ended.add(handle)
            touched.add(handle)

    def _fold(
        self, event: Event, touched: set[Handle], started: set[Handle], ended: set[Handle], noted: set[Handle]
    ) -> None:
        """Fold one event in that is no sign of life."""
        if isinstance(event, Started):
            handle = self._handle(event.id, started)
            if self._start(handle, event):
                started.add(handle)
                touched.add(handle)
        elif isinstance(event, Described):
            handle = self._handle(event.id, started)
            if self.descriptions.take(handle, event):
                touched.add(handle)
                noted.add(handle)
        elif isinstance(event, Ended):
            handle = self._handle(event.id, started)
            if self._end(handle, event):
                ended.add(handle)
                touched.add(handle)
        elif isinstance(event, Erred):
            handle = self._handle(event.id, started)
            self._faults.setdefault(handle, {})[event.origin, event.fault] = event
            ended.add(handle)
            touched.add(handle)
        elif isinstance(event, Surveyed):
            present = frozenset(self._handle(id, started) for id in event.ids)
            touched |= self.registries.take(event.origin.file, event.at, present)
        elif isinstance(event, Resumed):
            handle = self._handle(event.id, started)
            if self._resume(handle, event):
                ended.add(handle)
                touched.add(handle)
        elif not isinstance(event, (HostMet, HostBeat, Deviation, Heard)):
            handle = self._handle(event.id, started)
            details = self._details.get(handle, NO_DETAILS)
            if (told := details.take(event)) is not details:
                self._details[handle] = told
                touched.add(handle)
                if not isinstance(event, Sighted):
                    noted.add(handle)

    def _handle(self, id: str, started: set[Handle]) -> Handle:
        handle = self.handles.get(id)
        if handle is None:
            handle = self._add(id)
            started.add(handle)
        return handle

    def _add(self, id: str) -> Handle:
        handle = len(self.ids)
        if handle == len(self.signs.at):
            self.grow(max(_BLOCK, handle // 16))
            if handle > _MANY:
                let_columns_grow()
        self.handles[id] = handle
        self.ids.append(id)
        return handle

    def _start(self, handle: Handle, event: Started) -> bool:
        if event.at is not None and not event.listed:
            self.pulse.minutes.add(event.at // MINUTE)
        parent = None if event.parent is None else self._shared_id(event.parent)
        return self.starts.take(handle, event, self.ids[handle], parent)

    def _shared_id(self, id: str) -> str:
        """The one copy of an id that many name."""
        known = self.handles.get(id)
        return self.ids[known] if known is not None else intern(id)

    def _end(self, handle: Handle, event: Ended) -> bool:
        if event.at is not None and event.by is not Ending.GONE:
            self.pulse.minutes.add(event.at // MINUTE)
        details = self._details.get(handle)
        if details is not None and details.undoes(event):
            return False
        doing = self._said_before(handle)
        if not self.ends.take(handle, event, self.ids[handle], doing):
            return False
        if doing is not None:
            self.signs.doing[handle] = ARCHIVED
        return True

    def _said_before(self, handle: Handle) -> str | None:
        """What it said last, to be kept with its end."""
        doing = self.signs.doing[handle]
        return self._doing_of(handle) if doing is ARCHIVED or doing is IN_LOG else doing

    def _resume(self, handle: Handle, event: Resumed) -> bool:
        """Forget every end before the moment it was given work again."""
        details = self._details.get(handle, NO_DETAILS)
        if (told := details.resume(event)) is details:
            return False
        self._details[handle] = told
        doing = self._doing_of(handle)
        is_over = self.ends.forget(handle, told.undoes, self.ids[handle], doing)
        self.signs.doing[handle] = ARCHIVED if is_over and doing is not None else doing
        return True

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        """Delegations of another ledger that this one does not know; all of them but what registries list."""
        super().append_rows(other, moved)
        self.descriptions.append_rows(other.descriptions, moved)
        self._faults |= {row: {**faults} for row, faults in moved.table(other._faults).items()}
        self._details |= moved.table(other._details)
        ids = moved.column(other.ids)
        self.ids += ids
        if isinstance(self.handles, dict):
            known = other.handles if isinstance(other.handles, dict) and isinstance(moved.rows, range) else {}
            if len(ids) == len(self.ids) == len(known):
                self.handles.update(known)  # a copy of all costs a tenth
            else:
                self.handles.update(zip(ids, range(moved.at, len(self.ids)), strict=True))

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def detailed(self) -> Collection[Handle]:
        """All of which more is told than words, signs of life, starts and ends."""
        return self._details

    @property
    def faulty(self) -> Collection[Handle]:
        """All of which errors are told."""
        return self._faults

    def shape(self, handle: Handle) -> StartShape | None:
        return self.starts.shape[handle]

    def product(self, handle: Handle) -> str | None:
        shape = self.starts.shape[handle]
        return shape.product if shape else None

    def name(self, handle: Handle) -> str:
        """What to call it in one word; that is asked of many, and little else of them."""
        shape = self.starts.shape[handle] or NO_SHAPE
        return name_of(self.ids[handle], shape.agent, shape.path, shape.command)

    def work(self, handle: Handle) -> tuple[str | None, str | None]:
        """Who it is, and the work it was given, in the words it was given in."""
        shape, prompt = self.starts.shape[handle], self.descriptions.word(handle, "prompt")
        return shape.agent if shape else None, prompt or self.starts.task[handle]

    def made_by(self, handle: Handle) -> tuple[str | None, str | None]:
        """The program whose files tell of it, and the model it works with."""
        return self.product(handle), self.descriptions.word(handle, "model")

    def own_path(self, handle: Handle) -> tuple[str, ...] | None:
        shape = self.starts.shape[handle]
        return shape.own_path if shape else None

    def report(self, handle: Handle) -> Report:
        return self.ends.report(handle, self.ids[handle])

    def error_messages(self, handle: Handle) -> set[str | None]:
        """What its errors say: that is asked of many that ended badly, and little else of them."""
        told = (*self.report(handle).errors, *(erred.fault for erred in self.faults(handle)))
        return {fault.message for fault in told}

    def _doing_of(self, handle: Handle) -> str | None:
        doing = self.signs.doing[handle]
        if doing is IN_LOG:
            return self._said_in_log(handle)
        return self.ends.said(handle) if doing is ARCHIVED else doing

    def _said_in_log(self, handle: Handle) -> str | None:
        place, id, at = self.signs.place[handle], self.ids[handle], known(self.signs.at[handle])
        told = self.ends.told_again(place) if place is not None else ()
        return next((e.doing for e in told if isinstance(e, Heard) and (e.id, e.at) == (id, at)), None)

    def start(self, handle: Handle) -> Millis | None:
        return known(self.starts.at[handle])

    def used(self, handle: Handle) -> Spent:
        """Tokens and US dollars, of this delegation alone: as its log tells them, else by the prices of its models."""
        return Spent(self.signs.tokens(handle), *self._cost(handle, self.signs.accounts_of(handle)))

    def _cost(self, handle: Handle, used: Sequence[tuple[Account, Counts]]) -> tuple[float | None, bool]:
        """The dollars for that, and whether they are an estimate."""
        told = self.signs.costs.get(handle)
        if told is not None or not used:
            return told, False
        cost = self._prices.cost(used, known(self.starts.at[handle]))
        return cost, cost is not None

    def covers(self, handle: Handle) -> bool:
        """Whether its dollars are also those of all that it started within itself."""
        return handle in self.signs.whole

    def phase(self, handle: Handle) -> Phase | None:
        """What it was in the middle of when it was last heard; whoever saw it later knows whether it still is."""
        phase = self._last_phase(handle)
        return None if phase is Phase.IDLE and self.rests_at(handle) is not None else phase

    def _last_phase(self, handle: Handle) -> Phase | None:
        """The same, and that its turn is over even where that is not certain yet."""
        said, seen = PHASES[self.signs.phase[handle]], self._sighted(handle)
        if seen is None:
            return said
        return None if seen.phase is None and said in _PAUSES else seen.phase or said

    def rests_at(self, handle: Handle) -> Millis | None:
        """When its turn counts as over, if nothing is heard of it by then; None if that is not to come. Nothing more
        comes of one that has ended or whose process is gone."""
        since = self.signs.since[handle]
        if since <= self.signs.at[handle] or PHASES[self.signs.phase[handle]] is not Phase.IDLE:
            return None
        at = self.on_present_scale(Millis(since))
        is_sure = at is None or at < self.now or self._sighted(handle) or self.gone_at(handle) or self.ending(handle)
        return None if is_sure else at

    def _sighted(self, handle: Handle) -> Sighted | None:
        """Who saw it later than it was last heard."""
        details = self._details.get(handle)
        seen = details.sighted if details else None
        return seen if seen is not None and seen.at is not None and seen.at > self.signs.at[handle] else None

    def phase_since(self, handle: Handle) -> Millis | None:
        """Since when it is in that phase; without a phase, since when it does what it said last."""
        said, seen = PHASES[self.signs.phase[handle]], self._sighted(handle)
        if seen is not None and self.phase(handle) is not said:
            return seen.at
        at, since = self.signs.at[handle], known(self.signs.since[handle])
        if since is not None and (said is not Phase.IDLE or since <= at):  # a turn that counts as over was so by then
            return since
        return None if said is None else known(at)

    def quiet_since(self, handle: Handle) -> Millis | None:
        """Since when nothing came of it."""
        return self.on_present_scale(self._quiet_since(handle))

    def on_present_scale(self, at: Millis | None) -> Millis | None:
        """A moment of a log by the clock as it is now, if somebody set it meanwhile."""
        return at if at is None or not self.clock_steps else on_present_scale(at, self.clock_steps, self.now)

    def _quiet_since(self, handle: Handle) -> Millis | None:
        heard = self.heard_at(handle)
        return self.phase_since(handle) or heard if self.asked_again(handle) else heard

    def asked_again(self, handle: Handle) -> int:
        """How often it asked its model, if it does so again and again without an answer."""
        asked = self.signs.asked[handle]
        return asked if asked >= AGAIN and self.phase(handle) is Phase.MODEL else 0

    def is_session(self, handle: Handle) -> bool:
        """An agent program's own session: it lives as long as its process does, and was given no task."""
        shape = self.starts.shape[handle]
        return shape is not None and shape.product is not None and shape.depth == 0 and shape.path is None

    def gone_at(self, handle: Handle) -> Millis | None:
        """When an agent's own session, or one that it started within itself, was found to be without its process, if
        nothing was heard of it since."""
        if self.ends.by[handle] != _GONE or not self._lived_in_a_program(handle):
            return None
        at, heard = known(self.ends.at[handle]), self.heard_at(handle)
        return None if at is None or (heard is not None and heard > at) else at

    def _lived_in_a_program(self, handle: Handle) -> bool:
        """A session, or one that was lost with the process of its session."""
        end = self.ends.of(handle)
        is_lost = end is not None and end[0] is Outcome.LOST and self.product(handle) is not None
        return is_lost or self.is_session(handle)

    def is_noted(self, handle: Handle, kind: str) -> bool:
        details = self._details.get(handle)
        return details is not None and details.says(kind)

    def noted(self, kind: str) -> Iterator[Handle]:
        """All that have a note of that kind."""
        return (handle for handle, details in self._details.items() if details.says(kind))

    def cwd(self, handle: Handle) -> str | None:
        return self.descriptions.word(handle, "cwd")

    def permission_mode(self, handle: Handle) -> str | None:
        return self.signs.mode(handle)

    def details(self, handle: Handle) -> Details:
        return self._details.get(handle, NO_DETAILS)

    def last_sign(self, handle: Handle) -> Heard:
        """The last sign of life, with the most that was told of what it used; without a time if there was none."""
        return self.signs.told(handle, self.ids[handle], self._doing_of(handle))

    def wait(self, handle: Handle) -> Wait | None:
        """Who waits for it, and until when."""
        details = self._details.get(handle)
        return details.wait() if details else None

    def process(self, handle: Handle) -> ProcessSeen | None:
        """What the kernel last showed of it, if that is of the call it is in now."""
        details = self._details.get(handle)
        seen = details.process if details else None
        if seen is None or self.phase(handle) not in (None, Phase.TOOL):
            return None
        return seen if seen.at > (self.phase_since(handle) or self.heard_at(handle) or 0) else None

    def is_guess(self, handle: Handle) -> bool:
        """Nobody names its parent; the one claimed is a guess."""
        return handle in self.starts.guessed

    def declared_deadline(self, handle: Handle) -> Millis | None:
        return self.starts.deadline(handle)

    def ending(self, handle: Handle) -> tuple[Outcome, Ending, Millis | None] | None:
        """How it ended, by what word, and when. None while nothing says that it ended."""
        if self.ends.by[handle] != _GONE or not self._goes_on(handle):
            end = self.ends.of(handle)
            if end is not None:
                return end
        if handle not in self._faults:
            return None
        undone = self._details.get(handle, NO_DETAILS).undoes
        fatal = [e for e in self._faults[handle].values() if e.fault.recoverable is False and not undone(e)]
        if not fatal:
            return None
        return Outcome.FAILED, Ending.ERROR, max((e.at for e in fatal if e.at is not None), default=None)

    def _goes_on(self, handle: Handle) -> bool:
        """Only its process is gone, which ends nobody of an agent program who was heard of since, and no session whose
        turn was over."""
        if self.is_session(handle) and self._last_phase(handle) is Phase.IDLE:
            return True
        return self._lived_in_a_program(handle) and self.gone_at(handle) is None

    def heard_at(self, handle: Handle) -> Millis | None:
        """The last sign of life in a log. A registry entry is none: nobody rewrites it while the work goes on. Nor is
        the moment in which somebody found its process gone."""
        shape = self.starts.shape[handle]
        latest = self.signs.at[handle]
        if shape is not None and not shape.listed:
            latest = max(latest, self.starts.at[handle])
        if self.ends.by[handle] not in _NO_LIFE:
            latest = max(latest, self.ends.at[handle])
        if handle in self._faults:
            latest = max(latest, *(e.at for e in self._faults[handle].values() if e.at is not None), latest)
        if handle in self._details:
            latest = max(latest, self._details[handle].resumed_at or latest)
            if (seen := self._details[handle].sighted) is not None:
                latest = max(latest, seen.at or latest)
        return known(latest)

    def last_heard(self) -> Millis | None:
        """The last start or sign of life of any of them; of those that only a registry tells of, when it last did.
        Those that only their files date count if there are no others: whoever copies logs dates them anew."""
        if undated := self.starts.undated():
            dated = (row for row in range(len(self)) if row not in undated)
            found = (self.heard_at(row) or self.listed_at(row) for row in dated)
            if last := max((at for at in found if at is not None), default=None):
                return last
        told = max(max(self.signs.at, default=UNSET), max(self.starts.at, default=UNSET))
        ended = max(compress(self.ends.at, self.ends.by.tobytes().translate(_IS_LIFE)), default=UNSET)
        # What is told beside the columns counts as well; few have that.
        beside = {*self._faults, *self._details, *self.registries.rows}
        found = (self.heard_at(handle) or self.listed_at(handle) for handle in beside)
        return known(max(told, ended, *(at for at in found if at is not None), UNSET))

    def listed_at(self, handle: Handle) -> Millis | None:
        """When it was last seen in a registry."""
        return self.registries.listed_at(handle)

    def left_registry(self, handle: Handle) -> bool:
        """Every registry that listed it has been written since without it."""
        return self.registries.has_left(handle)

    def delegation(self, handle: Handle) -> Delegation:
        """Everything known of one delegation."""
        starts = self.starts
        agreed = starts.agreed(handle) if starts.claims else None
        differing = starts.contested(handle, self.ids[handle]) if starts.claims and agreed is None else ()
        ending = self.ending(handle)
        details = self._details.get(handle, NO_DETAILS)
        faults, words = self.faults(handle), self.ends.words(handle, self.ids[handle])
        seen = self._sighted(handle)
        started, heard, ended = starts.place[handle], self.signs.place[handle], self.ends.place[handle]
        used = self.signs.accounts_of(handle)
        cost, is_estimate = self._cost(handle, used)
        told_at = {each for each in (started, heard, ended) if each is not None}
        if agreed is not None:
            places, ids = agreed
            refs = tuple(sorted({*ids}))
            told_at.update(places)
        else:
            refs = merge_refs(differing, starts.pids.get(handle)) if differing else starts.refs.get(handle, ())
        found = Delegation(
            self.ids[handle],
            *shaped(starts.shape[handle] or NO_SHAPE),
            *self.descriptions.words(handle),
            task=starts.task[handle],
            deadline=starts.deadline(handle),
            parent=starts.parent[handle],
            pid=starts.pids.get(handle),
            refs=refs,
            started_at=known(starts.at[handle]),
            heard_at=self.heard_at(handle),
            doing=words.said if self.signs.doing[handle] is ARCHIVED else self._doing_of(handle),
            tool=self.signs.tool(handle),
            phase=self.phase(handle),
            phase_since=self.phase_since(handle),
            asked=self.signs.asked[handle] or None,
            call_deadline=self.signs.due.get(handle),
            permission_mode=self.signs.mode(handle),
            tokens=self.signs.tokens(handle),
            cost=cost,
            cost_estimated=is_estimate,
            usage=usages(used),
            notes=details.notes(),
            wait=details.wait(),
            process=self.process(handle),
            resumed_at=details.resumed_at,
            outcome=ending[0] if ending else None,
            ended_by=ending[1] if ending else None,
            ended_at=ending[2] if ending else None,
            report=words.told_by(self.ids[handle]),
            faults=tuple(dict.fromkeys(e.fault for e in faults)) if faults else (),
            listed_at=self.listed_at(handle),
            left_registry=self.left_registry(handle),
            claims=self._claims(handle, differing),
            started_origin=started,
            heard_origin=seen.origin if seen else heard,
            ended_origin=ended or (faults[-1].origin if faults else None),
            origins=self._origins(handle, differing, told_at),
        )
        return by_present_clock(found, self.on_present_scale) if self.clock_steps else found

    def faults(self, handle: Handle) -> list[Erred]:
        faults = self._faults.get(handle)
        return sorted(faults.values(), key=lambda erred: erred.origin) if faults else []

    def _origins(self, handle: Handle, starts: tuple[Started, ...], found: set[Origin]) -> tuple[Origin, ...]:
        ends, faults = self.ends.claims.get(handle), self._faults.get(handle)
        if starts or ends or faults:
            told = (starts, ends or (), faults.values() if faults else ())
            found.update(event.origin for events in told for event in events)
        if handle in self._details:
            found.update(self._details[handle].origins())
        return tuple(sorted(found)) if len(found) > 1 else tuple(found)

    def _claims(self, handle: Handle, starts: tuple[Started, ...]) -> tuple[Claim, ...]:
        ends = self.ends.claims.get(handle, ())
        return disagreements(starts, ends) if starts or ends else ()
