"""K: the plan over the rows. Nothing happens before a rung was chosen and confirmed, and only where it is allowed."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.live.live_case import Case, Truth
from tests.live.stage import Stage
from tests.piloting import comes
from tests.quick_looks import look_quickly
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from delegtop.act.acting import HOW, Acting
from delegtop.act.process_identity import identity
from delegtop.app.main import DelegtopApp
from delegtop.app.screens import stop_dialog
from delegtop.app.screens.stop_dialog import StopDialog
from delegtop.app.state.acts_under_way import ActsUnderWay
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

if TYPE_CHECKING:
    from tests.screens.conftest import MakeApp

pytestmark = [pytest.mark.anyio]
LIVE = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    look_quickly(monkeypatch)
    cases = [Case("fifo", "cat queue", Truth.HUNG, prepare="mkfifo queue", alone=True)]
    with Stage(tmp_path, cases) as made:
        yield made


def live(stage: Stage, acting: Acting) -> DelegtopApp:
    places = Places([str(stage.home / ".claude" / "projects"), str(stage.home / ".claude" / "sessions")])
    return DelegtopApp(opened(places, Settings(), rewinds=True), acting=acting)


def words(screen: StopDialog, id: str) -> str:
    return str(screen.query_one(f"#{id}", Static).content)


async def planned(app: DelegtopApp, pilot: Pilot[None]) -> StopDialog:
    """The plan, once the kernel has shown the hung tool."""

    def is_hung() -> bool:
        first = app.board.first
        return first is not None and first.kind == "hung in a tool"

    await comes(is_hung, "that it is called hung")
    await pilot.press("K")
    await comes(lambda: isinstance(app.screen, StopDialog), "that the plan opens")
    screen = app.screen
    assert isinstance(screen, StopDialog)
    return screen


def rungs(screen: StopDialog) -> OptionList:
    return screen.query_one(OptionList)


async def test_what_is_not_the_present_has_no_rungs(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await comes(lambda: app.reader.started and app.monitor.table.cursor is not None, "that a row is there")
        await pilot.press("K")
        screen = app.screen
        assert isinstance(screen, StopDialog)
        assert "a moment of the past" in words(screen, "stop-about")
        assert rungs(screen).option_count == 1
        await pilot.press("enter")
        assert app.screen is app.monitor


async def test_in_triage_the_same_key_shows_the_same_plan(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await comes(lambda: app.reader.started and app.monitor.table.cursor is not None, "that a row is there")
        await pilot.press("t")
        await pilot.press("K")
        assert isinstance(app.screen, StopDialog)


@LIVE
async def test_without_leave_it_shows_the_plan_and_how_to_turn_it_on_and_sends_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    app = live(stage, Acting())
    async with app.run_test() as pilot:
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        screen = await planned(app, pilot)
        assert HOW in words(screen, "stop-told")
        await pilot.press("1", "y")
        assert copied == [f"delegtop stop {stage.ids['fifo']} --act --rung tool"]
        monkeypatch.setattr(stop_dialog, "_AT_ONCE", 0.0)
        await pilot.press("enter", "enter", "enter")
        assert screen._watch is None
    assert identity(stage.tools["fifo"] or 0) is not None


@LIVE
async def test_cancel_is_under_the_cursor_and_two_quick_enters_do_nothing(stage: Stage) -> None:
    app = live(stage, Acting(True))
    async with app.run_test() as pilot:
        screen = await planned(app, pilot)
        assert rungs(screen).highlighted == rungs(screen).option_count - 1
        await pilot.press("1")
        assert rungs(screen).highlighted == 0
        screen.action_rung(1)
        for _ in range(2):
            rungs(screen).action_select()
        await pilot.pause()
        assert screen._watch is None, "the second came at once"
        assert "Enter once more" in words(screen, "stop-told")
        await pilot.press("down")
        assert "Enter once more" not in words(screen, "stop-told"), "who goes on has not confirmed it"
        await pilot.press("end", "enter")
        assert not isinstance(app.screen, StopDialog)
    assert identity(stage.tools["fifo"] or 0) is not None


@LIVE
async def test_a_rung_that_is_confirmed_is_taken_and_what_came_of_it_is_told(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop_dialog, "_AT_ONCE", 0.0)
    app = live(stage, Acting(True))
    async with app.run_test() as pilot:
        screen = await planned(app, pilot)
        await pilot.press("1", "enter", "enter")
        await comes(lambda: "the path moved on" in words(screen, "stop-outcome"), "that it is seen")
        assert "INT sent" in words(screen, "stop-outcome")
        assert rungs(screen).option_count == 1, "nothing more is asked for"
        assert words(screen, "stop-told") == "esc leaves", "its agent goes on: there is nothing to take up again"
    assert identity(stage.sessions["fifo"]) is not None


@LIVE
async def test_what_came_of_it_is_told_after_the_plan_was_closed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_dialog, "_AT_ONCE", 0.0)
    app = live(stage, Acting(True))
    told: list[str] = []
    looks, is_closed = ActsUnderWay.look, False
    # What is known while the plan is open stands there, and is not told twice: here it is known later.
    monkeypatch.setattr(ActsUnderWay, "look", lambda acts: looks(acts) if is_closed else [])
    async with app.run_test() as pilot:
        monkeypatch.setattr(app, "_toast", lambda message, **_: told.append(message))
        await planned(app, pilot)
        await pilot.press("1", "enter", "enter", "escape")
        is_closed = True
        await comes(lambda: told, "that it is told")
    assert "the path moved on" in told[0]


@LIVE
async def test_to_kill_the_name_of_the_program_must_be_typed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_dialog, "_AT_ONCE", 0.0)
    app = live(stage, Acting(True))
    async with app.run_test() as pilot:
        screen = await planned(app, pilot)
        await pilot.press("5", "enter", *"python", "enter")
        assert screen._watch is None
        assert identity(stage.sessions["fifo"]) is not None
        await pilot.press("5", "enter", *"claude", "enter")
        await comes(lambda: "its process is gone" in words(screen, "stop-outcome"), "that it is gone")
    assert identity(stage.sessions["fifo"]) is None


@LIVE
async def test_of_what_is_not_allowed_nothing_is_possible(stage: Stage) -> None:
    own = subprocess.Popen(["sleep", "1000"])
    app = live(stage, Acting(True, only=lambda pid: pid == own.pid))
    async with app.run_test() as pilot:
        screen = await planned(app, pilot)
        assert screen._plan.mildest is None
        assert {rung.why_not for rung in screen._plan.rungs if rung.rung != "child"} == {app.acts.acting.why_not_these}
    own.kill()
    own.wait()


@LIVE
async def test_enter_held_down_is_no_confirmation_however_long(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(stop_dialog, "monotonic", lambda: now[0])
    app = live(stage, Acting(True))
    async with app.run_test() as pilot:
        screen = await planned(app, pilot)
        await pilot.press("1")
        for _ in range(60):
            await pilot.press("enter")
            now[0] += 0.03
        assert screen._watch is None
        assert "Enter once more" in words(screen, "stop-told")
    assert identity(stage.tools["fifo"] or 0) is not None
