"""A ledger as bytes: its columns as they are, and beside them what only few rows have, each by the list of its store.

This is how what a file told is kept between two runs. Only the same version on the same kind of machine reads it
(`LAYOUT`), and what does not fit together is no ledger.
"""

import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from delegtop.base.clock import Millis
from delegtop.base.origin import HostFile, Origin
from delegtop.model.events import Awaited, Ended, Erred, Fault, Noted, ProcessSeen, Sighted
from delegtop.model.sleep_detector import SleepDetector
from delegtop.model.store.accounts import Accounts
from delegtop.model.store.archive import Archive, press, unpress
from delegtop.model.store.column_store import ColumnStore, is_within
from delegtop.model.store.descriptions import Descriptions, Sayings
from delegtop.model.store.details import Details
from delegtop.model.store.ends import Ends
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.numbers import Numbering, SharedWords
from delegtop.model.store.packed_places import Packed, shared, unpack_starts
from delegtop.model.store.registry_listings import RegistryListings
from delegtop.model.store.signs_of_life import ARCHIVED, IN_LOG, SignsOfLife
from delegtop.model.store.starts import Starts, StartShape
from delegtop.model.usage import Account
from delegtop.protocols.standard.contract.session_ids import is_well_formed

LAYOUT = f"7 {sys.byteorder}"
"""Another one whenever what is below changes, or what a ledger is made of."""
_LEVEL = 1
LARGEST = 512 * 1024 * 1024
"""Bytes of one: a file that somebody else made may hold any number of them, pressed."""
_USUAL = 32
"""Characters that an id has at most, unless it is a strange one."""
_STAND_INS = (IN_LOG, ARCHIVED, None)
"""What stands in a column for words that are elsewhere, or that there are none; the last is -1."""
_SHAPE, _PARENT = "shape", "parent"
"""Columns of starts: of shapes, and of ids, which are those of rows before they are any others."""


class PackedDetails(Struct, frozen=True, gc=False, array_like=True):
    told: tuple[Noted, ...]
    awaited: Awaited | None
    sighted: Sighted | None
    process: ProcessSeen | None
    resumed_at: Millis | None


class PackedStore(Struct, frozen=True, gc=False, array_like=True):
    """One store: its columns, the other stores in it, and what is beside them, in the order of its lists."""

    columns: list[tuple[bytes, msgspec.Raw]]
    """Numbers, and of what kind; or which of some values stands in each row, and these values."""
    stores: list["PackedStore"]
    beside: list[msgspec.Raw]


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(PackedStore).decode


def pack_ledger(ledger: Ledger) -> bytes | None:
    """The ledger; None if something in it cannot be kept: what a registry lists, half a character, a number past
    all use, or too much."""
    while ledger.ends.press_one():
        pass
    try:
        packed = _pack(_packed(ledger, len(ledger), dict(zip(ledger.ids, ledger, strict=True))))
        return bytes(press().compress(packed, _LEVEL)) if len(packed) <= LARGEST else None
    except (UnicodeEncodeError, OverflowError, _CannotKeepError):
        return None


def unpack_ledger(data: bytes, words: SharedWords | None = None) -> Ledger | None:
    """The ledger, in these words if others are told in them too; None if it is none."""
    ledger = Ledger()
    try:
        found = _unpack(unpress(data, LARGEST))
        _fill(ledger, found, words)
        if not _fits(ledger, len(ledger.ids)):
            return None
    except Exception:  # noqa: BLE001 # a damaged one may be wrong in any way, and one is as good as another here
        return None
    ledger.handles = dict(zip(ledger.ids, range(len(ledger.ids)), strict=True))
    return ledger


def leave_in_log(ledger: Ledger) -> None:
    """Of a ledger that lines of one log told, each by itself: what was said and returned is had from there."""
    ledger.ends.leave_in_log()
    ledger.signs.leave_in_log(ledger.ends.claims)


def words_in(ledger: Ledger) -> Iterator[object]:
    """Everything of it in which words stand, but for sources."""
    ids = {*ledger.ids, *filter(None, ledger.starts.parent)}
    # All at once, and not what looks as an id should: there may be 200,000.
    yield "\n".join(id for id in ids if len(id) > _USUAL or not is_well_formed(id))
    yield [*{id(shape): shape for shape in ledger.starts.shape}.values()]
    yield [*{*ledger.starts.task}]
    yield [unpack_starts(each, "") for each in ledger.starts.claims.values()]
    yield [*ledger.starts.refs.values(), *ledger.ends.claims.values()]
    yield [*ledger.signs.words_here()]
    yield [ledger.faults(row) for row in ledger.faulty]
    yield [*ledger.descriptions.all_words()]
    yield [ledger.details(row) for row in ledger.detailed]
    yield [*ledger.ends.archived()]


class _CannotKeepError(Exception):
    """There is no place for it."""


def _packed(store: ColumnStore, rows: int, ids: Mapping[str, int]) -> PackedStore:
    kind = type(store)
    return PackedStore(
        [_column(getattr(store, name)[:rows], ids if name == _PARENT else {}) for name in store.COLUMNS],
        [
            *(_packed(getattr(store, name), rows, ids) for name in store.STORES),
            *(_packed(each, len(each), ids) for each in _apart(store)),
        ],
        [msgspec.Raw(_pack(_BESIDE[kind, name].pack(getattr(store, name)))) for name in store.BESIDE],
    )


def _apart(store: ColumnStore) -> "list[Descriptions | Sayings]":
    return [getattr(store, name) for name in store.APART]


def _column(values: "array[Any] | list[Any]", known: Mapping[Any, int]) -> tuple[bytes, msgspec.Raw]:
    if isinstance(values, array):
        return values.tobytes(), msgspec.Raw(_pack(values.typecode))
    stand_ins = {id(each): number for number, each in enumerate(_STAND_INS, -len(_STAND_INS))}
    numbers, first = {**known}, len(known)
    """Shapes are known by themselves: to compare all that is in them would cost."""
    told, found = array("i"), list[Any]()
    for value in values:
        number = stand_ins.get(id(value))
        if number is None:
            key = value if type(value) is str else id(value)
            number = numbers.setdefault(key, len(numbers))
            if number == first + len(found):
                found.append(value)
        told.append(number)
    return told.tobytes(), msgspec.Raw(_pack(found))


def _fill(store: ColumnStore, packed: PackedStore, words: SharedWords | None, ids: Sequence[str] = ()) -> None:
    kind = type(store)
    for name, beside in zip(store.BESIDE, packed.beside, strict=True):
        how = _BESIDE[kind, name]
        found = how.unpack(msgspec.msgpack.decode(beside, type=how.type))
        if words is not None:
            found = how.share(found, words)
        if isinstance(numbering := getattr(store, name), Numbering):
            numbering.learn(found)
        else:
            setattr(store, name, found)
    if isinstance(store, Ledger):
        ids = store.ids
    for name, (numbers, told) in zip(store.COLUMNS, packed.columns, strict=True):
        column = getattr(store, name)
        if isinstance(column, array):
            setattr(store, name, array(_kind(told), numbers))
            continue
        table: list[Any] = [*ids] if name == _PARENT else []
        if isinstance(store, Starts) and name == _SHAPE:
            store.know_shapes(shapes := _shapes(told))
            table += shapes
        else:
            table += _words(told) if words is None else map(words.__getitem__, _words(told))
        table += _STAND_INS
        column += map(table.__getitem__, array("i", numbers))
    for name, each in zip((*store.STORES, *store.APART), packed.stores, strict=True):
        _fill(getattr(store, name), each, words, ids)


_kind = msgspec.msgpack.Decoder(Literal["b", "h", "H", "i", "I", "q"]).decode
_shapes = msgspec.msgpack.Decoder(list[StartShape]).decode
_words = msgspec.msgpack.Decoder(list[str]).decode


def _fits(store: ColumnStore, rows: int) -> bool:
    """Whether all its parts are of so many rows, and name what there is."""
    columns = all(len(getattr(store, name)) == rows for name in store.COLUMNS)
    tables = (getattr(store, name) for name in store.BESIDE if _BESIDE[type(store), name].by_row)
    beside = all(is_within(table, 0, rows) for table in tables)
    stores = all(_fits(getattr(store, name), rows) for name in store.STORES)
    return columns and beside and stores and all(_fits(each, len(each)) for each in _apart(store)) and store.is_whole()


# -- what is beside the columns --------------------------------------------------------------------------------------


class _Beside(msgspec.Struct, frozen=True):
    """How one part is packed, and as what it is read."""

    type: Any
    pack: Callable[[Any], Any] = lambda value: value
    unpack: Callable[[Any], Any] = lambda value: value
    share: Callable[[Any, SharedWords], Any] = lambda value, _: value
    """Gives it the words that others have too."""
    by_row: bool = False


def _of_rows(
    type: Any,
    pack: Callable[[Any], Any] = lambda value: value,
    unpack: Callable[[Any], Any] = lambda value: value,
    share: Callable[[Any, SharedWords], Any] = lambda value, _: value,
) -> _Beside:
    """What only few rows have, by row."""
    return _Beside(type, pack, unpack, share, by_row=True)


def _numbers(code: str) -> _Beside:
    return _Beside(bytes, lambda column: column.tobytes(), lambda data: array(code, data))


def _no_listings(registries: RegistryListings) -> None:
    if any(True for _ in registries.latest()):
        raise _CannotKeepError


def _of_bytes(places: Packed) -> Packed:
    """These, if they are the bytes that they should be."""
    if places and (type(places[0]) is not bytes or any(type(word) is not str for word in places[1:])):
        raise _CannotKeepError
    return places


def _all_of_bytes(places: dict[Handle, Packed]) -> dict[Handle, Packed]:
    return {row: _of_bytes(each) for row, each in places.items()}


def _details(details: dict[Handle, Details]) -> dict[Handle, PackedDetails]:
    return {
        row: PackedDetails(each.told, each.awaited, each.sighted, each.process, each.resumed_at)
        for row, each in details.items()
    }


def _unpacked_details(details: dict[Handle, PackedDetails]) -> dict[Handle, Details]:
    return {
        row: Details(each.told, each.awaited, each.sighted, each.process, each.resumed_at)
        for row, each in details.items()
    }


def _shared_refs(
    refs: dict[int, tuple[tuple[str, str], ...]], words: SharedWords
) -> dict[int, tuple[tuple[str, str], ...]]:
    return {row: tuple([(words[name], words[value]) for name, value in each]) for row, each in refs.items()}


def _faults(faults: dict[Handle, tuple[Erred, ...]]) -> "dict[Handle, dict[tuple[Origin, Fault], Erred]]":
    return {row: {(each.origin, each.fault): each for each in told} for row, told in faults.items()}


def _accounts(packed: PackedStore) -> Accounts:
    found = Accounts()
    _fill(found, packed, None)
    return found


_BESIDE: dict[tuple[type[ColumnStore], str], _Beside] = {
    (Ledger, "ids"): _Beside(list[str], share=lambda ids, words: [*map(words.__getitem__, ids)]),
    (Ledger, "_faults"): _of_rows(
        dict[int, tuple[Erred, ...]], lambda told: {row: tuple(each.values()) for row, each in told.items()}, _faults
    ),
    (Ledger, "registries"): _Beside(None, _no_listings, lambda _: RegistryListings()),
    (Ledger, "_details"): _of_rows(dict[int, PackedDetails], _details, _unpacked_details),
    (Ledger, "pulse"): _Beside(list[int], lambda pulse: [*pulse.minutes], SleepDetector),
    (Descriptions, "_rows"): _numbers("i"),
    (Starts, "_shapes"): _Beside(None, lambda _: None, lambda _: {}),
    (Starts, "pids"): _of_rows(dict[int, int]),
    (Starts, "refs"): _of_rows(dict[int, tuple[tuple[str, str], ...]], share=_shared_refs),
    (Starts, "guessed"): _of_rows(set[int]),
    (Starts, "claims"): _of_rows(
        dict[int, tuple[Any, ...]],
        _all_of_bytes,
        _all_of_bytes,
        lambda claims, words: {row: shared(each, words) for row, each in claims.items()},
    ),
    (Starts, "_deadlines"): _of_rows(dict[int, Millis]),
    (Ends, "claims"): _of_rows(dict[int, tuple[Ended, ...]]),
    (SignsOfLife, "_words"): _Beside(list[str], lambda words: words.things),
    (SignsOfLife, "accounts"): _Beside(PackedStore, lambda accounts: _packed(accounts, 0, {}), _accounts),
    (SignsOfLife, "costs"): _of_rows(dict[int, float]),
    (SignsOfLife, "whole"): _of_rows(set[int]),
    (SignsOfLife, "due"): _of_rows(dict[int, Millis]),
    (Ledger, "sources"): _Beside(
        list[HostFile],
        lambda sources: sources.files(),
        share=lambda sources, words: [(words[host], words[source]) for host, source in sources],
    ),
    (Archive, "_full"): _Beside(list[bytes]),
    (Archive, "_base"): _numbers("i"),
    (Archive, "_last"): _Beside(list[bytes]),
    (Archive, "_room"): _Beside(int),
    (Accounts, "_kinds"): _Beside(list[Account]),
    (Accounts, "_kind"): _numbers("I"),
    (Accounts, "_next"): _numbers("i"),
    **{(Accounts, name): _numbers("q") for name in ("_input", "_output", "_read", "_write", "_write_1h")},
}
