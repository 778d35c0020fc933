"""One feed that lets go of whatever is quiet beside one that never does, while anything happens to their files."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tests.watching import NOW, line, register, returned

from delegtop.base.clock import FrozenClock
from delegtop.feed import live_feed, rounds
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Event
from delegtop.sources import inode
from delegtop.testing.conformance import _fold

numbers = st.integers(0, 4)
LONG_AGO = 1_000_000_000
texts = st.sampled_from(["", register("aaa111"), register("bbb222"), returned("bbb222"), "no record\n"])


class TwoFeeds(RuleBasedStateMachine):
    NAMES: ClassVar[tuple[str, str, str, str, str]]
    """The files that there may be."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr(rounds, "RESCAN_SECONDS", 0.0)
        self.patches.setattr(live_feed, "TIDY_SECONDS", -1.0)
        self.patches.setattr(inode, "_SETTLED", 0)
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

    @rule(number=numbers, text=texts)
    def grow(self, number: int, text: str) -> None:
        with self.path(self.NAMES[number]).open("a") as file:
            file.write(self.new(text))

    @rule()
    def an_hour_passes(self) -> None:
        for name in self.NAMES:
            if self.path(name).exists():
                os.utime(self.path(name), (LONG_AGO, LONG_AGO))
        self.look()

    @rule(number=numbers)
    def remove(self, number: int) -> None:
        self.look()  # what was written since then is known only to whom it is open
        self.path(self.NAMES[number]).unlink(missing_ok=True)
        self.lost.add(self.NAMES[number])

    @rule(number=numbers, other=numbers, copied=st.booleans())
    def move_or_copy(self, number: int, other: int, copied: bool) -> None:
        here, there = self.path(self.NAMES[number]), self.path(self.NAMES[other])
        if here.exists() and not there.exists():
            if copied:
                shutil.copy2(here, there)
            else:
                here.rename(there)
            self.lost |= {self.NAMES[number], self.NAMES[other]}

    @rule(number=numbers, text=texts)
    def begin_anew(self, number: int, text: str) -> None:
        self.path(self.NAMES[number]).write_text(self.new(text))
        self.lost.add(self.NAMES[number])
        self.look()  # one as long as the one before cannot be told from it once it has been given its time

    @rule()
    def look(self) -> None:
        for feed, events in self.told.items():
            for _ in range(4):
                events += [event for batch in feed.poll() for event in batch.events]
        assert _fold(self.told[self.tidy]) == _fold(self.told[self.loose])
        assert self.counts(self.tidy) == self.counts(self.loose)

    def counts(self, feed: Feed) -> object:
        """What both must have counted alike."""
        raise NotImplementedError
