"""Whatever is written into a database of sessions while it is followed, who follows it for hours was told of the same
sessions as who looks now and asks for the same: what is recent goes by the rows, not by when they were read."""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from tests.property.database_worlds import FORMATS, DatabaseFormat, made
from tests.recorded_feed import RecordedFeed

from delegtop.base.clock import HOUR, SECOND, Millis, WallClock
from delegtop.sources import table

Rows = dict[tuple[str, str], dict[str, object]]
"""What was told last of each row, by its table and its id."""
numbers = st.integers(0, 5)


def rows(feed: RecordedFeed) -> Rows:
    found = [json.loads(line.data) for line in feed.lines]
    return {
        (row["table"], str(row.get("id") or row.get("session_id") or row.get("child_thread_id"))): row for row in found
    }


def sessions(told: Rows, format: DatabaseFormat) -> set[str]:
    return {id for name, id in told if name == format.own}


class FollowedDatabase(RuleBasedStateMachine):
    format: ClassVar[DatabaseFormat]

    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / self.format.file
        self.now = WallClock().now()
        self.since = Millis(self.now - 2 * HOUR)
        self.written = 0
        self.parents: dict[str, str | None] = {}
        self.said: dict[str, str] = {}
        """In which session each message is."""
        self.deleted: set[str] = set()
        self.recent: set[str] = set()
        """The sessions to which something was written in the window."""
        self.shown: set[str] = set()
        """The sessions that somebody who looked anew was ever told of."""
        self.database = made(self.path, self.format)
        self.feed: RecordedFeed | None = None

    def teardown(self) -> None:
        if self.feed is not None:
            self.feed.close()
        self.database.close()
        shutil.rmtree(self.folder)
        self.patches.undo()

    def moment(self, id: str, *, old: bool) -> Millis:
        """A time of writing in that session, later than all before it."""
        self.written += 1
        self.recent |= set() if old else {id}
        return Millis(self.now - (9 * HOUR if old else HOUR) + self.written * 10 * SECOND)

    @initialize(often=st.booleans(), here=st.booleans(), olds=st.integers(0, 4))
    def follow(self, often: bool, here: bool, olds: int) -> None:
        """`often` the whole table is looked at in every poll, and beyond its end only then. What was only come across
        `here` is not read before something in it is alive."""
        self.here = (str(self.folder),) if here else ()
        self.patches.setattr(table, "LATER", 0.0 if often else 1e9)
        self.patches.setattr(table, "SHARE", 1e-9 if often else 1e9)
        self.patches.setattr(table, "RECENT", 2 if often else table.RECENT)
        for number in range(olds):
            self.write(number, parent=None, old=True)
        self.feed = RecordedFeed(self.folder, since=self.since, here=self.here)
        self.look()

    def families(self) -> set[str]:
        """The recent sessions and all that have to do with them."""
        found, before = set(self.recent), set[str]()
        while found != before:
            before = set(found)
            found |= {id for id, above in self.parents.items() if above in found}
            found |= {above for id, above in self.parents.items() if id in found and above is not None}
        return found

    # What the program writes

    @rule(number=numbers, parent=st.none() | numbers, old=st.booleans())
    def write(self, number: int, parent: int | None, old: bool) -> None:
        """A session that begins, or that is brought from elsewhere with all its times; or one that goes on."""
        id, above = f"s{number}", None if parent is None or parent >= number else f"s{parent}"
        if id not in self.parents:
            self.parents[id] = above if above not in self.deleted else None
        elif old:
            return
        self.format.session(self.database, id, self.parents[id], at := self.moment(id, old=old))
        if self.format.message is not None:
            self.said[f"m{self.written}"] = id
            self.format.message(self.database, f"m{self.written}", id, at)

    @precondition(lambda self: self.format.message is not None)
    @rule(number=numbers, old=st.booleans())
    def say(self, number: int, old: bool) -> None:
        """Something in a session, which need not be written for that."""
        if self.format.message is not None and (id := f"s{number}") in self.parents:
            at = self.moment(id, old=old)
            self.said[f"m{self.written}"] = id
            self.format.message(self.database, f"m{self.written}", id, at)

    @precondition(lambda self: self.format.message is not None)
    @rule(word=st.integers(1, 40))
    def say_otherwise(self, word: int) -> None:
        session = self.said.get(f"m{word}")
        if self.format.message is not None and session is not None:
            self.format.message(self.database, f"m{word}", session, self.moment(session, old=False))

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        if f"s{number}" in self.parents:
            self.look()  # its number may be given to another row
            sql = f"DELETE FROM {self.format.own} WHERE {self.format.id} = ?"  # noqa: S608 # our names
            self.database.execute(sql, (f"s{number}",))
            self.deleted.add(f"s{number}")
            self.look()

    # What else happens to the file

    @rule()
    def touch(self) -> None:
        os.utime(self.path)

    @rule()
    def tidy_its_log(self) -> None:
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @rule()
    def write_another_table(self) -> None:
        self.database.execute("CREATE TABLE IF NOT EXISTS another (at INTEGER)")
        self.database.execute("INSERT INTO another VALUES (?)", (self.now,))

    @rule()
    def end_and_begin(self) -> None:
        self.database.close()
        self.database = made(self.path, self.format)

    @rule()
    def vacuum(self) -> None:
        self.look()  # rows may be numbered anew
        self.database.execute("VACUUM")
        self.look()

    @rule()
    def put_a_copy_in_its_place(self) -> None:
        copy = self.folder / "copy"
        self.database.execute("VACUUM INTO ?", (str(copy),))
        self.database.close()
        for left in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + left).unlink()
        copy.replace(self.path)
        self.database = made(self.path, self.format)

    @rule()
    def look(self) -> None:
        if self.feed is None:
            return
        self.feed.look(2)
        anew = RecordedFeed(self.folder, since=self.since, here=self.here)
        anew.look(2)
        anew.close()
        told, wanted = rows(self.feed), rows(anew)
        self.shown |= sessions(wanted, self.format)
        assert sessions(told, self.format) == self.shown
        assert self.shown <= self.families()
        assert {id for id in self.recent if self.format.has_roots or self.parents[id]} <= self.shown | self.deleted
        assert {key: told.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("name", FORMATS)
def test_who_follows_a_database_is_told_of_the_same_sessions_as_who_looks_now(name: str) -> None:
    run_state_machine_as_test(
        type(name, (FollowedDatabase,), {"format": FORMATS[name]}),
        settings=settings(max_examples=15, stateful_step_count=20, deadline=None),
    )
