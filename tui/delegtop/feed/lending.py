"""What of a long history is read by other processes: whole sessions that have been quiet for long."""

import os
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from delegtop.base.text import is_utf8
from delegtop.feed.dormant_sessions import quiet_until
from delegtop.feed.recent_window import Looks, folder_of, session_of
from delegtop.sources.inode import look_of

if TYPE_CHECKING:
    from delegtop.feed.kept_session import KeptSession, SessionBlock
    from delegtop.feed.loaders import Loaders

WORTH = 100 * 1024 * 1024
"""Bytes: fewer are read sooner than another process has begun."""
PART = 12 * 1024 * 1024
_NAP = 0.05
"""Seconds between two looks at what has come back, while there is nothing else to do."""


class SessionLending:
    """One thread lends and takes back."""

    def __init__(self, loaders: "Loaders", sizes: dict[str, int]) -> None:
        self._loaders = loaders
        self._sizes = sizes
        """Of all files that may be lent; each is once."""

    @staticmethod
    def begun(waiting: Collection[str], looks: Looks) -> "SessionLending | None":
        """None if it is not worth it: there is little to read, or one processor."""
        sizes = dict(_quiet_sizes(waiting, looks))
        if sum(sizes.values()) < WORTH:
            return None
        from delegtop.feed.loaders import Loaders, processors  # few have so much to read

        return SessionLending(Loaders(processors()), sizes) if processors() > 0 else None

    @property
    def has_lent(self) -> bool:
        return self._loaders.has_lent

    @property
    def lent(self) -> Iterator[str]:
        """The files that others are reading."""
        return self._loaders.lent

    def lend(self, waiting: list[str], busy: Collection[str]) -> list[str]:
        """Lend what waits last; what is then left."""
        if self._loaders.room <= 0:
            return waiting
        units: dict[str, list[str]] = {}
        for path in reversed(waiting):
            if (unit := session_of(path)) is not None and unit not in busy:
                units.setdefault(unit, []).append(path)
        gone: set[str] = set()
        while self._loaders.room > 0 and (part := self._part(units)) and self._loaders.lend(part):
            gone.update(path for paths in part.values() for path in paths)
        return [path for path in waiting if path not in gone]

    def _part(self, units: dict[str, list[str]]) -> dict[str, list[str]]:
        """The first of these that are worth lending, which are then no longer among them."""
        part: dict[str, list[str]] = {}
        size = 0
        for unit in list(units):
            paths = units.pop(unit)
            if all(path in self._sizes for path in paths):
                part[unit] = paths[::-1]  # in the order in which they would be read here
                size += sum(map(self._sizes.pop, paths))
            if size >= PART:
                return part
        return part if size >= PART // 2 else {}

    def returned(
        self, *, idle: bool, rest: Callable[[], None]
    ) -> "Iterator[tuple[str, list[str], tuple[SessionBlock, KeptSession] | None]]":
        """The sessions that came back, with their files, and where it stands what they told; None of those that nobody
        else can read.
        If there is nothing else to do, the first of them is awaited."""
        while True:
            found = list(self._loaders.returned(_NAP if idle else 0.0))
            for lent, sessions in found:
                for unit, paths in lent.items():
                    yield unit, list(paths), sessions.get(unit)
            if found or not idle or not self._loaders.has_lent:
                return
            rest()

    def end(self) -> None:
        self._loaders.end()


def _quiet_sizes(paths: Collection[str], looks: Looks) -> Iterator[tuple[str, int]]:
    """Of the files that may be lent. A log beside them that says only inside whose it is may be of any of those
    sessions, and is read here after them."""
    until = quiet_until()
    of_nobody = {folder_of(path) for path in paths if path.endswith(".jsonl") and session_of(path) is None}
    for path in paths:
        if of_nobody and folder_of(path) in of_nobody:
            continue
        look = looks.get(path)
        if look is None:
            try:
                look = look_of(os.stat(path))  # noqa: PTH116 # thousands of files
            except (OSError, ValueError):
                continue
        if session_of(path) is not None and look[3] // 1_000_000 <= until and is_utf8(path):
            yield path, look[2]
