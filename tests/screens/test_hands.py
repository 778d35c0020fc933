"""Keys that hands know from elsewhere: h and l, half pages, the F-keys of htop; and the way back from one subtree."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.conftest import observed
from tests.screens.looking import names, part, running, screen, settled, text_of, under_cursor

from delegtop.act.acting import Acting
from delegtop.app.main import DelegtopApp
from delegtop.app.screens.choose_columns import ChooseColumns
from delegtop.app.screens.help_page import Help
from delegtop.app.screens.pick import Pick
from delegtop.app.screens.triage import Triage
from delegtop.app.widgets.crumbs import Crumbs
from delegtop.app.widgets.prompt import Prompt
from delegtop.model.events import Event

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

    from delegtop.base.clock import Clock

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)


def cursor(app: DelegtopApp) -> str:
    handle = app.board.forest.find(under_cursor(app))
    return "" if handle is None else app.board.forest.delegation(handle).name


def crumbs(app: DelegtopApp) -> str:
    line = app.monitor.query_one(Crumbs)
    return part(app, line)[0].strip() if line.display else ""


async def test_h_folds_or_goes_to_the_parent_and_l_unfolds_or_goes_to_the_first_child(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        assert cursor(app) == "implementer"
        await pilot.press("h")
        assert cursor(app) == "task-executor"
        assert app.screen is app.monitor, "it is no key for help"
        await pilot.press("h")
        assert "implementer" not in names(app)
        await pilot.press("l")
        assert "implementer" in names(app)
        await pilot.press("l")
        assert cursor(app) == "implementer"


async def test_ctrl_d_and_ctrl_u_go_half_a_page(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    many: list[Event] = [script.started(f"job-{n:03}", n / 100, agent=f"job-{n:03}") for n in range(200)]
    async with running(make_app(feed=type(feed)(many), sort="start"), size=SIZE) as (app, pilot):
        await pilot.press("g")
        page = app.monitor.table._view.page
        await pilot.press("ctrl+d")
        half = int(cursor(app).removeprefix("job-"))
        assert page // 2 - 1 <= half <= page // 2
        await pilot.press("ctrl+d")
        assert cursor(app) == f"job-{2 * half:03}"
        await pilot.press("ctrl+u", "ctrl+u")
        assert cursor(app) == "job-000"
        await pilot.press("ctrl+u")
        assert cursor(app) == "job-000"


async def test_whoever_goes_into_the_page_has_its_keys_at_once(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, _):
        app.monitor.action_inspect()
        assert app.focused is app.monitor.inspector.sheet, "the next key may be there before the next picture"


async def test_the_f_keys_do_what_they_do_in_htop(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Help))
        await pilot.press("escape", "f2")
        await until(pilot, lambda: isinstance(app.screen, ChooseColumns))
        await pilot.press("escape", "f3")
        await until(pilot, lambda: app.monitor.query_one("#search", Prompt).display)
        await pilot.press("escape", "f4")
        await until(pilot, lambda: app.monitor.filter_bar.is_open)
        await pilot.press("escape", "f5")
        await until(pilot, lambda: names(app) == ["orchestrator"])
        await pilot.press("f5", "f6")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert "Sort by" in text_of(app)
        await pilot.press("escape", "f9")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        await pilot.press("escape", "f10")
    assert app.return_code == 0


async def test_one_subtree_shows_the_way_down_to_it(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        assert crumbs(app) == ""
        await pilot.press("h", "z")
        await settled(pilot)
        assert crumbs(app) == "all › orchestrator › /implement 191 › task-executor"
        assert names(app) == ["task-executor", "implementer", "linter"]
        await pilot.press("escape")
        await settled(pilot)
        assert crumbs(app) == ""


@pytest.mark.parametrize(
    ("word", "shown", "left"),
    [
        ("/implement", ["implement", "task-executor", "implementer", "linter"], "all › orchestrator › /implement 191"),
        ("orchestrator", None, "all › orchestrator"),
        ("all", None, ""),
    ],
)
async def test_a_click_on_a_step_goes_back_up_to_it(
    make_app: MakeApp, word: str, shown: list[str] | None, left: str
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        everything = names(app)
        held = under_cursor(app)
        await pilot.press("z")
        await settled(pilot)
        line = app.monitor.query_one(Crumbs)
        x = screen(app)[line.region.y].index(word) + 1
        await pilot.click(Crumbs, offset=(x, 0))
        await settled(pilot)
        assert names(app) == (shown or everything)
        assert crumbs(app) == left
        assert under_cursor(app) == held


async def test_a_click_on_the_last_step_changes_nothing(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("z")
        await settled(pilot)
        before = crumbs(app)
        await pilot.click(Crumbs, offset=(before.index("implementer") + 2, 0))
        await settled(pilot)
        assert crumbs(app) == before


async def test_a_long_way_keeps_its_end_in_sight(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    deep: list[Event] = [script.started("level-00", 0, agent="level-00")]
    deep += [
        script.started(f"level-{n:02}", n, agent=f"level-{n:02}", parent=f"level-{n - 1:02}") for n in range(1, 40)
    ]
    async with running(make_app(feed=type(feed)(deep)), size=(80, 24)) as (app, pilot):
        app.monitor.table.cursor = app.board.forest.find("level-39")
        await pilot.press("z")
        await settled(pilot)
        assert crumbs(app).startswith("all › ")
        assert crumbs(app).endswith("level-39"), "where one is, is what the line is for"


async def test_with_ascii_the_steps_are_ascii(make_app: MakeApp) -> None:
    async with running(make_app(ascii=True), size=SIZE) as (app, pilot):
        await pilot.press("h", "z")
        await settled(pilot)
        assert crumbs(app) == "all > orchestrator > /implement 191 > task-executor"


@pytest.mark.parametrize("enabled", [True, False], ids=["acting", "looking"])
async def test_where_it_may_act_even_a_short_key_bar_says_how(
    feed: "ScriptedFeed", clock: "Clock", enabled: bool
) -> None:
    app = DelegtopApp(observed(feed, clock), acting=Acting(enabled=enabled))
    async with running(app, size=(80, 24)) as (app, _):
        assert ("K stop" in app.screen._compositor.render_strips()[23].text) is enabled
