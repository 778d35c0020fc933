"""What is said when somebody sets the clock of the machine while delegations are watched."""

import json
import os
import socket
import time
from pathlib import Path

import pytest
from tests.watching import register

from delegtop.base.clock import DAY, MINUTE, SECOND, Millis, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.assessment import Urgency
from delegtop.model.states import State
from delegtop.observation.observation import Changes, Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

SESSION = "11111111-2222-4333-8444-555555555555"


class SetClock:
    """A clock that somebody sets before each of the first looks, or of those that follow them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: int, after: int = 0) -> None:
        self._real, self._look, self._steps, self._looks = time.time_ns, Observation.look, steps, -after
        monkeypatch.setattr(time, "time_ns", lambda: self._real() + self._set() * 1_000_000)
        monkeypatch.setattr(Observation, "look", lambda seen: self.look(seen))

    def _set(self) -> int:
        return sum(self._steps[: max(self._looks, 0)])

    def look(self, seen: Observation) -> Changes:
        self._looks += 1
        return self._look(seen)

    @property
    def is_over(self) -> bool:
        """Whether it was set as often as it is, and was looked at twice since."""
        return self._looks > len(self._steps) + 1


@pytest.fixture(params=[{}, {"pid": os.getpid(), "host": socket.gethostname()}], ids=["", "of a known process"])
def _running(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = json.loads(register("aaa111")) | {"at": iso(WallClock().now())} | request.param
    Path("run.jsonl").write_text(json.dumps(told) + "\n")


@pytest.mark.usefixtures("_running")
@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([2 * DAY], "the clock was set forward by 2d00h"),
        ([-2 * DAY], "the clock was set back by 2d00h"),
        ([2 * DAY, -2 * DAY], "the clock was set right again"),
    ],
    ids=["forward", "back", "forward and back"],
)
def test_nothing_is_lost_nor_overdue_by_it_and_it_is_told(
    steps: list[int], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = SetClock(monkeypatch, *steps, after=2)  # by then all was read
    monkeypatch.setattr(Observation, "is_over", property(lambda _seen: clock.is_over))
    monkeypatch.setattr(Observation, "wait", lambda _seen, _seconds: None)
    assert main(["watch", "run.jsonl", "--timeout", "2m"]) == Exit.OK
    said = capsys.readouterr()
    assert words in said.err
    assert not [state for state in ("lost", "overdue", "silent") if state in said.out]


@pytest.mark.usefixtures("_running")
@pytest.mark.parametrize("steps", [[2 * DAY], [-2 * DAY], [2 * DAY, -2 * DAY]], ids=["forward", "back", "and back"])
def test_nor_is_anything_suspicious_or_somebody_needed(steps: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of a delegation that was heard of just now, nor of one that waits for a tool for half a minute."""
    began = iso(Millis(WallClock().now() - 30 * SECOND))
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
    record = {"type": "assistant", "message": {"role": "assistant", "content": [call]}, "timestamp": began}
    session = {"sessionId": SESSION, "uuid": "u1", "cwd": "/work", "version": "2.1.325", "isSidechain": False}
    Path("session.jsonl").write_text(json.dumps(record | session) + "\n")
    with opened(Places(["run.jsonl", "session.jsonl"]), Settings()) as seen:
        seen.catch_up()
        SetClock(monkeypatch, *steps)
        for _ in steps:
            Observation.look(seen)
        found = [seen.assessments.of(handle) for handle in seen.forest.walk()]
        assert [(each.state, each.verdict, each.urgency) for each in found] == [
            (State.RUNNING, None, Urgency.AT_WORK),
            (State.RUNNING, None, Urgency.AT_WORK),
        ]
        quiet = [seen.forest.delegation(handle).quiet_since for handle in seen.forest.walk()]
        assert all(at is not None and seen.forest.shown_at - at < 10 * MINUTE for at in quiet)
