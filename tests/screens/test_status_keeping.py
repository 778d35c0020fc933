"""The dashboard keeps the file of the status line: of the present, and only while it shows that."""

from typing import Any

import pytest
from tests.piloting import until
from tests.screens.conftest import ScriptedFeed, observed, scene
from tests.screens.looking import ready
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import HOUR, Clock, FrozenClock, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.model.events import Started
from delegtop.report.status import status_file, status_keeper
from delegtop.report.status.status_keeper import StatusKeeper

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _at_any_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_keeper, "_PACE", 0.0)
    monkeypatch.setattr(status_keeper, "_SHARE", 0)


def begun(id: str) -> Started:
    return Started(id, WallClock().now(), Origin("run.jsonl", 1, 0), agent="worker", product="codex")


def app(feed: ScriptedFeed, clock: Clock | None = None, *, keeps: bool = True) -> DelegtopApp:
    keeping = (lambda assessments: StatusKeeper(assessments, "dashboard")) if keeps else None
    return DelegtopApp(observed(feed, clock or WallClock()), keeping=keeping)


def running() -> int | None:
    found = status_file.read(HOUR)
    return None if found is None else found.tally.states.get("running", 0)


async def a_second(dashboard: DelegtopApp, pilot: Pilot[Any]) -> None:
    dashboard._second()
    await pilot.pause()


async def test_what_is_shown_is_kept_as_it_changes() -> None:
    feed = ScriptedFeed([begun("a")])
    dashboard = app(feed)
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: running() == 1, "the file is written")
        feed.say(begun("b"))
        await until(pilot, lambda: running() == 2, "the file is written again")


async def test_while_it_is_paused_nothing_is_kept() -> None:
    feed = ScriptedFeed([begun("a")])
    dashboard = app(feed)
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: running() == 1, "the file is written")
        await pilot.press("p")
        await until(pilot, lambda: dashboard.board.paused)
        status_file.place().unlink()
        for _ in range(3):
            await a_second(dashboard, pilot)
        assert running() is None


async def test_another_moment_than_now_is_not_kept() -> None:
    dashboard = app(ScriptedFeed([begun("a")]))
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: running() == 1, "the file is written")
        dashboard.board.moment = Millis(WallClock().now() - HOUR)
        status_file.place().unlink()
        for _ in range(3):
            await a_second(dashboard, pilot)
        assert running() is None


async def test_a_dashboard_of_other_logs_keeps_nothing() -> None:
    dashboard = app(ScriptedFeed(scene()), FrozenClock(Millis(0)), keeps=False)
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await ready(pilot)
        await a_second(dashboard, pilot)
        assert running() is None
