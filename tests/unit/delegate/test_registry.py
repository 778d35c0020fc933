"""The orchestrator's registry: what it does in memory, in the log and in the snapshot."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from delegtop.base.clock import SECOND, FrozenClock, Millis
from delegtop.cli import main
from delegtop.delegate import (
    DelegationContext,
    DelegationRegistry,
    Journal,
    RegistryFile,
    ReturnArtifact,
    SharedRegistryFile,
    prepare_delegation,
    standard_return,
    validate_return,
)

NOON = Millis(1_773_489_600_000)


class Desk:
    """A registry with a log and a snapshot, at a time of its own."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock(NOON)
        self.log = folder / "run.jsonl"
        self.snapshot = folder / "registry.json"
        self.registry = DelegationRegistry(Journal(self.log), RegistryFile(self.snapshot), self.clock)

    def start(self, timeout: float = 60) -> DelegationContext:
        command = prepare_delegation(None, "implement", task_context={"task_number": 191}, clock=self.clock)
        context = prepare_delegation(command, "task-executor", timeout=timeout, clock=self.clock)
        self.registry.register(context)
        return context

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    def listed(self) -> dict[str, Any]:
        entries: dict[str, Any] = json.loads(self.snapshot.read_bytes())
        return entries


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_registering_writes_the_log_and_the_snapshot(desk: Desk) -> None:
    context = desk.start()
    assert context.session_id in desk.registry
    [event] = desk.events()
    assert (event["event"], event["deadline"]) == ("register", "2026-03-14T12:01:00.000Z")
    assert (event["command"], event["subagent"], event["task_number"]) == ("implement", "task-executor", 191)
    assert event["parent_session_id"] == context.parent
    assert desk.listed()[context.session_id]["status"] == "running"


def test_nothing_is_given_up_at_its_deadline_but_after_it(desk: Desk) -> None:
    context = desk.start(timeout=60)
    assert desk.registry.monitor(Millis(NOON + 60 * SECOND)) == {}
    late = desk.registry.monitor(Millis(NOON + 60 * SECOND + 1))
    assert list(late) == [context.session_id]
    assert late[context.session_id].status == "partial"
    assert desk.listed() == {}
    assert [event["event"] for event in desk.events()] == ["register", "error", "timeout"]
    assert desk.events()[1]["error"]["code"] == "TIMEOUT"


def test_artifacts_that_were_found_are_in_the_log_and_in_the_partial_return(desk: Desk) -> None:
    context = desk.start()
    found = ReturnArtifact(type="plan", path="plan.md")
    partial = desk.registry.handle_timeout(context.session_id, [found])
    assert (partial.status, partial.artifacts) == ("partial", (found,))
    assert desk.events()[-1]["artifacts"] == [{"type": "plan", "path": "plan.md"}]


def test_a_valid_return_completes(desk: Desk) -> None:
    context = desk.start()
    returned = standard_return(context, "completed", "It is done.")
    assert desk.registry.complete(context.session_id, returned) == returned
    assert len(desk.registry) == 0
    assert desk.listed() == {}
    assert validate_return(desk.events()[-1]["return"]) == returned


def test_a_return_is_logged_as_the_agent_gave_it(desk: Desk) -> None:
    context = desk.start()
    given = standard_return(context, "completed", "It is done.").model_dump(mode="json") | {"mood": "good"}
    desk.registry.complete(context.session_id, given)
    assert desk.events()[-1]["return"] == given


def test_an_invalid_return_is_logged_as_it_is_together_with_what_is_wrong(desk: Desk) -> None:
    context = desk.start()
    returned = desk.registry.complete(context.session_id, {"status": "done"})
    assert (returned.status, returned.errors[0].code) == ("failed", "VALIDATION_FAILED")
    for field in ("status", "summary", "artifacts", "metadata"):
        assert field in returned.errors[0].message
    error, failed = desk.events()[-2:]
    assert error["error"]["code"] == "VALIDATION_FAILED"
    assert validate_return(failed["return"], context.session_id) == returned
    assert failed["return"]["metadata"]["original_return"] == {"status": "done"}
    assert desk.listed() == {}


def test_an_invalid_return_leaves_a_row_that_failed_by_delegtops_word(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    context = desk.start()
    desk.registry.complete(context.session_id, {"status": "done"})
    assert main(["tree", str(desk.log), "--json"]) == 0
    [row] = json.loads(capfd.readouterr().out)["delegations"]
    assert row["state"] == "failed"
    assert [error["made_by"] for error in row["errors"]] == ["delegtop"]
    main(["check", str(desk.log), "--json"])
    told = [finding for finding in json.loads(capfd.readouterr().out)["findings"] if finding["rule"] == "RET-100"]
    assert [finding["by"] for finding in told] == ["delegtop"]


def test_of_a_return_that_is_not_valid_and_very_long_the_beginning_is_kept(desk: Desk) -> None:
    context = desk.start()
    desk.registry.complete(context.session_id, {"status": "done", "summary": "x" * 3_000_000})
    kept = desk.events()[-1]["return"]["metadata"]["original_return"]
    assert kept.startswith('{"status": "done", "summary": "xxx')
    assert len(kept) < 200_000


def test_what_json_cannot_hold_is_logged_as_python_shows_it(desk: Desk) -> None:
    context = desk.start()
    returned = desk.registry.complete(context.session_id, {1, 2})
    assert returned.errors[0].message == "The return is not valid: the return must be a JSON object"
    assert desk.events()[-1]["return"]["metadata"]["original_return"] == "{1, 2}"


def test_a_return_of_what_was_never_registered_here_is_judged_too(desk: Desk) -> None:
    assert desk.registry.complete("sess_1773489600_abc123", None).status == "failed"


def test_a_return_that_comes_too_late_is_still_logged(desk: Desk) -> None:
    context = desk.start()
    desk.registry.handle_timeout(context.session_id)
    desk.registry.complete(context.session_id, standard_return(context, "completed", "It is done."))
    assert desk.events()[-1]["event"] == "return"


def test_cancelling_and_heartbeats_are_logged_only_while_it_is_active(desk: Desk) -> None:
    context = desk.start()
    desk.registry.heartbeat(context.session_id, "reading")
    desk.registry.cancel(context.session_id, "not needed")
    desk.registry.heartbeat(context.session_id, "still reading")
    assert [event["event"] for event in desk.events()] == ["register", "heartbeat", "cancel"]
    with pytest.raises(KeyError):
        desk.registry.cancel(context.session_id)


def test_it_needs_neither_log_nor_snapshot(desk: Desk) -> None:
    registry = DelegationRegistry(clock=desk.clock)
    context = prepare_delegation(None, "plan")
    registry.register(context)
    registry.error(context.session_id, {"message": "x"})
    assert registry.handle_timeout(context.session_id).status == "partial"


SHARER = """
import sys
from pathlib import Path
from delegtop.base.clock import Millis
from delegtop.delegate import Context, SharedRegistryFile
registry = SharedRegistryFile(Path(sys.argv[1]))
for n in range(30):
    registry.register(Millis(n), Context(session_id=f"{sys.argv[2]}-{n}"))
    if n % 3:
        registry.remove(f"{sys.argv[2]}-{n}")
"""


def test_processes_that_share_a_snapshot_lose_none_of_each_others_entries(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    sharers = [subprocess.Popen([sys.executable, "-c", SHARER, str(path), name]) for name in "abc"]
    assert [sharer.wait(timeout=PATIENCE) for sharer in sharers] == [0, 0, 0]
    assert set(json.loads(path.read_bytes())) == {f"{name}-{n}" for name in "abc" for n in range(0, 30, 3)}


def test_a_file_that_is_no_registry_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "precious.json"
    path.write_text("[1, 2]")
    context = prepare_delegation(None, "plan")
    with pytest.raises(OSError, match="is no registry"):
        SharedRegistryFile(path).register(NOON, context.entry(NOON))
    assert path.read_text() == "[1, 2]"


def test_an_entry_whose_worker_was_killed_is_deleted_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    worker = subprocess.Popen(["sleep", "600"])
    command = prepare_delegation(None, "plan")
    host = os.uname().nodename
    try:
        SharedRegistryFile(path).register(NOON, command.entry(NOON, pid=worker.pid, host=host))
        other = prepare_delegation(command, "planner")
        SharedRegistryFile(path).register(NOON, other.entry(NOON, pid=os.getpid(), host=host))
        assert set(json.loads(path.read_bytes())) == {command.session_id, other.session_id}
    finally:
        worker.kill()
        worker.wait()
    left = tmp_path / f".registry.json.{worker.pid}.tmp"
    left.write_text("{")
    third = prepare_delegation(command, "helper")
    SharedRegistryFile(path).register(NOON, third.entry(NOON, pid=os.getpid(), host=host))
    assert set(json.loads(path.read_bytes())) == {other.session_id, third.session_id}
    assert not left.exists(), "what it had half written is gone too"


def test_an_entry_of_another_machine_is_left_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    command = prepare_delegation(None, "plan")
    SharedRegistryFile(path).register(NOON, command.entry(NOON, pid=2**22 + 1, host="elsewhere"))
    SharedRegistryFile(path).remove("sess_1773489600_abc123")
    assert set(json.loads(path.read_bytes())) == {command.session_id}


def test_a_temporary_file_that_somebody_made_a_link_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f".registry.json.{os.getpid()}.tmp").symlink_to(precious)
    RegistryFile(tmp_path / "registry.json").register(NOON, prepare_delegation(None, "plan").entry(NOON))
    assert precious.read_text() == "mine"
