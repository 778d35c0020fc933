"""The line above the tree: what presses most, in words, with the key that goes there; nothing while nothing does."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import banner, names, page, running, said, screen, settled, under_cursor

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.triage import Triage
from delegtop.base.clock import FrozenClock
from delegtop.model.events import Event, Outcome, Phase

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)
HUNG = "sess_1766743200_def456"


def pair(s: "Script", doing: str, **facts: object) -> list[Event]:
    """Somebody who waits, and the one it waits for."""
    return [
        s.started("above", 0, agent="caller", product="claude-code"),
        s.started("below", 1, agent="worker", parent="above", product="claude-code"),
        s.heard("below", 31, doing, **facts),
    ]


async def test_what_is_surely_stuck_is_called_so_with_whom_it_holds_up_in_what_and_since_when(
    make_app: MakeApp,
) -> None:
    async with running(make_app(), size=SIZE) as (app, _pilot):
        assert banner(app) == "STUCK  implementer ◀3  in bash: lake build 12:41  →  enter"
        assert screen(app)[1].strip() == banner(app), "it is the second line, above the titles of the columns"


async def test_what_may_be_at_work_and_holds_up_others_is_called_stuck_with_a_question_mark(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(
        make_app(feed=type(feed)(pair(script, "make all", tool="Bash", phase=Phase.TOOL, mode="bypassPermissions"))),
        size=SIZE,
    ) as (
        app,
        _pilot,
    ):
        assert banner(app) == "STUCK?  worker ◀1  in Bash: make all 31:11  →  enter"


async def test_of_what_is_late_it_says_how_late_and_not_how_long_it_does_what_it_does(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    late = script.started("late", 0, agent="worker", timeout=60 * 60_000)
    async with running(
        make_app(feed=type(feed)([late, script.heard("late", 57, "ruff check src", tool="bash")])), size=SIZE
    ) as (app, _pilot):
        assert banner(app) == "STUCK  worker  overdue 2:11 in bash: ruff check src  →  enter"


async def test_what_waits_for_a_person_needs_you(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    async with running(
        make_app(feed=type(feed)(pair(script, "rm -r build", tool="Bash", phase=Phase.PERMISSION))), size=SIZE
    ) as (app, _pilot):
        assert banner(app) == "NEEDS YOU  worker ◀1  asks permission: Bash: rm -r build 31:11  →  enter"


async def test_what_is_only_quiet_and_holds_up_nobody_is_not_told_there(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    alone: list[Event] = [script.started("a", 30, agent="reviewer"), script.heard("a", 31, "reading the diff")]
    async with running(make_app(feed=type(feed)(alone)), size=SIZE) as (app, _pilot):
        assert "silent?" in "\n".join(screen(app))
        assert banner(app) == ""


async def test_the_others_that_press_are_counted(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    more: list[Event] = [
        script.started("ask", 40, agent="asker", product="claude-code"),
        script.heard("ask", 41, "which one?", phase=Phase.ANSWER),
    ]
    async with running(make_app(feed=type(feed)([*feed.events, *more])), size=SIZE) as (app, _pilot):
        assert banner(app) == "STUCK  implementer ◀3  in bash: lake build 12:41  →  enter   +1 more"


@pytest.mark.parametrize("width", [20, 40, 60, 80])
async def test_where_there_is_little_room_it_is_cut_and_never_wider_than_the_screen(
    make_app: MakeApp, width: int
) -> None:
    async with running(make_app(), size=(width, 24)) as (app, _pilot):
        assert screen(app)[1].startswith(" STUCK  implemen")
        assert all(len(line) == width for line in screen(app))


async def test_its_key_is_enter_on_the_one_it_names_and_else_the_one_that_goes_there(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("g")
        await settled(pilot)
        assert banner(app).endswith("→  e")
        await pilot.press("e")
        await settled(pilot)
        assert under_cursor(app) == HUNG
        assert banner(app).endswith("→  enter")
        await pilot.press("enter")
        await until(pilot, lambda: app.monitor.inspector.sheet.has_focus)
        assert page(app).startswith("hung in a tool It has been inside bash")


async def test_a_key_that_was_moved_is_named_as_it_is_now(make_app: MakeApp) -> None:
    async with running(make_app(keymap={"problem": "f8"}), size=SIZE) as (app, pilot):
        await pilot.press("g")
        await settled(pilot)
        assert banner(app).endswith("→  F8")
        await pilot.press("f8")
        assert under_cursor(app) == HUNG


async def test_a_click_goes_there_whatever_hides_it(make_app: MakeApp) -> None:
    async with running(make_app(query="agent:researcher"), size=SIZE) as (app, pilot):
        await pilot.press("asterisk")
        await pilot.pause()
        assert "implementer" not in names(app)
        await pilot.click("Banner", offset=(5, 0))
        await settled(pilot)
        assert under_cursor(app) == HUNG
        assert not app.board.query


async def test_it_stands_whatever_filter_is_set_and_names_a_key_that_goes_there(make_app: MakeApp) -> None:
    async with running(make_app(query="agent:researcher"), size=SIZE, notifications=True) as (app, pilot):
        assert "implementer" not in names(app)
        assert banner(app) == "STUCK  implementer ◀3  in bash: lake build 12:41  →  t"
        await pilot.press("e")
        assert said(app) == ["No problem among these rows, but 4 elsewhere: t lists them."]
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.monitor)
        assert under_cursor(app) == HUNG


async def test_it_stands_while_another_subtree_is_looked_at_alone(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        app.monitor.table.cursor = app.board.forest.find("sess_1766743320_res195")
        await pilot.press("z")
        await settled(pilot)
        assert names(app) == ["research", "researcher"]
        assert banner(app).endswith("→  t")


async def test_it_goes_when_the_trouble_is_over(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", clock: FrozenClock
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        clock.set(script.at(62.5))
        feed.say(script.returned(HUNG, 62.4, Outcome.COMPLETED, summary="Built"))
        await until(pilot, lambda: banner(app) == "")
        assert screen(app)[1].split()[0] == "DELEGATION", "its line is given to the rows"


async def test_the_time_in_it_goes_on(make_app: MakeApp, script: "Script", clock: FrozenClock) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        clock.set(script.at(62.6))
        app._second()
        await settled(pilot)
        assert banner(app) == "STUCK  implementer ◀3  in bash: lake build 13:06  →  enter"
        assert "It has been inside bash: lake build for 13:06" in page(app)


async def test_foreign_words_in_it_are_text_and_nothing_else(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    nasty = "[bold red]x[/]\x1b]0;owned\x07\u202e"
    async with running(make_app(feed=type(feed)(pair(script, nasty, tool="Bash", phase=Phase.TOOL))), size=SIZE) as (
        app,
        _pilot,
    ):
        assert "[bold red]x[/]" in banner(app)
        assert banner(app).isprintable()
