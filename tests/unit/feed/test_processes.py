"""A delegation whose process is gone is lost."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.watching import Opener, append, returned

from delegtop.base.clock import FrozenClock, Millis, WallClock, iso
from delegtop.feed import process_watch
from delegtop.model.states import State
from delegtop.sources import processes

HERE = socket.gethostname()


class TestProcesses:
    @pytest.fixture(autouse=True)
    def _check_at_every_poll(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(process_watch, "EVERY", 0.0)

    @pytest.fixture
    def dead(self) -> int:
        """The id of a process that was there and is not any more."""
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return process.pid

    def started(self, pid: int, host: str = HERE) -> str:
        now = WallClock().now()
        return json.dumps(
            {
                "event": "register",
                "at": iso(now),
                "session_id": "sess_20260501_aaa111",
                "subagent": "planner",
                "timeout": 3600,
                "pid": pid,
                "host": host,
            }
        ) + "\n"  # fmt: skip

    def test_a_delegation_whose_process_is_gone_is_lost(self, dead: int, watch: Opener, log: Path) -> None:
        log.write_text(self.started(dead))
        it = watch(log, clock=WallClock())
        it.look(2)
        assert it.state("aaa111") is State.LOST
        assert it.look(3) == []

    def test_it_is_noticed_by_one_look_at_everything_too(self, dead: int, watch: Opener, log: Path) -> None:
        log.write_text(self.started(dead))
        it = watch(log, clock=WallClock())
        it.forest.apply(event for batch in it.feed.read_all() for event in batch.events)
        it.forest.advance(it.clock.now())
        assert it.state("aaa111") is State.LOST

    def test_a_return_that_comes_after_all_outweighs_the_loss(self, dead: int, watch: Opener, log: Path) -> None:
        log.write_text(self.started(dead))
        it = watch(log, clock=WallClock())
        it.look(2)
        append(log, returned("aaa111"))
        it.look(2)
        assert it.state("aaa111") is State.COMPLETED

    def test_one_whose_process_lives_is_running(self, watch: Opener, log: Path) -> None:
        log.write_text(self.started(os.getpid()))
        it = watch(log, clock=WallClock())
        it.look(3)
        assert it.state("aaa111") is State.RUNNING

    def test_one_that_has_returned_is_not_looked_at(
        self, dead: int, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "is_gone", self.never)
        log.write_text(self.started(dead) + returned("aaa111"))
        it = watch(log, clock=WallClock())
        it.look(3)
        assert it.state("aaa111") is State.COMPLETED

    def test_a_process_of_another_machine_is_never_looked_at(
        self, dead: int, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "is_gone", self.never)
        log.write_text(self.started(dead, host="elsewhere"))
        it = watch(log, clock=WallClock())
        it.look(3)
        assert it.state("aaa111") is State.RUNNING

    def test_none_is_looked_at_while_the_clock_stands_still(
        self, dead: int, watch: Opener, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processes, "is_gone", self.never)
        log.write_text(self.started(dead))
        it = watch(log, clock=FrozenClock(WallClock().now()))
        it.look(3)
        assert it.state("aaa111") is State.RUNNING

    @staticmethod
    def never(pid: int, noted_at: Millis) -> bool:
        raise AssertionError(f"process {pid} of {noted_at} must not be looked at")
