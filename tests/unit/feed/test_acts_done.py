"""What delegtop did is told of the delegations it was done to, by whichever delegtop reads their log."""

import os
from pathlib import Path

import pytest

from delegtop import act_log
from delegtop.base.clock import FrozenClock, Millis, WallClock
from delegtop.feed.acts_done import ActsDone
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Noted, Started
from delegtop.model.notes import ACTED

AT = Millis(1_790_000_000_000)
RECORD = '{"event": "register", "at": "2026-09-21T14:13:00Z", "session_id": "sess_1", "subagent": "planner"}\n'


def act(log: Path | str, words: str = "TERM sent", id: str = "sess_1") -> None:
    act_log.add(act_log.ActLine(AT, act_log.ACT, "a1", id, words, os.path.abspath(log)))  # noqa: PTH100 -- as it is written


def test_an_act_stands_in_the_history_of_its_delegation_and_can_be_read_again(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_text(RECORD)
    act(log)
    told: list[object] = []
    feed = Feed([str(log)], clock=WallClock(), witness=lambda _line, events: told.extend(events))
    events = [event for batch in feed.poll() for event in batch.events]
    noted = next(event for event in events if isinstance(event, Noted) and event.kind == ACTED)
    assert (noted.id, noted.text, noted.at) == ("sess_1", "TERM sent", AT)
    assert noted in told, "whoever records is told, too"
    assert b'"TERM sent"' in (feed.raw(noted.origin) or b"")
    act(log, "it is gone")
    events = [event for batch in feed.poll() for event in batch.events]
    assert [event.text for event in events if isinstance(event, Noted)] == ["it is gone"], "once, and no more"
    feed.close()


def test_acts_on_what_is_not_read_here_make_no_rows(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_text(RECORD)
    act(tmp_path / "other.jsonl", id="sess_2")
    feed = Feed([str(log)], clock=WallClock())
    events = [event for batch in feed.poll() for event in batch.events]
    assert {event.id for event in events if isinstance(event, Started | Noted)} == {"sess_1"}
    feed.close()


def test_a_moment_of_the_past_is_told_nothing_by_the_present(tmp_path: Path) -> None:
    act(tmp_path / "run.jsonl")
    assert list(ActsDone(FrozenClock(AT)).seen([str(tmp_path / "run.jsonl")])) == []


@pytest.mark.parametrize(
    "line", [b"{", b"[]\n", b"null\n", b'{"at": 1}\n', b'{"at": "x", "event": 1}\n', b"\xff\xfe\n"]
)
def test_what_is_no_line_of_ours_is_passed_over(tmp_path: Path, line: bytes) -> None:
    act_log.place().parent.mkdir(parents=True)
    act_log.place().write_bytes(line)
    acts = ActsDone(WallClock())
    assert list(acts.seen(["run.jsonl"])) == []
    if line.endswith(b"\n"):
        act(tmp_path / "run.jsonl")
        assert len(list(acts.seen([str(tmp_path / "run.jsonl")]))) == 1


def said(log: Path, acts: ActsDone | None = None) -> list[str]:
    events = (acts or ActsDone(WallClock())).seen([str(log)])
    return [event.text for event in events if isinstance(event, Noted)]


def test_an_act_after_one_that_the_disk_took_only_in_part_is_still_a_line_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "run.jsonl"
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda fd, data: write(fd, data[:40]))
        with pytest.raises(OSError, match="only a part"):
            act(log, "never done")
    act(log, "INT sent")
    act(log, "it is gone")
    assert said(log) == ["INT sent", "it is gone"]


def test_a_forged_line_hides_none_that_come_after_it(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    act(log, "before")
    for forged in (b'{"at": "2026-09-21T14:13:00Z"}\r{"at"\n', b"[" * 100_000 + b"\n", b"9" * 5_000 + b"\n", b"\0\n"):
        with act_log.place().open("ab") as file:
            file.write(forged)
    act(log, "after")
    acts = ActsDone(WallClock())
    assert said(log, acts) == ["before", "after"]
    act(log, "later")
    assert said(log, acts) == ["later"]


def test_an_act_log_that_is_a_pipe_or_another_user_s_is_not_read(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    act(log, "forged")
    if os.getuid() == 0:
        os.chown(act_log.place(), 12345, -1)
        assert said(log) == []
    act_log.place().unlink()
    os.mkfifo(act_log.place())
    assert said(log) == []
