"""Subagents that do the worst to whoever waits for them: a return comes back all the same, and the log has an end."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.patience import PATIENCE

from delegtop.base.clock import sleep
from delegtop.delegate import (
    DelegationContext,
    DelegationRegistry,
    Journal,
    Return,
    Within,
    ainvoke,
    delegation,
    invoke,
    prepare_delegation,
    standard_return,
)

LONG = 600
COMMAND = prepare_delegation(None, "implement")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def registry(log: Path) -> DelegationRegistry:
    return DelegationRegistry(Journal(log))


def told(log: Path) -> list[str]:
    return [json.loads(line)["event"] for line in log.read_bytes().splitlines()]


def worker(timeout: float = LONG) -> DelegationContext:
    return prepare_delegation(COMMAND, "worker", timeout=timeout)


class Mute(Exception):  # noqa: N818  # it is what it is called
    def __str__(self) -> str:
        raise RuntimeError("not a word")


class Beyond(BaseException):
    pass


def mute(_context: DelegationContext) -> None:
    raise Mute


@pytest.mark.parametrize("within", ["thread", "process"])
def test_an_exception_that_cannot_be_shown_is_a_failed_return_at_once(
    registry: DelegationRegistry, within: Within
) -> None:
    returned = invoke(worker(PATIENCE), mute, within=within, registry=registry)
    assert (returned.status, returned.errors[0].message) == ("failed", "Mute")


@pytest.mark.parametrize("raised", [SystemExit(3), GeneratorExit(), Beyond("all")])
def test_whatever_a_coroutine_raises_comes_back_as_a_failed_return(
    registry: DelegationRegistry, log: Path, raised: BaseException
) -> None:
    async def leaving(_context: DelegationContext) -> None:
        raise raised

    returned = asyncio.run(ainvoke(worker(), leaving, registry=registry))
    assert (returned.status, len(registry)) == ("failed", 0)
    assert returned.errors[0].message.startswith(type(raised).__name__)
    assert told(log) == ["register", "error", "return"]


def circle() -> dict[str, Any]:
    round_: dict[str, Any] = {}
    round_["again"] = round_
    return round_


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize("made", [object, lambda: {1}, lambda: float("nan"), circle, deep, lambda: 10**5000])
@pytest.mark.parametrize("where", ["beside", "alone"])
def test_what_json_cannot_hold_makes_the_return_a_failed_one(
    registry: DelegationRegistry, log: Path, made: Any, where: str
) -> None:
    def strange(context: DelegationContext) -> object:
        good = standard_return(context, "completed", "It is done. All is well.").model_dump(exclude_none=True)
        return {**good, "notes": made()} if where == "beside" else made()

    returned = invoke(worker(), strange, registry=registry)
    assert (returned.status, returned.errors[0].code) == ("failed", "VALIDATION_FAILED")
    assert told(log) == ["register", "error", "return"]
    assert len(registry) == 0


def test_a_process_that_dies_is_noticed_although_what_it_forked_lives_on(
    registry: DelegationRegistry, tmp_path: Path
) -> None:
    def forking(_context: DelegationContext) -> None:
        forked = os.fork()
        if forked == 0:
            sleep(PATIENCE)
            os._exit(0)
        (tmp_path / "forked").write_text(str(forked))
        os._exit(3)

    returned = invoke(worker(PATIENCE / 2), forking, within="process", registry=registry)
    os.kill(int((tmp_path / "forked").read_text()), signal.SIGKILL)
    assert returned.errors[0].message == "its process ended with exit code 3 and gave no return"


def test_commands_that_wait_for_each_other_run_at_the_same_time_however_many(
    registry: DelegationRegistry, tmp_path: Path
) -> None:
    """The last of them lets all of them go."""
    many = 40
    script = f"touch {tmp_path}/$1; until [ -e {tmp_path}/{many - 1} ]; do sleep 0.1; done"

    async def all_of_them() -> list[Return]:
        lines = [["sh", "-c", script, "sh", str(number)] for number in range(many)]
        return await asyncio.gather(*(ainvoke(worker(PATIENCE), line, registry=registry) for line in lines))

    assert {returned.status for returned in asyncio.run(all_of_them())} == {"completed"}


def test_who_is_cancelled_while_a_stubborn_task_has_its_last_second_is_in_the_log(
    registry: DelegationRegistry, log: Path
) -> None:
    async def stubborn(_context: DelegationContext) -> None:
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            callers[0].cancel()
            await asyncio.sleep(LONG)

    async def main() -> None:
        callers.append(asyncio.ensure_future(ainvoke(worker(0.01), stubborn, registry=registry)))
        with pytest.raises(asyncio.CancelledError):
            await callers[0]

    callers: list[asyncio.Future[Return]] = []
    asyncio.run(main())
    assert told(log) == ["register", "cancel"]


def test_a_signal_handler_that_leaves_the_program_cancels_what_it_waits_for(
    registry: DelegationRegistry, log: Path
) -> None:
    def leave(_number: int, _frame: FrameType | None) -> None:
        sys.exit(143)

    def asking(_context: DelegationContext) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        sleep(PATIENCE)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        with pytest.raises(SystemExit), delegation(None, "implement", registry=registry) as work:
            work.invoke("worker", asking)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert told(log) == ["register", "register", "cancel", "cancel"]


def test_a_heartbeat_that_cannot_be_written_does_not_end_the_command(tmp_path: Path) -> None:
    class Full(Journal):
        def heartbeat(self, *_: Any, **__: Any) -> None:
            raise OSError("no space left on device")

    registry = DelegationRegistry(Full(tmp_path / "run.jsonl"))
    line = ["sh", "-c", "echo one; sleep 1.5; echo two"]
    assert invoke(worker(PATIENCE), line, registry=registry).status == "completed"
