"""Rows of another program's SQLite database, new and changed ones, while that program writes.

A poll that finds the files unchanged costs three looks at them. No reading is open while rows are being worked on, nor
between two polls: an open one would keep the program from moving its log into the database.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import ClassVar

from delegtop.base.clock import Millis, WallClock, wall
from delegtop.base.origin import Origin
from delegtop.base.system_errors import reason_within
from delegtop.sources.database import Database, DatabaseTrouble, Stamp
from delegtop.sources.file_status import FileStatus, State
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.session_scope import Scope
from delegtop.sources.table import DatabaseTable, Mark, News, Wanted

_SETTLED = 20
"""Milliseconds: a change right after a look may not show in the time of writing."""

UNREADABLE = "unreadable database"
NO_TABLE = "no table to read"


class RowReader:
    """The rows that the queries give. `poll` gives each once, and again whenever it was changed."""

    is_text: ClassVar = False

    def __init__(self, path: str, queries: Sequence[Wanted], since: Millis | None = None) -> None:
        self.path = path
        self._database = Database(path)
        self._tables = [DatabaseTable(path, index, query) for index, query in enumerate(queries)]
        self._scope = Scope(self._tables, since) if since is not None else None
        self._seen: Stamp | None = None
        """The database as it was when all of it was read; None to read again."""
        self._found: Stamp | None = None
        self._wrong = ""
        self._told = ""
        self._since = Millis(0)
        self._gone = False
        self._complete = False
        self._good_at: Millis | None = None

    def poll(self) -> Iterator[Line | Unreadable]:
        """Rows that are new or changed. Whoever stops in the middle gets the rest at the next poll."""
        try:
            stamp = self._database.look()
        except FileNotFoundError:
            if not self._gone:
                self._begin_again()  # whatever comes in its place may even bear its number
            self._gone = True
            return
        except OSError as error:
            yield from self._refuse(reason_within(error), told=True)
            return
        self._gone = False
        if self._found is not None and (stamp.device, stamp.inode) != (self._found.device, self._found.inode):
            self._begin_again()
        self._found = stamp
        if stamp == self._seen:
            return
        try:
            whole = yield from self._read_tables()
        except DatabaseTrouble as trouble:
            yield from self._refuse(trouble.why, told=not trouble.passing)
            return
        self._wrong = self._told = ""
        self._complete = True
        self._good_at = Millis(stamp.latest // 1_000_000)
        self._seen = stamp if whole and _is_settled(stamp) else None

    def status(self) -> FileStatus:
        """How the reading stands."""
        found = self._found
        size = found.bytes if found is not None else 0
        changed = Millis(found.latest // 1_000_000) if found is not None else None
        read = size if self._complete else int(size * self._share())
        state, detail = self._state()
        return FileStatus(self.path, state, detail, size, read, changed)

    def raw(self, origin: Origin) -> bytes | None:
        """The row as it is now; None if it is not there."""
        if not 0 <= origin.offset < len(self._tables):
            return None
        try:
            with self._database.open() as connection:
                return self._tables[origin.offset].row(connection, origin.line)
        except DatabaseTrouble:
            return None

    def about(self, id: str, limit: int = 200) -> list[Line]:
        """The newest rows one of whose columns is the id, table by table, at most `limit` of each."""
        try:
            with self._database.open() as connection:
                return [line for table in self._tables for line in table.about(connection, id, limit)]
        except DatabaseTrouble:
            return []

    def latest(self) -> Iterator[Mark | None]:
        """When a row was written last, table by table and in its words: whoever has heard enough need not go on."""
        with suppress(DatabaseTrouble):
            for table in self._tables:
                with self._database.open() as connection:
                    mark = table.latest(connection)
                yield mark

    def close(self) -> None:
        self._database.close()

    def _read_tables(self) -> News:
        whole = True
        if self._scope is not None:
            yield from self._scope.news(self._database)
        for table in self._tables:
            whole = (yield from table.news(self._database)) and whole
        if self._scope is not None:
            yield from self._scope.strangers(self._database)
        return whole

    def _begin_again(self) -> None:
        """Another file bears the name: rows that say the same are still not told twice."""
        self._seen = None
        self._complete = False
        for table in self._tables:
            table.begin_again()
        if self._scope is not None:
            self._scope.begin_again()

    def _refuse(self, wrong: str, told: bool) -> Iterator[Unreadable]:
        if not self._wrong:
            self._since = WallClock().now()
        self._wrong = wrong
        self._seen = None
        if told and wrong != self._told:
            self._told = wrong
            yield Unreadable(Origin(self.path, 1, 0), UNREADABLE, wrong)

    def _state(self) -> tuple[State, str]:
        if self._gone:
            return "gone", "not found"
        if self._wrong:
            return ("stale" if self._good_at is not None else "unreadable"), f"{self._wrong} since {wall(self._since)}"
        if not self._complete:
            return "loading", ""
        return "live", "" if any(table.there for table in self._tables) or not self._tables else NO_TABLE

    def _share(self) -> float:
        """How much of the first reading is done, by rowids."""
        last = sum(table.last for table in self._tables)
        return min(1.0, sum(table.top for table in self._tables) / last) if last > 0 else 0.0


def _is_settled(stamp: Stamp) -> bool:
    return not 0 <= WallClock().now() - stamp.latest // 1_000_000 < _SETTLED
