"""Which files are to be read so that all can be found: of sessions that are not kept, or are not what they were.

They are read in portions, so that a long history needs no more memory than a part of it, and whoever is interrupted
has what was read until then.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import Millis
from delegtop.feed.dormant_sessions import quiet_until
from delegtop.feed.recent_window import folder_of, unit_of
from delegtop.search.error_shape import key_of
from delegtop.sources.discover import is_database
from delegtop.sources.inode import look_of

if TYPE_CHECKING:
    from delegtop.search.search_file import KeptUnit

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
    """Asked which of the files that are found are to be read. Each is given out once, and those that tell of the same
    delegations together: half of what is known of one would be kept as if it was all."""

    def __init__(self, known: "Mapping[int, KeptUnit]", count: Callable[[int], None] = lambda _: None) -> None:
        self._count = count
        """Told how many units are not read yet whenever some are given out."""
        self._known = {unit: kept.stamp for unit, kept in known.items()}
        self._company = {unit: kept.company for unit, kept in known.items()}
        self._given: set[int] = set()
        self._there: set[int] = set()
        """The units whose files were found."""
        self._named: dict[int, int] = {}
        """Units that were read and are not kept, by what is named in them."""
        self.portion: dict[int, FileUnit] = {}
        """What is read now."""
        self._admitted: frozenset[str] | None = None
        self.left = 0
        """Companies that are still to be read."""

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
        files: dict[int, list[str]] = {}
        for path in paths:
            files.setdefault(unit_key(path), []).append(path)
        self._there = {*files}
        units = {key: look_at(found) for key, found in files.items() if key not in self._given}
        companies: dict[int, list[int]] = {}
        for key in units:
            companies.setdefault(self.company(key), []).append(key)
        room = PORTION
        for company in dict.fromkeys(self.company(key) for key in units if self._known.get(key) != units[key].stamp):
            members = companies[company]
            size = sum(units[key].size for key in members)
            if self.portion and (room < size or len(self.portion) >= UNITS):
                self.left += 1
                continue
            room -= size
            self.portion.update((key, units[key]) for key in members)
            self._given.update(members)
        self._admitted = frozenset(path for unit in self.portion.values() for path in unit.paths)
        self._count(sum(self._known.get(key) != unit.stamp for key, unit in units.items()))

    # -- who tells of the same -------------------------------------------------------------------------------------

    def company(self, unit: int) -> int:
        """The same for all that were joined."""
        above = self._company.get(unit, unit)
        while above != unit:
            unit, above = above, self._company.get(above, above)
        return unit

    def join(self, unit: int, other: int) -> None:
        """They tell of the same delegations."""
        one, two = self.company(unit), self.company(other)
        self._company[max(one, two)] = self._company[min(one, two)] = min(one, two)

    @property
    def is_part(self) -> bool:
        """Whether more is read than this portion."""
        return bool(self.left) or len(self._given) > len(self.portion)

    def remember(self, names: Mapping[int, int]) -> None:
        """What is named in units that were read and are not kept: others that are read later may name it too."""
        if self.left:
            self._named.update(names)

    def naming(self, names: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The units of earlier portions that name one of these, each with what it names."""
        return ((name, self._named[name]) for name in names if name in self._named)

    def is_there(self, unit: int) -> bool:
        return unit in self._there

    def torn(self) -> set[int]:
        """The units of this portion that are to be read once more, with others of their company that were not read."""
        missing = {self.company(unit) for unit in self._there if unit not in self.portion}
        found = {unit for unit in self.portion if self.company(unit) in missing}
        if found:
            again = {unit for unit in self._there if self.company(unit) in {self.company(each) for each in found}}
            self._given -= again
            for unit in again:
                self._known.pop(unit, None)
            self.left += 1
        return found

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
