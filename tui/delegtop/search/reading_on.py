"""Reads what cannot be found yet: sessions at rest are kept from then on, the others are there for this one time."""

import gc
from collections.abc import Callable, Sequence
from typing import NamedTuple

from delegtop.feed.kept_session import has_secret
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE
from delegtop.observation import observation
from delegtop.observation.source_discovery import Places
from delegtop.search.search_file import SearchFile, Stored
from delegtop.search.session_words import SessionWords, names_in, words_of
from delegtop.search.stand_stills import Gathering
from delegtop.search.unread_files import FileUnit, UnreadFiles, unit_key
from delegtop.settings import Settings

Update = Callable[[Callable[[], tuple[int, int]]], None]
"""Is told as it goes on, with what measures how far it is."""


def silent(_measure: Callable[[], tuple[int, int]]) -> None:
    """Nobody is told."""


class ReadOn(NamedTuple):
    """What came of it."""

    passing: list[SessionWords]
    """What is kept nowhere: of sessions that go on, or of other hosts."""
    stale: set[int]
    """The units they are of: what is kept of them is of before."""
    read: int
    """Units."""
    kept: int
    """Units of them that are kept from now on."""
    refused: int = 0
    """Those that could be, and could not be written."""


def read_on(places: Places, settings: Settings, file: SearchFile | None, update: Update = silent) -> ReadOn:
    """Read what is not kept in the file, or all there is without one."""
    unread = UnreadFiles(file.known() if file is not None else {})
    done = ReadOn([], set(), 0, 0)
    while True:
        unread.begin()
        found = _read(places, settings, file, unread, update)
        done.passing.extend(found.passing)
        done.stale.update(found.stale)
        counts = done.read + found.read, done.kept + found.kept, done.refused + found.refused
        done = ReadOn(done.passing, done.stale, *counts)
        if not unread.left:
            return done
        places = places._replace(hosts=())  # once is enough
        gc.collect()  # commands let it be, for they read once; of what was read here nothing is needed any more


def _read(places: Places, settings: Settings, file: SearchFile | None, unread: UnreadFiles, update: Update) -> ReadOn:
    gathered = Gathering()
    with observation.opened(
        places.as_is(),
        settings,
        heed=gathered.heed,
        told_again=True,
        sift=unread.sift,
        indexed=file is not None,
    ) as seen:
        seen.read(lambda: update(seen.feed.progress), asks_kernel=False)
        resting = unread.at_rest() if file is not None else {}
        told = _by_unit(seen.forest, gathered, unread.portion)
    new = [
        Stored(unit, each.stamp, [words for words, _ in told.get(unit, ())])
        for unit, each in resting.items()
        if _can_keep(each, told.get(unit, ()))
    ]
    kept = {each.unit for each in new} if file is not None and new and file.write(new) else set()
    passing = [words for unit, sessions in told.items() if unit not in kept for words, _ in sessions]
    return ReadOn(passing, set(unread.portion) - kept, len(unread.portion), len(kept), len(new) - len(kept))


def _can_keep(unit: FileUnit, sessions: Sequence[tuple[SessionWords, bool]]) -> bool:
    """Whether nobody in it is at work, and there is no secret in what is kept as it is: what things are found by."""
    if any(is_active for _, is_active in sessions):
        return False
    return not has_secret([*unit.paths, *(text for words, _ in sessions for text in names_in(words))])


def _by_unit(
    forest: Forest, gathered: Gathering, portion: dict[int, FileUnit]
) -> dict[int, list[tuple[SessionWords, bool]]]:
    """What is told of each delegation, by the files that tell of it, and whether it is at work; 0 is for all that no
    file of here tells."""
    found: dict[int, list[tuple[SessionWords, bool]]] = {}
    for handle in range(len(forest)):
        words = words_of(forest, handle, gathered)
        here = not forest.host_of(handle) and words.words.source
        unit = unit_key(words.words.source) if here else 0
        found.setdefault(unit if unit in portion else 0, []).append((words, forest.state(handle) in ACTIVE))
    return found
