"""A database in the cache folder, for its owner's eyes alone.

It can be deleted at any time. One that is not ours, that others can write, or that is a link, is left alone.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection, DatabaseError, OperationalError, connect

from delegtop.base.paths import make_private

PATIENCE = 1.0
"""Seconds to wait for whoever else writes."""
_PAGE = 8192
_BESIDE = ("", "-journal", "-wal", "-shm")


@contextmanager
def opened(path: Path, mark: int, tables: str, *, make: bool = False) -> Iterator[Connection | None]:
    """The database that bears this mark, with `make` made with these tables, or OSError; None if there is none, or it
    is not ours."""
    if make:
        make_private(path.parent)
    if not _is_own(path, make=make):
        yield None
        return
    with closing(connect(path, timeout=PATIENCE, isolation_level=None)) as database:
        try:
            yield _ready(database, mark, tables, make=make)
        except UnicodeDecodeError as error:  # of a damaged one, even the names and what SQLite says of them
            raise DatabaseError("damaged") from error


def _ready(database: Connection, mark: int, tables: str, *, make: bool) -> Connection | None:
    """The same that was just opened; None if it is not ours."""
    database.execute("PRAGMA trusted_schema = OFF")
    if make and not database.execute("PRAGMA schema_version").fetchone()[0]:
        database.execute(f"PRAGMA page_size = {_PAGE}")
        with written(database):
            database.execute(f"PRAGMA application_id = {mark}")
            for table in tables.split(";"):
                database.execute(table)
    database.execute("PRAGMA secure_delete = ON")
    is_ours = database.execute("PRAGMA application_id").fetchone()[0] == mark
    return database if is_ours else None


@contextmanager
def written(database: Connection) -> Iterator[None]:
    """All of it or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(DatabaseError):
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def give_back(database: Connection, most: int) -> None:
    """A file that was much larger once becomes small again, if the disk has room for doing so: at most so many bytes of
    it are in no use."""
    free, size = (database.execute(f"PRAGMA {each}").fetchone()[0] for each in ("freelist_count", "page_size"))
    if free * size > most:
        with suppress(OperationalError):
            database.execute("VACUUM")


def _is_own(path: Path, *, make: bool) -> bool:
    """Whether it is a file of this user that no other can read, and no link to one; with `make`, it is made so.

    It is not opened for that: to close it would end the locks that this process has on it."""
    try:
        if make:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
            return False
        if stat.S_IMODE(found.st_mode) & 0o077:
            path.chmod(0o600)
    except OSError:
        if make:
            raise
        return False
    return True


def remove(path: Path) -> bool:
    """Delete it with all that belongs to it; True if there was one."""
    there = [each for end in _BESIDE if (each := Path(f"{path}{end}")).is_symlink() or each.exists()]
    for each in there:
        each.unlink(missing_ok=True)
    return bool(there)
