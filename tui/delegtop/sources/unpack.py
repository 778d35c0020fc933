"""The text inside a compressed file, a block at a time, whatever compressed it.

The compression is told by the first bytes. Memory is bounded: blocks are small, windows are limited, and a text that
swells beyond belief is cut off.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

import msgspec

BLOCK = 64 * 1024
TEXT_LIMIT = 2 * 1024 * 1024 * 1024
SWELL = 1_000
"""A text this many times as long as its file is no log: real ones reach about a hundred."""
SWELL_FROM = 64 * 1024 * 1024
"""Below this length a text may swell as it likes: a short log of equal lines does no harm."""
_WINDOW = 27
_MEMORY = 1 << _WINDOW
"""Bytes a decompressor may take to remember what it has written: enough for all that usual options make."""

TRUNCATED = "truncated archive"
DAMAGED = "damaged archive"
BOMB = "decompression bomb"
UNSUPPORTED = "unsupported compression"


class Spoilt(Exception):  # noqa: N818 - reads better where it is raised
    """The text cannot be read on; `reason` is a short stable phrase and `detail` says more."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Unpacker(Protocol):
    """What the decompressors of bz2, lzma and zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Codec(msgspec.Struct, frozen=True):
    make: Callable[[], Unpacker]
    errors: tuple[type[Exception], ...]


class _Gunzip:
    """zlib's decompressor with the manners of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not (self._full or self._inner.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        text = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self._full = len(text) == max_length
        return text


def _zstd() -> _Codec:
    """Loaded when a file needs it: most machines never do."""
    try:
        from delegtop.base import zstd
    except ImportError as error:
        raise Spoilt(UNSUPPORTED, f"zstd needs the package backports.zstd, which cannot be loaded: {error}") from error
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW}
    return _Codec(lambda: zstd.ZstdDecompressor(options=options), (zstd.ZstdError,))


_CODECS: tuple[tuple[bytes, Callable[[], _Codec]], ...] = (
    (b"\x28\xb5\x2f\xfd", _zstd),
    (b"\x1f\x8b", lambda: _Codec(_Gunzip, (zlib.error,))),
    (b"\xfd7zXZ\0", lambda: _Codec(lambda: lzma.LZMADecompressor(memlimit=_MEMORY), (lzma.LZMAError,))),
    (b"BZh", lambda: _Codec(bz2.BZ2Decompressor, (OSError, ValueError))),
)
_SKIPPABLE = b"\x2a\x4d\x18"
"""What follows the first byte of a zstd frame that holds no text."""


def _codec(head: bytes) -> _Codec:
    for magic, load in _CODECS:
        if head.startswith(magic):
            return load()
        if magic.startswith(head):
            raise Spoilt(TRUNCATED, f"{len(head)} bytes")
    if head[1:4] == _SKIPPABLE and head[0] >> 4 == 5:
        return _zstd()
    raise Spoilt(UNSUPPORTED, "neither zstd nor gzip, xz or bzip2")


def is_hole(data: bytes) -> bool:
    """Whether there is nothing but NULs in it."""
    return data[:1] == b"\0" and data == bytes(len(data))


def blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The text of an open compressed file of that size; `Spoilt` where it cannot be read on.

    An archive may be several in a row, as `gzip >> log.gz` makes them.
    """
    data = file.read(BLOCK)
    codec = _codec(data) if data else None
    length = swollen = 0
    while data and codec is not None:
        unpacker = codec.make()
        while not unpacker.eof:
            if not data and unpacker.needs_input and not (data := file.read(BLOCK)):
                raise Spoilt(TRUNCATED, f"it ends in the middle after {length:,} bytes of text")
            try:
                text = unpacker.decompress(data, BLOCK)
            except codec.errors as error:
                raise Spoilt(DAMAGED, f"after {length:,} bytes of text: {error}") from error
            data = b""
            length += len(text)
            if not is_hole(text):  # that is passed over, and packs to nothing
                swollen += len(text)
            if length > TEXT_LIMIT or swollen > max(SWELL * size, SWELL_FROM):
                raise Spoilt(BOMB, f"more than {length - len(text):,} bytes of text in {size:,} bytes of file")
            if text:
                yield text
        data = unpacker.unused_data.lstrip(b"\0") or file.read(BLOCK)
