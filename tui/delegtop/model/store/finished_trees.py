"""Trees that are over and have no rows any more: counted, and all that is known of them pressed, out of memory.

A dashboard that runs for months sees millions of them. Whoever is heard of again is found by its host and id and told
again, so nothing is lost by it; these take nine bytes, and the rest lies in a file that has no name and ends with the
process. One place serves all hosts: which ended last is known among all of them.
"""

import os
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args
from weakref import finalize

import msgspec
from msgspec import Raw

from delegtop.model.events import Event
from delegtop.model.states import State
from delegtop.model.store.archive import press

Name = tuple[str, str]
"""A host, and what a delegation is called there."""
_FULL = 64 * 1024
"""Bytes of a block before it is pressed."""
_LEVEL = 3
_KINDS: tuple[type[Event], ...] = get_args(Event)
_CODE = {kind: code for code, kind in enumerate(_KINDS)}
_pack = msgspec.msgpack.Encoder().encode
_unpack_event = tuple(msgspec.msgpack.Decoder(kind).decode for kind in _KINDS)
_unpack_block = msgspec.msgpack.Decoder(list[bytes]).decode


class FinishedRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One delegation of a tree that is over."""

    id: str
    state: State
    kind: tuple[str, str] | None
    """What is learned from how long it took counts for this kind."""
    took: int | None
    awaits: str | None
    """The parent it names, if nobody of that id was ever seen: should it come, this is its child."""
    told: tuple[tuple[int, Raw], ...]
    trouble: str = ""
    """What was the matter with it, if that is worth counting."""
    host: str = ""

    def events(self) -> Iterator[Event]:
        """What tells all that is known of it."""
        return (_unpack_event[code](event) for code, event in self.told)


def packed_events(events: Iterable[Event]) -> tuple[tuple[int, Raw], ...]:
    """ValueError if something in it cannot be kept: half a character, or a number past all use."""
    try:
        return tuple((_CODE[type(event)], Raw(_pack(event))) for event in events)
    except (UnicodeEncodeError, OverflowError) as error:
        raise ValueError(str(error)) from error


_unpack_tree = msgspec.msgpack.Decoder(tuple[FinishedRow, ...]).decode


class FinishedTrees:
    """Trees by the ids in them. One thread asks and tells."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[State]] = {}
        self.troubles: Counter[str] = Counter()
        """What was the matter with how many of them."""
        self._places = _Places()
        self._blocks = _Blocks()
        self._last: list[bytes] = []
        """The trees that are not yet a block."""
        self._size = 0

    def __len__(self) -> int:
        return sum(counts.total() for counts in self._counts.values())

    def __contains__(self, name: Name) -> bool:
        """Whether it may be here; who asks for what is not is told nothing."""
        return self._places.has(name)

    def counts(self, host: str) -> Mapping[State, int]:
        """How many delegations of each state have no row on that host."""
        return self._counts.get(host) or Counter()

    def put(self, tree: Sequence[FinishedRow]) -> None:
        """One tree, of one host; ValueError if an id in it cannot be kept, and then nothing is."""
        try:
            packed = _pack(tree)
        except UnicodeEncodeError as error:
            raise ValueError(str(error)) from error
        for name in _names(tree):
            self._places.add(name, len(self._blocks))
        self._counts.setdefault(tree[0].host, Counter()).update(row.state for row in tree)
        self.troubles.update(row.trouble for row in tree if row.trouble)
        self._last.append(packed)
        self._size += len(packed)
        if self._size >= _FULL:
            self._blocks.append(press().compress(_pack(self._last), _LEVEL))
            self._last, self._size = [], 0

    def take(self, names: Iterable[Name]) -> list[FinishedRow]:
        """The trees with one of these in them, and those that wait for one; they are here no longer."""
        found: list[FinishedRow] = []
        for name in names:
            needle = name[1].encode("utf-8", "surrogatepass")
            for number in set(self._places.of(name)):
                for packed in self._trees(number):
                    if needle in packed and name in _names(tree := _unpack_tree(packed)):
                        found += self._let_go(number, packed, tree)
        return found

    def take_newest(self, rows: int) -> list[FinishedRow]:
        """At least so many rows of the trees that were put here last, as far as there are."""
        found: list[FinishedRow] = []
        for number in range(len(self._blocks), -1, -1):
            for packed in reversed(self._trees(number)):
                if len(found) >= rows:
                    return found
                tree = _unpack_tree(packed)
                if number in self._places.of((tree[0].host, tree[0].id)):
                    found += self._let_go(number, packed, tree)
        return found

    def _let_go(self, number: int, packed: bytes, tree: Sequence[FinishedRow]) -> Sequence[FinishedRow]:
        for name in _names(tree):
            self._places.remove(name, number)
        self._counts[tree[0].host].subtract(row.state for row in tree)
        self.troubles.subtract(row.trouble for row in tree if row.trouble)
        if number == len(self._blocks):
            self._last.remove(packed)
            self._size -= len(packed)
        return tree

    def _trees(self, number: int) -> list[bytes]:
        if number == len(self._blocks):
            return self._last.copy()
        block = self._blocks[number]
        return _unpack_block(press().decompress(block)) if block else []


def _names(tree: Sequence[FinishedRow]) -> set[Name]:
    """By what a tree is found."""
    return {(row.host, id) for row in tree for id in (row.id, row.awaits) if id is not None}


_BUCKETS = 1_024
_BLOCK_BITS = 24
_BLOCK = (1 << _BLOCK_BITS) - 1
_REST = (1 << 40) - 1


class _Places:
    """In which block a name may be found: eight bytes each, where an entry of a dictionary takes a hundred and more.

    A name is known by fifty bits of its hash. Two that share them lead to a block too many, in which it is not.
    """

    def __init__(self) -> None:
        self._buckets: list[array[int]] = []

    def add(self, name: Name, block: int) -> None:
        if not self._buckets:
            self._buckets = [array("Q") for _ in range(_BUCKETS)]
        bucket, key = self._find(name)
        bucket.insert(bisect_left(bucket, key | block), key | block)

    def has(self, name: Name) -> bool:
        return next(self.of(name), None) is not None

    def of(self, name: Name) -> Iterator[int]:
        if not self._buckets:
            return
        bucket, key = self._find(name)
        for at in range(bisect_left(bucket, key), len(bucket)):
            if bucket[at] & ~_BLOCK != key:
                return
            yield bucket[at] & _BLOCK

    def remove(self, name: Name, block: int) -> None:
        bucket, key = self._find(name)
        del bucket[bisect_left(bucket, key | block)]

    def _find(self, name: Name) -> "tuple[array[int], int]":
        digest = hash(name)
        return self._buckets[digest % _BUCKETS], (digest // _BUCKETS & _REST) << _BLOCK_BITS


class _Blocks:
    """Pressed blocks, in a file without a name; in memory where no file can be had."""

    def __init__(self) -> None:
        self._file: int | None = None
        self._ends = array("Q")
        self._held: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, data: bytes) -> None:
        start = self._ends[-1] if self._ends else 0
        try:
            if self._file is None:
                self._file = self._open()
            whole = os.pwrite(self._file, data, start) == len(data)
        except OSError:  # no room, or nowhere to write
            whole = False
        if not whole:
            self._held[len(self._ends)] = data
        self._ends.append(start + len(data) if whole else start)

    def _open(self) -> int:
        from tempfile import TemporaryFile  # only who sees very many needs it

        with TemporaryFile() as file:
            fd = os.dup(file.fileno())
        finalize(self, os.close, fd)
        return fd

    def __getitem__(self, number: int) -> bytes:
        """Nothing if the disk gives it back no longer."""
        if self._file is None or number in self._held:
            return self._held.get(number, b"")
        start = self._ends[number - 1] if number else 0
        size = self._ends[number] - start
        try:
            data = os.pread(self._file, size, start)
        except OSError:
            return b""
        return data if len(data) == size else b""
