"""Of very many logs those that are quiet are followed from afar, and those that are gone are only counted."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.telling import handle_of
from tests.watching import NOW, line, register, returned

from delegtop.base.clock import FrozenClock
from delegtop.feed import live_feed, resting_logs, rounds
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.sources import inode
from delegtop.sources.wakeups import Waker

LONG_AGO = 1_000_000_000


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three logs are many, and every look puts things in order."""
    monkeypatch.setattr(resting_logs, "FOLLOWED", 3)
    monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.0)
    monkeypatch.setattr(live_feed, "TIDY_SECONDS", -1.0)
    monkeypatch.setattr(inode, "_SETTLED", 0)
    monkeypatch.setattr(Waker, "watch", lambda *_: None)  # every look is called for here


def session(folder: Path, number: int, *, more: str = "") -> Path:
    """A log of one delegation that is over, written long ago."""
    id = f"{number:06d}"
    path = folder / f"{id}.jsonl"
    path.write_text(register(id) + returned(id) + more)
    os.utime(path, (LONG_AGO + number, LONG_AGO + number))
    return path


def look(feed: Feed) -> list[Event]:
    return [event for _ in range(4) for batch in feed.poll() for event in batch.events]


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[Feed]:
    made = Feed([str(tmp_path)], clock=FrozenClock(NOW))
    made._tail._linger = 0
    made._rounds.is_followed = True
    yield made
    made.close()


def status(feed: Feed, path: Path | str) -> SourceStatus:
    [found] = [each for each in feed.statuses() if each.path == str(path)]
    return found


def test_the_newest_are_followed_and_the_others_told_by_their_folder(feed: Feed, tmp_path: Path) -> None:
    for number in range(8):
        session(tmp_path, number)
    assert len(look(feed)) == 16
    assert {Path(path).stem for path in feed._readings} == {"000005", "000006", "000007"}
    resting = status(feed, tmp_path)
    assert (resting.detail, resting.status, resting.records, resting.unreadable) == ("5 logs at rest", "live", 10, 0)
    assert sum(each.size for each in feed.statuses()) == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert feed.progress()[0] == feed.progress()[1]
    assert look(feed) == []


def test_one_that_grows_is_read_again_and_told(feed: Feed, tmp_path: Path) -> None:
    logs = [session(tmp_path, number) for number in range(8)]
    look(feed)
    with logs[0].open("a") as file:
        file.write(line("heartbeat", "000000", "10:02:10", activity="once more"))
    told = look(feed)
    assert [type(event).__name__ for event in told] == ["Started", "Ended", "Heard"]
    assert str(logs[0]) in feed._readings
    assert status(feed, tmp_path).records == 10 - 2 + 2, "another one rests for it"


def test_what_it_says_can_be_read_as_before(feed: Feed, tmp_path: Path) -> None:
    for number in range(8):
        session(tmp_path, number)
    forest = Forest()
    forest.apply(look(feed))
    facts = forest.delegation(handle_of(forest, "sess_20260501_000000"))
    assert facts.started_origin is not None
    assert facts.started_origin.source not in feed._readings
    assert feed.is_first_hand(facts.started_origin)
    assert b'"register"' in (feed.raw(facts.started_origin) or b"")
    assert [type(event).__name__ for _, events in feed.history(facts) for event in events] == ["Started", "Ended"]


def test_a_copy_of_one_tells_nothing_new(feed: Feed, tmp_path: Path) -> None:
    logs = [session(tmp_path, number) for number in range(8)]
    forest = Forest()
    forest.apply(look(feed))
    shutil.copy2(logs[0], tmp_path / "copy.jsonl")
    assert {event.origin.source for event in look(feed)} <= {str(logs[0])}


def test_logs_that_are_broken_large_or_just_written_stay(feed: Feed, tmp_path: Path) -> None:
    broken = session(tmp_path, 1, more="no record\n")
    large = session(tmp_path, 2, more=line("heartbeat", "000002", activity="x" * resting_logs.LARGEST))
    fresh = session(tmp_path, 3)
    fresh.touch()
    for number in range(4, 12):
        session(tmp_path, number)
    look(feed)
    assert {str(broken), str(large), str(fresh)} <= feed._readings.keys()
    assert status(feed, broken).unreadable == 1


def test_those_that_are_gone_are_counted_by_their_folder(feed: Feed, tmp_path: Path) -> None:
    logs = [session(tmp_path, number, more="no record\n" if number == 7 else "") for number in range(8)]
    for log in logs:
        log.touch()  # none of them rests
    look(feed)
    assert len(feed._readings) == 8
    for log in logs:
        log.unlink()
    assert look(feed) == []
    gone = status(feed, tmp_path)
    assert gone.status == "gone"
    assert gone.detail.startswith("5 logs were read and are gone")
    assert gone.records == 10
    assert status(feed, logs[7]).unreadable == 1, "what was wrong in it can still be looked at"
    assert len(feed._tail._left) == 3


def test_nothing_rests_where_everything_told_is_kept(tmp_path: Path) -> None:
    for number in range(8):
        session(tmp_path, number)
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW), witness=lambda _line, _told: None)
    feed._rounds.is_followed = True
    look(feed)
    assert len(feed._readings) == 8
    feed.close()


def test_who_looks_once_is_told_of_every_file(tmp_path: Path) -> None:
    for number in range(8):
        session(tmp_path, number)
    feed = Feed([str(tmp_path)], clock=FrozenClock(NOW))
    assert sum(len(batch.events) for batch in feed.read_all()) == 16
    assert len(feed.statuses()) == 8
    feed.close()
