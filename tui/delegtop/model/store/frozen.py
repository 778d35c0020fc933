"""Frozen columns: many moments of one growing store in little more memory than one.

A column is kept in pieces, and a piece that did not change since the moment before is the same object in both. What
happened long ago no longer changes, so another moment costs only what is new. To thaw costs next to nothing either:
the columns of a store are borrowed, and a piece is copied only when something in it is replaced.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from delegtop.model.store.column_store import ColumnStore
from delegtop.model.store.numbers import Numbering

_BITS = 10
PIECE = 1 << _BITS
"""Rows."""
_REST = PIECE - 1

_POINTER, _ENTRY = 8, 64
"""About so many bytes an item of a tuple and of a set takes."""


class FrozenColumn(msgspec.Struct, frozen=True, eq=False):
    """An array of numbers."""

    code: str
    pieces: "tuple[array[Any], ...]"


class Items(msgspec.Struct, frozen=True, eq=False):
    """A list of things that do not change."""

    pieces: tuple[tuple[Any, ...], ...]

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.pieces)


class FrozenTable(msgspec.Struct, frozen=True, eq=False):
    """A dictionary; its values are frozen too if they can change."""

    keys: Items
    values: Items
    thaws: bool


class Bag(msgspec.Struct, frozen=True, eq=False):
    """A set."""

    members: frozenset[Any]


class Thing(msgspec.Struct, frozen=True, eq=False):
    """An object of ours, by its attributes."""

    kind: type[Any]
    parts: dict[str, Any]


class Borrowed:
    """A column that was frozen and goes on: every piece stays the frozen one's until something is written to it.

    It does what the stores do with their columns. An item costs several times what it does in an array, but to have
    them all costs nothing, however many there are.
    """

    def __init__(self, frozen: FrozenColumn | Items) -> None:
        pieces = frozen.pieces
        self._pieces: list[Any] = list(pieces)
        self._own = bytearray(len(pieces))
        self._count = len(pieces[-1]) + PIECE * (len(pieces) - 1) if pieces else 0
        self._code = frozen.code if isinstance(frozen, FrozenColumn) else None

    def __len__(self) -> int:
        return self._count

    @property
    def typecode(self) -> str | None:
        return self._code

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._pieces)

    def __getitem__(self, index: int) -> Any:
        return self._pieces[index >> _BITS][index & _REST]

    def __setitem__(self, index: int, value: Any) -> None:
        number = index >> _BITS
        if not self._own[number]:
            self._take(number)
        self._pieces[number][index & _REST] = value

    def tobytes(self) -> bytes:
        return b"".join(piece.tobytes() for piece in self._pieces)

    def append(self, value: Any) -> None:
        self.extend((value,))

    def extend(self, values: Sequence[Any]) -> None:
        """Fill up the last piece, then begin others."""
        room = -self._count % PIECE
        if room and values:
            self._take(-1)
            self._pieces[-1].extend(values[:room])
        for start in range(room, len(values), PIECE):
            self._pieces.append(self._made(values[start : start + PIECE]))
            self._own.append(True)
        self._count += len(values)

    def _take(self, number: int) -> None:
        self._pieces[number] = self._made(self._pieces[number])
        self._own[number] = True

    def _made(self, values: Iterable[Any]) -> Any:
        return list(values) if self._code is None else array(self._code, values)


class Numbers:
    """The numbers of names in a store that was thawed: those of the store it comes from, as far as it knows them."""

    def __init__(self, known: "Mapping[str, int] | Numbers", count: int) -> None:
        self._known, self._count = known, count
        self._own: dict[str, int] = {}

    def get(self, name: str) -> int | None:
        number = self._known.get(name)
        return number if number is not None and number < self._count else self._own.get(name)

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __getitem__(self, name: str) -> int:
        number = self.get(name)
        if number is None:
            raise KeyError(name)
        return number

    def __setitem__(self, name: str, number: int) -> None:
        self._own[name] = number


class Freezer:
    """Freezes a store at one moment, in terms of how it was frozen before."""

    def __init__(self, touched: Collection[int] = ()) -> None:
        self.spent = 0
        """About how many bytes of this moment no moment before it has."""
        self._touched = touched
        """The rows that may have changed since: what else is kept by row is not even looked at."""

    def freeze(self, value: Any, before: Any = None) -> Any:
        """The value as it is now; `before` is the same thing, frozen at an earlier moment."""
        if _stays(value):
            return value
        match value:
            case array():
                return self._column(value, before)
            case list():
                return self._items(value, before)
            case Numbering():
                return self._items(value.things, before)
            case dict():
                return self._table(value, before)
            case set():
                return self._bag(value, before)
        return self._thing(value, before)

    def _column(self, value: "array[Any]", before: FrozenColumn | None) -> FrozenColumn:
        known = before.pieces if before and before.code == value.typecode else ()
        pieces: list[array[Any]] = []
        for number, start in enumerate(range(0, len(value), PIECE)):
            piece = value[start : start + PIECE]
            if number < len(known) and piece == known[number]:
                pieces.append(known[number])
                continue
            pieces.append(piece)
            self.spent += piece.itemsize * len(piece)
        return before if before and _same(pieces, known) else FrozenColumn(value.typecode, tuple(pieces))

    def _items(self, value: list[Any], before: Items | None) -> Items:
        known = before.pieces if before else ()
        pieces: list[tuple[Any, ...]] = []
        for number, start in enumerate(range(0, len(value), PIECE)):
            piece = tuple(value[start : start + PIECE])
            if number < len(known) and piece == known[number]:
                pieces.append(known[number])
                continue
            pieces.append(piece)
            self.spent += _POINTER * len(piece)
        return before if before and _same(pieces, known) else Items(tuple(pieces))

    def _table(self, value: dict[Any, Any], before: FrozenTable | None) -> FrozenTable:
        values: Iterable[Any] = value.values()
        thaws = not all(map(_stays, list(values)[:1]))
        if thaws:
            values = self._frozen_values(value, before)
        keys = self._items(list(value), before.keys if before else None)
        frozen = self._items(list(values), before.values if before else None)
        if before and keys is before.keys and frozen is before.values:
            return before
        return FrozenTable(keys, frozen, thaws)

    def _frozen_values(self, value: dict[Any, Any], before: FrozenTable | None) -> Iterator[Any]:
        known = dict(zip(before.keys, before.values, strict=True)) if before else {}
        for key, each in value.items():
            untouched = type(key) is int and key in known and key not in self._touched
            yield known[key] if untouched else self.freeze(each, known.get(key))

    def _bag(self, value: set[Any], before: Bag | None) -> Bag:
        if before and before.members == value:
            return before
        self.spent += _ENTRY * len(value)
        return Bag(frozenset(value))

    def _thing(self, value: Any, before: Thing | None) -> Thing:
        known = before.parts if before else {}
        parts = {name: self.freeze(part, known.get(name)) for name, part in _parts(value)}
        if before and all(part is known[name] for name, part in parts.items()):
            return before
        self.spent += _ENTRY * len(parts)
        return Thing(type(value), parts)


def thaw(frozen: Any) -> Any:
    """A copy that can change, of anything frozen."""
    match frozen:
        case FrozenColumn():
            column = array(frozen.code)
            for piece in frozen.pieces:
                column += piece
            return column
        case Items():
            return list(frozen)
        case FrozenTable():
            values = map(thaw, frozen.values) if frozen.thaws else frozen.values
            return dict(zip(frozen.keys, values, strict=True))
        case Bag():
            return set(frozen.members)
        case Thing():
            thing = object.__new__(frozen.kind)
            for name, part in frozen.parts.items():
                setattr(thing, name, thaw(part))
            return thing
    return frozen


def thaw_into(thing: Any, frozen: Thing) -> None:
    """Make a new thing what a frozen one was; what it holds together with others stays its own.

    A store, and whose class says BORROWS, does not copy its columns.
    """
    borrows = issubclass(frozen.kind, ColumnStore) or getattr(frozen.kind, "BORROWS", False)
    for name, part in frozen.parts.items():
        present = getattr(thing, name)
        if isinstance(part, Thing):
            thaw_into(present, part)
        elif isinstance(present, Numbering):
            present.learn(part)
        elif borrows and isinstance(part, FrozenColumn | Items):
            setattr(thing, name, Borrowed(part))
        else:
            setattr(thing, name, thaw(part))


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What makes it up. `NOT_ITS_OWN` names what belongs to another or can be found out again."""
    if isinstance(value, ColumnStore):
        yield from value.parts()
        return
    kind = type(value)
    if not kind.__module__.startswith("delegtop.model."):
        raise TypeError(f"{kind.__name__} cannot be frozen")
    left_out = getattr(kind, "NOT_ITS_OWN", ())
    for name in getattr(kind, "__slots__", None) or vars(value):
        if name not in left_out:
            yield name, getattr(value, name)


_PLAIN = (int, float, str, bytes, tuple, frozenset, type(None), msgspec.Struct)


def _stays(value: Any) -> bool:
    """Can it never change?"""
    return isinstance(value, _PLAIN)


def _same(pieces: list[Any], known: tuple[Any, ...]) -> bool:
    return len(pieces) == len(known) and all(map(lambda new, old: new is old, pieces, known))
