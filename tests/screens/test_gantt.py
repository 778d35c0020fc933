"""The Gantt view: the same rows and cursor with bars in time; zoom, scroll, mouse, and what it says without colour."""

from collections.abc import Callable
from typing import Protocol

import pytest
from rich.cells import cell_len
from tests.piloting import until
from tests.screens.looking import running
from textual.events import (
    MouseDown,
    MouseMove,
    MouseScrollDown,
    MouseScrollLeft,
    MouseScrollRight,
    MouseScrollUp,
    MouseUp,
)
from textual.geometry import Region
from textual.strip import Strip

from delegtop.app.main import DelegtopApp
from delegtop.app.widgets.gantt_tree import Gantt
from delegtop.base.clock import FrozenClock, Millis
from delegtop.model.events import Ended, Event, Heard, Outcome, Started

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]


class ScriptedFeed(Protocol):
    def say(self, *events: Event) -> None: ...


class Script(Protocol):
    def at(self, minutes: float) -> Millis: ...
    def started(self, id: str, minutes: float, **facts: object) -> Started: ...
    def heard(self, id: str, minutes: float, doing: str, **facts: object) -> Heard: ...
    def returned(self, id: str, minutes: float, outcome: Outcome, **report: object) -> Ended: ...


def lines(app: DelegtopApp) -> list[str]:
    """The table as it stands in the terminal."""
    table = app.monitor.table
    strips = app.screen._compositor.render_strips()
    return [strip.text for strip in strips[table.region.y : table.region.bottom]]


def line(app: DelegtopApp, name: str) -> str:
    return next(each for each in lines(app) if name in each)


def span(app: DelegtopApp) -> int:
    return app.monitor.table._lens.window.span


async def test_b_turns_the_columns_into_bars_and_back(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        columns = lines(app)
        assert "QUIET" in columns[0]
        await pilot.press("b")
        await pilot.pause()
        assert "QUIET" not in lines(app)[0]
        assert "10:30" in lines(app)[0]
        assert [each[:20] for each in lines(app)[1:]] == [each[:20] for each in columns[1:]]
        await pilot.press("b")
        await pilot.pause()
        assert lines(app) == columns


async def test_bars_begin_with_what_is_open_now_wherever_the_cursor_is(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    yesterday = [
        script.started("old", -26 * 60, agent="long-ago"),
        script.returned("old", -26 * 60 + 1, Outcome.FAILED),
        script.started("now", 50, agent="at-work"),
        script.heard("now", 62, "reading"),
    ]
    app = make_app(feed=type(feed)(yesterday))  # type: ignore[call-arg]  # the scripted feed takes events
    async with running(app, size=(120, 40)) as (_, pilot):
        await pilot.press("d")
        app.monitor.table.cursor = app.board.forest.find("old")
        await pilot.press("b")
        await pilot.pause()
        window = app.monitor.table._lens.window
        assert window.start <= script.at(50)
        assert window.holds(app.board.forest.shown_at)
        assert window.span < 30 * 60_000
        assert "━" in line(app, "at-work") or "█" in line(app, "at-work")
        await pilot.press("0")
        assert app.monitor.table._lens.window.holds(script.at(-26 * 60))


@pytest.mark.parametrize("minutes", [2, 300, 1_100])
async def test_bars_show_the_time_of_what_is_open_however_long_the_dashboard_ran_before(
    make_app: MakeApp, clock: FrozenClock, script: Script, minutes: int
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        clock.set(script.at(65 + minutes))
        app._second()
        await pilot.press("b")
        await pilot.pause()
        width = app.monitor.table._bars
        now = lines(app)[0][-width - 1 :].find("▼")
        assert 0.8 * width < now < width, "now stands near the right edge"
        assert "░" in line(app, "implementer")
        assert "‹" not in line(app, "implementer")


async def test_the_one_that_hangs_is_thick_and_what_waits_for_it_is_thin(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        await pilot.pause()
        assert "███████" in line(app, "implementer")
        assert "░░░" in line(app, "implementer")
        assert "◆" in line(app, "implementer")
        assert "━━━" in line(app, "task-executor")
        assert "███" not in line(app, "task-executor")
        assert "│" in line(app, "planner")[60:]


async def test_the_cursor_and_the_folds_are_those_of_the_columns(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("g", "down", "down", "b")
        held = app.monitor.table.cursor
        await pilot.press("space")
        await pilot.pause()
        assert app.monitor.table.cursor == held
        assert not any("implementer" in each for each in lines(app))
        await pilot.press("b", "down")
        assert app.monitor.table.cursor != held


async def test_plus_and_minus_zoom_and_zero_fits_the_tree_again(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b", "0")
        whole = span(app)
        await pilot.press("plus", "plus")
        assert span(app) < whole / 2
        await pilot.press("minus", "minus", "minus")
        assert span(app) > whole
        await pilot.press("0")
        assert span(app) == whole


async def test_plus_and_minus_fold_where_there_are_no_bars(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        rows = len(app.board.outline)
        await pilot.press("g", "minus")
        assert len(app.board.outline) == 1
        await pilot.press("plus")
        assert len(app.board.outline) == rows


async def test_time_scrolls_to_both_sides_and_comes_back_to_now(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        lens = app.monitor.table._lens
        start = lens.window.start
        await pilot.press("shift+left")
        assert lens.window.start < start
        await pilot.press("shift+right")
        assert lens.window.start == start
        await pilot.press(*["L"] * 20)
        await pilot.pause()
        assert "‹" in line(app, "planner")
        await pilot.press("u")
        assert lens.window.holds(app.board.forest.shown_at)
        assert lens.follows


async def test_w_shows_the_time_of_one_delegation_and_a_that_of_all_trees(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        whole = span(app)
        app.monitor.table.cursor = app.board.forest.find("sess_1766743500_dep001")
        await pilot.press("w")
        assert span(app) < whole / 20
        await pilot.press("a")
        assert span(app) >= whole


async def test_what_arrives_grows_its_bar(
    make_app: MakeApp, feed: ScriptedFeed, script: Script, clock: FrozenClock
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        await pilot.pause()
        before = line(app, "implementer").count("█")
        clock.set(script.at(75))
        feed.say(script.heard("sess_1766743200_def456", 74, "bash: lake build"))
        await until(pilot, lambda: line(app, "implementer").count("█") > before)


async def test_when_the_last_child_returns_the_path_goes_on_with_the_parent(
    make_app: MakeApp, feed: ScriptedFeed, script: Script, clock: FrozenClock
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        clock.set(script.at(80))
        feed.say(
            script.returned("sess_1766743200_def456", 63, Outcome.COMPLETED),
            script.returned("sess_1766743200_lint07", 64, Outcome.COMPLETED),
            script.heard("sess_1766743200_exec01", 79, "writing the summary"),
        )
        await until(pilot, lambda: "███" in line(app, "task-executor"))


async def test_the_wheel_scrolls_rows_with_ctrl_it_zooms_and_with_shift_it_goes_through_time(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b", "0")
        table, lens = app.monitor.table, app.monitor.table._lens
        before = lens.window
        await pilot._post_mouse_events([MouseScrollDown], table, offset=(80, 5), button=0)
        assert lens.window == before
        await pilot._post_mouse_events([MouseScrollUp], table, offset=(80, 5), button=0, control=True)
        assert lens.window.span < before.span
        table.action_fit_tree()
        await pilot._post_mouse_events([MouseScrollDown], table, offset=(80, 5), button=0, shift=True)
        assert lens.window.start > before.start
        await pilot._post_mouse_events([MouseScrollLeft], table, offset=(80, 5), button=0)
        assert lens.window.start == before.start
        await pilot._post_mouse_events([MouseScrollRight], table, offset=(80, 5), button=0)
        assert lens.window.start > before.start


async def test_the_bars_can_be_dragged_and_letting_go_chooses_no_row(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        table, lens = app.monitor.table, app.monitor.table._lens
        before, held = lens.window, table.cursor
        await pilot._post_mouse_events([MouseDown], table, offset=(80, 5), button=1)
        await pilot._post_mouse_events([MouseMove], table, offset=(90, 5), button=1)
        assert lens.window.start < before.start
        await pilot._post_mouse_events([MouseUp], table, offset=(90, 5), button=1)
        assert table.cursor == held
        moved = lens.window
        await pilot._post_mouse_events([MouseMove], table, offset=(60, 5), button=0)
        assert lens.window == moved


async def test_a_click_on_a_bar_chooses_its_row(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        await pilot.click(app.monitor.table, offset=(80, 4))
        assert app.monitor.table.cursor == app.board.outline.at(3)


async def test_the_path_is_that_of_the_subtree_in_focus(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        app.monitor.table.cursor = app.board.forest.find("sess_1766743320_res195")
        await pilot.press("z")
        await pilot.pause()
        assert "███" in line(app, "researcher")


async def test_only_what_changed_is_painted(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        await pilot.pause()
        table, asked = app.monitor.table, []
        table.refresh = lambda *regions, **_: asked.append(regions)  # type: ignore[assignment]  # a note of it is enough
        table.update_rows()
        assert asked == []


async def test_no_line_is_ever_painted_over_what_is_beside_it(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    overhang: list[int] = []
    paint = Gantt.render_lines

    def noted(table: Gantt, crop: Region) -> list[Strip]:
        strips = paint(table, crop)
        overhang.extend(cell_len(strip.text) - crop.width for strip in strips)
        return strips

    monkeypatch.setattr(Gantt, "render_lines", noted)
    async with running(make_app(), size=(200, 40)) as (_app, pilot):
        await pilot.press("b", "i")
        await pilot.pause()
        await pilot.press("i")
        await pilot.pause()
        assert set(overhang) == {0}


async def test_without_colour_the_states_stand_at_the_bars(make_app: MakeApp) -> None:
    async with running(make_app(color=False), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        await pilot.pause()
        assert line(app, "planner")[50:].count("✖") == 1
        assert line(app, "deployer")[50:].count("■") == 1


async def test_plain_ascii_is_plain_ascii(make_app: MakeApp) -> None:
    async with running(make_app(ascii=True), size=(120, 40)) as (app, pilot):
        await pilot.press("b")
        await pilot.pause()
        assert all(each.isascii() for each in lines(app))
        assert "!!!!!!!" in line(app, "implementer")


@pytest.mark.parametrize("size", [(20, 8), (30, 10), (60, 16), (80, 24), (110, 30), (250, 60)])
async def test_it_fits_into_any_size(make_app: MakeApp, size: tuple[int, int]) -> None:
    async with running(make_app(), size=size) as (app, pilot):
        await pilot.press("b", "plus", "shift+left", "minus")
        await pilot.pause()
        assert app.monitor.table.charted
        assert all(len(each) == size[0] for each in lines(app))


async def test_the_palette_and_the_key_bar_know_it(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await app.monitor.perform("zoom-in")
        await pilot.pause()
        assert app.monitor.table.charted
        last = app.screen._compositor.render_strips()[39].text
        assert "zoom in" in last
        assert "columns" in last
