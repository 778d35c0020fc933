"""One table of another program's database: how far it is read, and what in it is new.

Rows are gone through in order of their rowid. `since`, the column that grows whenever a row is written, then tells
which of them were changed. Clocks of writers differ and step back, so a little more than what is new is asked for
again, and rows of that stretch are remembered by their contents.
"""

import sqlite3
from collections.abc import Container, Generator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from delegtop.base.clock import MINUTE, SECOND, Millis, WallClock, iso, monotonic
from delegtop.base.origin import Origin
from delegtop.sources.database import LARGEST_VALUE, Database, is_virtual
from delegtop.sources.records import Line, Unreadable

BATCH = 1_000
BATCH_BYTES = 4 * 1024 * 1024
SPAN = 50_000
"""Rows one reading looks at, so that a table of which little is new is gone through in short readings too."""
REMEMBERED = 100_000
"""Rows whose contents are remembered, to tell a changed one from one that was seen."""
RECENT = 2_000
"""The newest rowids, looked at for changes on every poll."""
LATEST = 20_000
"""Rows at the end of a table among which recent ones are looked for."""
LATER = 3.0
"""Seconds until a table is first looked at as a whole, if only what is recent was read at first."""
SHARE = 20
"""The whole table is looked at again after this many times as long as the last look took."""

LONGEST_TEXT = 100_000
"""Characters of a plain text in a column: an id, a name, a prompt."""
OVERSIZE = "row too large"

_LOWEST = -(2**63)
_IN_MILLIS = 100_000_000_000
"""A larger number is a time in milliseconds; a smaller one is in seconds, or no time at all."""
_OVERLAP = 5 * SECOND

_FACTS = 5
"""What is asked of each row before its columns: the fields of a `_Row`, without its contents."""

Mark = int | float | str
_MARKS = frozenset({int, float, str})
News = Generator[Line | Unreadable, None, bool]


class Wanted(Protocol):
    """The rows of one table that are read."""

    @property
    def table(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def since(self) -> str | None: ...
    @property
    def where(self) -> str: ...
    @property
    def session(self) -> str | None: ...
    @property
    def parent(self) -> str | None: ...


class _Row(NamedTuple):
    rowid: int
    mark: Mark | None
    data: bytes | None
    """None for a row that is too large."""
    is_asked: bool
    """Whether it meets the condition of the query: a row that does not may still tell that its session goes on."""
    session: object
    """Whose it is, and which is the one above; None unless only recent sessions are read."""
    parent: object


class _Span(NamedTuple):
    """A stretch of rowids: what comes after the first, up to and with the second; all there is if that is None."""

    after: int
    end: int | None


class DatabaseTable:
    """One table. `news` gives each row once, and again whenever it was changed."""

    def __init__(self, path: str, index: int, query: Wanted) -> None:
        self.there = False
        self.last = 0
        """The largest rowid there is."""
        self._path, self._index, self._query = path, index, query
        self._columns: tuple[str, ...] = ()
        self._since: str | None = None
        self._remembered: dict[int, tuple[Mark | None, int]] = {}
        self._oldest = _LOWEST
        """From here on rows without `since` are remembered."""
        self.heard: set[str] = set()
        """If only recent sessions are read: those that are to be read from now on, by rows that were met."""
        self._recent: Millis | None = None
        """Since when a session has to have been written to, if only recent ones are read."""
        self._known: Container[object] = ()
        """The sessions that are read then."""
        self.begin_again()

    def begin_again(self) -> None:
        """Another file has taken the place: read it from the beginning."""
        self._top = _LOWEST
        self._began = WallClock().now()
        self._mark: Mark | None = None
        self._floor: Mark | None = None
        """What was written before is known and cannot have changed; None until the whole table was read once."""
        self._loaded = False
        self._swept_at = self._swept_in = 0.0

    @property
    def has_sessions(self) -> bool:
        return self._query.session is not None

    @property
    def _is_scoped(self) -> bool:
        """Whether only recent sessions are read, and the rows say whose they are."""
        return self._recent is not None and self._query.session in self._columns

    def begin_at(self, connection: sqlite3.Connection, moment: Millis, known: Container[object]) -> list[str]:
        """From now on read only the rows of `known` sessions; gives those to which something was written since that
        moment. Of a long table that only tells what was said in sessions its end is looked at."""
        self._recent, self._known = moment, known
        if not self._shape(connection) or not self._is_scoped:
            return []
        self._top, self._loaded = self.last, True
        # The whole table is looked at a little later: what matters is first on the screen then.
        self._swept_at, self._swept_in = monotonic(), LATER / SHARE
        mark = self.latest(connection)
        if mark is None:
            return []
        self._floor = _mark_at(moment, mark)
        table, since, session = map(_quoted, (self._query.table, self._since or "", self._query.session or ""))
        sql = f"SELECT DISTINCT {session} FROM {table} WHERE rowid > ? AND {since} >= ?"  # noqa: S608 - our names
        found = connection.execute(sql, (self._long_ago(), self._floor))
        return [key for (key,) in found if isinstance(key, str)]

    def latest(self, connection: sqlite3.Connection) -> Mark | None:
        """When a row was written last, among the same rows."""
        if not self._shape(connection) or self._since is None:
            return None
        sql = f"SELECT max({_quoted(self._since)}) FROM {_quoted(self._query.table)} WHERE rowid > ?"  # noqa: S608 - our names
        mark = connection.execute(sql, [self._long_ago()]).fetchone()[0]
        return mark if type(mark) in _MARKS else None

    def _long_ago(self) -> int:
        """The rows up to this one are not asked when they were written."""
        return _LOWEST if self._query.parent in self._columns else self.last - LATEST

    def kin(self, connection: sqlite3.Connection, session: str) -> list[str]:
        """The sessions right above and below."""
        if not self._is_scoped or self._query.parent not in self._columns:
            return []
        table, parent, own = map(_quoted, (self._query.table, self._query.parent or "", self._query.session or ""))
        sql = f"SELECT {parent} FROM {table} WHERE {own} = ? UNION SELECT {own} FROM {table} WHERE {parent} = ?"  # noqa: S608 - our names
        return [key for (key,) in connection.execute(sql, (session, session)) if isinstance(key, str)]

    def all_of(self, database: Database, session: str) -> Generator[Line | Unreadable, None, None]:
        """Every row of one session that is not remembered."""
        condition = f"{_quoted(self._query.session or '')} = ? AND rowid > ?"
        after, cut = _LOWEST, True
        while cut:
            rows: list[_Row] = []
            with database.open() as connection:
                there = self._shape(connection) and self._is_scoped
                rows, cut = self._fetch(connection, condition, [session, after]) if there else ([], False)
            after = rows[-1].rowid if rows else after
            for row in rows:
                if row.is_asked and self._is_news(row):
                    yield self._told(row)

    @property
    def top(self) -> int:
        """The largest rowid that was read."""
        return max(self._top, 0)

    def news(self, database: Database) -> News:
        """Rows that are new or changed; the result says whether the whole table was looked at."""
        before = self._top
        yield from self._go_through(database, before, None, new=True)
        if not self.there:
            return True
        if not self._loaded:
            self._loaded = True
            self._raise_floor(self._threshold())
        reached, began = self._threshold(), monotonic()
        if began - self._swept_at < SHARE * self._swept_in:
            yield from self._go_through(database, max(before - RECENT, self._oldest, _LOWEST), self._floor)
            return False
        spent = yield from self._go_through(database, self._oldest, self._floor)
        self._raise_floor(reached)
        self._forget()
        self._swept_at, self._swept_in = monotonic(), spent
        return True

    def row(self, connection: sqlite3.Connection, rowid: int) -> bytes | None:
        """One row as it is now."""
        if not self._shape(connection):
            return None
        found = connection.execute(f"{self._select()} WHERE rowid = ?", (rowid,)).fetchone()
        return None if found is None else self._encoded(found[_FACTS:])

    def about(self, connection: sqlite3.Connection, id: str, limit: int) -> list[Line]:
        """The newest rows one of whose columns is the id, oldest first; of a long table only its end is searched."""
        if not self._shape(connection) or not self._columns:
            return []
        named = " OR ".join(f"{_quoted(column)} = ?" for column in self._columns)
        sql = f"{self._select()} WHERE rowid > ? AND ({named}) ORDER BY rowid DESC LIMIT ?"
        found = connection.execute(sql, (self.last - SPAN, *[id] * len(self._columns), limit)).fetchall()
        return [Line(Origin(self._path, row[0], self._index), self._encoded(row[_FACTS:])) for row in reversed(found)]

    def _go_through(
        self, database: Database, after: int, floor: Mark | None, new: bool = False
    ) -> Generator[Any, None, float]:
        """Everything after that rowid that is not remembered; how many seconds the readings took.

        Only a look at all `new` rows moves `_top`: one that leaves out some may not say that all were seen.
        """
        spent = 0.0
        span: _Span | None = _Span(after, after)
        while span is not None:
            started = monotonic()
            with database.open() as connection:
                rows, span = self._batch(connection, span, floor)
            spent += monotonic() - started
            if new and self.last < self._top:  # the newest rows were deleted, or all were numbered anew
                self._top = self.last
            for row in rows:
                # Noted before it is given away: who stops listening here has heard of it.
                self._top = row.rowid if new else self._top
                if self._is_wanted(row) and self._is_news(row):
                    yield self._told(row)
            if new and span is not None:
                self._top = max(self._top, span.after)
        return spent

    def _batch(
        self, connection: sqlite3.Connection, span: _Span, floor: Mark | None
    ) -> tuple[list[_Row], _Span | None]:
        """The next rows of the span, and where to go on; None at the end of the table."""
        if not self._shape(connection):
            return [], None
        end = span.end
        if end is not None and span.after >= end:
            end = self._span_end(connection, span.after)
        condition = "rowid > ?"
        values: list[Mark] = [span.after]
        if end is not None:
            condition, values = condition + " AND rowid <= ?", [*values, end]
        if self._since and floor is not None:
            condition, values = f"{condition} AND {_quoted(self._since)} >= ?", [*values, floor]
        if self._query.where and not self._is_scoped:
            condition = f"{condition} AND ({self._query.where})"
        rows, cut = self._fetch(connection, condition, values)
        if cut:
            return rows, _Span(rows[-1].rowid, end)
        return rows, None if end is None else _Span(end, end)

    def _fetch(self, connection: sqlite3.Connection, condition: str, values: list[Mark]) -> tuple[list[_Row], bool]:
        """Rows until the batch is full, and whether there may be more."""
        rows: list[_Row] = []
        size = 0
        sql = f"{self._select()} WHERE {condition} ORDER BY rowid LIMIT {BATCH}"
        try:
            for found in connection.execute(sql, values):
                data = self._encoded(found[_FACTS:])
                rows.append(_row(found, data))
                size += len(data)
                if size > BATCH_BYTES:
                    return rows, True
        except sqlite3.DataError:  # one value is larger than we take
            if not rows:
                sql = f"{self._select(whole=False)} WHERE {condition} ORDER BY rowid LIMIT 1"
                rows.append(_row(connection.execute(sql, values).fetchone(), None))
            return rows, True
        return rows, len(rows) == BATCH

    def _shape(self, connection: sqlite3.Connection) -> bool:
        """Look which of the columns are there; False if there is no such table.

        Views and virtual tables are left alone: reading one may run anything.
        """
        name = self._query.table
        kind = connection.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        self.there = kind is not None and kind[0] == "table" and not is_virtual(kind[1])
        if not self.there:
            return False
        # A table without rowids raises here, and is told as what SQLite says.
        present = {row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(name)})")}
        self._columns = tuple(column for column in self._query.columns if column in present)
        self._since = self._query.since if self._query.since in present else None
        self.last = connection.execute(f"SELECT max(rowid) FROM {_quoted(name)}").fetchone()[0] or 0  # noqa: S608 - our name
        return True

    def _span_end(self, connection: sqlite3.Connection, after: int) -> int | None:
        sql = f"SELECT rowid FROM {_quoted(self._query.table)} WHERE rowid > ? ORDER BY rowid LIMIT 1 OFFSET {SPAN - 1}"  # noqa: S608 - our names
        found = connection.execute(sql, (after,)).fetchone()
        return None if found is None else int(found[0])

    def _select(self, *, whole: bool = True) -> str:
        """The facts of a row, as many as `_FACTS`, and with the `whole` row its columns."""
        since, asked = _quoted(self._since) if self._since else "NULL", "1"
        session = parent = "NULL"
        if self._is_scoped:
            asked, session = f"({self._query.where or 1})", _quoted(self._query.session or "")
            parent = _quoted(self._query.parent or "") if self._query.parent in self._columns else "NULL"
        names = ", ".join(["rowid", since, asked, session, parent, *map(_quoted, self._columns if whole else ())])
        return f"SELECT {names} FROM {_quoted(self._query.table)}"  # noqa: S608 - our names

    def _encoded(self, values: Any) -> bytes:
        row = {"table": self._query.table}
        row.update(zip(self._columns, map(_plain, values), strict=True))
        return msgspec.json.encode(row)

    def _told(self, row: _Row) -> Line | Unreadable:
        origin = Origin(self._path, row.rowid, self._index)
        if row.data is None:
            return Unreadable(origin, OVERSIZE, f"{self._query.table}: more than {LARGEST_VALUE:,} bytes")
        return Line(origin, row.data)

    def _is_wanted(self, row: _Row) -> bool:
        """False for a row of a session that is left out. One of which something recent was written, or that turns out
        to be above or below one that is read, is heard of: it is read as a whole, and not by this row."""
        if not self._is_scoped:
            return True
        if self._floor is None and row.mark is not None:
            self._floor = _mark_at(self._recent or Millis(0), row.mark)
        session, parent, known = row.session, row.parent, self._known
        if session in known:
            if isinstance(parent, str) and parent not in known:
                self.heard.add(parent)
            return row.is_asked
        if isinstance(session, str) and (parent in known or self._is_recent(row.mark)):
            self.heard.add(session)
        return False

    def _is_recent(self, mark: Mark | None) -> bool:
        return mark is not None and not _is_below(mark, _mark_at(self._recent or Millis(0), mark))

    def _is_news(self, row: _Row) -> bool:
        contents = hash(row.data)
        known = self._remembered.get(row.rowid)
        if known is not None and known[1] == contents:
            return False
        self._advance(row.mark)
        if row.mark is not None or row.data is None or self._since is None:
            self._remembered[row.rowid] = (row.mark, contents)
        if len(self._remembered) > 2 * REMEMBERED:
            self._forget()
        return True

    def _advance(self, mark: Mark | None) -> None:
        """Move the mark on. A time that is still to come says nothing about what was written until now."""
        if mark is None or (self._mark is not None and not _comparable(mark, self._mark)):
            return
        if not isinstance(mark, str) and mark > _in_unit_of(mark, WallClock().now() + MINUTE):
            return
        if self._mark is None or _is_below(self._mark, mark):
            self._mark = mark

    def _threshold(self) -> Mark | None:
        """From here on a row may still be changed without moving the mark."""
        mark = self._mark
        if mark is None or isinstance(mark, str):
            return mark
        if not self._loaded:  # what was written since the reading began may lie in a part that was read before
            mark = min(mark, _in_unit_of(mark, self._began))
        return mark - _in_unit_of(mark, _OVERLAP)

    def _raise_floor(self, reached: Mark | None) -> None:
        if reached is not None and (self._floor is None or _is_below(self._floor, reached)):
            self._floor = reached

    def _forget(self) -> None:
        """Drop what needs no remembering; of what is too much, the oldest."""
        floor = self._floor if self._loaded else self._threshold()
        if self._since is not None and floor is not None:
            self._remembered = {
                rowid: known
                for rowid, known in self._remembered.items()
                if known[0] is None or not _is_below(known[0], floor)
            }
        excess = len(self._remembered) - REMEMBERED
        if excess <= 0:
            return
        kept = sorted(self._remembered)[excess:]
        self._remembered = {rowid: self._remembered[rowid] for rowid in kept}
        if self._since is None:
            self._oldest = kept[0] - 1


def _row(found: Sequence[Any], data: bytes | None) -> _Row:
    rowid, mark, is_asked, session, parent = found[:_FACTS]
    return _Row(rowid, mark if type(mark) in _MARKS else None, data, bool(is_asked), session, parent)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it, of a text that is no JSON itself so much as anybody reads."""
    if type(value) is str and len(value) > LONGEST_TEXT and value[0] not in "{[":
        return value[:LONGEST_TEXT]
    if type(value) is not bytes:
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"<{len(value):,} bytes>"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_unit_of(mark: float, millis: int) -> int:
    """Milliseconds in the unit of the mark."""
    return millis if mark > _IN_MILLIS else millis // SECOND


def _mark_at(moment: Millis, like: Mark) -> Mark:
    """A moment as the table writes it."""
    if not isinstance(like, str):
        return _in_unit_of(like, moment)
    return iso(moment)[:19] if "T" in like else iso(moment)[:19].replace("T", " ")


def _comparable(one: Mark, other: Mark) -> bool:
    return isinstance(one, str) == isinstance(other, str)


def _is_below(one: Mark, other: Mark) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one < other
    return one < other
