"""Sessions that have been quiet for long are put away, and nobody can tell: not by the tree, not by the counts."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.telling import handle_of
from tests.watching import NOW, append, line, register

from delegtop.base.clock import Clock, FrozenClock, Millis, WallClock
from delegtop.cli import main
from delegtop.feed import dormant_sessions as shelf_module
from delegtop.feed import file_catalogue as catalogue_module
from delegtop.feed import live_feed, process_watch, rounds
from delegtop.feed import recent_window as window_module
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ended, Event, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.sources import history, processes
from delegtop.sources import inode as file_module
from delegtop.sources import snapshot as snapshot_module
from delegtop.testing.conformance import _fold

SAMPLES = Path(__file__).parents[3] / "sample_logs"
FUTURE = FrozenClock(Millis(1 << 50))
ONE, TWO = "0b9b1c2e-1111-4222-8333-444455556666", "0b9b1c2e-1111-4222-8333-777788889999"
FORMATS = ["claude-code", "codex", "copilot", "cursor", "droid", "gemini", "kimi", "qwen"]
STAYS = {"droid"}
"""Formats in which one reader reads the files of several sessions and cannot forget some of them."""
LONG_AGO = 1_000_000_000


def beat(session: str, second: int) -> str:
    return line("heartbeat", session, f"10:01:{second:02d}", activity=f"step {second}")


def write(path: Path, text: str, *, old: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if old:
        os.utime(path, (LONG_AGO, LONG_AGO))
    return path


@dataclass
class Watch:
    """A feed and all that it told."""

    feed: Feed
    events: list[Event] = field(default_factory=list)

    def look(self, times: int = 2) -> list[Event]:
        """Take in what is new, and put away what is quiet."""
        told = [event for _ in range(times) for batch in self.feed.poll() for event in batch.events]
        self.events += told
        return told

    @property
    def tree(self) -> dict[str, dict[str, object]]:
        return _fold(self.events)

    @property
    def put_away(self) -> set[str]:
        return {Path(kept.path).name for files in self.feed._files.shelf._sessions.values() for kept in files}

    def delegation(self, session: str) -> Delegation:
        forest = Forest()
        forest.apply(self.events)
        return forest.delegation(handle_of(forest, f"sess_20260501_{session}"))

    def status(self, path: Path) -> SourceStatus:
        [found] = [status for status in self.feed.statuses() if status.path == str(path)]
        return found


Opener = Callable[..., Watch]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Looks for changes and tidies up at every poll; the times of files are never too fresh to be believed."""
    monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.0)
    monkeypatch.setattr(live_feed, "TIDY_SECONDS", -1.0)
    monkeypatch.setattr(file_module, "_SETTLED", 0)
    monkeypatch.setattr(snapshot_module, "_SETTLED", 0)
    opened: list[Feed] = []

    def open_watch(*sources: Path, clock: Clock | None = None, **how: Any) -> Watch:
        opened.append(Feed([str(source) for source in sources], clock=clock or FrozenClock(NOW), **how))
        return Watch(opened[-1])

    yield open_watch
    for feed in opened:
        feed.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / f"{ONE}.jsonl", register("aaa111") + beat("aaa111", 1))


def with_an_agent_of_nobody(folder: Path) -> Path:
    """Sessions, and beside them the log of an agent whose path does not say which of them is its own."""
    shutil.copytree(SAMPLES / "claude-code", folder, dirs_exist_ok=True)
    agent = min(folder.rglob("agent-*.jsonl"))
    [project] = (folder / "projects").iterdir()
    return agent.rename(project / agent.name)


def fresh(watch: Opener, *sources: Path, **how: Any) -> Watch:
    """As if the program had just been started."""
    it = watch(*sources, **how)
    it.look()
    return it


def by_path(statuses: Sequence[SourceStatus]) -> list[dict[str, object]]:
    names = SourceStatus.__struct_fields__
    return [{name: getattr(each, name) for name in names} for each in sorted(statuses, key=lambda each: each.path)]


class TestWhatIsPutAway:
    def test_a_session_that_was_written_long_ago_is(self, watch: Opener, log: Path) -> None:
        assert fresh(watch, log).put_away == {log.name}

    def test_one_that_was_written_just_now_is_not(self, watch: Opener, log: Path) -> None:
        log.touch()
        assert fresh(watch, log).put_away == set()

    def test_a_log_of_many_sessions_is_not(self, watch: Opener, tmp_path: Path) -> None:
        log = write(tmp_path / "events.jsonl", register("aaa111"))
        assert fresh(watch, log).put_away == set()

    def test_one_with_an_unfinished_last_line_is_not(self, watch: Opener, log: Path) -> None:
        write(log, register("aaa111") + '{"event": "heart')
        assert fresh(watch, log).put_away == set()

    def test_one_of_two_copies_is_not(self, watch: Opener, log: Path) -> None:
        write(log.parent / f"{TWO}.jsonl", log.read_text())
        assert fresh(watch, log.parent).put_away == set()

    def test_one_whose_process_is_alive_is_not(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.feed._window.keep(ONE)
        it.look()
        assert it.put_away == set()

    def test_none_is_while_somebody_is_told_every_line(self, watch: Opener, log: Path) -> None:
        it = watch(log, witness=lambda _line, _told: None)
        it.look()
        assert it.put_away == set()

    def test_none_is_if_nothing_may_be_told_twice(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.feed.tell_once()
        it.look()
        assert it.put_away == set()

    def test_none_is_whose_reader_reads_a_file_of_nobody_knows_whose(
        self, watch: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shelf_module, "QUIET", -(1 << 60))
        agent = with_an_agent_of_nobody(tmp_path)
        assert fresh(watch, tmp_path).put_away == set()
        agent.unlink()
        assert fresh(watch, tmp_path).put_away

    def test_none_is_while_a_file_of_nobody_knows_whose_waits_to_be_read_with_it(
        self, watch: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shelf_module, "QUIET", -(1 << 60))
        monkeypatch.setattr(catalogue_module, "FEW", 1)
        monkeypatch.setattr(window_module, "FEW", 1)  # the newest comes first
        agent = with_an_agent_of_nobody(tmp_path)
        os.utime(agent, (LONG_AGO, LONG_AGO))
        it = watch(tmp_path, clock=FUTURE)
        it.look(1)
        while it.feed.is_behind:
            assert it.put_away == set()
            it.look(1)
        assert any(event.origin.source == str(agent) for event in it.events)
        assert it.put_away == set()

    def test_none_is_under_whose_name_a_rotated_log_is_still_read(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log.parent, clock=FUTURE)
        append(log, beat("aaa111", 2))
        it.look()
        rotated = log.rename(log.parent / f"{TWO}.jsonl")
        write(log, register("bbb222"))
        os.utime(rotated, (LONG_AGO, LONG_AGO))
        it.look()
        assert it.put_away == set()
        write(rotated, register("ccc333"), old=False)
        it.look()
        assert it.tree.keys() == {f"sess_20260501_{session}" for session in ("aaa111", "bbb222", "ccc333")}

    def test_a_session_waits_until_all_its_files_are_read(
        self, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(catalogue_module, "FEW", 1)
        write(log.parent / ONE / "more.jsonl", register("bbb222"))
        it = watch(log.parent)
        it.look(1)
        assert it.feed.is_behind
        assert it.put_away == set()
        it.look()
        assert it.put_away == {log.name, "more.jsonl"}


class TestWhatIsTold:
    def test_the_statuses_are_the_same_as_before(
        self, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(log.parent / f"{TWO}.jsonl", register("bbb222") + "no record\n")
        away = fresh(watch, log.parent)
        assert len(away.put_away) == 2
        monkeypatch.setattr(shelf_module, "QUIET", 1 << 60)
        loose = fresh(watch, log.parent)
        assert loose.put_away == set()
        assert by_path(away.feed.statuses()) == by_path(loose.feed.statuses())
        assert away.feed.progress() == loose.feed.progress()

    def test_the_json_of_the_sources_is_the_same(
        self, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def told() -> Any:
            main(["sources", str(log.parent), "--json"])
            return json.loads(capsys.readouterr().out)["sources"]

        away = told()
        monkeypatch.setattr(shelf_module, "QUIET", 1 << 60)
        assert away == told()

    def test_what_was_wrong_is_still_told_with_its_examples(self, watch: Opener, log: Path) -> None:
        write(log, register("aaa111") + "no record\n")
        it = fresh(watch, log)
        assert it.put_away == {log.name}
        status = it.status(log)
        assert (status.records, status.unreadable, len(status.examples)) == (1, 1, 1)

    def test_a_line_is_read_again_from_its_file(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        origin = it.delegation("aaa111").started_origin
        assert origin is not None
        assert it.feed.raw(origin) == register("aaa111").rstrip("\n").encode()

    def test_a_line_is_not_read_from_a_file_that_has_changed(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        origin = it.delegation("aaa111").started_origin
        assert origin is not None
        write(log, "something else\n")
        assert it.feed.raw(origin) is None

    def test_the_history_of_a_delegation_has_every_line(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        told = it.feed.history(it.delegation("aaa111"))
        assert [each.data.decode() + "\n" for each, _ in told] == [register("aaa111"), beat("aaa111", 1)]
        assert it.put_away == {log.name}

    def test_one_that_is_put_away_while_its_history_is_read_is_told_to_the_end(
        self, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log.touch()
        it = fresh(watch, log)
        tells = history.tells

        def meanwhile(path: str, offset: int, needle: bytes) -> bool:
            os.utime(log, (LONG_AGO, LONG_AGO))
            it.look()
            return tells(path, offset, needle)

        monkeypatch.setattr(history, "tells", meanwhile)
        assert it.put_away == set()
        assert len(it.feed.history(it.delegation("aaa111"))) == 2
        assert it.put_away == {log.name}


class TestWhatChanges:
    def test_nothing_is_told_again_of_a_file_that_stays_as_it_is(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        assert it.look(3) == []

    def test_what_is_appended_is_read_and_nothing_counts_twice(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        append(log, beat("aaa111", 2))
        it.look()
        again = fresh(watch, log)
        assert it.tree == again.tree
        assert by_path([it.status(log)]) == by_path([again.status(log)])
        assert it.status(log).records == 3

    def test_it_is_put_away_again_when_it_is_quiet_again(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        append(log, beat("aaa111", 2))
        it.look()
        assert it.put_away == set()
        os.utime(log, (LONG_AGO, LONG_AGO))
        it.look()
        assert it.put_away == {log.name}
        assert it.status(log).records == 3

    def test_one_that_is_removed_is_gone_and_its_counts_stay(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        log.unlink()
        assert it.look() == []
        status = it.status(log)
        assert (status.status, status.detail, status.records) == ("gone", "not found", 2)

    def test_one_that_comes_back_is_read_and_counted_once(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        text = log.read_text()
        log.unlink()
        it.look()
        write(log, text + beat("aaa111", 2))
        it.look()
        assert it.tree == fresh(watch, log).tree
        assert (it.status(log).status, it.status(log).records) == ("live", 3)

    def test_one_that_is_replaced_by_another_is_read_as_that(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log)
        other = write(log.parent / "other", register("bbb222"))
        other.replace(log)
        it.look()
        assert it.tree.keys() == {"sess_20260501_aaa111", "sess_20260501_bbb222"}
        assert it.status(log).records == 1

    def test_one_that_is_moved_with_its_folder_counts_where_it_is(self, watch: Opener, tmp_path: Path) -> None:
        log = write(tmp_path / "project" / f"{ONE}.jsonl", register("aaa111") + "no record\n")
        gone = write(log.parent / ONE / "more.jsonl", register("bbb222"))
        it = fresh(watch, tmp_path)
        assert it.put_away == {log.name, gone.name}
        gone.unlink()
        it.look()
        log.parent.rename(tmp_path / "moved")
        it.look()
        moved = tmp_path / "moved" / log.name
        assert {status.path: status.status for status in it.feed.statuses()} == {str(moved): "live", str(gone): "gone"}
        assert (it.status(moved).records, it.status(moved).unreadable) == (1, 1)
        assert it.feed.progress() == (moved.stat().st_size + it.status(gone).size,) * 2

    def test_an_end_that_was_noticed_stays_where_it_was(
        self, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(process_watch, "EVERY", 0.0)
        monkeypatch.setattr(processes, "is_gone", lambda *_process: True)
        write(log, line("register", "aaa111", "10:00:00", subagent="planner", pid=7, host=processes.hostname()))
        it = watch(log, clock=WallClock())
        assert sum(isinstance(event, Ended) for event in it.look()) == 1
        assert it.put_away == {log.name}
        os.utime(log, (LONG_AGO, LONG_AGO + 1))
        assert [type(event) for event in it.look() if isinstance(event, (Started, Ended))] == [Started]
        assert it.delegation("aaa111").outcome is Outcome.LOST

    def test_one_that_may_not_be_looked_at_says_so(
        self, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        it = fresh(watch, log.parent)
        look = os.stat

        def refuse(path: Any, **how: Any) -> os.stat_result:
            if path == str(log):
                raise PermissionError(13, "Permission denied")
            return look(path, **how)

        with monkeypatch.context() as denied:
            denied.setattr(os, "stat", refuse)
            it.look()
            status = it.status(log)
            assert (status.status, status.detail, status.records) == ("unreadable", "permission denied", 2)
        it.look()
        assert (it.status(log).status, it.status(log).records) == ("live", 2)

    def test_a_copy_that_turns_up_later_is_known_for_one(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log.parent)
        assert it.put_away == {log.name}
        copy = Path(shutil.copy(log, log.parent / "copy.jsonl"))
        told = it.look(4)
        assert {event.origin.source for event in told} <= {str(log)}
        assert it.status(copy).records == 0
        assert it.status(log).records == 2

    def test_a_new_file_of_the_session_takes_the_others_down(self, watch: Opener, log: Path) -> None:
        it = fresh(watch, log.parent)
        write(log.parent / ONE / "more.jsonl", register("bbb222"), old=False)
        told = it.look()
        assert {event.origin.source for event in told} == {str(log), str(log.parent / ONE / "more.jsonl")}
        assert it.put_away == set()

    def test_a_file_of_nobody_knows_whose_takes_down_all_it_may_tell_of(
        self, watch: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shelf_module, "QUIET", -(1 << 60))
        agent = with_an_agent_of_nobody(tmp_path)
        away = agent.rename(tmp_path / "away")
        it = fresh(watch, tmp_path, clock=FUTURE)
        assert it.put_away
        away.rename(agent)
        it.look()
        assert it.put_away == set()
        assert it.tree == fresh(watch, tmp_path, clock=FUTURE).tree


class TestSamples:
    """Whatever the format, what was put away tells the same."""

    @pytest.mark.parametrize("sample", FORMATS)
    def test_the_history_of_every_delegation(self, sample: str, watch: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
        def told(quiet: int) -> tuple[bool, dict[str, Any]]:
            monkeypatch.setattr(shelf_module, "QUIET", quiet)
            it = watch(SAMPLES / sample, clock=FUTURE)
            it.look()
            forest = Forest()
            forest.apply(it.events)
            known = [forest.delegation(handle) for handle in forest.walk()]
            return bool(it.put_away), {each.id: it.feed.history(each) for each in known}

        was_loose, (was_away, away) = told(1 << 60), told(-(1 << 60))
        assert was_loose == (False, away)
        assert was_away or sample in {*STAYS, "kimi"}  # whose two logs begin alike
        assert any(away.values())

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("sample", [each for each in FORMATS if each != "cursor"])  # whose lines tell no times
    def test_files_that_grow_while_all_are_put_away_between_two_looks(
        self, sample: str, seed: int, watch: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shelf_module, "QUIET", -(1 << 60))
        chance = random.Random(f"{sample} {seed}")
        it, tops, put_away = watch(tmp_path, clock=FUTURE), SAMPLES / sample, 0
        logs = {path: path.read_bytes() for path in tops.rglob("*") if path.suffix == ".jsonl"}
        shutil.copytree(tops, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.jsonl"))
        left = dict.fromkeys(logs, 0)
        while left:
            path = chance.choice(list(left))
            data = logs[path]
            end = data.find(b"\n", left[path] + chance.randint(0, max(len(data) // 3, 1))) + 1 or len(data)
            target = tmp_path / path.relative_to(tops)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("ab") as file:
                file.write(data[left.pop(path) : end])
            if end < len(data):
                left[path] = end
            it.look()
            put_away = max(put_away, len(it.put_away))
        it.events += [event for batch in it.feed.read_all() for event in batch.events]
        again = watch(tmp_path, clock=FUTURE)
        again.events += [event for batch in again.feed.read_all() for event in batch.events]
        assert it.tree == again.tree
        assert put_away or sample in STAYS
