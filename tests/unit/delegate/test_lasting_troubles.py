"""What goes wrong around an orchestrator while it waits: disks, clocks, forks, signals and cancelled tasks."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.run_shell import is_alive

from delegtop.base.clock import HOUR, FrozenClock, Millis, WallClock, sleep
from delegtop.delegate import (
    DelegationContext,
    DelegationRegistry,
    Journal,
    Return,
    SharedRegistryFile,
    Within,
    ainvoke,
    delegation,
    invoke,
    prepare_delegation,
    standard_return,
)
from delegtop.delegate import registry as registries


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run.jsonl"


@pytest.fixture
def registry(log: Path) -> DelegationRegistry:
    return DelegationRegistry(Journal(log), SharedRegistryFile(log.parent / "registry.json"))


def worker(name: str = "worker") -> DelegationContext:
    return prepare_delegation(None, name, timeout=PATIENCE)


def good(context: DelegationContext) -> Return:
    return standard_return(context, "completed", "It is done. Nothing is left.")


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


def told(log: Path) -> list[str]:
    return [event["event"] for event in events(log)]


# A disk that is full, a folder that cannot be written


class Full(Journal):
    """The log of a disk that is full."""

    def _append(self, *_: Any) -> None:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("subagent", [good, ["true"]])
def test_a_log_that_cannot_be_written_costs_one_warning_and_neither_work_nor_return(
    log: Path, caplog: pytest.LogCaptureFixture, subagent: Any
) -> None:
    registry = DelegationRegistry(Full(log))
    with delegation(None, "implement", registry=registry) as work:
        assert work.invoke("worker", subagent).status == "completed"
        assert work.invoke("worker", ["sh", "-c", "exit 3"]).status == "failed"
    assert work.returned is not None
    assert work.returned.status == "partial"
    assert [record.getMessage() for record in caplog.records] == [
        "the log cannot be written, the work goes on: No space left on device"
    ]


def test_a_folder_that_cannot_be_written_is_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with delegation(None, "plan", log=tmp_path / "file" / "run.jsonl", registry=tmp_path / "file" / "r.json") as work:
        work.complete("It is done. All of it.")
    assert len(caplog.records) == 1


# Many at once


@pytest.mark.parametrize(("subagent", "within"), [(good, "thread"), (good, "process"), (["true"], "thread")])
def test_many_at_once_leave_nothing_behind(
    registry: DelegationRegistry, log: Path, subagent: Any, within: Within
) -> None:
    invoke(worker(), good, within="process", registry=registry)  # what is made only once is not counted
    before = (len([*Path("/proc/self/fd").iterdir()]), threading.active_count())
    with ThreadPoolExecutor(24) as pool:
        work = [
            pool.submit(invoke, worker(f"worker-{number}"), subagent, within=within, registry=registry)
            for number in range(32)
        ]
        assert Counter(each.result().status for each in work) == {"completed": 32}
    assert (len([*Path("/proc/self/fd").iterdir()]), threading.active_count()) == before
    assert Counter(told(log)) == {"register": 33, "return": 33}
    assert json.loads((log.parent / "registry.json").read_bytes()) == {}
    assert sorted(path.name for path in log.parent.iterdir()) == [".registry.json.lock", "registry.json", "run.jsonl"]


def test_what_ended_long_ago_is_forgotten(registry: DelegationRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registries, "REMEMBERED", 5)
    contexts = [worker() for _ in range(8)]
    for context in contexts:
        invoke(context, good, registry=registry)
    assert [registries.keeper_of(context.session_id) is registry for context in contexts] == [False] * 3 + [True] * 5


# Whoever waits is gone


ORCHESTRATOR = """
import sys
from pathlib import Path
from delegtop.delegate import DelegationRegistry, Journal, SharedRegistryFile, invoke, prepare_delegation
def endless(context):
    import time
    Path("begun").touch()
    time.sleep(600)
command = ["sh", "-c", "touch begun; exec sleep 600"]
registry = DelegationRegistry(Journal(Path("run.jsonl")), SharedRegistryFile(Path("registry.json")))
subagent, within = {"command": (command, "thread"), "process": (endless, "process")}[sys.argv[1]]
invoke(prepare_delegation(None, "worker"), subagent, within=within, registry=registry)
"""


@pytest.mark.parametrize("kind", ["command", "process"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_if_who_waits_is_killed_the_process_in_the_log_is_the_one_that_works_on(
    registry: DelegationRegistry, log: Path, kind: str, number: signal.Signals
) -> None:
    running = subprocess.Popen([sys.executable, "-c", ORCHESTRATOR, kind], cwd=log.parent)
    until((log.parent / "begun").exists)
    until(lambda: told(log) == ["register"])
    running.send_signal(number)
    running.wait(timeout=PATIENCE)
    [pid] = [event["pid"] for event in events(log)]
    assert pid != running.pid
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    invoke(worker("next"), good, registry=registry)
    assert json.loads((log.parent / "registry.json").read_bytes()) == {}


# Cancelled


async def agood(context: DelegationContext) -> Return:
    await asyncio.sleep(PATIENCE)
    return good(context)


@pytest.mark.parametrize("subagent", [agood, ["sleep", "600"]])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 30])
def test_whenever_it_is_cancelled_nothing_stays_open(
    registry: DelegationRegistry, log: Path, subagent: Any, steps: int
) -> None:
    async def impatient() -> None:
        async def block() -> None:
            async with delegation(None, "implement", registry=registry) as work:
                await work.ainvoke("worker", subagent)

        task = asyncio.ensure_future(block())
        for _ in range(steps):
            await asyncio.sleep(0.005 if steps > 5 else 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(impatient())
    # A command that was begun when nobody wanted it any more is neither registered nor left.
    until(lambda: not [each for each in threading.enumerate() if each.name.startswith("ThreadPoolExecutor")])
    counted = Counter(told(log))
    assert counted["register"] == counted["cancel"]
    assert len(registry) == 0


def test_what_a_stubborn_task_returns_after_its_time_is_logged(registry: DelegationRegistry, log: Path) -> None:
    async def stubborn(context: DelegationContext) -> Return:
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return good(context)

    returned = asyncio.run(ainvoke(worker(), stubborn, timeout=0.01, registry=registry))
    assert returned.status == "partial"
    assert sorted(told(log)) == ["error", "register", "return", "timeout"]


# A thread that cannot be ended


def test_of_a_thread_that_goes_on_it_is_said_that_it_does(registry: DelegationRegistry) -> None:
    gate = threading.Event()
    returned = invoke(worker("stayer"), lambda _: gate.wait(), timeout=0.01, registry=registry)
    assert returned.errors[0].message == "stayer exceeded its timeout of 0.01s; its thread cannot be ended and goes on"
    assert "delegation stayer" in [each.name for each in threading.enumerate()]
    gate.set()
    process = invoke(worker(), endless, within="process", timeout=0.2, registry=registry)
    assert process.errors[0].message == "worker exceeded its timeout of 0.2s"


def endless(_context: DelegationContext) -> None:
    sleep(PATIENCE)


# Forks and other processes


def test_a_process_is_not_held_up_by_a_lock_that_another_thread_held(registry: DelegationRegistry) -> None:
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with registry._lock:  # as any other thread of an orchestrator may, at any moment
            held.set()
            free.wait()

    context = worker()
    registry.register(context)
    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    pid = os.fork()
    if pid == 0:
        registry.error(context.session_id, {"message": "from the fork"})
        registry.cancel(context.session_id)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    free.set()
    other.join()


SPAWNED = """
import multiprocessing, sys
from delegtop.delegate import invoke, prepare_delegation
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    print(*[(each.status, each.errors[0].message) for each in [
        invoke(prepare_delegation(None, "worker"), lambda _: None, within="process")]], sep="\\n")
"""


def test_what_cannot_be_handed_to_a_process_is_failed_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SPAWNED)
    line = [sys.executable, "program.py"]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert ended.stdout.startswith("('failed', ")
    assert "pickle" in ended.stdout


# What comes back


def deep() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(100_000):
        found = {"a": found}
    return found


HOSTILE: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "not a number": lambda good: {**good, "cost": float("nan")},
    "a lone surrogate": lambda good: {**good, "summary": "It is done \ud800. All of it."},
    "deep": lambda good: {**good, "extra": deep()},
    "large": lambda good: {**good, "summary": "x" * 3_000_000},
}


@pytest.mark.parametrize("within", ["thread", "process"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_is_in_a_return_it_comes_back_and_the_log_stays_readable(
    registry: DelegationRegistry, log: Path, kind: str, within: Within
) -> None:
    def hostile(context: DelegationContext) -> dict[str, Any]:
        return HOSTILE[kind](good(context).model_dump(mode="json", exclude_none=True))

    returned = invoke(worker(), hostile, within=within, registry=registry)
    assert returned.status == "failed"
    assert told(log)[-1] == "return"
    assert log.stat().st_size < 300_000


# Clocks


def test_a_clock_that_is_set_ends_nothing(registry: DelegationRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.register(worker())
    ahead = WallClock().now() + 48 * HOUR
    monkeypatch.setattr(WallClock, "now", lambda _: Millis(ahead))
    assert registry.monitor() == {}
    assert len(registry) == 1


def test_files_are_new_although_the_clock_was_set_back(
    registry: DelegationRegistry, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_context: DelegationContext) -> None:
        (log.parent / "plan.md").write_text("half")
        back = WallClock().now() - HOUR
        os.utime(log.parent / "plan.md", (back / 1000, back / 1000))
        monkeypatch.setattr(WallClock, "now", lambda _: Millis(back + 100))
        sleep(1)

    returned = invoke(worker(), slow, timeout=0.5, artifacts=["*.md"], registry=registry)
    assert [artifact.path for artifact in returned.artifacts] == ["plan.md"]


def test_a_clock_of_ones_own_is_believed(log: Path) -> None:
    clock = FrozenClock(Millis(0))
    registry = DelegationRegistry(Journal(log), clock=clock)
    context = worker()
    registry.register(context)
    clock.set(Millis(int(PATIENCE * 1000) + 1))
    assert list(registry.monitor()) == [context.session_id]
