"""The command line: what is typed after a colon is done, or said to be wrong; letters there run nothing else."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import earlier, names, running, said, screen, settled, text_of, titles, under_cursor
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.help_page import Help
from delegtop.app.screens.triage import Triage
from delegtop.app.screens.viewing import Viewing
from delegtop.app.widgets.prompt import Prompt

if TYPE_CHECKING:
    from tests.screens.conftest import ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (140, 40)


def line(app: DelegtopApp) -> Prompt:
    return app.monitor.command_prompt


async def typed(pilot: Pilot[None], words: str) -> None:
    await pilot.press("colon", *words, "enter")
    await settled(pilot)


async def test_a_colon_opens_the_line_and_escape_leaves_it(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("colon")
        await settled(pilot)
        assert screen(app)[1].startswith(" : ")
        await pilot.press(*"qqq", "escape")
        await settled(pilot)
        assert not line(app).display
        assert app.monitor.table.has_focus
        assert app.is_running


async def test_while_it_is_typed_it_says_what_the_command_does(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        for word, told in Viewing.COMMANDS_TYPED.items():
            await pilot.press("colon", *word)
            await settled(pilot)
            assert told in screen(app)[1]
            await pilot.press("escape")


async def test_letters_typed_there_run_no_command(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("colon", *"qpsezFTOdbtWn", "question_mark", "slash", "colon", "backslash", "space")
        assert line(app).text == "qpsezFTOdbtWn?/:\\ "
        assert app.screen is app.monitor
        assert not app.board.paused


async def test_sort_takes_any_order(make_app: MakeApp) -> None:
    async with running(make_app(sort="start"), size=SIZE) as (app, pilot):
        for name in ("cost", "tokens", "depth", "name", "problems"):
            await typed(pilot, f"sort {name}")
            assert app.board.sort == name
            assert not line(app).display
            before = under_cursor(app)
            await pilot.press("j" if app.monitor.table._view.row == 0 else "k")
            assert under_cursor(app) != before, "the keys are those of the rows again"


async def test_filter_open_and_earlier(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        everything = names(app)
        await typed(pilot, "filter agent:linter")
        assert names(app) == ["orchestrator", "implement", "task-executor", "linter"]
        await typed(pilot, "filter")
        assert names(app) == everything
        await typed(pilot, "open")
        assert "planner" not in names(app)
        await typed(pilot, "open")
        await typed(pilot, "earlier")
        assert app.board.showing.earlier_shown
        assert earlier(app) == ""


async def test_go_takes_the_beginning_of_an_id_whatever_hides_it(make_app: MakeApp) -> None:
    async with running(make_app(query="agent:researcher"), size=SIZE) as (app, pilot):
        await typed(pilot, "go sess_1766743200_lint")
        assert under_cursor(app) == "sess_1766743200_lint07"
        assert not app.board.query


async def test_theme_triage_and_help(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await typed(pilot, "theme light")
        assert app.theme == "light"
        await pilot.press("colon", *"help", "enter")
        await until(pilot, lambda: isinstance(app.screen, Help))
        await pilot.press("escape")
        await pilot.press("colon", *"triage", "enter")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.monitor)
        assert not line(app).display


@pytest.mark.parametrize("word", ["q", "q!", "quit", "x"])
async def test_q_leaves(make_app: MakeApp, feed: "ScriptedFeed", word: str) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("colon", *word, "enter")
    assert app.return_code == 0
    assert feed.closed


WRONG = {
    "sort": "nothing is named; the orders are problems, start, ",
    "theme": "nothing is named; the themes are dark, light, safe",
    "view": "nothing is named: which view?",
    "sort shoe": "there is no order shoe",
    "columns shoe": "no column is named shoe",
    "view shoe": "no view is kept as shoe",
    "theme shoe": "there is no theme shoe",
    "go shoe": "no delegation's id begins with shoe",
    "go": "to which delegation? the beginning of its id follows",
    "filter state:shoe": "shoe",
    "srot cost": "srot: no such command; did you mean sort?",
    "xyzzy": "xyzzy: no such command; ctrl+p lists all",
    "\x1b[31mx": "no such command",
}


async def test_what_is_wrong_is_said_and_changes_nothing(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        before = names(app), titles(app), app.theme
        for words, told in WRONG.items():
            earlier = len(said(app))
            line(app).open()
            line(app)._input.value = words
            await pilot.press("enter")
            await settled(pilot)
            assert told in text_of(app) or any(told in each for each in said(app)[earlier:]), words
            assert "\x1b" not in text_of(app)
            await pilot.press("escape", "escape")
            await settled(pilot)
            assert (names(app), titles(app), app.theme) == before, words


async def test_nothing_typed_does_nothing(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await typed(pilot, "")
        assert not line(app).display
        assert app.monitor.table.has_focus


async def test_a_long_complaint_leaves_room_for_what_was_typed(make_app: MakeApp) -> None:
    async with running(make_app(), size=(80, 24)) as (app, pilot):
        await typed(pilot, "columns shoe")
        assert screen(app)[1].startswith(" : columns shoe")
        assert "no column is named shoe" in screen(app)[1]
