"""A file of which all is read and nothing is in doubt is at rest: the tail can forget it."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from delegtop.sources import inode as file_module
from delegtop.sources.inode import FollowedInode, look_of
from delegtop.sources.records import Line
from delegtop.sources.tail import Tail
from delegtop.sources.text_identity.text_trace import TextTrace, key_of

TEXT = b'{"id": 1}\n{"id": 2}\n'


class Follower:
    """A tail on every file in a folder, with file times that are never too fresh to be believed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tail = Tail()

    def read(self) -> list[bytes]:
        found = self.tail.poll(sorted(map(str, self.folder.iterdir())))
        return [line.data for line in found if isinstance(line, Line)]

    def rests(self, path: Path) -> bool:
        return self.tail.at_rest(str(path)) is not None


@pytest.fixture
def follower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Follower]:
    monkeypatch.setattr(file_module, "_SETTLED", 0)
    follower = Follower(tmp_path)
    yield follower
    follower.tail.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(TEXT)
    return path


def test_a_file_that_is_read_to_its_end_is_at_rest(follower: Follower, log: Path) -> None:
    follower.read()
    assert follower.tail.at_rest(str(log)) == (look_of(log.stat()), key_of(TEXT))


def test_one_that_nobody_asked_for_is_not(follower: Follower, log: Path) -> None:
    assert not follower.rests(log)


def test_one_with_an_unfinished_line_is_not(follower: Follower, log: Path) -> None:
    log.write_bytes(TEXT + b'{"id"')
    follower.read()
    assert not follower.rests(log)


def test_one_that_was_cut_off_is_not(follower: Follower, log: Path) -> None:
    follower.read()
    log.write_bytes(b'{"id": 3}\n')
    follower.read()
    assert not follower.rests(log)


def test_neither_a_copy_nor_its_original_is(follower: Follower, log: Path) -> None:
    copy = Path(shutil.copy(log, log.with_name("t.jsonl")))
    follower.read()
    assert not follower.rests(log)
    assert not follower.rests(copy)


def test_none_of_two_that_begin_alike_is(follower: Follower, log: Path) -> None:
    other = log.with_name("t.jsonl")
    other.write_bytes(b'{"id": 1}\n{"id": 3}\n')
    follower.read()
    assert not follower.rests(log)
    assert not follower.rests(other)


def test_one_with_two_names_is_not(follower: Follower, log: Path) -> None:
    os.link(log, log.with_name("t.jsonl"))
    follower.read()
    assert not follower.rests(log)


def test_one_that_was_forgotten_is_read_from_its_top_when_it_is_asked_for(follower: Follower, log: Path) -> None:
    assert follower.read() == TEXT.splitlines()
    follower.tail.forget(str(log))
    assert list(follower.tail.poll([])) == []
    assert follower.read() == TEXT.splitlines()
    assert follower.read() == []


def test_nothing_of_it_stays_in_memory_though_nobody_collects_garbage(follower: Follower, log: Path) -> None:
    def kept() -> set[int]:
        return {id(each) for each in gc.get_objects() if isinstance(each, FollowedInode | TextTrace)}

    gc.collect()
    of_others = kept()
    follower.read()
    gc.disable()
    try:
        assert kept() > of_others
        follower.tail.forget(str(log))
        list(follower.tail.poll([]))
        assert kept() <= of_others
        assert len(follower.tail._handles) == 0
    finally:
        gc.enable()
