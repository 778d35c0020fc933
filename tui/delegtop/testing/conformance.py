"""The conformance kit: what every log format must stand, ours and a plugin's.

    from delegtop.testing.conformance import conform

    def test_my_format_stands_what_logs_go_through(tmp_path):
        conform("my-format", Path("samples/my-format"), tmp_path)

The samples are read once as they are. Then the same bytes come in other ways: in pieces, in another order of files,
glued together, cut off and finished later, and with records between them that nobody knows; the rows of a database come
one by one. Each time the tree must be the same.
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from delegtop.base.clock import SECOND, FrozenClock, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Unit, load, recognise
from delegtop.dialects import Sample as Beginning
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Deviation, Event, Surveyed
from delegtop.model.forest import Forest
from delegtop.sources.database import MAGIC
from delegtop.sources.discover import is_packed
from delegtop.sources.records import Line, Unreadable

Formats = Sequence[str]
Readers = dict[tuple[str, str], Dialect]
"""The instances that read, by the names of their format and their family."""
Tree = dict[str, dict[str, Any]]
"""Facts, state and parent of every delegation by its id, without the places they were read at and how they are laid out
there."""

_FUTURE = FrozenClock(parse_time("2100-01-01T00:00:00Z") or Millis(0))
"""Nothing in a log is later, so nothing is left out; and no process is looked for."""
_UNKNOWN = json.dumps({"type": "a-record-of-a-later-version", "payload": {"new": [1, 2, {"three": None}]}}).encode()
_PLACES = frozenset({"origins", "started_origin", "heard_origin", "ended_origin", "claims", "notes", "resumed_at"})
_HEAD = 64 * 1024
_TOO_SURE = 60
_LAYOUT = "drift"
"""The kind of notes that tell how an entry stands in its file."""
_TEXTS = frozenset({".md", ".mdx", ".txt"})


@dataclass(frozen=True)
class ConformanceSample:
    """One file of the samples."""

    name: str
    data: bytes
    times: tuple[int, int]
    """When it was last read and written, in nanoseconds: some formats have no other clock."""
    is_log: bool
    """Whether it grows line by line; anything else appears whole."""


def conform(format: str | Formats, samples: Path, scratch: Path, *, rounds: int = 8, seed: int = 1) -> None:
    """Read the samples in every way a log is met. An AssertionError says what made another tree of them.

    Files of several formats may lie together; then all of them are named.
    """
    formats = (format,) if isinstance(format, str) else tuple(format)
    files = list(_files(formats, samples))
    _must(files, f"{samples}: no file in it")
    folder = scratch / "read"  # always the same: some formats tell where a file lies
    expected, events = _read(files, _copy(files, folder), formats)
    _must(expected, f"{samples}: no delegation is found in it")
    for each in formats:
        _refuses_nonsense(each)
    chance = random.Random(seed)  # noqa: S311 # no secret
    for _ in range(rounds):
        for what, change in _CHANGES.items():
            shutil.rmtree(folder)
            grown = change(files, folder, formats, chance)
            _must(grown == expected, f"{format}: {what} gives another tree: {_difference(expected, grown)}")
    _must(_fold([*events, *events]) == expected, f"{format}: the same events twice give another tree")
    moved = [_moved(file, folder) for file in files]
    readers: Readers = {}
    again = _fold([*_told(moved, formats, readers), *_told(moved, formats, readers)])
    if any(is_packed(file.name) or file.data.startswith(MAGIC) for file in files):
        expected = {id: told for id, told in expected.items() if id in again}  # only lines and documents were told
    _must(
        again == expected, f"{format}: files read again from the top give another tree: {_difference(expected, again)}"
    )
    readers = {}
    told = _told(moved, formats, readers)
    same = told == _told(moved, formats, _put_away(moved, readers))
    _must(same, f"{format}: files that were put away tell something else when they are read again")


def _must(holds: object, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


# -- ways to meet a log ---------------------------------------------------------------------------------------------


def _in_pieces(files: list[ConformanceSample], folder: Path, formats: Formats, chance: random.Random) -> Tree:
    """Every log grows a piece at a time, the files in any order and interleaved; a document appears whole."""
    _copy([_part(file, b"") if file.is_log else file for file in files], folder)
    return _grown(files, folder, formats, chance)


def _documents_last(files: list[ConformanceSample], folder: Path, formats: Formats, chance: random.Random) -> Tree:
    """The files beside the logs come when the logs are already read, one of them half-written at first."""
    logs = [file for file in files if file.is_log]
    others = [file for file in files if not file.is_log]
    _copy(logs, folder)
    for file in others:
        begun = _part(file, file.data[: len(file.data) // 2] if _is_json(file) else b"")
        _write(replace(begun, times=(file.times[0], file.times[1] - SECOND * 1_000_000)), folder)
    chance.shuffle(others)
    return _grown(others, folder, formats, chance, whole=True)


def _glued(files: list[ConformanceSample], folder: Path, formats: Formats, chance: random.Random) -> Tree:
    """Some lines lack the newline between them."""

    def glue(lines: list[bytes]) -> list[bytes]:
        glued: list[bytes] = []
        for line in lines:
            if glued and chance.random() < 0.2 and glued[-1].endswith(b"}") and line.startswith(b"{"):
                glued[-1] += line
            else:
                glued.append(line)
        return glued

    return _read(files, _copy([_relined(file, glue) for file in files], folder), formats)[0]


def _interspersed(files: list[ConformanceSample], folder: Path, formats: Formats, chance: random.Random) -> Tree:
    """Between the lines stand records of a later version, broken ones and empty lines."""
    noise = (_UNKNOWN, b"", b'{"cut": "of', b"[]", b"null", b"\xff\xfe\x00not text")

    def between(lines: list[bytes]) -> list[bytes]:
        found = lines[:1]  # the first line may be the header by which the format is told
        for line in lines[1:]:
            # An object that is spread over lines would be another one with something in it.
            is_between = _is_object(found[-1]) and _is_object(line)
            found += [chance.choice(noise)] * (is_between and chance.random() < 0.2)
            found.append(line)
        return found

    return _read(files, _copy([_relined(file, between) for file in files], folder), formats)[0]


def _rows_one_by_one(files: list[ConformanceSample], folder: Path, formats: Formats, chance: random.Random) -> Tree:
    """The program writes its database while it is read: each table in its order, the tables interleaved."""
    stores = [file for file in files if file.data.startswith(MAGIC)]
    _copy([file for file in files if file not in stores], folder)
    with ExitStack() as opened:
        left: list[tuple[sqlite3.Connection, str, list[tuple[Any, ...]]]] = []
        for store in stores:
            written = opened.enter_context(closing(_empty_database(folder / store.name)))
            left += [(written, table, rows) for table, rows in _rows_of(store, written) if rows]
        feed = opened.enter_context(closing(Feed(_named(files, folder), clock=_FUTURE)))
        events: list[Event] = []
        while left:
            database, table, rows = chance.choice(left)
            row = rows.pop(0)
            left = [each for each in left if each[2]]
            database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - the sample's own names
            events += [event for batch in feed.poll() for event in batch.events]
        events += [event for batch in feed.read_all() for event in batch.events]
        _all_known(feed.statuses(), formats)
    return _fold(events)


_CHANGES: dict[str, Callable[[list[ConformanceSample], Path, Formats, random.Random], Tree]] = {
    "growing in pieces": _in_pieces,
    "sidecar files that come last": _documents_last,
    "lines glued together": _glued,
    "unknown and broken records in between": _interspersed,
    "rows that come one by one": _rows_one_by_one,
}


def _told(files: list[ConformanceSample], formats: Formats, readers: Readers) -> list[Event]:
    """Every file is read from its top, once more if it was read before, as after it was cut off and written anew. A
    file that is a family of its own gets a new instance; one of several is read by the same."""
    dialects = [load(name) for name in formats]
    told: list[Event] = []
    for file in files:
        beginning = Beginning(file.name, file.data[:_HEAD], whole=len(file.data) <= _HEAD)
        dialect = recognise(beginning, dialects)
        if dialect is None or dialect.unit_of(beginning) is Unit.DATABASE or is_packed(file.name):
            continue
        family = (dialect.name, dialect.family(file.name))
        if family not in readers or family[1] == file.name:
            readers[family] = dialect()
        reader = readers[family]
        for line in _lines(file):
            told += [event for event in reader.read(line) if not isinstance(event, Unreadable)]
    return told


def _put_away(files: list[ConformanceSample], readers: Readers) -> Readers:
    """The readers when all files were put away: those that can forget go on."""
    going_on = {family: reader for family, reader in readers.items() if type(reader).forget is not Dialect.forget}
    for (_, family), reader in going_on.items():
        for file in files:
            if reader.family(file.name) == family:
                reader.forget(file.name)
    return going_on


def _lines(file: ConformanceSample) -> Iterator[Line]:
    if not file.is_log:
        yield Line(Origin(file.name, 1, 0), file.data, Millis(file.times[1] // 1_000_000))
        return
    offset = 0
    for number, data in enumerate(file.data.split(b"\n"), 1):
        if data:
            yield Line(Origin(file.name, number, offset), data)
        offset += len(data) + 1


# -- reading and comparing ------------------------------------------------------------------------------------------


def _read(files: list[ConformanceSample], folder: Path, formats: Formats) -> tuple[Tree, list[Event]]:
    with closing(Feed(_named(files, folder), clock=_FUTURE)) as feed:
        events = [event for batch in feed.read_all() for event in batch.events]
        _all_known(feed.statuses(), formats)
    return _fold(events), events


def _grown(
    files: list[ConformanceSample], folder: Path, formats: Formats, chance: random.Random, *, whole: bool = False
) -> Tree:
    """Let the files grow while they are read."""
    events: list[Event] = []
    left = {file.name: file for file in files if whole or file.is_log}
    written = dict.fromkeys(left, 0)
    with closing(Feed(_named(files, folder), clock=_FUTURE)) as feed:
        while left:
            file = left[chance.choice(list(left))]
            end = len(file.data) if whole else written[file.name] + chance.randint(1, max(len(file.data) // 4, 1))
            _write(_part(file, file.data[:end]), folder)
            written[file.name] = end
            if end >= len(file.data):
                del left[file.name]
            events += [event for batch in feed.poll() for event in batch.events]
        events += [event for batch in feed.read_all() for event in batch.events]
        _all_known(feed.statuses(), formats)
    return _fold(events)


def _fold(events: list[Event]) -> Tree:
    forest = Forest()
    forest.apply(events)
    times = [at for event in events if not isinstance(event, (Surveyed, Deviation)) and (at := event.at) is not None]
    forest.advance(Millis(max(times, default=Millis(0)) + SECOND))
    tree = {}
    for handle in forest.walk():
        facts = forest.delegation(handle)
        told = {
            name: value for name in facts.__struct_fields__ if name not in _PLACES and (value := getattr(facts, name))
        }
        told["notes"] = sorted((note.kind, note.text) for note in facts.notes if note.kind != _LAYOUT)
        parent = forest.parent(handle)
        told |= {"state": forest.state(handle).value, "link": forest.link(handle).value}
        told["under"] = None if parent is None else forest.delegation(parent).id
        if facts.wait is not None:
            told["wait"] = (facts.wait.until, facts.wait.by)
        tree[facts.id] = told
    return tree


def _all_known(statuses: Sequence[SourceStatus], formats: Formats) -> None:
    for status in statuses:
        known = status.dialect in formats or (status.dialect is None and status.status == "empty")
        _must(known, f"{status.path}: read as {status.dialect or status.status}, not as {' or '.join(formats)}")
        broken = [reason for reason in status.reasons if reason.startswith("the format failed")]
        _must(not broken, f"{status.path}: {broken[:1]}: {status.examples[:1]}")


def _difference(expected: Tree, found: Tree) -> str:
    for id in sorted({*expected, *found}):
        if expected.get(id) != found.get(id):
            before, after = expected.get(id, {}), found.get(id, {})
            fields = [name for name in {*before, *after} if before.get(name) != after.get(name)]
            told = ", ".join(f"{name} is {after.get(name)!r}, was {before.get(name)!r}" for name in sorted(fields))
            return f"{id}: {told}"
    return "no difference"


def _refuses_nonsense(format: str) -> None:
    """The format takes nothing for its own that is not."""
    dialect = load(format)
    for nonsense in (
        b"",
        b"\0" * 100,
        b"hello\n",
        b"{}\n",
        b"[]",
        b'{"name": "x", "version": "1.0.0"}',
        os.urandom(200),
    ):
        sure = dialect.sniff(Beginning("x.jsonl", nonsense, whole=True))
        _must(0 <= sure < _TOO_SURE, f"{format} is {sure} % sure of {nonsense[:20]!r}")


# -- files ----------------------------------------------------------------------------------------------------------


def _named(files: list[ConformanceSample], folder: Path) -> list[str]:
    """The folder, and the files in it that nobody would look for: a text may have any name."""
    return [str(folder), *(str(folder / file.name) for file in files if Path(file.name).suffix in _TEXTS)]


def _files(formats: Formats, folder: Path) -> Iterator[ConformanceSample]:
    dialects = [load(name) for name in formats]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        times = path.stat()
        beginning = Beginning(str(path), data[:_HEAD], whole=len(data) <= _HEAD)
        for each in dialects:
            sure = each.sniff(beginning)
            _must(sure <= each.surest, f"{each.name} is {sure} % sure of {path}, and says it never is")
        dialect = recognise(beginning, dialects)
        if dialect is None and path.suffix in _TEXTS:
            continue  # it belongs to the samples, not to the logs
        unit = dialect.unit_of(beginning) if dialect else Unit.LINES
        is_log = unit is Unit.LINES and not is_packed(path.name) and not data.startswith(MAGIC)
        yield ConformanceSample(str(path.relative_to(folder)), data, (times.st_atime_ns, times.st_mtime_ns), is_log)


def _empty_database(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    return database


def _rows_of(store: ConformanceSample, copy: sqlite3.Connection) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """The rows of each table of a database; the tables are made in the copy."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(store.data)
        own = "sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        for (sql,) in database.execute(f"SELECT sql FROM sqlite_master WHERE {own}"):  # noqa: S608 - our words
            copy.execute(sql)
        found = database.execute(f"SELECT name FROM sqlite_master WHERE {own} AND type = 'table'")  # noqa: S608 - our words
        tables = [name for (name,) in found]
        return [(table, database.execute(f"SELECT * FROM {table}").fetchall()) for table in tables]  # noqa: S608 - the sample's own names


def _is_json(file: ConformanceSample) -> bool:
    return _decoded(file.data) is not None


def _is_object(line: bytes) -> bool:
    return isinstance(_decoded(line), dict)


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except ValueError:
        return None


def _part(file: ConformanceSample, data: bytes) -> ConformanceSample:
    return replace(file, data=data)


def _moved(file: ConformanceSample, folder: Path) -> ConformanceSample:
    return replace(file, name=str(folder / file.name))


def _relined(file: ConformanceSample, change: Callable[[list[bytes]], list[bytes]]) -> ConformanceSample:
    if not file.is_log:
        return file
    return _part(file, b"".join(line + b"\n" for line in change(file.data.splitlines())))


def _copy(files: list[ConformanceSample], folder: Path) -> Path:
    for file in files:
        _write(file, folder)
    return folder


def _write(file: ConformanceSample, folder: Path) -> None:
    """Put the bytes there: a log grows in place, anything else is replaced."""
    path = folder / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if file.is_log and path.exists() and file.data.startswith(before := path.read_bytes()):
        with path.open("ab") as log:
            log.write(file.data[len(before) :])
    else:
        path.write_bytes(file.data)
    os.utime(path, ns=file.times)
