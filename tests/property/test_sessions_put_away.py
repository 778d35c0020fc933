"""Whatever happens to the files of sessions, putting quiet ones away is noticed by nobody.

One feed puts away whatever is quiet, the other never does; after any history of the files both tell the same.
"""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.watching import NOW, line, register, returned

from delegtop.base.clock import FrozenClock
from delegtop.feed import live_feed
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Event
from delegtop.sources import inode, snapshot
from delegtop.testing.conformance import _fold

ONE, TWO = "0b9b1c2e-1111-4222-8333-444455556666", "0b9b1c2e-1111-4222-8333-777788889999"
NAMES = (f"{ONE}.jsonl", f"{ONE}/more.jsonl", f"elsewhere/{ONE}.jsonl", f"{TWO}.jsonl", "of-nobody.jsonl")
LONG_AGO = 1_000_000_000
names = st.sampled_from(NAMES)
texts = st.sampled_from(["", register("aaa111"), register("bbb222"), returned("bbb222"), "no record\n"])


class Sessions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr(live_feed, "RESCAN_SECONDS", 0.0)
        self.patches.setattr(live_feed, "TIDY_SECONDS", -1.0)
        self.patches.setattr(inode, "_SETTLED", 0)
        self.patches.setattr(snapshot, "_SETTLED", 0)
        self.folder = Path(tempfile.mkdtemp())
        self.tidy, self.loose = (Feed([str(self.folder)], clock=FrozenClock(NOW)) for _ in range(2))
        self.loose.tell_once()
        self.told: dict[Feed, list[Event]] = {self.tidy: [], self.loose: []}
        self.lost: set[str] = set()
        """Files that were not always there: of those each feed counts what it has seen of them."""
        self.written = 0

    def teardown(self) -> None:
        for feed in self.told:
            feed.close()
        shutil.rmtree(self.folder)
        self.patches.undo()

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        return path

    def new(self, text: str) -> str:
        """A text that was never written before: only copies are alike."""
        self.written += 1
        at = f"10:{self.written // 60:02d}:{self.written % 60:02d}"
        return line("heartbeat", "aaa111", at, activity=f"step {self.written}") + text

    @rule(name=names, text=texts)
    def grow(self, name: str, text: str) -> None:
        with self.path(name).open("a") as file:
            file.write(self.new(text))

    @rule()
    def an_hour_passes(self) -> None:
        for name in NAMES:
            if self.path(name).exists():
                os.utime(self.path(name), (LONG_AGO, LONG_AGO))
        self.look()

    @rule(name=names)
    def remove(self, name: str) -> None:
        self.look()  # what was written since then is known only to whom it is open
        self.path(name).unlink(missing_ok=True)
        self.lost.add(name)

    @rule(name=names, other=names)
    def move(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            self.path(name).rename(self.path(other))
            self.lost |= {name, other}

    @rule(name=names, other=names)
    def copy(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            shutil.copy2(self.path(name), self.path(other))
            self.lost |= {name, other}

    @rule(name=names, text=texts)
    def begin_anew(self, name: str, text: str) -> None:
        self.path(name).write_text(self.new(text))
        self.lost.add(name)
        self.look()  # one as long as the one before cannot be told from it once it has been given its time

    @rule()
    def look(self) -> None:
        for feed, events in self.told.items():
            for _ in range(4):
                events += [event for batch in feed.poll() for event in batch.events]
        assert _fold(self.told[self.tidy]) == _fold(self.told[self.loose])
        assert self.counts(self.tidy) == self.counts(self.loose)

    def counts(self, feed: Feed) -> dict[str, tuple[object, ...]]:
        found = {os.path.relpath(each.path, self.folder): each for each in feed.statuses()}
        assert len(found) == len(feed.statuses())
        return {
            name: (each.dialect, each.records, each.unreadable, each.status, each.size, each.read)
            for name, each in found.items()
            if name not in self.lost
        }

    @invariant()
    def every_file_is_in_one_place(self) -> None:
        files = self.tidy._files
        shelf = files.shelf
        assert not shelf._files.keys() & files.readings.keys()
        assert sorted(shelf._files) == sorted(path for paths in shelf._sessions.values() for path in paths)
        assert shelf.size == sum(kept.size for kept in shelf._files.values())
        assert all(shelf._sessions.values())


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
