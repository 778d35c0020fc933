"""The forest: the delegations of all hosts, behind one face. Whoever shows delegations asks here.

Each host has trees of its own (`HostTrees`): registries, inferred parents, sleeps, habits, limits and times of one say
nothing of another. Here their delegations get one row of handles, and every question goes to the host it is about. As
long as there is one host, all is its own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from delegtop.base.clock import ClockStep, Millis, Slept, monotonic
from delegtop.model.delegation import Deadline, Delegation, Link
from delegtop.model.event_runs import EventRun, each_of, parts_of
from delegtop.model.events import Event, HostBeat, HostMet
from delegtop.model.host_rows import NOBODY, Frozen, HostRows
from delegtop.model.host_trees import Change, HostCheckpoint, HostTrees, HostWord
from delegtop.model.plain_work import PlainWork
from delegtop.model.policy import Counts, Kind, Policy, Usual
from delegtop.model.sleep_detector import Gaps, Silence
from delegtop.model.states import State
from delegtop.model.store.column_growth import give_back
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.usage import Spent

if TYPE_CHECKING:
    from delegtop.model.store.finished_trees import FinishedRow, FinishedTrees
    from delegtop.model.tree.growth import Growth

__all__ = ["Change", "Checkpoint", "Forest", "HostWord"]

_EPOCHS = count(1)
_MANY_FREED = 64
"""Blocks of words: four megabytes."""
_OF_HOST = frozenset((HostMet, HostBeat))
_host_of = attrgetter("origin.host")


class Forest:
    """All delegations, as trees.

    It has no `now`: what is asked of one delegation is asked of `now_of` it, and the whole picture is at `shown_at`.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        """What those of this machine are judged by; see `policy_of`."""
        self._only: HostTrees | None = HostTrees(self.policy)
        """The trees of the one host there is; None if there are several."""
        self._rows = HostRows()
        """Those of several."""
        self._shown_at = Millis(0)
        self._epoch = 0
        self._freed = 0

    def __len__(self) -> int:
        return len(self._rows) if self._only is None else len(self._only)

    # -- what arrives ----------------------------------------------------------------------------------------------

    def apply(self, events: Iterable[Event]) -> Change:
        """Take in events, in any order and any number of times. States follow with the next `advance`."""
        parts = parts_of(events) if isinstance(events, Sequence) else list(events)
        hosts = set(map(_host_of, parts))
        if self._only is not None:
            if hosts <= {self._only.host}:
                return _applied(self._only, parts)
            if len(hosts) == 1 and _is_untold(self._only):
                self._only = self._new_host(hosts.pop())
                return _applied(self._only, parts)
            # From now on there are several; the handles that were given out stay.
            self._rows = HostRows(() if _is_untold(self._only) else (self._only,))
            self._only = None
        return self._apply_to_several(parts)

    def absorb(self, told: Ledger) -> Change:
        """Take in all that a ledger knows of this machine, as if its events were told."""
        if self._only is not None and not self._only.host:
            return self._only.absorb(told)
        from delegtop.model.store.absorbing import all_retold  # few look at others

        return self.apply(all_retold(told))

    def _apply_to_several(self, parts: Sequence[Event | EventRun]) -> Change:
        told: dict[str, list[Event | EventRun]] = {}
        for part in parts:
            told.setdefault(part.origin.host, []).append(part)
        first, changes = len(self._rows), dict[int, Change]()
        for host, own in told.items():
            number = self._rows.number(host)
            if number is None:
                number = self._rows.add(self._new_host(host))
            changes[number] = _applied(self._rows.trees[number], own)
        self._rows.enter({number: change.added for number, change in changes.items() if change.added}, each_of(parts))
        whole = Change(set(), [*range(first, len(self._rows))], [], [], set())
        for number, change in changes.items():
            ours = self._rows.handles[number].__getitem__
            whole.touched.update(map(ours, change.touched))
            whole.moved.extend(map(ours, change.moved))
            whole.lives.update(map(ours, change.lives))
            whole.deviations.extend(change.deviations)
        return whole

    def _new_host(self, host: str) -> HostTrees:
        """What is known of this machine and of its agents says nothing of another."""
        trees = HostTrees(replace(self.policy, agents={}, usual={}, durations={}) if host else self.policy, host)
        trees.advance(self._shown_at)
        return trees

    def advance(self, now: Millis) -> set[Handle]:
        """Bring all states to the moment `now`, those of each host as far as it is known; returns the delegations whose
        state changed, or whose process is gone or there again."""
        self._shown_at = now
        if self._only is not None:
            return self._only.advance(now)
        return {handles[own] for trees, handles in self._rows for own in trees.advance(now)}

    @property
    def has_loose_words(self) -> bool:
        """Whether there are long words that wait to be pressed."""
        return any(trees.has_loose_words for trees in self._all())

    def press_words(self, seconds: float = inf) -> bool:
        """Press long words of those that are over, for about that long: they take a fifth of the room then, and are
        seldom read again. True if some are left."""
        until = monotonic() + seconds
        while any(trees.press_one() for trees in self._all()):
            self._freed += 1
            if monotonic() > until:
                return True
        if self._freed >= _MANY_FREED:
            give_back()
            self._freed = 0
        return False

    def expect_whole_looks(self) -> None:
        """Whoever asks looks at all delegations several times, and then ends."""
        for trees in self._all():
            trees.expect_whole_looks()

    def step(self, step: ClockStep) -> None:
        """The clock of this machine was set; states follow with the next `advance`."""
        for trees in self._all():
            if not trees.host:
                trees.step(step)

    def heed_kernel(self, slept: Slept | None) -> None:
        """So long this machine slept, as its kernel counts."""
        for trees in self._all():
            if not trees.host:
                trees.heed_kernel(slept)

    @property
    def clock_steps(self) -> tuple[ClockStep, ...]:
        """How the clock was set since all this is looked at."""
        return next((trees.clock_steps for trees in self._all() if not trees.host), ())

    def next_turn(self) -> Millis | None:
        """The first moment of the picture at which time alone changes a state; None if it cannot."""
        turns = (trees.word.shown_when(trees.next_turn()) for trees in self._all())
        return min((turn for turn in turns if turn is not None), default=None)

    # -- other moments ---------------------------------------------------------------------------------------------

    def freeze(self, before: "Checkpoint | None" = None, touched: Collection[Handle] = ()) -> "Checkpoint":
        """All as it is now; `touched` is what changed since `before`, with which the rest is shared.

        The states must be up to date: freeze after `advance`.
        """
        known = {each.host: each for each in before.hosts} if before else {}
        own = {0: touched} if self._only is not None else self._rows.by_host(touched)
        frozen = [trees.freeze(known.get(trees.host), own.get(number, ())) for number, trees in enumerate(self._all())]
        rows = None if self._only is not None else self._rows.frozen()
        return Checkpoint(self.policy, tuple(frozen), rows, self._shown_at, sum(each.spent for each in frozen))

    def leave(self) -> "Forest":
        """Hand everything over to another forest, which goes on as this one; this one must then become another."""
        heir = Forest(self.policy)
        heir.become(self)
        return heir

    def become(self, other: "Forest") -> None:
        """Show another moment: take over everything of `other`, which is not to be used any more.

        Whoever looks at this forest goes on looking; no version that was ever given out comes again.
        """
        self._only, self._rows, self._shown_at = other._only, other._rows, other._shown_at
        self._epoch = next(_EPOCHS) << 32

    @property
    def shown_at(self) -> Millis:
        """The moment of the last `advance`: what a whole screen or report is about."""
        return self._shown_at

    @property
    def epoch(self) -> int:
        """Another one once `become` has put another moment in the place of this one."""
        return self._epoch

    # -- hosts -----------------------------------------------------------------------------------------------------

    def _all(self) -> Sequence[HostTrees]:
        return self._rows.trees if self._only is None else (self._only,)

    def at(self, handle: Handle) -> tuple[HostTrees, Handle]:
        """The trees it is in, and what it is called there."""
        return self._rows.at(handle) if self._only is None else (self._only, handle)

    def _like(self, handle: Handle, own: Iterable[Handle]) -> Iterable[Handle]:
        """What we call these delegations of the host of another one."""
        return self._rows.like(handle, own) if self._only is None else own

    def by_host(self) -> Iterator[tuple[HostTrees, Sequence[Handle]]]:
        """The trees of each host, and what we call its delegations."""
        return iter(self._rows) if self._only is None else iter(((self._only, range(len(self._only))),))

    def bare(self) -> "Forest":
        """One of the same hosts, by the same limits and words, that knows of no delegation yet."""
        heir = Forest(self.policy)
        trees = [HostTrees(each.policy, each.host, each.word) for each in self._all()]
        if self._only is None:
            heir._only, heir._rows = None, HostRows(trees)
        else:
            (heir._only,) = trees
        return heir

    @property
    def finished(self) -> "FinishedTrees | None":
        """Trees that are over and have no rows any more, once there are any."""
        return next((trees.finished for trees in self._all() if trees.finished is not None), None)

    @property
    def came_back(self) -> set[Handle]:
        """Those of which something was told after they had been put there."""
        if self._only is not None:
            return self._only.came_back
        return {handles[own] for trees, handles in self._rows for own in trees.came_back}

    def unlearn(self, rows: "Sequence[FinishedRow]") -> "Sequence[FinishedRow]":
        """These are to have rows again, and how long they took is learned from those."""
        for trees in self._all():
            trees.unlearn([row for row in rows if row.host == trees.host])
        return rows

    @property
    def hosts(self) -> dict[str, HostWord]:
        """The hosts that are told of, and what they told of themselves; the empty name is this machine."""
        return {trees.host: trees.word for trees in self._all() if trees.host or len(trees)}

    @property
    def has_hosts(self) -> bool:
        """Whether there is more than one host."""
        return self._only is None

    def host_of(self, handle: Handle) -> str:
        """The host that tells of it; empty for this machine."""
        return self.at(handle)[0].host

    def on_host(self, host: str) -> Iterable[Handle]:
        """All delegations of a host."""
        if self._only is not None:
            return range(len(self._only)) if self._only.host == host else ()
        number = self._rows.number(host)
        return () if number is None else self._rows.handles[number]

    def word_of(self, handle: Handle) -> HostWord:
        """What its host told of itself."""
        return self.at(handle)[0].word

    def is_stale(self, handle: Handle) -> bool:
        """Whether its host was not heard of for a while: what is known of it is how it was then."""
        return self.at(handle)[0].word.is_stale(self._shown_at)

    def silence_of(self, handle: Handle) -> int:
        """Milliseconds since its host was last heard of; 0 of one that need not be."""
        return self.at(handle)[0].word.silence(self._shown_at)

    def now_of(self, handle: Handle) -> Millis:
        """The moment its host is known at, by that host's clock: what is asked of one delegation is asked of that."""
        return self._only.now if self._only is not None else self._rows.at(handle)[0].now

    def now_on(self, host: str) -> Millis:
        """The same of a host."""
        return next((trees.now for trees in self._all() if trees.host == host), self._shown_at)

    def judged_of(self, handle: Handle) -> Millis:
        """The moment of its host up to which time alone has changed what is found of it: all up to there is told."""
        return self.at(handle)[0].judged_at

    def judged_on(self, host: str) -> Millis:
        """The same of a host."""
        return next((trees.judged_at for trees in self._all() if trees.host == host), self._shown_at)

    def policy_of(self, handle: Handle) -> Policy:
        """What it is judged by: the limits of this machine's agents say nothing of another's."""
        return self.at(handle)[0].policy

    # -- whom an id means ------------------------------------------------------------------------------------------

    def same(self, before: "Forest", handle: Handle) -> Handle | None:
        """What is here the delegation that another forest of these hosts calls so."""
        trees, own = before.at(handle)
        return self.find(trees.id(own), trees.host)

    def find(self, id: str, host: str | None = None) -> Handle | None:
        """The delegation of that id, on that host if it is named; or of the name that `id` or `full_id` give one."""
        if self._only is None:
            return self._rows.find(id) if host is None else self._rows.find_on(host, id)
        found = self._only.find(id) if host is None or host == self._only.host else None
        own = f"{self._only.host}:"
        return self._only.find(id.removeprefix(own)) if found is None and host is None and id.startswith(own) else found

    def all_of(self, id: str) -> list[Handle]:
        """All of that id: several hosts may tell of one."""
        if self._only is None:
            return self._rows.all_of(id)
        found = self._only.find(id)
        return [] if found is None else [found]

    def id(self, handle: Handle) -> str:
        """By what to find it again: its id, with its host before it if another one has the same."""
        return self._only.id(handle) if self._only is not None else self._rows.name(handle)

    def name(self, handle: Handle) -> tuple[str, str]:
        """Its host, and its id as that has it."""
        trees, own = (self._only, handle) if self._only is not None else self._rows.at(handle)  # it is asked of each
        return trees.host, trees.id(own)

    def full_id(self, handle: Handle) -> str:
        """The same with its host before it, where there are several."""
        return self._only.id(handle) if self._only is not None else self._rows.full_name(handle)

    # -- one delegation --------------------------------------------------------------------------------------------

    def delegation(self, handle: Handle) -> Delegation:
        """All that is known of it, put together once for each version of it."""
        if self._only is not None:  # as above
            return self._only.delegation(handle)
        trees, own = self.at(handle)
        return trees.delegation(own)

    def version(self, handle: Handle) -> int:
        """Another one whenever facts or state of the delegation may have changed."""
        if self._only is not None:
            return self._epoch + self._only.version(handle)
        trees, own = self.at(handle)
        return self._epoch + trees.version(own)

    def state(self, handle: Handle) -> State:
        if self._only is not None:  # what is asked most goes the shortest way
            return self._only.state(handle)
        trees, own = self.at(handle)
        return trees.state(own)

    def reason(self, handle: Handle) -> str:
        """Why it is in that state, where the word alone does not say it."""
        trees, own = self.at(handle)
        return trees.reason(own)

    def ahead(self, handle: Handle) -> int:
        """Milliseconds that its last word is later than now on its host; 0 if that is no more than clocks differ."""
        trees, own = self.at(handle)
        return trees.ahead(own)

    def work(self, handle: Handle) -> tuple[str | None, str | None]:
        """Who it is, and the work it was given, without gathering all else of it."""
        trees, own = self.at(handle)
        return trees.work(own)

    def made_by(self, handle: Handle) -> tuple[str | None, str | None]:
        """The program whose files tell of it, and the model it works with."""
        trees, own = self.at(handle)
        return trees.stores[0].made_by(own)

    def cwd(self, handle: Handle) -> str | None:
        """The folder it says it works in."""
        trees, own = self.at(handle)
        return trees.cwd(own)

    def permission_mode(self, handle: Handle) -> str | None:
        """The permission mode it says it works in."""
        trees, own = self.at(handle)
        return trees.permission_mode(own)

    def is_session(self, handle: Handle) -> bool:
        """Whether it is a session of an agent program, with a process of its own, and nothing that one started within
        itself."""
        trees, own = self.at(handle)
        return trees.is_session(own)

    def is_gone(self, handle: Handle) -> bool:
        """Whether it is a session whose process is gone; one between two prompts goes on without."""
        trees, own = self.at(handle)
        return trees.is_gone(own)

    def went_with_its_session(self, handle: Handle) -> bool:
        """Whether it ran in the process of its session, and that is gone."""
        trees, own = self.at(handle)
        return trees.went_with_its_session(own)

    def deadline(self, handle: Handle) -> Deadline | None:
        """Its own deadline, or an open ancestor's that comes earlier."""
        trees, own = self.at(handle)
        return trees.deadline(own)

    def usual(self, handle: Handle) -> Usual | None:
        """The time within which nearly all of its kind were done, and how many that rests on; None if too few."""
        trees, own = self.at(handle)
        return trees.usual(own)

    def stands_out(self, handle: Handle) -> bool:
        """Whether there is more to it than that it is at work: it asks, something was noted, the registry let it go."""
        trees, own = self.at(handle)
        return trees.stands_out(own)

    def plain_work(self, handle: Handle, quiet: int) -> PlainWork | None:
        """What there is to say of it if it is plainly at work, and was heard of within that span."""
        trees, own = self.at(handle)
        return trees.plain_work(own, quiet)

    def silence(self, handle: Handle, since: Millis) -> Silence:
        """How all logs of its host were silent at once since then, up to the moment that is known at."""
        return self.at(handle)[0].silence(since)

    def times(self, handle: Handle) -> tuple[Millis | None, Millis | None, Millis | None]:
        """When it started, when there was last a sign of it, when it ended: without gathering all else of it."""
        trees, own = self.at(handle)
        return trees.times(own)

    def error_messages(self, handle: Handle) -> set[str | None]:
        """What its errors say, without gathering all else of it."""
        trees, own = self.at(handle)
        return trees.error_messages(own)

    def last_heard(self) -> Millis | None:
        """The last sign of life of any of them, by the clock of its host."""
        found = [moment for trees, _ in self.by_host() if (moment := trees.last_heard()) is not None]
        return max(found, default=None)

    def furthest_ahead(self) -> int:
        """Milliseconds that the last word of any of them is later than now on its host, if that is more than clocks
        differ."""
        return max(trees.furthest_ahead() for trees in self._all())

    def used(self, handle: Handle) -> Spent:
        """Tokens and US dollars, of this delegation alone."""
        trees, own = self.at(handle)
        return trees.used(own)

    def covers(self, handle: Handle) -> bool:
        """Whether its dollars are also those of all that it started within itself."""
        trees, own = self.at(handle)
        return trees.covers(own)

    def needs_review(self, handle: Handle) -> bool:
        """Whether a person must look at it before it goes on."""
        trees, own = self.at(handle)
        return trees.needs_review(own)

    def awaits_person(self, handle: Handle) -> bool:
        """Whether it stands still until a person allows or answers something."""
        trees, own = self.at(handle)
        return trees.awaits_person(own)

    # -- its family ------------------------------------------------------------------------------------------------

    def parent(self, handle: Handle) -> Handle | None:
        if self._only is not None:
            return self._only.parent(handle)
        trees, own = self._rows.at(handle)
        return self._one_like(handle, trees.parent(own))

    def _one_like(self, handle: Handle, own: Handle | None) -> Handle | None:
        return None if own is None else next(iter(self._like(handle, (own,))))

    def parents(self) -> Iterable[int]:
        """The parent of every delegation, in their order; -1 if it has none."""
        return self._only.parents() if self._only is not None else self._rows.parents()

    def parents_of(self, handles: Iterable[Handle]) -> list[int]:
        """The parent of each of these; -1 if it has none."""
        if self._only is not None:
            return [*map(self._only.parents().__getitem__, handles)]
        return [NOBODY if (parent := self.parent(handle)) is None else parent for handle in handles]

    def link(self, handle: Handle) -> Link:
        if self._only is not None:
            return self._only.link(handle)
        trees, own = self.at(handle)
        return trees.link(own)

    def candidates(self, handle: Handle) -> tuple[Handle, ...]:
        """The possible parents of an ambiguous link, the drawn one first."""
        trees, own = self.at(handle)
        return tuple(self._like(handle, trees.candidates(own)))

    def children(self, handle: Handle) -> list[Handle]:
        """In order of start, then id."""
        trees, own = self.at(handle)
        return list(self._like(handle, trees.children(own)))

    def offspring(self, handle: Handle) -> Iterable[Handle]:
        """Its children in no particular order."""
        trees, own = self.at(handle)
        return self._like(handle, trees.offspring(own))

    def growth(self, handle: Handle, most: int, lately: Millis) -> "Growth":
        """How it grew with all below it, of at most so many; how fast is asked of those begun since then."""
        trees, own = self.at(handle)
        found = trees.growth(own, most, lately)
        if self._only is not None:
            return found
        below, newest = list(self._like(handle, found.below)), self._one_like(handle, found.newest)
        return replace(found, below=below, newest=newest)

    def birth(self, handle: Handle) -> tuple[bool, int, str]:
        """The order of siblings: by start, then id; an unknown start comes last."""
        if self._only is not None:
            return self._only.birth(handle)
        trees, own = self.at(handle)
        return trees.birth(own)

    def level(self, handle: Handle) -> int:
        """The number of its ancestors in the tree."""
        trees, own = self.at(handle)
        return trees.level(own)

    def blocker(self, handle: Handle) -> Handle | None:
        """The delegation at the end of the active chain below: what a waiting one really waits on."""
        trees, own = self.at(handle)
        return self._one_like(handle, trees.blocker(own))

    # -- all of them -----------------------------------------------------------------------------------------------

    def roots(self) -> list[Handle]:
        if self._only is not None:
            return self._only.roots()
        return sorted((each for each, above in enumerate(self.parents()) if above == NOBODY), key=self.birth)

    def walk(self) -> Iterator[Handle]:
        """All delegations, parents before children, siblings in order."""
        if self._only is not None:
            return self._only.walk()
        return self._walk_all()

    def _walk_all(self) -> Iterator[Handle]:
        pending = self.roots()[::-1]
        while pending:
            handle = pending.pop()
            yield handle
            pending.extend(reversed(self.children(handle)))

    @property
    def counts(self) -> Mapping[State, int]:
        if self._only is not None:
            return self._only.counts
        return {state: sum(trees.counts[state] for trees in self._rows.trees) for state in State}

    def in_states(self, states: Collection[State]) -> Iterator[tuple[Handle, State]]:
        """All that are in one of these states, and in which; quicker than to ask each."""
        if self._only is not None:
            return self._only.in_states(states)
        return ((handles[own], state) for trees, handles in self._rows for own, state in trees.in_states(states))

    def for_review(self) -> Iterator[Handle]:
        """All that a person must look at before they go on."""
        if self._only is not None:
            return self._only.for_review()
        return (handles[own] for trees, handles in self._rows for own in trees.for_review())

    def for_people(self) -> set[Handle]:
        """All that stand still until a person looks, allows or answers."""
        if self._only is not None:
            return self._only.for_people()
        return {handles[own] for trees, handles in self._rows for own in trees.for_people()}

    @property
    def has_processes(self) -> bool:
        """Whether a process of any delegation is known."""
        return any(trees.has_processes for trees in self._all())

    @property
    def slept(self) -> tuple[tuple[Gaps, Slept | None], ...]:
        """By what is known whether machines slept."""
        return tuple(trees.slept for trees in self._all())

    def sleeps(self, since: Millis) -> Iterator[tuple[Millis, Millis]]:
        """When every log of a machine was silent at once since then, and it may have slept."""
        return (gap for trees in self._all() for gap in trees.sleeps(since))

    # -- what is usual ---------------------------------------------------------------------------------------------

    def learned(self) -> dict[Kind, Usual]:
        """What is usual for each kind, by the delegations of this machine alone."""
        return next((trees.learned() for trees in self._all() if not trees.host), {})

    def spans(self) -> Iterator[tuple[Kind, Sequence[int]]]:
        """How long all of this machine that are done took, by their kind."""
        return next((trees.spans() for trees in self._all() if not trees.host), iter(()))

    def reconsider(self, usual: Mapping[Kind, Usual], durations: Mapping[Kind, Counts] | None = None) -> None:
        """Judge those of this machine by its history too. It changes no state: what is usual is no promise."""
        self.policy.usual.update(usual)
        self.policy.durations.update(durations or {})


def _is_untold(trees: HostTrees) -> bool:
    """Nothing was told of it, not even that nobody is in a registry, so it may be any host's."""
    return not (trees.host or len(trees) or trees.has_registries)


def _applied(trees: HostTrees, events: Sequence[Event | EventRun]) -> Change:
    """What the host says of itself comes before what it says of its delegations."""
    if not _OF_HOST.isdisjoint(map(type, events)):
        for event in events:
            if isinstance(event, (HostMet, HostBeat)):
                trees.hear(event)
    return trees.apply(events)


class Checkpoint(msgspec.Struct, frozen=True):
    """A forest at one moment; it cannot change, and shares with its neighbours what is the same in them."""

    policy: Policy
    hosts: tuple[HostCheckpoint, ...]
    rows: Frozen | None
    """Of several hosts, whose each delegation is."""
    shown_at: Millis
    spent: int
    """About how many bytes it takes that the one before it has not."""

    def thaw(self) -> Forest:
        """The forest as it was, to go on from there."""
        forest = Forest(self.policy)
        forest._shown_at = self.shown_at
        trees = [each.thaw() for each in self.hosts]
        for each in trees:
            each.now = each.word.time(self.shown_at)
        if self.rows is None:
            (forest._only,) = trees
        else:
            forest._only, forest._rows = None, HostRows.thawed(trees, self.rows)
        return forest
