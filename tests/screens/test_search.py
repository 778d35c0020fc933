"""A search marks words and leaves all rows where they are; n and N go from one to the next and come round."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import names, running, said, settled, table, text_of, under_cursor

from delegtop.app.highlight import highlighted
from delegtop.app.main import DelegtopApp
from delegtop.app.widgets.prompt import Prompt
from delegtop.model.events import Event
from delegtop.report.layout import CellSpan

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)


def cursor(app: DelegtopApp) -> str:
    handle = app.board.forest.find(under_cursor(app))
    return "" if handle is None else app.board.forest.delegation(handle).name


def marked(app: DelegtopApp) -> list[str]:
    """The pieces of text that are painted as found, in all rows on the screen."""
    tree = app.monitor.table
    ground = tree.get_component_rich_style("delegation-tree--found").bgcolor
    lines = (tree.render_line(y) for y in range(1, tree.size.height))
    return [piece.text for line in lines for piece in line if piece.style is not None and piece.style.bgcolor == ground]


async def test_words_are_marked_while_they_are_typed_and_no_row_goes(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        everything = names(app)
        assert marked(app) == []
        await pilot.press("backslash", *"lint")
        await settled(pilot)
        assert names(app) == everything
        assert marked(app) == ["lint"]
        await pilot.press("enter")
        await settled(pilot)
        assert cursor(app) == "linter"
        assert app.monitor.table.has_focus
        assert names(app) == everything
        assert marked(app) == ["lint"]


async def test_case_does_not_matter_and_signs_mean_themselves(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"/IMPLEMENT 1", "enter")
        await settled(pilot)
        assert cursor(app) == "implement"
        assert marked(app) == ["/implement 1"]


async def test_n_and_capital_n_go_on_and_back_and_come_round(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("g", "backslash", *"research", "enter")
        seen = [cursor(app)]
        for _ in range(3):
            await pilot.press("n")
            seen.append(cursor(app))
        assert len(set(seen)) == 3, "two by their names, and who found no research"
        assert seen[0] == seen[3]
        await pilot.press("N")
        assert cursor(app) == seen[2]
        await pilot.press("f3")
        assert cursor(app) == seen[0]
        await pilot.press("shift+f3")
        assert cursor(app) == seen[2]


async def test_escape_ends_the_search_before_anything_else(make_app: MakeApp) -> None:
    async with running(make_app(query="state:completed"), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"research", "enter")
        await settled(pilot)
        assert marked(app)
        await pilot.press("escape")
        await settled(pilot)
        assert marked(app) == []
        assert app.board.query.text == "state:completed"
        await pilot.press("escape")
        await settled(pilot)
        assert not app.board.query


async def test_escape_while_typing_leaves_everything_as_it_was(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        before = under_cursor(app)
        await pilot.press("backslash", *"lint", "escape")
        await settled(pilot)
        assert marked(app) == []
        assert under_cursor(app) == before
        assert app.monitor.table.has_focus
        assert not app.monitor.query_one("#search", Prompt).display


async def test_words_that_are_nowhere_are_said_to_be_and_the_cursor_stays(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE, notifications=True) as (app, pilot):
        before = under_cursor(app)
        await pilot.press("backslash", *"zebra", "enter")
        assert said(app) == ["zebra: nowhere in the rows."]
        assert under_cursor(app) == before


async def test_n_without_a_search_asks_for_one(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("n")
        await pilot.pause()
        assert app.monitor.query_one("#search", Prompt).display
        await pilot.press(*"lint", "enter")
        assert cursor(app) == "linter"


async def test_the_search_begins_with_the_words_of_the_last_one(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"lint", "enter", "backslash")
        assert app.monitor.query_one("#search", Prompt).text == "lint"


async def test_what_a_fold_hides_is_not_looked_for(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE, notifications=True) as (app, pilot):
        await pilot.press("asterisk", "backslash", *"linter", "enter")
        assert said(app) == ["linter: nowhere in the rows."]


async def test_what_arrives_is_marked_too(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"late", "enter")
        feed.say(script.started("sess_late", 61, agent="latecomer", parent="sess_1766743200_root00"))
        await until(pilot, lambda: "latecomer" in names(app))
        await settled(pilot)
        assert "late" in marked(app)


async def test_a_search_through_many_rows_reaches_the_last_and_comes_round(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    many: list[Event] = [script.started(f"job-{n:04}", n / 100, agent=f"job-{n:04}") for n in range(1_000)]
    async with running(make_app(feed=type(feed)(many), sort="start"), size=SIZE) as (app, pilot):
        await pilot.press("g", "backslash", *"-0999", "enter")
        assert cursor(app) == "job-0999"
        await pilot.press("n")
        assert cursor(app) == "job-0999", "there is no other"
        await pilot.press("backslash", *["backspace"] * 5, *"-0000", "enter")
        assert cursor(app) == "job-0000"
        await pilot.press("N")
        assert cursor(app) == "job-0000"


async def test_without_colour_what_was_found_is_still_to_be_seen(make_app: MakeApp) -> None:
    async with running(make_app(color=False), size=SIZE) as (app, pilot):
        await pilot.press("down", "backslash", *"planner", "enter", "up")
        await settled(pilot)
        y = next(y for y, line in enumerate(table(app), 1) if "planner" in line)
        pieces = [piece for piece in app.monitor.table.render_line(y) if piece.text == "planner"]
        assert pieces
        assert pieces[0].style is not None
        assert pieces[0].style.reverse


async def test_with_ascii_the_line_is_ascii(make_app: MakeApp) -> None:
    async with running(make_app(ascii=True), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"lint")
        await settled(pilot)
        assert text_of(app).isascii()


def test_marking_keeps_every_character_and_every_part() -> None:
    spans = [CellSpan("a(b)a", "name"), CellSpan("", "text"), CellSpan("日本語a", "muted")]
    found = highlighted(spans, "a")
    assert "".join(span.text for span in found) == "a(b)a日本語a"
    assert [span for span in found if span.part.startswith("^")] == [
        CellSpan("a", "^name"),
        CellSpan("a", "^name"),
        CellSpan("a", "^muted"),
    ]
    assert highlighted(spans, "(b)")[1] == CellSpan("(b)", "^name"), "nothing in it is a pattern"
