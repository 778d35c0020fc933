"""One SQLite database of another program, opened so that nothing beside it is created, changed or checkpointed.

Plain `mode=ro` is not enough: it makes a missing -shm, writes read marks into one that is there, and makes a missing
-wal. So the way in depends on what lies there:

- not in WAL mode: `mode=ro`, which takes the usual shared lock and writes nothing;
- a -wal with its -shm: `readonly_shm`, which maps the index of the log without the right to write;
- no -wal (or an empty one without -shm): the file alone is the database, `immutable`;
- a -wal without its -shm, as in a copied folder: a private copy is read, because SQLite would have to make the index.

A connection lives for one reading. A longer one would keep the program from tidying up its log when it ends.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from delegtop.base.clock import monotonic
from delegtop.base.system_errors import reason_within

BUSY_SECONDS = 0.25
LONGEST_READING = 10.0
"""Seconds after which a reading is broken off: a strange database may hold an endless one."""
LARGEST_VALUE = 64 * 1024 * 1024
LARGEST_COPY = 2 * 1024 * 1024 * 1024

MAGIC = b"SQLite format 3\0"
_WAL = 2
_STEPS = 20_000
_WORDS = {
    "SQLITE_NOTADB": "not an SQLite database, or an encrypted one",
    "SQLITE_CORRUPT": "damaged",
    "SQLITE_BUSY": "locked by another program",
    "SQLITE_LOCKED": "locked by another program",
    "SQLITE_PROTOCOL": "locked by another program",
    "SQLITE_CANTOPEN": "cannot be opened",
    "SQLITE_PERM": "not permitted",
    "SQLITE_AUTH": "not permitted",
    "SQLITE_IOERR": "cannot be read from disk",
    "SQLITE_READONLY": "needs to be repaired by its own program first",
    "SQLITE_INTERRUPT": "takes too long to read",
}
_PASSING = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"})


class DatabaseTrouble(Exception):  # noqa: N818 - reads better where it is raised
    """Why the database cannot be read, for people."""

    def __init__(self, why: str, passing: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.passing = passing
        """It will pass by itself: another program is at work on it."""


class Stamp(NamedTuple):
    """What the files look like from outside. Equal stamps mean an unchanged database.

    Times of change are left out: SQLite itself, run by root, renews them while reading.
    """

    device: int
    inode: int
    size: int
    written: int
    log: tuple[int, int, int] | None
    """Inode, size and time of writing of the -wal."""
    indexed: bool
    """Whether there is a -shm."""

    @property
    def latest(self) -> int:
        """Nanoseconds of the last writing."""
        return max(self.written, self.log[2] if self.log else 0)

    @property
    def bytes(self) -> int:
        return self.size + (self.log[1] if self.log else 0)


class Database:
    """The database at a path. Any thread may open it, one after the other."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        """Held while it is open: closing the file in one thread would drop SQLite's locks of it in all others."""
        self._copied: Stamp | None = None
        self._folder = ""
        self._tidy: weakref.finalize[[str], Database] | None = None

    def look(self) -> Stamp:
        """What lies there now; OSError if the database cannot be looked at."""
        found = os.stat(self.path)  # noqa: PTH116 - asked at every poll
        log = _optional(self.path + "-wal")
        return Stamp(
            found.st_dev,
            found.st_ino,
            found.st_size,
            found.st_mtime_ns,
            None if log is None else (log.st_ino, log.st_size, log.st_mtime_ns),
            _optional(self.path + "-shm") is not None,
        )

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one reading. What happens inside is told as `Trouble`, never as an error of SQLite.

        A database that was changed under an `immutable` reading is told as passing trouble: what was read may be torn.
        """
        try:
            with self._lock:
                before = self.look()
                place, options = self._way(before)
                with contextlib.closing(_connect(place, options)) as connection:
                    yield connection
                if "immutable" in options and self.look() != before:
                    raise DatabaseTrouble("being written", passing=True)
        except sqlite3.Error as error:
            raise _told(error) from error
        except UnicodeDecodeError as error:  # the name of a table, or what SQLite says of it, is no text
            raise DatabaseTrouble(_WORDS["SQLITE_CORRUPT"]) from error
        except OSError as error:
            raise DatabaseTrouble(reason_within(error)) from error

    def close(self) -> None:
        """Remove the private copy, if there is one."""
        with self._lock:
            self._drop()

    def _way(self, stamp: Stamp) -> tuple[str, str]:
        """Which file to open, and how."""
        with open(self.path, "rb") as file:  # noqa: PTH123 - a plain path
            head = file.read(20)
        if head and not head.startswith(MAGIC):
            raise DatabaseTrouble(_WORDS["SQLITE_NOTADB"])
        logged = stamp.log is not None and stamp.log[1] > 0
        if not logged and (len(head) < 20 or head[19] != _WAL):
            return self.path, "mode=ro"
        if stamp.indexed and stamp.log is not None:
            return self.path, "mode=ro&readonly_shm=1"
        if not logged:
            return self.path, "mode=ro&immutable=1"
        return self._copy(stamp), "mode=rw"

    def _copy(self, stamp: Stamp) -> str:
        """A private copy of the database and its log."""
        if stamp == self._copied:
            return f"{self._folder}/copy.db"
        self._drop()
        if stamp.bytes > LARGEST_COPY or stamp.bytes * 2 > shutil.disk_usage(tempfile.gettempdir()).free:
            raise DatabaseTrouble("its log has no index, and it is too large to be copied")
        self._folder = tempfile.mkdtemp(prefix="delegtop-")
        self._tidy = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        name = f"{self._folder}/copy.db"
        shutil.copyfile(self.path, name)
        shutil.copyfile(self.path + "-wal", name + "-wal")
        if self.look() != stamp:
            self._drop()
            raise DatabaseTrouble("being written", passing=True)
        self._copied = stamp
        return name

    def _drop(self) -> None:
        self._copied = None
        if self._tidy is not None:
            self._tidy()
            self._tidy = None


def columns_of(path: str) -> frozenset[str]:
    """The plain tables of a database, and their columns as `table.column`; none if they cannot be seen now."""
    database, found = Database(path), set[str]()
    try:
        with database.open() as connection:
            tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
            for name in [name for name, sql in tables if not is_virtual(sql)]:
                columns = connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
                found |= {name, *(f"{name}.{column}" for (column,) in columns)}
    except DatabaseTrouble:  # its reader says what is wrong
        return frozenset()
    finally:
        database.close()
    return frozenset(found)


def is_virtual(sql: str | None) -> bool:
    """Whether a table that was made so has no rows of its own: reading one may run anything."""
    return sql is None or sql.split(None, 2)[1:2] != ["TABLE"]


def _connect(path: str, options: str) -> sqlite3.Connection:
    uri = f"{Path(path).absolute().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    limit = monotonic() + LONGEST_READING
    connection.set_progress_handler(lambda: int(monotonic() > limit), _STEPS)
    try:
        # `trusted_schema = OFF` would do no more for us, for there is no function here that a schema could misuse, no
        # extension is loaded, and only plain tables are read. But SQLite 3.40 then calls any database with JSON in
        # an index malformed.
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _told(error: sqlite3.Error) -> DatabaseTrouble:
    name = getattr(error, "sqlite_errorname", "")
    primary = next((known for known in _WORDS if name.startswith(known)), "")
    return DatabaseTrouble(_WORDS.get(primary) or f"SQLite says: {error}", passing=primary in _PASSING)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _optional(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - as above
    except FileNotFoundError:
        return None
