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
from delegtop.model.host_trees import HostTrees
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
        self._heir = Forest(forest.policy)
        _trees(self._heir).stores[0].pulse = _trees(forest).stores[0].pulse
        self._packed: dict[Handle, list[FinishedRow]] = {}
        """What is kept of the trees that go, by their roots."""
        staying = [handle for handle in range(self._known) if handle not in gone]
        self._telling = chain(self._tell(staying), self._pack([*self._going]), self._catch_up())

    @property
    def rows(self) -> int:
        """So many go."""
        return sum(map(len, self._going.values()))

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
        trees = _trees(heir)
        finished = trees.finished = forest.finished or FinishedTrees()
        for root, tree in self._going.items():
            try:
                finished.put(self._packed[root])
            except (KeyError, ValueError):  # what cannot be kept so stays
                back.update(tree)
                deque(self._tell(tree), 0)
        heir.apply(listed(_trees(forest).stores[0]))
        came_back = map(heir.find, map(forest.id, forest.came_back | back))
        trees.came_back = {handle for handle in came_back if handle is not None}
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
        ledger = _trees(self._forest).stores[0]
        for start in range(0, len(handles), _AT_A_TIME):
            some = handles[start : start + _AT_A_TIME]
            self._heir.apply([event for handle in some for event in retold(ledger, handle)])
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


def _trees(forest: Forest) -> HostTrees:
    """Those of this machine: a forest of several hosts is not shortened."""
    if forest.own is None:
        raise ValueError("several hosts are told of")
    return forest.own


def _go_on(heir: Forest, before: Forest) -> None:
    """Be at the same moment, and know what was learned from all."""
    (ledger, _, lifecycle), (told, _, known) = _trees(heir).stores, _trees(before).stores
    ledger.clock_steps = told.clock_steps
    heir.advance(before.shown_at)
    lifecycle.habits.take_over(known.habits)


def _over(forest: Forest, held: Iterable[Handle], trouble: Callable[[Handle], str | None]) -> Trees:
    """The trees that are over and at rest, and that nobody needs."""
    ledger, lineage, _ = _trees(forest).stores
    roots = _roots(forest)
    busy = {roots[handle] for handle, _ in forest.in_states(ACTIVE)}
    busy.update(roots[handle] for handle, _ in forest.in_states(_TROUBLED) if trouble(handle) is None)
    needed = {handle for _, _, present in ledger.registries.latest() for handle in present}
    busy.update(roots[h] for h in needed.union(lineage.all_candidates(), held, forest.came_back, forest.for_review()))
    busy.update(roots[handle] for handle, _ in forest.in_states({State.IDLE}) if _was_heard_lately(forest, handle))
    trees: Trees = {}
    for handle, root in enumerate(roots):
        if root not in busy:
            trees.setdefault(root, []).append(handle)
    return trees


def _oldest(forest: Forest, trees: Trees, since: Millis, keep: int) -> Trees:
    """Of those that are over since then all but the newest, of which about so many delegations stay."""
    last = {root: max(_last_sign(forest, handle) for handle in tree) for root, tree in trees.items()}
    newest_first = sorted((root for root in trees if last[root] >= since), key=lambda root: (-last[root], -root))
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
    ledger, _, lifecycle = _trees(forest).stores
    for handle in tree:
        parent = ledger.starts.parent[handle]
        awaits = parent if parent is not None and ledger.find(parent) is None else None
        kind, took = lifecycle.habits.of(handle)
        told = packed_events(retold(ledger, handle))
        state = forest.state(handle)
        matter = trouble(handle) if state in _TROUBLED else None
        yield FinishedRow(forest.id(handle), state, kind, took, awaits, told, matter or "")
