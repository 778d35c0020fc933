"""Whether a process is gone: only when that is certain."""

import os
import subprocess
import sys

import pytest

from delegtop.clock import MINUTE, Millis, WallClock
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


def test_a_process_that_started_after_the_note_is_another_with_the_same_id(now: Millis) -> None:
    if processes._started_at(os.getpid()) is None:
        pytest.skip("this system does not tell when a process started")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert not is_gone(process.pid, now)
        assert is_gone(process.pid, Millis(now - MINUTE))
    finally:
        process.communicate(b"\n")


def test_a_process_whose_start_is_not_told_is_not_called_gone(now: Millis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_started_at", lambda _pid: None)
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
