"""Whatever happens to the files of sessions between two runs, who has an index reads the same as who has none."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.watching import NOW, line, register, returned

from delegtop.base.clock import Millis, WallClock
from delegtop.feed import file_catalogue, log_index
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.index_file import IndexFile
from delegtop.feed.live_feed import Feed
from delegtop.feed.session_index import SessionIndex
from delegtop.model.forest import Forest
from delegtop.sources import inode, snapshot

ONE, TWO = "0b9b1c2e-1111-4222-8333-444455556666", "0b9b1c2e-1111-4222-8333-777788889999"
OF_NOBODY = ("of-nobody.jsonl", "of-nobody.jsonl.1", "elsewhere/log.jsonl")
NAMES = (f"{ONE}.jsonl", f"{ONE}/more.jsonl", f"elsewhere/{ONE}.jsonl", f"{TWO}.jsonl", *OF_NOBODY)
LONG_AGO = 1_000_000_000
names = st.sampled_from(NAMES)
texts = st.sampled_from(
    ["", register("aaa111"), register("bbb222"), returned("bbb222"), returned("aaa111"), "no record\n", '{"event":']
)


class IndexedFolders(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr(file_catalogue, "WORTH", 0)
        self.patches.setattr(log_index, "LEAST", 0)
        self.patches.setattr(log_index, "_SHARE", 1 << 40)
        self.patches.setattr(inode, "_SETTLED", 0)
        self.patches.setattr(snapshot, "_SETTLED", 0)
        self.place = Path(tempfile.mkdtemp())
        self.folder = self.place / "logs"
        self.folder.mkdir()
        self.index = self.place / "cache" / "index.db"
        self.written = 0

    def teardown(self) -> None:
        shutil.rmtree(self.place)
        self.patches.undo()

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        return path

    def new(self, text: str) -> str:
        self.written += 1
        at = f"10:{self.written // 60:02d}:{self.written % 60:02d}"
        return line("heartbeat", "aaa111", at, activity=f"step {self.written}") + text

    def age(self, path: Path) -> None:
        os.utime(path, (LONG_AGO, LONG_AGO))

    @rule(name=names, text=texts, is_old=st.booleans())
    def grow(self, name: str, text: str, is_old: bool) -> None:
        with self.path(name).open("a") as file:
            file.write(self.new(text))
        if is_old:
            self.age(self.path(name))

    @rule(name=names)
    def change_in_place(self, name: str) -> None:
        """As many bytes, at the same time."""
        path = self.path(name)
        if path.exists():
            text = path.read_text()
            path.write_text(text.replace("step ", "stop ") if "step " in text else text.replace("stop ", "step "))
            self.age(path)

    @rule(name=names)
    def replace(self, name: str) -> None:
        """By another file with the same text, as who puts a backup back."""
        path = self.path(name)
        if path.exists():
            other = path.with_suffix(".new")
            shutil.copy2(path, other)
            other.rename(path)

    @rule(name=names, size=st.integers(0, 300))
    def cut_off(self, name: str, size: int) -> None:
        if self.path(name).exists():
            os.truncate(self.path(name), size)
            self.age(self.path(name))

    @rule(name=names, when=st.sampled_from([LONG_AGO, LONG_AGO + 1]))
    def touch(self, name: str, when: int) -> None:
        if self.path(name).exists():
            os.utime(self.path(name), (when, when))

    @rule(name=names)
    def remove(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)

    @rule(name=names, other=names)
    def move(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            self.path(name).rename(self.path(other))

    @rule(name=names, other=names)
    def copy(self, name: str, other: str) -> None:
        if self.path(name).exists() and not self.path(other).exists():
            shutil.copy2(self.path(name), self.path(other))

    @rule(name=names, text=texts)
    def begin_anew(self, name: str, text: str) -> None:
        self.path(name).write_text(self.new(text))
        self.age(self.path(name))

    @rule(at=st.integers(0, 20_000), bit=st.integers(0, 7))
    def damage(self, at: int, bit: int) -> None:
        """A bit of the index itself is another."""
        if self.index.exists() and (data := bytearray(self.index.read_bytes())):
            data[at % len(data)] ^= 1 << bit
            self.index.write_bytes(data)

    @rule(_again=st.integers(0, 3))
    def read_twice(self, _again: int) -> None:
        plain = self.told(None)
        assert self.told(self.index) == plain
        assert self.told(self.index) == plain

    @rule(some=st.lists(names, min_size=1, max_size=3))
    def read_some(self, some: list[str]) -> None:
        """Another command asks about a part of them only."""
        if there := [str(self.path(name)) for name in some if self.path(name).exists()]:
            plain = self.told(None, there)
            assert self.told(self.index, there) == plain

    def told(self, index: Path | None, named: Sequence[str] = ()) -> object:
        """What a run tells."""
        opened = None if index is None else lambda: SessionIndex(IndexFile(index, "as ever"))
        feed = Feed(named or [str(self.folder)], clock=WallClock(), index=opened)
        forest = Forest()
        for batch in feed.read_all():
            forest.apply(batch.events)
            if batch.ledger is not None:
                forest.absorb(batch.ledger)
        statuses = [tuple(getattr(each, name) for name in SourceStatus.__struct_fields__) for each in feed.statuses()]
        feed.close()
        forest.advance(NOW)
        facts = {forest.id(handle): forest.delegation(handle) for handle in range(len(forest))}
        parents = {forest.id(handle): forest.parent(handle) for handle in range(len(forest))}
        families = {
            id: (None if above is None else forest.id(above), forest.state(forest.find(id) or 0))
            for id, above in parents.items()
        }
        return facts, families, statuses, list(forest.sleeps(Millis(0)))


def test_who_has_an_index_reads_the_same(pytestconfig: pytest.Config) -> None:
    many = max(40, pytestconfig.getoption("schedules") - 1000)
    run_state_machine_as_test(IndexedFolders, settings=settings(max_examples=many, stateful_step_count=25))
