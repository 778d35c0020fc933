"""What of a long history is read by other processes: whole sessions that have been quiet for long."""

import os
from collections.abc import Callable, Collection, Iterator, Set
from typing import TYPE_CHECKING

from delegtop.base.clock import Millis
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

    def __init__(self, loaders: "Loaders", units: dict[str, dict[str, int]]) -> None:
        self._loaders = loaders
        self._units = units
        """The sessions that may be lent, each once, in the order in which they wait: their files, with their sizes."""

    @staticmethod
    def begun(waiting: Collection[str], looks: Looks) -> "SessionLending | None":
        """None if it is not worth it: there is little to read, or one processor."""
        units = _quiet(waiting, looks)
        if sum(sum(files.values()) for files in units.values()) < WORTH:
            return None
        from delegtop.feed.loaders import Loaders, processors  # few have so much to read

        return SessionLending(Loaders(processors()), units) if processors() > 0 else None

    @property
    def has_lent(self) -> bool:
        return self._loaders.has_lent

    @property
    def lent(self) -> Iterator[str]:
        """The files that others are reading."""
        return self._loaders.lent

    def lend(self, waiting: list[str], busy: Collection[str]) -> list[str]:
        """Lend what waits last; what is then left."""
        if self._loaders.room <= 0 or not self._units:
            return waiting
        still, gone = {*waiting}, set[str]()
        while self._loaders.room > 0 and (part := self._part(still, busy)) and self._loaders.lend(part):
            gone.update(path for paths in part.values() for path in paths)
        return [path for path in waiting if path not in gone]

    def _part(self, waiting: Set[str], busy: Collection[str]) -> dict[str, list[str]]:
        """The last of them that are worth lending, and of which nothing is read here."""
        part: dict[str, list[str]] = {}
        size = 0
        while self._units and size < PART:
            unit, files = self._units.popitem()
            if unit not in busy and waiting >= files.keys():
                part[unit] = [*files]
                size += sum(files.values())
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


def _quiet(paths: Collection[str], looks: Looks) -> dict[str, dict[str, int]]:
    """The sessions that may be lent, with their files and how large these are. A log beside them that says only inside
    whose it is may be of any of those sessions, and is read here after them."""
    until = quiet_until()
    units: dict[str, dict[str, int]] = {}
    of_nobody: set[str] = set()
    for path in paths:
        session = session_of(path)
        if session is not None:
            units.setdefault(session, {})[path] = _size(path, looks, until)
        elif path.endswith(".jsonl"):
            of_nobody.add(folder_of(path))
    return {
        session: files
        for session, files in units.items()
        if min(files.values()) >= 0 and (not of_nobody or of_nobody.isdisjoint(map(folder_of, files)))
    }


def _size(path: str, looks: Looks, until: Millis) -> int:
    """Less than none if it cannot be lent: it is gone, was written lately, or has a name that is no text."""
    look = looks.get(path)
    if look is None:
        try:
            look = look_of(os.stat(path))  # noqa: PTH116 # thousands of files
        except (OSError, ValueError):
            return -1
    return look[2] if look[3] // 1_000_000 <= until and is_utf8(path) else -1
