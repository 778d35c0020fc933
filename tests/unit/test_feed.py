"""The feed: which files are read in which format, what is told of those that are not, and that nothing counts twice."""

import errno
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from delegtop import dialects
from delegtop import feed as feed_module
from delegtop.clock import Clock, FrozenClock, Millis, WallClock, iso, parse_time
from delegtop.dialects import UnknownDialect
from delegtop.feed import BATCH, Feed, SourceStatus, minder
from delegtop.feed.reading import EXAMPLES
from delegtop.model.delegation import Delegation, State
from delegtop.model.events import Deviation, Event, Heard, Started
from delegtop.model.forest import Forest
from delegtop.origin import Origin
from delegtop.sources import history, processes

NOW = parse_time("2026-05-01T10:02:30Z") or Millis(0)
HERE = socket.gethostname()


def line(event: str, session: str, at: str = "10:00:00", **more: Any) -> str:
    record = {"event": event, "at": f"2026-05-01T{at}Z", "session_id": f"sess_20260501_{session}", **more}
    return json.dumps(record) + "\n"


def register(session: str, agent: str = "planner", **more: Any) -> str:
    path = {"subagent": agent, "delegation_path": ["orchestrator", "plan", agent], "delegation_depth": 1}
    fields: dict[str, Any] = path | {"timeout": 3600} | more
    return line("register", session, **fields)


def returned(session: str, status: str = "completed") -> str:
    told = {"status": status, "summary": "All done.", "artifacts": [], "metadata": metadata(session)}
    return line("return", session, "10:02:00", **{"return": told})


def metadata(session: str) -> dict[str, Any]:
    return {"session_id": f"sess_20260501_{session}", "duration_seconds": 120, "agent_type": "planner"}


def entry(**more: Any) -> dict[str, Any]:
    return {
        "command": "plan",
        "subagent": "planner",
        "task_number": 7,
        "start_time": "2026-05-01T10:00:00Z",
        "timeout": 3600,
        "deadline": "2026-05-01T11:00:00Z",
        "status": "running",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "plan", "planner"],
    } | more


def registry(*sessions: str, **more: Any) -> str:
    return json.dumps({f"sess_20260501_{session}": entry(**more) for session in sessions}, indent=2)


class Watch:
    """A feed and the forest it grows."""

    def __init__(self, sources: Sequence[str], clock: Clock, **how: Any) -> None:
        self.clock = clock
        self.feed = Feed(sources, clock=clock, **how)
        self.forest = Forest()

    def look(self, times: int = 1) -> list[Event]:
        """Take in what is new; gives the events."""
        events = [event for _ in range(times) for batch in self.feed.poll() for event in batch.events]
        self.forest.apply(events)
        self.forest.advance(self.clock.now())
        return events

    def state(self, session: str) -> State:
        return self.forest.state(self._handle(session))

    def delegation(self, session: str) -> Delegation:
        return self.forest.delegation(self._handle(session))

    def _handle(self, session: str) -> int:
        handle = self.forest.find(f"sess_20260501_{session}")
        assert handle is not None, f"{session} was never read"
        return handle

    def ids(self) -> list[str]:
        return [self.forest.delegation(handle).id[-6:] for handle in self.forest.walk()]

    def status(self, name: str | Path) -> SourceStatus:
        [found] = [status for status in self.feed.statuses() if Path(status.path).name == Path(name).name]
        return found


Opener = Callable[..., Watch]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Watches sources, at a frozen moment unless told otherwise; looks for new files at every poll."""
    monkeypatch.setattr(feed_module, "RESCAN_SECONDS", 0.0)
    opened: list[Watch] = []

    def open_watch(*sources: str | Path, clock: Clock | None = None, **how: Any) -> Watch:
        opened.append(Watch([str(source) for source in sources], clock or FrozenClock(NOW), **how))
        return opened[-1]

    yield open_watch
    for each in opened:
        each.feed.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "session.jsonl"
    path.parent.mkdir()
    path.write_text(register("aaa111"))
    return path


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


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
        assert (it.status(log).status, it.status(log).detail) == ("unreadable", "Permission denied")
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


class TestBrokenDialects:
    """Formats of other people: whatever they do, the rest is read."""

    @pytest.fixture
    def install(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
        ours = dialects._entry_points()
        monkeypatch.syspath_prepend(str(tmp_path))

        def add(body: str) -> None:
            (tmp_path / "foreign_dialect.py").write_text(body)
            point = EntryPoint("foreign", "foreign_dialect:Foreign", dialects.GROUP)
            monkeypatch.setattr(dialects, "_entry_points", lambda: {"foreign": point, **ours})
            dialects.load.cache_clear()

        yield add
        dialects.load.cache_clear()
        sys.modules.pop("foreign_dialect", None)

    BASE = (
        "from delegtop.dialects import Dialect\n"
        "class Foreign(Dialect):\n"
        "    name, title = 'foreign', 'Foreign'\n"
        "    @classmethod\n"
        "    def sniff(cls, sample):\n"
        "        {sniff}\n"
        "    def translate(self, record):\n"
        "        {translate}\n"
    )

    def test_one_that_cannot_be_imported_is_reported(
        self, install: Callable[[str], None], watch: Opener, log: Path
    ) -> None:
        install("import a_module_that_is_not_there\n")
        it = watch(log)
        it.look()
        assert it.ids() == ["aaa111"]
        told = it.status("format foreign")
        assert told.status == "skipped"
        assert "a_module_that_is_not_there" in told.detail

    def test_one_that_fails_to_recognise_is_reported(
        self, install: Callable[[str], None], watch: Opener, log: Path
    ) -> None:
        install(self.BASE.format(sniff="return 1 // 0", translate="return []"))
        it = watch(log)
        it.look()
        assert it.ids() == ["aaa111"]
        assert "ZeroDivisionError" in it.status("format foreign").detail

    def test_one_that_fails_to_read_costs_only_its_own_lines(
        self, install: Callable[[str], None], watch: Opener, log: Path
    ) -> None:
        install(self.BASE.format(sniff="return 100 * (b'foreign' in sample.head)", translate="return [][1]"))
        (log.parent / "foreign.jsonl").write_text('{"foreign": 1}\n{"foreign": 2}\n')
        it = watch(log.parent)
        it.look(2)
        assert it.ids() == ["aaa111"]
        told = it.status("foreign.jsonl")
        assert (told.dialect, told.unreadable, told.records) == ("foreign", 2, 0)
        assert "IndexError" in next(iter(told.reasons))


class TestRegistries:
    @pytest.fixture
    def book(self, tmp_path: Path) -> Path:
        path = tmp_path / "registry.json"
        path.write_text(registry("aaa111", "bbb222"))
        return path

    @pytest.mark.parametrize("torn", ["", "{", registry("aaa111")[:-20]], ids=["empty", "begun", "cut"])
    def test_a_torn_one_leaves_the_last_good_one_standing(self, torn: str, watch: Opener, book: Path) -> None:
        it = watch(book)
        it.look()
        book.write_text(torn)
        it.look(2)
        assert it.state("aaa111") is it.state("bbb222") is State.RUNNING
        assert it.status(book).status == "stale"
        assert "showing the one of" in it.status(book).detail
        book.write_text(registry("aaa111"))
        it.look()
        assert it.status(book).status == "live"
        assert (it.state("aaa111"), it.state("bbb222")) == (State.RUNNING, State.UNKNOWN)

    def test_what_is_wrong_in_it_is_counted_once_however_often_it_is_written(self, watch: Opener, book: Path) -> None:
        it = watch(book)
        for number in range(3):
            book.write_text(registry("aaa111", start_time="2026-05-01T10:00:00", task_number=number))
            it.look()
        assert it.status(book).reasons == {"time without zone": 1}
        book.write_text(registry("aaa111"))
        it.look()
        assert it.status(book).deviations == 0

    def test_one_that_is_deleted_takes_nothing_with_it(self, watch: Opener, book: Path) -> None:
        it = watch(book)
        it.look()
        book.unlink()
        it.look(2)
        assert it.state("aaa111") is State.RUNNING
        assert it.status(book).status in ("gone", "stale")

    def test_an_entry_that_leaves_has_an_unknown_outcome_until_a_return_tells_it(
        self, watch: Opener, book: Path
    ) -> None:
        it = watch(book.parent)
        it.look()
        book.write_text(registry("bbb222"))
        it.look()
        assert it.state("aaa111") is State.UNKNOWN
        handle = it.forest.find("sess_20260501_aaa111")
        assert handle is not None
        assert "left the registry" in it.forest.reason(handle)
        (book.parent / "session.jsonl").write_text(returned("aaa111"))
        it.look()
        assert it.state("aaa111") is State.COMPLETED

    def test_log_and_registry_tell_of_one_delegation_and_every_claim_is_kept(self, watch: Opener, book: Path) -> None:
        (book.parent / "session.jsonl").write_text(register("aaa111", timeout=900) + register("ccc333"))
        it = watch(book.parent)
        it.look(3)
        assert sorted(it.ids()) == ["aaa111", "bbb222", "ccc333"]
        claims = [claim for claim in it.delegation("aaa111").claims if claim.field == "timeout"]
        assert sorted(Path(claim.origin.source).name for claim in claims) == ["registry.json", "session.jsonl"]
        assert it.delegation("bbb222").claims == ()


class TestFrozenMoment:
    def test_what_happens_later_is_not_known_yet_and_is_counted(self, watch: Opener, tmp_path: Path) -> None:
        log = tmp_path / "log.jsonl"
        log.write_text(register("aaa111") + returned("aaa111"))
        it = watch(log, clock=FrozenClock(Millis(NOW - 60_000)))
        it.look()
        assert it.state("aaa111") is State.RUNNING
        assert it.status(log).detail == "1 later record left out"

    def test_a_word_without_a_time_does_not_bring_forward_one_that_starts_later(
        self, watch: Opener, tmp_path: Path
    ) -> None:
        session = "0b0f3a52-8b1e-4c67-9a40-2f6be1c7d3ff"
        said = {"type": "user", "sessionId": session, "uuid": "u1", "timestamp": "2026-05-01T10:00:00Z", "cwd": "/w"}
        record = {**said, "parentUuid": None, "isSidechain": False, "message": {"role": "user", "content": "hi"}}
        title = {"type": "ai-title", "aiTitle": "Tidy the barn", "sessionId": session}
        log = tmp_path / f"{session}.jsonl"
        log.write_text(json.dumps(record) + "\n" + json.dumps(title) + "\n")
        before = watch(log, clock=FrozenClock(Millis(NOW - 86_400_000)))
        before.look(3)
        assert before.ids() == []
        then = watch(log, clock=FrozenClock(NOW))
        then.look(3)
        found = then.forest.find(session)
        assert found is not None
        assert then.forest.delegation(found).title == "Tidy the barn"

    def test_a_registry_does_not_list_those_who_start_later(self, watch: Opener, tmp_path: Path) -> None:
        book = tmp_path / "registry.json"
        book.write_text(registry("aaa111"))
        it = watch(book, clock=FrozenClock(Millis(NOW - 86_400_000)))
        it.look(3)
        assert it.ids() == []

    def test_what_tells_no_time_at_all_is_known_at_any_moment(self, watch: Opener, tmp_path: Path) -> None:
        log = tmp_path / "MANIFEST.jsonl"
        done = {"id": "a-1", "file": "a.md", "title": "A", "date": "2026-03-18", "status": "complete", "topics": []}
        log.write_text(json.dumps({**done, "key_findings": [], "actionable": False}) + "\n")
        it = watch(log, clock=FrozenClock(Millis(NOW - 86_400_000)))
        it.look(3)
        assert len(it.ids()) == 1


class TestCounting:
    def test_nothing_counts_twice_however_often_it_is_polled(self, watch: Opener, log: Path) -> None:
        (log.parent / "registry.json").write_text(registry("aaa111"))
        append(log, line("heartbeat", "aaa111", "10:01:00", activity="thinking") + "{broken\n")
        it = watch(log.parent, log)
        first = it.look()
        before = it.feed.statuses()
        assert it.look(10) == []
        assert it.feed.statuses() == before
        assert sum(isinstance(event, Heard) for event in first) == 1
        assert (it.status(log).records, it.status(log).unreadable) == (2, 1)
        append(log, returned("aaa111"))
        assert len(it.look(5)) == 1

    def test_a_rotation_loses_nothing_and_repeats_nothing(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        it.look()
        log.rename(log.with_suffix(".jsonl.1"))
        log.write_text(register("bbb222"))
        append(log.with_suffix(".jsonl.1"), register("ccc333"))
        assert sum(isinstance(event, Started) for event in it.look(4)) == 2
        assert sorted(it.ids()) == ["aaa111", "bbb222", "ccc333"]

    def test_only_what_could_be_read_is_a_record(self, watch: Opener, log: Path) -> None:
        append(log, "\n{torn\n[1, 2]\nprose\n" + register("bbb222"))
        it = watch(log)
        it.look()
        status = it.status(log)
        assert (status.records, status.unreadable) == (2, 3)
        assert sum(status.reasons.values()) == 3

    def test_deviations_are_counted_by_kind_with_examples_that_name_the_line(self, watch: Opener, log: Path) -> None:
        append(log, line("promoted", "aaa111") + line("heartbeat", "aaa111", activity=7))
        it = watch(log)
        found = [event for event in it.look() if isinstance(event, Deviation)]
        status = it.status(log)
        assert status.deviations == len(found) == sum(status.reasons.values()) == 2
        assert [example.origin.line for example in status.examples] == [2, 3]

    def test_examples_stay_few_and_the_count_does_not(self, watch: Opener, log: Path) -> None:
        append(log, "prose\n" * 500)
        it = watch(log)
        it.look()
        assert it.status(log).unreadable == 500
        assert len(it.status(log).examples) == EXAMPLES

    def test_much_comes_in_batches_and_progress_ends_at_the_end(self, watch: Opener, log: Path) -> None:
        append(log, line("heartbeat", "aaa111", activity="x") * (2 * BATCH))
        it = watch(log)
        sizes = [len(batch.events) for batch in it.feed.poll()]
        assert sum(sizes) == 2 * BATCH + 1
        assert max(sizes) <= BATCH
        assert it.feed.progress() == (log.stat().st_size, log.stat().st_size)

    def test_reading_all_takes_the_last_line_without_its_newline(self, watch: Opener, log: Path) -> None:
        append(log, returned("aaa111").rstrip("\n"))
        it = watch(log)
        assert len(it.look()) == 1
        assert sum(len(batch.events) for batch in it.feed.read_all()) == 1


class TestStandardInput:
    @pytest.fixture
    def pipe(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
        """The end to write into; it may be closed by the test."""
        ours, theirs = os.pipe()
        with os.fdopen(ours) as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            yield theirs
            with suppress(OSError):
                os.close(theirs)

    def arrive(self, it: Watch, count: int) -> None:
        """Poll until so many delegations are there: a thread of the feed's own copies the stream."""
        for _ in range(500):
            it.look()
            if len(it.forest) >= count:
                return
            it.feed.wait(0.02)
        pytest.fail(f"{len(it.forest)} of {count} delegations arrived")

    def test_what_is_piped_in_is_read_as_it_comes(self, pipe: int, watch: Opener) -> None:
        it = watch("-")
        it.look()
        assert it.status("-").status == "empty"
        os.write(pipe, register("aaa111").encode())
        self.arrive(it, 1)
        whole = register("bbb222").encode()
        os.write(pipe, whole[:30])
        it.look()
        os.write(pipe, whole[30:])
        self.arrive(it, 2)
        assert (it.status("-").records, it.status("-").dialect) == (2, "session-log")
        assert it.look(5) == []

    def test_reading_all_waits_for_the_end_of_the_pipe(self, pipe: int, watch: Opener) -> None:
        os.write(pipe, (register("aaa111") + returned("aaa111").rstrip("\n")).encode())
        os.close(pipe)
        it = watch("-")
        it.forest.apply(event for batch in it.feed.read_all() for event in batch.events)
        it.forest.advance(NOW)
        assert it.state("aaa111") is State.COMPLETED

    def test_its_lines_can_be_read_again(self, pipe: int, watch: Opener) -> None:
        os.write(pipe, register("aaa111").encode())
        it = watch("-")
        self.arrive(it, 1)
        [(told, events)] = it.feed.history(it.delegation("aaa111"))
        assert told.data.decode() + "\n" == register("aaa111")
        assert isinstance(events[0], Started)


class TestReadingAgain:
    BEATS = tuple(line("heartbeat", "aaa111", f"10:01:0{n}", activity=f"step {n}") for n in range(1, 4))

    def test_raw_gives_the_very_line(self, watch: Opener, log: Path) -> None:
        odd = register("bbb222").replace('{"', '{  "', 1)
        append(log, odd)
        it = watch(log)
        it.look()
        origin = it.delegation("bbb222").started_origin
        assert origin is not None
        assert it.feed.raw(origin) == odd.rstrip("\n").encode()

    def test_raw_gives_an_entry_of_a_registry(self, watch: Opener, tmp_path: Path) -> None:
        book = tmp_path / "registry.json"
        book.write_text(registry("aaa111", "bbb222"))
        it = watch(book)
        it.look()
        origin = it.delegation("bbb222").started_origin
        assert origin is not None
        text = it.feed.raw(origin)
        assert text is not None
        assert json.loads(b"{" + text + b"}") == {"sess_20260501_bbb222": entry()}

    def test_raw_of_a_file_never_read_is_nothing(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.look()
        assert it.feed.raw(Origin("elsewhere.jsonl", 1, 0)) is None

    def test_history_has_every_line_of_one_delegation_in_order(self, watch: Opener, log: Path) -> None:
        text = register("bbb222").join(self.BEATS)
        append(log, text + returned("aaa111"))
        it = watch(log)
        it.look()
        told = it.feed.history(it.delegation("aaa111"))
        lines = [each.data.decode() + "\n" for each, _ in told]
        assert lines == [register("aaa111"), *self.BEATS, returned("aaa111")]
        assert [each.origin.line for each, _ in told] == [1, 2, 4, 6, 7]
        assert [event.doing for _, events in told for event in events if isinstance(event, Heard)] == [
            "step 1",
            "step 2",
            "step 3",
        ]

    def test_history_keeps_to_its_limit_and_shows_the_newest(self, watch: Opener, log: Path) -> None:
        append(log, "".join(self.BEATS))
        it = watch(log)
        it.look()
        told = it.feed.history(it.delegation("aaa111"), limit=2)
        assert [each.data.decode() + "\n" for each, _ in told] == list(self.BEATS[1:])

    def test_history_goes_through_log_and_registry(self, watch: Opener, log: Path) -> None:
        (log.parent / "registry.json").write_text(registry("aaa111"))
        append(log, self.BEATS[0])
        it = watch(log.parent)
        it.look()
        names = {Path(each.origin.source).name for each, _ in it.feed.history(it.delegation("aaa111"))}
        assert names == {"session.jsonl", "registry.json"}

    @pytest.mark.parametrize("way", ["rename", "copytruncate"])
    def test_a_rotation_does_not_make_history_tell_of_another_file(self, way: str, watch: Opener, log: Path) -> None:
        append(log, "".join(self.BEATS))
        it = watch(log.parent)
        it.look()
        if way == "rename":
            log.rename(log.with_suffix(".jsonl.1"))
        else:
            shutil.copy(log, log.with_suffix(".jsonl.1"))
        other = line("heartbeat", "aaa111", "09:00:00", activity="a line of the day before")
        log.write_text(register("bbb222") + other * 20)
        it.look(2)
        told = [each.data.decode() + "\n" for each, _ in it.feed.history(it.delegation("aaa111"))]
        assert set(told) <= {register("aaa111"), *self.BEATS, other}
        assert register("aaa111") in told
        assert self.BEATS[-1] in told

    def test_a_rotation_does_not_make_raw_tell_of_another_file(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        events = it.look()
        log.rename(log.with_suffix(".jsonl.1"))
        log.write_text(register("bbb222"))
        events += it.look(2)
        raw = [it.feed.raw(event.origin) for event in events]
        assert raw == [register(session).rstrip("\n").encode() for session in ("aaa111", "bbb222")]

    def test_history_goes_on_over_a_rotation(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        append(log, self.BEATS[0])
        it.look()
        log.rename(log.with_suffix(".jsonl.1"))
        log.write_text(register("bbb222") + self.BEATS[1] + self.BEATS[2] + returned("aaa111"))
        it.look(2)
        told = [each.data.decode() + "\n" for each, _ in it.feed.history(it.delegation("aaa111"))]
        assert told == [register("aaa111"), *self.BEATS, returned("aaa111")]
        [(only, _)] = it.feed.history(it.delegation("bbb222"))
        assert only.data.decode() + "\n" == register("bbb222")

    def test_history_of_a_log_that_is_gone_is_empty_or_what_is_still_known(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.look()
        delegation = it.delegation("aaa111")
        log.write_text("")
        it.look()
        assert it.feed.history(delegation) == []


class TestProcesses:
    @pytest.fixture(autouse=True)
    def _check_at_every_poll(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(minder, "EVERY", 0.0)

    @pytest.fixture
    def dead(self) -> int:
        """The id of a process that was there and is not any more."""
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return process.pid

    def started(self, pid: int, host: str = HERE) -> str:
        now = WallClock().now()
        return json.dumps(
            {
                "event": "register",
                "at": iso(now),
                "session_id": "sess_20260501_aaa111",
                "subagent": "planner",
                "timeout": 3600,
                "pid": pid,
                "host": host,
            }
        ) + "\n"  # fmt: skip

    def test_a_delegation_whose_process_is_gone_is_lost(self, dead: int, watch: Opener, log: Path) -> None:
        log.write_text(self.started(dead))
        it = watch(log, clock=WallClock())
        it.look(2)
        assert it.state("aaa111") is State.LOST
        assert it.look(3) == []

    def test_it_is_noticed_by_one_look_at_everything_too(self, dead: int, watch: Opener, log: Path) -> None:
        log.write_text(self.started(dead))
        it = watch(log, clock=WallClock())
        it.forest.apply(event for batch in it.feed.read_all() for event in batch.events)
        it.forest.advance(it.clock.now())
        assert it.state("aaa111") is State.LOST

    def test_a_return_that_comes_after_all_outweighs_the_loss(self, dead: int, watch: Opener, log: Path) -> None:
        log.write_text(self.started(dead))
        it = watch(log, clock=WallClock())
        it.look(2)
        append(log, returned("aaa111"))
        it.look(2)
        assert it.state("aaa111") is State.COMPLETED

    def test_one_whose_process_lives_is_running(self, watch: Opener, log: Path) -> None:
        log.write_text(self.started(os.getpid()))
        it = watch(log, clock=WallClock())
        it.look(3)
        assert it.state("aaa111") is State.RUNNING

    def test_one_that_has_returned_is_not_looked_at(
        self, dead: int, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "is_gone", self.never)
        log.write_text(self.started(dead) + returned("aaa111"))
        it = watch(log, clock=WallClock())
        it.look(3)
        assert it.state("aaa111") is State.COMPLETED

    def test_a_process_of_another_machine_is_never_looked_at(
        self, dead: int, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "is_gone", self.never)
        log.write_text(self.started(dead, host="elsewhere"))
        it = watch(log, clock=WallClock())
        it.look(3)
        assert it.state("aaa111") is State.RUNNING

    def test_none_is_looked_at_while_the_clock_stands_still(
        self, dead: int, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "is_gone", self.never)
        log.write_text(self.started(dead))
        it = watch(log, clock=FrozenClock(WallClock().now()))
        it.look(3)
        assert it.state("aaa111") is State.RUNNING

    @staticmethod
    def never(pid: int, noted_at: Millis) -> bool:
        raise AssertionError(f"process {pid} of {noted_at} must not be looked at")
