"""The archive: long words of delegations that are over, pressed together because they are seldom read again.

Words lie in blocks. The last block is open; a full one never changes again, so moments share it, and is pressed when
there is time for it or too many wait: whoever only reads a log once is done before that. The first few blocks are
pressed each alone, the others with what these say: delegations have many words in common. What is written anew goes to
the end, and what it replaces stays behind unread: a delegation ends once, or a few times.
"""

from array import array
from collections import deque
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec
from msgspec.structs import replace

from delegtop.model.events import Report
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.merge import NO_REPORT

if TYPE_CHECKING:
    from delegtop.base.zstd import ZstdCompressor, ZstdDict

_FULL = 64 * 1024
"""Bytes of a block: more is pressed little better, and takes longer to open for one row of the screen."""
_MOST = 256
"""Words of a block."""
_LOOSE = 1_000
"""So many full blocks may wait to be pressed: some sixty megabytes."""
_OPENED = 32
"""So many pressed blocks stay open for whoever reads on nearby."""
_LEVEL = 3
_FEW = 4
"""Blocks: so many are pressed alone."""
_BASES = 4
"""So many times so many blocks are kept as they are, for whoever presses or opens others with them."""
_ALONE = -1
"""Stands for the blocks that a block was pressed with where there are none."""
_WAITS = -2
"""The same of a full block that is not pressed yet."""
_NOTHING = -1
_IN_LOG = -2
_LARGEST = (1 << 63) - 1


class ArchivedWords(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What one delegation said at last."""

    report: Report | None = None
    doing: bytes | None = None
    signed: bool = False
    """The report has the delegation's own id in it: the one text that cannot be pressed is left out."""

    def told_by(self, id: str) -> Report:
        if self.report is None:
            return NO_REPORT
        return replace(self.report, session_id=id) if self.signed else self.report

    @property
    def said(self) -> str | None:
        return None if self.doing is None else self.doing.decode("utf-8", "surrogatepass")


def unsigned(report: Report, id: str) -> tuple[Report, bool]:
    """A return without the delegation's own id, and whether it was signed with it."""
    return (replace(report, session_id=None), True) if report.session_id == id else (report, False)


def words(id: str, report: Report, doing: str | None) -> ArchivedWords:
    """What the delegation of that id returned, and what it said before."""
    return unsigned_words(*unsigned(report, id), doing)


def unsigned_words(report: Report, signed: bool, doing: str | None) -> ArchivedWords:
    """The same of a return without that id, which may have been signed with it."""
    said = None if doing is None else doing.encode("utf-8", "surrogatepass")
    return ArchivedWords(None if not signed and report == NO_REPORT else report, said, signed)


NO_WORDS = ArchivedWords()
IN_LOG = ArchivedWords(NO_REPORT)
"""Of words that are not kept here: they stand in the line that told of the end."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(ArchivedWords).decode
_unpack_block = msgspec.msgpack.Decoder(list[bytes]).decode


class Archive(ColumnStore):
    """A column of words."""

    COLUMNS: ClassVar[Mapping[str, object]] = {"_place": _NOTHING}
    BESIDE = ("_full", "_base", "_last", "_room")

    def __init__(self) -> None:
        self._place = array("i")
        """The number of the block, and which of its words."""
        self._full: list[bytes] = []
        """The full blocks."""
        self._base = array("i")
        """For each of them the first of the few that it was pressed with."""
        self._loose: deque[int] = deque()
        """The numbers of those that wait to be pressed, as far as they filled up here."""
        self._last: list[bytes] = []
        self._room = _FULL
        self._opened: dict[int, Sequence[bytes]] = {}
        self._bases: dict[int, ZstdDict] = {}
        self._presser: ZstdCompressor | None = None
        """While blocks wait. It needs a megabyte, and to get that anew for each block takes longer than to press it."""

    def __getitem__(self, row: int) -> ArchivedWords:
        place = self._place[row]
        if place < 0:
            return NO_WORDS if place == _NOTHING else IN_LOG
        number, index = divmod(place, _MOST)
        return _unpack(self._block(number)[index])

    def __setitem__(self, row: int, words: ArchivedWords) -> None:
        if words == NO_WORDS:
            self._place[row] = _NOTHING
            return
        self._put(row, _packed(words))

    def _put(self, row: int, packed: bytes) -> None:
        self._place[row] = len(self._full) * _MOST + len(self._last)
        self._last.append(packed)
        self._room -= len(packed)
        if self._room <= 0 or len(self._last) == _MOST:
            self._close()
            if len(self._loose) > _LOOSE:
                self.press_one()

    def _close(self) -> None:
        """The last block is full."""
        self._loose.append(len(self._full))
        self._full.append(_pack([*self._last]))
        self._base.append(_WAITS)
        self._last, self._room = [], _FULL

    @property
    def is_loose(self) -> bool:
        """Whether a full block waits to be pressed."""
        return bool(self._loose)

    def press_one(self) -> bool:
        """Press the oldest full block that is not; False if there is none."""
        if not self._loose:
            return False
        number = self._loose.popleft()
        block = self._full[number]
        if number < _FEW or not hasattr(press(), "ZstdDict"):
            self._full[number], self._base[number] = bytes(press().compress(block, _LEVEL)), _ALONE
        else:
            if (presser := self._presser) is None:
                told = self._told_by_few(0).as_digested_dict
                presser = self._presser = press().ZstdCompressor(_LEVEL, zstd_dict=told)
            self._full[number], self._base[number] = presser.compress(block, presser.FLUSH_FRAME), 0
        if not self._loose:
            self._presser = None
            self._bases.clear()  # what is digested to press with takes ten times its own bytes
        return True

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        # Many small ones would be many small blocks, and of some rows the words of the others would come with them.
        if len(other._full) < _FEW or not isinstance(moved.rows, range):
            for row in range(moved.at, len(self._place)):
                if (place := self._place[row]) >= 0:
                    number, index = divmod(place, _MOST)
                    self._put(row, other._block(number)[index])
            return
        if self._last:
            self._close()
        blocks = len(self._full)
        before = blocks * _MOST
        self._loose.extend(blocks + number for number in other._loose)
        self._full += other._full
        self._base.extend(base if base < 0 else base + blocks for base in other._base)
        self._last, self._room = [*other._last], other._room
        if before:
            places = (place if place < 0 else place + before for place in self._place[moved.at :])
            self._place[moved.at :] = array("i", places)

    def is_whole(self) -> bool:
        base = self._base
        return (
            len(base) == len(self._full)
            and is_within(self._place, _IN_LOG, len(self._full) * _MOST + len(self._last))
            and is_within(base, _WAITS, max(len(base) - _FEW, 0))
            and all(max(base[each : each + _FEW]) < 0 for each in {*base} if each >= 0)
        )

    def leave_in_log(self, rows: Container[int]) -> None:
        """The words of these can be had from the line that told of their end; only those of others are kept."""
        places = [*enumerate(self._place)]
        others = [(row, self[row]) for row, place in places if place >= 0 and row not in rows]
        self._full, self._base, self._last, self._room = [], array("i"), [], _FULL
        self._loose, self._opened, self._bases, self._presser = deque(), {}, {}, None
        for row, place in places:
            if place >= 0:
                self._place[row] = _IN_LOG
        for row, words in others:
            self[row] = words

    def kept(self) -> Iterator[ArchivedWords]:
        """All words that are here."""
        return (self[row] for row, place in enumerate(self._place) if place >= 0)

    def _block(self, number: int) -> Sequence[bytes]:
        if number == len(self._full):
            return self._last
        block = self._opened.get(number)
        if block is None:
            if len(self._opened) == _OPENED:
                del self._opened[next(iter(self._opened))]
            block = self._opened[number] = _unpack_block(self._plain(number))
        return block

    def _plain(self, number: int) -> bytes:
        """A full block before it was pressed."""
        block, base = self._full[number], self._base[number]
        if base == _WAITS:
            return block
        if base == _ALONE:
            return bytes(press().decompress(block))
        return bytes(press().decompress(block, zstd_dict=self._told_by_few(base)))

    def _told_by_few(self, first: int) -> "ZstdDict":
        """What is said in the few blocks from that one on, for those that were or will be pressed with them."""
        told = self._bases.get(first)
        if told is None:
            if len(self._bases) == _BASES:
                del self._bases[next(iter(self._bases))]
            few = b"".join(map(self._plain, range(first, first + _FEW)))
            told = self._bases[first] = press().ZstdDict(few, is_raw=True)
        return told


@cache
def press() -> ModuleType:
    """What presses, loaded with the first full block: zstd takes half the time of zlib, which is always there."""
    try:
        from delegtop.base import zstd
    except ImportError:
        import zlib

        return zlib
    return zstd


def unpress(data: bytes, most: int) -> bytes:
    """What was pressed, of a file that somebody else may have made: ValueError if it is more than `most` bytes, and
    whatever error of its own the presser has if it is none."""
    module = press()
    reader = module.decompressobj() if hasattr(module, "decompressobj") else module.ZstdDecompressor()
    told = bytes(reader.decompress(data, most))
    if not reader.eof:
        raise ValueError(f"more than {most:,} bytes")
    return told


def _packed(words: ArchivedWords) -> bytes:
    try:
        return _pack(words)
    except (UnicodeEncodeError, OverflowError):  # half a character or a number past all use, let through by a format
        return _pack(msgspec.convert(_whole(msgspec.to_builtins(words, builtin_types=(bytes,))), ArchivedWords))


def _whole(value: object) -> object:
    """The same, with every half character replaced and every number one of 64 bits."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int):
        return min(max(value, -_LARGEST), _LARGEST)
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value
