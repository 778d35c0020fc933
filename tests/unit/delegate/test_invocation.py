"""Invoking a subagent: whatever it does, and wherever it runs, its caller gets a typed return, in time."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.patience import until

from delegtop.base.clock import sleep
from delegtop.delegate import (
    DelegationContext,
    DelegationRegistry,
    Journal,
    Return,
    SharedRegistryFile,
    Within,
    ainvoke,
    invoke,
    prepare_delegation,
    standard_return,
    supervise,
)

LONG = 600


class Desk:
    """A registry with a log and a shared snapshot, and a command that hands out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "run.jsonl"
        self.registry = DelegationRegistry(Journal(self.log), SharedRegistryFile(folder / "registry.json"))
        self.command = prepare_delegation(None, "implement")

    def context(self, name: str = "worker") -> DelegationContext:
        return prepare_delegation(self.command, name, timeout=LONG)

    def events(self, *names: str) -> list[dict[str, Any]]:
        events = [json.loads(line) for line in self.log.read_bytes().splitlines()]
        return [event for event in events if not names or event["event"] in names]

    def told(self) -> list[str]:
        return [event["event"] for event in self.events() if event["event"] != "heartbeat"]

    def listed(self) -> dict[str, Any]:
        entries: dict[str, Any] = json.loads((self.folder / "registry.json").read_bytes())
        return entries


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


def good(context: DelegationContext) -> Return:
    return standard_return(context, "completed", "It is done. Nothing is left.")


def as_object(context: DelegationContext) -> dict[str, Any]:
    return good(context).model_dump(mode="json", exclude_none=True)


def as_text(context: DelegationContext) -> str:
    return f"I am done.\n```json\n{good(context).model_dump_json(exclude_none=True)}\n```"


def broken(_context: DelegationContext) -> None:
    raise ValueError("the moon is full")


def leaving(_context: DelegationContext) -> None:
    sys.exit(3)


def endless(_context: DelegationContext) -> None:
    sleep(LONG)


def dying(_context: DelegationContext) -> None:
    os._exit(9)


def unpicklable(_context: DelegationContext) -> object:
    return {"status": lambda: None}


BOTH: list[Within] = ["thread", "process"]


@pytest.mark.parametrize("within", BOTH)
@pytest.mark.parametrize("subagent", [good, as_object, as_text])
def test_a_return_comes_back_typed_however_it_was_given(
    desk: Desk, subagent: Callable[[DelegationContext], object], within: Within
) -> None:
    context = desk.context()
    returned = invoke(context, subagent, within=within, registry=desk.registry)
    assert isinstance(returned, Return)
    assert (returned.status, returned.metadata.session_id) == ("completed", context.session_id)
    assert desk.told() == ["register", "return"]
    assert desk.listed() == {}


@pytest.mark.parametrize("within", BOTH)
def test_an_exception_is_a_failed_return_and_its_stack_trace_is_in_the_log(desk: Desk, within: Within) -> None:
    returned = invoke(desk.context(), broken, within=within, registry=desk.registry)
    assert (returned.status, returned.errors[0].message) == ("failed", "ValueError: the moon is full")
    assert returned.errors[0].recommendation.startswith("Read the stack trace in the log")
    [error] = desk.events("error")
    assert "in broken" in error["stack_trace"]
    assert error["error"]["made_by"] == "delegtop"
    assert desk.told() == ["register", "error", "return"]


@pytest.mark.parametrize("within", BOTH)
def test_a_subagent_that_leaves_the_program_ends_only_itself(desk: Desk, within: Within) -> None:
    returned = invoke(desk.context(), leaving, within=within, registry=desk.registry)
    assert (returned.status, returned.errors[0].message) == ("failed", "SystemExit: 3")


@pytest.mark.parametrize("within", BOTH)
def test_what_does_not_come_back_in_time_is_partial_and_never_failed(desk: Desk, within: Within) -> None:
    (desk.folder / "plan.md").write_text("half a plan")
    returned = invoke(desk.context(), endless, timeout=0.2, within=within, registry=desk.registry, artifacts=["*.md"])
    assert (returned.status, returned.errors[0].code) == ("partial", "TIMEOUT")
    assert returned.errors[0].recommendation == "Resume with the same command to continue"
    assert [artifact.path for artifact in returned.artifacts] == ["plan.md"]
    assert desk.told() == ["register", "error", "timeout"]
    assert desk.events("register")[0]["timeout"] == 0.2
    assert desk.listed() == {}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (None, "the return must be a JSON object"),
        ("All fine.", "the return must be a JSON object"),
        ({"status": "done"}, 'status is "done", not completed'),
    ],
)
def test_a_return_that_is_none_is_failed_and_says_what_was_wrong(desk: Desk, given: object, problem: str) -> None:
    returned = invoke(desk.context(), lambda _: given, registry=desk.registry)
    assert (returned.status, returned.errors[0].code) == ("failed", "VALIDATION_FAILED")
    assert problem in returned.errors[0].message
    assert (returned.metadata.model_extra or {})["original_return"] == given


def test_a_return_of_another_session_is_failed(desk: Desk) -> None:
    returned = invoke(desk.context(), lambda _: good(desk.command), registry=desk.registry)
    assert returned.status == "failed"
    assert "which was handed out" in returned.errors[0].message


def test_with_a_root_files_that_are_missing_make_it_failed(desk: Desk) -> None:
    def claiming(context: DelegationContext) -> dict[str, Any]:
        return as_object(context) | {"artifacts": [{"type": "plan", "path": "never.md"}]}

    assert invoke(desk.context(), claiming, registry=desk.registry).status == "completed"
    assert invoke(desk.context(), claiming, registry=desk.registry, root=desk.folder).status == "failed"


def test_what_a_thread_returns_after_its_time_is_logged(desk: Desk) -> None:
    gate = Event()

    def late(context: DelegationContext) -> Return:
        gate.wait()
        return good(context)

    assert invoke(desk.context(), late, timeout=0.05, registry=desk.registry).status == "partial"
    gate.set()
    until(lambda: desk.told() == ["register", "error", "timeout", "return"])


def test_a_process_that_dies_without_a_word_is_failed(desk: Desk) -> None:
    returned = invoke(desk.context(), dying, within="process", registry=desk.registry)
    assert (returned.status, returned.errors[0].message) == (
        "failed",
        "its process ended with exit code 9 and gave no return",
    )


def test_what_a_process_cannot_hand_over_is_failed(desk: Desk) -> None:
    assert invoke(desk.context(), unpicklable, within="process", registry=desk.registry).status == "failed"


def test_an_odd_context_gets_its_return_all_the_same() -> None:
    context = DelegationContext(session_id="mine", delegation_depth=7, delegation_path=("a", "a"), timeout=LONG)
    assert invoke(context, broken).status == "failed"
    assert invoke(context, endless, timeout=0.05).status == "partial"


# Command lines


def test_a_command_is_heard_and_its_return_is_found(desk: Desk) -> None:
    script = f"{sys.executable} -c 'import time; print(1)'; cat given.txt"
    context = desk.context()
    (desk.folder / "given.txt").write_text(as_text(context))
    returned = invoke(context, ["sh", "-c", script], registry=desk.registry)
    assert returned.summary == "It is done. Nothing is left."


def test_a_command_without_a_return_is_told_by_its_exit_code(desk: Desk) -> None:
    assert invoke(desk.context(), ["true"], registry=desk.registry).status == "completed"
    returned = invoke(desk.context(), ["sh", "-c", "echo no space left; exit 4"], registry=desk.registry)
    assert (returned.status, returned.errors[0].message) == (
        "failed",
        "worker ended with exit code 4, and said last: no space left",
    )


def test_a_command_that_is_not_there_is_failed_and_says_so(desk: Desk) -> None:
    returned = invoke(desk.context(), ["no-such-command-here"], registry=desk.registry)
    assert (returned.status, returned.errors[0].code) == ("failed", "TOOL_UNAVAILABLE")


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "GRACE", 0.2)
    script = "sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 0.1; done' & wait"

    def give_up() -> Return:
        return invoke(desk.context(), ["sh", "-c", script], timeout=1, registry=desk.registry)

    returned = give_up()
    while not (desk.folder / "pid").exists():  # its time was over before it had begun
        returned = give_up()
    assert returned.status == "partial"
    until(lambda: _is_gone(int((desk.folder / "pid").read_text())))


def _is_gone(pid: int) -> bool:
    try:
        return ") Z" in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_a_command_leaves_behind_is_not_waited_for(desk: Desk) -> None:
    script = "sh -c 'echo $$ > pid; until [ -e enough ]; do sleep 0.05; done' & exit 0"
    assert invoke(desk.context(), ["sh", "-c", script], registry=desk.registry).status == "completed"
    (desk.folder / "enough").touch()


def test_what_a_command_prints_is_its_activity(desk: Desk) -> None:
    script = "echo reading; until grep -qs heartbeat run.jsonl; do sleep 0.05; done"
    invoke(desk.context(), ["sh", "-c", script], registry=desk.registry)
    assert desk.events("heartbeat")[0]["activity"] == "reading"


def test_of_endless_output_the_end_is_kept_and_the_return_in_it_is_found(desk: Desk) -> None:
    context = desk.context()
    (desk.folder / "given.txt").write_text(as_text(context))
    flood = "yes | head -c 20000000"
    returned = invoke(context, ["sh", "-c", f"{flood}; cat given.txt"], registry=desk.registry)
    assert returned.summary == "It is done. Nothing is left."
    returned = invoke(desk.context(), ["sh", "-c", f"cat given.txt; {flood}"], registry=desk.registry)
    assert re.search(
        r"no return in the last 1 MB that it printed, and 18\d{6} bytes before were not kept", returned.summary
    )


def test_all_that_a_command_prints_can_be_had_in_a_file(desk: Desk) -> None:
    (desk.folder / "out.log").write_text("before\n")
    flood = "echo out; echo err >&2; yes | head -c 3000000; exit 3"
    assert invoke(desk.context(), ["sh", "-c", flood], registry=desk.registry, output="out.log").status == "failed"
    kept = (desk.folder / "out.log").read_bytes()
    assert (kept[:15], len(kept)) == (b"before\nout\nerr\n", 3_000_015)
    assert invoke(desk.context(), ["echo"], registry=desk.registry, output="/dev/full").status == "completed"
    with pytest.raises(FileNotFoundError):
        invoke(desk.context(), ["true"], registry=desk.registry, output="no/such/folder.log")
    with pytest.raises(TypeError, match="only of a command line"):
        invoke(desk.context(), good, registry=desk.registry, output="out.log")
    assert desk.listed() == {}


def test_what_a_command_prints_is_kept_in_no_file(desk: Desk) -> None:
    script = "stat -Lc %F /proc/self/fd/1; exit 3"
    returned = invoke(desk.context(), ["sh", "-c", script], registry=desk.registry)
    assert returned.errors[0].message == "worker ended with exit code 3, and said last: fifo"


def test_what_a_command_leaves_behind_may_go_on_printing(desk: Desk) -> None:
    script = "sh -c 'until [ -e enough ]; do echo still here; sleep 0.05; done; echo > done' & exit 0"
    assert invoke(desk.context(), ["sh", "-c", script], registry=desk.registry).status == "completed"
    (desk.folder / "enough").touch()
    until((desk.folder / "done").exists)


def test_what_a_command_asks_at_a_terminal_nobody_answers_so_it_fails_at_once(desk: Desk) -> None:
    returned = invoke(desk.context(), ["sh", "-c", "read answer < /dev/tty"], registry=desk.registry)
    assert returned.status == "failed"


def test_a_good_return_given_at_the_last_moment_is_recorded_beside_the_timeout(desk: Desk) -> None:
    context = desk.context()
    (desk.folder / "given.txt").write_text(as_text(context))
    script = "trap 'cat given.txt; exit 0' TERM; echo > begun; sleep 600 & wait"

    def give_up() -> Return:
        return invoke(context, ["sh", "-c", script], timeout=1, registry=desk.registry)

    assert give_up().status == "partial"
    while not (desk.folder / "begun").exists():  # its time was over before it had begun
        assert give_up().status == "partial"
    assert desk.told()[-4:] == ["register", "error", "timeout", "return"]


def test_a_delegtop_run_inside_of_a_command_finds_its_place(desk: Desk) -> None:
    context = desk.context()
    line = [sys.executable, "-m", "delegtop", "run", "--agent", "inner", "--", "true"]
    assert invoke(context, line, registry=desk.registry).status == "completed"
    inner = desk.events("register")[1]
    assert (inner["parent_session_id"], inner["delegation_depth"]) == (context.session_id, 2)


@pytest.mark.parametrize("subagent", ["ls -l", b"ls", []])
def test_what_is_no_command_line_is_a_mistake_of_the_caller(desk: Desk, subagent: Any) -> None:
    with pytest.raises(TypeError, match="a command line is a list of words"):
        invoke(desk.context(), subagent)


def test_a_timeout_must_be_above_zero(desk: Desk) -> None:
    with pytest.raises(ValueError, match="above 0"):
        invoke(desk.context(), good, timeout=0)


# asyncio


async def agood(context: DelegationContext) -> Return:
    await asyncio.sleep(0)
    return good(context)


async def abroken(_context: DelegationContext) -> None:
    raise ValueError("the moon is full")


async def aendless(_context: DelegationContext) -> None:
    await asyncio.sleep(LONG)


async def stubborn(_context: DelegationContext) -> None:
    try:
        await asyncio.sleep(LONG)
    except asyncio.CancelledError:
        await asyncio.sleep(LONG)


def test_a_coroutine_is_invoked_like_a_function(desk: Desk) -> None:
    async def all_of_them() -> tuple[Return, ...]:
        return await asyncio.gather(
            ainvoke(desk.context(), agood, registry=desk.registry),
            ainvoke(desk.context(), abroken, registry=desk.registry),
            ainvoke(desk.context(), aendless, timeout=0.05, registry=desk.registry),
            ainvoke(desk.context(), stubborn, timeout=0.05, registry=desk.registry),
            ainvoke(desk.context(), ["true"], registry=desk.registry),
            ainvoke(desk.context(), ["sleep", str(LONG)], timeout=0.05, registry=desk.registry),
        )

    told = [returned.status for returned in asyncio.run(all_of_them())]
    assert told == ["completed", "failed", "partial", "partial", "completed", "partial"]
    assert desk.listed() == {}


async def holding_up(_context: DelegationContext) -> None:
    sleep(0.05)  # nothing else of the event loop runs meanwhile, not even what would end it


async def breaking_late(_context: DelegationContext) -> None:
    sleep(0.05)
    raise RuntimeError("much too late")


async def good_but_late(context: DelegationContext) -> Return:
    sleep(0.05)
    return good(context)


def test_a_coroutine_that_holds_up_the_loop_beyond_its_time_is_partial_unless_it_gives_a_good_return(
    desk: Desk,
) -> None:
    given = [holding_up, breaking_late, good_but_late]
    returns = [asyncio.run(ainvoke(desk.context(), each, timeout=0.01, registry=desk.registry)) for each in given]
    assert [returned.status for returned in returns] == ["partial", "partial", "completed"]
    assert [returned.errors[0].code for returned in returns[:2]] == ["TIMEOUT", "TIMEOUT"]


@pytest.mark.parametrize("subagent", [aendless, ["sleep", str(LONG)]])
def test_who_is_cancelled_while_it_waits_cancels_the_work(desk: Desk, subagent: Any) -> None:
    async def impatient() -> None:
        async with asyncio.timeout(0.2):
            await ainvoke(desk.context(), subagent, registry=desk.registry)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert desk.told() == ["register", "cancel"]


def test_a_plain_function_is_not_for_ainvoke(desk: Desk) -> None:
    wrong: Any = good
    returned = asyncio.run(ainvoke(desk.context(), wrong, registry=desk.registry))
    assert (returned.status, returned.errors[0].message) == (
        "failed",
        "TypeError: ainvoke needs a coroutine function; a plain function is for invoke",
    )


def test_a_coroutine_function_is_not_for_invoke(desk: Desk) -> None:
    with pytest.raises(TypeError, match="ainvoke"):
        invoke(desk.context(), agood)
