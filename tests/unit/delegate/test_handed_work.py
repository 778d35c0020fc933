"""A delegation as a block: what is registered on entering, and recorded on leaving in each way there is."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import sleep
from delegtop.delegate import (
    DelegationContext,
    DelegationRefused,
    Return,
    ReturnError,
    ReturnInvalid,
    Work,
    delegation,
    standard_return,
)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DELEGTOP_LOG", "DELEGTOP_REGISTRY", "DELEGTOP_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "run.jsonl"


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def told(log: Path) -> list[str]:
    return [event["event"] for event in events(log)]


def status(work: Work) -> str:
    assert work.returned is not None
    return work.returned.status


def test_a_block_is_registered_listed_and_recorded_with_its_artifacts(log: Path) -> None:
    with delegation(None, "plan", log=log, registry="registry.json", task_context={"task_number": 7}) as work:
        assert [*json.loads(Path("registry.json").read_bytes())] == [work.session_id]
        work.heartbeat("thinking")
        work.artifact("plan", "plan.md")
        work.complete("The plan is there. It has two steps.", next_steps="Carry it out.")
    assert json.loads(Path("registry.json").read_bytes()) == {}
    assert told(log) == ["register", "heartbeat", "return"]
    returned = events(log)[-1]["return"]
    assert returned["artifacts"] == [{"type": "plan", "path": "plan.md"}]
    assert (returned["status"], returned["next_steps"]) == ("completed", "Carry it out.")
    assert returned["metadata"]["duration_seconds"] >= 0


def test_a_block_inside_of_another_has_its_log_and_is_its_child(log: Path) -> None:
    with (
        delegation(None, "plan", log=log) as outer,
        delegation(outer, "planner") as inner,
        delegation(inner.context, "reader") as innermost,
    ):
        pass
    assert [event.get("parent_session_id") for event in events(log) if event["event"] == "register"] == [
        None,
        outer.session_id,
        inner.session_id,
    ]
    assert innermost.context.delegation_depth == 2


def test_leaving_without_a_return_is_completed_and_says_who_made_it(log: Path) -> None:
    with delegation(None, "plan", log=log) as work:
        pass
    assert status(work) == "completed"
    assert events(log)[-1]["return"]["metadata"]["made_by"] == "delegtop"


def test_an_exception_is_failed_and_goes_on(log: Path) -> None:
    with pytest.raises(KeyError), delegation(None, "plan", log=log) as work:
        raise KeyError("missing")
    assert status(work) == "failed"
    assert told(log) == ["register", "error", "return"]
    assert "KeyError: 'missing'" in events(log)[1]["stack_trace"]


def test_an_exception_after_its_time_was_over_is_partial_with_what_is_there(log: Path) -> None:
    def too_slow(work: Work) -> None:
        Path("plan.md").write_text("half")
        work.artifact("plan", "plan.md")
        work.artifact("plan", "never.md")
        sleep(0.02)
        raise OSError("late")

    with pytest.raises(OSError, match="late"), delegation(None, "plan", log=log, timeout=0.01) as work:
        too_slow(work)
    assert status(work) == "partial"
    assert told(log) == ["register", "error", "timeout"]
    assert events(log)[-1]["artifacts"] == [{"type": "plan", "path": "plan.md"}]


def test_ctrl_c_is_a_cancel(log: Path) -> None:
    with pytest.raises(KeyboardInterrupt), delegation(None, "plan", log=log) as work:
        raise KeyboardInterrupt
    assert work.returned is None
    assert events(log)[-1]["reason"] == "Ctrl-C"


def test_an_exception_after_the_return_leaves_the_return_and_is_noted(log: Path) -> None:
    def careless(work: Work) -> None:
        work.complete("It is done. All of it.")
        raise ValueError("after all")

    with pytest.raises(ValueError, match="after"), delegation(None, "plan", log=log) as work:
        careless(work)
    assert status(work) == "completed"
    assert told(log) == ["register", "return", "error"]


def test_one_cannot_return_twice(log: Path) -> None:
    with delegation(None, "plan", log=log) as work:
        work.complete("It is done. All of it.")
        with pytest.raises(RuntimeError, match="plan has returned already"):
            work.complete("It is done. All of it.")


def test_who_has_returned_hands_nothing_on(log: Path) -> None:
    with delegation(None, "plan", log=log) as work:
        work.complete("It is done. All of it.")
        with pytest.raises(RuntimeError, match="plan has returned already"):
            work.invoke("planner", ["true"])
    assert told(log) == ["register", "return"]


def test_a_block_that_is_over_is_nobodys_parent(log: Path) -> None:
    with delegation(None, "research", log=log) as command:
        pass
    with pytest.raises(RuntimeError, match="research has returned already"):
        delegation(command, "researcher")


def test_a_block_that_was_not_entered_says_so(log: Path) -> None:
    work = delegation(None, "plan", log=log)
    with pytest.raises(RuntimeError, match="plan has not begun: it does with its block"):
        work.complete("It is done. All of it.")
    with work:
        pass
    with pytest.raises(RuntimeError, match="plan has begun already"), work:
        pass
    assert told(log) == ["register", "return"]


def test_who_hands_out_comes_first(log: Path) -> None:
    wrong: Any = "plan"
    with pytest.raises(TypeError, match="who hands out comes first"):
        delegation(wrong, "planner", log=log)


def test_what_an_agent_gave_is_judged_and_recorded(log: Path) -> None:
    with delegation(None, "plan", log=log) as work:
        returned = work.give("AGENT_OUTPUT_START\nI am done\nAGENT_OUTPUT_END")
    assert (returned.status, returned.errors[0].code) == ("failed", "VALIDATION_FAILED")
    assert work.returned is returned


def test_an_end_that_is_not_allowed_is_refused_and_not_recorded(log: Path) -> None:
    error = ReturnError(type="execution", message="x", code="BUILD_ERROR", recoverable=False, recommendation="Ask.")
    with delegation(None, "plan", log=log) as work:
        with pytest.raises(ReturnInvalid, match="errors must say why"):
            work.end("blocked", "It waits for a decision.")
        work.end("blocked", "It waits for a decision.", errors=[error])
    assert told(log) == ["register", "return"]


def test_a_cycle_and_a_depth_too_great_are_errors_of_the_parent_and_begin_nothing(log: Path) -> None:
    with delegation(None, "plan", log=log, max_depth=1) as work:
        with pytest.raises(DelegationRefused, match="CYCLE_DETECTED"):
            delegation(work, "plan")
        with delegation(work, "planner") as inner, pytest.raises(DelegationRefused, match="MAX_DEPTH_EXCEEDED"):
            delegation(inner, "helper", max_depth=1)
    errors = [(event["session_id"], event["error"]["code"]) for event in events(log) if event["event"] == "error"]
    assert errors == [(work.session_id, "CYCLE_DETECTED"), (inner.session_id, "MAX_DEPTH_EXCEEDED")]


def test_work_that_is_handed_on_comes_back_with_a_return_even_if_it_is_refused(log: Path) -> None:
    def planner(context: DelegationContext) -> Return:
        with delegation(context, "reader") as reader:
            reader.complete("It was read. Twice.")
        return standard_return(context, "completed", "It is planned. All of it.")

    with delegation(None, "plan", log=log) as work:
        assert work.invoke("planner", planner).status == "completed"
        refused = work.invoke("plan", planner)
    assert (refused.status, refused.errors[0].code) == ("failed", "CYCLE_DETECTED")
    names = [event["delegation_path"][-1] for event in events(log) if event["event"] == "register"]
    assert names == ["plan", "planner", "reader"], "what a subagent delegates is in the same log"


def test_in_asyncio_a_block_ends_when_its_time_is_over(log: Path) -> None:
    async def main() -> Work:
        work = delegation(None, "plan", log=log, timeout=0.05)
        with pytest.raises(TimeoutError):
            async with work:
                await asyncio.sleep(600)
        return work

    assert status(asyncio.run(main())) == "partial"
    assert told(log) == ["register", "error", "timeout"]


def test_in_asyncio_a_cancelled_task_is_a_cancel_and_an_exception_failed(log: Path) -> None:
    async def block(wait: asyncio.Event) -> None:
        async with delegation(None, "plan", log=log):
            wait.set()
            await asyncio.sleep(600)

    async def main() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(block(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ValueError, match="no"):
            async with delegation(None, "plan", log=log):
                raise ValueError("no")

    asyncio.run(main())
    assert told(log) == ["register", "cancel", "register", "error", "return"]


def test_without_a_log_it_is_written_where_the_environment_says_or_where_delegtop_looks(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with delegation(None, "plan"):
        pass
    assert len([*(tmp_path / "state" / "delegtop" / "logs").glob("*.jsonl")]) == 1
    monkeypatch.setenv("DELEGTOP_LOG", str(log))
    with delegation(None, "plan"):
        pass
    assert told(log) == ["register", "return"]
