"""What the commands make of logs that writers and rotations have left in an odd shape."""

import errno
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.followed_folder import padded
from tests.recorded_feed import RecordedFeed, session_lines
from tests.watching import append, register, returned

from delegtop.base.clock import WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed import live_feed
from delegtop.sources import tail
from delegtop.sources.text_identity.text_trace import first_data

SESSION = "sess_20260501_aaa111"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    return Path("logs/session.jsonl")


@pytest.fixture
def recorded(log: Path) -> Iterator[RecordedFeed]:
    feed = RecordedFeed(log.parent)
    yield feed
    feed.close()


def now(text: str) -> str:
    """The same, told just now."""
    record = json.loads(text)
    return json.dumps(record | {"at": iso(WallClock().now())}) + "\n"


def states(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    main(["tree", "--json", *arguments])
    return [each["state"] for each in json.loads(capsys.readouterr().out)["delegations"]]


class TestALastLineWithoutItsNewline:
    def test_ends_a_wait(self, log: Path) -> None:
        log.write_text(now(register("aaa111")) + now(returned("aaa111")).rstrip("\n"))
        assert main(["wait", SESSION, "logs", "--timeout", "60"]) == Exit.OK

    def test_is_news_of_a_watch(self, log: Path) -> None:
        log.write_text(now(register("aaa111")) + now(returned("aaa111")).rstrip("\n"))
        assert main(["watch", "logs", "--exit-when", "done", "--timeout", "60"]) == Exit.OK

    def test_ends_a_wait_if_it_is_the_only_line(self, log: Path) -> None:
        log.write_text(returned("aaa111").rstrip("\n"))
        assert main(["wait", SESSION, "logs", "--timeout", "60", "--appear"]) == Exit.OK

    def test_is_recorded_once_though_its_newline_comes_later(self, log: Path, recorded: RecordedFeed) -> None:
        append(log, register("aaa111"))
        append(log, returned("aaa111").rstrip("\n"))
        recorded.until(2)
        append(log, "\n")
        append(log, register("bbb222"))
        assert recorded.until(3) == ["aaa111", "aaa111", "bbb222"]


class TestALogBehindAHole:
    @pytest.mark.parametrize("hole", [1, 64 * 1024, 1 << 20, 4 << 30])
    def test_is_read_however_large_the_hole(self, log: Path, hole: int, capsys: pytest.CaptureFixture[str]) -> None:
        with log.open("wb") as file:
            os.truncate(file.fileno(), hole)
            file.seek(hole)
            file.write((register("aaa111") + returned("aaa111")).encode())
        assert states(capsys, "logs") == ["completed"]

    def test_is_read_when_a_file_seen_empty_gets_one(self, log: Path, recorded: RecordedFeed) -> None:
        log.touch()
        recorded.look()
        with log.open("r+b") as file:
            file.seek(1 << 20)
            file.write(register("aaa111").encode())
        assert recorded.until(1) == ["aaa111"]


class TestALogThatBeginsWithWhatIsNone:
    @pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
    def test_is_read_though_there_is_much_of_it(
        self, log: Path, packed: bool, capsys: pytest.CaptureFixture[str]
    ) -> None:
        log.write_text("no record\n" * 9_000 + "{\n" * 50 + register("aaa111") + returned("aaa111"))
        if packed:
            pack(log)
        assert states(capsys, "logs") == ["completed"]

    def test_is_read_though_its_first_record_is_longer_than_what_is_looked_at(
        self, log: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = {"description": "x" * 200_000, **json.loads(register("aaa111"))}
        log.write_text(json.dumps(first) + "\n" + returned("aaa111"))
        assert states(capsys, "logs") == ["completed"]

    def test_is_read_once_it_has_a_record(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text("no record\n" * 9_000)
        for name in ("aaa111", "bbb222"):
            recorded.look()
            append(log, session_lines(name))
        assert recorded.look() == ["aaa111", "bbb222"]

    def test_what_was_searched_is_not_searched_again(
        self, log: Path, recorded: RecordedFeed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log.write_text("no record\n" * 40_000)
        recorded.look()
        looked: list[int] = []

        def search(fd: int, offset: int, size: int) -> int | None:
            looked.append(offset)
            return first_data(fd, offset, size)

        monkeypatch.setattr("delegtop.sources.first_record.first_data", search)
        append(log, "no record\n")
        recorded.look()
        assert looked[0] == 400_000

    def test_is_read_though_its_only_line_is_two_records(self, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
        log.write_text("\nno record\n" + register("aaa111").rstrip("\n") + returned("aaa111"))
        assert states(capsys, "logs") == ["completed"]


class TestALogThatIsCompressedWhileItIsFollowed:
    """Each record stands once in the recording, whatever it is called and however it is packed."""

    def test_after_it_was_rotated(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111", "bbb222", "ccc333"))
        recorded.look()
        old = log.rename("logs/session.jsonl.1")
        recorded.look()
        pack(old)
        log.write_text(session_lines("ddd444"))
        assert recorded.look(2) == ["aaa111", "bbb222", "ccc333", "ddd444"]

    def test_between_two_looks_with_what_was_written_last(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        recorded.look()
        append(log, session_lines("bbb222"))
        pack(log.rename("logs/session.jsonl.1"))
        assert recorded.look(2) == ["aaa111", "bbb222"]

    def test_and_its_original_was_not_open(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        recorded.look()
        recorded.feed._tail._handles.close_all()  # as when there are too many files
        append(log, session_lines("bbb222"))
        pack(log.rename("logs/session.jsonl.1"))
        assert recorded.look(2) == ["aaa111", "bbb222"]

    def test_and_stays_beside_it(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111", "bbb222"))
        recorded.look()
        pack(log, keep=True)
        assert recorded.look(2) == ["aaa111", "bbb222"]
        append(log, session_lines("ccc333"))
        assert recorded.look(2) == ["aaa111", "bbb222", "ccc333"]

    def test_and_is_looked_at_half_way(self, log: Path, recorded: RecordedFeed) -> None:
        names = [f"n{number:05}" for number in range(5_000)]
        log.write_text(session_lines(*names))
        recorded.look()
        packed = Path("logs/session.jsonl.gz")
        whole = gzip.compress(log.read_bytes())
        packed.write_bytes(whole[: len(whole) // 2])
        recorded.look()
        packed.write_bytes(whole)
        recorded.look()
        log.unlink()
        assert recorded.look(2) == names

    def test_and_moves_on_with_the_next_rotation(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        recorded.look()
        pack(log.rename("logs/session.jsonl.1"))
        recorded.look()
        Path("logs/session.jsonl.1.gz").rename("logs/session.jsonl.2.gz")
        log.write_text(session_lines("bbb222"))
        pack(log.rename("logs/session.jsonl.1"))
        assert recorded.look(3) == ["aaa111", "bbb222"]

    def test_and_was_compressed_before_the_first_look(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        pack(log)
        assert recorded.look() == ["aaa111"]
        Path("logs/session.jsonl.gz").rename("logs/session.jsonl.1.gz")
        assert recorded.look(2) == ["aaa111"]

    def test_and_is_unpacked_again(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        pack(log)
        recorded.look()
        log.write_bytes(gzip.decompress(Path("logs/session.jsonl.gz").read_bytes()))
        Path("logs/session.jsonl.gz").unlink()
        append(log, session_lines("bbb222"))
        assert recorded.look(2) == ["aaa111", "bbb222"]

    def test_two_that_begin_alike_are_both_read(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        recorded.look()
        Path("logs/other.jsonl.gz").write_bytes(gzip.compress(session_lines("aaa111", "bbb222").encode()))
        assert recorded.look(2).count("bbb222") == 1
        append(log, session_lines("ccc333"))
        assert recorded.look(2).count("ccc333") == 1

    def test_its_lines_can_still_be_read_again(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111", "bbb222"))
        recorded.look()
        pack(log.rename("logs/session.jsonl.1"))
        recorded.look(2)
        recorded.feed._tail._handles.close_all()
        assert recorded.feed.raw(recorded.lines[1].origin) == session_lines("bbb222").rstrip("\n").encode()


class TestATextThatIsKnownAgain:
    """All of it is compared before anything in it is passed over; where that cannot be, it is read."""

    def test_is_not_taken_for_another_that_begins_and_ends_alike(self, log: Path, recorded: RecordedFeed) -> None:
        preamble = padded("preamb", pad=280)
        log.write_text(preamble)
        recorded.look()
        append(log, padded("aaa111", pad=200) + session_lines("bbb222"))
        recorded.look()
        log.unlink()
        Path("logs/other.jsonl").write_text(preamble + padded("ccc333", pad=200))
        assert recorded.look(2)[-1] == "ccc333"

    def test_is_not_taken_for_another_that_differs_where_no_sample_was_taken(
        self, log: Path, recorded: RecordedFeed
    ) -> None:
        names = [f"n{number:05}" for number in range(200)]
        log.write_text(session_lines(*names))
        recorded.look()
        for place in range(20, 180, 20):
            other = session_lines(*names[:place], f"o{place:05}", *names[place + 1 :])
            Path(f"logs/other{place}.jsonl").write_text(other)
        assert {f"o{place:05}" for place in range(20, 180, 20)} <= {*recorded.look(2)}

    def test_is_not_told_again_by_a_copy_while_its_own_file_may_not_be_read(
        self, log: Path, recorded: RecordedFeed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log.write_text(session_lines("aaa111"))
        recorded.look()
        append(log, session_lines("bbb222"))
        Path("logs/session.jsonl.1").write_bytes(log.read_bytes())
        recorded.feed._tail._handles.close_all()
        opened = os.open

        def refuse(path: str, *how: int, **more: int) -> int:
            if str(path).endswith("session.jsonl"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return opened(path, *how, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", refuse)
            assert recorded.look() == ["aaa111", "bbb222"]
        append(log, session_lines("ccc333"))
        assert recorded.look(2) == ["aaa111", "bbb222", "ccc333"]

    def test_though_its_first_line_had_no_end_when_it_was_read(
        self, log: Path, recorded: RecordedFeed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_feed, "UNENDED_SECONDS", -1.0)
        log.write_text(session_lines("aaa111").rstrip("\n"))
        recorded.look()
        append(log, session_lines("bbb222"))
        assert recorded.look() == ["aaa111", "bbb222"]
        replace(log, log.read_text() + session_lines("ccc333"))
        assert recorded.look(2) == ["aaa111", "bbb222", "ccc333"]

    def test_among_many_that_begin_alike(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tail, "affordable", lambda: 8)
        recorded, preamble = RecordedFeed(log.parent), padded("preamb", pad=280)
        names = [f"n{number:05}" for number in range(60)]
        for name in names:
            Path(f"logs/{name}.jsonl").write_text(preamble + session_lines(name))
        recorded.look()
        Path("logs").rename("away")
        recorded.look()
        Path("away").rename("logs")
        recorded.look(2)
        recorded.close()
        assert recorded.counted == Counter([*names, *["preamb"] * 60])

    def test_in_a_compressed_file_that_was_unpacked_and_compressed_anew(self, recorded: RecordedFeed) -> None:
        old, packed = Path("logs/session.jsonl.1"), Path("logs/session.jsonl.1.gz")
        old.write_text(session_lines("aaa111"))
        pack(old)
        recorded.look()
        old.write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
        append(old, session_lines("bbb222"))
        recorded.look()
        pack(old)
        assert recorded.look(2) == ["aaa111", "bbb222"]

    def test_in_two_compressed_files_of_which_one_is_a_longer_copy(self, log: Path, recorded: RecordedFeed) -> None:
        names = [f"n{number:05}" for number in range(1_500)]
        log.write_text(session_lines(*names[:1_000]))
        pack(log.rename("logs/session.jsonl.2"))
        log.write_text(session_lines(*names))
        pack(log.rename("logs/session.jsonl.1"))
        assert recorded.look(2) == names

    def test_that_was_compressed_in_the_middle_of_a_line(self, log: Path, recorded: RecordedFeed) -> None:
        line = session_lines("bbb222")
        log.write_text(session_lines("aaa111") + line[:50])
        pack(log, keep=True)
        log.rename("logs/gone")
        recorded.look()
        log.write_text(session_lines("aaa111") + line + session_lines("ccc333"))
        assert recorded.look(2) == ["aaa111", "bbb222", "ccc333"]
        assert [each.reason for each in recorded.unreadable] == ["unterminated"]

    @pytest.mark.parametrize("packed", [False, True])
    def test_in_a_copy_of_its_first_line_from_before_that_went_on(
        self, log: Path, recorded: RecordedFeed, monkeypatch: pytest.MonkeyPatch, *, packed: bool
    ) -> None:
        log.write_text(session_lines("aaa111").rstrip("\n"))
        copy = Path("logs/session.jsonl.1")
        copy.write_bytes(log.read_bytes())
        if packed:
            pack(copy)
        append(log, session_lines("bbb222"))
        monkeypatch.setattr(live_feed, "UNENDED_SECONDS", -1.0)
        assert recorded.look(3) == ["aaa111", "bbb222"]

    @pytest.mark.parametrize("packed", [False, True])
    def test_but_not_in_a_copy_of_a_first_line_that_became_too_long_to_keep(
        self, log: Path, recorded: RecordedFeed, monkeypatch: pytest.MonkeyPatch, *, packed: bool
    ) -> None:
        first = session_lines("aaa111").rstrip("\n")
        log.write_text(first + "y" * tail.LINE_LIMIT + "\n" + session_lines("bbb222"))
        copy = Path("logs/session.jsonl.1")
        copy.write_text(first)
        if packed:
            pack(copy)
        monkeypatch.setattr(live_feed, "UNENDED_SECONDS", -1.0)
        assert sorted(recorded.look(3)) == ["aaa111", "bbb222"]

    @pytest.mark.parametrize(
        "before", [b"\0\0\n", b"\0" * 3_000_000, b"\n", b"\xff\xfe\xfa\n"], ids=["NULs", "hole", "", "BOM?"]
    )
    def test_whatever_it_begins_with(self, log: Path, recorded: RecordedFeed, before: bytes) -> None:
        text = before + session_lines("aaa111").encode()
        packed = log.with_name("session.jsonl.1.gz")
        packed.write_bytes(gzip.compress(text, 1))
        assert recorded.look() == ["aaa111"]
        packed.unlink()
        log.write_bytes(text)
        assert recorded.look(2) == ["aaa111"]


def pack(path: Path, *, keep: bool = False) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    if not keep:
        path.unlink()


class TestALogOfTwoNames:
    """One of which is replaced by a longer copy: only what was added is new."""

    def test_that_are_hard_links(self, log: Path, recorded: RecordedFeed) -> None:
        log.write_text(session_lines("aaa111"))
        Path("logs/second.jsonl").hardlink_to(log)
        recorded.look()
        replace(log, session_lines("aaa111", "bbb222"))
        assert recorded.look(2) == ["aaa111", "bbb222"]
        append(Path("logs/second.jsonl"), session_lines("ccc333"))
        assert recorded.look(2) == ["aaa111", "bbb222", "ccc333"]

    @pytest.mark.parametrize("replaced", ["session.jsonl", "second.jsonl"])
    def test_of_which_one_is_a_symbolic_link(self, log: Path, recorded: RecordedFeed, replaced: str) -> None:
        log.write_text(session_lines("aaa111"))
        Path("logs/second.jsonl").symlink_to("session.jsonl")
        recorded.look()
        replace(log.with_name(replaced), session_lines("aaa111", "bbb222"))
        assert recorded.look(2) == ["aaa111", "bbb222"]


def replace(path: Path, text: str) -> None:
    new = Path("new")
    new.write_text(text)
    new.replace(path)
