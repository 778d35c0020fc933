"""The window: of a machine's whole history only what was heard of lately is read.

Files belong together if one session's id stands in their paths: a session is read whole if one of its files is
recent, or if its process is alive.
"""

import contextlib
import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from delegtop.base.clock import DAY, MINUTE, Millis, wall
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.feed.unasked_places import ReplayOffer, Told, UnaskedPlaces
from delegtop.sources.discover import is_database, is_lock
from delegtop.sources.inode import Look, look_of

FEW = 200
"""So many files are read in a moment, in whatever order."""
_DOCUMENT = ".json"
"""How the names of files end that say the least about when."""
_LOOK = struct.Struct("=QQqqq")
_SESSION = lazy_pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")  # a group costs a third more


class Looks:
    """What files looked like just now: there may be thousands, and what the system says of each takes ten times as
    much."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def put(self, path: str, found: os.stat_result) -> None:
        try:  # noqa: SIM105 # a `with` for each of thousands of files would cost as much as the rest
            self._packed[path] = _LOOK.pack(*look_of(found))
        except struct.error:
            pass  # a number past all use: who wants to know asks again

    def get(self, path: str) -> Look | None:
        packed = self._packed.get(path)
        return None if packed is None else _LOOK.unpack(packed)


class RecentWindow:
    """Which files are read."""

    def __init__(
        self,
        since: Millis | None,
        told: Told = lambda _path: None,
        roots: Sequence[str] = (),
        here: Sequence[str] = (),
    ) -> None:
        self.since = since
        self._told = told
        """What a file itself tells counts: a clone and a copy are younger than what they hold."""
        self._roots = tuple(os.path.join(root, "") for root in roots)  # noqa: PTH118 # compared as strings
        self._here = UnaskedPlaces(here)
        self._sessions: set[str] = set()
        self.alive: set[str] = set()
        self.left_out: dict[str, Millis] = {}
        """The files that are too old, and when they were last heard of."""

    @property
    def offers(self) -> Mapping[str, ReplayOffer]:
        """What lies here and is not read, because nothing in it is alive."""
        return self._here.offers

    def keep(self, session: str) -> None:
        """A session that is alive is read, however old its files are; by any other id no file is known."""
        if session_of(session) == session:
            self._sessions.add(session)
            self.alive.add(session)

    def admit(self, paths: Iterable[str], looks: Looks | None = None) -> list[str]:
        """Those of all paths that nobody reads which are to be read from now on, the newest first if they are many.
        What the system says of each is put into `looks`, if given, so that nobody has to ask again."""
        written = {path: at for path in paths if (at := _written(path, looks)) is not None}
        since, asleep = self.since, frozenset[str]()
        if since is not None:
            asleep = self._here.asleep(written, self._told, since)
            heard = self._heard({path: at for path, at in written.items() if path not in asleep}, since)
            self._sessions |= {key for path, at in heard.items() if at >= since and (key := session_of(path))}
            self.left_out = {p: at for p, at in heard.items() if at < since and session_of(p) not in self._sessions}
        found = [path for path in written if path not in self.left_out and path not in asleep]
        return found if since is None and len(found) <= FEW else sorted(found, key=lambda path: -written[path])

    def _heard(self, written: Mapping[str, Millis], since: Millis) -> Mapping[str, Millis]:
        """When each file was last heard of. What was not written lately was not heard of lately either, but for a lock
        whose process is alive."""
        recent = [path for path, at in written.items() if at >= since or path in self._here.alive or is_lock(path)]
        told = self._all_told(recent, since)
        copies = self._copies(written, told)
        heard = dict(written)
        for path, at in told.items():
            copied = copies.get(self._company(path)) if at is None and copies else None
            if at is not None:
                heard[path] = at
            elif copied is not None and copied.first - MINUTE <= written[path] <= copied.last + MINUTE:
                heard[path] = copied.told
        return heard

    def _all_told(self, paths: Sequence[str], since: Millis) -> dict[str, Millis | None]:
        """What the files tell. Of a session in which one tells enough the rest need not be asked: it is read whole."""
        told: dict[str, Millis | None] = {}
        alive = set(self._sessions)
        for path in sorted(paths, key=lambda path: path.endswith(_DOCUMENT)):
            session = session_of(path)
            told[path] = at = None if session in alive else self._told(path)
            if session is not None and at is not None and at >= since:
                alive.add(session)
        return told

    def _copies(self, written: Mapping[str, Millis], told: Mapping[str, Millis | None]) -> "dict[str, _Copying]":
        """When copies were made, by their company: what tells no time and was written with them is one too."""
        found: dict[str, _Copying] = {}
        for path, at in told.items():
            if at is not None and written[path] - at > DAY:
                one = _Copying(written[path], written[path], at)
                company = self._company(path)
                found[company] = found[company].with_(one) if company in found else one
        return found

    def _company(self, path: str) -> str:
        """The session that a file belongs to, else the place it lies in."""
        return session_of(path) or next((root for root in self._roots if path.startswith(root)), "")

    def why(self) -> str:
        """Why files are left out, for people."""
        return "" if self.since is None else f"last heard of before {wall(self.since)}"


class _Copying(NamedTuple):
    """When the copies of one company were written, and the last that they tell of."""

    first: Millis
    last: Millis
    told: Millis

    def with_(self, other: "_Copying") -> "_Copying":
        return _Copying(min(self.first, other.first), max(self.last, other.last), max(self.told, other.told))


@lru_cache(maxsize=256)  # a file is asked for again and again while it is opened
def session_of(path: str) -> str | None:
    """The id of the session that a file belongs to, as far as its path says so."""
    found = _SESSION.search(path)
    return found[0] if found else None


def sessions_in(text: str) -> Iterator[str]:
    """All that looks like the id of a session."""
    return (found[0] for found in _SESSION.finditer(text))


def unit_of(path: str) -> str:
    """What is kept together: all files of a session, or a log that belongs to none."""
    return session_of(path) or path


def folder_of(path: str) -> str:
    """The folder that holds all files of its session, and those of others."""
    found = _SESSION.search(path)
    return os.path.dirname(path[: found.start()] if found else path) or "."  # noqa: PTH120 # thousands of files at every scan


def _written(path: str, looks: Looks | None) -> Millis | None:
    """When it was last written; None if it is not there. Any other that cannot be asked is read, and that tells why."""
    try:
        found = os.stat(path)  # noqa: PTH116 # thousands of files at every scan
    except FileNotFoundError:
        return None
    except OSError:
        return Millis(1 << 62)
    if looks is not None:
        looks.put(path, found)
    written = found.st_mtime_ns
    if is_database(path):
        # What a program writes into its database stands in the log beside it first, for hours if it writes little.
        with contextlib.suppress(OSError):
            written = max(written, os.stat(f"{path}-wal").st_mtime_ns)  # noqa: PTH116 # as above
    return Millis(written // 1_000_000)
