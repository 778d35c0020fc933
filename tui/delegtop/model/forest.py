"""The forest: facts, family and states together. Whoever shows delegations asks here.

`apply` takes in what happened, `advance` brings the states to a moment; what is shown is a function of these two.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import msgspec

from delegtop.base.clock import ClockStep, Millis
from delegtop.model.delegation import Deadline, Delegation, Link
from delegtop.model.events import Deviation, Event
from delegtop.model.lifecycle import Lifecycle
from delegtop.model.notes import LOOP, REVIEW, SALVAGE
from delegtop.model.phases import FOR_PEOPLE
from delegtop.model.policy import Counts, Kind, Policy, Usual
from delegtop.model.sleep_detector import Gaps
from delegtop.model.states import ACTIVE, State
from delegtop.model.store.frozen import Borrowed, Freezer, Numbers, thaw_into
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.numbers import UNSET
from delegtop.model.tree.lineage import Lineage
from delegtop.model.usage import Spent

if TYPE_CHECKING:
    from delegtop.model.tree.growth import Growth

_EPOCHS = count(1)
_BUILT = 1_024
"""So many delegations are kept as they were last put together: several who look at one do not gather its facts anew."""
_STANDING_OUT = (LOOP, REVIEW, SALVAGE)


class Change(msgspec.Struct, frozen=True):
    """What one batch of events did."""

    touched: set[Handle]
    added: list[Handle]
    moved: list[Handle]
    """Delegations, known before, that got another parent or lost theirs."""
    deviations: list[Deviation]
    lives: set[Handle]
    """The ones that began, ended or moved, whose parent is more or less sure than before, whose children moved away, or
    of which something was told: more about them may be another than what they do, and what they are to others, too."""


class Forest:
    """All delegations, as trees."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self._ledger = Ledger(self.policy.prices)
        self._lineage = Lineage(self._ledger)
        self._lifecycle = Lifecycle(self._ledger, self._lineage, self.policy)
        self._versions: array[int] | Borrowed = array("I")
        self._epoch = 0
        self._built: dict[Handle, tuple[int, Delegation]] = {}
        self._ends: dict[Handle, Handle | None] = {}
        """Whom those asked about wait on in the end; forgotten when somebody begins, moves or changes state."""

    def __len__(self) -> int:
        return len(self._ledger)

    def apply(self, events: Iterable[Event]) -> Change:
        """Take in events, in any order and any number of times. States follow with the next `advance`."""
        events = list(events)
        touched: set[Handle] = set()
        started: set[Handle] = set()
        ended: set[Handle] = set()
        noted: set[Handle] = set()
        self._ledger.apply(events, touched, started, ended, noted)
        added, moves = self._lineage.update(started, ended)
        self._versions.extend([0] * len(added))
        self._lifecycle.reparent(moves)
        self._lifecycle.touch(touched)
        moved = [handle for handle, _, _ in moves]
        self._lifecycle.touch_below(started.union(moved))
        unsettled = self._lineage.unsettled
        for handle in touched.union(moved, unsettled):
            self._versions[handle] += 1
        if started or moved:
            self._ends.clear()
        lives = started.union(ended, moved, unsettled, noted, (old for _, old, _ in moves if old is not None))
        return Change(touched, list(added), moved, [e for e in events if isinstance(e, Deviation)], lives)

    def advance(self, now: Millis) -> set[Handle]:
        """Bring all states to the moment `now`; returns the delegations whose state changed, or whose process is gone
        or there again."""
        changed = self._lifecycle.advance(now)
        for handle in changed:
            self._versions[handle] += 1
        if changed:
            self._ends.clear()
        return changed

    def step(self, step: ClockStep) -> None:
        """The clock was set; states follow with the next `advance`, and every moment that is told is another one."""
        self._lifecycle.step(step)
        self._built.clear()
        for handle in range(len(self)):
            self._versions[handle] += 1
        self._ends.clear()

    @property
    def clock_steps(self) -> tuple[ClockStep, ...]:
        """How the clock was set since all this is looked at."""
        return self._ledger.clock_steps

    def next_turn(self) -> Millis | None:
        """The first moment at which time alone changes a state; None if it cannot."""
        return self._lifecycle.next_turn()

    # -- other moments ---------------------------------------------------------------------------------------------

    def freeze(self, before: "Checkpoint | None" = None, touched: Collection[Handle] = ()) -> "Checkpoint":
        """All as it is now; `touched` is what changed since `before`, with which the rest is shared.

        The states must be up to date: freeze after `advance`.
        """
        freezer = Freezer(touched)
        stores = (self._ledger, self._lineage, self._lifecycle, self._versions)
        known = before.stores if before else (None,) * len(stores)
        frozen = tuple(map(freezer.freeze, stores, known))
        return Checkpoint(self.policy, frozen, self._ledger.handles, len(self), freezer.spent)

    def leave(self) -> "Forest":
        """Hand everything over to another forest, which goes on as this one; this one must then become another."""
        heir = Forest(self.policy)
        heir.become(self)
        return heir

    def become(self, other: "Forest") -> None:
        """Show another moment: take over everything of `other`, which is not to be used any more.

        Whoever looks at this forest goes on looking; no version that was ever given out comes again.
        """
        self._ledger, self._lineage, self._lifecycle = other._ledger, other._lineage, other._lifecycle
        self._versions = other._versions
        self._ends.clear()
        self._epoch = next(_EPOCHS) << 32

    @property
    def now(self) -> Millis:
        """The moment of the last `advance`: what a whole screen or report is about."""
        return self._lifecycle.now

    def now_of(self, handle: Handle) -> Millis:  # noqa: ARG002 # all of one forest are on one host
        """The moment its host is known at, never later than `now`: what is asked of one delegation is asked of that."""
        return self.now

    @property
    def counts(self) -> Mapping[State, int]:
        return self._lifecycle.counts

    def find(self, id: str) -> Handle | None:
        return self._ledger.find(id)

    def id(self, handle: Handle) -> str:
        return self._ledger.ids[handle]

    def delegation(self, handle: Handle) -> Delegation:
        """All that is known of it, put together once for each version of it."""
        version, built = self.version(handle), self._built.get(handle)
        if built is None or built[0] != version:
            if len(self._built) >= _BUILT:
                self._built.clear()
            built = self._built[handle] = version, self._ledger.delegation(handle)
        return built[1]

    def cwd(self, handle: Handle) -> str | None:
        """The folder it says it works in."""
        return self._ledger.cwd(handle)

    def permission_mode(self, handle: Handle) -> str | None:
        """The permission mode it says it works in."""
        return self._ledger.permission_mode(handle)

    def state(self, handle: Handle) -> State:
        return self._lifecycle.state(handle)

    def reason(self, handle: Handle) -> str:
        """Why it is in that state, where the word alone does not say it."""
        return self._lifecycle.reason(handle)

    def is_session(self, handle: Handle) -> bool:
        """Whether it is a session of an agent program, with a process of its own, and nothing that one started within
        itself."""
        return self._ledger.is_session(handle)

    def is_gone(self, handle: Handle) -> bool:
        """Whether it is a session whose process is gone; one between two prompts goes on without."""
        return self._lifecycle.is_gone(handle)

    def went_with_its_session(self, handle: Handle) -> bool:
        """Whether it ran in the process of its session, and that is gone."""
        return self._lifecycle.went_with_its_session(handle)

    def deadline(self, handle: Handle) -> Deadline | None:
        """Its own deadline, or an open ancestor's that comes earlier."""
        return self._lifecycle.deadline(handle)

    def usual(self, handle: Handle) -> Usual | None:
        """The time within which nearly all of its kind were done, and how many that rests on; None if too few."""
        return self._lifecycle.usual(handle)

    def learned(self) -> dict[Kind, Usual]:
        """What is usual for each kind, by the delegations here alone."""
        return self._lifecycle.learned()

    def spans(self) -> Iterator[tuple[Kind, Sequence[int]]]:
        """How long all that are done took, by their kind."""
        return self._lifecycle.spans()

    def reconsider(self, usual: Mapping[Kind, Usual], durations: Mapping[Kind, Counts] | None = None) -> None:
        """Judge all by this history too. It changes no state: what is usual is no promise."""
        self.policy.usual.update(usual)
        self.policy.durations.update(durations or {})

    def stands_out(self, handle: Handle) -> bool:
        """Whether there is more to it than that it is at work: it asks, something was noted, the registry let it go."""
        ledger = self._ledger
        if ledger.phase(handle) in FOR_PEOPLE or ledger.left_registry(handle):
            return True
        return any(ledger.is_noted(handle, kind) for kind in _STANDING_OUT)

    @property
    def slept(self) -> Gaps:
        """When the machine slept, as far as the logs show by now."""
        return self._ledger.pulse.asleep(self.now)

    def sleeps(self, since: Millis) -> Iterator[tuple[Millis, Millis]]:
        """When every log was silent at once since then: the machine slept, and nobody is to blame for it."""
        return self._ledger.pulse.gaps(since, self.now)

    def sleeps_of(self, handle: Handle, since: Millis) -> Iterator[tuple[Millis, Millis]]:
        """The same of its host alone, up to the moment that is known at."""
        return self._ledger.pulse.gaps(since, self.now_of(handle))

    def times(self, handle: Handle) -> tuple[Millis | None, Millis | None, Millis | None]:
        """When it started, when there was last a sign of it, when it ended: without gathering all else of it."""
        ledger = self._ledger
        ending = ledger.ending(handle)
        return ledger.start(handle), ledger.heard_at(handle) or ledger.listed_at(handle), ending[2] if ending else None

    def growth(self, handle: Handle, most: int, lately: Millis) -> "Growth":
        """How it grew with all below it, of at most so many; how fast is asked of those begun since then."""
        from delegtop.model.tree.growth import growth  # who does not judge does not ask

        return growth(self._ledger, self._lineage, handle, most, lately)

    @property
    def epoch(self) -> int:
        """Another one once `become` has put another moment in the place of this one."""
        return self._epoch

    def version(self, handle: Handle) -> int:
        """Another one whenever facts or state of the delegation may have changed."""
        return self._epoch + self._versions[handle]

    def parent(self, handle: Handle) -> Handle | None:
        return self._lineage.parent(handle)

    def link(self, handle: Handle) -> Link:
        return self._lineage.link(handle)

    def candidates(self, handle: Handle) -> tuple[Handle, ...]:
        """The possible parents of an ambiguous link, the drawn one first."""
        return self._lineage.candidates(handle)

    def children(self, handle: Handle) -> list[Handle]:
        """In order of start, then id."""
        return sorted(self._lineage.children(handle), key=self.birth)

    def needs_review(self, handle: Handle) -> bool:
        """Whether a person must look at it before it goes on."""
        return self._ledger.is_noted(handle, REVIEW)

    def for_review(self) -> Iterator[Handle]:
        """All that a person must look at before they go on."""
        return self._ledger.noted(REVIEW)

    @property
    def has_processes(self) -> bool:
        """Whether a process of any delegation is known."""
        return bool(self._ledger.starts.pids)

    def in_states(self, states: Collection[State]) -> Iterator[tuple[Handle, State]]:
        """All that are in one of these states, and in which; quicker than to ask each."""
        return self._lifecycle.in_states(states)

    def for_people(self) -> set[Handle]:
        """All that stand still until a person looks, allows or answers."""
        waiting = (handle for handle, _ in self.in_states(ACTIVE) if self.awaits_person(handle))
        return {*self._ledger.noted(REVIEW), *waiting}

    def parents(self) -> Iterable[int]:
        """The parent of every delegation, in their order; -1 if it has none."""
        return self._lineage.parents()

    def awaits_person(self, handle: Handle) -> bool:
        """Whether it stands still until a person allows or answers something."""
        return self.state(handle) in ACTIVE and self._ledger.phase(handle) in FOR_PEOPLE

    def offspring(self, handle: Handle) -> Iterable[Handle]:
        """Its children in no particular order."""
        return self._lineage.children(handle)

    def used(self, handle: Handle) -> Spent:
        """Tokens and US dollars, of this delegation alone."""
        return self._ledger.used(handle)

    def covers(self, handle: Handle) -> bool:
        """Whether its dollars are also those of all that it started within itself."""
        return self._ledger.covers(handle)

    def roots(self) -> list[Handle]:
        return sorted((h for h in self._ledger if self._lineage.parent(h) is None), key=self.birth)

    def birth(self, handle: Handle) -> tuple[bool, int, str]:
        """The order of siblings: by start, then id; an unknown start comes last."""
        start = self._ledger.starts.at[handle]
        return start == UNSET, start, self._ledger.ids[handle]

    def level(self, handle: Handle) -> int:
        """The number of its ancestors in the tree."""
        return sum(1 for _ in self._lineage.ancestors(handle))

    def walk(self) -> Iterator[Handle]:
        """All delegations, parents before children, siblings in order."""
        pending = self.roots()[::-1]
        while pending:
            handle = pending.pop()
            yield handle
            pending.extend(reversed(self.children(handle)))

    def blocker(self, handle: Handle) -> Handle | None:
        """The delegation at the end of the active chain below: what a waiting one really waits on."""
        path, ends = [handle], self._ends
        while path[-1] not in ends and (child := self._active_child(path[-1])) is not None:
            path.append(child)
        last = path.pop()
        below = ends.setdefault(last, None)
        ends.update(dict.fromkeys(path, last if below is None else below))
        return ends[handle]

    def _active_child(self, handle: Handle) -> Handle | None:
        """The child that waits longest among the active ones: overdue before others, then by start."""
        active = (child for child in self._lineage.children(handle) if self.state(child) in ACTIVE)
        # The newest come first, and they are the active ones: of a hundred thousand children few are looked at.
        some = islice(active, self._lifecycle.active_children(handle))
        return min(some, key=lambda h: (self.state(h) is not State.OVERDUE, self.birth(h)), default=None)


class Checkpoint(msgspec.Struct, frozen=True):
    """A forest at one moment; it cannot change, and shares with its neighbours what is the same in them."""

    policy: Policy
    stores: tuple[Any, ...]
    handles: Mapping[str, Handle] | Numbers
    count: int
    spent: int
    """About how many bytes it takes that the one before it has not."""

    def thaw(self) -> Forest:
        """The forest as it was, to go on from there."""
        forest = Forest(self.policy)
        ledger, lineage, lifecycle, versions = self.stores
        thaw_into(forest._ledger, ledger)
        forest._ledger.handles = Numbers(self.handles, self.count)
        thaw_into(forest._lineage, lineage)
        thaw_into(forest._lifecycle, lifecycle)
        forest._versions = Borrowed(versions)
        return forest
