"""Whatever happens to the files of sessions while a dashboard follows them and between two dashboards, who has an index
shows the same as who has none."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.watching import NOW, line, register, returned

from delegtop.base.clock import WallClock
from delegtop.feed import file_catalogue, live_feed, rounds, session_index
from delegtop.feed.index_file import IndexFile
from delegtop.feed.live_feed import Feed
from delegtop.feed.session_index import SessionIndex
from delegtop.model.forest import Forest
from delegtop.sources import inode, snapshot

ONE, TWO = "0b9b1c2e-1111-4222-8333-444455556666", "0b9b1c2e-1111-4222-8333-777788889999"
NAMES = (f"{ONE}.jsonl", f"{ONE}/more.jsonl", f"elsewhere/{ONE}.jsonl", f"{TWO}.jsonl", "of-nobody.jsonl")
LONG_AGO = 1_000_000_000
names = st.sampled_from(NAMES)
texts = st.sampled_from(["", register("aaa111"), register("bbb222"), returned("bbb222"), "no record\n"])


class Dashboard:
    """What one shows that follows a folder."""

    def __init__(self, folder: Path, index: Path | None) -> None:
        opened = None if index is None else lambda: SessionIndex(IndexFile(index, "as ever"), logs=False)
        self.feed = Feed([str(folder)], clock=WallClock(), index=opened)
        self.forest = Forest()
        self.look()
        self.feed._rounds.is_followed = True  # as after the first waiting, without a thread that waits

    def look(self) -> None:
        for _ in range(4):
            for batch in self.feed.poll():
                self.forest.apply(batch.events)
                if batch.ledger is not None:
                    self.forest.absorb(batch.ledger)

    def shows(self) -> object:
        forest = self.forest
        forest.advance(NOW)
        parents = {forest.id(handle): forest.parent(handle) for handle in forest.walk()}
        return (
            {forest.id(handle): forest.delegation(handle) for handle in forest.walk()},
            {id: None if above is None else forest.id(above) for id, above in parents.items()},
            {forest.id(handle): forest.state(handle) for handle in forest.walk()},
        )


class FollowedFolder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr(file_catalogue, "WORTH", 0)
        self.patches.setattr(session_index, "MOST", 1)  # each session is a whole block, packed at once
        self.patches.setattr(rounds, "RESCAN_SECONDS", 0.0)
        self.patches.setattr(live_feed, "TIDY_SECONDS", -1.0)
        self.patches.setattr(inode, "_SETTLED", 0)
        self.patches.setattr(snapshot, "_SETTLED", 0)
        self.place = Path(tempfile.mkdtemp())
        self.folder = self.place / "logs"
        self.folder.mkdir()
        self.index = self.place / "cache" / "index.db"
        self.written = 0
        self.open()

    def teardown(self) -> None:
        for each in (self.plain, self.indexed):
            each.feed.close()
        shutil.rmtree(self.place)
        self.patches.undo()

    def open(self) -> None:
        self.plain, self.indexed = Dashboard(self.folder, None), Dashboard(self.folder, self.index)

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        return path

    @rule(name=names, text=texts, is_old=st.booleans())
    def grow(self, name: str, text: str, is_old: bool) -> None:
        self.written += 1
        at = f"10:{self.written // 60:02d}:{self.written % 60:02d}"
        path = self.path(name)
        with path.open("a") as file:
            file.write(line("heartbeat", "aaa111", at, activity=f"step {self.written}") + text)
        if is_old:
            os.utime(path, (LONG_AGO, LONG_AGO))

    @rule()
    def an_hour_passes(self) -> None:
        for name in NAMES:
            if self.path(name).exists():
                os.utime(self.path(name), (LONG_AGO, LONG_AGO))

    @rule(name=names)
    def remove(self, name: str) -> None:
        self.look()  # what was written since then is known only to whom it is open
        self.path(name).unlink(missing_ok=True)

    @rule(name=names, other=names)
    def copy(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            shutil.copy2(self.path(name), self.path(other))

    @rule()
    def look(self) -> None:
        for each in (self.plain, self.indexed):
            each.look()
        assert self.indexed.shows() == self.plain.shows()

    @rule()
    def another_dashboard(self) -> None:
        self.look()
        for each in (self.plain, self.indexed):
            each.feed.close()
        self.open()
        self.look()


def test_who_follows_with_an_index_shows_the_same(pytestconfig: pytest.Config) -> None:
    many = max(40, pytestconfig.getoption("schedules") - 1000)
    run_state_machine_as_test(FollowedFolder, settings=settings(max_examples=many, stateful_step_count=25))
