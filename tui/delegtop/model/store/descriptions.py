"""What delegations are called and were asked to do, in columns: the words of those of which there are any, and where
each was said.

These rows are its own, in the order in which delegations were first described: of a plain log hardly one is, and of an
agent program's files all are.
"""

from array import array
from collections.abc import Iterator, Mapping
from itertools import compress
from operator import attrgetter
from sys import intern
from typing import Any, ClassVar, Self

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import WORDS
from delegtop.model.events import Described
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.numbers import UNSET
from delegtop.model.store.origin_column import NO_SOURCE, OriginColumn, SourceNumbers, placed

LONG = 200
"""Characters from which on a word is hardly said twice."""
_FACTS = tuple(fact.name for fact in WORDS)
_told = attrgetter(*(fact.told_as for fact in WORDS))
_words = attrgetter(*_FACTS)
_NO_WORDS: tuple[str | None, ...] = (None,) * len(_FACTS)
_NOWHERE = -1
"""Stands for the row of who is not described, and for the place where there is none."""

_MOST = 1 << 61
"""What a column can hold of a time, and is not `UNSET`; a log may say anything."""

Order = tuple[bool, int, Origin]
"""When and where a word was said, so that the earliest comes first; without a time it comes last."""


class Sayings(ColumnStore):
    """When and where some words of one delegation were said. Those of one delegation are chained, the latest first."""

    COLUMNS: ClassVar[Mapping[str, Any]] = {"said": 0, "at": UNSET, "before": _NOWHERE}
    STORES = ("place",)

    def __init__(self, sources: SourceNumbers) -> None:
        self.said = array("h")
        """Which words, by bits."""
        self.at = array("q")
        self.before = array("i")
        """The next of the chain."""
        self.place = OriginColumn(sources)

    def __len__(self) -> int:
        return len(self.said)

    def chain(self, last: int) -> Iterator[int]:
        while last != _NOWHERE:
            yield last
            last = self.before[last]

    def order(self, number: int) -> Order:
        at, origin = self.at[number], self.place[number]
        assert origin is not None  # noqa: S101 # written together
        return at == UNSET, 0 if at == UNSET else at, origin

    def add(self, at: int, origin: Origin, said: int, before: int) -> int:
        self.said.append(said)
        self.at.append(at)
        self.before.append(before)
        self.place.append(origin)
        return len(self) - 1

    def put(self, number: int, at: int, origin: Origin, said: int) -> None:
        self.said[number], self.at[number], self.place[number] = said, at, origin

    def append(self, other: Self) -> None:
        """All of another one."""
        first = len(self)
        self.append_rows(other, RowsMoved(range(len(other)), first))
        _shift(self.before, first, first)

    def is_whole(self) -> bool:
        each = all(before < number for number, before in enumerate(self.before))  # or it would not end
        return each and is_within(self.before, _NOWHERE, len(self)) and NO_SOURCE not in self.place.sources


class Descriptions(ColumnStore):
    """The words of each, by their facts. The earliest stays; one without a time counts only where no other speaks."""

    COLUMNS: ClassVar[Mapping[str, Any]] = {**dict.fromkeys(_FACTS), "_last": _NOWHERE}
    APART = ("_sayings",)
    BESIDE = ("_rows",)

    def __init__(self, sources: SourceNumbers) -> None:
        for name in _FACTS:
            setattr(self, name, list[str | None]())
        self._last = array("i")
        """The last of what was said of it."""
        self._rows = array("i")
        """By the rows of others, as far as they are described."""
        self._sayings = Sayings(sources)

    def __len__(self) -> int:
        return len(self._last)

    def described(self, first: int = 0) -> Iterator[int]:
        """All that are, from that row on, by the rows of others."""
        rows = range(first, len(self._rows))
        return compress(rows, map(_NOWHERE.__ne__, map(self._rows.__getitem__, rows)))

    def _find(self, row: int) -> int:
        return self._rows[row] if row < len(self._rows) else _NOWHERE

    def words(self, row: int) -> tuple[str | None, ...]:
        """In the order of the table."""
        own = self._find(row)
        return _NO_WORDS if own == _NOWHERE else tuple([column[own] for column in _words(self)])

    def word(self, row: int, fact: str) -> str | None:
        own = self._find(row)
        word: str | None = None if own == _NOWHERE else getattr(self, fact)[own]
        return word

    def all_words(self) -> Iterator[str]:
        """Each once, of a fact."""
        for column in _words(self):
            yield from {*column} - {None}

    def take(self, row: int, event: Described) -> bool:
        """Fold one in; True if it tells something new."""
        own, said = self._find(row), 0
        at, origin = UNSET if event.at is None else min(max(event.at, -_MOST), _MOST), placed(event.origin)
        order = at == UNSET, 0 if at == UNSET else at, origin
        for bit, word in enumerate(_told(event)):
            if not word:
                continue
            if own == _NOWHERE:
                own = self._add(row)
            column = getattr(self, _FACTS[bit])
            known = column[own]
            if known is None or (before := self._order(own, bit)) is None or (order, word) < (before, known):
                column[own] = word if len(word) > LONG else intern(word)
                said |= 1 << bit
        if said:
            self._say(own, at, origin, said)
        return said != 0

    def _add(self, row: int) -> int:
        own = len(self)
        self._reach(row + 1)
        self._rows[row] = own
        for column in _words(self):
            column.append(None)
        self._last.append(_NOWHERE)
        return own

    def _reach(self, rows: int) -> None:
        missing = rows - len(self._rows)
        if missing > 0:
            self._rows.extend(array("i", (_NOWHERE,)) * missing)

    def _say(self, own: int, at: int, origin: Origin, said: int) -> None:
        """These words were said there, and no longer where they were."""
        sayings, there, free = self._sayings, _NOWHERE, _NOWHERE
        for number in sayings.chain(self._last[own]):
            left = sayings.said[number] = sayings.said[number] & ~said
            if sayings.at[number] == at and sayings.place[number] == origin:
                there = number
            elif not left:
                free = number
        if there != _NOWHERE:
            sayings.said[there] |= said
        elif free != _NOWHERE:
            sayings.put(free, at, origin, said)
        else:
            self._last[own] = sayings.add(at, origin, said, self._last[own])

    def _order(self, own: int, bit: int) -> Order | None:
        """When and where one of its words was said."""
        sayings = self._sayings
        there = (number for number in sayings.chain(self._last[own]) if sayings.said[number] >> bit & 1)
        return next(map(sayings.order, there), None)

    def _orders(self, own: int) -> list[Order | None]:
        found: list[Order | None] = [None] * len(_FACTS)
        for number in self._sayings.chain(_NOWHERE if own == _NOWHERE else self._last[own]):
            order, said = self._sayings.order(number), self._sayings.said[number]
            for bit in range(len(_FACTS)):
                if said >> bit & 1:
                    found[bit] = order
        return found

    def events(self, row: int, id: str) -> Iterator[Described]:
        """What tells all of it of the delegation of that id."""
        by_place: dict[Order, dict[str, str]] = {}
        for fact, word, order in zip(WORDS, self.words(row), self._orders(self._find(row)), strict=True):
            if order is not None and word is not None:
                by_place.setdefault(order, {})[fact.told_as] = word
        for (timeless, at, origin), words in by_place.items():
            yield Described(id, None if timeless else Millis(at), origin, **words)

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        """Of rows of others, those that are described."""
        if not len(other):
            return
        if isinstance(moved.rows, range) and len(moved.rows) >= len(other._rows) and not moved.rows.start:
            first, sayings = len(self), len(self._sayings)
            super().append_rows(other, RowsMoved(range(len(other)), first))
            _shift(self._last, first, sayings)
            self._sayings.append(other._sayings)
            self._reach(moved.at)
            del self._rows[moved.at :]
            self._rows.extend(other._rows)
            _shift(self._rows, moved.at, first)
            return
        for at, row in enumerate(moved.rows, moved.at):
            for event in other.events(row, ""):
                self.take(at, event)

    def is_whole(self) -> bool:
        whole = is_within(self._last, _NOWHERE, len(self._sayings)) and is_within(self._rows, _NOWHERE, len(self))
        return whole and len({*self._rows}) == len(self) + (_NOWHERE in self._rows)


def _shift(column: "array[int]", first: int, by: int) -> None:
    """What stands in a column from there on names things that now come behind so many others."""
    if by:
        column[first:] = array(column.typecode, [each if each == _NOWHERE else each + by for each in column[first:]])
