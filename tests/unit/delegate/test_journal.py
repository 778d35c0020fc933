"""Journal and registry file: what the writing side puts on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.patience import PATIENCE

from delegtop.base.clock import Millis, parse_time
from delegtop.delegate.context import Context
from delegtop.delegate.journal import Journal
from delegtop.delegate.registry_file import RegistryFile

NOON = parse_time("2026-03-14T12:00:00Z") or Millis(0)
ID = "sess_1773489600_abc123"
CONTEXT = Context(
    session_id=ID,
    command="implement",
    subagent="task-executor",
    caller="implement",
    parent_session_id="sess_1773489590_xyz789",
    task_number=191,
    task_context={"language": "lean"},
    timeout=3_600_000,
    deadline=Millis(NOON + 3_600_000),
    depth=1,
    path=("orchestrator", "implement", "task-executor"),
    pid=4110,
    host="forge-2",
)
STAMP = {"schema_version": 1, "at": "2026-03-14T12:00:00.000Z", "session_id": ID}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_register_writes_every_field_of_the_context(tmp_path: Path) -> None:
    Journal(tmp_path / "log").register(NOON, CONTEXT)
    assert lines(tmp_path / "log") == [
        STAMP
        | {
            "event": "register",
            "parent_session_id": "sess_1773489590_xyz789",
            "command": "implement",
            "subagent": "task-executor",
            "caller": "implement",
            "task_number": 191,
            "task_context": {"language": "lean"},
            "timeout": 3600,
            "deadline": "2026-03-14T13:00:00.000Z",
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "implement", "task-executor"],
            "pid": 4110,
            "host": "forge-2",
        }
    ]


def test_register_leaves_out_what_is_not_known_but_keeps_a_zero(tmp_path: Path) -> None:
    Journal(tmp_path / "log").register(NOON, Context(session_id=ID, depth=0, path=("orchestrator", "plan")))
    [line] = lines(tmp_path / "log")
    assert line == STAMP | {"event": "register", "delegation_depth": 0, "delegation_path": ["orchestrator", "plan"]}


def test_every_other_event_has_exactly_its_own_fields(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log")
    journal.heartbeat(NOON, ID, "bash: lake build", tool="bash", tokens=1200, cost=0.25)
    journal.heartbeat(NOON, ID, "thinking")
    journal.returned(NOON, ID, "prose is kept as it is")
    journal.timed_out(NOON, ID, [{"type": "plan", "path": "a.md"}])
    journal.error(NOON, ID, {"type": "execution", "recoverable": False})
    journal.cancel(NOON, ID)
    journal.cancel(NOON, ID, "Ctrl-C")
    assert lines(journal.path) == [
        STAMP | {"event": "heartbeat", "activity": "bash: lake build", "tool": "bash", "tokens": 1200, "cost": 0.25},
        STAMP | {"event": "heartbeat", "activity": "thinking"},
        STAMP | {"event": "return", "return": "prose is kept as it is"},
        STAMP | {"event": "timeout", "artifacts": [{"type": "plan", "path": "a.md"}]},
        STAMP | {"event": "error", "error": {"type": "execution", "recoverable": False}},
        STAMP | {"event": "cancel"},
        STAMP | {"event": "cancel", "reason": "Ctrl-C"},
    ]


def test_text_with_newlines_and_broken_unicode_stays_on_one_readable_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log")
    journal.heartbeat(NOON, ID, "one\ntwo\u2028three \udcff ∧")
    data = journal.path.read_bytes()
    assert data.count(b"\n") == 1
    assert json.loads(data)["activity"] == "one\ntwo\u2028three ? ∧"


def test_only_the_owner_can_read_what_was_created(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new" / "session.jsonl")
    journal.cancel(NOON, ID)
    registry = RegistryFile(tmp_path / "new" / "registry.json")
    registry.register(NOON, CONTEXT)
    assert journal.path.parent.stat().st_mode & 0o777 == 0o700
    assert journal.path.stat().st_mode & 0o777 == 0o600
    assert registry.path.stat().st_mode & 0o777 == 0o600


def test_a_line_left_unfinished_by_a_dead_writer_does_not_swallow_the_next(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log")
    journal.path.write_bytes(b'{"event":"heart')
    journal.cancel(NOON, ID)
    torn, whole = journal.path.read_bytes().splitlines()
    assert torn == b'{"event":"heart'
    assert json.loads(whole)["event"] == "cancel"


def test_a_log_that_was_rotated_away_is_begun_anew(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log")
    journal.cancel(NOON, ID, "old")
    journal.path.rename(tmp_path / "log.1")
    journal.cancel(NOON, ID, "new")
    assert [line["reason"] for line in lines(journal.path)] == ["new"]


def test_a_write_that_the_disk_cuts_short_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "log")
    write = os.write
    monkeypatch.setattr("delegtop.delegate.journal.os.write", lambda fd, data: write(fd, data[:10]))
    with pytest.raises(OSError, match="only 10 of"):
        journal.cancel(NOON, ID)


WRITER = """
import sys
from pathlib import Path
from delegtop.base.clock import Millis
from delegtop.delegate.journal import Journal
journal = Journal(Path(sys.argv[1]))
sys.stdin.read()
for n in range(250):
    journal.heartbeat(Millis(n), sys.argv[2], sys.argv[2] * (n * 7 % 1500), tokens=n)
"""


def test_four_processes_writing_at_once_never_tear_a_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(log), letter * 6], stdin=subprocess.PIPE)
        for letter in "abcd"
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.close()  # they wait for this, so that they start together
    assert [writer.wait(timeout=PATIENCE) for writer in writers] == [0, 0, 0, 0]
    seen: dict[str, list[int]] = {}
    whole = [json.loads(line) for line in log.read_bytes().splitlines() if line]
    for line in whole:
        assert line["activity"] == line["session_id"] * (line["tokens"] * 7 % 1500)
        seen.setdefault(line["session_id"], []).append(line["tokens"])
    assert seen == {letter * 6: list(range(250)) for letter in "abcd"}


def test_a_registry_entry_has_the_fields_of_the_delegation_guide(tmp_path: Path) -> None:
    registry = RegistryFile(tmp_path / "registry.json")
    registry.register(NOON, CONTEXT)
    assert json.loads(registry.path.read_bytes()) == {
        ID: {
            "command": "implement",
            "subagent": "task-executor",
            "task_number": 191,
            "start_time": "2026-03-14T12:00:00.000Z",
            "timeout": 3600,
            "deadline": "2026-03-14T13:00:00.000Z",
            "status": "running",
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "implement", "task-executor"],
        }
    }


def test_an_entry_is_deleted_when_its_delegation_ends_and_deleting_it_again_is_no_error(tmp_path: Path) -> None:
    registry = RegistryFile(tmp_path / "registry.json")
    registry.register(NOON, CONTEXT)
    assert ID in registry
    registry.remove(ID)
    registry.remove(ID)
    assert ID not in registry
    assert json.loads(registry.path.read_bytes()) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["registry.json"]


def test_a_reader_never_sees_half_a_registry(tmp_path: Path) -> None:
    registry = RegistryFile(tmp_path / "registry.json")
    registry.register(NOON, CONTEXT)
    enough = Event()

    def churn() -> None:
        for n in range(100_000):
            if enough.is_set():
                return
            registry.register(NOON, Context(session_id=f"sess_{n % 40}_aaaaaa", path=("p",) * (n % 50)))

    writer = Thread(target=churn)
    writer.start()
    versions = set()
    try:
        for look in range(100_000):
            data = registry.path.read_bytes()
            assert ID in json.loads(data)
            versions.add(data)
            if look >= 300 and len(versions) > 1:  # on a busy machine the writer may come late
                break
    finally:
        enough.set()
        writer.join()
    assert len(versions) > 1, "the reader must have met more than one version"
