"""Lineage: who handed work to whom.

A parent is explicit when a log names it. Otherwise it is inferred: an earlier delegation whose path is a prefix of this
one's and that was open when this one started. Two that fit make the link ambiguous; it is drawn to the latest of them.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import lt

from delegtop.model.delegation import Link
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.numbers import UNSET

_ROOT, _EXPLICIT, _INFERRED, _AMBIGUOUS = range(4)
_LINKS = (Link.ROOT, Link.EXPLICIT, Link.INFERRED, Link.AMBIGUOUS)
NOBODY = -1

LOOK_BACK = 64
"""How many earlier delegations on the same path are tried as parents: the recent ones are the likely ones, and a log
with a million of them must not be searched for each."""

LONGEST_PATH = 100
"""Names. Something is kept under every part of a path: one of ten thousand names would take all the memory there is."""

_SHARE = 16
"""Where more than this part of all is to be looked at, all are looked at in one go, rather than each for itself."""

Path = tuple[str, ...]
_ANY_TASK = "\0any"
Move = tuple[Handle, Handle | None, Handle | None]
"""A delegation, its parent before, and its parent now."""
Filed = tuple[Path, str | None, int, bool, bool]
"""Under which path, task and start a delegation was filed, whether it names its parent, and whether it may be one."""
Place = tuple[Path, str | None, bool, bool]
"""The same without its start: by this it is found."""


class Lineage:
    """Parents and children, kept up to date as starts and ends become known."""

    NOT_ITS_OWN = ("_ledger",)
    BORROWS = True

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parent = array("i")
        self._how = array("b")
        # Children as a chain of siblings: three numbers a delegation instead of a container for each parent.
        self._first_child = array("i")
        self._next_sibling = array("i")
        self._previous_sibling = array("i")
        self._filed: dict[Handle, Filed] = {}
        self._awaiting: dict[str, set[Handle]] = {}
        """Declared parents never seen, and the children that named them."""
        self._on_path: dict[tuple[Path, str | None], array[int]] = {}
        self._below_path: dict[Path, array[int]] = {}
        """Delegations without a declared parent, under every proper prefix of their path. Only who is on one of these
        paths can be an inferred parent, so only they are filed: where logs name their parents that is nobody."""
        self._candidates: dict[Handle, tuple[Handle, ...]] = {}
        self._cut: set[Handle] = set()
        """Children of a declared parent that is their own descendant: the circle is opened at the least id."""
        # What one update has done so far.
        self._redeclared: set[Handle] = set()
        self.unsettled: set[Handle] = set()
        """Those whose parent is the same as before the last update, and more or less sure."""
        self._moved_from: dict[Handle, Handle] = {}

    def parent(self, handle: Handle) -> Handle | None:
        parent = self._parent[handle]
        return None if parent == NOBODY else parent

    def parents(self) -> Sequence[int]:
        """The parent of every delegation, NOBODY if it has none."""
        return self._parent

    def link(self, handle: Handle) -> Link:
        if self._ledger.is_guess(handle) and self._parent[handle] != NOBODY:
            return Link.INFERRED
        return _LINKS[self._how[handle]]

    def candidates(self, handle: Handle) -> tuple[Handle, ...]:
        return self._candidates.get(handle, ())

    def all_candidates(self) -> Iterable[Handle]:
        """Everybody who may be the parent of somebody whose link is ambiguous."""
        return {candidate for candidates in self._candidates.values() for candidate in candidates}

    def children(self, handle: Handle) -> Iterator[Handle]:
        child = self._first_child[handle]
        while child != NOBODY:
            yield child
            child = self._next_sibling[child]

    def levels(self, handle: Handle, most: int) -> list[list[Handle]]:
        """All below it, level by level, until they are more than so many."""
        first, following = self._first_child, self._next_sibling
        levels, above, count = [], [handle], 0
        while above and count <= most:
            below: list[Handle] = []
            for parent in above:
                child = first[parent]
                while child != NOBODY and count <= most:
                    below.append(child)
                    count += 1
                    child = following[child]
            if below:
                levels.append(below)
            above = below
        return levels

    def parents_among(self, handles: Iterable[Handle]) -> list[Handle]:
        """Those that have children."""
        first = self._first_child
        return [handle for handle in handles if first[handle] != NOBODY]

    def ancestors(self, handle: Handle) -> Iterator[Handle]:
        """The nearest first."""
        parents = self._parent
        handle = parents[handle]
        while handle != NOBODY:
            yield handle
            handle = parents[handle]

    def update(self, started: set[Handle], ended: set[Handle]) -> tuple[range, list[Move]]:
        """Take in new and changed starts and ends. Returns the delegations added, and those that got another parent."""
        added = range(len(self._parent), len(self._ledger))
        for column in (self._parent, self._first_child, self._next_sibling, self._previous_sibling):
            column.extend(array("i", (NOBODY,)) * len(added))
        self._how.extend(array("b", (_ROOT,)) * len(added))
        affected: set[Handle] = set()
        self.unsettled.clear()
        self._file(started, affected)
        self._link_all_declared(sorted(started), added)
        if added.start and self._on_path:  # else all who name no parent are affected, or nobody has an inferred one
            for handle in self._filed.keys() & (self._declared_below(self._redeclared | started) | ended):
                affected |= self._possible_children(self._filed[handle])
        self._redeclared.clear()
        if not self._on_path:  # nobody can be an inferred parent, and who is new has none yet
            affected = {handle for handle in affected if handle < added.start}
        for handle in affected:
            self._infer(handle)
        moves = [
            (handle, None if old == NOBODY else old, self.parent(handle))
            for handle, old in self._moved_from.items()
            if handle < added.start and self._parent[handle] != old
        ]
        self._moved_from.clear()
        return added, moves

    # -- declared parents ------------------------------------------------------------------------------------------

    def _link_all_declared(self, handles: Sequence[Handle], added: range) -> None:
        ids, parents, find = self._ledger.ids, self._ledger.starts.parent, self._ledger.handles.get
        parent_of, first_child, following = self._parent, self._first_child, self._next_sibling
        previous, how, cut, start = self._previous_sibling, self._how, self._cut, added.start
        # All that are told of are known by now, so nobody who is among these will be awaited by another of them.
        awaited = {handle for handle in handles if ids[handle] in self._awaiting} if self._awaiting else ()
        for handle in handles:
            name = parents[handle]
            if name is None:
                if handle in awaited:
                    self._link_declared(handle)
                continue
            parent = find(name)
            is_new = handle >= start and parent_of[handle] == NOBODY and first_child[handle] == NOBODY
            if parent is None or parent == handle or cut or not is_new or handle in awaited:
                self._link_declared(handle)
            else:  # nearly all: nobody is below it, so no circle can be closed, and it was nobody's child before
                how[handle] = _EXPLICIT
                parent_of[handle] = parent
                following[handle] = elder = first_child[parent]
                if elder != NOBODY:
                    previous[elder] = handle
                first_child[parent] = handle

    def _link_declared(self, handle: Handle) -> None:
        ledger = self._ledger
        id, name = ledger.ids[handle], ledger.starts.parent[handle]
        if id in self._awaiting:
            for child in sorted(self._awaiting.pop(id)):
                if ledger.starts.parent[child] == id:
                    self._declare(child)
        if name is None:
            return
        parent = ledger.find(name)
        if parent is None:
            self._awaiting.setdefault(name, set()).add(handle)
        if self._how[handle] != _EXPLICIT or parent != self.parent(handle):
            self._candidates.pop(handle, None)
            self._declare(handle)

    def _declare(self, handle: Handle) -> None:
        """Draw a declared link. Circles opened earlier are looked at again: this link may have been part of one."""
        if not self._cut:
            self._draw(handle)
            return
        anew = sorted(self._cut | {handle}, key=self._ledger.ids.__getitem__)
        self._cut.clear()
        for child in anew:
            self._set(child, NOBODY, _EXPLICIT)
        for child in anew:
            self._draw(child)

    def _draw(self, handle: Handle) -> None:
        """Link to the declared parent; a circle is opened at its least id, whichever link closes it."""
        parent = self._ledger.find(self._ledger.starts.parent[handle] or "")
        if parent is None:
            self._set(handle, NOBODY, _EXPLICIT)
            return
        childless = self._first_child[handle] == NOBODY and parent != handle
        if not childless:
            self._set(handle, NOBODY, _EXPLICIT)
        chain = [] if childless else list(self._declared_chain(parent))
        self._set(handle, NOBODY if parent == handle else parent, _EXPLICIT)
        if not chain or chain[-1] != handle:
            return
        least = min(chain, key=self._ledger.ids.__getitem__)
        self._cut.add(least)
        self._set(least, NOBODY, _EXPLICIT)

    def _declared_chain(self, handle: Handle) -> Iterator[Handle]:
        """The delegation and its ancestors, as far up as each names its parent."""
        yield handle
        while self._how[handle] == _EXPLICIT and self._parent[handle] != NOBODY:
            handle = self._parent[handle]
            yield handle

    def _declared_below(self, handles: set[Handle]) -> set[Handle]:
        """These, and all who descend from them by declared links."""
        found = set(handles)
        pending = self.parents_among(handles)
        while pending:
            for child in self.children(pending.pop()):
                if self._how[child] == _EXPLICIT and child not in found:
                    found.add(child)
                    pending.append(child)
        return found

    # -- inferred parents ------------------------------------------------------------------------------------------

    def _file(self, handles: set[Handle], affected: set[Handle]) -> None:
        """Put delegations where path and time find them; all who may get another parent by that are affected."""
        parents = self._ledger.starts.parent
        undeclared = [handle for handle in handles if parents[handle] is None]
        affected.update(undeclared)
        wanted = self._newly_wanted(undeclared)
        misplaced = self._misplaced(handles | wanted if wanted else handles, undeclared)
        left = [(handle, old) for handle in misplaced if (old := self._filed.pop(handle, None))]
        # All leave before any is looked for or put anew: a bucket is searched by age, so it must be in order.
        for handle, (path, task, _, declares, may_be_one) in left:
            for bucket in self._buckets(path, task, declares, may_be_one):
                bucket.remove(handle)
        placed = {handle: place for handle, place in misplaced.items() if place is not None}
        self._filed |= placed
        alike: dict[Place, list[Handle]] = {}
        for handle, (path, task, _, declares, may_be_one) in placed.items():
            place = path, task if may_be_one else None, declares, may_be_one
            if (like_it := alike.get(place)) is None:
                like_it = alike[place] = []
            like_it.append(handle)
        joining: dict[int, tuple[array[int], list[Handle]]] = {}
        for place, like_it in alike.items():
            for bucket in self._buckets(*place):
                joining.setdefault(id(bucket), (bucket, []))[1].extend(like_it)
        for bucket, joined in joining.values():
            self._insert(bucket, joined)
        for _, old in left:
            affected |= self._possible_children(old)

    def _newly_wanted(self, undeclared: list[Handle]) -> set[Handle]:
        """Make the paths above these known as wanted; returns the delegations that are on one for the first time."""
        wanted: set[Path] = set()
        shapes = {id(shape): shape for shape in map(self._ledger.starts.shape.__getitem__, undeclared)}  # many have one
        for path in {shape.own_path for shape in shapes.values() if shape is not None}:
            if path is not None and len(path) <= LONGEST_PATH:
                wanted.update(
                    above for length in range(1, len(path)) if (above := path[:length]) not in self._below_path
                )
        if not wanted:
            return set()
        self._below_path.update((path, array("i")) for path in wanted)
        return self._ledger.starts.rows_on(wanted)

    def _misplaced(self, handles: set[Handle], undeclared: Collection[Handle]) -> dict[Handle, Filed | None]:
        """Who is filed elsewhere than it is to be, and where: of those who name their parent few are filed at all."""
        starts, filed, below = self._ledger.starts, self._filed, self._below_path
        shapes, moments, parents, tasks = starts.shape, starts.at, starts.parent, starts.task
        if _SHARE * len(handles) > len(shapes):
            handles = handles & (filed.keys() | starts.rows_on(below)).union(undeclared)
        found: dict[Handle, Filed | None] = {}
        for handle in handles:
            shape, start, place = shapes[handle], moments[handle], None
            path = None if shape is None else shape.own_path
            if parents[handle] is not None and path not in below and handle not in filed:
                continue  # nearly all, where logs name parents
            if path is not None and len(path) <= LONGEST_PATH and start != UNSET:
                declared, wanted = parents[handle] is not None, path in below
                if wanted or not declared:
                    place = path, tasks[handle], start, declared, wanted
            if place != filed.get(handle):
                found[handle] = place
        return found

    def _buckets(self, path: Path, task: str | None, declared: bool, wanted: bool) -> list["array[int]"]:
        buckets = []
        if wanted:
            buckets += [self._on_path.setdefault(key, array("i")) for key in {(path, task), (path, _ANY_TASK)}]
        if not declared:
            buckets += [self._below_path[path[:length]] for length in range(1, len(path))]
        return buckets

    def _insert(self, bucket: "array[int]", handles: list[Handle]) -> None:
        """Keep a bucket in order of start, then id; logs are nearly in order, so this is nearly an append."""
        moments = [*map(self._ledger.starts.at.__getitem__, handles)]
        if not all(map(lt, moments, islice(moments, 1, None))):
            handles.sort(key=self._age)
        oldest = self._age(handles[0])
        if not bucket or self._age(bucket[-1]) <= oldest:
            bucket.extend(handles)
        elif _SHARE * len(handles) > len(bucket):
            bucket[:] = array("i", sorted((*bucket, *handles), key=self._age))
        else:
            for handle in handles:
                bucket.insert(bisect_right(bucket, self._age(handle), key=self._age), handle)

    def _age(self, handle: Handle) -> tuple[int, int, str]:
        """Older first. Of two that started together the shorter path is the older: a parent comes before its child."""
        ledger = self._ledger
        shape = ledger.starts.shape[handle]
        path = shape.own_path if shape else None
        return ledger.starts.at[handle], len(path) if path else 0, ledger.ids[handle]

    def _possible_children(self, place: Filed) -> set[Handle]:
        """All without a declared parent who started later, below that path."""
        below = self._below_path.get(place[0])
        if not below:
            return set()
        return set(below[bisect_left(below, (place[2], 0, ""), key=self._age) :])

    def _infer(self, handle: Handle) -> None:
        if self._ledger.starts.parent[handle] is not None:
            return
        fits, before = self._fitting(handle), self._how[handle]
        self._candidates.pop(handle, None)
        if not fits:
            self._set(handle, NOBODY, _ROOT)
        elif len(fits) == 1:
            self._set(handle, fits[0], _INFERRED)
        else:
            self._set(handle, fits[0], _AMBIGUOUS)
            self._candidates[handle] = tuple(fits)
        if self._how[handle] != before:
            self.unsettled.add(handle)

    def _fitting(self, handle: Handle) -> list[Handle]:
        """The possible parents, latest first: on the longest prefix of the path that anyone was on at the time."""
        place = self._filed.get(handle)
        if place is None:
            return []
        path, task, start = place[:3]
        for length in range(len(path) - 1, 0, -1):
            for key in ((path[:length], task), (path[:length], None)) if task else ((path[:length], _ANY_TASK),):
                fits = self._open_at(self._on_path.get(key), start, handle)
                if fits:
                    return fits
        return []

    def _open_at(self, bucket: "array[int] | None", start: int, child: Handle) -> list[Handle]:
        if not bucket:
            return []
        fits: list[Handle] = []
        age = self._age(child)
        last = bisect_left(bucket, age, key=self._age)
        for handle in reversed(bucket[max(0, last - LOOK_BACK) : last]):
            ending = self._ledger.ending(handle)
            still_open = ending is None or ending[2] is None or ending[2] >= start
            # A guess must lead to something older all the way up, else guesses and declared links could form a circle.
            if still_open and all(self._age(above) < age for above in self._declared_chain(handle)):
                fits.append(handle)
        return fits

    def _set(self, handle: Handle, parent: Handle, how: int) -> None:
        self._how[handle] = how
        old = self._parent[handle]
        if old == parent:
            return
        self._moved_from.setdefault(handle, old)
        if how == _EXPLICIT:
            self._redeclared.add(handle)
        before, after = self._previous_sibling[handle], self._next_sibling[handle]
        if before != NOBODY:
            self._next_sibling[before] = after
        elif old != NOBODY:
            self._first_child[old] = after
        if after != NOBODY:
            self._previous_sibling[after] = before
        first = self._first_child[parent] if parent != NOBODY else NOBODY
        self._parent[handle] = parent
        self._previous_sibling[handle] = NOBODY
        self._next_sibling[handle] = first
        if first != NOBODY:
            self._previous_sibling[first] = handle
        if parent != NOBODY:
            self._first_child[parent] = handle
