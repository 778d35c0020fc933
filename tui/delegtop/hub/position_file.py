"""Up to where a hub was told, kept between two runs of a shipper: the marks of logs, as a stream has them.

It is written only after the hub has said that it has all of that. What is lost or damaged is told again: told twice
counts once.
"""

import fcntl
import os
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.paths import make_private, state_folder
from delegtop.hub.hub_key import write_private

Mark = tuple[int, int, int]


class Position(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How much one hub has of what one host has to tell."""

    sequence: int = 0
    """The last message of the stream that was ours: one with a lower number is of another stream, which has nothing."""
    marks: dict[str, Mark] = {}
    begun_at: dict[str, Millis] = {}
    """By source, when it was last told from its beginning."""
    told_at: dict[str, Millis] = {}
    """By source, when something of it was last told."""


class PositionInUseError(Exception):
    """Another shipper has it."""


class PositionFile:
    """One file, for one hub as one host: whoever holds it is the only one."""

    def __init__(self, hub: str, host: str, folder: Path | None = None) -> None:
        """`hub` is what it is known by. OSError if it cannot be written."""
        folder = folder or state_folder() / "ship"
        make_private(folder)
        name = blake2b(f"{hub}\0{host}".encode(), digest_size=8).hexdigest()
        self.path = folder / f"{name}.position"
        lock = folder / f"{name}.lock"
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise PositionInUseError(f"{host} ships to this hub already, by another process of this machine") from None

    def read(self) -> Position:
        """What was last written; nothing if it is not whole."""
        try:
            checksum, _, data = self.path.read_bytes().partition(b"\n")
            if int(checksum, 16) == crc32(data):
                return msgspec.json.decode(data, type=Position)
        except (OSError, ValueError, RecursionError):
            pass
        return Position()

    def write(self, position: Position) -> None:
        data = msgspec.json.encode(position)
        write_private(self.path, b"%08x\n%b" % (crc32(data), data))

    def close(self) -> None:
        os.close(self._lock)
