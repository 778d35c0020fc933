"""The archive: long words of delegations that are over, pressed together because they are seldom read again.

Words lie in blocks. The last block is open; a full one never changes again, so moments share it, and is pressed when
there is time for it or too many wait: whoever only reads a log once is done before that. What is written anew goes to
the end, and what it replaces stays behind unread: a delegation ends once, or a few times.
"""

from array import array
from collections import deque
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import ClassVar, Self

import msgspec
from msgspec.structs import replace

from delegtop.model.events import Report
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.merge import NO_REPORT

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
"""Blocks."""
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


def words(id: str, report: Report, doing: str | None) -> ArchivedWords:
    """What the delegation of that id returned, and what it said before."""
    signed = report.session_id == id
    told = replace(report, session_id=None) if signed else report
    said = None if doing is None else doing.encode("utf-8", "surrogatepass")
    return ArchivedWords(None if told == NO_REPORT and not signed else told, said, signed)


NO_WORDS = ArchivedWords()
IN_LOG = ArchivedWords(NO_REPORT)
"""Of words that are not kept here: they stand in the line that told of the end."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(ArchivedWords).decode
_unpack_block = msgspec.msgpack.Decoder(list[bytes]).decode


class Archive(ColumnStore):
    """A column of words."""

    COLUMNS: ClassVar[Mapping[str, object]] = {"_place": _NOTHING}
    BESIDE = ("_pressed", "_last", "_room")

    def __init__(self) -> None:
        self._place = array("i")
        """The number of the block, and which of its words."""
        self._pressed: list[bytes | tuple[bytes, ...]] = []
        """The full blocks; words that wait to be pressed are still apart."""
        self._loose: deque[int] = deque()
        """The numbers of those, as far as they filled up here."""
        self._last: list[bytes] = []
        self._room = _FULL
        self._opened: dict[int, Sequence[bytes]] = {}

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
        self._place[row] = len(self._pressed) * _MOST + len(self._last)
        self._last.append(packed)
        self._room -= len(packed)
        if self._room <= 0 or len(self._last) == _MOST:
            self._close()
            if len(self._loose) > _LOOSE:
                self.press_one()

    def _close(self) -> None:
        """The last block is full."""
        self._loose.append(len(self._pressed))
        self._pressed.append(tuple(self._last))
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
        self._pressed[number] = pressed(self._pressed[number])
        return True

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        if len(other._pressed) < _FEW:  # many small ones would be many small blocks
            for row in range(moved.at, len(self._place)):
                if (place := self._place[row]) >= 0:
                    number, index = divmod(place, _MOST)
                    self._put(row, other._block(number)[index])
            return
        if self._last:
            self._close()
        blocks = len(self._pressed)
        before = blocks * _MOST
        self._loose.extend(blocks + number for number in other._loose)
        self._pressed += other._pressed
        self._last, self._room = [*other._last], other._room
        if before:
            places = (place if place < 0 else place + before for place in self._place[moved.at :])
            self._place[moved.at :] = array("i", places)

    def is_whole(self) -> bool:
        return is_within(self._place, _IN_LOG, len(self._pressed) * _MOST + len(self._last))

    def leave_in_log(self, rows: Container[int]) -> None:
        """The words of these can be had from the line that told of their end; only those of others are kept."""
        places = [*enumerate(self._place)]
        others = [(row, self[row]) for row, place in places if place >= 0 and row not in rows]
        self._pressed, self._last, self._room = [], [], _FULL
        self._loose, self._opened = deque(), {}
        for row, place in places:
            if place >= 0:
                self._place[row] = _IN_LOG
        for row, words in others:
            self[row] = words

    def kept(self) -> Iterator[ArchivedWords]:
        """All words that are here."""
        return (self[row] for row, place in enumerate(self._place) if place >= 0)

    def _block(self, number: int) -> Sequence[bytes]:
        if number == len(self._pressed):
            return self._last
        block = self._opened.get(number)
        if block is None:
            full = self._pressed[number]
            if isinstance(full, tuple):
                return full
            if len(self._opened) == _OPENED:
                del self._opened[next(iter(self._opened))]
            block = self._opened[number] = _unpack_block(press().decompress(full))
        return block


def pressed(block: bytes | tuple[bytes, ...]) -> bytes:
    """A full block, if it waits to be pressed."""
    return bytes(press().compress(_pack(block), _LEVEL)) if isinstance(block, tuple) else block


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
