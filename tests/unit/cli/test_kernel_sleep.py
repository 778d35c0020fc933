"""Everybody is silent for a quarter of an hour, and then a new session begins: either the machine slept, or all waited
in vain, and the kernel knows which."""

import json
from pathlib import Path

import pytest
from tests.homes import Transcript
from tests.telling import handle_of, place

from delegtop.app.state import board
from delegtop.app.state.board import Board
from delegtop.base.clock import DAY, HOUR, MINUTE, SECOND, Millis, Slept, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.model.events import Heard, Started
from delegtop.model.forest import Forest
from delegtop.model.shortening import Shortening
from delegtop.observation import observation
from delegtop.settings import Settings


def asked(number: int, ago: int) -> str:
    """A session that asked its model so long ago, and had no answer."""
    session = f"{number:08x}-0000-4000-8000-00000000000a"
    log = Transcript(session, str(Path.cwd()))
    log.asked(WallClock().now() - ago, "hello")
    log.keep(Path(f"{session}.jsonl"))
    return session


@pytest.fixture(autouse=True)
def _evening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, ago in enumerate((1_400, 1_390, 20)):
        asked(number, ago * SECOND)


def kernel_says(monkeypatch: pytest.MonkeyPatch, told: int | None) -> None:
    booted = Millis(WallClock().now() - DAY)
    monkeypatch.setattr(observation, "slept", lambda: None if told is None else Slept(told, booted))


def kinds(capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    """What the tree says is going on with each."""
    main(["tree", ".", "--json", *more])
    rows = json.loads(capsys.readouterr().out)["delegations"]
    return sorted(row["assessment"]["kind"] for row in rows)


def test_a_new_session_excuses_nobody_if_the_machine_was_awake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_says(monkeypatch, 0)
    assert kinds(capsys) == ["no model answer", "no model answer", "running"]
    assert main(["tree", ".", "--exit-code"]) == Exit.STUCK
    assert "the machine was awake, as its kernel says" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("told", [None, 30 * MINUTE])
def test_it_does_if_the_machine_slept_or_nobody_knows(
    told: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_says(monkeypatch, told)
    assert "no model answer" not in kinds(capsys)
    assert main(["tree", ".", "--exit-code"]) == Exit.OK


def test_the_dashboard_asks_the_kernel_as_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = WallClock().now()
    told, seen = Slept(0, Millis(now - DAY)), Board(Settings(), WallClock())
    monkeypatch.setattr(board, "slept", lambda: told)
    minutes = [Heard("quiet", Millis(now - 60 * MINUTE), place()), Heard("other", Millis(now - MINUTE), place())]
    seen.receive([Started("quiet", Millis(now - 60 * MINUTE), place(), product="codex"), *minutes])
    seen.loaded()
    seen.advance()
    quiet = handle_of(seen.forest, "quiet")
    assert seen.assessments.of(quiet).kind == "silent"
    told = Slept(58 * MINUTE, told.booted_at)
    seen.advance()
    assert seen.assessments.of(quiet).kind == "host slept"


def test_of_trees_without_rows_nothing_is_told_otherwise() -> None:
    forest, shorter = Forest(), Forest()
    for each in (forest, shorter):
        each.apply([Heard("quiet", Millis(0), place()), Heard("quiet", Millis(HOUR), place())])
        each.heed_kernel(Slept(0, Millis(-DAY)))
        each.advance(Millis(HOUR))
    shortening = Shortening(shorter, 0, Millis(0))
    while not shortening.work(1):
        pass
    shorter.become(shortening.finish())
    assert [*forest.sleeps(Millis(0))] == [*shorter.sleeps(Millis(0))] == []


def test_of_another_moment_than_the_present_the_kernel_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_says(monkeypatch, 0)
    assert "no model answer" not in kinds(capsys, "--at", iso(WallClock().now()))
