"""The replay: the same screens in the time of the log, moved by keys and mouse, and a live view that goes back."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

import pytest
from tests.piloting import offers, until
from tests.screens.looking import part
from textual.pilot import Pilot
from textual.widgets import Input

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.go_to_time import GoToTime
from delegtop.app.screens.palette import Commands
from delegtop.app.screens.triage import Triage
from delegtop.app.widgets.replay_bar import ReplayBar, Track
from delegtop.base.clock import FrozenClock, Millis, ReplayClock, iso, parse_time
from delegtop.diagnosis.appearances import Appearances
from delegtop.feed.live_feed import Feed
from delegtop.feed.replay_feed import Replay
from delegtop.model.states import State
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio
START = parse_time("2026-03-03T10:00:00Z") or Millis(0)


def at(minutes: float) -> Millis:
    return Millis(START + int(minutes * 60_000))


def entry(event: str, id: str, minutes: float, **facts: object) -> str:
    return json.dumps({"event": event, "at": iso(at(minutes)), "session_id": id, "schema_version": 1, **facts})


def register(id: str, minutes: float, agent: str, timeout: int = 7200, parent: str | None = None) -> str:
    above = {"parent_session_id": parent} if parent else {}
    return entry("register", id, minutes, subagent=agent, timeout=timeout, delegation_depth=1, **above)


def returned(id: str, minutes: float, status: str) -> str:
    return entry("return", id, minutes, **{"return": {"status": status, "summary": "that is all", "artifacts": []}})


LINES = [
    register("sess_1772532000_root00", 0, "planner"),
    register("sess_1772532060_writer", 1, "writer", parent="sess_1772532000_root00"),
    entry("heartbeat", "sess_1772532060_writer", 4, activity="chapter one"),
    register("sess_1772532300_tester", 5, "tester", timeout=300, parent="sess_1772532000_root00"),
    returned("sess_1772532060_writer", 8, "failed"),
    entry("heartbeat", "sess_1772532300_tester", 9, activity="still testing"),
    returned("sess_1772532300_tester", 15, "completed"),
    returned("sess_1772532000_root00", 20, "completed"),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(LINES) + "\n")
    return path


def recording(
    log: Path, *, paused: bool = True, speed: float = 1.0, zone: tzinfo | None = UTC, **settings: Any
) -> DelegtopApp:
    clock = ReplayClock(Millis(0), speed, paused=paused)
    replay = Replay(clock, lambda: Feed([str(log)], clock=clock), present=FrozenClock(at(60)), observe=Appearances)
    return DelegtopApp(Observation(replay, clock, Settings(**settings), places=Places([str(log)])), zone=zone)


def live(log: Path, now: Millis) -> DelegtopApp:
    return DelegtopApp(opened(Places([str(log)]), Settings(), FrozenClock(now), rewinds=True), zone=UTC)


@asynccontextmanager
async def played(app: DelegtopApp, **how: Any) -> AsyncIterator[tuple[DelegtopApp, Pilot[None]]]:
    """The app on a screen, once its recording is read."""
    async with app.run_test(**how) as pilot:
        await until(pilot, lambda: app.replay.timeline is not None and len(app.board.forest) > 0)
        await until(pilot, lambda: not app.board.loading)
        yield app, pilot


async def shows(pilot: Pilot[None], minutes: float) -> None:
    app = pilot.app
    assert isinstance(app, DelegtopApp)
    await until(pilot, lambda: app.board.forest.shown_at == at(minutes))
    await pilot.pause()


def states(app: DelegtopApp) -> dict[str, State]:
    forest = app.board.forest
    return {forest.delegation(h).name: forest.state(h) for h in forest.walk()}


def rows(app: DelegtopApp) -> list[str]:
    outline, forest = app.board.outline, app.board.forest
    return [forest.delegation(row.handle).name for row in outline.window(0, len(outline))]


def cursor(app: DelegtopApp) -> str:
    handle = app.monitor.table.cursor
    return "" if handle is None else app.board.forest.delegation(handle).name


def text_of(app: DelegtopApp) -> str:
    return "\n".join(line.text for line in app.screen._compositor.render_strips()[: app.size.height])


# Moving


async def test_full_stop_and_comma_step_from_event_to_event(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        assert states(app) == {"planner": State.RUNNING}
        await pilot.press("full_stop")
        await shows(pilot, 1)
        assert states(app) == {"planner": State.WAITING, "writer": State.RUNNING}
        await pilot.press("full_stop")
        await shows(pilot, 4)
        await pilot.press("comma")
        await shows(pilot, 1)
        await pilot.press("comma")
        await shows(pilot, 0)
        assert states(app) == {"planner": State.RUNNING}


async def test_n_goes_to_the_moment_at_which_a_problem_appears_and_selects_it(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("n")
        await shows(pilot, 8)
        assert states(app)["writer"] is State.FAILED
        await until(pilot, lambda: cursor(app) == "writer")
        await pilot.press("n")
        await until(pilot, lambda: app.board.forest.shown_at == at(10) + 1)
        assert states(app)["tester"] is State.OVERDUE
        await until(pilot, lambda: cursor(app) == "tester")
        await pilot.press("N")
        await shows(pilot, 8)
        assert "tester" in states(app)


async def test_a_countdown_and_a_finding_are_those_of_the_moment(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("n")
        await shows(pilot, 8)
        lines = text_of(app).splitlines()
        assert any("─ tester" in line and " 2:00 " in line for line in lines)
        assert any("─ writer" in line and "failed" in line for line in lines)
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        assert "writer" not in text_of(app)


async def test_less_and_greater_go_to_the_beginning_and_the_end(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("greater_than_sign")
        await shows(pilot, 20)
        assert set(states(app).values()) == {State.COMPLETED, State.FAILED}
        await pilot.press("less_than_sign")
        await shows(pilot, 0)


async def test_space_plays_and_pauses_and_the_brackets_change_the_speed(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        clock = app.replay.clock
        await pilot.press(*["right_square_bracket"] * 4)
        assert clock.speed == 30
        await pilot.press("space")
        await until(pilot, lambda: len(app.board.forest) > 1)
        await pilot.press("space")
        assert not clock.playing
        assert at(1) <= clock.now() < at(20)
        await pilot.press(*["left_square_bracket"] * 8)
        assert clock.speed == 0.1


async def test_a_recording_plays_to_its_end_and_stops_there(log: Path) -> None:
    async with played(recording(log, paused=False, speed=1000), size=(120, 30)) as (app, pilot):
        await shows(pilot, 20)
        assert not app.replay.clock.playing
        assert states(app)["tester"] is State.COMPLETED


async def test_g_takes_a_time_and_says_what_is_none(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("g")
        assert isinstance(app.screen, GoToTime)
        app.screen.query_one(Input).value = "noon"
        await pilot.press("enter")
        assert "noon is no time" in text_of(app)
        app.screen.query_one(Input).value = "10:09"
        await pilot.press("enter")
        await shows(pilot, 9)
        await pilot.press("g")
        app.screen.query_one(Input).value = "-3m"
        await pilot.press("enter")
        await shows(pilot, 6)


async def test_g_takes_a_time_of_the_zone_of_this_machine(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")  # five and a half hours before
    time.tzset()
    try:
        async with played(recording(log, zone=None), size=(120, 30)) as (app, pilot):
            for typed in ("15:39", "2026-03-03 15:39:00"):
                await pilot.press("g")
                app.screen.query_one(Input).value = typed
                await pilot.press("enter")
                await shows(pilot, 9)
                await pilot.press("less_than_sign")
                await shows(pilot, 0)
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_a_leap_into_the_middle_of_a_long_recording(tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    ids = [f"sess_177253{number:04d}_aaaaaa" for number in range(1500)]
    told = [(register(id, at / 30, "writer"), returned(id, at / 30, "failed")) for at, id in enumerate(ids)]
    log.write_text("\n".join(line for lines in told for line in lines) + "\n")
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        timeline = app.replay.timeline
        assert timeline is not None
        await until(pilot, lambda: timeline.study(0.1))
        for typed, minutes in (("40m", 40), ("-5m", 35)):
            await pilot.press("g")
            app.screen.query_one(Input).value = typed
            await pilot.press("enter")
            await shows(pilot, minutes)
            assert app.board.forest.counts[State.FAILED] == 30 * minutes + 1


async def test_a_click_and_a_drag_on_the_timeline_go_there(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        track = app.screen.query_one(Track)
        await until(pilot, lambda: track._drawn.plain)  # nobody clicks on a timeline that is not there yet
        await pilot.click(Track, offset=(track.size.width - 1, 0))
        await shows(pilot, 20)
        await pilot.mouse_down(Track, offset=(track.size.width // 2, 0))
        await until(pilot, lambda: abs(app.board.forest.shown_at - at(10)) < 60_000)
        await pilot.hover(Track, offset=(0, 0))
        await shows(pilot, 0)
        await pilot.mouse_up(Track, offset=(0, 0))


async def test_a_click_on_a_marked_problem_shows_it(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        track = app.screen.query_one(Track)
        await until(pilot, lambda: "!" in track._drawn.plain)
        mark = track._drawn.plain.index("!")
        await pilot.click(Track, offset=(mark, 0))
        await shows(pilot, 8)
        assert states(app)["writer"] is State.FAILED


async def test_keys_that_are_typed_belong_to_the_filter(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("slash", "n", "space", "g")
        assert app.monitor.filter_bar.input.value == "n g"
        assert app.board.forest.shown_at == at(0)


# What stays


async def test_the_cursor_waits_for_its_delegation_to_come_back(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("greater_than_sign")
        await shows(pilot, 20)
        await pilot.press("down", "down")
        assert cursor(app) == "tester"
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        assert cursor(app) == "planner"
        await pilot.press("greater_than_sign")
        await shows(pilot, 20)
        assert cursor(app) == "tester"


async def test_folds_filter_and_focus_outlive_a_leap(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("greater_than_sign")
        await shows(pilot, 20)
        await pilot.press("home", "minus")
        assert rows(app) == ["planner"]
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        await pilot.press("full_stop")
        await shows(pilot, 1)
        assert rows(app) == ["planner"], "it stays folded when its children come back"
        await pilot.press("greater_than_sign", "home", "plus")
        await shows(pilot, 20)
        assert len(rows(app)) == 3
        app.monitor.show_filter("agent:tester")
        await until(pilot, lambda: rows(app) == ["planner", "tester"])
        await pilot.press("comma")
        await shows(pilot, 15)
        assert rows(app) == ["planner", "tester"]
        app.monitor.show_filter("")
        await until(pilot, lambda: len(rows(app)) == 3)
        await pilot.press("home", "down", "z")
        focused = rows(app)
        assert len(focused) == 1
        await pilot.press("comma")
        await shows(pilot, 9)
        assert rows(app) == focused


async def test_a_screen_that_is_painted_in_the_middle_of_a_leap_shows_only_what_is_there(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("greater_than_sign")
        await shows(pilot, 20)
        await pilot.press("down", "down")
        assert app.replay.timeline is not None
        app.board.leap(app.replay.timeline.forest(at(0)))
        app.monitor.table.refresh()
        app.monitor.inspector.refresh_page()
        app.monitor._judge()
        assert "tester" not in text_of(app)


async def test_the_bars_of_the_gantt_view_go_along(log: Path) -> None:
    async with played(recording(log), size=(120, 30)) as (app, pilot):
        await pilot.press("b", "greater_than_sign")
        await shows(pilot, 20)
        assert "tester" in text_of(app)
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        assert "tester" not in text_of(app)
        assert "planner" in text_of(app)


@pytest.mark.parametrize("speed", [1.0, 60.0])
@pytest.mark.parametrize("minutes", [6, 14, 19])
async def test_bars_that_are_first_shown_in_a_replay_show_the_time_that_is_replayed(
    log: Path, minutes: int, speed: float
) -> None:
    async with played(recording(log, speed=speed), size=(120, 30)) as (app, pilot):
        app.replay.clock.seek(at(minutes))
        app.replay.wake()
        await shows(pilot, minutes)
        await pilot.press("b")
        await pilot.pause()
        titles, *rows = part(app, app.monitor.table)
        width = app.monitor.table._bars
        assert "10:0" in titles, "the axis is that of the recording"
        assert "▼" in titles[-width // 4 :], "the moment that is shown stands near the right edge"
        planner = next(row for row in rows if "planner" in row)
        assert set("█░━╌") & set(planner[-width:])
        assert "‹" not in planner


# Back from now


async def test_r_looks_back_from_now_and_returns_to_it(log: Path) -> None:
    app = live(log, at(9.5))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: len(app.board.forest) == 3)
        assert not app.screen.query_one(ReplayBar).display
        now = states(app)
        await pilot.press("down", "up")
        held = cursor(app)
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is not None)
        assert app.screen.query_one(ReplayBar).display
        assert states(app) == now, "it begins at the present moment"
        assert cursor(app) == held
        await pilot.press("N")
        await shows(pilot, 8)
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        assert rows(app) == ["planner"]
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is None)
        assert states(app) == now
        assert cursor(app) == held
        assert not app.screen.query_one(ReplayBar).display


async def test_what_happened_meanwhile_is_there_on_return_and_in_the_next_look_back(log: Path) -> None:
    app = live(log, at(9.5))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: len(app.board.forest) == 3)
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is not None)
        with log.open("a") as file:
            file.write(register("sess_1772532540_editor", 9, "editor") + "\n")
        await pilot.press("r")
        await until(pilot, lambda: "editor" in states(app))
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is not None)
        assert "editor" in states(app)
        await pilot.press("comma", "comma")
        await until(pilot, lambda: "editor" not in states(app))


async def test_the_palette_rewinds_too_and_offers_the_moves_only_in_the_past(log: Path) -> None:
    app = live(log, at(9.5))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: len(app.board.forest) == 3)
        names = {name for name, _, _ in Commands(app.screen)._entries()}
        assert not any(name.startswith("Next event") for name in names)
        await pilot.press("ctrl+p", *"rewind")
        await until(pilot, lambda: offers(app, "Rewind"))
        await pilot.press("enter")
        await until(pilot, lambda: app.board.moment is not None)
        names = {name for name, _, _ in Commands(app.screen)._entries()}
        assert any(name.startswith("Next event") for name in names)


async def test_on_another_screen_nothing_is_pulled_from_under_it(log: Path) -> None:
    app = live(log, at(9.5))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: len(app.board.forest) == 3)
        await pilot.press("question_mark", "r")
        await pilot.pause()
        assert not app.is_past


async def test_a_recording_has_no_now_to_return_to(log: Path) -> None:
    async with played(recording(log), size=(120, 30), notifications=True) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: "No way back: it has no now." in text_of(app))
        assert app.is_past


async def test_what_comes_through_a_pipe_has_no_past_to_go_to(log: Path) -> None:
    clock = FrozenClock(at(60 * 24 * 3))
    app = DelegtopApp(opened(Places([str(log)]), Settings(), clock), zone=UTC)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, lambda: not app.board.loading)
        await pilot.press("r")
        await until(pilot, lambda: "No way back: a pipe cannot be read again" in text_of(app))
        await pilot.press("R")
        await until(pilot, lambda: "Nothing here is long over" in text_of(app))
        assert not app.is_past
        assert not app.screen.query_one(ReplayBar).display


async def test_the_bar_of_a_screen_that_opens_while_the_program_ends_is_no_crash(log: Path) -> None:
    async with played(recording(log), size=(120, 35)) as (app, _pilot):
        app.push_screen(Triage(app.board, app.reader, app.settings, replay=app.replay))
        while not app.screen.query(ReplayBar):
            await asyncio.sleep(0)
        bar = app.screen.query_one(ReplayBar)
        app.exit()  # now nothing more is put into it
        while app._running:
            bar.look()
            await asyncio.sleep(0)


# Triage


def listed(app: DelegtopApp) -> list[str]:
    """The problems in the list, and whose page is open first."""
    screen = app.screen
    assert isinstance(screen, Triage)
    found = [app.board.forest.delegation(each.handle).name for each in screen.problems.problems]
    return found[screen.problems.place - 1 :] + found[: screen.problems.place - 1] if found else []


async def test_triage_shows_the_problems_of_the_moment_and_moves_in_time_by_the_same_keys(log: Path) -> None:
    async with played(recording(log), size=(140, 30)) as (app, pilot):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage) and not app.board.assessments.waiting)
        assert listed(app) == []
        await pilot.press("n")
        await shows(pilot, 8)
        await until(pilot, lambda: listed(app) == ["writer"])
        await pilot.press("n")
        await until(pilot, lambda: app.board.forest.shown_at == at(10) + 1)
        await until(pilot, lambda: listed(app) == ["tester", "writer"])
        assert "10:10:00" in text_of(app)
        assert "2 problems" in text_of(app)
        await pilot.press("greater_than_sign")
        await shows(pilot, 20)
        await until(pilot, lambda: listed(app) == ["writer"])
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        await until(pilot, lambda: listed(app) == [])
        await pilot.press("escape")
        assert app.screen is app.monitor


async def test_triage_keeps_to_its_problem_through_a_look_back_and_returns_to_now(log: Path) -> None:
    app = live(log, at(11))
    async with app.run_test(size=(140, 30)) as pilot:
        await until(pilot, lambda: len(app.board.forest) == 3)
        await pilot.press("t")
        await until(pilot, lambda: listed(app) == ["tester", "writer"])
        await pilot.press("e")
        assert listed(app) == ["writer", "tester"]
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is not None)
        await until(pilot, lambda: listed(app) == ["writer", "tester"])
        await pilot.press("less_than_sign")
        await shows(pilot, 0)
        await until(pilot, lambda: listed(app) == [])
        await pilot.press("n")
        await shows(pilot, 8)
        await until(pilot, lambda: listed(app) == ["writer"])
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is None)
        await until(pilot, lambda: listed(app) == ["writer", "tester"])
        assert not app.screen.query_one(ReplayBar).display


# The bar


async def test_the_bar_says_where_and_how_fast_and_marks_what_happened(log: Path) -> None:
    async with played(recording(log), size=(140, 30)) as (app, pilot):
        await pilot.press("n")
        await shows(pilot, 8)
        await until(pilot, lambda: "8:00 of 20:00" in text_of(app))
        controls, track = text_of(app).splitlines()[-3:-1]
        assert controls.strip().startswith("‖ paused  1x  2026-03-03 10:08:00  8:00 of 20:00  2 problems")
        assert track.count("!") == 2
        assert len(track.strip()) == 138


async def test_the_bar_has_room_in_a_small_terminal_and_in_ascii(log: Path) -> None:
    async with played(recording(log, ascii=True), size=(60, 20)) as (app, pilot):
        await until(pilot, lambda: "= paused" in text_of(app))
        lines = text_of(app).splitlines()
        assert len(lines) == 20
        assert "= paused  1x  2026-03-03 10:00:00" in lines[-3]
        assert lines[-2].isascii()
        assert "|" in lines[-2]
