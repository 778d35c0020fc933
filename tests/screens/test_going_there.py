"""J leads to a session only where that is safe: now, on this machine, with a command that hides nothing."""

import gc
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import stand_ins
from tests.piloting import until
from tests.recorded_hosts import record_as
from tests.samples import MOMENTS, lay_out, moment
from tests.screens.looking import ready
from tests.screens.test_transcript import app_on
from textual.pilot import Pilot

from delegtop.app import tmux_panes
from delegtop.app.main import DelegtopApp
from delegtop.app.screens.going_there import GoingThere
from delegtop.app.screens.open_session import OpenSession
from delegtop.app.tmux_panes import Pane
from delegtop.base.clock import FrozenClock, WallClock
from delegtop.model.forest import Forest

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]


class Tmux:
    """A tmux that is asked and never runs anything."""

    def __init__(self) -> None:
        self.panes: list[Pane] = [Pane(1 << 22, "%1", "$0")]
        self.shown: list[str] = []
        self.opened: list[str] = []

    def open(self, command: str) -> str:
        self.opened.append(command)
        self.panes.append(Pane((1 << 22) + 1, "%2", "$0"))
        return "%2"


@pytest.fixture
def tmux(monkeypatch: pytest.MonkeyPatch) -> Tmux:
    made = Tmux()
    monkeypatch.setenv("TMUX", "/nowhere,1,0")
    monkeypatch.setenv("TMUX_PANE", "%1")
    monkeypatch.setattr(tmux_panes, "panes", lambda: made.panes)
    monkeypatch.setattr(tmux_panes, "go", lambda pane, _: made.shown.append(pane.id))
    monkeypatch.setattr(tmux_panes, "open_window", made.open)
    monkeypatch.setattr(GoingThere, "_opened", {})
    return made


def told(app: DelegtopApp) -> str:
    return " ".join(str(notice.message) for notice in app._notifications)


async def pressed(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: not any(worker.is_running for worker in pilot.app.workers), "it is done")


async def test_of_what_belongs_to_no_program_there_is_no_session(make_app: MakeApp, tmux: Tmux) -> None:
    app = make_app()
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "J")
        assert "No session to go to" in told(app)
        assert not tmux.opened


async def test_in_the_past_nothing_is_opened(tmp_path: Path, tmux: Tmux) -> None:
    app = app_on(lay_out("claude-code", tmp_path), FrozenClock(moment(MOMENTS["claude-code"])))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "J", "J")
        assert "this is the past" in told(app)
        assert app.screen is app.monitor
        assert not tmux.opened


async def test_another_moment_that_is_shown_meanwhile_does_not_disturb_the_way_there(
    tmp_path: Path, tmux: Tmux
) -> None:
    stand_ins.claude(tmp_path, tmp_path / "work", ago=60)
    app = app_on(tmp_path / ".claude/projects", WallClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        app.monitor.action_go_there()
        app.board.leap(Forest())  # before the worker's first step
        await until(pilot, lambda: isinstance(app.screen, OpenSession), "the session is offered")
        assert not tmux.opened


async def test_one_of_another_host_is_not_opened(tmp_path: Path, tmux: Tmux) -> None:
    stand_ins.claude(tmp_path, tmp_path / "work", ago=60)
    recording = record_as("gpu", tmp_path / "gpu.delegtop", tmp_path / ".claude/projects", at=WallClock().now())
    app = app_on(recording, WallClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "J")
        assert "it is on gpu, and sessions are opened on this machine" in told(app)
        assert not tmux.opened


async def test_a_recording_opens_nothing(tmp_path: Path, tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_ins.claude(tmp_path, tmp_path / "work", ago=60)
    app = app_on(tmp_path / ".claude/projects", WallClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        monkeypatch.setattr(app.reader.feed, "is_first_hand", lambda _: False)
        await pressed(pilot, "J")
        assert "this is a recording" in told(app)
        await pressed(pilot, "V")
        assert "a recording tells of it" in told(app)
        assert not tmux.opened


@pytest.mark.parametrize(
    "folder", ["two\nlines", "bell\x07", "gnp\u202e.exe", "zero\u200bwidth", "key sk-ant-api03-" + "a1" * 20]
)
async def test_a_command_that_hides_something_is_not_offered(tmp_path: Path, tmux: Tmux, folder: str) -> None:
    stand_ins.claude(tmp_path, tmp_path / folder, ago=60)
    app = app_on(tmp_path / ".claude/projects", WallClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "J")
        assert "must not be run" in told(app)
        assert app.screen is app.monitor
        assert not tmux.opened


@pytest.mark.parametrize(
    "id", ["--dangerously-skip", "$(touch x)", "; touch x", "`touch x`", "'x'", "a b", "#(touch x)", "%1"]
)
async def test_an_id_of_a_log_is_one_word_of_the_command_or_there_is_none(tmp_path: Path, tmux: Tmux, id: str) -> None:
    log = stand_ins.claude(tmp_path, tmp_path / "work", ago=60)
    record = json.loads(log.read_text())
    log.unlink()
    stand_ins.write(log.with_name("session.jsonl"), {**record, "sessionId": id})
    app = app_on(tmp_path / ".claude/projects", WallClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "J")
        if isinstance(app.screen, OpenSession):
            await pressed(pilot, "o")
            assert shlex.split(tmux.opened[0])[-2:] == ["--resume", id]
            assert not id.startswith("-")
        else:
            assert "Not opened" in told(app)
            assert not tmux.opened


async def test_enter_cancels_o_opens_and_one_that_is_on_its_way_is_not_opened_twice(tmp_path: Path, tmux: Tmux) -> None:
    stand_ins.claude(tmp_path, tmp_path / "work", ago=60)
    app = app_on(tmp_path / ".claude/projects", WallClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        cursor = app.monitor.table.cursor
        await pressed(pilot, "J", "J", "J")
        assert isinstance(app.screen, OpenSession)
        await pressed(pilot, "enter", "enter")
        assert not isinstance(app.screen, OpenSession)
        assert not tmux.opened
        await pressed(pilot, "J")
        await pressed(pilot, "o")
        assert len(tmux.opened) == 1
        assert tmux.opened[0].endswith(f"claude --resume {stand_ins.CLAUDE_ID}")
        await pressed(pilot, "J")
        assert app.screen is app.monitor
        assert tmux.shown == ["%2"]
        assert len(tmux.opened) == 1
        assert app.monitor.table.cursor == cursor


async def test_a_database_is_not_opened_in_an_editor_and_it_is_said_why(tmp_path: Path) -> None:
    app = app_on(lay_out("goose", tmp_path), FrozenClock(moment(MOMENTS["goose"])))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "V")
        assert "is a database" in told(app)


async def test_where_the_terminal_cannot_be_lent_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lent: list[Any] = []

    def lend(words: Any) -> str:
        lent.append(words)
        return ""

    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", "sh")
    app = app_on(lay_out("claude-code", tmp_path), FrozenClock(moment(MOMENTS["claude-code"])))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pressed(pilot, "V")
        assert "cannot be lent" in told(app)
        monkeypatch.setattr(app, "lend", lend)
        await pressed(pilot, "t")
        await pressed(pilot, "V")
        await pressed(pilot, "v")
        await pressed(pilot, "V")
        assert [words[0] for words in lent] == ["sh", "sh"]
        assert all(Path(words[1]).exists() for words in lent)


async def test_whoever_presses_it_again_before_it_has_begun_begins_once(
    tmp_path: Path, tmux: Tmux, recwarn: pytest.WarningsRecorder
) -> None:
    app = app_on(lay_out("claude-code", tmp_path), FrozenClock(moment(MOMENTS["claude-code"])))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        for _ in range(3):
            app.monitor.action_go_there()
        await pressed(pilot)
        assert "this is the past" in told(app)
    gc.collect()
    assert not [each for each in recwarn if "never awaited" in str(each.message)]
    assert not tmux.opened
