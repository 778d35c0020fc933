"""The tail, one fault at a time. What random mixtures of them do is in tests/property/test_tail_faults.py."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.base.origin import Origin
from delegtop.sources import handles
from delegtop.sources.lines import CHUNK, LARGE
from delegtop.sources.records import Line, LineBlock, Record, Unreadable, records
from delegtop.sources.tail import Tail

Item = Line | Unreadable


class Follower:
    """A tail on every `*.jsonl*` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tail = Tail()

    def paths(self) -> list[str]:
        return sorted(str(path) for path in self.folder.glob("*.jsonl*"))

    def items(self) -> list[Item]:
        return list(self.tail.poll(self.paths()))

    def ids(self) -> list[int]:
        """The ids of all records that are new."""
        return ids(self.items())


def ids(items: list[Item]) -> list[int]:
    found = [record for item in items if isinstance(item, Line) for record in records(item)]
    return [record.value["id"] for record in found if isinstance(record, Record)]


def reasons(items: list[Item]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Unreadable)]


def line(id: int, pad: int = 0) -> bytes:
    return b'{"id": %d, "pad": "%s"}\n' % (id, b"x" * pad)


def lines(*numbers: int, pad: int = 0) -> bytes:
    return b"".join(line(number, pad) for number in numbers)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def follower(tmp_path: Path) -> Iterator[Follower]:
    follower = Follower(tmp_path)
    yield follower
    follower.tail.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def test_lines_know_their_file_line_and_offset(follower: Follower, log: Path) -> None:
    log.write_bytes(b'{"id": 1}\n\n{"id": 2}\r\n')
    assert follower.items() == [
        Line(Origin(str(log), 1, 0), b'{"id": 1}'),
        Line(Origin(str(log), 2, 10), b""),
        Line(Origin(str(log), 3, 11), b'{"id": 2}\r'),
    ]


def test_only_what_is_new_is_delivered(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1, 2))
    assert follower.ids() == [1, 2]
    append(log, lines(3))
    assert follower.ids() == [3]
    assert follower.ids() == []


def test_an_idle_poll_costs_one_stat_a_file_and_nothing_else(
    follower: Follower, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(lines(1))
    os.utime(log, (1, 1))
    follower.ids()
    while follower.tail._files[next(iter(follower.tail._files))].seen is None:  # until the times have settled
        follower.ids()
    calls: list[str] = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda *a, **k: calls.append("stat") or real(*a, **k))  # type: ignore[func-returns-value]  # append is called for its effect
    for name in ("fstat", "open", "pread", "lseek", "read"):
        monkeypatch.setattr(os, name, lambda *_, name=name, **__: calls.append(name))
    assert list(follower.tail.poll([str(log)])) == []
    assert calls == ["stat"]


# Row by row through the table of faults


def test_rename_and_create_delivers_the_late_write_and_the_new_file(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    assert follower.ids() == [1]
    old = log.rename(log.with_name("s.jsonl.1"))
    append(old, lines(2))
    log.write_bytes(lines(3))
    assert follower.ids() == [2, 3]


def test_a_file_renamed_out_of_sight_is_still_read_and_called_rotated(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    assert follower.ids() == [1]
    away = log.rename(log.with_name("elsewhere"))
    append(away, lines(2))
    assert follower.ids() == [2]
    append(away, lines(3))
    assert follower.ids() == [3]
    assert follower.tail.status(str(log)).state == "rotated"


def test_a_file_out_of_sight_is_let_go_when_it_has_been_quiet(tmp_path: Path, log: Path) -> None:
    follower = Follower(tmp_path)
    follower.tail = Tail(linger=2)
    log.write_bytes(lines(1))
    follower.ids()
    away = log.rename(log.with_name("elsewhere"))
    for _ in range(5):
        follower.ids()
    assert len(follower.tail._handles) == 0
    append(away, lines(2))
    assert follower.ids() == []
    away.rename(log)
    assert follower.ids() == [2]


def test_a_copytruncated_copy_is_not_read_again(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1, 2))
    assert follower.ids() == [1, 2]
    log.with_name("s.jsonl.1").write_bytes(log.read_bytes())
    log.write_bytes(lines(3))
    assert follower.ids() == [3]
    assert follower.ids() == []


def test_what_the_truncation_destroyed_is_recovered_from_the_copy(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    assert follower.ids() == [1]
    append(log, lines(2))
    log.with_name("s.jsonl.1").write_bytes(log.read_bytes())
    log.write_bytes(lines(3))
    assert sorted(follower.ids()) == [2, 3]


@pytest.mark.parametrize("preamble", [b"", b'{"id": 0, "preamble": "%s"}\n' % (b"p" * 2_000)], ids=["", "same head"])
def test_a_truncated_file_that_outgrew_the_offset_between_two_looks_is_read_whole(
    follower: Follower, log: Path, preamble: bytes
) -> None:
    log.write_bytes(preamble + lines(1, 2, 3))
    follower.ids()
    log.with_name("s.jsonl.1").write_bytes(log.read_bytes())
    log.write_bytes(preamble + lines(*range(4, 12)))
    assert [id for id in follower.ids() if id] == list(range(4, 12))


def test_a_rewrite_of_the_same_size_and_ending_is_noticed(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1, 2, pad=500))
    assert follower.ids() == [1, 2]
    with log.open("r+b") as file:
        file.write(lines(3, 4, pad=500))
    assert follower.ids() == [3, 4]


def test_a_text_exchanged_between_two_blocks_of_one_look_is_not_taken_for_the_rest_of_the_old_one(
    follower: Follower, log: Path
) -> None:
    old, new = range(1_000, 3_000), range(3_000, 5_000)
    log.write_bytes(lines(*old, pad=100))  # several blocks
    polled = follower.tail.poll([str(log)])
    first = list(islice(polled, 10))
    with log.open("r+b") as file:
        file.write(lines(*new, pad=100))
    found = ids(first + list(polled))
    assert found == list(old)[: len(found)]
    assert len(found) < len(old)
    assert follower.ids() == list(new)


def test_a_truncation_leaves_a_note_that_something_may_be_missing(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    follower.ids()
    append(log, lines(2))
    log.write_bytes(b"")
    follower.ids()
    status = follower.tail.status(str(log))
    assert (status.state, status.detail.startswith("possible gap")) == ("live", True)


@pytest.mark.parametrize("size", [1_000, 2 << 30])
def test_a_record_behind_a_hole_arrives(follower: Follower, log: Path, size: int) -> None:
    log.write_bytes(lines(1))
    assert follower.ids() == [1]
    with log.open("r+b") as file:
        os.truncate(log, 0)
        os.pwrite(file.fileno(), line(2), size)
    assert follower.ids() == [2]
    append(log, line(3))
    assert follower.ids() == [3]


def test_a_hole_in_the_middle_of_a_line_costs_only_that_line(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1) + b'{"id": 2, "pad": "to')
    with log.open("r+b") as file:
        os.pwrite(file.fileno(), line(3), 5 << 20)
    assert follower.ids() == [1, 3]


def test_room_made_in_advance_is_waited_for_not_skipped(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1) + b"\0" * 5_000)
    assert follower.ids() == [1]
    with log.open("r+b") as file:
        os.pwrite(file.fileno(), line(2), len(line(1)))
    assert follower.ids() == [2]


def test_a_partial_last_line_is_delivered_once_it_is_finished(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1) + b'{"id":')
    assert follower.ids() == [1]
    append(log, b" 2")
    assert follower.ids() == []
    append(log, b"}\n")
    assert follower.items() == [Line(Origin(str(log), 2, len(line(1))), b'{"id": 2}')]


def test_a_torn_line_does_not_take_the_next_one_with_it(follower: Follower, log: Path) -> None:
    log.write_bytes(b'{"id": 1, "pad": "to')
    follower.ids()
    append(log, lines(2))
    assert follower.ids() == [2]


def test_an_unterminated_last_line_is_flushed_once_even_if_it_is_finished_later(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1) + b'{"id": 2}')
    assert follower.ids() == [1]
    assert ids(list(follower.tail.flush())) == [2]
    assert list(follower.tail.flush()) == []
    append(log, b"\n" + lines(3))
    assert follower.ids() == [3]


def test_what_is_added_to_a_flushed_line_is_delivered_as_the_rest_of_it(follower: Follower, log: Path) -> None:
    log.write_bytes(b'{"id": 1}')
    follower.ids()
    assert ids(list(follower.tail.flush())) == [1]
    append(log, b'{"id": 2}\n{"id": 3}\n')
    assert follower.items() == [
        Line(Origin(str(log), 1, 9), b'{"id": 2}'),
        Line(Origin(str(log), 2, 19), b'{"id": 3}'),
    ]


def test_an_unfinished_fragment_is_flushed_as_unterminated_and_still_arrives_when_finished(
    follower: Follower, log: Path
) -> None:
    log.write_bytes(b'{"id": 1, "pad": "wai')
    follower.ids()
    assert reasons(list(follower.tail.flush())) == ["unterminated"]
    assert list(follower.tail.flush()) == []
    append(log, b'ting"}\n')
    assert follower.ids() == [1]


def test_delete_and_create_in_a_loop_delivers_every_record(follower: Follower, log: Path) -> None:
    found = []
    for id in range(200):
        log.unlink(missing_ok=True)
        log.write_bytes(line(id))
        found += follower.ids()
    assert found == list(range(200))


def test_an_atomic_replace_with_more_content_delivers_only_the_more(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1, 2))
    assert follower.ids() == [1, 2]
    for id in range(3, 40):
        new = log.with_name("new")
        new.write_bytes(log.read_bytes() + line(id))
        new.replace(log)
        assert follower.ids() == [id]


def test_an_atomic_replace_loses_nothing_that_was_not_read_yet(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    assert follower.ids() == [1]
    append(log, lines(2))
    new = log.with_name("new")
    new.write_bytes(log.read_bytes() + lines(3))
    new.replace(log)
    assert follower.ids() == [2, 3]


def test_a_swapped_symlink_gives_the_rest_of_the_old_target_and_then_the_new(follower: Follower, log: Path) -> None:
    first, second = log.with_name("first"), log.with_name("second")
    first.write_bytes(lines(1))
    log.symlink_to(first)
    assert follower.ids() == [1]
    append(first, lines(2))
    second.write_bytes(lines(3))
    log.unlink()
    log.symlink_to(second)
    assert follower.ids() == [2, 3]


def test_two_names_of_one_file_deliver_once(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    log.with_name("hard.jsonl").hardlink_to(log)
    log.with_name("soft.jsonl").symlink_to(log)
    assert follower.ids() == [1]
    append(log, lines(2))
    assert follower.ids() == [2]
    log.unlink()
    append(log.with_name("hard.jsonl"), lines(3))
    assert follower.ids() == [3]


def test_two_files_that_begin_alike_are_both_read(follower: Follower, log: Path) -> None:
    preamble = b'{"id": 0, "preamble": "%s"}\n' % (b"p" * 1_500)
    other = log.with_name("t.jsonl")
    log.write_bytes(preamble)
    assert follower.ids() == [0]
    other.write_bytes(preamble + lines(2))
    append(log, lines(1))
    assert follower.ids() == [1, 0, 2]


def test_tiny_files_lose_nothing_later(follower: Follower, log: Path) -> None:
    other = log.with_name("t.jsonl")
    for path in (log, other):
        path.write_bytes(b'{"i')
    assert follower.ids() == []
    append(log, b'd": 1}\n')
    assert follower.ids() == [1]
    append(other, b'd": 2}\n')
    assert follower.ids() == [2]


def test_a_copy_in_progress_is_not_taken_for_something_new(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(*range(500), pad=100))
    assert len(follower.ids()) == 500
    data, copy = log.read_bytes(), log.with_name("s.jsonl.1")
    for end in (3, 1_000, 30_000, len(data)):
        copy.write_bytes(data[:end])
        assert follower.ids() == []
    append(log, lines(500))
    append(copy, lines(500))
    assert follower.ids() == [500]
    log.write_bytes(lines(501))
    assert follower.ids() == [501]


def test_an_oversize_line_is_reported_once_in_bounded_memory_and_the_next_record_arrives(tmp_path: Path) -> None:
    log = tmp_path / "big.jsonl"
    with log.open("wb") as file:
        file.write(lines(1))
        block = b"y" * (1 << 20)
        for _ in range(200):
            file.write(block)
        file.write(b"\n" + lines(2))
    script = f"""
import resource
from delegtop.sources.tail import Tail
from delegtop.sources.records import Unreadable
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
items = list(Tail().poll([{str(log)!r}]))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
notes = [(i.reason, i.excerpt, i.origin.line, i.origin.offset) for i in items if isinstance(i, Unreadable)]
expected = ("oversize", "{200 << 20:,} bytes; a line may have 1,048,576", 2, {len(line(1))})
print(len(items), notes == [expected], items[-1].data, grown < 16 * 1024)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == f"3 True {line(2).rstrip()!r} True\n"


def test_a_line_of_just_the_limit_is_kept_and_one_byte_more_is_oversize(log: Path) -> None:
    tail = Tail(limit=100)
    log.write_bytes(b"a" * 100 + b"\n" + b"b" * 101 + b"\n" + b"c\n")
    first, second, third = tail.poll([str(log)])
    assert isinstance(first, Line)
    assert isinstance(second, Unreadable)
    assert (len(first.data), second.reason, second.excerpt) == (100, "oversize", "101 bytes; a line may have 100")
    assert third == Line(Origin(str(log), 3, 203), b"c")
    tail.close()


def test_a_long_line_over_many_blocks_arrives_whole(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1) + line(2, pad=900_000) + lines(3))
    assert follower.ids() == [1, 2, 3]


def test_an_oversize_line_that_is_still_being_written_is_reported_at_its_end(log: Path) -> None:
    tail = Tail(limit=1_000)
    log.write_bytes(b"y" * 5_000)
    assert list(tail.poll([str(log)])) == []
    append(log, b"y" * 5_000)
    assert list(tail.poll([str(log)])) == []
    append(log, b"\n" + lines(1))
    items = list(tail.poll([str(log)]))
    assert (reasons(items), ids(items)) == (["oversize"], [1])
    tail.close()


def test_a_file_that_may_not_be_read_is_said_so_and_read_when_it_may(
    follower: Follower, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(lines(1))

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        assert follower.ids() == []
        status = follower.tail.status(str(log))
        assert (status.state, status.detail) == ("unreadable", "permission denied")
    assert follower.ids() == [1]
    assert follower.tail.status(str(log)).state == "live"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_permission_lost_and_regained_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # somebody else can look into this folder but not walk to it
    tmp_path.chmod(0o711)
    log, tail = Path("s.jsonl"), Tail()
    log.write_bytes(lines(1))
    log.chmod(0o000)
    os.seteuid(65534)
    try:
        assert list(tail.poll(["s.jsonl"])) == []
        assert tail.status("s.jsonl").state == "unreadable"
    finally:
        os.seteuid(0)
    log.chmod(0o644)
    assert ids(list(tail.poll(["s.jsonl"]))) == [1]
    tail.close()


def test_a_path_that_cannot_be_looked_at_keeps_its_file(
    follower: Follower, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(lines(1))
    assert follower.ids() == [1]
    append(log, lines(2))
    paths = follower.paths()

    def refuse(*_: object, **__: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        assert ids(list(follower.tail.poll(paths))) == [2]
        assert follower.tail.status(str(log)).state == "unreadable"
    append(log, lines(3))
    assert follower.ids() == [3]
    assert follower.tail.status(str(log)).state == "live"


@pytest.mark.parametrize("linger", [0, 100])
def test_a_folder_that_vanishes_and_returns_repeats_nothing(tmp_path: Path, linger: int) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = folder / "s.jsonl"
    tail = Tail(linger=linger)
    log.write_bytes(lines(1))
    assert ids(list(tail.poll([str(log)]))) == [1]
    folder.rename(tmp_path / "away")
    for _ in range(3):
        assert list(tail.poll([str(log)])) == []
    (tmp_path / "away").rename(folder)
    append(log, lines(2))
    assert ids(list(tail.poll([str(log)]))) == [2]
    tail.close()


def test_more_files_than_descriptors_deliver_every_line_once(tmp_path: Path) -> None:
    script = f"""
import collections, pathlib, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from delegtop.sources.tail import Tail
folder = pathlib.Path({str(tmp_path)!r})
paths = [folder / f"{{n}}.jsonl" for n in range(200)]
tail, seen = Tail(), collections.Counter()
for turn in range(4):
    for path in paths:
        with path.open("a") as file:
            file.write(f'{{{{"id": "{{path.name}}-{{turn}}"}}}}\\n')
    if turn == 2:
        paths[7].rename(folder / "7.jsonl.1")
        paths[7] = folder / "7.jsonl.1"
    seen.update(line.data for line in tail.poll([str(path) for path in paths]))
print(len(seen), set(seen.values()), len(tail._handles) <= 32)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "800 {1} True\n"


def test_half_of_the_files_that_the_system_allows_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few a shell gives its programs at first."""
    limits = [1_024, 1_000_000]

    def raised(_: int, wanted: tuple[int, int]) -> None:
        limits[:] = wanted

    monkeypatch.setattr(resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", raised)
    most = handles.affordable()
    assert most > 1_024
    assert limits == [2 * most, 1_000_000]
    limits[:] = 300, 300
    assert handles.affordable() == 150
    limits[:] = 10, 10
    assert handles.affordable() == handles._LEAST
    limits[:] = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    assert handles.affordable() == most


def test_when_descriptors_run_out_altogether_the_rest_follows_later(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
        with suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        assert list(follower.tail.poll([str(log)])) == []
        assert follower.tail.status(str(log)).detail == "too many open files"
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert follower.ids() == [1]


def test_a_fifo_or_a_folder_under_a_followed_name_is_refused_not_waited_for(follower: Follower, log: Path) -> None:
    os.mkfifo(log)
    log.with_name("t.jsonl").mkdir()
    assert follower.ids() == []
    assert follower.tail.status(str(log)).detail == "not a regular file"


# Reading on, and reading again


def test_an_iterator_left_early_goes_on_with_the_next_poll(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(*range(1_000)))
    first = list(islice(follower.tail.poll([str(log)]), 300))
    kept = follower.tail.poll([str(log)])
    second = list(islice(kept, 300))
    rest = follower.items()
    assert ids(first + second + rest) == list(range(1_000))
    assert list(kept) == []


def test_a_look_at_growing_files_alone_reads_what_they_grew_by(follower: Follower, log: Path) -> None:
    other = log.with_name("t.jsonl")
    log.write_bytes(lines(1))
    other.write_bytes(lines(2))
    follower.ids()
    append(log, lines(3))
    append(other, lines(4))
    assert ids(list(follower.tail.poll([str(log)], whole=False))) == [3]
    assert follower.ids() == [4]


def test_a_line_can_be_read_again(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1, 2) + b'{"id": 3}{"id": 4}\n')
    items = follower.items()
    assert [follower.tail.read_line(item.origin) for item in items] == [
        item.data for item in items if isinstance(item, Line)
    ]
    glued = [record.origin for record in records(items[2]) if isinstance(record, Record)]  # type: ignore[arg-type]  # it is a line
    assert follower.tail.read_line(glued[1]) == b'{"id": 4}'
    assert follower.tail.read_line(Origin(str(log), 1, 4)) is None


def test_a_line_is_read_again_from_its_own_text_after_rotation(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    (old,) = follower.items()
    log.rename(log.with_name("s.jsonl.1"))
    log.write_bytes(lines(2))
    (new,) = follower.items()
    assert old.origin == new.origin
    assert follower.tail.read_line(old.origin) == line(1).rstrip()
    assert follower.tail.read_line(new.origin) == line(2).rstrip()


def test_a_line_is_read_again_from_the_copy_after_copytruncate(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    (old,) = follower.items()
    log.with_name("s.jsonl.1").write_bytes(log.read_bytes())
    log.write_bytes(lines(2))
    follower.items()
    assert follower.tail.read_line(old.origin) == line(1).rstrip()


def test_a_line_that_is_no_longer_there_is_not_made_up(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1))
    (old,) = follower.items()
    log.write_bytes(lines(2))
    assert follower.tail.read_line(old.origin) is None
    follower.items()
    assert follower.tail.read_line(old.origin) is None
    assert follower.tail.read_line(Origin("nowhere", 1, 0)) is None


def test_the_status_tells_size_and_place_and_time(follower: Follower, log: Path) -> None:
    log.write_bytes(lines(1) + b"{")
    os.utime(log, (1_700_000_000, 1_700_000_000))
    polling = follower.tail.poll([str(log)])
    next(polling)
    assert follower.tail.status(str(log)).state == "loading"
    assert list(polling) == []
    status = follower.tail.status(str(log))
    assert (status.state, status.size, status.read) == ("live", len(line(1)) + 1, len(line(1)))
    assert status.changed_at == 1_700_000_000_000
    log.unlink()
    follower.ids()
    assert follower.tail.status(str(log)).state == "gone"


def test_an_open_file_can_be_followed_under_a_name_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "unlinked"
    log.write_bytes(lines(1))
    fd = os.open(log, os.O_RDWR | os.O_APPEND)
    log.unlink()
    tail = Tail()
    tail.attach("-", fd)
    (first,) = tail.poll(["-"])
    assert first.origin == Origin("-", 1, 0)
    os.write(fd, lines(2))
    assert ids(list(tail.poll(["-"]))) == [2]
    assert tail.read_line(first.origin) == line(1).rstrip()
    tail.close()
    os.close(fd)


def test_long_lines_come_in_larger_blocks_and_short_ones_do_not(follower: Follower, log: Path) -> None:
    """Whoever draws meanwhile waits for the lines of a block, and for each block something is done once."""
    for length, most in ((100, CHUNK), (5_000, LARGE)):
        log.write_bytes(lines(*range(1_000, 1_000 + 2 * LARGE // length), pad=length))
        blocks = (found for found in follower.tail.poll_blocks([str(log)]) if isinstance(found, LineBlock))
        taken = [[*block.take().raws] for block in blocks]
        assert b"".join(raw for raws in taken for raw in raws) == log.read_bytes()
        sizes = [sum(map(len, raws)) for raws in taken]
        assert most - 2 * length < max(sizes) <= most


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3 * CHUNK), st.booleans()), max_size=8))
def test_lines_are_what_stands_between_newlines_however_long_they_are(
    tmp_path_factory: Any, sizes: list[tuple[int, bool]]
) -> None:
    """In as many blocks as it takes, each behind the one before; what has no end yet waits."""
    log = tmp_path_factory.mktemp("log") / "s.jsonl"
    data = b"\n".join(
        bytes([97 + number % 26]) * (size if is_long else size % 50) for number, (size, is_long) in enumerate(sizes)
    )
    log.write_bytes(data)
    found = [(found.origin.offset, found.data) for found in Tail().poll([str(log)]) if isinstance(found, Line)]
    begin, told = 0, []
    for part in data.split(b"\n")[:-1]:
        told.append((begin, part))
        begin += len(part) + 1
    assert found == told
