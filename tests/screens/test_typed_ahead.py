"""Keys that come in one go, as over a slow line, do what they do when each is waited for."""

from collections.abc import Callable

import pytest
from tests.piloting import until
from tests.screens.looking import running, text_of
from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.triage import Triage
from delegtop.app.typed_ahead import Echo

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]

ENTER, ESCAPE, TAB = "\r", "\x1b", "\t"
NAMES = {ENTER: "enter", ESCAPE: "escape", TAB: "tab"}


def post(app: DelegtopApp, text: str) -> None:
    for character in text:
        app.post_message(Key(NAMES.get(character) or _character_to_key(character), character))


async def type_at_once(pilot: Pilot[None], text: str) -> None:
    assert isinstance(pilot.app, DelegtopApp)
    post(pilot.app, text)
    await pilot.pause()


async def test_letters_after_a_slash_are_no_commands(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await type_at_once(pilot, "/stuck")
        assert app.monitor.filter_bar.input.value == "stuck"
        assert app.screen is app.monitor


async def test_a_command_after_enter_is_no_letter(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await type_at_once(pilot, f"/linter{ENTER}t")
        assert isinstance(app.screen, Triage)
        assert app.monitor.filter_bar.input.value == "linter"


async def test_a_command_after_escape_is_no_letter(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await type_at_once(pilot, f"/linter{ESCAPE}t")
        assert isinstance(app.screen, Triage)
        assert not app.monitor.filter_bar.is_open


async def test_a_line_of_commands_is_done_before_what_follows_it(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await type_at_once(pilot, f":sort age{ENTER}t{ESCAPE}:sort cost{ENTER}")
        assert app.screen is app.monitor
        assert app.board.sort == "cost"


async def test_what_is_pasted_waits_for_the_key_before_it(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        post(app, "/")
        app.post_message(Paste("lint"))
        await type_at_once(pilot, f"er{ENTER}t")
        assert isinstance(app.screen, Triage)
        assert app.monitor.filter_bar.input.value == "linter"


async def test_each_key_acts_on_the_page_that_the_one_before_it_opened(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 35)) as (app, pilot):
        await type_at_once(pilot, f"t{ESCAPE}?{ESCAPE}t")
        assert isinstance(app.screen, Triage)
        await type_at_once(pilot, f"{ESCAPE}/linter{ENTER}G")
        assert "linter" in text_of(app)


async def test_an_echo_that_is_lost_holds_up_nobody_for_long(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the widget that it was sent to goes at that moment."""
    heard = DelegtopApp.on_echo

    async def lose_the_first(app: DelegtopApp, echo: Echo) -> None:
        if echo.number > 1:
            await heard(app, echo)

    monkeypatch.setattr(DelegtopApp, "on_echo", lose_the_first)
    async with running(make_app()) as (app, pilot):
        post(app, f"/linter{ENTER}t")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        assert app.monitor.filter_bar.input.value == "linter"
