"""The first line says that somebody set the clock, and nothing is lost by it."""

import pytest
from tests.piloting import until
from tests.screens.conftest import NOW, Script, ScriptedFeed, observed
from tests.screens.looking import running, text_of

from delegtop.app.main import DelegtopApp
from delegtop.app.widgets.vitals import Vitals
from delegtop.base.clock import DAY, Millis, WallClock, monotonic
from delegtop.model.states import State

pytestmark = pytest.mark.anyio


async def test_the_first_line_says_so_and_what_runs_still_runs(monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    step, began = [0], monotonic()
    monkeypatch.setattr(WallClock, "now", lambda _: Millis(NOW + int((monotonic() - began) * 1_000) + step[0]))
    feed = ScriptedFeed([script.started("one", 62, agent="x")])
    async with running(DelegtopApp(observed(feed, WallClock(), watching=True))) as (app, pilot):
        await until(pilot, lambda: app.board.forest.find("one") is not None)
        step[0] = 2 * DAY
        await until(pilot, lambda: "the clock was set forward" in str(app.monitor.query_one(Vitals).line))
        [(handle, state)] = [(each, app.board.forest.state(each)) for each in app.board.forest.walk()]
        assert state is State.RUNNING, handle
        await pilot.pause()
        assert "48h" not in text_of(app), "how long it runs and is quiet is counted by the clock as it is now"
