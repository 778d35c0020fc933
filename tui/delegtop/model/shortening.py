"""A forest without the oldest of its trees that are over: counted, and found again should something be told of them.

What is left is told again to a forest that begins anew, a piece at a time, while the one that is shown goes on. So
whatever was kept of the others is gone with it, wherever it was kept.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

from delegtop.base.clock import Millis, monotonic
from delegtop.model.forest import Change, Forest
from delegtop.model.states import ACTIVE, ENDED_BADLY, State
from delegtop.model.store.finished_trees import FinishedRow, FinishedTrees, packed_events
from delegtop.model.store.ledger import Handle
from delegtop.model.store.retelling import listed, retold

_AT_A_TIME = 32
_AT_ONCE = 500
"""So many may have come meanwhile that are told all at once at the end."""
_NOBODY = -1
_TROUBLED = ENDED_BADLY | {State.LOST}
Trees = dict[Handle, list[Handle]]
"""By their roots."""


class Shortening:
    """Made of one moment of a forest; whoever tells that forest something meanwhile says here what it changed."""

    def __init__(
        self,
        forest: Forest,
        keep: int,
        since: Millis,
        held: Iterable[Handle] = (),
        trouble: Callable[[Handle], str | None] = lambda _: None,
    ) -> None:
        """Of the trees that are over since then about `keep` delegations stay, the newest, and as many of those in
        which something went wrong; and those of `held`. What is the matter with one that was lost or ended badly
        `trouble` says: None if that is not over."""
        self._forest, self._known = forest, len(forest)
        self._told = self._known
        """Up to this one all are told that stay."""
        self._changed: set[Handle] = set()
        self._trouble = trouble
        self._going = _oldest(forest, _over(forest, held, trouble), since, keep)
        gone = {handle for tree in self._going.values() for handle in tree}
        self._heir = forest.bare()
        for (heir, _), (trees, _) in zip(self._heir.by_host(), forest.by_host(), strict=True):
            heir.stores[0].pulse = trees.stores[0].pulse
        self._hosts = [*forest.hosts]
        self._packed: dict[Handle, list[FinishedRow]] = {}
        """What is kept of the trees that go, by their roots."""
        staying = [handle for handle in range(self._known) if handle not in gone]
        self._telling = chain(self._tell(staying), self._pack([*self._going]), self._catch_up())

    @property
    def rows(self) -> int:
        """So many go."""
        return sum(map(len, self._going.values()))

    @property
    def has_all_hosts(self) -> bool:
        """Whether no other host was told of since then: that one would be missing."""
        return self._hosts == [*self._forest.hosts]

    def follow(self, change: Change) -> None:
        """The forest was told something."""
        self._changed.update(change.touched, change.lives, change.moved)

    def work(self, seconds: float) -> bool:
        """Go on for about that long; True when all is told but what changed meanwhile."""
        until = monotonic() + seconds
        return all(monotonic() < until for _ in self._telling)

    def finish(self, held: Iterable[Handle] = ()) -> Forest:
        """The shorter forest, to be shown instead; the other is not to be used any more."""
        forest, heir = self._forest, self._heir
        back = self._stay_after_all(held)
        deque(self._telling, 0)
        changed = sorted(handle for handle in self._changed if handle < self._told)
        deque(self._tell([*changed, *sorted(back), *range(self._told, len(forest))]), 0)
        finished = forest.finished or FinishedTrees()
        for trees, _ in heir.by_host():
            trees.finished = finished
        for root, tree in self._going.items():
            try:
                finished.put(self._packed[root])
            except (KeyError, ValueError):  # what cannot be kept so stays
                back.update(tree)
                deque(self._tell(tree), 0)
        heir.apply([event for trees, _ in forest.by_host() for event in listed(trees.stores[0])])
        for handle in forest.came_back | back:
            trees, own = forest.at(handle)
            if (found := heir.find(trees.id(own), trees.host)) is not None:
                trees, own = heir.at(found)
                trees.came_back.add(own)
        _go_on(heir, forest)
        return heir

    def _stay_after_all(self, held: Iterable[Handle]) -> set[Handle]:
        """The delegations of trees of which something was told since, or that somebody looks at now."""
        forest, found = self._forest, set[Handle]()
        for handle in (*self._changed, *held, *range(self._known, len(forest))):
            for above in _path(forest, handle):  # one that was a root may be part of another tree by now
                found.update(self._going.pop(above, ()))
        return found

    def _tell(self, handles: Sequence[Handle]) -> Iterator[None]:
        """Tell of these, a few at a time."""
        for start in range(0, len(handles), _AT_A_TIME):
            some = map(self._forest.at, handles[start : start + _AT_A_TIME])
            self._heir.apply([event for trees, own in some for event in retold(trees.stores[0], own, trees.host)])
            yield

    def _catch_up(self) -> Iterator[None]:
        """Tell of those that came meanwhile, as long as there are many."""
        while len(self._forest) - self._told > _AT_ONCE:
            came, self._told = range(self._told, len(self._forest)), len(self._forest)
            yield from self._tell(came)

    def _pack(self, roots: Sequence[Handle]) -> Iterator[None]:
        """Write down the trees that go, a few at a time."""
        for number, root in enumerate(roots):
            if root in self._going:
                with suppress(ValueError):  # see `finish`
                    self._packed[root] = [*_rows(self._forest, self._going[root], self._trouble)]
            if not number % _AT_A_TIME:
                yield


def _go_on(heir: Forest, before: Forest) -> None:
    """Be at the same moment, and know what was learned from all."""
    both = [(new, old) for (new, _), (old, _) in zip(heir.by_host(), before.by_host(), strict=True)]
    for new, old in both:
        new.word, new.stores[0].clock_steps = old.word, old.clock_steps
        new.heed_kernel(old.slept[1])
    heir.advance(before.shown_at)
    for new, old in both:
        new.stores[2].habits.take_over(old.stores[2].habits)


def _over(forest: Forest, held: Iterable[Handle], trouble: Callable[[Handle], str | None]) -> Trees:
    """The trees that are over and at rest, and that nobody needs. Of a host that is not heard of, all stay."""
    roots = _roots(forest)
    busy = {roots[handle] for handle, _ in forest.in_states(ACTIVE)}
    busy.update(roots[handle] for handle, _ in forest.in_states(_TROUBLED) if trouble(handle) is None)
    for host, handles in forest.by_host():
        if handles and forest.is_stale(handles[0]):
            busy.update(roots[handle] for handle in handles)
            continue
        ledger, lineage, _ = host.stores
        needed = {own for _, _, present in ledger.registries.latest() for own in present}
        busy.update(roots[handles[own]] for own in needed.union(lineage.all_candidates()))
    busy.update(roots[handle] for handle in {*held, *forest.for_review()})
    busy.update(roots[handle] for handle, _ in forest.in_states({State.IDLE}) if _was_heard_lately(forest, handle))
    trees: Trees = {}
    for handle, root in enumerate(roots):
        if root not in busy:
            trees.setdefault(root, []).append(handle)
    return trees


def _oldest(forest: Forest, trees: Trees, since: Millis, keep: int) -> Trees:
    """Of those that are over since then all but the newest, of which about so many delegations stay. Who came back is
    among the newest, however long it is over."""
    last = {
        root: max(_last_sign(forest, handle) for handle in tree) + forest.word_of(root).offset
        for root, tree in trees.items()
    }
    back = {root for root, tree in trees.items() if not forest.came_back.isdisjoint(tree)}
    ended = (root for root in trees if last[root] >= since)
    newest_first = sorted(ended, key=lambda root: (root not in back, -last[root], -root))
    wrong = {handle for handle, _ in forest.in_states(_TROUBLED)}
    room = {True: keep, False: keep}
    going: Trees = {}
    for root in newest_first:
        kind = not wrong.isdisjoint(trees[root])
        if room[kind] <= 0:
            going[root] = trees[root]
        room[kind] -= len(trees[root])
    return dict(reversed(going.items()))


def _last_sign(forest: Forest, handle: Handle) -> Millis:
    _, heard, ended = forest.times(handle)
    return ended or heard or Millis(0)


def _was_heard_lately(forest: Forest, handle: Handle) -> bool:
    """A session between two prompts: somebody may have the next one in mind."""
    return _last_sign(forest, handle) + forest.policy.lost_after >= forest.now_of(handle)


def _roots(forest: Forest) -> list[Handle]:
    """The root of every delegation."""
    parents = list(forest.parents())
    roots = [_NOBODY] * len(parents)
    for handle in range(len(parents)):
        path = [handle]
        while roots[path[-1]] == _NOBODY and parents[path[-1]] != _NOBODY:
            path.append(parents[path[-1]])
        root = path[-1] if roots[path[-1]] == _NOBODY else roots[path[-1]]
        for each in path:
            roots[each] = root
    return roots


def _path(forest: Forest, handle: Handle) -> Iterator[Handle]:
    """It and all above it."""
    climber: Handle | None = handle
    while climber is not None:
        yield climber
        climber = forest.parent(climber)


def _rows(forest: Forest, tree: Collection[Handle], trouble: Callable[[Handle], str | None]) -> Iterator[FinishedRow]:
    """What is kept of a tree; ValueError if it cannot be."""
    for handle in tree:
        trees, own = forest.at(handle)
        ledger, _, lifecycle = trees.stores
        parent = ledger.starts.parent[own]
        awaits = parent if parent is not None and ledger.find(parent) is None else None
        kind, took = lifecycle.habits.of(own)
        told = packed_events(retold(ledger, own, trees.host))
        state = trees.state(own)
        matter = trouble(handle) if state in _TROUBLED else None
        yield FinishedRow(trees.id(own), state, kind, took, awaits, told, matter or "", trees.host)
