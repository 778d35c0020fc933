"""The recording in a bundle, read out of the zip a block at a time. Nothing is ever put on disk.

The archive is walked from member to member as it lies there; its directory, which may claim anything, is not asked.
Names in it are only compared with the one that is looked for.
"""

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO

from delegtop.sources import unpack
from delegtop.sources.unpack import BLOCK, BOMB, DAMAGED, SWELL, SWELL_FROM, TRUNCATED, UNSUPPORTED, Spoilt

MAGIC = b"PK\x03\x04"
RECORDING = b"recording.delegtop"
MEMBERS = 1_000
"""So many members are passed over at most."""
_HEADER = Struct("<4s5H3I2H")
_DESCRIPTOR = Struct("<4s3I")
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZE_FOLLOWS = 1, 8
_HUGE = 0xFFFFFFFF


class _Member:
    """One member, as its own header tells."""

    def __init__(self, file: BinaryIO) -> None:
        data = _read(file, _HEADER.size)
        magic, _, self.flags, self.method, _, _, _, self.packed, self.size, name, extra = _HEADER.unpack(data)
        if magic != MAGIC:
            raise Spoilt(UNSUPPORTED, "a zip without a recording in it")
        self.name = _read(file, name)
        _read(file, extra)
        if self.flags & _ENCRYPTED or self.method not in (_STORED, _DEFLATED) or self.packed == _HUGE:
            raise Spoilt(UNSUPPORTED, "a zip of a kind that delegtop does not make")
        if self.flags & _SIZE_FOLLOWS and self.method == _STORED:
            raise Spoilt(UNSUPPORTED, "a zip of a kind that delegtop does not make")


def blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The text of an open compressed file of that size: of a zip, the recording in it; `Spoilt` where it ends early."""
    start = file.tell()
    is_zip = file.read(len(MAGIC)) == MAGIC
    file.seek(start)
    return _bounded(_recording(file), max(SWELL * size, SWELL_FROM)) if is_zip else unpack.blocks(file, size)


def _bounded(text: Iterator[bytes], limit: int) -> Iterator[bytes]:
    length = 0
    for block in text:
        length += len(block)
        if length > limit:
            raise Spoilt(BOMB, f"more than {limit:,} bytes of text")
        yield block


def _recording(file: BinaryIO) -> Iterator[bytes]:
    for _ in range(MEMBERS):
        member = _Member(file)
        if member.name == RECORDING:
            yield from _text(file, member)
            return
        if member.flags & _SIZE_FOLLOWS:  # only who unpacks it knows where it ends
            for _ in _bounded(_text(file, member), SWELL_FROM):
                pass
        else:
            file.seek(member.packed, 1)
    raise Spoilt(UNSUPPORTED, f"no recording among the first {MEMBERS:,} members of the zip")


def _text(file: BinaryIO, member: _Member) -> Iterator[bytes]:
    if member.method == _STORED:
        left = member.packed
        while left:
            block = _read(file, min(left, BLOCK))
            left -= len(block)
            yield block
        return
    yield from _inflated(file)
    if member.flags & _SIZE_FOLLOWS:
        _skip_descriptor(file)


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=-15)
    while not unpacker.eof:
        data = unpacker.unconsumed_tail or file.read(BLOCK)
        if not data:
            raise Spoilt(TRUNCATED, "it ends in the middle of a member")
        try:
            text = unpacker.decompress(data, BLOCK)
        except zlib.error as error:
            raise Spoilt(DAMAGED, str(error)) from error
        if text:
            yield text
    file.seek(-len(unpacker.unused_data), 1)


def _skip_descriptor(file: BinaryIO) -> None:
    """The sizes that follow a member; the four bytes that mark them may be missing."""
    data = _read(file, _DESCRIPTOR.size)
    if not data.startswith(b"PK\x07\x08"):
        file.seek(-4, 1)


def _read(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise Spoilt(TRUNCATED, "the zip ends too early")
    return data
