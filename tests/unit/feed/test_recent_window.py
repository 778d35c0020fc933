"""Of a machine's history only what is recent is read, a session as a whole, and what is left out is told."""

import json
import os
from pathlib import Path

import pytest
from tests.recorded_feed import RecordedFeed

from delegtop.base.clock import FrozenClock, Millis, parse_time
from delegtop.feed import recent_window as window_module
from delegtop.feed.kept_session import KeptFile
from delegtop.feed.live_feed import Feed
from delegtop.feed.recent_window import Looks, RecentWindow
from delegtop.sources.inode import look_of

NOW = parse_time("2026-05-01T12:00:00Z") or Millis(0)
HOUR = 3_600_000
OLD, RECENT = NOW - 5 * HOUR, NOW - HOUR // 2
ID = "0b9b1c2e-1111-4222-8333-444455556666"


def write(path: Path, at: int, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at / 1000, at / 1000))
    return str(path)


def test_only_what_was_written_since_then_is_admitted(tmp_path: Path) -> None:
    old, recent = write(tmp_path / "old.jsonl", OLD), write(tmp_path / "recent.jsonl", RECENT)
    window = RecentWindow(Millis(NOW - 2 * HOUR))
    assert window.admit([old, recent]) == [recent]
    assert window.left_out == {old: OLD}


def test_without_a_limit_everything_is_admitted(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, OLD) for name in ("a", "b")]
    assert RecentWindow(None).admit(paths) == paths


def test_what_the_system_said_of_each_file_is_handed_on(tmp_path: Path) -> None:
    there, gone = write(tmp_path / "a", OLD, "text"), str(tmp_path / "gone")
    looks = Looks()
    assert RecentWindow(None).admit([there, gone], looks) == [there]
    assert looks.get(there) == look_of((tmp_path / "a").stat())
    assert looks.get(gone) is None
    like_this, otherwise = KeptFile(there, look_of((tmp_path / "a").stat()), 0), KeptFile(there, (1, 2, 3, 4, 5), 0)
    assert looks.agree([like_this, like_this])
    assert not looks.agree([like_this, otherwise])
    assert not looks.agree([like_this, KeptFile(gone, like_this.look, 0)])


def test_a_file_that_is_written_again_is_admitted_then(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", OLD)
    window = RecentWindow(Millis(NOW - 2 * HOUR))
    assert window.admit([path]) == []
    write(tmp_path / "a.jsonl", RECENT)
    assert window.admit([path]) == [path]
    assert window.left_out == {}


def test_what_is_not_there_when_it_is_asked_is_asked_again_later(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    window = RecentWindow(Millis(NOW - 2 * HOUR))
    assert window.admit([str(path)]) == []
    write(path, RECENT)
    assert window.admit([str(path)]) == [str(path)]


def test_an_old_log_stays_unread_though_its_folder_was_away_for_a_moment(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    write(folder / "old.jsonl", OLD, register("aaa111"))
    recorded = RecordedFeed(folder, since=Millis(NOW - 2 * HOUR))
    assert recorded.look() == []
    folder.rename(tmp_path / "away")
    recorded.look()
    (tmp_path / "away").rename(folder)
    assert recorded.look(2) == []
    recorded.close()


def test_a_session_is_read_whole_if_one_of_its_files_is_recent(tmp_path: Path) -> None:
    parent = write(tmp_path / f"{ID}.jsonl", OLD)
    child = write(tmp_path / ID / "subagents" / "agent-a1.jsonl", RECENT)
    other = write(tmp_path / f"{ID[:-1]}7.jsonl", OLD)
    window = RecentWindow(Millis(NOW - 2 * HOUR))
    assert set(window.admit([parent, child, other])) == {parent, child}


def test_a_session_that_is_alive_is_read_however_old(tmp_path: Path) -> None:
    path = write(tmp_path / f"{ID}.jsonl", OLD)
    window = RecentWindow(Millis(NOW - 2 * HOUR))
    assert window.admit([path]) == []
    window.keep(ID)
    assert window.admit([path]) == [path]


def test_of_many_files_the_newest_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_module, "FEW", 2)
    paths = [write(tmp_path / f"{n}.jsonl", OLD + n * 1000) for n in range(4)]
    assert RecentWindow(None).admit(paths) == paths[::-1]


def register(id: str) -> str:
    return json.dumps({"event": "register", "at": "2026-05-01T11:00:00Z", "session_id": id, "subagent": "a"}) + "\n"


def test_the_feed_reads_what_is_recent_and_tells_what_it_left_out(tmp_path: Path) -> None:
    write(tmp_path / "old.jsonl", OLD, register("sess_20260501_abc123"))
    recent = write(tmp_path / "recent.jsonl", RECENT, register("sess_20260501_abc124"))
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW), since=Millis(NOW - 2 * HOUR))
    read = [event.origin.source for batch in feed.read_all() for event in batch.events]
    left_out = [status for status in feed.statuses() if status.status == "left out"]
    feed.close()
    assert set(read) == {recent}
    assert [(status.path, status.changed_at) for status in left_out] == [(str(tmp_path), OLD)]
    assert left_out[0].detail.startswith("1 file last heard of before")


def test_old_sessions_are_told_by_the_folder_they_lie_in_whatever_they_hold(tmp_path: Path) -> None:
    for session in (ID, ID.replace("1", "2")):
        write(tmp_path / f"{session}.jsonl", OLD)
        write(tmp_path / session / "subagents" / "agent-a1.jsonl", OLD)
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW), since=Millis(NOW - 2 * HOUR))
    assert [batch for batch in feed.read_all() if batch.events] == []
    (left_out,) = feed.statuses()
    feed.close()
    assert (left_out.path, left_out.status) == (str(tmp_path), "left out")
    assert left_out.detail.startswith("4 files last heard of before")


def test_the_feed_reads_thousands_of_files_to_the_last(tmp_path: Path) -> None:
    for n in range(450):
        write(tmp_path / f"{n}.jsonl", RECENT, register(f"sess_20260501_{n:06d}"))
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW))
    read = {event.origin.source for batch in feed.read_all() for event in batch.events}
    feed.close()
    assert len(read) == 450


def test_what_the_settings_exclude_is_left_out_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path / "archive" / "a.jsonl", RECENT, register("sess_20260501_abc123"))
    write(tmp_path / "b.jsonl", RECENT, register("sess_20260501_abc124"))
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW), exclude=["archive"])
    read = {Path(event.origin.source).name for batch in feed.read_all() for event in batch.events}
    skipped = {status.path: status.detail for status in feed.statuses() if status.status == "skipped"}
    feed.close()
    assert read == {"b.jsonl"}
    assert skipped == {str(tmp_path / "archive"): "excluded by the settings"}


def test_a_pattern_of_paths_fits_wherever_it_is_looked_at_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "logs" / "archive" / "a.jsonl", RECENT, register("sess_20260501_abc123"))
    write(tmp_path / "logs" / "b.jsonl", RECENT, register("sess_20260501_abc124"))
    monkeypatch.chdir(tmp_path / "logs")
    feed = Feed(["."], clock=FrozenClock(NOW), exclude=["*/logs/archive"])
    read = {Path(event.origin.source).name for batch in feed.read_all() for event in batch.events}
    feed.close()
    assert read == {"b.jsonl"}
