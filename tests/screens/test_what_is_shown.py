"""Which rows there are: a fold tells what it hides, only the open ones on wish, and earlier trouble in one line."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import (
    banner,
    earlier,
    ids,
    names,
    running,
    said,
    screen,
    settled,
    table,
    text_of,
    under_cursor,
)

from delegtop.app.main import DelegtopApp
from delegtop.app.state.saved_views import Views
from delegtop.base.clock import FrozenClock
from delegtop.model.events import Event, Outcome
from delegtop.model.states import ACTIVE

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)
HUNG = "sess_1766743200_def456"


def history(s: "Script") -> list[Event]:
    """Two trees that ended badly hours ago, one that is done, and one that is at work."""
    hours_ago = -180
    return [
        s.started("old-root", hours_ago, agent="old-orchestrator"),
        s.started("old", hours_ago + 1, agent="old-failure", parent="old-root"),
        s.returned("old", hours_ago + 2, Outcome.FAILED, summary="No network"),
        s.returned("old-root", hours_ago + 3, Outcome.COMPLETED),
        s.started("older", hours_ago - 60, agent="older-failure"),
        s.returned("older", hours_ago - 59, Outcome.TIMEOUT),
        s.started("done", -30, agent="done-one"),
        s.returned("done", -20, Outcome.COMPLETED),
        s.started("now", 50, agent="at-work"),
        s.heard("now", 62, "reading"),
    ]


# Folds


@pytest.mark.parametrize(("width", "words"), [(40, "! 4"), (80, "! 4"), (120, "! 4 below"), (160, "! 4 below")])
async def test_a_folded_row_says_how_many_problems_are_below_it(make_app: MakeApp, width: int, words: str) -> None:
    async with running(make_app(), size=(width, 30)) as (app, pilot):
        await pilot.press("g", "space")
        await settled(pilot)
        assert words in table(app)[0]
        await pilot.press("space")
        await settled(pilot)
        assert words not in table(app)[0]


async def test_it_has_the_colour_of_the_worst_of_them(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("g", "space")
        await settled(pilot)
        tree = app.monitor.table
        told = next(segment for segment in tree.render_line(1) if "below" in segment.text)
        assert told.style is not None
        assert told.style.color == tree._style("stuck").color


async def test_a_fold_over_earlier_trouble_alone_says_nothing(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE) as (app, pilot):
        await pilot.press("d", "asterisk")
        await settled(pilot)
        row = next(line for line in table(app) if "old-orchestrator" in line)
        assert "(1)" in row
        assert "below" not in row


async def test_what_is_solved_below_a_fold_is_counted_no_more(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", clock: FrozenClock
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("g", "space")
        clock.set(script.at(62.5))
        feed.say(script.returned(HUNG, 62.4, Outcome.COMPLETED))
        await until(pilot, lambda: "! 3 below" in table(app)[0])


# Only what is open


async def test_capital_o_shows_only_what_is_open_and_who_is_above_it_and_then_all_again(make_app: MakeApp) -> None:
    async with running(make_app(), size=(200, 40)) as (app, pilot):
        everything = names(app)
        await pilot.press("O")
        await settled(pilot)
        assert names(app) == ["orchestrator", "implement", "task-executor", "implementer", "linter", "reviewer"]
        assert all(app.board.forest.state(row.handle) in ACTIVE for row in app.board.outline.window(0, 99))
        assert "O show all" in screen(app)[-1]
        assert banner(app).startswith("STUCK  implementer")
        await pilot.press("O")
        await settled(pilot)
        assert names(app) == everything
        assert "O only open" in screen(app)[-1]


async def test_what_ends_goes_from_the_rows_and_what_begins_comes(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", clock: FrozenClock
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("O")
        clock.set(script.at(62.5))
        feed.say(
            script.returned("sess_1766743200_lint07", 62.3, Outcome.COMPLETED),
            script.started("sess_new", 62.4, agent="newcomer", parent="sess_1766743200_root00"),
        )
        await until(pilot, lambda: "newcomer" in names(app))
        assert "linter" not in names(app)


async def test_where_nothing_is_open_it_says_so_and_not_that_a_filter_is_set(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    over: list[Event] = [script.started("a", 0, agent="one"), script.returned("a", 1, Outcome.COMPLETED)]
    async with running(make_app(feed=type(feed)(over)), size=SIZE) as (app, pilot):
        await pilot.press("O")
        await settled(pilot)
        assert names(app) == []
        assert "Nothing is open" in text_of(app)
        assert "filter" not in "\n".join(screen(app)[:-1])
        await pilot.press("O")
        await settled(pilot)
        assert names(app) == ["one"]


async def test_only_what_is_open_is_so_at_the_next_start_too(make_app: MakeApp, feed: "ScriptedFeed") -> None:
    async with running(make_app(views=Views()), size=SIZE) as (app, pilot):
        await pilot.press("O")
        await settled(pilot)
        shown = names(app)
    views = Views()
    again = make_app(feed=type(feed)(feed.events), view=views.last, views=views)
    async with running(again, size=SIZE) as (_, pilot):
        assert names(again) == shown
        assert again.board.only_open
        await pilot.press("O")
    assert not Views().last.only_open


# Earlier trouble


async def test_trees_with_nothing_but_earlier_trouble_are_one_line_and_d_shows_them(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE) as (app, pilot):
        assert names(app) == ["at-work", "done-one"]
        assert sorted(earlier(app).split("   ")[0].removeprefix("earlier: ").split(", ")) == ["1 failed", "1 timeout"]
        assert earlier(app).endswith("d shows them")
        await pilot.press("d")
        await settled(pilot)
        assert names(app) == ["at-work", "old-orchestrator", "old-failure", "older-failure", "done-one"]
        assert earlier(app) == ""
        await pilot.press("d")
        await settled(pilot)
        assert names(app) == ["at-work", "done-one"]


async def test_a_click_on_the_line_shows_them(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE) as (app, pilot):
        await pilot.click("Earlier", offset=(3, 0))
        await settled(pilot)
        assert "old-failure" in names(app)


async def test_e_says_that_nothing_is_the_matter_now_and_what_was_earlier(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE, notifications=True) as (app, pilot):
        await pilot.press("e")
        assert len(said(app)) == 1
        assert said(app)[0].startswith("Nothing is the matter now; earlier: ")
        assert {"1 failed", "1 timeout"} == set(said(app)[0].rstrip(".").split("earlier: ")[1].split(", "))


async def test_where_there_is_nothing_but_earlier_trouble_it_is_shown(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(make_app(feed=type(feed)(history(script)[:6])), size=SIZE) as (app, _pilot):
        assert names(app) == ["old-orchestrator", "old-failure", "older-failure"]
        assert earlier(app) == ""


async def test_a_filter_finds_earlier_trouble(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE) as (app, pilot):
        await pilot.press("slash", *"old-fail", "enter")
        await settled(pilot)
        assert names(app) == ["old-orchestrator", "old-failure"]
        assert earlier(app) == ""
        await pilot.press("escape")
        await settled(pilot)
        assert names(app) == ["at-work", "done-one"]


async def test_what_fails_now_in_an_old_tree_brings_it_back(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE) as (app, pilot):
        live = app.reader.feed
        assert isinstance(live, type(feed))
        live.say(
            script.started("again", 61, agent="second-try", parent="old-root"),
            script.returned("again", 62, Outcome.FAILED, summary="No network"),
        )
        await until(pilot, lambda: "second-try" in names(app))
        assert ids(app)[0] == "old-root", "what ended badly a moment ago stands above what is at work"


async def test_what_failed_becomes_earlier_trouble_with_time(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", clock: FrozenClock
) -> None:
    failed = [
        *history(script),
        script.started("new", 61, agent="new-failure"),
        script.returned("new", 62, Outcome.FAILED, summary="No network"),
    ]
    async with running(make_app(feed=type(feed)(failed)), size=SIZE) as (app, pilot):
        assert names(app)[0] == "new-failure"
        assert under_cursor(app) == "new"
        clock.set(script.at(62 + 31))
        app._second()
        await settled(pilot)
        assert "new-failure" not in names(app)
        assert "2 failed" in earlier(app)


async def test_the_line_is_hidden_with_what_is_open_only_if_nothing_is_left_to_say(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(make_app(feed=type(feed)(history(script))), size=SIZE) as (app, pilot):
        await pilot.press("O")
        await settled(pilot)
        assert names(app) == ["at-work"]
        assert earlier(app).startswith("earlier: ")


async def test_what_comes_late_of_a_tree_that_is_told_in_one_line_is_no_news(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    fed = type(feed)(history(script))
    async with running(make_app(feed=fed), size=SIZE) as (app, pilot):
        late = script.started("late", -179, agent="late-failure", parent="old-root")
        fed.say(late, script.returned("late", -178, Outcome.FAILED))
        await until(pilot, lambda: len(app.board.forest) == 6)
        await settled(pilot)
        assert app.monitor.table.pending == 0
        assert "new" not in screen(app)[1]
        assert "late-failure" not in names(app)


async def test_until_it_is_moved_the_cursor_goes_to_what_is_more_urgent_and_not_to_what_is_only_newer(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    fed = type(feed)([script.started("a", 50, agent="one"), script.returned("a", 55, Outcome.FAILED)])
    async with running(make_app(feed=fed), size=SIZE) as (app, pilot):
        assert under_cursor(app) == "a"
        fed.say(script.started("b", 56, agent="two"), script.returned("b", 60, Outcome.FAILED))
        await until(pilot, lambda: ids(app) == ["b", "a"])
        await settled(pilot)
        assert under_cursor(app) == "a"
        fed.say(script.started("c", 50, agent="three", timeout=60_000))
        await until(pilot, lambda: len(app.board.forest) == 3)
        await settled(pilot)
        assert under_cursor(app) == "c"
