"""With a long history, what runs now is found before the history is looked through."""

import json
import os
import time
from pathlib import Path

import pytest
from tests.watching import entry

from delegtop.base.clock import FrozenClock, Millis, WallClock, iso
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Started, Surveyed
from delegtop.sources.discover import Roots, Scan

HOUR = 3_600
LINE = '{"event": "register", "at": "%s", "session_id": "%s", "subagent": "planner"}\n'


def written(path: Path, age: int) -> Path:
    """A log of one session by the name of the file; it and its folder are so many seconds old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    at = time.time() - age
    path.write_text(LINE % (iso(Millis(int(at * 1_000))), path.stem))
    for place in (path, path.parent):
        os.utime(place, (at, at))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for number in range(5):
        written(tmp_path / f"project{number}" / "old.jsonl", (number + 2) * 24 * HOUR)
    written(tmp_path / "project3" / "deep" / "agent.jsonl", 60)
    written(tmp_path / "project3" / "now.jsonl", 30)
    return tmp_path


def test_the_newest_files_are_on_the_way_to_the_last_change(home: Path) -> None:
    names = [Path(path).relative_to(home).as_posix() for path in Roots([str(home)]).newest()]
    assert names == ["project3/now.jsonl", "project3/old.jsonl", "project3/deep/agent.jsonl"]


def test_a_place_that_is_no_folder_has_nothing_newest(home: Path) -> None:
    assert Roots([str(home / "project3" / "now.jsonl"), str(home / "nowhere"), str(home / "*")]).newest() == ()


def test_what_runs_now_is_told_before_the_rest_is_looked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(home / "project1" / "late.jsonl", 50)
    os.utime(home / "project1", (1, 1))  # written, though nothing came or went there
    looked: list[Roots] = []
    scan = Roots.scan

    def counted(roots: Roots) -> Scan:
        looked.append(roots)
        return scan(roots)

    monkeypatch.setattr(Roots, "scan", counted)
    feed = Feed([str(home)], clock=WallClock(), since=Millis(int((time.time() - HOUR) * 1_000)))
    told = feed.poll()
    first = {event.id for event in next(told).events if isinstance(event, Started)}
    assert (first, looked) == ({"now", "agent"}, [])
    rest = {event.id for batch in told for event in batch.events if isinstance(event, Started)}
    assert (rest, len(looked)) == ({"late"}, 1)
    assert list(feed.poll()) == []
    feed.close()


def test_whoever_leaves_after_the_glance_finds_the_rest_all_the_same(home: Path) -> None:
    written(home / "project1" / "late.jsonl", 50)
    os.utime(home / "project1", (1, 1))
    feed = Feed([str(home)], clock=WallClock(), since=Millis(int((time.time() - HOUR) * 1_000)))
    told = feed.poll()
    first = next(told).events
    told.close()  # type: ignore[attr-defined] # it is a generator
    assert not feed.is_behind
    rest = [event for batch in feed.poll() for event in batch.events]
    assert sorted(event.id for event in (*first, *rest) if isinstance(event, Started)) == ["agent", "late", "now"]
    feed.close()


def test_at_a_frozen_moment_nothing_is_concluded_from_a_glance(home: Path) -> None:
    """A registry without times lists one that starts later, as an older folder tells."""
    later = written(home / "project1" / "sess_20260501_aaa111.jsonl", 50).stem
    os.utime(home / "project1", (1, 1))
    untimed = {key: value for key, value in entry().items() if key not in ("start_time", "deadline")}
    (home / "project3" / "registry.json").write_text(json.dumps({later: untimed}))
    feed = Feed([str(home)], clock=FrozenClock(Millis(1)), since=Millis(0))
    surveys = [event for batch in feed.read_all() for event in batch.events if isinstance(event, Surveyed)]
    assert [survey.ids for survey in surveys] == [()]
    feed.close()
