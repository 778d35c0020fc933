"""The file of the index: one database in the cache folder, for its owner's eyes alone.

It can be deleted at any time. Whatever is wrong with it (locked, damaged, no room on the disk, not ours), nothing is
found in it or nothing is written, and the logs are read as ever.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from sqlite3 import Connection, DatabaseError, OperationalError
from zlib import crc32

import msgspec

from delegtop.base.clock import DAY, Millis
from delegtop.base.private_database import give_back, opened, remove, written
from delegtop.base.text import is_utf8

LARGEST = 256 * 1024 * 1024
"""Bytes of all that is kept: of more, what was not used for the longest time goes."""
_MARK = 0x64656C78
"""Says that the database is this one."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS sessions "
    "(name TEXT PRIMARY KEY, context TEXT, used INTEGER, check_sum INTEGER, data BLOB) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS members (name TEXT PRIMARY KEY, block TEXT) WITHOUT ROWID",
)
"""Logs and blocks of sessions; and in which block a session is."""
_BLOCK = "block "
"""How the names of blocks begin: that of a log begins with its path."""
_ORPHANS = "DELETE FROM sessions WHERE name LIKE 'block %' AND name NOT IN (SELECT block FROM members)"
_KEPT = """
SELECT count(*), coalesce(sum(context = ?), 0) FROM (
    SELECT context FROM members JOIN sessions ON members.block = sessions.name
    UNION ALL SELECT context FROM sessions WHERE name NOT LIKE 'block %')
"""


class IndexSummary(msgspec.Struct, frozen=True):
    """What there is, for people."""

    sessions: int
    current: int
    """Of them those that this version of delegtop can use."""
    kept: int
    """Bytes of what they told."""
    size: int
    """Bytes of the file."""


class IndexFile:
    """What is kept, by name. One that was kept in another context (another version or layout) is not found, nor is
    what has a name that is no text."""

    def __init__(self, path: Path, context: str, *, largest: int = LARGEST) -> None:
        self._path, self._context, self._largest = path, context, largest

    def find(self, names: Iterable[str], now: Millis) -> Iterator[tuple[str, bytes]]:
        """What is kept under these names. That it was of use is noted once a day."""
        today, stale = now // DAY, list[tuple[int, str]]()
        found: list[tuple[str, bytes]] = []
        with suppress(DatabaseError, OSError), self._opened() as database:
            if database is None:
                return
            database.execute("BEGIN")  # else each name would lock the file anew
            wanted = "SELECT used, check_sum, data FROM sessions WHERE name = ? AND context = ?"
            for name in filter(is_utf8, names):
                row = database.execute(wanted, (name, self._context)).fetchone()
                if row is not None and isinstance(row[2], bytes) and crc32(row[2]) == row[1]:
                    found.append((name, row[2]))
                    if row[0] != today:
                        stale.append((today, name))
            database.execute("COMMIT")
            if stale:
                with suppress(OperationalError), written(database):
                    database.executemany("UPDATE sessions SET used = ? WHERE name = ?", stale)
        yield from found

    def find_blocks(self, sessions: Iterable[str], now: Millis) -> Iterator[bytes]:
        """The blocks in which these are kept."""
        blocks: dict[str, None] = {}
        with suppress(DatabaseError, OSError), self._opened() as database:
            if database is not None:
                database.execute("BEGIN")  # as above
                wanted = "SELECT block FROM members WHERE name = ?"
                blocks = {
                    row[0]: None for name in filter(is_utf8, sessions) for row in database.execute(wanted, (name,))
                }
        return (data for _, data in self.find(blocks, now))

    def write(
        self, new: Mapping[str, bytes], blocks: Iterable[tuple[bytes, Iterable[str]]], gone: Iterable[str], now: Millis
    ) -> None:
        """Keep these logs, and blocks with the names of their sessions, in place of what was there under their names;
        and let go of other sessions."""
        with suppress(OSError):
            try:
                self._write(new, blocks, gone, now)
            except OperationalError:  # somebody else writes, or there is no room
                return
            except DatabaseError:  # no database, or a damaged one
                remove(self._path)

    def _write(
        self, new: Mapping[str, bytes], blocks: Iterable[tuple[bytes, Iterable[str]]], gone: Iterable[str], now: Millis
    ) -> None:
        with self._opened(make=True) as database:
            if database is None:
                return
            with written(database):
                database.execute(_TABLES[1])  # an earlier version had none
                members: dict[str, str] = {}
                kept = dict(new)
                for data, sessions in blocks:
                    name = _BLOCK + os.urandom(8).hex()
                    kept[name] = data
                    members.update(dict.fromkeys(sessions, name))
                rows = ((name, self._context, now // DAY, crc32(data), data) for name, data in kept.items())
                database.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?)", rows)
                database.executemany("DELETE FROM members WHERE name = ?", ((name,) for name in filter(is_utf8, gone)))
                database.executemany("INSERT OR REPLACE INTO members VALUES (?, ?)", members.items())
                database.execute(_ORPHANS)
                self._make_room(database)
            give_back(database, self._largest // 4)

    def _make_room(self, database: Connection) -> None:
        """What nobody can use goes first, then what was not used for the longest time."""
        size = "SELECT coalesce(sum(length(data)), 0) FROM sessions"
        excess = database.execute(size).fetchone()[0] - self._largest
        if excess <= 0:
            return
        oldest = "SELECT name, length(data) FROM sessions ORDER BY context = ?, used, name"
        gone: list[tuple[str]] = []
        for name, length in database.execute(oldest, (self._context,)):
            if excess <= 0:
                break
            gone.append((name,))
            excess -= length
        database.executemany("DELETE FROM sessions WHERE name = ?", gone)
        database.execute("DELETE FROM members WHERE block NOT IN (SELECT name FROM sessions)")

    def summary(self) -> IndexSummary | None:
        """What there is; None if there is nothing, or nothing that can be read."""
        with suppress(DatabaseError, OSError), self._opened() as database:
            if database is None:
                return None
            sessions, current = database.execute(_KEPT, (self._context,)).fetchone()
            (kept,) = database.execute("SELECT coalesce(sum(length(data)), 0) FROM sessions").fetchone()
            return IndexSummary(sessions, current, kept, self._path.stat().st_size)
        return None

    def _opened(self, *, make: bool = False) -> AbstractContextManager[Connection | None]:
        """The database; None if there is none, or it is not ours."""
        return opened(self._path, _MARK, ";".join(_TABLES), make=make)
