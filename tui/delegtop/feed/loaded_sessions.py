"""What a process that reads a part of a long history is told, and what it answers: messages with their length before
them."""

import struct
from typing import IO

import msgspec
from msgspec import Struct

_SIZE = struct.Struct("<Q")
HEADER = _SIZE.size
"""Bytes."""
LARGEST = 1 << 30


class LoadedPart(Struct, frozen=True, gc=False, array_like=True):
    """The answer to one list of paths."""

    blocks: list[bytes]
    """As the index would keep them."""
    units: dict[str, str]
    """Which sessions stand in them, by the names under which they are kept."""


def send(stream: IO[bytes], message: object) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)
    stream.flush()


def size_of(header: bytes) -> int:
    """How many bytes follow; ValueError if that is no answer of ours."""
    (size,) = _SIZE.unpack(header)
    if size > LARGEST:
        raise ValueError("too large")
    return int(size)
