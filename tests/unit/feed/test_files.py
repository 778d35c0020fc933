"""Which files are read, in which format, and what is told of those that are not."""

import errno
import gzip
import os
from pathlib import Path

import pytest
from tests.patience import until
from tests.watching import NOW, Opener, append, line, register, registry, returned

from delegtop.base.clock import FrozenClock, WallClock
from delegtop.dialects import UnknownDialect
from delegtop.feed import live_feed
from delegtop.feed.live_feed import Feed
from delegtop.feed.rounds import SETTLING_SECONDS
from delegtop.model.events import Heard
from delegtop.model.states import State
from delegtop.sources import history
from delegtop.sources import tail as tail_module
from delegtop.sources.wakeups import Waker


class TestWhichFiles:
    def test_new_files_and_new_folders_are_read_while_it_runs(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        it.look()
        assert it.ids() == ["aaa111"]
        (log.parent / "second.jsonl").write_text(register("bbb222"))
        it.look()
        assert it.ids() == ["aaa111", "bbb222"]
        deep = log.parent / "new" / "deeper"
        deep.mkdir(parents=True)
        (deep / "third.jsonl").write_text(register("ccc333"))
        it.look()
        assert it.ids() == ["aaa111", "bbb222", "ccc333"]
        append(deep / "third.jsonl", returned("ccc333"))
        it.look()
        assert it.state("ccc333") is State.COMPLETED

    def test_a_glob_finds_files_that_come_later(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent / "run-*.jsonl")
        assert it.look() == []
        (log.parent / "run-1.jsonl").write_text(register("bbb222"))
        it.look()
        assert it.ids() == ["bbb222"]

    def test_a_file_named_before_it_is_there_is_missing_and_then_read(self, watch: Opener, tmp_path: Path) -> None:
        later = tmp_path / "later.jsonl"
        it = watch(later)
        it.look()
        assert it.status(later).status == "missing"
        later.write_text(register("aaa111"))
        it.look()
        assert it.ids() == ["aaa111"]
        assert it.status(later).status == "live"

    def test_a_pipe_is_skipped_with_the_reason_and_never_opened(self, watch: Opener, log: Path) -> None:
        pipe = log.parent / "pipe.jsonl"
        os.mkfifo(pipe)
        it = watch(log.parent)
        it.look(3)
        assert it.ids() == ["aaa111"]
        assert it.status(pipe).status == "skipped"
        assert it.status(pipe).detail == "a pipe"
        with pytest.raises(OSError, match=os.strerror(errno.ENXIO)):  # a writer finds nobody at the other end
            os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)

    def test_a_compressed_log_is_read_like_any_other(self, watch: Opener, log: Path) -> None:
        packed = log.parent / "older.jsonl.gz"
        packed.write_bytes(gzip.compress(log.read_bytes()))
        plain, it = watch(log), watch(packed)
        plain.look()
        it.look()
        assert len(it.forest) == len(plain.forest) > 0
        assert it.status(packed).records == plain.status(log).records
        assert it.feed.raw(it.forest.delegation(0).origins[0]) == log.read_bytes().splitlines()[0]

    def test_a_damaged_archive_is_reported(self, watch: Opener, log: Path) -> None:
        packed = log.parent / "session.jsonl.1.gz"
        packed.write_bytes(b"\x1f\x8b\x08\x00")
        it = watch(log.parent)
        it.look()
        assert it.status(packed).status == "unreadable"
        assert "archive" in it.status(packed).detail

    def test_a_file_that_may_not_be_read_is_unreadable_and_read_once_it_may(
        self, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        allowed = history.head

        def denied(path: str, size: int) -> tuple[bytes, bool]:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path, size)

        monkeypatch.setattr(history, "head", denied)
        it = watch(log)
        it.look(2)
        assert (it.status(log).status, it.status(log).detail) == ("unreadable", "permission denied")
        monkeypatch.setattr(history, "head", allowed)
        it.look()
        assert it.ids() == ["aaa111"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission_is_unreadable_and_read_once_it_has_it(self, watch: Opener, log: Path) -> None:
        log.chmod(0)
        it = watch(log)
        it.look()
        assert it.status(log).status == "unreadable"
        log.chmod(0o600)
        it.look()
        assert it.ids() == ["aaa111"]

    def test_a_log_that_is_deleted_is_gone_and_its_delegations_stay(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.look()
        log.unlink()
        it.look()
        assert it.status(log).status == "gone"
        assert it.ids() == ["aaa111"]

    @pytest.mark.parametrize("text", ["", "dear diary\n"], ids=["empty", "unrecognised"])
    def test_a_file_that_was_never_read_leaves_the_list_when_it_is_deleted(
        self, text: str, watch: Opener, log: Path
    ) -> None:
        passing = log.parent / "passing.jsonl"
        passing.write_text(text)
        it = watch(log.parent)
        it.look()
        assert len(it.feed.statuses()) == 2
        passing.unlink()
        it.look()
        assert [status.path for status in it.feed.statuses()] == [str(log)]

    def test_a_named_file_that_was_never_read_is_gone_when_it_is_deleted(self, watch: Opener, log: Path) -> None:
        log.write_text("")
        it = watch(log)
        it.look()
        log.unlink()
        it.look()
        assert it.status(log).status == "gone"


class TestWhichFormat:
    def test_shape_decides_and_not_the_name(self, watch: Opener, tmp_path: Path) -> None:
        (tmp_path / "misleading.json").write_text(register("aaa111"))
        (tmp_path / "misleading.log").write_text(registry("bbb222"))
        it = watch(tmp_path)
        it.look()
        assert it.status("misleading.json").dialect == "session-log"
        assert it.status("misleading.log").dialect == "registry"

    def test_an_empty_file_is_read_once_it_has_lines(self, watch: Opener, log: Path) -> None:
        log.write_text("")
        it = watch(log)
        it.look()
        assert (it.status(log).status, it.status(log).dialect) == ("empty", None)
        append(log, register("aaa111"))
        it.look()
        assert it.ids() == ["aaa111"]
        assert (it.status(log).status, it.status(log).dialect) == ("live", "session-log")

    @pytest.mark.parametrize("cut", [1, 20, 60])
    def test_a_file_whose_first_line_is_only_begun_is_read_when_it_is_finished(
        self, cut: int, watch: Opener, log: Path
    ) -> None:
        whole = register("aaa111")
        log.write_text(whole[:cut])
        it = watch(log)
        it.look(2)
        append(log, whole[cut:])
        it.look()
        assert it.ids() == ["aaa111"]
        assert it.status(log).unreadable == 0

    def test_a_file_of_no_known_format_is_named_and_read_once_it_has_become_one(
        self, watch: Opener, log: Path, tmp_path: Path
    ) -> None:
        diary = log.parent / "diary.log"
        diary.write_text("dear diary\n")
        it = watch(log.parent)
        it.look(2)
        assert (it.status(diary).status, it.status(diary).dialect) == ("unrecognised", None)
        assert it.status(diary).detail
        assert it.ids() == ["aaa111"]
        (tmp_path / "new").write_text(register("bbb222"))
        (tmp_path / "new").replace(diary)
        it.look()
        assert it.ids() == ["aaa111", "bbb222"]

    def test_a_forced_format_reads_what_its_shape_would_not_tell(self, watch: Opener, log: Path) -> None:
        log.write_text("a line for people\n" * 3 + register("aaa111"))
        it = watch(log, format="session-log")
        it.look()
        status = it.status(log)
        assert (status.dialect, status.unreadable, status.reasons) == ("session-log", 3, {"not JSON": 3})
        assert it.ids() == ["aaa111"]

    def test_a_forced_format_that_is_wrong_is_told_and_stops_nothing(self, watch: Opener, log: Path) -> None:
        append(log, register("ccc333"))
        (log.parent / "registry.json").write_text(registry("bbb222"))
        it = watch(log.parent, format="registry")
        it.look(2)
        assert it.ids() == ["bbb222"]
        wrong = it.status(log)
        assert (wrong.dialect, wrong.records, wrong.unreadable, wrong.status) == ("registry", 0, 1, "unreadable")

    def test_a_format_that_does_not_exist_is_refused_by_name(self, log: Path) -> None:
        with pytest.raises(UnknownDialect, match="no format named 'nonsense'"):
            Feed([str(log)], clock=FrozenClock(NOW), format="nonsense")


def test_it_does_not_wait_longer_than_until_the_next_look_for_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(Waker, "wait", lambda _self, timeout: waited.append(timeout))
    feed = Feed([], clock=WallClock(), awaited=[str(tmp_path / "later")])
    assert not [batch for batch in feed.poll() if batch.events]
    feed.wait(60.0)
    feed.close()
    assert waited[0] <= SETTLING_SECONDS, "its folders are only just being watched"


@pytest.mark.parametrize("watched", [True, False])
def test_of_more_files_than_can_be_open_each_is_read_when_it_grows_not_when_all_are_looked_at(
    watched: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "affordable", lambda: 8)
    monkeypatch.setattr(live_feed, "FEW", 4)
    logs = [tmp_path / f"{number}.jsonl" for number in range(40)]
    for number, log in enumerate(logs):
        log.write_text(register(f"aaa{number:03d}"))
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW))
    if not watched:
        monkeypatch.setattr(feed._waker, "watch", lambda _folders: None)
    heard: set[str] = set()

    def look() -> bool:
        feed.wait(0.05)
        heard.update(event.id for batch in feed.poll() for event in batch.events if isinstance(event, Heard))
        return len(heard) == len(logs)

    try:
        look()
        until(lambda: look() or feed._waker.mode == ("watching" if watched else "polling"))
        feed._rounds._again_after = float("inf")
        for number, log in enumerate(logs):
            append(log, line("heartbeat", f"aaa{number:03d}"))
        until(look)
    finally:
        feed.close()
