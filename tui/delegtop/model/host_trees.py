"""The trees of one host: facts, family and states together, at the moment that host is known at.

`apply` takes in what happened, `advance` brings the states to a moment; what is shown is a function of these two. A
`Forest` has one of these for each host, and whoever shows delegations asks that.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from delegtop.base.clock import SECOND, ClockStep, Millis, Slept
from delegtop.model.delegation import Deadline, Delegation, Link
from delegtop.model.event_runs import EventRun
from delegtop.model.events import OF_NONE, Deviation, Event, HostBeat, HostMet, Started, Surveyed
from delegtop.model.lifecycle import Lifecycle
from delegtop.model.notes import LOOP, REVIEW, SALVAGE
from delegtop.model.phases import FOR_PEOPLE
from delegtop.model.plain_work import PlainWork, plain_work
from delegtop.model.policy import AgentLimits, Counts, Kind, Policy, Usual
from delegtop.model.sleep_detector import Gaps, Silence, silence
from delegtop.model.states import ACTIVE, State
from delegtop.model.store.frozen import Borrowed, Freezer, Numbers, thaw_into
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.numbers import UNSET
from delegtop.model.tree.lineage import NOBODY, Lineage
from delegtop.model.usage import Spent

if TYPE_CHECKING:
    from delegtop.model.store.finished_trees import FinishedRow, FinishedTrees
    from delegtop.model.tree.growth import Growth

_BUILT = 256
"""So many delegations are kept as they were last put together: several who look at one do not gather its facts anew."""
_BUILT_ONCE = 32_768
"""The same for who looks at all of them several times and then ends."""
_STANDING_OUT = (LOOP, REVIEW, SALVAGE)
_MISSED = 2
"""A word lasts for one and a half of the spans between two: so often that, and three were missed."""


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


class HostTrees:
    """All delegations of one host, as trees. Handles are its own."""

    def __init__(self, policy: Policy, host: str = "", heard_of: "HostWord | None" = None) -> None:
        self.policy, self.host = policy, host
        """What its delegations are judged by, and which host it is; an empty name is this machine."""
        self.word = heard_of or HostWord()
        self._ledger = Ledger(self.policy.prices)
        self._lineage = Lineage(self._ledger)
        self._lifecycle = Lifecycle(self._ledger, self._lineage, self.policy)
        self._versions: array[int] | Borrowed = array("I")
        self._built: dict[Handle, tuple[int, Delegation]] = {}
        self._most_built = _BUILT
        self.finished: FinishedTrees | None = None
        """Trees that are over and have no rows any more, once there are any: those of all hosts that are looked at."""
        self.came_back: set[Handle] = set()
        """Those of which something was told after they had been put there."""
        self.now = Millis(0)
        """The moment it is known at, by its own clock: what is asked of one of its delegations is asked of that."""
        self._kernel_slept: Slept | None = None
        """How long its kernel says that the machine slept; None if nobody asked it."""
        self._ends: dict[Handle, Handle | None] = {}
        """Whom those asked about wait on in the end; forgotten when somebody begins, moves or changes state."""

    def __len__(self) -> int:
        return len(self._ledger)

    def apply(self, events: Sequence[Event | EventRun]) -> Change:
        """Take in events, in any order and any number of times. States follow with the next `advance`."""
        back = () if self.finished is None else self._come_back(self.finished, events)
        if back:
            events = [*(event for row in back for event in row.events()), *events]
        touched: set[Handle] = set()
        started: set[Handle] = set()
        ended: set[Handle] = set()
        noted: set[Handle] = set()
        self._ledger.apply(events, touched, started, ended, noted)
        self.came_back.update(handle for row in back if (handle := self.find(row.id)) is not None)
        odd = Deviation in set(map(type, events))
        deviations = [event for event in events if isinstance(event, Deviation)] if odd else []
        return self._follow(touched, started, ended, noted, deviations)

    def absorb(self, told: Ledger) -> Change:
        """Take in all that another ledger knows, as if its events were told."""
        from delegtop.model.store.absorbing import absorb, all_retold  # few have so much to read that it comes so

        if self.finished is not None:
            return self.apply([*all_retold(told)])
        touched, started, ended, noted = set[Handle](), set[Handle](), set[Handle](), set[Handle]()
        absorb(self._ledger, told, touched, started, ended, noted)
        return self._follow(touched, started, ended, noted, [])

    def _follow(
        self,
        touched: set[Handle],
        started: set[Handle],
        ended: set[Handle],
        noted: set[Handle],
        deviations: list[Deviation],
    ) -> Change:
        """Family and states, after the facts."""
        added, moves = self._lineage.update(started, ended)
        self._versions.extend(array("I", (1,)) * len(added))
        self._lifecycle.reparent(moves)
        self._lifecycle.touch(touched)
        moved = [handle for handle, _, _ in moves]
        # Who is new is looked at anyway, and so are those that got a new parent.
        self._lifecycle.touch_below([handle for handle in started if handle < added.start] + moved)
        unsettled = self._lineage.unsettled
        for handle in touched.union(moved, unsettled).difference(added) if added.start else ():
            self._versions[handle] += 1
        if started or moved:
            self._ends.clear()
        lives = started.union(ended, moved, unsettled, noted, (old for _, old, _ in moves if old is not None))
        return Change(touched, list(added), moved, deviations, lives)

    def _come_back(self, finished: "FinishedTrees", events: Iterable[Event | EventRun]) -> "Sequence[FinishedRow]":
        """The trees without rows that these tell of, or of a child or the parent of theirs."""
        find = self._ledger.find
        named = {(self.host, id) for event in events for id in _named(event) if find(id) is None}
        here = {name for name in named if name in finished}
        return self.unlearn(finished.take(here)) if here else ()

    def unlearn(self, rows: "Sequence[FinishedRow]") -> "Sequence[FinishedRow]":
        """These are to have rows again, and how long they took is learned from those."""
        for row in rows:
            if row.kind is not None and row.took is not None:
                self._lifecycle.habits.forget(row.kind, row.took)
        return rows

    def hear(self, event: HostMet | HostBeat) -> None:
        """What the host tells of itself."""
        self.word = self.word.take(event)
        if isinstance(event, HostMet) and self.host and (limits := _limits(event)):
            self.policy.agents.update(limits)
            self._lifecycle.touch(self._ledger)

    def advance(self, shown_at: Millis) -> set[Handle]:
        """Bring all states to where the host is known to be when the whole picture is at that moment; returns the
        delegations whose state changed, or whose process is gone or there again."""
        self.now = self.word.time(shown_at)
        changed = self._lifecycle.advance(self.word.judged(shown_at))
        for handle in changed:
            self._versions[handle] += 1
        if changed:
            self._ends.clear()
        return changed

    @property
    def has_registries(self) -> bool:
        """Whether a registry was seen, whoever was in it."""
        return any(True for _ in self._ledger.registries.latest())

    @property
    def has_loose_words(self) -> bool:
        return self._ledger.ends.has_loose_words

    def press_one(self) -> bool:
        """Press some of the long words of those that are over; False if all are."""
        return self._ledger.ends.press_one()

    def expect_whole_looks(self) -> None:
        """Whoever asks looks at all of them several times, and then ends."""
        self._most_built = _BUILT_ONCE

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

    def freeze(self, before: "HostCheckpoint | None" = None, touched: Collection[Handle] = ()) -> "HostCheckpoint":
        """All as it is now; `touched` is what changed since `before`, with which the rest is shared.

        The states must be up to date: freeze after `advance`.
        """
        freezer = Freezer(touched)
        stores = (*self.stores, self._versions)
        known = before.stores if before else (None,) * len(stores)
        frozen = tuple(map(freezer.freeze, stores, known))
        return HostCheckpoint(self.policy, self.host, self.word, frozen, self._ledger.handles, len(self), freezer.spent)

    @property
    def stores(self) -> tuple[Ledger, Lineage, Lifecycle]:
        """What it is made of: facts, family and states."""
        return self._ledger, self._lineage, self._lifecycle

    @property
    def judged_at(self) -> Millis:
        """The moment up to which time alone has changed its states: what it has told all of."""
        return self._lifecycle.now

    @property
    def counts(self) -> Mapping[State, int]:
        """How many there are in each state, with those that have no row any more."""
        counts = self._lifecycle.counts
        if self.finished is None:
            return counts
        hidden = self.finished.counts(self.host)
        return {state: count + hidden[state] for state, count in counts.items()}

    def find(self, id: str) -> Handle | None:
        return self._ledger.find(id)

    def id(self, handle: Handle) -> str:
        return self._ledger.ids[handle]

    def delegation(self, handle: Handle) -> Delegation:
        """All that is known of it, put together once for each version of it."""
        version, built = self._versions[handle], self._built.get(handle)
        if built is None or built[0] != version:
            if len(self._built) >= self._most_built:
                self._built.clear()
            built = self._built[handle] = version, self._ledger.delegation(handle)
        return built[1]

    def work(self, handle: Handle) -> tuple[str | None, str | None]:
        """Who it is, and the work it was given."""
        return self._ledger.work(handle)

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

    def ahead(self, handle: Handle) -> int:
        """Milliseconds that its last word is later than now; 0 if that is no more than clocks differ."""
        return self._lifecycle.ahead(handle)

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
        return handle in ledger.detailed and any(ledger.is_noted(handle, kind) for kind in _STANDING_OUT)

    def plain_work(self, handle: Handle, quiet: int) -> PlainWork | None:
        """What there is to say of it if it is plainly at work, and was heard of within that span."""
        return plain_work(self, handle, quiet)

    @property
    def slept(self) -> tuple[Gaps, Slept | None]:
        """By what is known whether the machine slept: when all logs were silent, by now, and what its kernel says."""
        return self._ledger.pulse.asleep(self.judged_at), self._kernel_slept

    def heed_kernel(self, slept: Slept | None) -> None:
        """So long its machine slept, as the kernel counts."""
        known = self._kernel_slept
        if slept is None or known is None or slept.span - known.span >= SECOND:
            self._kernel_slept = slept

    def silence(self, since: Millis) -> Silence:
        """How everybody was silent at once since then: if the machine slept, nobody is to blame for it."""
        return silence(self._ledger.pulse.gaps(since, self.judged_at), self._counted_sleep())

    def sleeps(self, since: Millis) -> Iterator[tuple[Millis, Millis]]:
        """When every log was silent at once since then, and the machine may have slept."""
        gaps, slept = self._ledger.pulse.gaps(since, self.judged_at), self._counted_sleep()
        return (gap for gap in gaps if silence((gap,), slept).asleep)

    def _counted_sleep(self) -> Slept | None:
        """What the kernel says of moments in logs; once the clock was set nobody knows which were before the machine
        started."""
        return None if self.clock_steps else self._kernel_slept

    def times(self, handle: Handle) -> tuple[Millis | None, Millis | None, Millis | None]:
        """When it started, when there was last a sign of it, when it ended: without gathering all else of it."""
        ledger = self._ledger
        ending = ledger.ending(handle)
        return ledger.start(handle), ledger.heard_at(handle) or ledger.listed_at(handle), ending[2] if ending else None

    def error_messages(self, handle: Handle) -> set[str | None]:
        """What its errors say: without gathering all else of it."""
        return self._ledger.error_messages(handle)

    def last_heard(self) -> Millis | None:
        """The last sign of life of any of them."""
        return self._ledger.last_heard()

    def furthest_ahead(self) -> int:
        """By how much the last word of any of them is later than now; 0 if that is no more than clocks differ."""
        return self._lifecycle.beyond_now(self._ledger.last_heard())

    def growth(self, handle: Handle, most: int, lately: Millis) -> "Growth":
        """How it grew with all below it, of at most so many; how fast is asked of those begun since then."""
        from delegtop.model.tree.growth import growth  # who does not judge does not ask

        return growth(self._ledger, self._lineage, handle, most, lately)

    def version(self, handle: Handle) -> int:
        """Another one whenever facts or state of the delegation may have changed."""
        return self._versions[handle]

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

    def parents(self) -> Sequence[int]:
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
        built = self._built.get(handle)
        if built is not None and built[0] == self._versions[handle]:
            facts = built[1]
            return Spent(facts.tokens, facts.cost, facts.cost_estimated)
        return self._ledger.used(handle)

    def covers(self, handle: Handle) -> bool:
        """Whether its dollars are also those of all that it started within itself."""
        return self._ledger.covers(handle)

    def roots(self) -> list[Handle]:
        return sorted((handle for handle, above in enumerate(self.parents()) if above == NOBODY), key=self.birth)

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


class HostWord(msgspec.Struct, frozen=True):
    """What a host told of itself, which says up to when it is known and by which clock.

    One that lets itself be heard of every few seconds is known up to its last word: what is not told of it since then
    nobody knows, so time alone changes no state there. What is shown goes on a little longer, until the next word is
    due. Others are known at any time, as this machine is.
    """

    beats: bool = False
    """Whether it lets itself be heard of."""
    met_at: Millis | None = None
    """By its own clock, as all that follows: when it had first told all that there was."""
    beaten_at: Millis | None = None
    until: Millis = Millis(0)
    offset: int = 0
    """Milliseconds that this machine's clock is ahead of its own."""
    via: str = ""
    """By what name ssh reaches it; empty if nobody knows."""

    @property
    def is_met(self) -> bool:
        """Whether it has told all that it had to tell at first."""
        return not self.beats or self.met_at is not None

    def take(self, event: HostMet | HostBeat) -> "HostWord":
        """With one more word, in whatever order they come."""
        if isinstance(event, HostMet):
            return replace(self, beats=self.beats or event.beats, via=max(event.via, self.via))
        first = event.at if self.met_at is None else min(event.at, self.met_at)
        known = replace(self, beats=True, met_at=first, until=Millis(max(event.at + event.lasts, self.until)))
        if self.beaten_at is not None and (event.at, event.offset) < (self.beaten_at, self.offset):
            return known
        return replace(known, offset=event.offset, beaten_at=event.at)

    def own(self, at: Millis) -> Millis:
        """A moment of this machine by its clock."""
        return Millis(at - self.offset)

    def time(self, shown_at: Millis) -> Millis:
        """Where it is known to be when the whole picture is at that moment."""
        return min(self.own(shown_at), self.until) if self.beats else shown_at

    def judged(self, shown_at: Millis) -> Millis:
        """Up to when all that happened there is known: nobody is called silent for what may be on its way."""
        return min(self.own(shown_at), self.beaten_at or Millis(0)) if self.beats else shown_at

    def silence(self, shown_at: Millis) -> int:
        """Milliseconds since it was last heard of; 0 of one that need not be."""
        return max(self.own(shown_at) - self.beaten_at, 0) if self.beaten_at is not None else 0

    def is_stale(self, shown_at: Millis) -> bool:
        """Whether it was not heard of for so long that what is known of it is only how it was."""
        return self.beaten_at is not None and self.silence(shown_at) > _MISSED * (self.until - self.beaten_at)

    def shown_when(self, at: Millis | None) -> Millis | None:
        """When the whole picture is judged at that moment of its own; None if that is not known to come."""
        if at is None or not self.beats:
            return at
        return Millis(at + self.offset) if at <= (self.beaten_at or 0) else None


def _limits(event: HostMet) -> dict[str, AgentLimits]:
    """What the agent files say there; nothing if it is not what was written."""
    try:
        return msgspec.json.decode(event.limits, type=dict[str, AgentLimits]) if event.limits else {}
    except ValueError:
        return {}


def _named(event: Event | EventRun) -> Iterable[str]:
    """The ids of those that an event or a run of them tells of, and of whom they name as their parent."""
    if type(event) is EventRun:
        return {*event.ids, *event.parents}
    if isinstance(event, Surveyed):
        return event.ids
    if isinstance(event, Started):
        return (event.id,) if event.parent is None else (event.id, event.parent)
    return () if isinstance(event, OF_NONE) else (event.id,)


class HostCheckpoint(msgspec.Struct, frozen=True):
    """The trees of a host at one moment; they cannot change, and share with their neighbours what is the same."""

    policy: Policy
    host: str
    word: HostWord
    stores: tuple[Any, ...]
    handles: Mapping[str, Handle] | Numbers
    count: int
    spent: int
    """About how many bytes it takes that the one before it has not."""

    def thaw(self) -> HostTrees:
        """The trees as they were, to go on from there."""
        trees = HostTrees(self.policy, self.host, self.word)
        ledger, lineage, lifecycle, versions = self.stores
        thaw_into(trees._ledger, ledger)
        trees._ledger.handles = Numbers(self.handles, self.count)
        thaw_into(trees._lineage, lineage)
        thaw_into(trees._lifecycle, lifecycle)
        trees._versions = Borrowed(versions)
        return trees
