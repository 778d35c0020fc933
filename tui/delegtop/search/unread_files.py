"""Which files are to be read so that all can be found: of sessions that are not kept, or are not what they were.

They are read in portions, so that a long history needs no more memory than a part of it, and whoever is interrupted
has what was read until then.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.feed.dormant_sessions import quiet_until
from delegtop.feed.recent_window import folder_of, unit_of
from delegtop.search.error_shape import key_of
from delegtop.sources.discover import is_database
from delegtop.sources.inode import look_of

PORTION = 256 * 1024 * 1024
"""Bytes that are read at a time."""
UNITS = 5_000


class FileUnit(NamedTuple):
    """All files of a session, or a log that belongs to none."""

    paths: tuple[str, ...]
    stamp: int
    """Another one if any of them is another."""
    size: int
    written: Millis


class UnreadFiles:
    """Asked which of the files that are found are to be read. Each is given out once."""

    def __init__(self, known: Mapping[int, int]) -> None:
        self._known = known
        self._given: set[int] = set()
        self.portion: dict[int, FileUnit] = {}
        """What is read now."""
        self._admitted: frozenset[str] | None = None
        self.left = 0
        """Units that are still to be read."""

    def begin(self) -> None:
        """The next portion."""
        self.portion, self._admitted, self.left = {}, None, 0

    def sift(self, paths: Sequence[str]) -> list[str]:
        """Those of these files that are to be read; decided once for a portion."""
        if self._admitted is None:
            self._choose(paths)
        admitted = self._admitted or frozenset()
        return [path for path in paths if path in admitted]

    def _choose(self, paths: Sequence[str]) -> None:
        units: dict[int, list[str]] = {}
        for path in paths:
            units.setdefault(unit_key(path), []).append(path)
        room = PORTION
        for key, files in units.items():
            if key in self._given:
                continue
            unit = look_at(files)
            if self._known.get(key) == unit.stamp:
                continue
            if self.portion and (room < unit.size or len(self.portion) >= UNITS):
                self.left += 1
                continue
            room -= unit.size
            self.portion[key] = unit
            self._given.add(key)
        self._admitted = frozenset(path for unit in self.portion.values() for path in unit.paths)

    def at_rest(self) -> dict[int, FileUnit]:
        """The units of this portion that were quiet for long and are what they were when they began to be read."""
        until = quiet_until()
        return {
            key: unit
            for key, unit in self.portion.items()
            if unit.written <= until and look_at(unit.paths).stamp == unit.stamp
        }


def unit_key(path: str) -> int:
    """By where its files lie: the same session may lie in two places."""
    place = os.path.abspath(folder_of(path))  # noqa: PTH100 # thousands of them
    unit = unit_of(path)
    return key_of(place, os.path.abspath(path) if unit == path else unit)  # noqa: PTH100 # as above


def look_at(paths: Iterable[str]) -> FileUnit:
    """What its files look like now."""
    looks: list[str] = []
    size = written = 0
    ordered = sorted(paths)
    for path in ordered:
        for file in (path, f"{path}-wal") if is_database(path) else (path,):
            try:
                found = os.stat(file)  # noqa: PTH116 # as above
            except (OSError, ValueError):
                looks.append(f"{file}\0-")
                continue
            looks.append(f"{file}\0{look_of(found)}")
            size += found.st_size
            written = max(written, found.st_mtime_ns // 1_000_000)
    return FileUnit(tuple(ordered), key_of(*looks), size, Millis(written))
