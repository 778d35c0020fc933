"""Places that nobody named and that were only come across: samples in a clone, logs that somebody copied."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from delegtop.base.clock import Millis, WallClock

NEWEST = 20
"""So many files of a place are asked whether a process is behind them, however old they are."""

Told = Callable[[str], Millis | None]
"""The last moment that a file itself tells of; None if it tells of none."""


class ReplayOffer(NamedTuple):
    """What a place holds that is not read."""

    files: int
    told: Millis | None
    """The last moment it tells of."""


class UnaskedPlaces:
    """The places in which nothing is alive by its own records, and nothing was written since somebody looks."""

    def __init__(self, places: Sequence[str]) -> None:
        self._places = {place: os.path.join(place, "") for place in places}  # noqa: PTH118 # compared as strings
        self._began = WallClock().now()
        self.alive: set[str] = set()
        """Files in which something is alive though they were not written lately."""
        self.offers: dict[str, ReplayOffer] = {}

    def asleep(self, written: Mapping[str, Millis], told: Told, since: Millis) -> frozenset[str]:
        """Those of the files that lie in such a place. One in which something stirs is read from then on."""
        offers: dict[str, ReplayOffer] = {}
        held: set[str] = set()
        for place, paths in self._held(written).items():
            newest = sorted(paths, key=written.__getitem__)[-NEWEST:]
            said = {path: told(path) for path in paths if written[path] >= since or path in newest}
            stirring = {path for path, at in said.items() if self._stirs(at, written[path], since)}
            if stirring:
                self.alive |= stirring
                del self._places[place]
                continue
            held.update(paths)
            offers[place] = ReplayOffer(len(paths), max((at for at in said.values() if at is not None), default=None))
        self.offers = _by_folder(offers)
        return frozenset(held)

    def _held(self, paths: Mapping[str, Millis]) -> dict[str, list[str]]:
        held: dict[str, list[str]] = {}
        if self._places:
            for path in paths:
                for place, below in self._places.items():
                    if path == place or path.startswith(below):
                        held.setdefault(place, []).append(path)
                        break
        return held

    def _stirs(self, told: Millis | None, written: Millis, since: Millis) -> bool:
        return written > self._began if told is None else told >= since


def _by_folder(offers: Mapping[str, ReplayOffer]) -> dict[str, ReplayOffer]:
    """Places that lie side by side, and what lies below them, are offered as the folder that holds them."""
    beside = Counter(os.path.dirname(place) for place in offers)  # noqa: PTH120 # as above
    folders = sorted(folder for folder, count in beside.items() if folder.strip("./") and count > 1)
    found: dict[str, ReplayOffer] = {}
    for place, offer in offers.items():
        folder = next((folder for folder in folders if place.startswith(os.path.join(folder, ""))), place)  # noqa: PTH118 # as above
        known = found.get(folder, ReplayOffer(0, None))
        told = [at for at in (known.told, offer.told) if at is not None]
        found[folder] = ReplayOffer(known.files + offer.files, max(told, default=None))
    return found
