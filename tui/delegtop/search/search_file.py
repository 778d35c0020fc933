"""The file that finished sessions are found in: one database in the cache folder, for its owner's eyes alone.

It can be deleted at any time. Whatever is wrong with it (locked, damaged, no room on the disk, not ours), nothing is
found in it or nothing is written, and logs are read instead.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection, DatabaseError, OperationalError, connect
from typing import NamedTuple

import msgspec

from delegtop import __version__
from delegtop.base.clock import Millis, monotonic
from delegtop.base.paths import cache_folder, is_there
from delegtop.base.private_database import give_back, opened, remove, written
from delegtop.base.system_errors import reason_of
from delegtop.base.text import line
from delegtop.search.search_query import SearchQuery
from delegtop.search.session_words import KeptWords, SessionWords, pack, unpack

LARGEST = 256 * 1024 * 1024
"""Bytes of the file: of more, the sessions that were heard of the longest time ago go."""
_TIDY = "INSERT INTO words (words) VALUES ('optimize')"
"""Else what was deleted of the words takes more room than before."""
_ROOM = 0.9
"""The part of it that is in use once something went."""
LAYOUT = 6
"""Another one whenever what is kept, or how it is made, is another."""
_MARK = 0x64656C66
_TABLES = """
CREATE TABLE about (context TEXT, check_sum INTEGER);
CREATE TABLE units (unit INTEGER PRIMARY KEY, stamp INTEGER, heard INTEGER, company INTEGER);
CREATE TABLE found (number INTEGER PRIMARY KEY, unit INTEGER, id TEXT, at INTEGER, heard INTEGER, took INTEGER,
    state TEXT, agent TEXT, product TEXT, folder TEXT, host TEXT);
CREATE TABLE texts (number INTEGER PRIMARY KEY, check_sum INTEGER, data BLOB);
CREATE TABLE troubles (number INTEGER, at INTEGER, exact INTEGER, loose INTEGER, lasted INTEGER, ended TEXT);
CREATE TABLE names (name INTEGER, unit INTEGER, PRIMARY KEY (name, unit)) WITHOUT ROWID;
CREATE INDEX names_unit ON names (unit);
CREATE INDEX found_unit ON found (unit);
CREATE INDEX found_id ON found (id);
CREATE INDEX troubles_number ON troubles (number);
CREATE INDEX troubles_exact ON troubles (exact, at);
CREATE INDEX troubles_loose ON troubles (loose, at);
CREATE VIRTUAL TABLE words USING fts5 (agent, title, prompt, error, files, answer, content='',
    tokenize='unicode61 remove_diacritics 2')
"""
_NAMES = ("about", "units", "names", "found", "texts", "troubles", "words")
_CHECKED = ("units", "names", "found", "troubles", "words_idx", "words_data")
"""What tells what is found; the texts have check sums of their own."""
_AT_ONCE = 1_000
_WEIGHTS = {"agent": 4, "title": 6, "prompt": 1, "error": 4, "files": 3, "answer": 1}
"""How much a word says that stands there. How rare it is says nothing: what is kept and what is not is looked through
apart, and their places must be the same."""
_COLUMNS = ("number", "id", "at", "heard", "took", "state", "agent", "product", "folder", "host")
_Facts = tuple[str, Millis | None, Millis | None, int | None, str, str, str, str, str]
"""Of these all but the number."""
_TEXTS = ", ".join(_WEIGHTS)
_TWICE = 50
"""Rows that may be of one delegation that lies in two places."""
_STEPS = 20_000
"""Of the database's machine between two looks at the clock."""


def place() -> Path:
    return cache_folder() / "find.db"


class Hit(NamedTuple):
    """One delegation that was found."""

    id: str
    at: Millis | None
    heard: Millis | None
    took: int | None
    state: str
    agent: str
    product: str
    folder: str
    host: str
    words: KeptWords
    score: int
    """The least is the best."""


class Before(NamedTuple):
    """One time that something of a kind happened."""

    at: Millis
    lasted: int | None
    ended: str
    id: str
    agent: str
    folder: str


class Summary(NamedTuple):
    """What there is, for people."""

    units: int
    delegations: int
    size: int
    is_current: bool


class NoFullTextError(Exception):
    """The SQLite of this Python cannot look for words."""

    def __init__(self) -> None:
        super().__init__(
            "the SQLite of this Python was built without FTS5, so words cannot be looked for; "
            "`delegtop tree --all --filter WORD` reads every log instead"
        )


def check_full_text() -> None:
    """NoFullTextError if this SQLite has none."""
    with closing(connect(":memory:")) as database:
        try:
            database.execute("CREATE VIRTUAL TABLE t USING fts5 (a)")
        except OperationalError:
            raise NoFullTextError from None


class Stored(NamedTuple):
    """What is to be kept of one unit of files."""

    unit: int
    stamp: int
    sessions: Sequence[SessionWords]
    company: int = 0
    """The same for all units that have to do with each other: they are read together."""
    names: Collection[int] = ()
    """By what it is known to have to do with others, beside what its sessions name."""
    written: Millis = Millis(1 << 62)
    """When the last file of all these was written: none of it was heard of since."""


class KeptUnit(NamedTuple):
    """What is known of one unit of files that is kept."""

    stamp: int
    company: int


class SearchFile:
    """What is kept, and in memory what is not. Any thread may make one for itself; one thread uses it."""

    def __init__(self, path: Path | None = None, *, largest: int = LARGEST) -> None:
        self._path, self._largest = path or place(), largest
        self._counted_on = False
        """Whether somebody reads less because of what is kept."""
        self.refusal = ""
        """Why nothing could be written last."""

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[Connection | None]:
        """The database; None if there is none, it is not ours, or another version made it."""
        with opened(self._path, _MARK, _TABLES, make=make) as database:
            if database is None:
                yield None
                return
            if {*_NAMES} - {name for (name,) in database.execute("SELECT name FROM sqlite_master")}:
                raise DatabaseError("a table is missing")
            known = database.execute("SELECT context FROM about").fetchone()
            if known is None and make:
                database.execute("INSERT INTO about VALUES (?, ?)", (_context(), _whole(database)))
                known = (_context(),)
            yield database if known is not None and known[0] == _context() else None

    def known(self) -> dict[int, KeptUnit]:
        """The units that are kept. Where a byte is another than was written, none are: words would not be found."""
        with suppress(OSError):
            try:
                with self._opened() as database:
                    if database is not None:
                        known = _known(database)
                        self._counted_on = bool(known)
                        return known
            except OperationalError:  # somebody else writes
                return {}
            except DatabaseError:
                remove(self._path)
        return {}

    def naming(self, names: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The units that name one of these, each with what it names."""
        with suppress(DatabaseError, OSError), self._opened() as database:
            if database is not None:
                for name in names:
                    for (unit,) in database.execute("SELECT unit FROM names WHERE name = ?", (name,)).fetchall():
                        yield name, unit

    def write(self, new: Sequence[Stored]) -> bool:
        """Keep these in place of what was kept of their units; False if that could not be done."""
        try:
            try:
                self._remove_old()
                with self._opened(make=True) as database:
                    if database is None:
                        self.refusal = "what is there is not delegtop's own file"
                        return False
                    with written(database):
                        _put(database, new)
                        self._make_room(database)
                        database.execute("SAVEPOINT whole")  # else words are not in the tables before the end
                        database.execute("UPDATE about SET check_sum = ?", (_whole(database),))
                    give_back(database, self._largest // 4)
                    return True
            except OperationalError as error:  # somebody else writes, or there is no room
                self.refusal = line(reason_of(error))
            except (DatabaseError, zlib.error, msgspec.DecodeError):  # no database, or a damaged one
                self.refusal = "it was damaged and is deleted"
                remove(self._path)
        except OSError as error:
            self.refusal = reason_of(error)
        return False

    def _remove_old(self) -> None:
        """What another version made is of no use, and cannot be added to."""
        with opened(self._path, _MARK, _TABLES) as database:
            if database is None:
                return
            known = database.execute("SELECT context FROM about").fetchone()
            if known is None or known[0] == _context():
                return
        remove(self._path)

    def _make_room(self, database: Connection) -> None:
        """The sessions that were heard of the longest time ago go, and so many that there is room for some more."""
        while (size := _size_of(database)) > self._largest:
            count = database.execute("SELECT count(*) FROM units").fetchone()[0]
            if not count:
                return
            most = max(count - int(count * _ROOM * self._largest / size), 1)
            oldest = database.execute("SELECT unit FROM units ORDER BY heard LIMIT ?", (most,)).fetchall()
            _take_out(database, [unit for (unit,) in oldest])
            database.execute(_TIDY)

    def summary(self) -> Summary | None:
        """What there is; None if there is nothing, or nothing that can be read."""
        with (
            suppress(DatabaseError, OSError),
            opened(self._path, _MARK, _TABLES) as database,
        ):
            if database is None:
                return None
            units, found = (
                database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 -- names of our own
                for table in ("units", "found")
            )
            known = database.execute("SELECT context FROM about").fetchone()
            is_current = known is not None and known[0] == _context()
            return Summary(units, found, self._path.stat().st_size, is_current)
        return None

    def count(self, since: Millis | None, unless: Collection[int], ids: Iterable[str]) -> int:
        """The delegations heard of since then, but for what is of these units and for those with these ids."""
        with suppress(DatabaseError, OSError), self._opened() as database:
            if database is not None:
                conditions, values = _narrowed(since, unless)
                counted = f"SELECT count(DISTINCT id) FROM found WHERE {' AND '.join(conditions)}"  # noqa: S608 -- as below
                (count,) = database.execute(counted, values).fetchone()
                known = (database.execute(f"{counted} AND id = ?", (*values, id)).fetchone()[0] for id in ids)
                return int(count - sum(known))
        return 0

    def find(self, query: SearchQuery, unless: Collection[int] = (), patience: float | None = None) -> list[Hit] | None:
        """What is asked for, but for what is of the units in `unless`. None if the file
        cannot be asked, or it took longer than the seconds that somebody has `patience` for."""
        with suppress(OSError):
            try:
                with self._opened() as database:
                    if database is None:  # deleted since it was asked what is known, there is not nothing in it
                        return None if self._counted_on else []
                    return look(database, query, unless, patience)
            except OperationalError:  # somebody else writes, or it took too long
                return None
            except (DatabaseError, zlib.error, msgspec.DecodeError):
                remove(self._path)
        return None

    def before(self, key: int, *, loose: bool, since: Millis, unless: str, limit: int) -> tuple[int, list[Before]]:
        """How often something of the kind happened since then to others than this delegation, and the last times, the
        newest first."""
        column = "loose" if loose else "exact"
        happened = (
            "SELECT DISTINCT t.at, t.lasted, t.ended, f.id, f.agent, f.folder FROM troubles t "  # noqa: S608 -- as above
            f"JOIN found f ON f.number = t.number WHERE t.{column} = ? AND t.at >= ? AND f.id != ?"
        )
        with suppress(DatabaseError, OSError), self._opened() as database:
            if database is None:
                return 0, []
            values = key, since, unless
            count = database.execute(f"SELECT count(*) FROM ({happened})", values).fetchone()[0]  # noqa: S608 -- as above
            rows = database.execute(f"{happened} ORDER BY t.at DESC LIMIT ?", (*values, limit))
            return count, [Before(*row) for row in rows]
        return 0, []


def _size_of(database: Connection) -> int:
    """Bytes that are in use."""
    pages, free, size = (
        database.execute(f"PRAGMA {each}").fetchone()[0] for each in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _context() -> str:
    return f"{LAYOUT} {__version__}"


def _known(database: Connection) -> dict[int, KeptUnit]:
    """The units that are kept; DatabaseError if not all is as it was written."""
    database.execute("BEGIN")  # nobody writes meanwhile
    if database.execute("SELECT check_sum FROM about").fetchone()[0] != _whole(database):
        raise DatabaseError("what is kept is not what was written")
    rows = database.execute("SELECT unit, stamp, company FROM units")
    return {unit: KeptUnit(stamp, company) for unit, stamp, company in rows}


def _whole(database: Connection) -> int:
    """The check sum of all that is looked through."""
    found = 0
    for table in _CHECKED:
        rows = database.execute(f"SELECT * FROM {table}")  # noqa: S608 -- names of our own
        while some := rows.fetchmany(_AT_ONCE):
            found = zlib.crc32(msgspec.msgpack.encode(some), found)
    return found


@contextmanager
def in_memory(sessions: Iterable[SessionWords]) -> Iterator[Connection]:
    """The same tables with these sessions in them, which are kept nowhere."""
    with closing(connect(":memory:", isolation_level=None)) as database:
        for table in _TABLES.split(";"):
            database.execute(table)
        _put(database, [Stored(0, 0, tuple(sessions))])
        yield database


@contextmanager
def taken_over(data: bytes) -> Iterator[Connection]:
    """What `in_memory` made in another process."""
    with closing(connect(":memory:", isolation_level=None)) as database:
        database.deserialize(data)
        yield database


def _put(database: Connection, new: Sequence[Stored]) -> None:
    _take_out(database, [each.unit for each in new])
    read = {each.unit for each in new}
    next_number = database.execute("SELECT coalesce(max(number), 0) FROM found").fetchone()[0]
    for unit, stamp, sessions, company, more, last in new:
        heard = min(max((each.heard or 0 for each in sessions), default=0), last)
        database.execute("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?)", (unit, stamp, heard, company or unit))
        names = ((name, unit) for name in (*more, *(name for each in sessions for name in each.names)))
        database.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", names)
        for each in sessions:
            if unit and _is_told_elsewhere(database, each, read):
                continue
            next_number += 1
            _put_one(database, next_number, unit, each)


def _put_one(database: Connection, number: int, unit: int, each: SessionWords) -> None:
    facts = each.id, each.at, each.heard, each.took, each.state, each.agent, each.product, each.folder, each.host
    data = zlib.compress(pack(each.words), 6)
    database.execute("INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (number, unit, *facts))
    database.execute("INSERT INTO texts VALUES (?, ?, ?)", (number, _check_sum(number, facts, data), data))
    columns = _columns(each.agent, each.words)
    database.execute(f"INSERT INTO words (rowid, {_TEXTS}) VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *columns))  # noqa: S608 -- as above
    rows = [(number, one.at, one.exact, one.loose, one.lasted, one.ended) for one in each.troubles]
    database.executemany("INSERT INTO troubles VALUES (?, ?, ?, ?, ?, ?)", rows)


def _columns(agent: str, words: KeptWords) -> tuple[str, ...]:
    return agent, words.title, words.prompt, words.error, words.files, words.answer


def _words(data: object) -> KeptWords:
    """As they were packed; of a damaged file, anything may stand there."""
    if not isinstance(data, bytes):
        raise DatabaseError("the words of a delegation are missing")
    return unpack(zlib.decompress(data))


def _check_sum(number: int, facts: _Facts, data: bytes) -> int:
    """Of all that is shown of a delegation: a database does not notice that a byte of it is another."""
    return zlib.crc32(data, zlib.crc32(msgspec.msgpack.encode((number, *facts))))


def _is_told_elsewhere(database: Connection, each: SessionWords, read: Collection[int]) -> bool:
    """Whether another file that was not read now told more of it: half of what is known does not replace that."""
    asked = "SELECT f.unit, x.data FROM found f JOIN texts x ON x.number = f.number WHERE f.id = ?"
    for unit, data in database.execute(asked, (each.id,)).fetchall():
        if unit not in read:
            if is_there(_words(data).source):
                return True
            _take_out(database, [unit])
    return False


def _take_out(database: Connection, units: Sequence[int]) -> None:
    """Nothing of these units is found any more. The words themselves are needed for that."""
    asked = "SELECT f.number, f.agent, x.data FROM found f JOIN texts x ON x.number = f.number WHERE f.unit = ?"
    for unit in units:
        for number, agent, data in database.execute(asked, (unit,)).fetchall():
            columns = _columns(agent, _words(data))
            database.execute(
                f"INSERT INTO words (words, rowid, {_TEXTS}) VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 -- as above
                (number, *columns),
            )
            database.execute("DELETE FROM texts WHERE number = ?", (number,))
            database.execute("DELETE FROM troubles WHERE number = ?", (number,))
        database.execute("DELETE FROM found WHERE unit = ?", (unit,))
        database.execute("DELETE FROM names WHERE unit = ?", (unit,))
        database.execute("DELETE FROM units WHERE unit = ?", (unit,))


def look(
    database: Connection, query: SearchQuery, unless: Collection[int] = (), patience: float | None = None
) -> list[Hit]:
    """As `SearchFile.find`, in these tables."""
    limit, since, below, best = query.limit, query.since, query.below, query.best
    conditions, values = _narrowed(since, unless)
    if query.match:
        conditions.append("words MATCH ?")
        values.append(query.match)
    if query.without:
        conditions.append("number NOT IN (SELECT rowid FROM words WHERE words MATCH ?)")
        values.append(query.without)
    for condition, told in query.facts:
        conditions.append(condition)
        values += told
    if below is not None:
        conditions.append("(folder = ? OR substr(folder, 1, ?) = ?)")
        values += [below, len(below.rstrip("/")) + 1, below.rstrip("/") + "/"]
    source = "words JOIN found ON number = words.rowid" if query.match else "found"
    score = "0"
    if best and query.phrases:
        said, score = _said(query.phrases), "-coalesce(points, 0)"
        source += f" LEFT JOIN ({said[0]}) AS said ON said.row = number"
        values[:0] = said[1]
    order = f"{'score, ' if best else ''}at DESC, id, host"
    names = ", ".join(f"found.{name}" for name in _COLUMNS)
    asked = (
        f"SELECT {names}, {score} AS score FROM {source} "  # noqa: S608 -- of our own; values are bound
        f"WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?"
    )
    database.create_function("lower", 1, _lower, deterministic=True)
    _give_up_after(database, patience)
    found: dict[str, Hit] = {}
    for number, *facts, rank in database.execute(asked, (*values, limit + _TWICE)).fetchall():
        id, *_ = known = msgspec.convert(facts, _Facts)  # of a damaged file, anything may stand there
        if id in found or len(found) >= limit:
            continue
        kept = database.execute("SELECT check_sum, data FROM texts WHERE number = ?", (number,)).fetchone()
        check_sum, data = kept or (None, b"")
        if not isinstance(data, bytes) or _check_sum(number, known, data) != check_sum:
            raise DatabaseError("what is kept of a delegation is not what was written")
        found[id] = Hit._make((*known, _words(data), rank))
    return list(found.values())


def _narrowed(since: Millis | None, unless: Collection[int]) -> tuple[list[str], list[object]]:
    """The conditions that it was heard of since then, and is of none of these units, with their values. Of what was not
    written since then nothing is read where nothing is kept, whatever times stand in it."""
    conditions, values = ["1"], list[object]()
    if since is not None:
        conditions.append("found.heard >= ? AND (SELECT heard FROM units WHERE unit = found.unit) >= ?")
        values += [since, since]
    if unless:
        conditions.append(f"found.unit NOT IN ({', '.join(map(str, unless))})")
    return conditions, values


def _said(phrases: Sequence[str]) -> tuple[str, list[object]]:
    """What tells how much of the phrases each delegation says and where, with its values."""
    one = "SELECT rowid AS row, {} AS points FROM words WHERE words MATCH ?"
    places = [(name, points) for _ in phrases for name, points in _WEIGHTS.items()]
    every = " UNION ALL ".join(one.format(points) for _, points in places)
    values: list[object] = [f"{{{name}}} : ({phrase})" for phrase in phrases for name in _WEIGHTS]
    return f"SELECT row, sum(points) AS points FROM ({every}) GROUP BY row", values  # noqa: S608 -- as above


def _lower(text: str | bytes | float | None) -> str | bytes | float | None:
    """The letters of all languages: the database knows those of English."""
    return text.lower() if isinstance(text, str) else text


def _give_up_after(database: Connection, seconds: float | None) -> None:
    """A prefix of one letter in a long history may take long: nobody waits for that while typing."""
    if seconds is not None:
        until = monotonic() + seconds
        database.set_progress_handler(lambda: monotonic() > until, _STEPS)
