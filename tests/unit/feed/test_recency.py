"""Whether a session is recent goes by its own records: every clone and every copy has a new time of its own."""

import gzip
import json
import os
import shutil
import socket
import subprocess
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from tests.property.database_worlds import FORMATS, made

from delegtop.base.clock import DAY, HOUR, MINUTE, Millis, WallClock, iso
from delegtop.feed import recency as recency_module
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.formats import Formats
from delegtop.feed.live_feed import Feed
from delegtop.feed.recency import Recency
from delegtop.model.forest import Forest
from delegtop.sources.text_identity.text_ends import TextEnds, ends

NOW = WallClock().now()
SINCE = Millis(NOW - 2 * HOUR)
OLD = Millis(NOW - 200 * DAY)
SESSION = "0b9b1c2e-1111-4222-8333-444455556666"
SAMPLES = Path(__file__).parents[3] / "sample_logs"


def put(path: Path, *records: dict[str, Any], at: int = NOW) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(path, (at / 1_000, at / 1_000))
    return str(path)


def register(at: int, id: str = "sess_20260501_abc123") -> dict[str, Any]:
    return {"event": "register", "at": iso(Millis(at)), "session_id": id, "subagent": "planner"}


def said(at: int, **more: Any) -> dict[str, Any]:
    """A record of Claude Code."""
    message = {"role": "user", "content": "Mend it"}
    common = {"parentUuid": None, "uuid": f"u{at}", "sessionId": SESSION, "cwd": "/srv", "version": "2.1.0"}
    return {**common, "type": "user", "isSidechain": False, "timestamp": iso(Millis(at)), "message": message, **more}


def told(path: str) -> Millis | None:
    return Recency(Formats(None, UTC), UTC, SINCE).told(path)


def read(place: Path, **how: Any) -> tuple[Forest, dict[str, SourceStatus]]:
    """What a look at a machine shows, and what it leaves out."""
    feed, forest = Feed([str(place)], clock=WallClock(), **{"since": SINCE, **how}), Forest()
    for batch in feed.read_all():
        forest.apply(batch.events)
    statuses = {status.path: status for status in feed.statuses() if status.status == "left out"}
    feed.close()
    return forest, statuses


def wait_for_events(feed: Feed) -> None:
    """Until something is read; a feed looks for new files every few seconds."""
    while not any(batch.events for batch in feed.poll()):
        feed.wait(1.0)
    feed.close()


# -- the last moment of a file -----------------------------------------------------------------------------------------


def test_a_log_tells_the_time_of_its_last_record(tmp_path: Path) -> None:
    assert told(put(tmp_path / "run.jsonl", register(OLD - HOUR), register(OLD))) == OLD
    assert told(put(tmp_path / "now.jsonl", register(OLD), register(NOW - MINUTE))) == NOW - MINUTE


def test_of_a_long_log_only_the_end_is_read(tmp_path: Path) -> None:
    lines = [register(OLD + number, f"sess_20260501_{number:06d}") for number in range(5_000)]
    path = put(tmp_path / "run.jsonl", *lines)
    assert Path(path).stat().st_size > 400_000
    assert told(path) == OLD + 4_999


def test_a_transcript_that_waits_for_its_parent_tells_its_time_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / SESSION / "subagents" / "agent-a1.jsonl"
    assert told(put(path, said(OLD, isSidechain=True, agentId="a1"))) == OLD


def test_a_compressed_log_tells_its_time(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    lines = "".join(json.dumps(register(OLD + n, f"sess_20260501_{n:06d}")) + "\n" for n in range(3_000))
    path.write_bytes(gzip.compress(lines.encode()))
    assert told(str(path)) == OLD + 2_999


def test_a_document_tells_its_time(tmp_path: Path) -> None:
    entry = {"session_id": "sess_20260501_abc123", "subagent": "planner", "start_time": iso(OLD), "status": "running"}
    path = put(tmp_path / "registry.json", {"sess_20260501_abc123": entry})
    assert OLD <= (told(path) or 0) < NOW - DAY


@pytest.mark.parametrize(("ago", "is_recent"), [(0, True), (3 * DAY, False)])
def test_where_only_a_day_is_told_it_may_be_any_moment_of_it(tmp_path: Path, ago: int, is_recent: bool) -> None:
    sample = SAMPLES / "cleo" / "claudedocs" / "agent-outputs" / "MANIFEST.jsonl"
    path = tmp_path / "MANIFEST.jsonl"
    whole = "".join(sample.read_text().splitlines(keepends=True)[:2])
    path.write_text(whole.replace("2026-03-18", iso(Millis(NOW - ago))[:10]))
    os.utime(path, (NOW / 1_000, NOW / 1_000))
    assert ((told(str(path)) or SINCE) >= SINCE) == is_recent


@pytest.mark.parametrize("text", ["", "{}\n", "no log at all\n", "\0" * 100])
def test_what_tells_no_time_is_no_witness(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    assert told(str(path)) is None
    assert told(str(tmp_path / "nowhere")) is None


@pytest.mark.parametrize("path", sorted((SAMPLES / "cursor").rglob("*.jsonl")), ids=lambda path: path.stem[:8])
def test_a_format_without_times_is_no_witness(path: Path) -> None:
    assert told(str(path)) is None


def test_a_file_that_has_not_changed_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "run.jsonl", register(OLD))
    recency, asked = Recency(Formats(None, UTC), UTC, SINCE), list[str]()

    def counted(path: str) -> TextEnds:
        asked.append(path)
        return ends(path)

    monkeypatch.setattr(recency_module, "ends", counted)
    assert [recency.told(path), recency.told(path)] == [OLD, OLD]
    put(tmp_path / "run.jsonl", register(OLD), register(NOW))
    assert recency.told(path) == NOW
    assert len(asked) == 2


# -- what is read ------------------------------------------------------------------------------------------------------


def test_a_session_that_was_copied_just_now_is_left_out(tmp_path: Path) -> None:
    put(tmp_path / "copied.jsonl", register(OLD))
    put(tmp_path / "live.jsonl", register(NOW - MINUTE, "sess_20260501_abc124"))
    forest, left_out = read(tmp_path)
    assert [forest.delegation(handle).id for handle in forest.walk()] == ["sess_20260501_abc124"]
    assert left_out[str(tmp_path)].changed_at == OLD


def test_a_copied_session_is_left_out_with_the_files_of_it_that_tell_no_time(tmp_path: Path) -> None:
    put(tmp_path / f"{SESSION}.jsonl", said(OLD))
    put(tmp_path / SESSION / "subagents" / "agent-a1.meta.json", {"agentType": "explorer", "toolUseId": "toolu_1"})
    forest, left_out = read(tmp_path)
    assert not len(forest)
    assert left_out[str(tmp_path)].detail.startswith("2 files ")


def test_a_session_is_read_whole_if_one_of_its_records_is_recent(tmp_path: Path) -> None:
    put(tmp_path / f"{SESSION}.jsonl", said(OLD))
    put(tmp_path / SESSION / "subagents" / "agent-a1.jsonl", said(NOW - MINUTE, isSidechain=True, agentId="a1"))
    forest, left_out = read(tmp_path)
    assert len(forest)
    assert left_out == {}


def test_what_tells_no_time_and_was_not_copied_goes_by_its_file(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "cursor" / "projects", tmp_path / "projects")
    for path in (tmp_path / "projects").rglob("*.jsonl"):
        os.utime(path, (NOW / 1_000, NOW / 1_000))
    forest, _ = read(tmp_path)
    assert len(forest)


def test_a_copied_log_that_is_written_again_is_read_from_then_on(tmp_path: Path) -> None:
    path = put(tmp_path / "run.jsonl", register(OLD))
    feed = Feed([str(tmp_path)], clock=WallClock(), since=SINCE)
    assert [batch for batch in feed.read_all() if batch.events] == []
    with Path(path).open("a") as log:
        log.write(json.dumps(register(NOW)) + "\n")
    wait_for_events(feed)


def test_two_logs_that_parted_before_they_were_recent_show_each_delegation_once(tmp_path: Path) -> None:
    """Nobody has read them, so nobody knows that they were one; the recording has what both hold twice."""
    names = [f"sess_20260501_abc12{number}" for number in range(4)]
    log, other, new = tmp_path / "run.jsonl", tmp_path / "run.jsonl.1", tmp_path / "new"
    put(log, register(OLD, names[0]), at=OLD)
    other.hardlink_to(log)
    put(new, register(OLD, names[0]), register(OLD, names[1]), at=OLD)
    new.replace(log)
    feed, forest = Feed([str(tmp_path)], clock=WallClock(), since=SINCE), Forest()
    assert [batch for batch in feed.read_all() if batch.events] == []
    for path, name in ((other, names[2]), (log, names[3])):
        with path.open("a") as file:
            file.write(json.dumps(register(NOW, name)) + "\n")
    while len(forest) < len(names):
        for batch in feed.poll():
            forest.apply(batch.events)
        feed.wait(1.0)
    feed.close()
    assert sorted(forest.delegation(handle).id for handle in forest.walk()) == names


# -- what lies here and nobody named -----------------------------------------------------------------------------------


def test_samples_that_lie_here_are_offered_and_not_read(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "samples", copy_function=shutil.copyfile)
    places = [str(tmp_path / "samples" / name) for name in ("02_hang", "cursor", "otel")]
    forest, left_out = read(tmp_path / "samples", here=places)
    offered = left_out[str(tmp_path / "samples")]
    assert offered.told_at is not None
    assert not any("02_hang" in str(forest.delegation(handle).origins) for handle in forest.walk())
    assert not any("cursor" in path for path in left_out)


def test_a_place_here_is_read_if_something_in_it_is_alive(tmp_path: Path) -> None:
    put(tmp_path / "logs" / "old.jsonl", register(OLD))
    put(tmp_path / "logs" / "live.jsonl", register(NOW - MINUTE, "sess_20260501_abc124"))
    forest, left_out = read(tmp_path, here=[str(tmp_path / "logs")])
    assert [forest.delegation(handle).id for handle in forest.walk()] == ["sess_20260501_abc124"]
    assert [status.told_at for status in left_out.values()] == [None]


def test_a_place_here_whose_files_are_as_old_as_their_records_is_offered_too(tmp_path: Path) -> None:
    put(tmp_path / "logs" / "a.jsonl", register(OLD), at=OLD + MINUTE)
    _, left_out = read(tmp_path, here=[str(tmp_path / "logs")])
    assert left_out[str(tmp_path / "logs")].told_at == OLD


def test_what_tells_no_time_is_read_here_once_it_is_written_while_somebody_looks(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "cursor" / "projects", tmp_path / "projects")
    feed = Feed([str(tmp_path)], clock=WallClock(), since=SINCE, here=[str(tmp_path / "projects")])
    assert [batch for batch in feed.read_all() if batch.events] == []
    later = (WallClock().now() + MINUTE) / 1_000
    for path in (tmp_path / "projects").rglob("*.jsonl"):
        os.utime(path, (later, later))
    wait_for_events(feed)


def test_a_place_here_is_read_while_a_process_of_it_is_there_however_quiet_it_is(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        at = Millis(WallClock().now() - 1)  # else it may still be the same millisecond when it is read
        mine = {**register(at), "pid": child.pid, "host": socket.gethostname()}
        put(tmp_path / "logs" / "quiet.jsonl", mine, at=at)
        how: dict[str, Any] = {"here": [str(tmp_path / "logs")], "since": at + 1}
        forest, _ = read(tmp_path, **how)
        child.kill()
    assert len(forest) == 1
    forest, left_out = read(tmp_path, **how)
    assert not len(forest)
    assert left_out[str(tmp_path / "logs")].told_at == at


def test_a_cloned_project_is_left_out_with_those_of_its_files_that_tell_no_time(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "proofchecker" / "specs", tmp_path / "specs", copy_function=shutil.copyfile)
    forest, left_out = read(tmp_path / "specs")
    assert not len(forest)
    assert left_out


def test_a_database_is_as_old_as_its_rows_and_not_as_its_file(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    with closing(made(path, FORMATS["crush"])) as database:
        FORMATS["crush"].session(database, "s", None, OLD)
        assert told(str(path)) == OLD // 1_000 * 1_000
        assert read(tmp_path)[1][str(tmp_path)].detail.startswith("1 file last heard of before")
        recency = Recency(Formats(None, UTC), UTC, SINCE)
        assert recency.told(str(path)) != NOW // 1_000 * 1_000
        FORMATS["crush"].session(database, "s", None, NOW)
        assert recency.told(str(path)) == NOW // 1_000 * 1_000
        assert [forest.id(0) for forest in [read(tmp_path)[0]]] == ["s"]


def test_a_database_that_was_only_come_across_is_read_if_one_of_its_rows_is_recent(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    with closing(made(path, FORMATS["crush"])) as database:
        FORMATS["crush"].session(database, "s", None, OLD)
        assert len(read(tmp_path, here=[str(tmp_path)])[0]) == 0
        FORMATS["crush"].session(database, "t", None, NOW)
        assert len(read(tmp_path, here=[str(tmp_path)])[0]) == 1
