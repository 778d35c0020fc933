"""What somebody has seen to is told calmly, in the tree and in the line above it; what comes then is loud again."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import banner, running, screen, settled, table, under_cursor
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.triage import Triage
from delegtop.app.widgets.banner import Banner
from delegtop.base.clock import FrozenClock
from delegtop.model.events import Event, Phase

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)
HUNG = "sess_1766743200_def456"


async def in_triage(app: DelegtopApp, pilot: Pilot[None], *keys: str) -> None:
    """Press these there, and come back."""
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, Triage))
    await settled(pilot)
    await pilot.press(*keys, "escape")
    await until(pilot, lambda: app.screen is app.monitor)
    await settled(pilot)


def is_calm(app: DelegtopApp) -> bool:
    return app.monitor.query_one(Banner).has_class("-seen")


def row(app: DelegtopApp, name: str) -> str:
    return next(line for line in table(app) if line.lstrip(" └├│─▾▸").startswith(name))


def parts(app: DelegtopApp, id: str) -> set[str]:
    """The looks of the pieces of its row that speak of the problem."""
    rows = app.board.rows
    outlined = next(
        each for each in app.board.outline.window(0, len(app.board.outline)) if app.board.forest.id(each.handle) == id
    )
    return {span.part for span in rows.cells(outlined, rows.layout(119)) if span.text.strip(" └├─▾")}


async def test_what_is_acknowledged_is_calm_in_the_tree_and_in_the_line_above_it(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        assert not is_calm(app)
        assert "implementer ◀3" in row(app, "implementer")
        assert "stuck" in parts(app, HUNG)
        await in_triage(app, pilot, "a")
        assert banner(app) == "✔ seen to  implementer ◀3  in bash: lake build 12:41", "nothing is asked for"
        assert is_calm(app)
        assert "implementer ✔" in row(app, "implementer")
        assert "stuck" not in parts(app, HUNG)
        assert "✔ seen to" in "\n".join(screen(app)[20:]), "the page of what is selected says it, too"


async def test_who_takes_it_back_has_it_as_loud_as_before(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        before = banner(app), row(app, "implementer")
        await in_triage(app, pilot, "a")
        await in_triage(app, pilot, "D", "a")
        assert (banner(app), row(app, "implementer")) == before
        assert not is_calm(app)


async def test_of_several_the_line_names_the_first_that_nobody_has_seen_to_and_counts_the_others(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    more: list[Event] = [
        script.started("ask", 40, agent="asker", product="claude-code"),
        script.heard("ask", 41, "which one?", phase=Phase.ANSWER),
    ]
    async with running(make_app(feed=type(feed)([*feed.events, *more])), size=SIZE) as (app, pilot):
        assert banner(app) == "STUCK  implementer ◀3  in bash: lake build 12:41  →  enter   +1 more"
        await in_triage(app, pilot, "g", "a")
        assert banner(app).startswith("NEEDS YOU  asker  asks a question")
        assert banner(app).endswith("→  e   1 seen to")
        await pilot.press("e")
        await settled(pilot)
        assert under_cursor(app) == "ask", "the key goes to the one that is named"
        await in_triage(app, pilot, "A")
        assert banner(app).startswith("✔ seen to  implementer ◀3")
        assert banner(app).endswith("12:41   +1 more")


async def test_a_new_problem_is_loud_again(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", clock: FrozenClock
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await in_triage(app, pilot, "A")
        assert is_calm(app)
        clock.set(script.at(62.5))
        feed.say(
            script.started("ask", 62.2, agent="asker", product="claude-code"),
            script.heard("ask", 62.3, "which one?", phase=Phase.ANSWER),
        )
        await until(pilot, lambda: "asker" in banner(app))
        assert banner(app).startswith("NEEDS YOU  asker")
        assert not is_calm(app)


async def test_what_was_put_off_is_loud_when_its_time_has_come(
    make_app: MakeApp, script: "Script", clock: FrozenClock
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        await settled(pilot)
        await pilot.press("s", *["backspace"] * 2, *"10m", "enter", "escape")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert is_calm(app)
        assert "implementer ✔" in row(app, "implementer")
        clock.set(script.at(62 + 9))
        app._second()
        await settled(pilot)
        assert banner(app).endswith("1 seen to"), "another began meanwhile"
        clock.set(script.at(62 + 11))
        app._second()
        await settled(pilot)
        assert "✔" not in row(app, "implementer")
        assert banner(app).endswith("+1 more"), "both"


async def test_a_fold_says_how_many_below_it_nobody_has_seen_to(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("g", "space")
        await settled(pilot)
        assert "! 4 below" in table(app)[0]
        await in_triage(app, pilot, "g", "a")
        assert "! 3 below" in table(app)[0]
        await in_triage(app, pilot, "A")
        assert "!" not in table(app)[0]


async def test_another_dashboard_that_notes_it_is_heard_of(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await in_triage(app, pilot, "a")
        assert is_calm(app)
        app.board.seen_to.marks.path.unlink()
        app._second()
        await settled(pilot)
        assert not is_calm(app)


async def test_a_click_on_the_calm_line_goes_to_the_one_that_it_names(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await in_triage(app, pilot, "g", "a")
        await pilot.press("G")
        await settled(pilot)
        assert under_cursor(app) != HUNG
        await pilot.click(Banner, offset=(12, 0))
        await settled(pilot)
        assert under_cursor(app) == HUNG
