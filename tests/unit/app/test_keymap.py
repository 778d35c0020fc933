"""Every key does something, and every action that is named has its place in the table of keys."""

import pytest

from delegtop.app import keymap
from delegtop.app.keymap import KeyCommand
from delegtop.app.main import DelegtopApp
from delegtop.app.screens.monitor import Monitor
from delegtop.app.screens.past_search import PastSearch
from delegtop.app.screens.transcript import TranscriptScreen
from delegtop.app.screens.triage import Triage
from delegtop.app.widgets.gantt_tree import Gantt

WHERE: dict[type, tuple[KeyCommand, ...]] = {
    Monitor: keymap.MONITOR,
    DelegtopApp: keymap.APP + keymap.REPLAY,
    Triage: keymap.TRIAGE,
    TranscriptScreen: keymap.TRANSCRIPT,
    PastSearch: keymap.PAST_SEARCH,
    Gantt: keymap.GANTT,
}


@pytest.mark.parametrize("where", WHERE, ids=lambda where: where.__name__)
def test_every_key_has_its_action(where: type) -> None:
    actions = {command.id: f"action_{command.action.partition('(')[0]}" for command in WHERE[where]}
    assert {id: action for id, action in actions.items() if not hasattr(where, action)} == {}


def test_no_two_commands_share_an_id_or_on_one_screen_a_key() -> None:
    commands = [command for each in WHERE.values() for command in each]
    assert len({command.id for command in commands}) == len(commands)
    for each in (
        keymap.MONITOR + keymap.APP,
        keymap.TRIAGE,
        keymap.TRANSCRIPT,
        keymap.PAST_SEARCH,
        keymap.GANTT,
        keymap.REPLAY,
    ):
        keys = [key for command in each for key in command.keys.split(",")]
        assert len(set(keys)) == len(keys)
