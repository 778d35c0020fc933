"""What delegtop returns for somebody who gave no return hands up the errors of those that it called."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from delegtop.base.clock import sleep
from delegtop.cli import main
from delegtop.delegate import (
    DelegationContext,
    DelegationRegistry,
    Journal,
    Return,
    ReturnError,
    Work,
    delegation,
    invoke,
    prepare_delegation,
    standard_return,
)

RUN = [sys.executable, "-m", "delegtop", "run"]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run.jsonl"


def good(context: DelegationContext) -> Return:
    return standard_return(context, "completed", "It is done. Nothing is left.")


def broken(_context: DelegationContext) -> None:
    raise ValueError("the moon is full")


def slow(_context: DelegationContext) -> None:
    sleep(PATIENCE)


def returns(log: Path, name: str) -> dict[str, Any]:
    """The last return of an agent."""
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    ids = {line["session_id"] for line in lines if line["event"] == "register" and line["subagent"] == name}
    return next(line["return"] for line in reversed(lines) if line["event"] == "return" and line["session_id"] in ids)


def findings(log: Path, capfd: pytest.CaptureFixture[str]) -> set[str]:
    """What `check` says is wrong with a log, but for that something ended badly, which it did, and why."""
    capfd.readouterr()
    main(["check", "--json", str(log)])
    found = json.loads(capfd.readouterr().out)["findings"]
    return {each["rule"] for each in found} - {"END-001", "DEL-029", "RET-100", "RET-101"}


def test_a_block_left_without_a_return_is_partial_if_a_child_failed(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with delegation(None, "implement", log=log) as work:
        work.invoke("planner", good)
        work.invoke("tester", broken)
        work.invoke("worker", slow, timeout=0.05)
    assert work.returned is not None
    assert work.returned.status == "partial"
    assert [(error.code, error.message) for error in work.returned.errors] == [
        ("UNKNOWN_ERROR", "ValueError: the moon is full"),
        ("TIMEOUT", "worker exceeded its timeout of 0.05s; its thread cannot be ended and goes on"),
    ]
    recorded = returns(log, "implement")
    assert recorded["metadata"]["made_by"] == "delegtop"
    assert "tester (failed), worker (timeout)" in recorded["summary"]
    assert findings(log, capfd) == set()


def test_a_child_that_was_called_again_with_success_is_forgiven(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with delegation(None, "implement", log=log) as work:
        work.invoke("tester", broken)
        work.invoke("tester", good)
    assert work.returned is not None
    assert work.returned.status == "completed"
    assert findings(log, capfd) == set()


def test_a_block_inside_that_failed_is_a_child_too(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with delegation(None, "implement", log=log) as work, suppress(ValueError), delegation(work, "tester") as inside:
        broken(inside.context)
    assert work.returned is not None
    assert [error.message for error in work.returned.errors] == ["ValueError: the moon is full"]
    assert findings(log, capfd) == set()


def test_so_is_what_another_process_ran_for_it(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with delegation(None, "implement", log=log) as work:
        environ = work.registry.environment(work.context)
        line = [*RUN, "--agent", "tester", "--", "sh", "-c", "exit 3"]
        subprocess.run(line, env={**environ, "PATH": "/usr/bin:/bin"}, check=False, timeout=PATIENCE)
    assert work.returned is not None
    assert [error.message for error in work.returned.errors] == ["tester ended with exit code 3"]
    assert findings(log, capfd) == set()


def test_a_delegation_that_was_refused_is_handed_up(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with delegation(None, "implement", log=log) as work:
        work.invoke("implement", good)
    assert work.returned is not None
    assert (work.returned.status, work.returned.errors[0].code) == ("partial", "CYCLE_DETECTED")
    assert findings(log, capfd) == set()


def test_an_exception_stands_before_the_errors_of_children(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def careless(work: Work) -> None:
        work.invoke("tester", broken)
        raise KeyError("missing")

    with pytest.raises(KeyError), delegation(None, "implement", log=log) as work:
        careless(work)
    assert work.returned is not None
    assert work.returned.status == "failed"
    assert [error.message for error in work.returned.errors] == ["KeyError: 'missing'", "ValueError: the moon is full"]
    assert findings(log, capfd) == set()


def test_the_errors_of_children_are_at_hand(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with delegation(None, "implement", log=log) as work:
        work.invoke("tester", broken)
        work.end("partial", "The plan is there. The tests were not run.", errors=work.errors_below())
    assert work.returned is not None
    assert [error.message for error in work.returned.errors] == ["ValueError: the moon is full"]
    assert findings(log, capfd) == set()


def test_without_a_log_it_is_the_same(log: Path) -> None:
    with delegation(None, "implement", registry=DelegationRegistry()) as work:
        work.invoke("tester", broken)
    assert work.returned is not None
    assert work.returned.status == "partial"
    assert not log.exists()


def test_what_a_child_says_of_its_errors_in_its_own_way_is_told_in_the_standards(log: Path) -> None:
    odd = ["no space", {"message": "the disk is full"}, {"type": "poem", "code": "ODD", "message": "x" * 9_000}]
    with delegation(None, "implement", log=log) as work:
        context = prepare_delegation(work.context, "tester")
        work.registry.register(context)
        given = {"status": "failed", "summary": "It broke.", "artifacts": [], "metadata": {}, "errors": odd}
        work.registry.record(context.session_id, given)
    errors = returns(log, "implement")["errors"]
    assert ["the disk is full" in each["message"] for each in errors] == [True, False]
    assert all(len(each["message"]) < 3_000 for each in errors)
    ReturnError.model_validate(errors[0])


def test_of_very_many_errors_the_first_are_handed_up_and_the_rest_counted(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with delegation(None, "implement", log=log) as work:
        for number in range(30):
            work.invoke(f"tester-{number}", ["sh", "-c", f"exit {number + 1}"])
    assert work.returned is not None
    assert len(work.returned.errors) == 21
    assert "10 more" in work.returned.errors[-1].message
    assert findings(log, capfd) == set()


def test_run_of_a_command_that_succeeds_over_a_child_that_failed_is_partial(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"{' '.join(RUN)} --agent tester -- sh -c 'exit 3'; exit 0"
    line = [*RUN, "--log", str(log), "--agent", "implement", "--", "sh", "-c", script]
    assert subprocess.run(line, check=False, timeout=PATIENCE).returncode == 0
    made = returns(log, "implement")
    assert (made["status"], made["metadata"]["made_by"]) == ("partial", "delegtop run")
    assert [error["message"] for error in made["errors"]] == ["tester ended with exit code 3"]
    assert findings(log, capfd) == set()


def test_a_command_that_is_invoked_and_calls_one_that_failed_is_partial(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with delegation(None, "implement", log=log) as work:
        script = f"{' '.join(RUN)} --agent tester -- sh -c 'exit 3'; exit 0"
        returned = work.invoke("worker", ["sh", "-c", script])
        assert (returned.status, returned.errors[0].message) == ("partial", "tester ended with exit code 3")
    assert findings(log, capfd) == set()


def test_a_return_that_was_printed_by_a_child_is_not_taken_for_the_commands_own(log: Path) -> None:
    printed = "import os; print(os.environ['RETURN'] % os.environ['DELEGTOP_SESSION_ID'])"
    (log.parent / "child.py").write_text(printed)
    text = '{"status":"completed","summary":"It is done. All of it.","artifacts":[],"metadata":{"session_id":"%s"}}'
    with delegation(None, "implement", log=log) as work:
        script = f"export RETURN='{text}'; {' '.join(RUN)} --agent inner -- {sys.executable} child.py"
        assert work.invoke("worker", ["sh", "-c", script]).summary.startswith("worker ended with exit code 0")


def test_a_completed_return_of_a_command_that_failed_is_told_as_an_error_too(log: Path) -> None:
    registry = DelegationRegistry(Journal(log))
    context = prepare_delegation(None, "worker")
    (log.parent / "given.json").write_text(good(context).model_dump_json(exclude_none=True))
    assert invoke(context, ["sh", "-c", "cat given.json; exit 4"], registry=registry).status == "completed"
    [told] = [json.loads(line)["error"] for line in log.read_bytes().splitlines() if b'"event":"error"' in line]
    assert told["message"] == "it ended with exit code 4, although its return says completed"
