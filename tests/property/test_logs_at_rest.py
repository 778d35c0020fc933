"""Whatever happens to logs of which there are very many, nobody notices that those at rest are followed from afar.

One feed lets every log rest that is quiet and forgets what is gone, the other follows all; both tell the same.
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
from delegtop.feed import live_feed, resting_logs
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Event
from delegtop.sources import inode
from delegtop.sources.wakeups import Waker
from delegtop.testing.conformance import _fold

NAMES = ("one.jsonl", "two.jsonl", "two.jsonl.1", "sub/one.jsonl", "sub/three.jsonl")
LONG_AGO = 1_000_000_000
names = st.sampled_from(NAMES)
texts = st.sampled_from(["", register("aaa111"), register("bbb222"), returned("bbb222"), "no record\n"])


class Logs(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr(live_feed, "RESCAN_SECONDS", 0.0)
        self.patches.setattr(live_feed, "TIDY_SECONDS", -1.0)
        self.patches.setattr(inode, "_SETTLED", 0)
        self.patches.setattr(resting_logs, "FOLLOWED", 0)
        self.patches.setattr(Waker, "watch", lambda *_: None)  # every look is called for here
        self.folder = Path(tempfile.mkdtemp())
        self.tidy, self.loose = (Feed([str(self.folder)], clock=FrozenClock(NOW)) for _ in range(2))
        self.loose.tell_once()
        self.tidy._tail._linger = self.loose._tail._linger = 1
        self.tidy._is_followed = True
        self.told: dict[Feed, list[Event]] = {self.tidy: [], self.loose: []}
        self.is_whole = True
        """Whether every file was always there: else each feed counts what it has seen of it."""
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
    def a_minute_passes(self) -> None:
        for name in NAMES:
            if self.path(name).exists():
                os.utime(self.path(name), (LONG_AGO, LONG_AGO))
        self.look()

    @rule(name=names)
    def remove(self, name: str) -> None:
        self.look()
        self.path(name).unlink(missing_ok=True)
        self.is_whole = False

    @rule(name=names, other=names)
    def move(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            self.path(name).rename(self.path(other))
            self.is_whole = False

    @rule(name=names, other=names)
    def copy(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            shutil.copy2(self.path(name), self.path(other))
            self.is_whole = False

    @rule(name=names, text=texts)
    def begin_anew(self, name: str, text: str) -> None:
        self.path(name).write_text(self.new(text))
        self.is_whole = False
        self.look()  # one as long as the one before cannot be told from it once it has been given its time

    @rule()
    def look(self) -> None:
        for feed, events in self.told.items():
            for _ in range(4):
                events += [event for batch in feed.poll() for event in batch.events]
        assert _fold(self.told[self.tidy]) == _fold(self.told[self.loose])
        if self.is_whole:
            assert self.counts(self.tidy) == self.counts(self.loose)

    def counts(self, feed: Feed) -> tuple[int, ...]:
        told = feed.statuses()
        return (
            sum(each.records for each in told),
            sum(each.unreadable for each in told),
            sum(each.deviations for each in told),
            sum(each.size for each in told),
        )

    @invariant()
    def every_file_is_in_one_place(self) -> None:
        files = self.tidy._files
        assert not [path for path in files.readings if path in files.shelf]
        assert len(files.shelf.logs) == sum(len(bucket.paths) for bucket in files.shelf.logs._buckets)


TestLogs = Logs.TestCase
TestLogs.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
