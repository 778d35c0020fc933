"""The filter line in the whole screen: typing narrows the tree, nonsense changes nothing and says why."""

from collections.abc import Callable

import pytest
from tests.piloting import until
from tests.screens.looking import running
from textual.widgets import Static

from delegtop.app.main import DelegtopApp
from delegtop.app.widgets.filter_bar import FilterBar

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]


def names(app: DelegtopApp) -> list[str]:
    """The agents of all rows that are shown, in order."""
    outline, forest = app.board.outline, app.board.forest
    return [forest.delegation(row.handle).name for row in outline.window(0, len(outline))]


def complaint(app: DelegtopApp) -> str:
    wrong = app.monitor.query_one("FilterBar .wrong", Static)
    return str(wrong.content) if wrong.has_class("-open") else ""


async def test_typing_narrows_the_tree_at_once_and_keeps_the_ancestors(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("slash", *"linter")
        await pilot.pause()
        assert names(app) == ["orchestrator", "implement", "task-executor", "linter"]


async def test_a_half_typed_key_filters_nothing_yet(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: not app.board.loading)
        everything = names(app)
        await pilot.press("slash", *"state", "colon")
        await pilot.pause()
        assert names(app) == everything
        assert complaint(app) == ""


async def test_a_wrong_query_says_why_and_leaves_the_last_good_result(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("slash", *"linter")
        await pilot.pause()
        good = names(app)
        await pilot.press("space", *"state", "colon", *"xyz")
        await pilot.pause()
        assert "xyz" in complaint(app)
        assert names(app) == good


async def test_a_search_that_ends_late_does_not_hide_what_is_wrong_by_then(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("slash", *"state", "colon")
        held, sift = True, app.board.sift
        monkeypatch.setattr(app.board, "sift", lambda seconds: not held and sift(seconds))
        await pilot.press("f", "o")
        await until(pilot, lambda: "fo" in complaint(app))
        held = False
        await until(pilot, lambda: app.board.query.text == "state:f")
        await pilot.pause()
        assert "fo" in complaint(app)


async def test_the_number_of_rows_left_is_shown_while_typing(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("slash", *"linter")
        await pilot.pause()
        assert str(app.monitor.query_one("FilterBar .found", Static).content) == "4 rows"


async def test_enter_keeps_the_filter_and_goes_back_to_the_tree(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("slash", *"linter", "enter")
        await pilot.pause()
        assert app.monitor.table.has_focus
        assert app.board.query.text == "linter"
        assert app.monitor.query_one(FilterBar).is_open


async def test_escape_clears_the_filter_and_closes_the_line(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        everything = names(app)
        await pilot.press("slash", *"linter", "enter", "escape")
        await pilot.pause()
        assert names(app) == everything
        assert not app.monitor.query_one(FilterBar).is_open


async def test_letters_typed_into_the_filter_run_no_command(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("slash", *"qpsezFT", "question_mark", "1")
        await pilot.pause()
        assert app.screen is app.monitor
        assert not app.board.paused
        assert app.monitor.query_one(FilterBar).input.value == "qpsezFT?1"


async def test_a_filter_without_any_match_says_so_instead_of_an_empty_pane(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("slash", *"zzzz")
        await pilot.pause()
        notice = app.monitor.query_one("EmptyNotice", Static)
        assert notice.display
        assert "No row matches the filter" in str(notice.content)


async def test_rows_that_come_back_after_there_was_none_have_the_keys_again(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: not app.board.loading)
        app.monitor.show_filter("nothing")
        await pilot.pause()
        assert not app.monitor.table.display
        app.monitor.show_filter("")
        await pilot.pause()
        before = app.monitor.table._view.row
        await pilot.press("down")
        assert app.monitor.table._view.row == before + 1


async def test_a_filter_given_at_the_start_is_shown_and_in_force(make_app: MakeApp) -> None:
    async with running(make_app(query="state:failed")) as (app, pilot):
        await pilot.pause()
        assert names(app) == ["orchestrator", "planner"]
        assert app.monitor.query_one(FilterBar).input.value == "state:failed"
        assert str(app.monitor.query_one("FilterBar .found", Static).content) == "2 rows"


async def test_clicking_a_count_filters_by_that_state(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 40)) as (app, pilot):
        vitals = app.monitor.query_one("Vitals")
        column = str(vitals.render()).index("failed")
        await pilot.click("Vitals", offset=(column + 1, 0))
        await pilot.pause()
        assert names(app) == ["orchestrator", "planner"]
