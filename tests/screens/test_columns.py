"""The columns: room for what each does, none for what nobody says, a chooser, and an order by a click on each title."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.looking import names, running, settled, table, text_of, titles
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.choose_columns import ChooseColumns
from delegtop.app.screens.pick import Pick
from delegtop.app.widgets.delegation_tree import DelegationTree
from delegtop.cli import main
from delegtop.model.events import Described, Event
from delegtop.model.tree.order import SORTS
from delegtop.report.table.columns import COLUMNS, chosen

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)
SAMPLE = str(Path(__file__).parents[2] / "sample_logs" / "02_hang")
SIBLINGS = ("alpha", "beta", "gamma", "delta")


def siblings(s: "Script") -> list[Event]:
    """Three at work under one root, with all that is told of them, and `delta`, of which little is known."""

    def sibling(name: str, heard: int, doing: str, depth: int, left: int, tokens: int, cost: float) -> list[Event]:
        timeout = (left + 10 + 62 - heard) * 60_000
        return [
            s.started(name, heard - 10, agent=name, parent="root", depth=depth, timeout=timeout),
            s.heard(name, heard, doing, tokens=tokens, cost=cost),
        ]

    return [
        s.started("root", 0, agent="root"),
        *sibling("alpha", 61, "reading", depth=2, left=28, tokens=500, cost=2.0),
        *sibling("beta", 60, "writing", depth=4, left=8, tokens=9_000, cost=0.5),
        *sibling("gamma", 62, "asking", depth=3, left=18, tokens=70, cost=7.0),
        s.started("delta", 61.9, agent="delta", parent="root"),
    ]


def order(app: DelegtopApp) -> list[str]:
    return [name for name in names(app) if name in SIBLINGS]


async def click_title(pilot: Pilot[None], app: DelegtopApp, title: str) -> None:
    place = titles(app).index(title)
    await pilot.click(DelegationTree, offset=(place, 0))
    await settled(pilot)


# Room


@pytest.mark.parametrize("width", [160, 170, 179])
async def test_what_each_does_has_two_fifths_of_the_room(make_app: MakeApp, width: int) -> None:
    async with running(make_app(), size=(width, 45)) as (app, _pilot):
        assert len(titles(app)) - titles(app).index("DOING") >= 0.4 * (width - 1)


@pytest.mark.parametrize("width", [180, 200, 240])
async def test_beside_the_inspector_it_has_two_fifths_of_the_trees_room(make_app: MakeApp, width: int) -> None:
    async with running(make_app(), size=(width, 45)) as (app, _pilot):
        room = app.monitor.table.size.width - 1
        assert len(titles(app)) - titles(app).index("DOING") >= 0.4 * room


@pytest.mark.parametrize("width", [80, 100, 120, 160, 240])
async def test_the_depth_is_there_at_every_ordinary_width(make_app: MakeApp, width: int) -> None:
    async with running(make_app(), size=(width, 30)) as (app, _pilot):
        title = " DEPTH" if " DEPTH" in titles(app) else " D "
        end = titles(app).index(title) + len(title.rstrip())
        row = next(line for line in table(app) if "implementer ◀3" in line)
        assert row[:end].split()[-1] == "2"


async def test_a_column_that_has_nothing_to_say_takes_no_room_until_it_has(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    quiet: list[Event] = [script.started("a", 60, agent="planner"), script.heard("a", 62, "thinking")]
    async with running(make_app(feed=type(feed)(quiet), columns=("state", "cost", "tokens", "doing")), size=SIZE) as (
        app,
        pilot,
    ):
        assert titles(app).split() == ["DELEGATION", "STATE▼", "DOING"]
        said = app.reader.feed
        assert isinstance(said, type(feed))
        said.say(script.heard("a", 62.1, "thinking", cost=0.25))
        await until(pilot, lambda: "COST" in titles(app))
        assert titles(app).split() == ["DELEGATION", "STATE▼", "COST", "DOING"]
        assert "$0.25" in table(app)[0]


async def test_the_project_has_a_column_where_there_is_more_than_one(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    def session(id: str, folder: str) -> list[Event]:
        return [
            script.started(id, 60, agent="claude", product="claude-code"),
            Described(id, script.at(60), script.origin(), cwd=folder),
            script.heard(id, 62, "reading"),
        ]

    async with running(make_app(feed=type(feed)(session("a", "/home/ann/one"))), size=SIZE) as (app, pilot):
        assert "PROJECT" not in titles(app)
        said = app.reader.feed
        assert isinstance(said, type(feed))
        said.say(*session("b", "/home/ann/two"), *session("c", "/srv/one"))
        await until(pilot, lambda: "PROJECT" in titles(app))
        rows = "\n".join(table(app))
        assert " two " in rows
        assert " ann/one " in rows
        assert " srv/one " in rows, "where two are alike more of the folder is told"


# Names


@pytest.mark.parametrize("command", [["tree"], []], ids=["tree", "dashboard"])
def test_an_unknown_name_after_columns_is_an_error_that_names_those_there_are(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("delegtop.cli.output.is_terminal", lambda *_: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert _exit([*command, SAMPLE, "--columns", "state,colour"]) == 2
    told = capsys.readouterr().err
    assert "no column is named colour" in told
    assert all(name in told for name in COLUMNS)


def test_an_unknown_name_in_the_settings_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    settings = tmp_path / "delegtop.toml"
    settings.write_text('columns = ["state", "colour"]\n')
    assert _exit(["tree", SAMPLE, "--config", str(settings)]) == 2
    assert "colour" in capsys.readouterr().err


def _exit(arguments: Sequence[str]) -> object:
    try:
        return main(list(arguments))
    except SystemExit as gone:
        return gone.code


async def test_an_unknown_name_typed_after_a_colon_is_told_and_changes_nothing(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        before = titles(app)
        await pilot.press("colon", *"columns state,colour", "enter")
        await pilot.pause()
        assert "no column is named colour" in text_of(app)
        await pilot.press("escape")
        await settled(pilot)
        assert titles(app) == before


# Choosing


async def test_the_chooser_hides_shows_and_moves_columns(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 45)) as (app, pilot):
        assert "QUIET" in titles(app)
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, ChooseColumns))
        listed = list(COLUMNS)[1:]
        await pilot.press(*["down"] * listed.index("quiet"), "space", "enter")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert "QUIET" not in titles(app)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ChooseColumns))
        await pilot.press("end", "space", "enter")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert "QUIET" in titles(app)
        assert titles(app).index("QUIET") > titles(app).index("DOING")


async def test_a_column_is_moved_to_the_left(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 45)) as (app, pilot):
        assert titles(app).index("LEFT") < titles(app).index("QUIET")
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, ChooseColumns))
        steps = list(COLUMNS).index("quiet") - list(COLUMNS).index("left")
        await pilot.press(*["down"] * (list(COLUMNS).index("quiet") - 1), *["shift+up"] * steps, "enter")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert titles(app).index("QUIET") < titles(app).index("LEFT")


async def test_titles_and_rows_change_together(make_app: MakeApp) -> None:
    async with running(make_app(columns=("state", "tokens", "doing")), size=SIZE) as (app, pilot):
        assert "TOKENS" in titles(app)
        assert any("18.3k" in row for row in table(app))
        await pilot.press("colon", *"columns state,doing", "enter")
        await settled(pilot)
        assert titles(app).split() == ["DELEGATION", "STATE▼", "DOING"]
        assert not any("18.3k" in row for row in table(app))


async def test_the_usual_columns_come_back_and_escape_changes_nothing(make_app: MakeApp) -> None:
    async with running(make_app(columns=("cost", "state")), size=SIZE) as (app, pilot):
        assert titles(app).split() == ["DELEGATION", "COST", "STATE▼"]
        await pilot.press("C", "space", "escape")
        await until(pilot, lambda: app.screen is app.monitor)
        assert [column.name for column in app.board.rows.columns] == ["delegation", "cost", "state"]
        await pilot.press("C", "u")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert app.board.rows.columns == chosen(())
        assert "DOING" in titles(app)


@pytest.mark.parametrize("width", [80, 120, 160])
async def test_a_column_that_was_chosen_is_shown_where_it_fits(make_app: MakeApp, width: int) -> None:
    async with running(make_app(columns=("state", "cost", "tokens", "doing")), size=(width, 30)) as (app, _pilot):
        assert titles(app).split() == ["DELEGATION", "STATE▼", "COST", "TOKENS", "DOING"]


# Orders


@pytest.mark.parametrize(
    ("title", "names", "first", "unknown"),
    [
        ("DELEGATION", ("doing",), ["alpha", "beta", "delta", "gamma"], []),
        ("DEPT", ("depth", "doing"), ["beta", "gamma", "alpha", "delta"], []),
        ("LEFT", ("left", "doing"), ["beta", "gamma", "alpha"], ["delta"]),
        ("AGE", ("age", "doing"), ["beta", "alpha", "gamma", "delta"], []),
        ("QUIET", ("quiet", "doing"), ["beta", "alpha", "delta", "gamma"], []),
        ("TOKEN", ("tokens", "doing"), ["beta", "alpha", "gamma"], ["delta"]),
        ("COST", ("cost", "doing"), ["gamma", "alpha", "beta"], ["delta"]),
        ("DOING", ("doing",), ["gamma", "alpha", "beta"], ["delta"]),
    ],
)
async def test_a_click_on_a_title_begins_with_what_one_looks_for_and_another_turns_it_round(
    make_app: MakeApp,
    feed: "ScriptedFeed",
    script: "Script",
    title: str,
    names: tuple[str, ...],
    first: list[str],
    unknown: list[str],
) -> None:
    async with running(make_app(feed=type(feed)(siblings(script)), columns=names), size=(160, 45)) as (app, pilot):
        await click_title(pilot, app, title)
        assert order(app) == first + unknown
        assert f"{title}▼" in titles(app)
        await click_title(pilot, app, title)
        assert order(app) == first[::-1] + unknown, "what is not known is last whichever way round"
        assert f"{title}▲" in titles(app)


async def test_another_title_begins_in_its_own_direction(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    async with running(
        make_app(feed=type(feed)(siblings(script)), columns=("state", "left", "cost", "doing")), size=(160, 45)
    ) as (app, pilot):
        await click_title(pilot, app, "COST")
        await click_title(pilot, app, "COST")
        assert app.board.reversed
        await click_title(pilot, app, "LEFT")
        assert not app.board.reversed
        assert order(app)[0] == "beta", "the least time left"
        await click_title(pilot, app, "STATE")
        assert app.board.sort == "problems"
        assert not app.board.reversed


async def test_every_title_that_has_an_order_can_be_clicked(make_app: MakeApp) -> None:
    async with running(
        make_app(columns=tuple(name for name in COLUMNS if name not in ("delegation", "findings"))), size=(240, 45)
    ) as (app, pilot):
        await pilot.press("i")
        await settled(pilot)
        placed = app.monitor.table._layout.columns
        left = 1
        for column, width in placed:
            if column.sort is not None:
                app.board.sort_by("start")
                await pilot.click(DelegationTree, offset=(left, 0))
                await settled(pilot)
                assert app.board.sort == column.sort, column.name
            left += width + app.monitor.table._layout.gap
        assert {column.name for column, _ in placed} >= {"state", "depth", "left", "age", "quiet", "cost", "doing"}


@pytest.mark.parametrize(("name", "first"), [("cost", "gamma"), ("tokens", "beta"), ("depth", "beta")])
async def test_the_menu_sorts_by_cost_tokens_and_depth_and_the_column_is_then_in_sight(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", name: str, first: str
) -> None:
    async with running(make_app(feed=type(feed)(siblings(script))), size=SIZE) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press(*["down"] * list(SORTS).index(name), "enter")
        await until(pilot, lambda: app.screen is app.monitor)
        await settled(pilot)
        assert order(app)[0] == first
        assert "▼" in titles(app)


async def test_a_number_picks_an_order_from_the_menu(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("f6", "3")
        await until(pilot, lambda: app.screen is app.monitor)
        assert app.board.sort == list(SORTS)[2]
