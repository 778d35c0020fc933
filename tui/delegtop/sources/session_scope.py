"""Which sessions of a database are read if only recent ones are wanted.

A session is recent if one of its rows was written since the given moment. It is read whole, and with it the whole tree
it belongs to: those above it and all below. One that is taken up again later is read then, from its first row on.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from delegtop.base.clock import Millis
from delegtop.sources.database import Database
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.table import DatabaseTable


class Scope:
    """The sessions that are read. Tables whose rows belong to no session are read as ever."""

    def __init__(self, tables: Sequence[DatabaseTable], since: Millis) -> None:
        self._tables = [table for table in tables if table.has_sessions]
        self._since = since
        self.begin_again()

    def begin_again(self) -> None:
        """Another file has taken the place."""
        self._begun = False
        self._known: set[str] = set()
        self._owed: dict[str, None] = {}
        """Sessions that are known and not read yet."""

    def news(self, database: Database) -> Iterator[Line | Unreadable]:
        """The rows of recent sessions that were not read yet. Whoever stops in the middle gets the rest later."""
        if not self._begun:
            with database.open() as connection:
                recent = [key for table in self._tables for key in table.begin_at(connection, self._since, self._known)]
                self._take(connection, recent)
            self._begun = True
        yield from self._pay(database)

    def strangers(self, database: Database) -> Iterator[Line | Unreadable]:
        """The sessions that turned out to be recent, or to belong to one that is."""
        strange = {key for table in self._tables for key in table.heard} - self._known
        if strange:
            with database.open() as connection:
                self._take(connection, strange)
        for table in self._tables:
            table.heard.clear()
        yield from self._pay(database)

    def _take(self, connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
        """Know these sessions and the trees they belong to from now on."""
        waiting = [session for session in sessions if session not in self._known]
        while waiting:
            session = waiting.pop()
            if session in self._known:
                continue
            self._known.add(session)
            self._owed[session] = None
            waiting += [kin for table in self._tables for kin in table.kin(connection, session)]

    def _pay(self, database: Database) -> Iterator[Line | Unreadable]:
        while self._owed:
            session = next(iter(self._owed))
            for table in self._tables:
                yield from table.all_of(database, session)
            self._owed.pop(session, None)
