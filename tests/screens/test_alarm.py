"""While the dashboard is open it tells of trouble: once, safely, and only of the present."""

from collections.abc import Callable
from functools import partialmethod
from typing import Any, cast

import pytest
from tests.loopback_server import never, reply, serving
from tests.piloting import until
from tests.screens.conftest import NOW, ScriptedFeed, observed
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import Clock, FrozenClock, Millis, ReplayClock
from delegtop.base.origin import Origin
from delegtop.feed.live_feed import Feed, Readable
from delegtop.feed.replay_feed import Replay
from delegtop.model.events import Ended, Ending, Outcome, Started
from delegtop.notify.notifier import Notifier
from delegtop.setting_tables import Notifications

pytestmark = pytest.mark.anyio

HOSTILE = "[bold]x[/]\x1b]0;owned\x07\u202e"


class Wall(Clock):
    """A clock that stands still and is not called frozen."""

    def now(self) -> Millis:
        return NOW


def app(feed: Readable, clock: Clock | None = None, **settings: Any) -> DelegtopApp:
    return DelegtopApp(observed(feed, clock or Wall(), **{"notify": ("bell",), **settings}))


def origin(line: int) -> Origin:
    return Origin("run.jsonl", line, 0)


def begun(id: str = "a") -> Started:
    return Started(id, Millis(NOW - 1_000), origin(1), agent=HOSTILE, product="codex")


def failed(id: str = "a") -> Ended:
    return Ended(id, NOW, origin(2), Outcome.FAILED, Ending.RETURN)


async def test_a_failure_rings_once_and_shows_a_harmless_toast(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[int] = []
    monkeypatch.setattr(DelegtopApp, "bell", lambda _: rung.append(1))
    feed = ScriptedFeed([begun()])
    dashboard = app(feed)
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await _loaded(dashboard, pilot)
        feed.say(failed())
        await _until(dashboard, pilot, lambda: bool(rung))
        for _ in range(3):
            dashboard._second()
            await pilot.pause()
        toasts = list(dashboard._notifications)
    assert rung == [1]
    assert {toast.title.split(" ")[-1] for toast in toasts} == {"failed", "done"}
    for toast in toasts:
        assert toast.markup is False
        assert (toast.title + toast.message).isprintable()


async def test_what_was_so_before_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DelegtopApp, "bell", lambda _: pytest.fail("it rang"))
    dashboard = app(ScriptedFeed([begun(), failed()]))
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await _loaded(dashboard, pilot)
        dashboard._second()
        assert not dashboard._notifications


def replay_of(feed: ScriptedFeed, *, live: bool) -> Replay:
    """As the dashboard has it: beside the live feed, or of a recording."""
    clock = ReplayClock(NOW, paused=True)
    return Replay(clock, lambda: Feed((), clock=clock), live=cast(Feed, feed) if live else None, present=Wall())


async def test_that_one_could_go_back_in_time_keeps_nothing_from_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[int] = []
    monkeypatch.setattr(DelegtopApp, "bell", lambda _: rung.append(1))
    feed = ScriptedFeed([begun()])
    dashboard = app(replay_of(feed, live=True))
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await _loaded(dashboard, pilot)
        feed.say(failed())
        await _until(dashboard, pilot, lambda: bool(rung))


async def test_a_recording_has_no_alarm() -> None:
    dashboard = app(replay_of(ScriptedFeed(), live=False))
    async with dashboard.run_test(size=(100, 20)):
        assert dashboard.alarm is None


async def test_a_frozen_moment_has_no_alarm() -> None:
    dashboard = app(ScriptedFeed([begun()]), FrozenClock(NOW))
    async with dashboard.run_test(size=(100, 20)):
        assert dashboard.alarm is None


async def test_without_the_setting_there_is_none() -> None:
    dashboard = app(ScriptedFeed([begun()]), notify=())
    async with dashboard.run_test(size=(100, 20)):
        assert dashboard.alarm is None
        assert dashboard.board.news is None


async def test_a_way_that_does_not_work_is_said_and_the_dashboard_goes_on() -> None:
    dashboard = app(ScriptedFeed([begun()]), notify=("command",))
    async with dashboard.run_test(size=(100, 20)) as pilot:
        await _loaded(dashboard, pilot)
        assert any("there is no notify command" in toast.message for toast in dashboard._notifications)


async def test_a_message_is_sent_beside_and_what_did_not_arrive_is_said_on_the_screen() -> None:
    with serving(reply("404 Not Found")) as server:
        away = Notifications(webhook_url=f"{server.url}/s3cr3t")
        feed = ScriptedFeed([begun()])
        dashboard = app(feed, notify=("webhook",), notifications=away)
        async with dashboard.run_test(size=(100, 20)) as pilot:
            await _loaded(dashboard, pilot)
            feed.say(failed())
            await _until(dashboard, pilot, lambda: len(server.asked) == 2)
            await _until(dashboard, pilot, lambda: _says(dashboard, "webhook: "))
            (said,) = (toast.message for toast in dashboard._notifications if toast.message.startswith("webhook: "))
    assert said == f"webhook: {server.url}/[masked] answered 404 Not Found"
    assert [asked.json["event"] for asked in server.asked] == ["failed", "done"]


async def test_a_server_that_hangs_holds_up_neither_the_screen_nor_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notifier, "close", partialmethod(Notifier.close, seconds=0.3))
    with serving(never) as server:
        feed = ScriptedFeed([begun()])
        dashboard = app(feed, notify=("webhook",), notifications=Notifications(webhook_url=f"{server.url}/x"))
        async with dashboard.run_test(size=(100, 20)) as pilot:
            await _loaded(dashboard, pilot)
            feed.say(failed())
            await _until(dashboard, pilot, lambda: len(server.asked) == 1)
            feed.say(begun("b"))
            await _until(dashboard, pilot, lambda: len(dashboard.board.forest) == 2)


def _says(dashboard: DelegtopApp, words: str) -> bool:
    return any(toast.message.startswith(words) for toast in dashboard._notifications)


async def _loaded(dashboard: DelegtopApp, pilot: Pilot[Any]) -> None:
    await _until(dashboard, pilot, lambda: not dashboard.board.loading)
    dashboard._second()


async def _until(dashboard: DelegtopApp, pilot: Pilot[Any], done: Callable[[], object]) -> None:
    def is_done() -> bool:
        dashboard._second()
        return bool(done())

    await until(pilot, is_done)
