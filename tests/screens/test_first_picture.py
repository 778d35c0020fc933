"""The first picture is made of little, so that it is there soon; what it does without comes before anything is asked of
it."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC

import pytest
from tests.piloting import comes, until
from tests.screens.looking import running, screen
from textual.content import Content
from textual.events import Key, MouseDown, MouseUp, Resize

from delegtop.app.main import DelegtopApp
from delegtop.app.state.reader_thread import Reader
from delegtop.app.state.table_rows import TableRows
from delegtop.app.widgets import row_looks, sheet
from delegtop.app.widgets.sheet import Beside, LabelledFact, Sheet
from delegtop.model.states import ENDED
from delegtop.model.tree.outline import OutlineRow
from delegtop.observation.observation import Observation
from delegtop.report import bars
from delegtop.report.layout import CellSpan
from delegtop.report.table import cells
from delegtop.report.table.columns import Layout

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
_LATER = (
    "delegtop.diagnosis",
    "delegtop.dialects",
    "delegtop.feed",
    "delegtop.model.forest",
    "delegtop.model.store",
    "delegtop.observation",
    "state.board",
    "state.reader_thread",
    "widgets.delegation_tree",
    "pages.inspector",
    "screens.palette",
    "screens.help_page",
    "screens.copy",
    "screens.going_there",
    "replay_bar",
)


def test_what_the_first_picture_does_not_show_is_not_loaded_for_it() -> None:
    code = "import sys, delegtop.app.main; print(*(name for name in sys.modules if name.startswith('delegtop.')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if any(part in name for part in _LATER)] == []


async def test_what_is_to_be_seen_is_opened_behind_the_first_picture(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []
    made = make_app().outset

    def opens() -> Observation:
        opened.append(screen(app))
        return made.open()

    app = DelegtopApp(made._replace(open=opens), zone=UTC)
    monkeypatch.setattr(DelegtopApp, "call_after_refresh", lambda *_: True)  # it is looked at before it goes on
    monkeypatch.setattr(DelegtopApp, "_second", lambda _: None)
    async with app.run_test(size=(120, 35)) as pilot:
        await comes(lambda: app.monitor.is_attached and "inspect" in screen(app)[-1], "the first picture is there")
        assert opened == []
        first = screen(app)
        assert "loading" in first[0]
        assert any("Reading the logs" in line for line in first)
        await app._begin()
        await until(pilot, lambda: not app.board.loading)
    assert opened == [first]


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50), (40, 10)], ids=str)
@pytest.mark.parametrize("watching", [True, False])
async def test_nothing_of_the_first_picture_moves_when_the_rest_comes(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], watching: bool
) -> None:
    monkeypatch.setattr(DelegtopApp, "call_after_refresh", lambda *_: True)
    monkeypatch.setattr(DelegtopApp, "_second", lambda _: None)
    monkeypatch.setattr(Reader, "start", lambda _: None)  # nothing is read
    app = make_app(watching=watching)
    async with app.run_test(size=size):
        await comes(lambda: app.monitor.is_attached and "quit" in screen(app)[-1], "the first picture is there")
        first = screen(app)
        await app._begin()
        await comes(lambda: app.monitor.inspector.is_mounted, "the rest is there")
        assert screen(app) == first


async def test_the_first_picture_mounts_what_it_shows_and_a_key_that_was_quicker_finds_the_rest(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DelegtopApp, "call_after_refresh", lambda *_: True)  # as if the picture was not there yet
    async with make_app().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        assert len(app.monitor.query("*")) < 12
        assert "observation" not in vars(app), "nothing is opened"
        await pilot.press("slash", "x", "y")
        assert app.monitor.filter_bar.input.value == "xy"
        assert app.focused is app.monitor.filter_bar.input
        await until(pilot, lambda: app.reader.started)
        order = [
            "Vitals",
            "FilterBar",
            "Prompt",
            "Prompt",
            "Banner",
            "HostLines",
            "Crumbs",
            "Ground",
            "ReplayBar",
            "KeyBar",
        ]
        assert [kind for each in app.monitor.children if (kind := type(each).__name__) in order] == order


async def test_a_click_that_was_quicker_finds_the_rest_as_well(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DelegtopApp, "call_after_refresh", lambda *_: True)
    monkeypatch.setattr(DelegtopApp, "_second", lambda _: None)
    async with make_app().run_test(size=(120, 35)) as pilot:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        assert app._driver is not None
        await comes(lambda: app.monitor.is_attached and "inspect" in screen(app)[-1], "the first picture is there")
        x, y = screen(app)[-1].index("inspect"), app.size.height - 1
        for kind in (MouseDown, MouseUp):
            app._driver.process_message(kind(None, x, y, 0, 0, 1, False, False, False))
        await comes(lambda: app.reader.started or app._exception is not None)
        assert app._exception is None
        assert app.monitor.inspector.is_attached


async def test_who_is_ended_before_the_first_picture_is_complete_begins_nothing(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DelegtopApp, "call_after_refresh", lambda *_: True)
    async with make_app().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        app.exit(return_code=143)
        await app.monitor.query_one("#body").remove()
        await app._begin()
        assert not app.reader.started


async def test_a_key_of_who_is_ended_before_that_opens_nothing(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DelegtopApp, "call_after_refresh", lambda *_: True)
    monkeypatch.setattr(DelegtopApp, "_second", lambda _: None)
    async with make_app().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        app._return_code = 143  # as it is told, before the message that ends it is read
        await app.on_event(Key("slash", "/"))
        assert app._exception is None
        assert "observation" not in vars(app)


def test_every_part_of_a_row_and_of_a_bar_has_its_look() -> None:
    assert {*cells.PARTS, *bars.PARTS} <= set(row_looks.LOOKS)


async def test_of_a_page_only_what_differs_is_wrapped_again(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped: list[object] = []
    wrap = sheet.wrap

    def counted(block: sheet.Block, width: int, joined: sheet.JoinedLines | None = None) -> list[Content]:
        wrapped.append(block)
        return wrap(block, width, joined)

    def page(left: str) -> list[sheet.Block]:
        beside = Beside([LabelledFact("agent", Content("a"))], [Content.styled("b", "bold")])
        return [Content("one"), beside, LabelledFact("left", Content(left), target="there")]

    async with running(make_app()) as (app, _):
        shown = app.monitor.inspector.sheet
        assert isinstance(shown, Sheet)
        shown.show(page("0:59"))
        monkeypatch.setattr(sheet, "wrap", counted)
        shown.show(page("0:58"))
        assert wrapped == page("0:58")[2:]
        assert shown.text.endswith("0:58")
        shown.show([*page("0:58"), Content("more")])
        assert wrapped[1:] == [Content("more")]
        shown.show([Content.styled("one", "bold"), *page("0:58")[1:]])
        assert len(wrapped) == 3, "it looks otherwise, though it says the same"
        assert shown.target in ("there", None)


async def test_a_row_that_is_painted_is_asked_once_what_time_has_made_of_it(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    ticking = TableRows._ticking

    def counted(rows: TableRows, row: OutlineRow, layout: Layout) -> list[list[CellSpan]]:
        asked.append(row.handle)
        return ticking(rows, row, layout)

    async with running(make_app()) as (app, _):
        table, forest = app.monitor.table, app.board.forest
        table._laid_out = table._laid_out and table._laid_out._replace()  # made once more, and the same
        table._drawn = []
        table._pieces.clear()
        monkeypatch.setattr(TableRows, "_ticking", counted)
        app.monitor.draw()
        shown = screen(app)
        still_open = [each.row.handle for each in table._drawn if forest.state(each.row.handle) not in ENDED]
        assert still_open
        assert [handle for handle in asked if handle in still_open] == still_open
        assert "implementer" in "".join(shown)


async def test_a_key_makes_way_before_it_has_waited_in_any_queue(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with make_app().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        await until(pilot, lambda: not app.reader.busy)
        rests, cuts = list[float](), list[bool]()
        monkeypatch.setattr(app.reader, "rest", rests.append)
        monkeypatch.setattr(app.intake, "cut_short", lambda: cuts.append(True))
        waits = [app._post_message(Key("j", "j"))]
        assert (rests, cuts) == ([], []), "all is read"
        app.reader.loading = True
        waits.append(app._post_message(Resize(app.size, app.size)))
        assert (rests, cuts) == ([], []), "nobody pressed a key"
        waits.append(app._post_message(Key("k", "k")))
        assert len(rests) == len(cuts) == 1
        app.reader.loading = False
        for each in waits:
            await each
