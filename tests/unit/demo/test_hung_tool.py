"""The real hung tool of the demo: it hangs, the kernel says why, who ends it frees the path, and it outlives nobody."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.patience import has_ended, until
from tests.quick_looks import look_quickly
from tests.samples import observed

from delegtop.base.clock import WallClock
from delegtop.cli import demo, main
from delegtop.demo.demo_data import MIGRATION
from delegtop.demo.hung_tool import COMMAND, HungTool
from delegtop.demo.simulate import Simulation
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.verdicts import Certainty
from delegtop.setting_tables import Act
from delegtop.settings import Settings

HASTE = 20.0
LINUX = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who waits for whom")


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[HungTool]:
    tool = HungTool(tmp_path)
    yield tool
    tool.close()


def hang(tool: HungTool) -> tuple[int, int]:
    """Let it hang; gives who holds the lock, and who waits for it."""
    tool.hold()
    until(lambda: tool.is_held)
    tool.call()
    assert tool._holder
    assert tool._waiter
    return tool._holder.pid, tool._waiter.pid


# -- the tool itself --------------------------------------------------------------------------------------------------


def test_it_waits_for_as_long_as_nobody_ends_it(tool: HungTool) -> None:
    hang(tool)
    time.sleep(0.3)
    assert tool.is_running


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL", "signal 40"])
def test_who_ends_it_is_told(tool: HungTool, name: str) -> None:
    _, waiter = hang(tool)
    os.kill(waiter, signal.Signals[name] if name.isupper() else 40)
    until(lambda: not tool.is_running)
    assert tool.ended_by == name


def test_once_the_lock_is_free_it_comes_to_its_end_by_itself(tool: HungTool) -> None:
    holder, _ = hang(tool)
    os.kill(holder, signal.SIGTERM)
    until(lambda: not tool.is_running)
    assert tool.ended_by == ""


def test_it_knows_its_own_processes_and_no_others(tool: HungTool) -> None:
    both = hang(tool)
    assert all(map(tool.is_own, both))
    assert not any(map(tool.is_own, (0, 1, -1, os.getpid(), os.getppid())))
    tool.end()
    assert not any(map(tool.is_own, both)), "their numbers may be those of others by now"


def test_in_the_demo_nothing_else_may_be_stopped(tool: HungTool) -> None:
    both = hang(tool)
    acting = demo._acting(Settings(), tool)
    assert acting.enabled
    assert all(map(acting.allows, both))
    assert not any(map(acting.allows, (1, os.getpid(), os.getppid())))
    assert not demo._acting(Settings(act=Act(readonly=True)), tool).enabled


def test_it_may_hang_again(tool: HungTool) -> None:
    first = hang(tool)
    tool.end()
    assert set(hang(tool)).isdisjoint(first)
    assert tool.is_running


def test_once_closed_nothing_begins_any_more(tool: HungTool) -> None:
    both = hang(tool)
    tool.close()
    assert all(map(has_ended, both))
    tool.hold()
    tool.call()
    assert not tool.can_hang
    assert not tool.is_running


def test_where_no_process_can_be_had_nothing_hangs(tool: HungTool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    tool.hold()
    tool.call()
    assert (tool.can_hang, tool.is_running, tool.ended_by) == (False, False, "")


STARTER = """
import sys, time
from pathlib import Path
from delegtop.demo.hung_tool import HungTool
tool = HungTool(Path(sys.argv[1]))
tool.hold()
while not tool.is_held: time.sleep(0.01)
tool.call()
print(tool._holder.pid, tool._waiter.pid, flush=True)
sys.stdin.read()
{end}
"""
ENDS = {
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "left": "import os; os._exit(0)",
    "crashed": "raise RuntimeError",
}
"""Ways to end that put nothing away."""


@contextmanager
def started(folder: Path, end: str) -> Iterator[list[int]]:
    """Both processes, of somebody who ends like that once his standard input does."""
    command = [sys.executable, "-c", STARTER.format(end=end), str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as starter:
        assert starter.stdout
        both = [int(word) for word in starter.stdout.readline().split()]
        assert len(both) == 2
        yield both


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_neither_outlives_who_started_them(tmp_path: Path, end: str) -> None:
    with started(tmp_path, end) as both:
        assert not any(map(has_ended, both))
    until(lambda: all(map(has_ended, both)))


@LINUX
def test_not_even_if_they_are_stopped(tmp_path: Path) -> None:
    with started(tmp_path, ENDS["killed"]) as both:
        for pid in both:
            os.kill(pid, signal.SIGSTOP)
        until(lambda: all("\nState:\tT" in Path(f"/proc/{pid}/status").read_text() for pid in both))
    until(lambda: all(map(has_ended, both)))


# -- in the demo ------------------------------------------------------------------------------------------------------


@pytest.fixture
def simulation(tmp_path: Path, tool: HungTool) -> Iterator[Simulation]:
    simulation = Simulation(1, HASTE, tmp_path, WallClock(), tool=tool)
    simulation.start()
    yield simulation
    simulation.stop()


def told(simulation: Simulation) -> dict[str, list[dict[str, Any]]]:
    """What the log says of those who work on its task, by agent."""
    agents: dict[str, str] = {}
    found: dict[str, list[dict[str, Any]]] = {}
    for line in simulation.log.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # a line is torn on purpose
        if record.get("event") == "register" and record.get("task_number") == MIGRATION.number:
            agents[record["session_id"]] = record.get("subagent", "command")
        if record.get("session_id") in agents:
            found.setdefault(agents[record["session_id"]], []).append(record)
    return found


def ended(simulation: Simulation) -> dict[str, str]:
    return {
        agent: record["return"]["status"]
        for agent, records in told(simulation).items()
        for record in records
        if record["event"] == "return"
    }


def called(simulation: Simulation) -> bool:
    return any(record.get("activity") == COMMAND for record in told(simulation).get("implementer", ()))


def test_who_ends_it_frees_the_path(simulation: Simulation, tool: HungTool) -> None:
    until(lambda: called(simulation) and tool.is_running)
    assert not ended(simulation)
    assert tool._waiter
    os.kill(tool._waiter.pid, signal.SIGTERM)
    everybody = dict.fromkeys(("implementer", "status-sync-manager", "task-executor", "command"), "completed")
    until(lambda: ended(simulation) == everybody, every=0.1)
    words = [record.get("activity", "") for record in told(simulation)["implementer"]]
    assert any("SIGTERM" in each for each in words)


def test_if_nobody_does_the_orchestrator_gives_up_in_the_end(tmp_path: Path, tool: HungTool) -> None:
    simulation = Simulation(1, 2_000, tmp_path, WallClock(), tool=tool)
    simulation.start()
    try:
        until(lambda: "command" in ended(simulation), every=0.1)
    finally:
        simulation.stop()
    assert ended(simulation) == {"task-executor": "partial", "command": "partial"} | {
        agent: "completed" for agent in ended(simulation) if agent == "status-sync-manager"
    }
    assert "timeout" in [record["event"] for record in told(simulation)["implementer"]]


@LINUX
def test_the_kernel_says_for_whom_it_waits(
    simulation: Simulation, tool: HungTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_quickly(monkeypatch)
    until(lambda: called(simulation) and tool.is_running)
    assert tool._holder
    assert tool._waiter
    with observed(simulation.log.parent, clock=WallClock()) as seen:
        seen.catch_up()

        def hung() -> list[Assessment]:
            seen.look()
            return [each for each in seen.assessments.now() if COMMAND in each.sentence(seen.now)]

        until(lambda: any(each.certainty is Certainty.CERTAIN for each in hung()), "the kernel's word")
        (found,) = hung()
        said = found.sentence(seen.now)
        assert found.kind == "hung in a tool"
        assert f"(pid {tool._waiter.pid}) waits for a lock" in said
        assert f"that pid {tool._holder.pid} `" in said
        assert "./manage backup` holds" in said
        assert [seen.forest.delegation(above).agent for above in found.blocks] == ["task-executor", None]


def test_what_is_only_written_has_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    assert main(["demo", "--write", str(tmp_path / "made")]) == 0
    assert COMMAND not in (tmp_path / "made" / "session.jsonl").read_text("utf-8")
