"""Help is made from the keymap and the filter language, so every command and every key of both is in it."""

from collections.abc import Callable

import pytest
from tests.piloting import until

from delegtop.app import keymap
from delegtop.app.main import DelegtopApp
from delegtop.app.screens.help_page import Help
from delegtop.app.widgets.sheet import Sheet
from delegtop.model.query import KEYS
from delegtop.model.states import State

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]


async def help_text(app: DelegtopApp) -> str:
    async with app.run_test(size=(200, 40)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, Help)
        return app.screen.query_one(Sheet).text


async def test_every_command_is_in_the_help_with_its_keys(make_app: MakeApp) -> None:
    words = " ".join((await help_text(make_app())).split())
    for command in keymap.COMMANDS + keymap.TRIAGE + keymap.GANTT:
        assert f"{' '.join(keymap.keys_of(command, {}))} {command.help}" in words, command.id


async def test_a_key_moved_in_the_configuration_is_shown_where_it_is_now(make_app: MakeApp) -> None:
    words = " ".join((await help_text(make_app(keymap={"quit": "ctrl+x"}))).split())
    assert "ctrl+x Leave" in words


async def test_every_key_of_the_filter_and_every_state_is_explained(make_app: MakeApp) -> None:
    text = await help_text(make_app())
    assert [key.name for key in KEYS if key.example not in text] == []
    assert [state.value for state in State if state.value not in text] == []


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_opens_and_escape_leaves_it(make_app: MakeApp, key: str) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(app.screen, Help)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen.id == "monitor"


async def test_a_key_that_comes_before_the_first_picture_keeps_nothing_from_being_read(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        app.push_screen(Help({}, ascii=False))
        await until(pilot, lambda: len(app.board.forest) > 0)
        assert isinstance(app.screen, Help)


async def test_who_opens_it_hastily_need_not_wait_for_what_is_read(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DelegtopApp, "_second", lambda _: None)
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: len(app.board.forest) > 0)
        assert isinstance(app.screen, Help)


@pytest.mark.parametrize("commands", [keymap.COMMANDS, keymap.TRIAGE], ids=["monitor", "triage"])
def test_no_two_commands_of_a_screen_share_a_key(commands: tuple[keymap.KeyCommand, ...]) -> None:
    keys = [key for command in commands for key in command.keys.split(",")]
    assert len(keys) == len(set(keys))


async def test_the_signs_of_the_bars_are_explained(make_app: MakeApp) -> None:
    words = " ".join((await help_text(make_app())).split())
    assert "███ on the critical path" in words
    assert "◆ ◇ deadline" in words


@pytest.mark.parametrize(("ascii", "holds_up", "seen"), [(False, "◀2", "✔"), (True, "<2", "+")])
async def test_the_marks_of_the_rows_are_explained(make_app: MakeApp, ascii: bool, holds_up: str, seen: str) -> None:
    words = " ".join((await help_text(make_app(ascii=ascii))).split())
    assert f"{holds_up} in trouble, and two above wait for it" in words
    assert f"{seen} at a name: in trouble, and seen to" in words
    assert "~2:18 ~+2:18 left, or over, by what is usual" in words


def test_no_two_commands_share_an_id() -> None:
    tables = [table for table in vars(keymap).values() if isinstance(table, tuple)]
    commands = {each._replace(bar=0) for table in tables for each in table if isinstance(each, keymap.KeyCommand)}
    assert len({command.id for command in commands}) == len(commands) == len(keymap.IDS)
