"""What is open and quiet is looked at by the kernel's eyes while somebody watches, and never where time is not real."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.patience import until
from tests.quick_looks import look_quickly

import delegtop
from delegtop.base import other_systems
from delegtop.base.clock import SECOND, Millis, WallClock, iso
from delegtop.diagnosis.verdicts import Kind
from delegtop.kernel import proc_files, proc_source, process_table
from delegtop.model.events import LOCALHOST, ProcessSeen, WaitsFor
from delegtop.model.notes import OUT_OF_SIGHT
from delegtop.observation import call_watch
from delegtop.observation.call_watch import open_calls
from delegtop.observation.observation import Observation


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    look_quickly(monkeypatch, quiet=call_watch.QUIET)


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that opens a FIFO which nobody else opens."""
    os.mkfifo(tmp_path / "queue")
    with subprocess.Popen(["cat", "queue"], cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        yield process
        process.kill()


def log(folder: Path, pid: int, *, ago: float = 4.5, host: str = LOCALHOST) -> Path:
    """The log of a delegation that is a process of its own, and was last heard of some seconds ago: long enough to be
    quiet, and not so long that the process cannot be the one that is meant."""
    at = iso(Millis(WallClock().now() - int(ago * SECOND)))
    path = folder / "run.jsonl"
    record = {"event": "register", "at": at, "session_id": "s1", "subagent": "runner", "pid": pid, "host": host}
    path.write_text(json.dumps(record) + "\n")
    return path


def verdict(seen: Observation) -> Kind | None:
    seen.look()
    return seen.assessments.of(0).verdict


def test_a_process_that_waits_for_what_cannot_come_is_named_with_what_that_is(
    tmp_path: Path, stuck: "subprocess.Popen[bytes]"
) -> None:
    with delegtop.open(log(tmp_path, stuck.pid)) as seen:
        until(lambda: verdict(seen) is Kind.HUNG_IN_TOOL, "the second look")
        (issue,) = seen.problems()
    assert f"cat (pid {stuck.pid}) waits for somebody to open the other end of the FIFO queue" in issue.sentence
    assert issue.certainty == "certain"
    assert issue.command == f"kill {stuck.pid}"


def test_whoever_reads_once_is_told_as_well(tmp_path: Path, stuck: "subprocess.Popen[bytes]") -> None:
    told = subprocess.run(
        [sys.executable, "-m", "delegtop", "tree", "--json", "--exit-code", log(tmp_path, stuck.pid)],
        capture_output=True,
        check=False,
    )
    (node,) = json.loads(told.stdout)["delegations"]
    assert (told.returncode, node["assessment"]["kind"]) == (3, "hung in a tool")
    assert (node["process"]["pid"], node["process"]["waits_for"]) == (stuck.pid, "input")


def test_what_the_kernel_showed_stands_between_the_lines_and_in_the_past(
    tmp_path: Path, stuck: "subprocess.Popen[bytes]"
) -> None:
    with delegtop.open(log(tmp_path, stuck.pid)) as seen:
        until(lambda: verdict(seen) is Kind.HUNG_IN_TOOL, "the second look")
        history = seen.feed.history(seen.forest.delegation(0))
    (shown,) = history[-1][1]
    assert isinstance(shown, ProcessSeen)
    assert (shown.origin.source, shown.waits_for) == (f"kernel:{stuck.pid}", WaitsFor.INPUT)


def test_a_frozen_moment_never_asks_the_present(tmp_path: Path, stuck: "subprocess.Popen[bytes]") -> None:
    with delegtop.open(log(tmp_path, stuck.pid), at=WallClock().now()) as seen:
        seen.look()
        assert seen.forest.delegation(0).process is None
        assert not seen.problems()


def test_nobody_is_asked_about_a_process_of_another_machine(tmp_path: Path, stuck: "subprocess.Popen[bytes]") -> None:
    with delegtop.open(log(tmp_path, stuck.pid, host="elsewhere")) as seen:
        assert open_calls(seen.forest) == ()


def test_nobody_is_asked_about_one_that_was_just_heard_of(tmp_path: Path, stuck: "subprocess.Popen[bytes]") -> None:
    with delegtop.open(log(tmp_path, stuck.pid)) as seen:
        assert [call.pid for call in open_calls(seen.forest)] == [stuck.pid]
        heard = seen.forest.delegation(0).heard_at
        assert heard is not None
        seen.forest.advance(Millis(heard + 1 * SECOND))
        assert open_calls(seen.forest) == ()


def test_a_recording_carries_it_and_shows_the_same(tmp_path: Path, stuck: "subprocess.Popen[bytes]") -> None:
    from delegtop.feed.recorder import Recorder
    from delegtop.observation.observation import opened
    from delegtop.observation.source_discovery import places
    from delegtop.settings import Settings

    recorder, tape = Recorder(WallClock(), "a test"), bytearray()
    tape += recorder.header()
    found = places([str(log(tmp_path, stuck.pid))], Settings())
    with opened(found, Settings(), witness=lambda line, told: tape.extend(recorder.record(line, told))) as seen:
        seen.catch_up()
        until(lambda: verdict(seen) is Kind.HUNG_IN_TOOL, "the second look")
        said = seen.assessments.sentence(0)
    stuck.kill()
    kept = tmp_path / "kept.delegtop"
    kept.write_bytes(tape)
    with delegtop.open(kept, at=seen.forest.shown_at) as again:
        assert again.assessments.of(0).verdict is Kind.HUNG_IN_TOOL
        assert again.assessments.sentence(0).partition(": cat")[2] == said.partition(": cat")[2]


def test_what_leaves_for_another_machine_has_it_too(tmp_path: Path, stuck: "subprocess.Popen[bytes]") -> None:
    """A hang is proven where it is: whoever only passes on what is told asks the kernel all the same."""
    from delegtop.feed.outgoing import Outgoing
    from delegtop.feed.outgoing_words import OutgoingWords
    from delegtop.feed.recorder import Recorder
    from delegtop.observation.observation import opened
    from delegtop.observation.source_discovery import places
    from delegtop.settings import Settings

    outgoing = Outgoing(Recorder(WallClock(), "a test"), WallClock(), OutgoingWords(masked=True))
    sent = bytearray()
    found = places([str(log(tmp_path, stuck.pid))], Settings())
    with opened(found, Settings(), witness=outgoing.take) as seen:

        def told(word: bytes) -> bool:
            seen.take_in()
            sent.extend(b"".join(batch.data for batch in outgoing.batches()))
            return word in sent

        until(lambda: told(b'"is":"processseen"'), "what the kernel shows")
        assert b'"waits_for":"input"' in sent


def test_what_another_user_runs_is_not_looked_into_and_that_is_said(
    tmp_path: Path, stuck: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    of_others = {stuck.pid}
    monkeypatch.setattr(process_table, "is_anothers", of_others.__contains__)
    with delegtop.open(log(tmp_path, stuck.pid)) as seen:

        def told() -> list[str]:
            seen.look()
            return [note.text for note in seen.forest.delegation(0).notes if note.kind == OUT_OF_SIGHT]

        until(lambda: bool(told()), "the first look")
        assert told() == [f"its process (pid {stuck.pid}) is that of another user ({proc_files.owner(stuck.pid)})"]
        assert seen.forest.delegation(0).process is None
        of_others.clear()
        until(lambda: verdict(seen) is Kind.HUNG_IN_TOOL and not told(), "a look once it is ours")


def test_a_process_of_another_pid_namespace_is_none_of_ours_whatever_its_number(
    tmp_path: Path, stuck: "subprocess.Popen[bytes]"
) -> None:
    with delegtop.open(log(tmp_path, stuck.pid)) as seen:
        (facts,) = (seen.forest.delegation(each) for each in seen.forest.walk())
        elsewhere = replace(facts, refs=(("pid_domain", f"linux:{'0' * 32}:pid:[7]"),))
        assert call_watch._is_there(facts, facts.started_at)
        assert not call_watch._is_there(elsewhere, facts.started_at)


def test_where_nobody_tells_of_processes_nothing_is_asked_and_nobody_is_missed(
    tmp_path: Path, stuck: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proc_files, "is_mounted", lambda: False)
    monkeypatch.setattr(other_systems, "is_told", lambda: False)
    monkeypatch.setattr(proc_source, "booted_at", None)  # there is no such clock either
    with delegtop.open(log(tmp_path, stuck.pid)) as seen:
        for _ in range(3):
            seen.look()
        assert seen.forest.delegation(0).process is None
        assert not seen.problems()
