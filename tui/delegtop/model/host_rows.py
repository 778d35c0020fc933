"""The delegations of several hosts in one row of handles: which is whose, and what its host calls it."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from delegtop.model.events import OF_NONE, Event, Surveyed
from delegtop.model.host_trees import HostTrees
from delegtop.model.store.ledger import Handle

NOBODY = -1
Frozen = tuple["array[int]", "array[int]"]
"""For each delegation the number of its host, and what its host calls it."""


class HostRows:
    """Handles are given out as delegations become known, and stay."""

    def __init__(self, trees: Iterable[HostTrees] = ()) -> None:
        self.trees: list[HostTrees] = []
        self.handles: list[array[int]] = []
        """For each host, what we call its delegations."""
        self._numbers: dict[str, int] = {}
        self._host = array("H")
        self._own = array("i")
        self._first: dict[str, Handle] = {}
        """Whom an id means: of two hosts that tell of one, the one that did so first."""
        for each in trees:
            self.enter({self.add(each): range(len(each))}, ())

    @classmethod
    def thawed(cls, trees: Sequence[HostTrees], frozen: Frozen) -> "HostRows":
        rows = cls()
        for each in trees:
            rows.add(each)
        rows._host, rows._own = frozen[0][:], frozen[1][:]
        for handle, (number, own) in enumerate(zip(*frozen, strict=True)):
            rows.handles[number].append(handle)
            rows._first.setdefault(trees[number].id(own), handle)
        return rows

    def frozen(self) -> Frozen:
        return self._host[:], self._own[:]

    def __len__(self) -> int:
        return len(self._own)

    def __iter__(self) -> "Iterator[tuple[HostTrees, array[int]]]":
        """The trees of each host, and what we call its delegations."""
        return zip(self.trees, self.handles, strict=True)

    def add(self, trees: HostTrees) -> int:
        """One more host; returns which of them it is."""
        number = self._numbers[trees.host] = len(self.trees)
        self.trees.append(trees)
        self.handles.append(array("i"))
        return number

    def number(self, host: str) -> int | None:
        """Which of them is that host; None if nothing was told of it."""
        return self._numbers.get(host)

    def enter(self, added: Mapping[int, Sequence[Handle]], events: Iterable[Event]) -> None:
        """Give new delegations of hosts their handles, in the order in which the events first tell of them: in
        whatever batches they come, these are the same."""
        if len(added) == 1:
            ((number, own),) = added.items()
            entries = [(number, each) for each in own]
        else:
            entries = list(self._in_order(added, events)) if added else []
        for number, each in entries:
            self._first.setdefault(self.trees[number].id(each), len(self._own))
            self.handles[number].append(len(self._own))
            self._host.append(number)
            self._own.append(each)

    def _in_order(self, added: Mapping[int, Sequence[Handle]], events: Iterable[Event]) -> Iterator[tuple[int, Handle]]:
        """Of each host they are numbered in this order anyway. Those that have rows again come before what brought them
        back, and no event names them all: they are entered last."""
        waiting = {number: iter(own) for number, own in added.items()}
        ahead = {number: next(own) for number, own in waiting.items()}
        for event in events:
            number = self._numbers[event.origin.host]
            told = event.ids if isinstance(event, Surveyed) else () if isinstance(event, OF_NONE) else (event.id,)
            for id in told if number in ahead else ():
                if self.trees[number].find(id) == ahead.get(number):
                    yield number, ahead.pop(number)
                    if (following := next(waiting[number], None)) is not None:
                        ahead[number] = following
        for number, own in ahead.items():
            yield number, own
            yield from ((number, each) for each in waiting[number])

    def at(self, handle: Handle) -> tuple[HostTrees, Handle]:
        """The trees it is in, and what it is called there."""
        return self.trees[self._host[handle]], self._own[handle]

    def by_host(self, handles: Iterable[Handle]) -> dict[int, set[Handle]]:
        """The same delegations as their hosts call them, for each host that has some."""
        found: dict[int, set[Handle]] = {}
        for handle in handles:
            found.setdefault(self._host[handle], set()).add(self._own[handle])
        return found

    def like(self, handle: Handle, own: Iterable[Handle]) -> Iterable[Handle]:
        """What we call these delegations of the host of another one."""
        return map(self.handles[self._host[handle]].__getitem__, own)

    def parents(self) -> list[int]:
        """The parent of every delegation, in their order."""
        above = [list(trees.parents()) for trees in self.trees]
        found: list[int] = []
        for number, own in zip(self._host, self._own, strict=True):
            parent = above[number][own]
            found.append(NOBODY if parent == NOBODY else self.handles[number][parent])
        return found

    # -- whom an id means ------------------------------------------------------------------------------------------

    def find(self, id: str) -> Handle | None:
        """The delegation of that id, or of the name that `name` gives one."""
        found = self._first.get(id)
        if found is None and ":" in id:
            host, _, rest = id.partition(":")
            found = self.find_on(host, rest)
        return found

    def find_on(self, host: str, id: str) -> Handle | None:
        number = self._numbers.get(host)
        own = None if number is None else self.trees[number].find(id)
        return None if number is None or own is None else self.handles[number][own]

    def all_of(self, id: str) -> list[Handle]:
        """All of that id: several hosts may tell of one."""
        every = [self.find_on(host, id) for host in self._numbers]
        return [
            handle
            for handle in (every if any(each is not None for each in every) else [self.find(id)])
            if handle is not None
        ]

    def name(self, handle: Handle) -> str:
        """By what to find it again: its id, with its host before it if another one has the same."""
        trees, own = self.at(handle)
        id = trees.id(own)
        return id if self._first[id] == handle else f"{trees.host}:{id}"

    def full_name(self, handle: Handle) -> str:
        """The same, always with its host."""
        trees, own = self.at(handle)
        return f"{trees.host}:{trees.id(own)}"
