"""Of a database with a long history only recent sessions are read, each with the whole tree it belongs to."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from delegtop.base.clock import HOUR, FrozenClock, Millis, parse_time
from delegtop.dialects import Query
from delegtop.feed.live_feed import Feed
from delegtop.feed.recent_window import RecentWindow
from delegtop.model.events import Heard
from delegtop.sources import database as databases
from delegtop.sources import table
from delegtop.sources.database import DatabaseTrouble
from delegtop.sources.records import Line
from delegtop.sources.row_reader import RowReader
from delegtop.sources.session_scope import Scope

NOW = parse_time("2026-05-01T12:00:00Z") or Millis(0)
SINCE = Millis(NOW - 2 * HOUR)
OLD, RECENT = NOW - 9 * HOUR, NOW - HOUR
QUERIES = (
    Query("session", ("id", "parent_id", "changed"), since="changed", session="id", parent="parent_id"),
    Query("message", ("id", "session_id", "changed"), since="changed", session="session_id"),
    Query("edge", ("child", "status"), session="child"),
)


class Store:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute("PRAGMA synchronous = OFF")  # what the machine loses when it falls over is no matter here
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, changed INTEGER);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, changed INTEGER);"
            "CREATE TABLE edge (child TEXT, status TEXT);"
        )

    def session(self, id: str, at: int, parent: str | None = None, messages: int = 1) -> None:
        self.database.execute("REPLACE INTO session VALUES (?, ?, ?)", (id, parent, at))
        self.database.execute("INSERT INTO edge VALUES (?, 'open')", (id,))
        for number in range(messages):
            self.message(f"{id}{number}", id, at)

    def message(self, id: str, session: str, at: int) -> None:
        self.database.execute("REPLACE INTO message VALUES (?, ?, ?)", (id, session, at))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "agent.db")
    with closing(made.database):
        yield made


def read(rows: RowReader) -> list[str]:
    """What a poll gives: the ids of sessions and messages, and of edges the child with a star."""
    lines = [json.loads(line.data) for line in rows.poll() if isinstance(line, Line)]
    return sorted(line.get("id") or f"{line['child']}*" for line in lines)


def test_old_sessions_are_left_out_and_without_a_limit_everything_is_read(store: Store) -> None:
    store.session("a", OLD)
    store.session("b", RECENT)
    assert read(RowReader(str(store.path), QUERIES, SINCE)) == ["b", "b*", "b0"]
    assert read(RowReader(str(store.path), QUERIES)) == ["a", "a*", "a0", "b", "b*", "b0"]


def test_a_recent_child_brings_those_above_it_and_everything_below_those(store: Store) -> None:
    store.session("root", OLD)
    store.session("middle", OLD, "root")
    store.session("leaf", RECENT, "middle")
    store.session("sister", OLD, "root")
    store.session("other", OLD)
    found = read(RowReader(str(store.path), QUERIES, SINCE))
    assert [id for id in found if not id[-1].isdigit() and id[-1] != "*"] == ["leaf", "middle", "root", "sister"]


def test_a_message_alone_makes_its_session_recent_and_the_session_is_read_whole(store: Store) -> None:
    store.session("a", OLD, messages=3)
    store.message("last", "a", RECENT)
    assert read(RowReader(str(store.path), QUERIES, SINCE)) == ["a", "a*", "a0", "a1", "a2", "last"]


def test_nothing_is_told_twice_and_what_comes_is_told_once(store: Store) -> None:
    store.session("a", RECENT)
    rows = RowReader(str(store.path), QUERIES, SINCE)
    assert read(rows)
    assert read(rows) == []
    store.message("new", "a", NOW)
    assert read(rows) == ["new"]
    store.session("b", NOW)
    assert read(rows) == ["b", "b*", "b0"]
    assert read(rows) == []


def test_an_old_session_that_is_taken_up_again_is_read_from_its_beginning(store: Store) -> None:
    store.session("a", OLD, messages=2)
    store.session("c", OLD, "a")
    store.session("b", RECENT)
    rows = RowReader(str(store.path), QUERIES, SINCE)
    read(rows)
    store.message("again", "a", NOW)
    assert read(rows) == ["a", "a*", "a0", "a1", "again", "c", "c*", "c0"]


@pytest.mark.parametrize("later", [0.0, 1e9])
def test_what_is_old_stays_out_however_often_the_file_is_written(
    store: Store, monkeypatch: pytest.MonkeyPatch, later: float
) -> None:
    monkeypatch.setattr(table, "LATER", later)
    monkeypatch.setattr(table, "SHARE", 1e-9)  # the whole table is looked at every time
    for name in "abc":
        store.session(name, OLD, messages=3)
    rows = RowReader(str(store.path), QUERIES, SINCE)
    for _ in range(3):
        os.utime(store.path)
        assert read(rows) == []
    store.session("new", NOW)
    assert read(rows) == ["new", "new*", "new0"]
    for disturb in (
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "CREATE TABLE other (a)",
        "VACUUM",
        "INSERT INTO other VALUES (1)",
    ):
        store.database.execute(disturb)
        assert read(rows) == []


def test_an_old_session_that_is_brought_from_elsewhere_with_its_times_stays_out(store: Store) -> None:
    store.session("a", RECENT)
    rows = RowReader(str(store.path), QUERIES, SINCE)
    read(rows)
    store.session("import", OLD, messages=3)
    assert read(rows) == []
    store.session("below", OLD, "a")
    assert read(rows) == ["below", "below*", "below0"]


def test_old_sessions_of_tables_that_are_only_made_later_stay_out(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE other (id TEXT)")
        rows = RowReader(str(path), QUERIES, SINCE)
        assert read(rows) == []
        database.execute("CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, changed INTEGER)")
        database.executemany(
            "INSERT INTO session VALUES (?, NULL, ?)", [("old", OLD), ("new", RECENT), ("never", None)]
        )
        assert read(rows) == ["new"]


def test_a_session_is_recent_by_rows_too_that_are_not_told_themselves(store: Store) -> None:
    asked = Query("session", ("id", "parent_id"), "changed", "id LIKE 'asked%'", "id", "parent_id")
    store.session("one", OLD)
    store.session("asked1", OLD, "one")
    rows = RowReader(str(store.path), [asked], SINCE)
    assert read(rows) == []
    store.database.execute("UPDATE session SET changed = ? WHERE id = 'one'", (NOW,))
    assert read(rows) == ["asked1"]
    assert read(RowReader(str(store.path), [asked], SINCE)) == ["asked1"]


def test_what_is_too_large_in_an_old_session_is_not_counted_and_in_a_recent_one_it_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "LARGEST_VALUE", 1_000)
    texts = Query("message", ("id", "session_id", "text"), since="changed", session="session_id")
    large = "INSERT INTO message VALUES (?, ?, ?, ?)"
    store.database.execute("ALTER TABLE message ADD COLUMN text TEXT")
    store.database.executemany(large, [("a0", "a", OLD, "x" * 5_000), ("b0", "b", RECENT, "x" * 5_000)])
    rows = RowReader(str(store.path), [texts], SINCE)
    assert [found.origin.line for found in rows.poll()] == [2]
    store.database.execute(large, ("c0", "c", OLD, "x" * 5_000))
    assert list(rows.poll()) == []


def test_a_session_that_was_heard_of_is_read_though_the_database_could_not_be_just_then(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = RowReader(str(store.path), QUERIES, SINCE)
    read(rows)
    store.session("a", NOW)
    take = Scope._take

    def refused(*_: object) -> None:
        raise DatabaseTrouble("locked by another program", passing=True)

    monkeypatch.setattr(Scope, "_take", refused)
    assert read(rows) == []
    monkeypatch.setattr(Scope, "_take", take)
    assert read(rows) == ["a", "a*", "a0"]


def test_a_row_that_is_changed_later_is_told_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LATER", 0.0)
    store.session("a", RECENT)
    store.session("b", OLD)
    rows = RowReader(str(store.path), QUERIES, SINCE)
    read(rows)
    store.database.execute("UPDATE message SET changed = ? WHERE id = 'a0'", (NOW,))
    assert read(rows) == ["a0"]
    store.database.execute("UPDATE edge SET status = 'closed'")
    assert read(rows) == ["a*"]


def test_whoever_stops_in_the_middle_gets_the_rest_later(store: Store) -> None:
    for name in "abc":
        store.session(name, RECENT)
    rows = RowReader(str(store.path), QUERIES, SINCE)
    first = next(iter(rows.poll()))
    assert isinstance(first, Line)
    assert {json.loads(first.data)["id"], *read(rows)} >= {"a", "b", "c", "a0", "b0", "c0"}


def test_times_in_seconds_and_in_words_are_compared_as_what_they_are(tmp_path: Path) -> None:
    for kind, old, recent in (
        ("INTEGER", OLD // 1000, RECENT // 1000),
        ("TEXT", "2026-05-01 03:00:00", "2026-05-01 11:00:00"),
        ("ISO TEXT", "2026-05-01T03:00:00.000Z", "2026-05-01T11:00:00.000Z"),
        ("REAL", OLD / 1000, RECENT / 1000),
    ):
        path = tmp_path / f"{kind}.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(f"CREATE TABLE session (id TEXT, parent_id TEXT, changed {kind})")
            database.execute("INSERT INTO session VALUES ('old', NULL, ?), ('recent', NULL, ?)", (old, recent))
        assert read(RowReader(str(path), QUERIES[:1], SINCE)) == ["recent"]


def test_a_table_without_sessions_is_read_whole(store: Store) -> None:
    store.session("a", OLD)
    assert read(RowReader(str(store.path), [Query("session", ("id",), since="changed")], SINCE)) == ["a"]


def test_a_database_is_as_recent_as_the_log_beside_it(store: Store) -> None:
    store.session("a", RECENT)
    os.utime(store.path, (OLD / 1000, OLD / 1000))
    assert RecentWindow(SINCE).admit([str(store.path)]) == [str(store.path)]


def test_the_feed_leaves_out_old_sessions_of_opencode(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT, time_updated INTEGER);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, data TEXT);"
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT);"
        )
        database.execute("INSERT INTO session VALUES ('old', NULL, 'o', ?), ('new', NULL, 'n', ?)", (OLD, RECENT))
    with closing(Feed([str(path)], clock=FrozenClock(NOW), since=SINCE)) as feed:
        told = {getattr(event, "id", None) for batch in feed.read_all() for event in batch.events}
    assert told == {"new"}


def test_the_first_row_of_each_table_does_not_make_the_feed_forget_the_tables_before(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    part = json.dumps({"type": "tool", "tool": "bash", "state": {"status": "running", "input": {"command": "make"}}})
    message = json.dumps({"role": "assistant", "time": {"created": NOW}})
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(
            "CREATE TABLE session (id TEXT, parent_id TEXT, time_updated INTEGER);"
            "CREATE TABLE message (id TEXT, session_id TEXT, time_updated INTEGER, data TEXT);"
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_updated INTEGER, data TEXT);"
        )
        database.execute("INSERT INTO session VALUES ('s', NULL, ?)", (NOW,))
        database.execute("INSERT INTO message VALUES ('m', 's', ?, ?)", (NOW, message))
        database.execute("INSERT INTO part VALUES ('p', 'm', 's', ?, ?)", (NOW, part))
    with closing(Feed([str(path)], clock=FrozenClock(NOW))) as feed:
        told = [event for batch in feed.read_all() for event in batch.events]
    assert [event.tool for event in told if isinstance(event, Heard)][-1] == "bash"
