"""Which process is meant by a hung tool, in trees of real shells, and what ending it does to the rest of them."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.patience import until

from delegtop.act.tool_process import ToolProcess, tool_process
from delegtop.base.clock import Millis, WallClock
from delegtop.base.origin import kernel
from delegtop.base.text import line
from delegtop.kernel.process_table import ProcessTable
from delegtop.model.events import ProcessSeen, WaitsFor

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc to look at")


@contextmanager
def shell(command: str, names: set[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A shell as an agent starts it, once all of these run below it."""
    line = f"eval '{command}' && pwd -P > /dev/null"
    process = subprocess.Popen(["bash", "-c", line], stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        until(lambda: names <= set(named(process.pid)), f"that {names} run")
        yield process
    finally:
        table = ProcessTable()
        for pid in reversed(table.below(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def named(top: int) -> dict[str, int]:
    table = ProcessTable()
    return {table.words(pid): pid for pid in table.below(top)}


def seen(pid: int, waits_for: WaitsFor = WaitsFor.TIMER, **more: object) -> ProcessSeen:
    now = WallClock().now()
    told = line(ProcessTable().words(pid), 300)
    fields: dict[str, object] = {"command": told, **more}
    return ProcessSeen("a", now, kernel(pid), pid, waits_for, **fields)  # type: ignore[arg-type]  # by their names


def meant(event: ProcessSeen, agent: int | None = None) -> ToolProcess:
    return tool_process(ProcessTable(), os.getpid() if agent is None else agent, event)


def test_the_command_that_hangs_is_meant_and_not_its_shell() -> None:
    with shell("tail -f /dev/null", {"tail -f /dev/null"}) as process:
        tail = named(process.pid)["tail -f /dev/null"]
        for known in (tail, process.pid):  # whichever of them the kernel's word is about
            found = meant(seen(known, WaitsFor.NOTHING))
            assert (found.pid, found.top, found.others) == (tail, process.pid, 1)
        os.kill(tail, signal.SIGTERM)
        assert process.wait() == 143


def test_a_shell_that_waits_lets_an_interrupt_pass() -> None:
    """Why it is not the one to signal."""
    with shell("tail -f /dev/null", {"tail -f /dev/null"}) as process:
        os.kill(process.pid, signal.SIGINT)
        os.kill(named(process.pid)["tail -f /dev/null"], signal.SIGUSR1)
        assert process.wait() == 128 + signal.SIGUSR1  # what its command died of


def test_of_a_pipeline_the_first_is_meant_for_the_others_wait_for_it() -> None:
    parts = {"tail -f /dev/null", "grep x", "wc -l"}
    with shell("tail -f /dev/null | grep x | wc -l", parts) as process:
        pids = named(process.pid)
        for part in ("grep x", "wc -l"):
            assert meant(seen(pids[part], WaitsFor.INPUT)).pid == pids["tail -f /dev/null"]
        os.kill(pids["tail -f /dev/null"], signal.SIGINT)
        assert process.wait() == 0  # the last of a pipeline decides


def test_of_a_pipeline_one_that_waits_for_something_else_is_meant_itself() -> None:
    with shell("sleep 1000 | tail -f /dev/null", {"sleep 1000", "tail -f /dev/null"}) as process:
        tail = named(process.pid)["tail -f /dev/null"]
        assert meant(seen(tail, WaitsFor.LOCK)).pid == tail


def test_a_shell_goes_on_with_the_next_command_which_is_meant_then() -> None:
    with shell("tail -f /dev/null; sleep 1000", {"tail -f /dev/null"}) as process:
        first = meant(seen(process.pid, WaitsFor.CHILD))
        assert first.pid is not None
        os.kill(first.pid, signal.SIGINT)
        until(lambda: "sleep 1000" in named(process.pid), "that the next command runs")
        assert meant(seen(process.pid, WaitsFor.CHILD)).pid == named(process.pid)["sleep 1000"]


def test_a_subshell_is_looked_through() -> None:
    with shell("( ( tail -f /dev/null ; true ) ; true ); true", {"tail -f /dev/null"}) as process:
        assert meant(seen(process.pid, WaitsFor.CHILD)).pid == named(process.pid)["tail -f /dev/null"]


def test_a_shell_that_waits_for_nobody_is_meant_itself() -> None:
    with shell("while true; do :; done", set()) as process:
        assert meant(seen(process.pid, WaitsFor.NOTHING)).pid == process.pid


def test_whoever_holds_what_it_waits_for_is_spared() -> None:
    with shell("sleep 1000", {"sleep 1000"}) as holder, shell("tail -f /dev/null", {"tail -f /dev/null"}) as process:
        event = seen(named(holder.pid)["sleep 1000"], WaitsFor.LOCK, call_pid=process.pid)
        assert meant(event).pid == named(process.pid)["tail -f /dev/null"]


def test_what_is_no_longer_below_its_agent_is_not_signalled() -> None:
    with shell("sleep 1000", {"sleep 1000"}) as agent, shell("tail -f /dev/null", {"tail -f /dev/null"}) as process:
        event = seen(named(process.pid)["tail -f /dev/null"])
        assert "not below the process of its session" in meant(event, agent.pid).why_not


def test_what_runs_something_else_than_was_seen_or_began_later_is_not_signalled() -> None:
    with shell("tail -f /dev/null", {"tail -f /dev/null"}) as process:
        tail = named(process.pid)["tail -f /dev/null"]
        assert "runs something else" in meant(seen(tail, command="tail -f log")).why_not
        before = seen(tail)
        early = ProcessSeen("a", Millis(before.at - 3_600_000), before.origin, tail, WaitsFor.TIMER)
        assert "runs something else" in meant(early).why_not


def test_the_agent_itself_is_never_taken_for_its_tool() -> None:
    event = seen(os.getpid(), WaitsFor.STOPPED)
    assert "the agent itself is stopped" in meant(event).why_not
    assert "one process" in meant(seen(os.getpid())).why_not


def test_a_tool_that_has_ended_or_is_gone_is_said_to_be() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert "has ended already" in meant(seen(gone.pid, WaitsFor.ENDED)).why_not
    assert "is gone" in meant(seen(gone.pid)).why_not
