"""The ledger: what all events together say of each delegation, whatever order they came in.

Facts are kept in columns, one entry a delegation, because a million Python objects would cost a gigabyte; `Delegation`
is the view of one row and the only thing the rest of delegtop sees. Every fold below is a maximum or a set union, so
the same events in any order, in any batches, and any number of times give the same ledger.
"""

from array import array
from collections.abc import Iterable, Iterator
from sys import intern

import msgspec
from msgspec.structs import replace

from delegtop.clock import MINUTE, Millis
from delegtop.model.archive import NO_WORDS, Archive, words
from delegtop.model.claims import contest, disagreements, merge_ends, merge_starts
from delegtop.model.delegation import Claim, Delegation, Wait, own_path
from delegtop.model.details import NO_DETAILS, Details
from delegtop.model.events import (
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Resumed,
    Sighted,
    Started,
    Surveyed,
    Trust,
)
from delegtop.model.frozen import Numbers
from delegtop.model.heap import let_columns_grow
from delegtop.model.places import Places, Sources
from delegtop.model.pulse import Pulse
from delegtop.model.surveys import Surveys
from delegtop.origin import Origin

Handle = int
"""The index of a delegation: stable for the life of the process."""

UNSET = -(1 << 62)
"""Stands for an unknown number in a column."""

_BLOCK = 16
_MANY = 50_000

_OUTCOMES = tuple(Outcome)
_ENDINGS = tuple(Ending)
"""By number."""
_PHASES: tuple[Phase | None, ...] = (None, *Phase)
_PHASE_CODE = {phase: code for code, phase in enumerate(_PHASES)}
_GONE = int(Ending.GONE)
_NO_LIFE = (int(Ending.REGISTRY), _GONE)
"""Ends that are told by others, at some later moment."""
_PAUSES = (Phase.PERMISSION, Phase.ANSWER, Phase.IDLE)
"""Nobody at work is in one of these."""
_OUTCOME_CODE = {outcome: code for code, outcome in enumerate(_OUTCOMES)}
_ARCHIVED = "\0archived"
"""Stands for what was said last where the archive has it."""


class Shape(msgspec.Struct, frozen=True, gc=False):
    """What many delegations have in common; one copy serves them all."""

    agent: str | None
    command: str | None
    caller: str | None
    path: tuple[str, ...] | None
    depth: int | None
    timeout: int | None
    host: str | None
    trust: Trust
    listed: bool
    product: str | None
    due: bool
    """It declares a deadline, and that is its start and its timeout together."""
    own_path: tuple[str, ...] | None
    """The path down to and including the agent: some logs leave the agent itself out."""


class Ledger:
    """Facts by delegation. `apply` says which delegations an event touched."""

    NOT_ITS_OWN = ("handles",)
    BORROWS = True

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.handles: dict[str, Handle] | Numbers = {}
        sources = Sources()
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._shape: list[Shape | None] = []
        self.task: list[str | None] = []
        self.claimed_parent: list[str | None] = []
        self.started_at = array("q")
        self._started_place = Places(sources)
        self._beat_at = array("q")
        self._beat_place = Places(sources)
        self._doing: list[str | None] = []
        self._tool: list[str | None] = []
        self._phase = array("b")
        self._tokens = array("q")
        self._ended_at = array("q")
        self._ended_place = Places(sources)
        self._outcome = array("b")
        self._ended_by = array("b")
        self._archive = Archive()
        # What only few delegations have.
        self._deadlines: dict[Handle, Millis] = {}
        """The declared ones that are not the start and the timeout together."""
        self._pids: dict[Handle, int] = {}
        self._refs: dict[Handle, tuple[tuple[str, str], ...]] = {}
        self._guessed: set[Handle] = set()
        self._costs: dict[Handle, float] = {}
        self._faults: dict[Handle, dict[tuple[Origin, Fault], Erred]] = {}
        self._starts: dict[Handle, tuple[Started, ...]] = {}
        self._ends: dict[Handle, tuple[Ended, ...]] = {}
        self._surveys = Surveys()
        self._details: dict[Handle, Details] = {}
        self.pulse = Pulse()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Handle]:
        return iter(range(len(self.ids)))

    def find(self, id: str) -> Handle | None:
        return self.handles.get(id)

    # -- folding ---------------------------------------------------------------------------------------------------

    def apply(self, events: Iterable[Event], touched: set[Handle], started: set[Handle], ended: set[Handle]) -> None:
        """Fold events in. `touched` gains every delegation that may have changed, `started` and `ended` those whose
        start or end did: the tree is drawn from these two alone."""
        handles, tokens = self.handles, self._tokens
        beat_at, beat_place, phase = self._beat_at, self._beat_place, self._phase
        doing, tool = self._doing, self._tool
        minutes, minute = self.pulse.minutes, -1
        for event in events:
            if isinstance(event, Heard):
                handle = handles.get(event.id)
                if handle is None:
                    handle = self._handle(event.id, started)
                at = event.at
                if at is not None and (at > (last := beat_at[handle]) or (at == last and self._outdoes(handle, event))):
                    beat_at[handle] = at
                    beat_place[handle] = event.origin
                    doing[handle] = event.doing
                    tool[handle] = event.tool and intern(event.tool)
                    phase[handle] = _PHASE_CODE[event.phase]
                if at is not None and at // MINUTE != minute:
                    minute = at // MINUTE
                    minutes.add(minute)
                if event.tokens is not None and event.tokens > tokens[handle]:
                    tokens[handle] = event.tokens
                if event.cost is not None:
                    self._costs[handle] = max(event.cost, self._costs.get(handle, 0.0))
                touched.add(handle)
            elif isinstance(event, Started):
                handle = self._handle(event.id, started)
                if self._start(handle, event):
                    started.add(handle)
                    touched.add(handle)
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
                touched |= self._surveys.take(event.origin.source, event.at, present)
            elif isinstance(event, Resumed):
                handle = self._handle(event.id, started)
                if self._resume(handle, event):
                    ended.add(handle)
                    touched.add(handle)
            elif not isinstance(event, Deviation):
                handle = self._handle(event.id, started)
                details = self._details.get(handle, NO_DETAILS)
                if (told := details.take(event)) is not details:
                    self._details[handle] = told
                    touched.add(handle)

    def _handle(self, id: str, started: set[Handle]) -> Handle:
        handle = self.handles.get(id)
        if handle is None:
            handle = self._add(id)
            started.add(handle)
        return handle

    def _add(self, id: str) -> Handle:
        handle = len(self.ids)
        if handle == len(self._shape):
            self._grow(max(_BLOCK, handle // 8))
            if handle > _MANY:
                let_columns_grow()
        self.handles[id] = handle
        self.ids.append(id)
        return handle

    def _grow(self, rows: int) -> None:
        """Room for more delegations, in one go: twenty appends for each would cost more than the rest of its start."""
        nothing: list[None] = [None] * rows
        for strings in (self.task, self.claimed_parent, self._doing, self._tool):
            strings.extend(nothing)
        self._shape.extend(nothing)
        for moments in (self.started_at, self._beat_at, self._tokens, self._ended_at):
            moments.extend([UNSET] * rows)
        self._phase.extend([0] * rows)
        self._outcome.extend([-1] * rows)
        self._ended_by.extend([0] * rows)
        for column in (self._started_place, self._beat_place, self._ended_place, self._archive):
            column.grow(rows)

    def _outdoes(self, handle: Handle, event: Heard) -> bool:
        """Of two heartbeats at one moment the later record counts."""
        before = self._beat_place[handle]
        return before is None or event.origin > before

    def _start(self, handle: Handle, event: Started) -> bool:
        if event.at is not None and not event.listed:
            self.pulse.minutes.add(event.at // MINUTE)
        before = self._start_of(handle)
        if before is None:
            self._write_start(handle, event)
            return True
        known = self._starts.get(handle) or (before,)
        # Many delegations are told of twice, so their claims share the longest of what they say.
        claims = contest(known, replace(event, id=before.id, parent=self._shared_id(event.parent)))
        if claims is known:
            return False
        if len(claims) > 1:
            self._starts[handle] = claims
        self._write_start(handle, merge_starts(claims))
        return True

    def _write_start(self, handle: Handle, event: Started) -> None:
        at, timeout, deadline = event.at, event.timeout, event.deadline
        due = deadline is not None and at is not None and timeout is not None and deadline == at + timeout
        common = (
            event.agent,
            event.command,
            event.caller,
            event.path or None,
            event.depth,
            timeout,
            event.host,
            event.trust,
            event.listed,
            event.product,
            due,
        )
        shape = self._shapes.get(common)
        if shape is None:
            shape = self._shapes[common] = Shape(*common, own_path=own_path(event.path, event.agent))
        self._shape[handle] = shape
        self.task[handle] = intern(event.task) if event.task else None
        self.claimed_parent[handle] = self._shared_id(event.parent)
        self.started_at[handle] = UNSET if at is None else at
        if deadline is not None and not due:
            self._deadlines[handle] = deadline
        elif self._deadlines:
            self._deadlines.pop(handle, None)
        self._started_place[handle] = event.origin
        if event.pid is not None:
            self._pids[handle] = event.pid
        if event.refs:
            self._refs[handle] = event.refs
        if event.guessed:
            self._guessed.add(handle)
        elif self._guessed:
            self._guessed.discard(handle)

    def _shared_id(self, id: str | None) -> str | None:
        if id is None:
            return None
        handle = self.handles.get(id)
        return self.ids[handle] if handle is not None else intern(id)

    def _start_of(self, handle: Handle) -> Started | None:
        """The start as one event again; the columns hold all of it."""
        shape = self._shape[handle]
        if shape is None:
            return None
        origin = self._started_place[handle]
        assert origin is not None  # noqa: S101 # written together with the shape
        return Started(
            id=self.ids[handle],
            at=_known(self.started_at[handle]),
            origin=origin,
            agent=shape.agent,
            command=shape.command,
            caller=shape.caller,
            task=self.task[handle],
            path=shape.path,
            depth=shape.depth,
            timeout=shape.timeout,
            deadline=self.declared_deadline(handle),
            parent=self.claimed_parent[handle],
            pid=self._pids.get(handle),
            host=shape.host,
            refs=self._refs.get(handle, ()),
            trust=shape.trust,
            listed=shape.listed,
            product=shape.product,
            guessed=handle in self._guessed,
        )

    def _end(self, handle: Handle, event: Ended) -> bool:
        if event.at is not None and event.by is not Ending.GONE:
            self.pulse.minutes.add(event.at // MINUTE)
        if self._is_undone(handle, event):
            return False
        before = self._end_of(handle)
        if before is None:
            self._write_end(handle, event)
            return True
        known = self._ends.get(handle) or (before,)
        claims = contest(known, event)
        if claims is known:
            return False
        if len(claims) > 1:
            self._ends[handle] = claims
        self._write_end(handle, merge_ends(claims))
        return True

    def _resume(self, handle: Handle, event: Resumed) -> bool:
        """Forget every end before the moment it was given work again."""
        details = self._details.get(handle, NO_DETAILS)
        if (told := details.resume(event)) is details:
            return False
        self._details[handle] = told
        end = self._end_of(handle)
        ends = self._ends.pop(handle, (end,) if end else ())
        left = tuple(each for each in ends if not self._is_undone(handle, each))
        if len(left) > 1:
            self._ends[handle] = left
        if left:
            self._write_end(handle, merge_ends(left))
        else:
            self._outcome[handle], self._ended_by[handle] = -1, 0
            self._ended_at[handle] = UNSET
            self._ended_place.clear(handle)
            self._doing[handle], self._archive[handle] = self._doing_of(handle), NO_WORDS
        return True

    def _is_undone(self, handle: Handle, event: Ended) -> bool:
        details = self._details.get(handle)
        resumed = details.resumed_at if details else None
        return resumed is not None and event.at is not None and event.at < resumed

    def _write_end(self, handle: Handle, event: Ended) -> None:
        self._ended_at[handle] = UNSET if event.at is None else event.at
        self._ended_place[handle] = event.origin
        self._outcome[handle] = _OUTCOME_CODE[event.outcome]
        self._ended_by[handle] = event.by
        doing = self._doing_of(handle)
        self._archive[handle] = words(self.ids[handle], event.report, doing)
        if doing is not None:
            self._doing[handle] = _ARCHIVED

    def _end_of(self, handle: Handle) -> Ended | None:
        if self._outcome[handle] < 0:
            return None
        origin = self._ended_place[handle]
        assert origin is not None  # noqa: S101 # written together with the outcome
        return Ended(
            id=self.ids[handle],
            at=_known(self._ended_at[handle]),
            origin=origin,
            outcome=_OUTCOMES[self._outcome[handle]],
            by=_ENDINGS[self._ended_by[handle]],
            report=self.report(handle),
        )

    # -- reading ---------------------------------------------------------------------------------------------------

    def shape(self, handle: Handle) -> Shape | None:
        return self._shape[handle]

    def product(self, handle: Handle) -> str | None:
        shape = self._shape[handle]
        return shape.product if shape else None

    def own_path(self, handle: Handle) -> tuple[str, ...] | None:
        shape = self._shape[handle]
        return shape.own_path if shape else None

    def report(self, handle: Handle) -> Report:
        return self._archive[handle].told_by(self.ids[handle])

    def _doing_of(self, handle: Handle) -> str | None:
        doing = self._doing[handle]
        return self._archive[handle].said if doing is _ARCHIVED else doing

    def start(self, handle: Handle) -> Millis | None:
        return _known(self.started_at[handle])

    def used(self, handle: Handle) -> tuple[int | None, float | None]:
        """Tokens and US dollars, of this delegation alone."""
        return _known(self._tokens[handle]), self._costs.get(handle)

    def phase(self, handle: Handle) -> Phase | None:
        """What it was in the middle of when it was last heard; whoever saw it later knows whether it still is."""
        said, seen = _PHASES[self._phase[handle]], self._sighted(handle)
        if seen is None:
            return said
        return None if seen.phase is None and said in _PAUSES else seen.phase or said

    def _sighted(self, handle: Handle) -> Sighted | None:
        """Who saw it later than it was last heard."""
        details = self._details.get(handle)
        seen = details.sighted if details else None
        return seen if seen is not None and seen.at is not None and seen.at > self._beat_at[handle] else None

    def is_session(self, handle: Handle) -> bool:
        """An agent program's own session: it lives as long as its process does, and was given no task."""
        shape = self._shape[handle]
        return shape is not None and shape.product is not None and shape.depth == 0 and shape.path is None

    def gone_at(self, handle: Handle) -> Millis | None:
        """When an agent's own session was found to be without its process, if nothing was heard of it since."""
        if self._ended_by[handle] != _GONE or not self.is_session(handle):
            return None
        at, heard = _known(self._ended_at[handle]), self.heard_at(handle)
        return None if at is None or (heard is not None and heard > at) else at

    def is_noted(self, handle: Handle, kind: str) -> bool:
        details = self._details.get(handle)
        return details is not None and details.says(kind)

    def noted(self, kind: str) -> Iterator[Handle]:
        """All that have a note of that kind."""
        return (handle for handle, details in self._details.items() if details.says(kind))

    def cwd(self, handle: Handle) -> str | None:
        details = self._details.get(handle)
        return details.word("cwd") if details else None

    def wait(self, handle: Handle) -> Wait | None:
        """Who waits for it, and until when."""
        details = self._details.get(handle)
        return details.wait() if details else None

    def is_guess(self, handle: Handle) -> bool:
        """Nobody names its parent; the one claimed is a guess."""
        return handle in self._guessed

    def declared_deadline(self, handle: Handle) -> Millis | None:
        shape = self._shape[handle]
        if shape is None or not shape.due or shape.timeout is None:
            return self._deadlines.get(handle)
        return Millis(self.started_at[handle] + shape.timeout)

    def ending(self, handle: Handle) -> tuple[Outcome, Ending, Millis | None] | None:
        """How it ended, by what word, and when. None while nothing says that it ended."""
        code = self._outcome[handle]
        if code >= 0 and (self._ended_by[handle] != _GONE or not self._goes_on(handle)):
            return _OUTCOMES[code], _ENDINGS[self._ended_by[handle]], _known(self._ended_at[handle])
        if handle not in self._faults:
            return None
        fatal = [e for e in self._faults[handle].values() if e.fault.recoverable is False]
        if not fatal:
            return None
        return Outcome.FAILED, Ending.ERROR, max((e.at for e in fatal if e.at is not None), default=None)

    def _goes_on(self, handle: Handle) -> bool:
        """Only its process is gone, which ends no session whose turn was over or that was heard of since."""
        return self.is_session(handle) and (self.phase(handle) is Phase.IDLE or self.gone_at(handle) is None)

    def heard_at(self, handle: Handle) -> Millis | None:
        """The last sign of life in a log. A registry entry is none: nobody rewrites it while the work goes on. Nor is
        the moment in which somebody found its process gone."""
        shape = self._shape[handle]
        latest = self._beat_at[handle]
        if shape is not None and not shape.listed:
            latest = max(latest, self.started_at[handle])
        elif handle in self._starts:
            logged = (e.at for e in self._starts[handle] if not e.listed and e.at is not None)
            latest = max(latest, max(logged, default=Millis(UNSET)))
        if self._outcome[handle] >= 0 and self._ended_by[handle] not in _NO_LIFE:
            latest = max(latest, self._ended_at[handle])
        if handle in self._faults:
            latest = max(latest, *(e.at for e in self._faults[handle].values() if e.at is not None), latest)
        if handle in self._details:
            latest = max(latest, self._details[handle].resumed_at or latest)
            if (seen := self._details[handle].sighted) is not None:
                latest = max(latest, seen.at or latest)
        return _known(latest)

    def listed_at(self, handle: Handle) -> Millis | None:
        """When it was last seen in a registry."""
        return self._surveys.listed_at(handle)

    def left_registry(self, handle: Handle) -> bool:
        """Every registry that listed it has been written since without it."""
        return self._surveys.has_left(handle)

    def delegation(self, handle: Handle) -> Delegation:
        """Everything known of one delegation."""
        shape = self._shape[handle]
        ending = self.ending(handle)
        details = self._details.get(handle, NO_DETAILS)
        faults = self._faults_of(handle)
        seen = self._sighted(handle)
        return Delegation(
            id=self.ids[handle],
            agent=shape.agent if shape else None,
            command=shape.command if shape else None,
            caller=shape.caller if shape else None,
            task=self.task[handle],
            path=shape.path if shape else None,
            depth=shape.depth if shape else None,
            timeout=shape.timeout if shape else None,
            deadline=self.declared_deadline(handle),
            parent=self.claimed_parent[handle],
            pid=self._pids.get(handle),
            host=shape.host if shape else None,
            refs=self._refs.get(handle, ()),
            trust=shape.trust if shape else Trust.SCRIPT,
            started_at=_known(self.started_at[handle]),
            heard_at=self.heard_at(handle),
            doing=self._doing_of(handle),
            tool=self._tool[handle],
            phase=self.phase(handle),
            tokens=_known(self._tokens[handle]),
            cost=self._costs.get(handle),
            outcome=ending[0] if ending else None,
            ended_by=ending[1] if ending else None,
            ended_at=ending[2] if ending else None,
            report=self.report(handle),
            faults=tuple(dict.fromkeys(e.fault for e in faults)),
            listed_at=self.listed_at(handle),
            left_registry=self.left_registry(handle),
            claims=self._claims(handle),
            started_origin=self._started_place[handle],
            heard_origin=seen.origin if seen else self._beat_place[handle],
            ended_origin=self._ended_place[handle] or (faults[-1].origin if faults else None),
            origins=self._origins(handle),
            product=shape.product if shape else None,
            title=details.word("title"),
            own_name=details.word("name"),
            model=details.word("model"),
            prompt=details.word("prompt"),
            cwd=details.word("cwd"),
            version=details.word("version"),
            notes=details.notes(),
            wait=details.wait(),
            resumed_at=details.resumed_at,
        )

    def _faults_of(self, handle: Handle) -> list[Erred]:
        return sorted(self._faults.get(handle, {}).values(), key=lambda erred: erred.origin)

    def _origins(self, handle: Handle) -> tuple[Origin, ...]:
        places = (self._started_place[handle], self._beat_place[handle], self._ended_place[handle])
        found = [origin for origin in places if origin is not None]
        told = (self._starts.get(handle, ()), self._ends.get(handle, ()), self._faults.get(handle, {}).values())
        found += [event.origin for events in told for event in events]
        if handle in self._details:
            found += self._details[handle].origins()
        return tuple(sorted(set(found)))

    def _claims(self, handle: Handle) -> tuple[Claim, ...]:
        if handle not in self._starts and handle not in self._ends:
            return ()
        return disagreements(self._starts.get(handle, ()), self._ends.get(handle, ()))


def _known(value: int) -> Millis | None:
    return None if value == UNSET else Millis(value)
