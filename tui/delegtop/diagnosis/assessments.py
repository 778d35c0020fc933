"""The assessments of a forest: made once, kept until what they rest on changes, in the order of looking.

An assessment rests on the delegation itself, on how those above and below it live, and on the time. So whoever takes in
events tells here what changed, and time is on an agenda: nothing is judged again without a reason, and nothing that has
one is left as it was.
"""

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from delegtop.base.clock import MINUTE, Millis, monotonic
from delegtop.diagnosis.assessment import PRESSING, Assessment, Key, Urgency, assess
from delegtop.diagnosis.case import Case, Exists, unseen
from delegtop.diagnosis.finding import Finding
from delegtop.diagnosis.glance import Glance, glance, glance_of
from delegtop.diagnosis.held_up import answerer
from delegtop.diagnosis.kin import Below, Ties, above
from delegtop.diagnosis.path_ends import KeptEnds
from delegtop.diagnosis.verdicts import Certainty, Kind
from delegtop.model.forest import Forest
from delegtop.model.host_agenda import HostAgenda
from delegtop.model.states import ACTIVE, ENDED_BADLY, OPEN, State
from delegtop.model.store.ledger import Handle

if TYPE_CHECKING:
    from delegtop.diagnosis.recovery import Step

_WATCHED = OPEN | ENDED_BADLY
_AT_A_TIME = 16

Stamp = tuple[int, int | None]
"""The versions of a delegation and of the one it waits on: where that was last heard of is part of what is told."""
_STALE: Stamp = (-1, None)
Judged = tuple[Assessment | Glance, bool]
"""What was found of one, and whether nothing has changed since."""


class Assessments:
    """What is the matter with each delegation of a forest."""

    def __init__(self, forest: Forest, exists: Exists = unseen) -> None:
        self.forest, self._exists = forest, exists
        self.version = 0
        """Grows with every change of an assessment."""
        self.begin_again()

    def begin_again(self) -> None:
        """The forest is another one, or all of it is new."""
        forest = self.forest
        self._known: dict[Handle, tuple[Stamp, Assessment]] = {}
        """Of all that is open or a problem: what it was judged by, and how."""
        self._glanced: dict[Handle, Glance] = {}
        """Those of which a glance told what counts: they are assessed when somebody asks, and most come and go without
        that."""
        self._order: list[Key] = []
        self._now: tuple[int, list[Assessment]] = (-1, [])
        self._earlier: Counter[str] = Counter()
        self._agenda = HostAgenda(forest)
        self.path_ends = KeptEnds(forest)
        """Whom each one waits on in the end, as that was last judged."""
        self._dirty: set[Handle] = set()
        self._queue: deque[Handle] = deque()
        self._below = Below(forest.parent)
        """Those to whom it means something how the ones above them live."""
        self._answered_by = Ties()
        """Those that have just ended badly, by who may answer that."""
        self._ends: dict[Handle, Handle] = {}
        """At the end of whose path there is somebody, and who that is."""
        self._changed: set[Handle] = set()
        """Who is assessed otherwise since the last `update`, whoever asked."""
        self._moments, self._slept = self._judged_on_hosts(), forest.slept
        policy = forest.policy
        self._turns_silent_first = policy.silent_after <= min(policy.suspect_after, policy.tool_suspect_after)
        self._heard_within = min(MINUTE, policy.silent_after, policy.suspect_after, policy.tool_suspect_after)
        """No judge speaks of who was heard of since, for its silence."""
        self.version += 1
        ended = sorted(forest.in_states(ENDED_BADLY), key=lambda each: -(forest.times(each[0])[2] or 0))
        self._want(handle for handle, _ in (*forest.in_states(OPEN), *ended))
        self._want(forest.for_review())

    def judged(self) -> list[Judged]:
        """All that is known, and whether nothing has changed since; for `renumber`."""
        doubtful, glanced = self._dirty, self._glanced.items()
        known = [(each, stamp == self._stamp(each)) for h, (stamp, each) in self._known.items() if h not in doubtful]
        return [*known, *((each, True) for h, each in glanced if each.urgency.problem and h not in doubtful)]

    def renumber(self, before: Forest, judged: Iterable[Judged]) -> None:
        """The same delegations have other handles than they had before, and some that were at rest have none. What was
        judged holds."""
        changed = self._changed
        self.begin_again()
        for each, is_fresh in judged:
            if isinstance(each, Glance):
                handle = self.forest.same(before, each.key[-1])
                if handle is not None:
                    self._keep(handle, None, each.renumbered(handle, self.forest.version(handle)))
                    self._dirty.discard(handle)
                continue
            told = _renumbered(each, lambda handle: self.forest.same(before, handle))
            if told is not None:
                self._keep(told.handle, told)
                self._dirty.discard(told.handle)
                self._known[told.handle] = self._stamp(told) if is_fresh else _STALE, told
        self._changed = {new for old in changed if (new := self.forest.same(before, old)) is not None}

    # -- asking ------------------------------------------------------------------------------------------------------

    def of(self, handle: Handle) -> Assessment:
        """The assessment at the moment the forest shows."""
        known = self._known.get(handle)
        if known is None or handle in self._dirty or known[0] != self._stamp(known[1]) or self._is_due(known[1]):
            return self._assess(handle)
        return known[1]

    def known(self, handle: Handle) -> Assessment | None:
        """The same, as it was last judged; nothing of what is at rest. It costs nothing, but of one that was only
        glanced at the first time."""
        if handle in self._glanced:
            self._assess(handle)
        return self.looked_at(handle)

    def looked_at(self, handle: Handle) -> Assessment | None:
        """The same of one that was looked at closely. It never costs anything."""
        known = self._known.get(handle)
        return known[1] if known else None

    def key(self, handle: Handle) -> Key | None:
        """Its place in the order of looking, as it was last judged; nothing of what is at rest."""
        known = self._known.get(handle)
        if known is not None:
            return known[1].key
        seen = self._glanced.get(handle)
        return None if seen is None else seen.key

    def at_a_glance(self, handle: Handle) -> Glance | None:
        """What counts of it, as it was last judged; nothing of what is at rest. It never costs anything."""
        known = self._known.get(handle)
        return self._glanced.get(handle) if known is None else glance_of(known[1], known[0][0])

    def end_of_path(self, handle: Handle) -> Handle | None:
        """Whom it waits on in the end, as that was last judged."""
        return self.path_ends.of(handle)

    def sentence(self, handle: Handle) -> str:
        return self.of(handle).sentence(self.forest.now_of(handle))

    def problems(self) -> list[Assessment]:
        """All problems that are known, in the order of looking."""
        return [each for each in map(self.known, self.in_order(earlier=True)) if each is not None and each.problem]

    def in_order(self, *, earlier: bool = False) -> list[Handle]:
        """Those in which there is a problem of this moment, or with the earlier ones, in the order of looking."""
        return [key[-1] for key in (self._order if earlier else self._order[: self.count()])]

    def look_closer(self, seconds: float, *, earlier: bool = False) -> bool:
        """Assess those of them that were only glanced at, for about that long; True if some are left."""
        until = monotonic() + seconds
        glanced = [handle for handle in self.in_order(earlier=earlier) if handle in self._glanced]
        for number, handle in enumerate(glanced, 1):
            self._assess(handle)
            if number % _AT_A_TIME == 0 and monotonic() > until:
                return number < len(glanced)
        return False

    def now(self) -> Sequence[Assessment]:
        """Those of this moment, without the earlier ones."""
        if self._now[0] != self.version:
            found = [each for each in map(self.known, self.in_order()) if each is not None and each.is_now]
            self._now = self.version, found
        return self._now[1]

    def first(self) -> Assessment | None:
        """What presses most of all problems that are known."""
        return self.known(self._order[0][-1]) if self._order else None

    def pressing(self) -> int:
        """How many of this moment stand still until somebody does something; they come first in the order."""
        return bisect_left(self._order, (max(PRESSING) + 1,))

    def count(self, *, earlier: bool = False) -> int:
        """How many problems there are at this moment, or with the earlier ones."""
        return len(self._order) if earlier else bisect_left(self._order, (Urgency.EARLIER,))

    def earlier(self) -> Mapping[str, int]:
        """How many earlier troubles there are of each kind, the most first."""
        return {kind: count for kind, count in self._earlier.most_common() if count}

    def ranked(self) -> list[Handle]:
        """All delegations in the order of looking, and those in which there is no problem by host and id, too."""
        return sorted(range(len(self.forest)), key=lambda handle: (self.of(handle).key[:3], self.forest.name(handle)))

    def findings(self, handle: Handle) -> tuple[Finding, ...]:
        """What the rules find about it, worst first."""
        from delegtop.diagnosis.engine import diagnose  # the rules take time to load, and the first picture needs none

        return diagnose(Case(self.forest, handle, self._exists, ends=self.path_ends))

    def todo(self, handle: Handle, findings: Collection[Finding] | None = None) -> "tuple[Step, ...]":
        """What to do about it, ranked by use."""
        from delegtop.diagnosis import recovery  # as above

        found = self.findings(handle) if findings is None else findings
        return recovery.todo(Case(self.forest, handle, self._exists, ends=self.path_ends), tuple(found))

    @property
    def waiting(self) -> int:
        """How many are to be judged."""
        return len(self._dirty)

    # -- what changes ------------------------------------------------------------------------------------------------

    def touch(self, touched: Iterable[Handle], lives: Iterable[Handle]) -> None:
        """These changed; of `lives`, how they live: they began, ended, moved or are in another state."""
        lives, higher, lower = set(lives), set[Handle](), set[Handle]()
        for handle in lives:
            self._below.follow(handle)
            if others := self.path_ends.follow(handle):
                self._want(filter(self._matters, others))
        for handle in lives:
            self._want((handle, *self._answered_by[handle]))
            self._want(filter(self._matters, above(self.forest.parent, handle, higher)))
            self._want(self._below.of(handle, lower))
        for handle in touched:
            if handle not in lives:
                self._want(self._answered_by[handle])
                self._want(() if self._is_plain(handle) else (handle, *self._told_of_rest(handle)))

    def _told_of_rest(self, handle: Handle) -> Iterable[Handle]:
        """Who gave it the work, if it is at rest: that one counts from its last word."""
        parent = self.forest.parent(handle) if self.forest.state(handle) is State.IDLE else None
        return () if parent is None else (parent,)

    def _is_plain(self, handle: Handle) -> bool:
        """It is at work, or waits for a child, and has only said so once more: it turns silent before it can be
        suspicious, and then how it lives is another."""
        known, seen = self.looked_at(handle), self._glanced.get(handle)
        if seen is not None:
            return self.forest.state(handle) in OPEN and not self.forest.stands_out(handle)
        if known is None or known.urgency is not Urgency.AT_WORK or self.forest.stands_out(handle):
            return False
        return known.verdict is Kind.WAITING_ON_CHILD or (known.state is State.RUNNING and self._turns_silent_first)

    def _matters(self, handle: Handle) -> bool:
        return handle in self._glanced or handle in self._known or self._may_be_kept(handle)

    def _may_be_kept(self, handle: Handle) -> bool:
        """Whether it is open or may be a problem."""
        return self.forest.state(handle) in _WATCHED or self.forest.needs_review(handle)

    def _want(self, handles: Iterable[Handle]) -> None:
        for handle in handles:
            if handle not in self._dirty:
                self._dirty.add(handle)
                self._queue.append(handle)

    def update(self, seconds: float | None = None) -> set[Handle]:
        """Judge what changed, by events or by time, for about that long; returns whose assessment is another now."""
        self._want(self._agenda.due())
        moments = self._judged_on_hosts()
        if any(now < self._moments.get(host, now) for host, now in moments.items()):
            self._want((*self._known, *self._glanced))  # a clock was set: what was past may be to come
        self._moments = moments
        if self._slept != self.forest.slept:  # time that nobody is charged with has come to light
            self._slept = self.forest.slept
            self._want(handle for handle, (_, known) in self._known.items() if known.state in ACTIVE)
            self._want(self._glanced)
        until = None if seconds is None else monotonic() + seconds
        judged = 0
        while self._queue and (until is None or judged % _AT_A_TIME or monotonic() < until):
            handle = self._queue.popleft()
            if handle not in self._dirty:
                continue
            judged += 1
            self._dirty.discard(handle)  # what is found may mean something to what is found of it
            if self._may_be_kept(handle):
                self._look_at(handle)
            elif handle in self._known or handle in self._glanced:  # it has come to rest
                self._keep(handle, None)
        changed, self._changed = self._changed, set()
        return changed

    def _judged_on_hosts(self) -> dict[str, Millis]:
        return {host: self.forest.judged_on(host) for host in self.forest.hosts}

    def next_turn(self) -> Millis | None:
        """The first moment at which time alone may change an assessment."""
        return self._agenda.next()

    # -- keeping -----------------------------------------------------------------------------------------------------

    def _is_due(self, known: Assessment) -> bool:
        return known.turns is not None and self.forest.judged_of(known.handle) >= known.turns

    def _stamp(self, known: Assessment) -> Stamp:
        version, end = self.forest.version, known.waits_on
        return version(known.handle), None if end is None else version(end)

    def _look_at(self, handle: Handle) -> None:
        """Assess it, unless a glance tells what counts and nobody has asked for more."""
        seen = glance(self.forest, handle, self._heard_within, self.path_ends)
        if seen is None:
            self._assess(handle)
        else:
            self._keep(handle, None, seen)

    def _assess(self, handle: Handle) -> Assessment:
        self._dirty.discard(handle)
        found = assess(Case(self.forest, handle, self._exists, ends=self.path_ends))
        self._keep(handle, found if found.problem or found.state in _WATCHED else None)
        return found

    def _keep(self, handle: Handle, after: Assessment | None, seen: Glance | None = None) -> None:
        """It is judged so now, or was `seen` to be so; neither of one at rest."""
        known, before = self._known.pop(handle, None), self._glanced.pop(handle, None)
        if known is not None:
            before = glance_of(known[1], known[0][0])
        if after is not None:
            self._known[handle] = stamp = self._stamp(after), after
            now: Glance | None = glance_of(after, stamp[0][0])
        elif seen is not None:
            self._glanced[handle] = now = seen
        else:
            now = None
        self._agenda.set(handle, now.turns if now else None)
        if others := self.path_ends.take(handle, _trouble(now)):
            self._want(filter(self._matters, others))
        self._tie(handle, now, self._end_of_path(after) if after is not None else seen.waits_on if seen else None)
        if known is not None and after is not None:
            is_same = known[1] == after
        else:
            is_same = before is now if now is None or before is None else now.tells_as(before)
        if is_same:
            return
        self.version += 1
        self._changed.add(handle)
        if before is None or now is None or before.key != now.key or before.kind != now.kind:
            self._enter(handle, before, now)

    def _enter(self, handle: Handle, before: Glance | None, now: Glance | None) -> None:
        """It has another place in the order of looking, or is another trouble."""
        was = is_one = None
        if before is not None:
            was = before.urgency.problem
            if was:
                del self._order[bisect_left(self._order, before.key)]
                self._earlier[before.kind] -= before.urgency is Urgency.EARLIER
        if now is not None:
            is_one = now.urgency.problem
            if is_one:
                insort(self._order, now.key)
                self._earlier[now.kind] += now.urgency is Urgency.EARLIER
        if was is not None and is_one is (not was) and self.forest.state(handle) in ACTIVE:
            self._want(filter(self._is_late, above(self.forest.parent, handle, set())))

    def _is_late(self, handle: Handle) -> bool:
        """Whether it is overdue: if somebody below it is in trouble, that is why, and else it is its own affair."""
        return self.forest.state(handle) is State.OVERDUE

    def _tie(self, handle: Handle, now: Glance | None, end: Handle | None) -> None:
        self._below.keep(handle, now is not None and self._heeds_those_above(handle, now.turns))
        just_ended = now is not None and now.urgency is Urgency.JUST_ENDED
        self._answered_by.tie(handle, answerer(self.forest, handle) if just_ended else None)
        self._meet(handle, end)

    def _heeds_those_above(self, handle: Handle, turns: Millis | None) -> bool:
        """Whether how those above it live may change what is the matter with it: it is open, has just ended badly and
        may be answered, or was interrupted and may be so with whoever gave it the work."""
        state = self.forest.state(handle)
        if state in OPEN or state is State.INTERRUPTED:
            return True
        return state in ENDED_BADLY and turns is not None

    def _end_of_path(self, known: Assessment) -> Handle | None:
        """Whom it waits on in the end, whatever else is the matter with it."""
        waits = known.state in (State.WAITING, State.OVERDUE)
        return known.waits_on if known.waits_on is not None or not waits else self.end_of_path(known.handle)

    def _meet(self, handle: Handle, end: Handle | None) -> None:
        """Who is at the end of its path now holds it up, and who was does so no longer."""
        before = self._ends.pop(handle, None)
        if end is not None:
            self._ends[handle] = end
        if before != end:
            self._want(each for each in (before, end) if each is not None and self._tells_of(each, handle, each != end))

    def _tells_of(self, end: Handle, handle: Handle, told: bool) -> bool:
        """Whether a problem at the end of a path names this one among those it holds up, or does not."""
        known = self.looked_at(end)
        return known is not None and known.problem and (handle in known.blocks) == told


def _trouble(now: Glance | None) -> Key | None:
    """Where it would stand if it held up nobody, if something is the matter with it."""
    if now is None or not now.urgency.problem:
        return None
    is_raised = now.urgency is Urgency.STUCK and now.key[1] == Certainty.POSSIBLE.rank
    return (Urgency.SUSPICIOUS if is_raised else now.urgency, *now.key[1:])


def _renumbered(known: Assessment, new: Callable[[Handle], Handle | None]) -> Assessment | None:
    """The same of who has another handle; None if one that it tells of has none any more."""
    end = None if known.waits_on is None else new(known.waits_on)
    handle, above = new(known.handle), [each for each in map(new, known.blocks) if each is not None]
    if handle is None or len(above) < len(known.blocks) or (end is None) != (known.waits_on is None):
        return None
    return msgspec.structs.replace(known, handle=handle, blocks=tuple(above), waits_on=end)
