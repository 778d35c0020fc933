"""The file of the index as another process reads and writes it, for who stays: SQLite would stay with it, and what it
needed to write. Whatever becomes of that process, nothing is found or nothing is written.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from delegtop.base.clock import Millis
from delegtop.base.paths import is_there
from delegtop.base.text import is_utf8

T = TypeVar("T")


class FindAsked(Struct, frozen=True, tag=True):
    """What is kept under these names; answered with a list of these and the data."""

    path: str
    context: str
    names: list[str]
    now: int


class BlocksAsked(FindAsked, frozen=True, tag=True):
    """The blocks in which sessions of these names are kept; answered with a list of their data."""


class WriteAsked(Struct, frozen=True, tag=True):
    """Keep these logs and blocks, and let go of other sessions; answered once it is done."""

    path: str
    context: str
    logs: dict[str, bytes]
    blocks: list[tuple[bytes, list[str]]]
    gone: list[str]
    now: int


class IndexApart:
    """Asks it of a process of its own, which ends with its answer."""

    def __init__(self, path: Path, context: str) -> None:
        self._path, self._context = str(path), context

    def find(self, names: Iterable[str], now: Millis) -> Iterator[tuple[str, bytes]]:
        """What is kept under these names."""
        asked = FindAsked(self._path, self._context, [*filter(is_utf8, names)], now)
        yield from self._answer(asked, list[tuple[str, bytes]]) or ()

    def find_blocks(self, sessions: Iterable[str], now: Millis) -> Iterator[bytes]:
        """The blocks in which these are kept."""
        asked = BlocksAsked(self._path, self._context, [*filter(is_utf8, sessions)], now)
        yield from self._answer(asked, list[bytes]) or ()

    def write(
        self, new: Mapping[str, bytes], blocks: Iterable[tuple[bytes, Iterable[str]]], gone: Iterable[str], now: Millis
    ) -> None:
        """Keep these logs and blocks, and let go of other sessions."""
        named = [(data, [*names]) for data, names in blocks]
        self._answer(WriteAsked(self._path, self._context, {**new}, named, [*filter(is_utf8, gone)], now), bool)

    def _answer(self, asked: FindAsked | WriteAsked, kind: type[T]) -> T | None:
        if isinstance(asked, FindAsked) and not is_there(self._path):
            return None  # the first time
        from delegtop.feed.process_messages import begun, received, send  # who has little to read needs no other

        try:
            with begun("delegtop.feed.index_process") as process:
                try:
                    send(process.stdin, asked)
                    return msgspec.msgpack.decode(received(process.stdout), type=kind)
                finally:
                    process.kill()
        except (OSError, EOFError, ValueError):  # what cannot be packed or unpacked is a ValueError, too
            return None
