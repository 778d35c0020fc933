"""Talk with a process of this very program: messages on its input and output, with their length before them."""

import struct
import sys
from typing import IO, TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import subprocess

_SIZE = struct.Struct("<Q")
HEADER = _SIZE.size
"""Bytes."""
LARGEST = 1 << 30
_COMMAND = (sys.executable, "-P", "-m")
"""With -P nothing is run that lies in the present folder."""


def begun(module: str) -> "subprocess.Popen[bytes]":
    """A process that runs it; OSError if there can be none."""
    import subprocess  # the process that is begun has no need of it

    return subprocess.Popen(  # noqa: S603 # this very program
        (*_COMMAND, module), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def send(stream: IO[bytes] | None, message: object) -> None:
    """OSError if nobody listens any more."""
    assert stream is not None  # noqa: S101 # a pipe, as asked for
    data = msgspec.msgpack.encode(message)
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)
    stream.flush()


def received(stream: IO[bytes] | None) -> bytes:
    """One message; EOFError if there is none, or only a part of one."""
    assert stream is not None  # noqa: S101 # as above
    header = stream.read(HEADER)
    size = size_of(header) if len(header) == HEADER else 0
    data = stream.read(size)
    if not data or len(data) < size:
        raise EOFError
    return data


def size_of(header: bytes) -> int:
    """How many bytes follow; ValueError if that is no message of ours."""
    (size,) = _SIZE.unpack(header)
    if size > LARGEST:
        raise ValueError("too large")
    return int(size)
