"""Views: a way of looking is kept under a name, called by a key, a command or a flag, and the last one comes back."""

import json
import stat
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import names, running, said, settled, text_of, titles
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.ask import Ask
from delegtop.app.screens.pick import Pick
from delegtop.app.state import state_file
from delegtop.app.state.saved_views import LONGEST, NAME, View, Views
from delegtop.cli.diagnostics import UsageError
from delegtop.cli.live import view_for
from delegtop.settings import load

if TYPE_CHECKING:
    from tests.screens.conftest import ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (140, 40)


@pytest.fixture
def start(make_app: MakeApp, feed: "ScriptedFeed") -> Callable[..., DelegtopApp]:
    """The dashboard as the command starts it, on the views that are kept."""

    def begin(*, view: str | None = None, filter: str = "", **flags: object) -> DelegtopApp:
        views, shown = view_for(Namespace(view=view), load(None, flags), filter)
        return make_app(feed=type(feed)(feed.events), view=shown, views=views, **flags)

    return begin


Start = Callable[..., DelegtopApp]


async def keep(pilot: Pilot[None], app: DelegtopApp, name: str) -> None:
    await pilot.press("W")
    await until(pilot, lambda: isinstance(app.screen, Pick))
    await pilot.press("plus")
    await until(pilot, lambda: isinstance(app.screen, Ask))
    await pilot.press(*["backspace"] * LONGEST, *name, "enter")
    await until(pilot, lambda: app.screen is app.monitor)


async def type_command(pilot: Pilot[None], words: str) -> None:
    await pilot.press("colon", *words, "enter")
    await settled(pilot)


# Keeping and picking


async def test_a_view_is_kept_under_a_name_and_a_number_calls_it(start: Start) -> None:
    async with running(start(), size=SIZE, notifications=True) as (app, pilot):
        usual = names(app)
        await type_command(pilot, "filter agent:linter")
        await type_command(pilot, "sort name")
        await type_command(pilot, "columns state,doing")
        await pilot.press("O")
        await settled(pilot)
        looked = names(app)
        await keep(pilot, app, "lint")
        assert said(app) == ["Kept as lint."]
        assert Views().named("lint") == View("agent:linter", "name", False, ("state", "doing"), True)
        await pilot.press("escape", "O")
        await type_command(pilot, "sort problems")
        await type_command(pilot, "columns")
        assert names(app) == usual
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert "1 lint" in text_of(app)
        await pilot.press("1")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert names(app) == looked
        assert titles(app).split() == ["DELEGATION▼", "STATE", "DOING"]
        assert app.board.only_open


async def test_a_view_is_dropped_and_the_others_stay(start: Start) -> None:
    views = Views()
    views.keep("one", View(sort="name"))
    views.keep("two", View(sort="age"))
    async with running(start(), size=SIZE) as (app, pilot):
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press("down", "minus")
        await until(pilot, lambda: isinstance(app.screen, Pick) and "two" not in text_of(app))
        assert "1 one" in text_of(app)
        await pilot.press("escape")
    assert Views().names == ["one"]


async def test_without_any_the_list_says_how_to_keep_one(start: Start) -> None:
    async with running(start(), size=SIZE) as (app, pilot):
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert "+ keeps this view" in text_of(app)
        await pilot.press("enter", "1", "escape")
        await until(pilot, lambda: app.screen is app.monitor)


@pytest.mark.parametrize("name", ["", "   ", "x" * (LONGEST + 1)])
async def test_a_name_that_is_none_is_refused(start: Start, name: str) -> None:
    async with running(start(), size=SIZE) as (app, pilot):
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press("plus")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*name, "enter")
        await pilot.pause()
        assert isinstance(app.screen, Ask)
    assert Views().names == []


async def test_a_view_that_names_what_is_not_there_any_more_is_looked_through_as_far_as_it_goes(start: Start) -> None:
    Views().keep("odd", View("agent:linter", "shoe-size", False, ("colour",), False))
    async with running(start(), size=SIZE, notifications=True) as (app, pilot):
        await type_command(pilot, "view odd")
        assert app.board.sort == "problems"
        assert "linter" in names(app)
        assert any("no column is named colour" in each for each in said(app))


# Commands and flags


async def test_colon_save_and_colon_view(start: Start) -> None:
    async with running(start(), size=SIZE) as (app, pilot):
        await type_command(pilot, "filter agent:linter")
        await type_command(pilot, "save the linter")
        await pilot.press("escape")
        await settled(pilot)
        assert len(names(app)) > 4
        await type_command(pilot, "view the linter")
        assert names(app) == ["orchestrator", "implement", "task-executor", "linter"]


async def test_colon_view_with_a_name_nobody_kept_says_so(start: Start) -> None:
    async with running(start(), size=SIZE) as (app, pilot):
        await type_command(pilot, "view nothing-like-it")
        assert "no view is kept as nothing-like-it" in text_of(app)


async def test_the_flag_view_starts_with_it(start: Start) -> None:
    Views().keep("lint", View("agent:linter", "name", False, ("state", "doing"), False))
    async with running(start(view="lint"), size=SIZE) as (app, _pilot):
        assert names(app) == ["orchestrator", "implement", "task-executor", "linter"]
        assert titles(app).split() == ["DELEGATION▼", "STATE", "DOING"]


async def test_a_flag_beside_it_comes_before_what_the_view_says(start: Start) -> None:
    Views().keep("lint", View("agent:linter", "name", False, (), False))
    async with running(start(view="lint", sort="age"), size=SIZE) as (app, _pilot):
        assert app.board.sort == "age"
        assert "linter" in names(app)


def test_a_flag_that_names_a_view_nobody_kept_is_an_error_that_names_one_like_it(start: Start) -> None:
    Views().keep("lint", View())
    with pytest.raises(UsageError, match=r"no view is kept as lnit; did you mean lint\?"):
        start(view="lnit")


# The last one


async def test_the_last_view_is_there_at_the_next_start(start: Start) -> None:
    async with running(start(), size=SIZE) as (app, pilot):
        await type_command(pilot, "sort age")
        await pilot.press("S")
        await type_command(pilot, "columns state,age,doing")
        await pilot.press("slash", *"state:failed", "enter")
        await settled(pilot)
        looked = names(app), titles(app)
    async with running(start(), size=SIZE) as (again, pilot):
        assert (names(again), titles(again)) == looked
        assert "state:failed" in text_of(again), "the filter that is in force is in sight"


@pytest.mark.parametrize(
    "asked", [{"filter": 'project:"/home/ann/app"'}, {"sort": "age"}, {"columns": ("state", "age")}], ids=str
)
async def test_what_was_asked_for_at_one_start_is_not_how_the_next_one_looks(
    start: Start, asked: dict[str, object]
) -> None:
    async with running(start(**asked), size=SIZE) as (_app, pilot):
        await pilot.press("O")
        await settled(pilot)
    last = Views().last
    assert last == View(only_open=True), "what the operator changed is kept, and nothing else"


async def test_settings_of_a_file_come_before_the_last_view(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    Views().remember(View(sort="age"))
    monkeypatch.setenv("DELEGTOP_SORT", "name")
    async with running(start(), size=SIZE) as (app, _pilot):
        assert app.board.sort == "name"


# The file


async def test_a_file_that_is_broken_is_put_aside_with_a_message(start: Start) -> None:
    path = state_file.place(NAME)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x00{not json")
    async with running(start(), size=SIZE, notifications=True) as (app, pilot):
        assert any(each.startswith("views cannot be read") for each in said(app))
        await keep(pilot, app, "new")
    assert path.with_suffix(".unreadable.json").read_bytes() == b"\x00{not json"
    assert Views().names == ["new"]


async def test_where_nothing_can_be_written_it_is_said_and_the_dashboard_goes_on(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state_file, "write", full)
    async with running(start(), size=SIZE, notifications=True) as (app, pilot):
        await keep(pilot, app, "new")
        assert said(app) == ["Not kept: views cannot be kept: No space left on device"]
        await type_command(pilot, "sort name")
        assert app.board.sort == "name"


def test_the_file_is_for_its_owner_and_says_what_it_holds() -> None:
    views = Views()
    views.keep("lint", View("agent:linter", "name"))
    assert stat.S_IMODE(views.path.stat().st_mode) == 0o600
    told = json.loads(views.path.read_text())
    assert told["views"]["lint"] == {"filter": "agent:linter", "sort": "name"}


async def test_where_nothing_is_kept_a_view_cannot_be_saved_and_it_is_said(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE, notifications=True) as (app, pilot):
        await pilot.press("W")
        await pilot.pause()
        assert said(app) == ["No views are kept here."]
        await type_command(pilot, "save mine")
        assert "no views are kept here" in text_of(app)
