"""A screen is left once, however fast the keys come that say so, and however it is covered or closed meanwhile."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.style import Style
from tests.piloting import comes, offers, until
from tests.screens.monkey import quickly
from textual.events import Click, MouseDown, MouseUp
from textual.pilot import Pilot
from textual.widgets import OptionList

from delegtop.app import clipboard
from delegtop.app.main import DelegtopApp
from delegtop.app.screens.copy import CopyMenu
from delegtop.app.screens.go_to_time import GoToTime
from delegtop.app.screens.help_page import Help
from delegtop.app.screens.leaving import Leaving
from delegtop.app.screens.palette import Palette
from delegtop.app.screens.triage import Triage
from delegtop.app.widgets.delegation_tree import DelegationTree
from delegtop.app.widgets.problem_list import ProblemList
from delegtop.model.forest import Forest

if TYPE_CHECKING:
    from tests.screens.conftest import MakeApp

pytestmark = pytest.mark.anyio
HUNG = "sess_1766743200_def456"


async def over(pilot: Pilot[Any], screen: type[Leaving], *keys: str) -> None:
    """Open a screen and wait until it stands."""
    app = pilot.app
    assert isinstance(app, DelegtopApp)
    await comes(lambda: not app.board.loading and len(app.board.outline) > 0)
    await pilot.press(*keys)
    await comes(lambda: isinstance(app.screen, screen) and app.screen.is_mounted)
    await pilot.pause()


async def back(pilot: Pilot[Any]) -> None:
    """Until the monitor alone is there."""
    app = pilot.app
    assert isinstance(app, DelegtopApp)
    await comes(lambda: app.screen_stack == [app.monitor])
    await pilot.pause()


async def test_two_quick_enters_in_triage_go_to_the_tree(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, Triage, "t")
        screen = app.screen
        assert isinstance(screen, Triage)
        await comes(lambda: screen.problems.current is not None)
        assert screen.problems.current is not None
        wanted = screen.problems.current.handle
        quickly(app, "enter", "enter")
        await back(pilot)
        assert app.monitor.table.cursor == wanted


async def test_clicks_go_on_falling_on_a_problem_that_was_chosen(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, Triage, "t")
        await comes(lambda: app.screen.query_one(ProblemList).current is not None)
        x, y = app.screen.query_one(ProblemList).region.offset
        assert app._driver is not None
        for _ in range(4):
            app._driver.process_message(MouseDown(None, x, y, 0, 0, 1, False, False, False))
            app._driver.process_message(MouseUp(None, x, y, 0, 0, 1, False, False, False))
        await back(pilot)


async def test_two_quick_enters_copy_once(make_app: "MakeApp", monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []

    def save(text: str) -> Path | None:
        copied.append(text)
        return None

    monkeypatch.setattr(clipboard, "save", save)
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, CopyMenu, "y")
        quickly(app, "enter", "enter")
        await back(pilot)
        assert len(copied) == 1


async def test_two_quick_enters_go_to_a_time_once(make_app: "MakeApp") -> None:
    app = make_app()
    gone: list[object] = []
    async with app.run_test(size=(120, 35)) as pilot:
        await comes(lambda: not app.board.loading)
        bounds = app.board.now, app.board.now
        app.push_screen(GoToTime(app.board.now, bounds, None), gone.append)
        await over(pilot, GoToTime, "-", "5", "m")
        quickly(app, "enter", "enter")
        await back(pilot)
        assert len(gone) == 1


async def test_two_quick_enters_run_a_command_of_the_palette_once(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, Palette, "ctrl+p", *"gantt  (b)")
        await pilot.press("down")
        await comes(lambda: offers(app, "(b)"))
        quickly(app, "enter", "enter", "enter")
        await back(pilot)
        assert app.monitor.table.charted


@pytest.mark.parametrize(("key", "kind", "action"), [("t", Triage, "triage"), ("ctrl+p", Palette, "command_palette")])
async def test_a_screen_may_be_opened_again_before_it_is_gone(
    make_app: "MakeApp", key: str, kind: type[Leaving], action: str
) -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, kind, key)
        before = app.screen
        before.dismiss(None)
        await app.run_action(action, app)
        await comes(lambda: isinstance(app.screen, kind) and app.screen is not before and app.screen.is_mounted)
        assert len(app.screen_stack) == 2


async def test_a_screen_that_something_came_over_does_not_take_it_away(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, Triage, "t")
        below = app.screen
        await over(pilot, Help, "question_mark")
        below.dismiss(None)
        await pilot.pause()
        assert isinstance(app.screen, Help)


async def test_e_and_t_leave_whatever_lies_over_the_monitor_while_it_opens(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await comes(lambda: not app.board.loading)
        for keys in ("y e", "o e", "question_mark e", "y t t", "o t escape"):
            quickly(app, *keys.split())
            await back(pilot)
        await comes(lambda: app.monitor.table.cursor is not None)


@pytest.mark.parametrize("keys", ["t", "y", "o", "question_mark", "ctrl+p", "C", "f6", "t w"])
async def test_it_can_end_while_a_screen_opens(make_app: "MakeApp", keys: str) -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)):
        await comes(lambda: not app.board.loading)
        quickly(app, *keys.split())
        await comes(lambda: app.screen is not app.monitor, every_turn=True)
        app.exit()
        await comes(lambda: not app._running)
    assert app.return_code == 0


async def test_keys_that_are_still_to_be_taken_when_the_program_ends_are_no_crash(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)):
        await comes(lambda: not app.board.loading)
        quickly(app, *["y", "t", "e"] * 20)  # a crash would be raised where this ends


async def test_what_triage_gives_back_to_a_program_that_ends_is_no_crash(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)):
        await comes(lambda: not app.board.loading)
        app.exit()
        await comes(lambda: not app._running)
    app.monitor._triaged(HUNG)


async def test_a_row_that_was_highlighted_before_another_moment_came_is_not_spoken_of(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await comes(lambda: not app.board.loading)
        await pilot.press("5", "i")  # the raw lines, hidden: what is wanted of the disk is asked for by a timer
        app.monitor.table.post_message(DelegationTree.Highlighted(3))
        app.board.leap(Forest())
        app.monitor.inspector._fetch()
        await until(pilot, lambda: not app.monitor.inspector._fetching.waits)
        app.monitor.inspector._fetch()
        assert app.monitor.inspector.handle is None


@pytest.mark.parametrize(("key", "kind"), [("ctrl+p", Palette), ("y", CopyMenu)])
@pytest.mark.parametrize("size", [(120, 35), (20, 4), (4, 2), (1, 1)])
async def test_a_list_may_be_paged_before_it_is_laid_out(
    make_app: "MakeApp", key: str, kind: type[Leaving], size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await comes(lambda: not app.board.loading)
        quickly(app, key, *["pagedown", "pageup"] * 20)
        await comes(lambda: isinstance(app.screen, kind) and app.screen.is_mounted)
        for _ in range(20):
            quickly(app, "pagedown", "pageup")
            await pilot.pause()


@pytest.mark.parametrize("key", ["down", "up", "end", "shift+end", "pagedown", "enter", "escape"])
async def test_keys_may_come_before_the_palette_has_anything_in_it(make_app: "MakeApp", key: str) -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)):
        await comes(lambda: not app.board.loading)
        app.action_command_palette()
        await app._check_bindings(key)  # as when the key comes back from a screen that has no use for it yet
        await comes(lambda: app.screen is app.monitor if key == "escape" else bool(app.screen.query(OptionList)))


async def test_a_click_on_a_command_that_was_just_taken_off_the_list_is_nothing(make_app: "MakeApp") -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await over(pilot, Palette, "ctrl+p")
        offer = app.screen.query_one(OptionList)
        offer.clear_options()
        painted = Style(meta={"option": 0})
        offer.post_message(Click(offer, 3, 0, 0, 0, 1, False, False, False, style=painted))
        await pilot.pause()  # what a widget raises, the pilot raises again
