"""Reads what cannot be found yet: sessions at rest are kept from then on, the others are there for this one time."""

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.dialects import Dialect, Unit, load
from delegtop.feed.file_catalogue import sample_of
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.kept_session import has_secret
from delegtop.feed.recent_window import session_of, sessions_in
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE
from delegtop.observation import observation
from delegtop.observation.source_discovery import Places
from delegtop.search.error_shape import key_of
from delegtop.search.search_file import SearchFile, Stored
from delegtop.search.session_words import SessionWords, names_in, words_of
from delegtop.search.stand_stills import Gathering
from delegtop.search.unread_files import FileUnit, UnreadFiles, unit_key
from delegtop.settings import Settings

_IDS = 8
"""So many of those in a first line count: most stand there for the record itself and its session."""

Update = Callable[[Callable[[], tuple[int, int]]], None]
"""Is told as it goes on, with what measures how far it is."""


def silent(_measure: Callable[[], tuple[int, int]]) -> None:
    """Nobody is told."""


class ReadOn(NamedTuple):
    """What came of it."""

    passing: dict[int, list[SessionWords]]
    """What is kept nowhere, by unit: of sessions that go on, or of other hosts."""
    stale: set[int]
    """The units they are of: what is kept of them is of before."""
    read: int
    """Units."""
    kept: int
    """Units of them that are kept from now on."""
    refused: int = 0
    """Those that could be, and could not be written."""
    unread: Sequence[SourceStatus] = ()
    """The sources that should have been read and could not be."""


class _Portion(NamedTuple):
    """What came of one portion."""

    told: dict[int, list[SessionWords]]
    """What is not kept of it, by unit."""
    read: set[int]
    kept: set[int]
    refused: set[int]
    unread: Sequence[SourceStatus]


def read_on(
    places: Places,
    settings: Settings,
    file: SearchFile | None,
    update: Update = silent,
    count: Callable[[int], None] = lambda _: None,
) -> ReadOn:
    """Read what is not kept in the file, or all there is without one. `count` is told how many units are not read yet,
    whenever some are about to be."""
    unread = UnreadFiles(file.known() if file is not None else {}, count)
    passing: dict[int, list[SessionWords]] = {}
    read, kept, refused = set[int](), set[int](), set[int]()
    failed: dict[str, SourceStatus] = {}
    while True:
        unread.begin()
        found = _read(places, settings, file, unread, update)
        for unit in found.read & read:  # read again, with others
            passing.pop(unit, None)
        for unit, words in found.told.items():
            passing[unit] = [*passing.get(unit, ()), *words]
        read |= found.read
        failed |= {each.path: each for each in found.unread}
        kept, refused = kept - found.read | found.kept, refused - found.read | found.refused
        if not unread.left:
            return ReadOn(passing, read - kept, len(read), len(kept), len(refused), [*failed.values()])
        places = places._replace(hosts=())  # once is enough
        gc.collect()  # commands let it be, for they read once; of what was read here nothing is needed any more


def _read(places: Places, settings: Settings, file: SearchFile | None, unread: UnreadFiles, update: Update) -> _Portion:
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
        told = _by_unit(seen.forest, gathered, unread)
        by_files = _named_by_files(seen.statuses, unread) if file is not None or unread.is_part else {}
    repeating = {unit_key(each.path) for each in seen.statuses if each.dialect is not None and _repeats(each.dialect)}
    names = _join_named(told, by_files, repeating, unread)
    elsewhere = _join_known(names, unread, file)
    torn = unread.torn()
    told = {unit: sessions for unit, sessions in told.items() if unit not in torn}
    if torn & repeating:  # they tell it once more
        told[0] = [each for each in told.get(0, ()) if each[0].host]
    if places.since is not None:  # what they have to do with may only be too old
        repeating |= elsewhere
    going_on = {
        unread.company(unit)
        for unit in unread.portion
        if unit not in resting or unit in repeating or not _can_keep(resting[unit], told.get(unit, ()))
    }
    written = _last_written(resting, unread)
    new = [
        Stored(
            unit,
            each.stamp,
            [words for words, _ in told.get(unit, ())],
            company,
            by_files.get(unit, ()),
            written[company],
        )
        for unit, each in resting.items()
        if unit not in torn and (company := unread.company(unit)) not in going_on
    ]
    kept = {each.unit for each in new} if file is not None and new and file.write(new) else set[int]()
    unread.remember({name: unit for name, unit in names.items() if unit not in kept})
    passing = {unit: [words for words, _ in sessions] for unit, sessions in told.items() if unit not in kept}
    refused, failed = {each.unit for each in new} - kept, seen.unread()
    return _Portion(passing, unread.portion.keys() - torn, kept, refused, failed)


def _last_written(units: Mapping[int, FileUnit], unread: UnreadFiles) -> dict[int, Millis]:
    """When the last file of each company was written."""
    last: dict[int, Millis] = {}
    for key, unit in units.items():
        company = unread.company(key)
        last[company] = max(unit.written, last.get(company, unit.written))
    return last


def _join_named(
    told: Mapping[int, Sequence[tuple[SessionWords, bool]]],
    by_files: Mapping[int, Collection[int]],
    repeating: Collection[int],
    unread: UnreadFiles,
) -> dict[int, int]:
    """Join the units that name the same; gives them by what they name. What no file of here tells was repeated by one
    of those that do that."""
    teller = min(repeating, default=0)
    units: dict[int, int] = {}
    for unit, sessions in told.items():
        for words, _ in sessions:
            for name in words.names if unit else ():
                unread.join(unit, units.setdefault(name, unit))
    for unit, names in by_files.items():
        for name in names:
            unread.join(unit, units.setdefault(name, unit))
    for words, _ in told.get(0, ()) if teller else ():
        for name in words.names if not words.host else ():
            units.setdefault(name, teller)
    return units


def _join_known(units: Mapping[int, int], unread: UnreadFiles, file: SearchFile | None) -> set[int]:
    """Join these units with those that were read before or are kept, and have to do with them; gives the units of which
    some are not among the files that are looked at."""
    found: set[int] = set()
    for name, other in chain(unread.naming(units), file.naming(units) if file is not None else ()):
        if unread.is_there(other):
            unread.join(units[name], other)
        else:
            found.add(units[name])
    return found


def _named_by_files(files: Sequence[SourceStatus], unread: UnreadFiles) -> dict[int, set[int]]:
    """By what the files of each unit are known to have to do with others, whatever is told of it."""
    found: dict[int, set[int]] = {}
    for each in files:
        if each.dialect is not None and (unit := unit_key(each.path)) in unread.portion:
            found.setdefault(unit, set()).update(_names_of(each.path, load(each.dialect)))
    return found


def _names_of(path: str, dialect: type[Dialect]) -> Iterator[int]:
    """Of a log the ids in its first line: the session that it branched off, or is a copy of, or an agent's file belongs
    to. Of a file that does not say in its name whose it is also its reader: of some nothing is told that names them."""
    if session_of(path) is None:
        yield key_of(dialect.name, dialect.family(path))
    with suppress(OSError):
        sample = sample_of(path)
        if dialect.unit_of(sample) is Unit.LINES:
            first = sample.head.partition(b"\n")[0].decode(errors="replace")
            yield from map(key_of, islice(sessions_in(first), _IDS))


def _repeats(dialect: str) -> bool:
    """Whether a file of that format names others as the place of what it tells: by its own it would not be found."""
    return load(dialect).second_hand


def _can_keep(unit: FileUnit, sessions: Sequence[tuple[SessionWords, bool]]) -> bool:
    """Whether nobody in it is at work, and there is no secret in what is kept as it is: what things are found by."""
    if any(is_active for _, is_active in sessions):
        return False
    return not has_secret([*unit.paths, *(text for words, _ in sessions for text in names_in(words))])


def _by_unit(forest: Forest, gathered: Gathering, unread: UnreadFiles) -> dict[int, list[tuple[SessionWords, bool]]]:
    """What is told of each delegation, by the files that tell of it, and whether it is at work; 0 is for all that no
    file of here tells. The units of a tree are joined, and so are those that tell of one delegation."""
    found: dict[int, list[tuple[SessionWords, bool]]] = {}
    keys: dict[str, int] = {}

    def unit_of(source: str) -> int:
        if source not in keys:
            unit = unit_key(source)
            keys[source] = unit if unit in unread.portion else 0
        return keys[source]

    own: list[int] = []
    for handle in range(len(forest)):
        words = words_of(forest, handle, gathered)
        is_here = not forest.host_of(handle) and words.words.source
        unit = unit_of(words.words.source) if is_here else 0
        own.append(unit)
        found.setdefault(unit, []).append((words, forest.state(handle) in ACTIVE))
        for other in {unit_of(source) for source in words.told_in} if unit else ():
            if other:
                unread.join(unit, other)
    for handle, unit in enumerate(own):
        above = forest.parent(handle)
        if unit and above is not None and own[above]:
            unread.join(unit, own[above])
    return found
