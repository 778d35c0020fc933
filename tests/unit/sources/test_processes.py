"""Whether a process is gone: only when that is certain."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from delegtop.base.clock import MINUTE, Millis, WallClock
from delegtop.sources import processes
from delegtop.sources.processes import is_gone


@pytest.fixture
def now() -> Millis:
    return WallClock().now()


def test_this_process_is_not_gone(now: Millis) -> None:
    assert not is_gone(os.getpid(), now)


def test_a_process_that_ended_is_gone(now: Millis) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert is_gone(process.pid, now)


def test_a_process_that_is_dead_and_not_yet_buried_is_gone(now: Millis) -> None:
    if not processes._stat(os.getpid()):
        pytest.skip("this system does not tell the state of a process")
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert is_gone(process.pid, now)
    finally:
        process.wait()


def test_a_process_that_started_after_the_note_is_another_with_the_same_id(now: Millis) -> None:
    if processes.start_ticks(os.getpid()) is None:
        pytest.skip("this system does not tell when a process started")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert not is_gone(process.pid, now)
        assert is_gone(process.pid, Millis(now - MINUTE))
    finally:
        process.communicate(b"\n")


def test_a_process_whose_start_is_not_told_is_not_called_gone(now: Millis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_moment", lambda _ticks: None)
    assert not is_gone(os.getpid(), Millis(now - MINUTE))


@pytest.mark.parametrize("pid", [0, -1, -(2**40), 2**70])
def test_a_number_that_can_be_no_process_is_not_called_gone(pid: int, now: Millis) -> None:
    assert not is_gone(pid, now)


def test_a_process_of_somebody_else_is_not_called_gone(now: Millis, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError(pid, signal)

    monkeypatch.setattr(os, "kill", refuse)
    assert not is_gone(os.getpid(), now)


def test_this_machine_has_a_name() -> None:
    assert processes.hostname()


@pytest.fixture
def own_ticks() -> int:
    ticks = processes.start_ticks(os.getpid())
    if ticks is None:
        pytest.skip("this system does not tell when a process started")
    return ticks


def test_a_process_with_the_start_that_was_noted_is_the_one_that_was_noted(now: Millis, own_ticks: int) -> None:
    assert not is_gone(os.getpid(), now, own_ticks)


def test_a_process_with_another_start_has_only_the_same_id(now: Millis, own_ticks: int) -> None:
    assert is_gone(os.getpid(), now, own_ticks - 1)
    assert is_gone(os.getpid(), now, own_ticks + 1)


@pytest.fixture
def domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of our own pid namespace, on a machine with a known id."""
    try:
        here = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 # a link that leads to no path
    except OSError:
        pytest.skip("this system has no pid namespaces")
    machine = tmp_path / "machine-id"
    machine.write_text("0123456789abcdef" * 2 + "\n")
    monkeypatch.setattr(processes, "_MACHINE", machine)
    return f"linux:{'0123456789abcdef' * 2}:{here}"


@pytest.fixture
def ended() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_in_our_own_pid_namespace_a_process_that_ended_is_gone(ended: int, now: Millis, domain: str) -> None:
    assert is_gone(ended, now, domain=domain)


def test_the_number_of_a_process_in_another_pid_namespace_says_nothing_here(
    ended: int, now: Millis, domain: str
) -> None:
    assert not is_gone(ended, now, domain=domain.rpartition(":")[0] + ":[1]")


def test_the_number_of_a_process_of_another_machine_says_nothing_here(ended: int, now: Millis, domain: str) -> None:
    assert not is_gone(ended, now, domain=domain.replace("0123", "ffff"))


def test_a_domain_of_no_known_form_is_no_reason_to_doubt(ended: int, now: Millis) -> None:
    assert is_gone(ended, now, domain="somewhere")
