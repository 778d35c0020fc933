"""One way to open sources: read once, followed, replayed; and what a script gets from it."""

import gc
import os
from pathlib import Path
from typing import Any

import pytest
from tests.samples import observed
from tests.watching import append, line, register, returned

import delegtop
from delegtop.base.clock import FrozenClock, Millis, WallClock, parse_time
from delegtop.model.states import State
from delegtop.observation.observation import opened, replayed
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings


def at(time: str) -> Millis:
    found = parse_time(f"2026-05-01T{time}Z")
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine is found."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text(register("aaaaaa", timeout=60) + line("heartbeat", "aaaaaa", "10:00:30", activity="lake build"))
    return path


def states(seen: delegtop.Observation) -> dict[str, State]:
    return {seen.forest.id(handle)[-6:]: seen.forest.state(handle) for handle in seen.forest.walk()}


class TestOpen:
    def test_a_moment_is_seen_as_it_was(self, log: Path) -> None:
        append(log, returned("aaaaaa"))
        with delegtop.open(log, at="2026-05-01T10:01:30Z") as seen:
            assert states(seen) == {"aaaaaa": State.OVERDUE}
        with delegtop.open(str(log), at=at("10:03:00")) as seen:
            assert states(seen) == {"aaaaaa": State.COMPLETED}

    def test_now_is_read_to_the_end_with_a_last_line_that_lacks_its_newline(self, log: Path) -> None:
        append(log, returned("aaaaaa").rstrip("\n"))
        with delegtop.open(log, at="now") as seen:
            assert states(seen) == {"aaaaaa": State.COMPLETED}
        with delegtop.open(log) as seen:
            assert State.COMPLETED not in states(seen).values(), "a line that is being written is not told yet"

    def test_without_a_source_what_this_folder_holds_is_found(self, tmp_path: Path) -> None:
        (tmp_path / "session.jsonl").write_text(register("aaaaaa"))
        with delegtop.open(since="all") as seen:
            assert seen.sources == ["session.jsonl"]
            assert not seen.places.named

    @pytest.mark.parametrize(
        ("how", "words"),
        [
            ({"at": "soon"}, "at soon: that is no time"),
            ({"since": "soon"}, "since soon: that is no time"),
        ],
    )
    def test_what_cannot_be_meant_is_an_error_by_its_name(self, how: dict[str, Any], words: str) -> None:
        with pytest.raises(delegtop.OpenError, match=words):
            delegtop.open("x.jsonl", **how)

    def test_the_settings_of_the_project_count_unless_others_are_given(self, log: Path) -> None:
        Path("delegtop.toml").write_text('silent_after = "7m"\n')
        with delegtop.open(log) as seen:
            assert seen.policy.silent_after == 7 * 60_000
        with delegtop.open(log, settings=Settings()) as seen:
            assert seen.policy.silent_after == Settings().silent_after

    def test_what_cannot_be_read_is_named(self) -> None:
        with delegtop.open("missing.jsonl", at="now") as seen:
            assert [source.path for source in seen.unread()] == ["missing.jsonl"]

    def test_a_look_that_fails_leaves_nothing_open(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        closed: list[bool] = []
        monkeypatch.setattr("delegtop.feed.live_feed.Feed.close", lambda _: closed.append(True))
        monkeypatch.setattr("delegtop.model.forest.Forest.apply", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            delegtop.open(log)
        assert closed == [True]

    def test_the_program_it_runs_in_keeps_its_garbage_collector(self, log: Path) -> None:
        for before in (gc.enable, gc.disable):
            before()
            was = gc.isenabled()
            try:
                delegtop.open(log, at="now").close()
                assert gc.isenabled() == was
            finally:
                gc.enable()

    def test_what_was_read_stays_after_closing(self, log: Path) -> None:
        seen = delegtop.open(log, at="now")
        before = seen.statuses
        seen.close()
        seen.close()
        assert (seen.statuses, len(seen.forest)) == (before, 1)


class TestFollowing:
    def test_a_look_tells_what_changed_and_an_idle_one_nothing(self, log: Path) -> None:
        with observed(log, clock=FrozenClock(at("10:00:40"))) as seen:
            seen.catch_up()
            assert not seen.look()
            append(log, returned("aaaaaa", "failed").replace("10:02:00", "10:00:35"))
            changes = seen.look()
            assert (changes.touched, changes.lives, changes.assessed) == ({0}, {0}, {0})

    def test_time_alone_is_a_change(self, log: Path) -> None:
        clock = FrozenClock(at("10:00:40"))
        with observed(log, clock=clock) as seen:
            seen.catch_up()
            clock.set(at("10:01:30"))
            assert seen.look().assessed == {0}
            assert states(seen) == {"aaaaaa": State.OVERDUE}

    def test_following_ends_where_nothing_more_can_come(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, writing = os.pipe()
        os.write(writing, (register("aaaaaa") + returned("aaaaaa").rstrip("\n")).encode())
        os.close(writing)
        with os.fdopen(reading) as stdin, monkeypatch.context() as patched:
            patched.setattr("sys.stdin", stdin)
            with delegtop.open("-") as seen:
                for changes in seen.follow():
                    assert changes.touched == {0}
                assert states(seen) == {"aaaaaa": State.COMPLETED}


class TestReplay:
    def test_every_moment_is_as_it_was_then_whichever_way_one_goes(self, log: Path) -> None:
        append(log, returned("aaaaaa"))
        with delegtop.replay(log) as seen:
            assert seen.now == at("10:00:00")
            found = []
            for time in ("10:01:30", "10:02:00", "10:00:10"):
                seen.seek(f"2026-05-01T{time}Z")
                found.append((seen.now == at(time), *states(seen).values(), len(seen.problems())))
        assert found == [(True, State.OVERDUE, 1), (True, State.COMPLETED, 0), (True, State.RUNNING, 0)]

    def test_it_ends_when_all_is_played(self, log: Path) -> None:
        append(log, returned("aaaaaa"))
        with delegtop.replay(log, speed=1000) as seen:
            assert list(seen.follow())
            assert states(seen) == {"aaaaaa": State.COMPLETED}
            assert seen.is_over

    def test_only_what_is_replayed_has_other_moments(self, log: Path) -> None:
        with delegtop.open(log) as seen, pytest.raises(delegtop.OpenError, match="only what is replayed"):
            seen.seek("2026-05-01T10:00:00Z")

    def test_a_live_one_can_go_back_if_that_is_wanted_and_a_pipe_never(self, log: Path) -> None:
        with opened(Places([str(log)]), Settings(), rewinds=True) as seen:
            assert seen.replay is not None
            assert not seen.replay.recording
        with opened(Places([str(log)]), Settings()) as seen:
            assert seen.replay is None
        with replayed(Places([str(log)]), Settings()) as seen:
            assert seen.replay is not None
            assert seen.replay.recording


class TestLearned:
    @pytest.mark.parametrize(
        ("named", "frozen", "settings", "counts"),
        [
            (False, False, Settings(), True),
            (True, False, Settings(), False),
            (False, True, Settings(), False),
            (False, False, Settings(learn=False), False),
        ],
    )
    def test_what_is_usual_here_counts_for_what_was_found_and_is_now(
        self, log: Path, named: bool, frozen: bool, settings: Settings, counts: bool
    ) -> None:
        clock = FrozenClock(at("10:00:00")) if frozen else WallClock()
        with opened(Places([str(log)], named=named), settings, clock) as seen:
            assert seen.learns is counts


class TestIssues:
    def test_it_says_what_is_the_matter_and_what_to_do(self, log: Path) -> None:
        with delegtop.open(log, at="2026-05-01T10:20:00Z") as seen:
            [issue] = seen.problems()
        assert (issue.id, issue.name, issue.state) == ("sess_20260501_aaaaaa", "planner", State.OVERDUE)
        assert issue.sentence
        assert issue.todo

    def test_foreign_text_in_it_can_do_no_harm(self, tmp_path: Path) -> None:
        log = tmp_path / "hostile.jsonl"
        agent = "x\x1b]0;owned\x07\u202e token=sk-ant-0123456789abcdefghijklmnop"
        log.write_text(register("aaaaaa", agent, timeout=60))
        with delegtop.open(log, at="2026-05-01T10:20:00Z") as seen:
            [issue] = seen.problems()
        words = " ".join((issue.name, issue.sentence, *issue.todo, issue.command or ""))
        assert words.isprintable()
        assert "\u202e" not in words
        assert "0123456789abcdefghijklmnop" not in words

    def test_earlier_troubles_are_told_when_asked_for(self, log: Path) -> None:
        append(log, returned("aaaaaa", "failed"))
        with delegtop.open(log, at="2026-05-02T10:00:00Z") as seen:
            assert seen.problems() == []
            assert [issue.kind for issue in seen.problems(earlier=True)] == ["failed"]


class TestPublic:
    def test_every_public_name_is_there_and_listed(self) -> None:
        assert [name for name in delegtop.__all__ if getattr(delegtop, name, None) is None] == []
        assert set(delegtop.__all__) <= set(dir(delegtop))

    def test_another_name_is_none_of_its(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            delegtop.nonsense  # type: ignore[attr-defined]  # noqa: B018 -- that is the test
