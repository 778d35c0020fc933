"""Rows of a database that another program writes: each once, changed ones again, and nothing beside it touched."""

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from delegtop.base.origin import Origin
from delegtop.sources import database, table
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.row_reader import RowReader

WRITER = """
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint = 0")
for line in sys.stdin:
    print(json.dumps(connection.execute(line).fetchall()), flush=True)
"""


class Query(Struct, frozen=True):
    table: str
    columns: tuple[str, ...]
    since: str | None = None
    where: str = ""
    session: str | None = None
    parent: str | None = None


NOTES = Query("note", ("id", "text"), since="changed")
PLAIN = Query("note", ("id", "text"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    folder.mkdir()
    return folder / "notes.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as opened:
        opened.execute("PRAGMA synchronous = OFF")  # what the machine loses when it falls over is no matter here
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("CREATE TABLE note (id TEXT PRIMARY KEY, text TEXT, changed INTEGER)")
        yield opened


class Writer:
    """Another process that keeps the database open."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, sql: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(sql + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self, kill: bool = False) -> None:
        if kill:
            self._process.kill()
        self._process.communicate()


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    process = Writer(path)
    process.run("PRAGMA journal_mode = WAL")
    process.run("CREATE TABLE note (id TEXT PRIMARY KEY, text TEXT, changed INTEGER)")
    process.run("INSERT INTO note VALUES ('a', 'one', 100)")
    yield process
    process.end(kill=True)


def add(connection: sqlite3.Connection, id: str, text: Any = "", changed: Any = 100) -> None:
    connection.execute("INSERT INTO note VALUES (?, ?, ?)", (id, text, changed))


def change(connection: sqlite3.Connection, id: str, text: str, changed: int) -> None:
    connection.execute("UPDATE note SET text = ?, changed = ? WHERE id = ?", (text, changed, id))


def lines(rows: RowReader) -> list[Line]:
    found = list(rows.poll())
    assert all(isinstance(each, Line) for each in found), found
    return [each for each in found if isinstance(each, Line)]


def ids(rows: RowReader) -> list[str]:
    return [json.loads(line.data)["id"] for line in lines(rows)]


def looks(folder: Path) -> dict[str, tuple[str, int]]:
    """Contents and times of writing of the folder and all that is in it."""
    seen = {
        file.name: (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in folder.iterdir()
    }
    return {**seen, ".": ("", folder.stat().st_mtime_ns)}


def test_every_row_is_told_once_with_its_table_and_where_it_stands(path: Path, connection: sqlite3.Connection) -> None:
    add(connection, "a", "one")
    add(connection, "b", "two")
    rows = RowReader(str(path), [Query("missing", ("id",)), NOTES])
    first, second = lines(rows)
    assert json.loads(first.data) == {"table": "note", "id": "a", "text": "one"}
    assert second.origin == Origin(str(path), 2, 1)
    assert lines(rows) == []


@pytest.mark.parametrize("query", [NOTES, PLAIN])
def test_new_and_changed_rows_are_told_and_no_others(path: Path, connection: sqlite3.Connection, query: Query) -> None:
    add(connection, "a")
    add(connection, "b")
    rows = RowReader(str(path), [query])
    assert ids(rows) == ["a", "b"]
    add(connection, "c", changed=200)
    assert ids(rows) == ["c"]
    change(connection, "a", "other", 300)
    assert ids(rows) == ["a"]
    assert ids(rows) == []


def test_a_second_change_within_the_same_moment_is_told_too(path: Path, connection: sqlite3.Connection) -> None:
    rows = RowReader(str(path), [NOTES])
    for text in ("one", "two", "three"):
        connection.execute("REPLACE INTO note VALUES ('a', ?, 1000)", (text,))
        assert [json.loads(line.data)["text"] for line in lines(rows)] == [text]


def test_a_row_written_with_a_slower_clock_is_told(path: Path, connection: sqlite3.Connection) -> None:
    now = 1_790_000_000_000
    add(connection, "a", changed=now)
    add(connection, "b", changed=now)
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a", "b"]
    change(connection, "b", "late", now - 3000)
    assert ids(rows) == ["b"]


def test_a_row_from_the_future_hides_no_later_change(path: Path, connection: sqlite3.Connection) -> None:
    add(connection, "a", changed=1_790_000_000_000)
    add(connection, "b", changed=9_790_000_000_000)
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a", "b"]
    change(connection, "a", "later", 1_790_000_009_000)
    assert ids(rows) == ["a"]


def test_an_old_row_that_changes_is_found_in_a_long_table(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "BATCH", 7)
    monkeypatch.setattr(table, "SPAN", 20)
    monkeypatch.setattr(table, "RECENT", 5)
    monkeypatch.setattr(table, "SHARE", 0)
    for number in range(100):
        add(connection, f"n{number}", changed=1_790_000_000_000 + number * 1000)
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == [f"n{number}" for number in range(100)]
    change(connection, "n3", "late", 1_790_000_200_000)
    assert ids(rows) == ["n3"]
    assert ids(rows) == []


def test_a_look_at_a_whole_long_table_is_taken_seldom_but_is_taken(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "RECENT", 5)
    now = [0.0]
    monkeypatch.setattr(table, "monotonic", lambda: now.__setitem__(0, now[0] + 1.0) or now[0])
    for number in range(50):
        add(connection, f"n{number}", changed=1_790_000_000_000 + number)
    rows = RowReader(str(path), [NOTES])
    assert len(ids(rows)) == 50
    change(connection, "n3", "late", 1_790_000_200_000)
    change(connection, "n48", "late", 1_790_000_200_000)
    assert ids(rows) == ["n48"]
    now[0] += 1000
    assert ids(rows) == ["n3"], "found without any further writing"


@pytest.mark.parametrize("query", [NOTES, PLAIN])
def test_few_rows_are_remembered_and_still_none_is_told_twice(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, query: Query
) -> None:
    monkeypatch.setattr(table, "REMEMBERED", 10)
    for number in range(100):
        add(connection, f"n{number}", changed=1_790_000_000_000 + number * 1000)
    rows = RowReader(str(path), [query])
    assert len(ids(rows)) == 100
    add(connection, "more", changed=1_790_000_100_000)
    assert ids(rows) == ["more"]
    change(connection, "more", "again", 1_790_000_100_001)
    assert ids(rows) == ["more"]


def test_who_stops_in_the_middle_gets_the_rest_later(path: Path, connection: sqlite3.Connection) -> None:
    for number in range(10):
        add(connection, f"n{number}")
    rows = RowReader(str(path), [NOTES])
    some = rows.poll()
    heard = [next(some) for _ in range(4)]
    some.close()  # type: ignore[attr-defined] # a generator behind its Iterator
    assert len(heard) == 4
    assert rows.status().state == "loading"
    assert ids(rows) == [f"n{number}" for number in range(4, 10)]
    assert rows.status().state == "live"


def test_a_condition_leaves_rows_out(path: Path, connection: sqlite3.Connection) -> None:
    add(connection, "a", "keep")
    add(connection, "b", "drop")
    assert ids(RowReader(str(path), [Query("note", ("id",), "changed", "text = 'keep'")])) == ["a"]


def test_columns_that_are_missing_are_left_out(path: Path, connection: sqlite3.Connection) -> None:
    add(connection, "a", "one")
    (line,) = lines(RowReader(str(path), [Query("note", ("id", "nonsense"), since="not there either")]))
    assert json.loads(line.data) == {"table": "note", "id": "a"}


def test_bytes_and_broken_text_become_plain_text(path: Path, connection: sqlite3.Connection) -> None:
    add(connection, "a", b'{"kept": 1}')
    add(connection, "b", b"\xff\x00")
    connection.execute("INSERT INTO note VALUES ('c', CAST(x'41ff42' AS TEXT), 1)")
    connection.execute("INSERT INTO note VALUES ('d', 9e999, 1)")
    texts = [json.loads(line.data)["text"] for line in lines(RowReader(str(path), [NOTES]))]
    assert texts == ['{"kept": 1}', "<2 bytes>", "A\ufffdB", "Inf"]


def test_a_row_too_large_is_named_and_the_next_one_read(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LARGEST_VALUE", 1000)
    add(connection, "a")
    add(connection, "b", "x" * 5000)
    add(connection, "c")
    first, second, third = RowReader(str(path), [NOTES]).poll()
    assert isinstance(second, Unreadable)
    assert (second.reason, second.origin.line) == ("row too large", 2)
    assert (first.origin.line, third.origin.line) == (1, 3)


def test_a_batch_ends_where_it_grows_too_large(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "BATCH_BYTES", 100)
    for number in range(20):
        add(connection, f"n{number}", "x" * 60)
    assert len(ids(RowReader(str(path), [NOTES]))) == 20


def test_the_raw_row_is_read_again_as_it_is_now(path: Path, connection: sqlite3.Connection) -> None:
    add(connection, "a", "one")
    rows = RowReader(str(path), [NOTES])
    (line,) = lines(rows)
    assert rows.raw(line.origin) == line.data
    change(connection, "a", "two", 200)
    assert rows.raw(line.origin) == b'{"table":"note","id":"a","text":"two"}'
    assert rows.raw(Origin(str(path), 99, 0)) is None
    assert rows.raw(Origin(str(path), 1, 7)) is None


def test_the_rows_about_one_id_are_found_again(path: Path, connection: sqlite3.Connection) -> None:
    for id, text in (("a", "x"), ("b", "a"), ("c", "about a"), ("d", "a")):
        add(connection, id, text)
    rows = RowReader(str(path), [NOTES])
    assert [line.origin.line for line in rows.about("a")] == [1, 2, 4]
    assert [line.origin.line for line in rows.about("a", limit=2)] == [2, 4]
    assert rows.about("' OR 1 = 1 --") == []
    assert len(lines(rows)) == 4, "asking is not reading"


def test_a_poll_without_a_change_does_not_open_the_database(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(connection, "a")
    for file in path.parent.iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a"]

    def refuse(*_: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr(database, "_connect", refuse)
    assert ids(rows) == []


def idle(_: Path, writer: Writer) -> None:
    writer.run("SELECT 1")


def checkpointed(_: Path, writer: Writer) -> None:
    writer.run("PRAGMA wal_checkpoint(TRUNCATE)")


def closed(_: Path, writer: Writer) -> None:
    writer.end()


def killed(_: Path, writer: Writer) -> None:
    writer.end(kill=True)


def copied_without_index(path: Path, writer: Writer) -> None:
    writer.end(kill=True)
    path.with_name(path.name + "-shm").unlink()


def not_in_wal_mode(path: Path, writer: Writer) -> None:
    writer.end()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


SITUATIONS = [idle, checkpointed, closed, killed, copied_without_index, not_in_wal_mode]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_reading_changes_nothing_in_the_folder(
    path: Path, writer: Writer, situation: Callable[[Path, Writer], None]
) -> None:
    situation(path, writer)
    before = looks(path.parent)
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a"]
    assert rows.raw(Origin(str(path), 1, 0)) is not None
    assert ids(rows) == []
    rows.close()
    assert looks(path.parent) == before


def test_a_folder_that_may_not_be_written_to_is_read(path: Path, writer: Writer) -> None:
    copied_without_index(path, writer)
    path.parent.chmod(0o500)
    try:
        assert ids(RowReader(str(path), [NOTES])) == ["a"]
    finally:
        path.parent.chmod(0o700)


def test_the_private_copy_is_removed(
    path: Path, writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied_without_index(path, writer)
    place = tmp_path / "copies"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a"]
    (copy,) = place.iterdir()
    assert copy.stat().st_mode & 0o077 == 0, "what was copied is nobody else's to read"
    rows.close()
    assert list(place.iterdir()) == []


def test_rows_are_seen_while_another_process_writes_and_it_is_not_hindered(path: Path, writer: Writer) -> None:
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a"]
    for number in range(5):
        writer.run(f"INSERT INTO note VALUES ('n{number}', 'x', {200 + number})")  # noqa: S608 - our number
        assert ids(rows) == [f"n{number}"]
    polling = rows.poll()
    writer.run("INSERT INTO note VALUES ('b', 'x', 900)")
    assert isinstance(next(polling), Line)
    busy, logged, moved = writer.run("PRAGMA wal_checkpoint(RESTART)")[0]
    assert (busy, logged) == (0, moved), "no reading is open while its rows are worked on"
    writer.run("INSERT INTO note VALUES ('c', 'x', 901)")
    assert ids(rows) == ["c"]
    writer.end()
    assert not path.with_name(path.name + "-wal").exists(), "it could tidy up when it ended"
    assert ids(rows) == []


def test_an_uncommitted_row_is_not_seen(path: Path, writer: Writer) -> None:
    rows = RowReader(str(path), [NOTES])
    writer.run("BEGIN IMMEDIATE")
    writer.run("INSERT INTO note VALUES ('b', 'x', 900)")
    assert ids(rows) == ["a"]
    writer.run("COMMIT")
    assert ids(rows) == ["b"]


def test_a_locked_database_is_stale_and_read_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE note (id TEXT PRIMARY KEY, text TEXT, changed INTEGER)")
        rows = RowReader(str(path), [NOTES])
        assert ids(rows) == []
        connection.execute("BEGIN EXCLUSIVE")
        add(connection, "a")
        os.utime(path)  # a file that looks as it did for a while is not opened, and so not found locked
        assert list(rows.poll()) == []
        assert rows.status().state == "stale"
        assert rows.status().detail.startswith("locked by another program since ")
        connection.execute("COMMIT")
        assert ids(rows) == ["a"]
        assert rows.status().state == "live"


NO_DATABASES = {
    "text": (b"no database at all", "not an SQLite database, or an encrypted one"),
    "encrypted": (bytes(range(7, 255)) * 16, "not an SQLite database, or an encrypted one"),
    "nonsense": (b"SQLite format 3\0\x10\0\1\1\0\x40\x20\x20" + b"\xff" * 4072, "damaged"),
}


@pytest.mark.parametrize(("data", "why"), NO_DATABASES.values(), ids=NO_DATABASES)
def test_what_is_no_database_is_told_once(path: Path, data: bytes, why: str) -> None:
    path.write_bytes(data)
    rows = RowReader(str(path), [NOTES])
    (trouble,) = rows.poll()
    assert isinstance(trouble, Unreadable)
    assert trouble.reason == "unreadable database"
    assert trouble.excerpt == why
    assert list(rows.poll()) == []
    assert rows.status().state == "unreadable"


def test_a_damaged_database_is_told_and_does_no_harm(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    for number in range(500):
        add(connection, f"n{number}", "x" * 200)
    connection.execute("COMMIT")
    connection.close()
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    rows = RowReader(str(path), [NOTES])
    trouble = list(rows.poll())[-1]
    assert isinstance(trouble, Unreadable)
    assert trouble.excerpt == "damaged"
    assert rows.raw(Origin(str(path), 400, 0)) is None


def test_an_empty_file_has_no_rows_and_is_said_to_have_no_table(path: Path) -> None:
    path.touch()
    rows = RowReader(str(path), [NOTES])
    assert list(rows.poll()) == []
    assert (rows.status().state, rows.status().detail) == ("live", "no table to read")


def test_a_database_that_is_deleted_is_gone_and_one_that_comes_is_read(
    path: Path, connection: sqlite3.Connection
) -> None:
    add(connection, "a")
    connection.close()
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a"]
    path.unlink()
    assert list(rows.poll()) == []
    assert rows.status().state == "gone"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE note (id TEXT PRIMARY KEY, text TEXT, changed INTEGER)")
        add(other, "z", changed=1)
    assert ids(rows) == ["z"]
    assert rows.status().state == "live"


def test_a_database_replaced_by_a_copy_of_itself_tells_nothing_twice(
    path: Path, connection: sqlite3.Connection
) -> None:
    add(connection, "a")
    connection.close()
    rows = RowReader(str(path), [NOTES])
    assert ids(rows) == ["a"]
    shutil.copy(path, path.with_name("other"))
    path.with_name("other").replace(path)
    assert ids(rows) == []


def test_a_view_in_the_place_of_the_table_is_not_run(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "CREATE VIEW note AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id FROM n) SELECT id FROM n"
        )
    assert list(RowReader(str(path), [NOTES]).poll()) == []


def test_rows_numbered_anew_are_still_followed(path: Path, connection: sqlite3.Connection) -> None:
    for number in range(10):
        add(connection, f"n{number}", changed=1000 + number * 100)
    rows = RowReader(str(path), [NOTES])
    assert len(ids(rows)) == 10
    connection.execute("DELETE FROM note WHERE changed < 1900")
    connection.execute("VACUUM")
    ids(rows)
    add(connection, "new", changed=3000)
    assert ids(rows) == ["new"]
    change(connection, "n9", "again", 3100)
    assert ids(rows) == ["n9"]
