"""Other processes that read a part of a long history, where there is much to read and more than one processor.

Files are lent to them from the end of what waits, while the rest is read here; what comes back is treated as what the
index keeps. One that is killed, fails or answers nonsense costs nothing but time: what was lent to it is read here.
"""

import os
import selectors
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

import msgspec

from delegtop.feed.kept_session import KeptSession, SessionBlock, unpack_block
from delegtop.feed.process_messages import HEADER, begun, send, size_of
from delegtop.model.store.numbers import SharedWords

_AHEAD = 2
"""Parts that one has at a time: it begins the next as soon as it has answered."""
_MOST = 7
_BLOCK = 1 << 20

Units = Mapping[str, Sequence[str]]
"""The files of sessions."""


class LoadedPart(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What such a process answers to a list of paths."""

    blocks: list[bytes]
    """As the index would keep them."""
    units: dict[str, str]
    """Which sessions stand in them, by the names under which they are kept."""


_unpack = msgspec.msgpack.Decoder(LoadedPart).decode


class Returned(NamedTuple):
    """What came back of one part."""

    lent: Units
    sessions: "dict[str, tuple[SessionBlock, KeptSession]]"
    """Where it stands what they told."""


def processors() -> int:
    """How many others can read at the same time."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        count = os.cpu_count() or 1
    return min(count - 1, _MOST)


class _Loader:
    """One process, and what was lent to it."""

    def __init__(self) -> None:
        self._process = begun("delegtop.feed.loader_process")
        self.lent: list[Units] = []
        self._read = bytearray()

    @property
    def output(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 # a pipe, as asked for
        return self._process.stdout

    def lend(self, units: Units) -> None:
        """OSError if it is gone."""
        self.lent.append(units)
        send(self._process.stdin, [path for paths in units.values() for path in paths])

    def answers(self) -> Iterator[Returned]:
        """What it has answered; ValueError, OSError or EOFError if it will not answer any more."""
        data = os.read(self.output.fileno(), _BLOCK)
        if not data:
            raise EOFError
        self._read += data
        while len(self._read) >= HEADER and len(self._read) >= HEADER + (size := size_of(bytes(self._read[:HEADER]))):
            answer = _unpack(self._read[HEADER : HEADER + size])
            del self._read[: HEADER + size]
            lent = self.lent[0]
            words = SharedWords({path: path for paths in lent.values() for path in paths})
            blocks = [block for data in answer.blocks if (block := unpack_block(data, words)) is not None]
            places = {session.name: (block, session) for block in blocks for session in block.sessions}
            sessions = {unit: places[name] for name, unit in answer.units.items() if name in places}
            del self.lent[0]
            yield Returned(lent, sessions)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # something may still be on its way to it
                if pipe is not None:
                    pipe.close()


class Loaders:
    """One thread lends and takes back."""

    def __init__(self, count: int) -> None:
        self._loaders: list[_Loader] = []
        self._ready = selectors.DefaultSelector()
        for _ in range(count):
            try:
                loader = _Loader()
            except OSError:
                continue
            self._loaders.append(loader)
            self._ready.register(loader.output, selectors.EVENT_READ, loader)

    @property
    def has_lent(self) -> bool:
        return any(loader.lent for loader in self._loaders)

    @property
    def lent(self) -> Iterator[str]:
        """The files that are being read."""
        return (path for each in self._loaders for units in each.lent for paths in units.values() for path in paths)

    @property
    def room(self) -> int:
        """How many parts can be lent now."""
        return sum(_AHEAD - len(loader.lent) for loader in self._loaders)

    def lend(self, units: Units) -> bool:
        """Let somebody else read these; False if nobody can."""
        for loader in sorted(self._loaders, key=lambda loader: len(loader.lent)):
            try:
                loader.lend(units)
            except OSError:
                loader.lent.remove(units)
                continue
            return True
        return False

    def returned(self, wait: float) -> Iterator[Returned]:
        """What has come back, after at most so many seconds; of one that has ended, all that was lent to it."""
        for key, _ in self._ready.select(wait):
            loader: _Loader = key.data
            try:
                yield from loader.answers()
            except (OSError, EOFError, ValueError):  # what cannot be decoded is a ValueError, too
                self._ready.unregister(loader.output)
                self._loaders.remove(loader)
                loader.end()
                yield from (Returned(units, {}) for units in loader.lent)

    def end(self) -> None:
        for loader in self._loaders:
            loader.end()
        self._loaders = []
        self._ready.close()
