"""What is suggested for a word that is not known is near in letters, or nothing is."""

import pytest

from delegtop.base.near_words import advice, nearest
from delegtop.cli.command_table import COMMANDS, LIVE, parser

COMMAND_NAMES = tuple(COMMANDS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("tre", "tree"),
        ("wtach", "watch"),
        ("statsu", "status"),
        ("statuss", "status"),
        ("TREE", "tree"),
        ("complet", "completion"),
        ("metrcs", "metrics"),
        ("deploy", None),
        ("ls", None),
        ("x" * 300, None),
    ],
)
def test_of_commands_only_one_that_is_spelled_nearly_so_is_suggested(typed: str, meant: str | None) -> None:
    assert nearest(typed, COMMAND_NAMES) == meant


@pytest.mark.parametrize(
    ("command", "typed", "meant"),
    [
        (LIVE, "--them", "--theme"),
        (LIVE, "--bogus", None),
        ("tree", "--theme", None),
        ("tree", "--jsno", "--json"),
        ("tree", "--exit", "--exit-code"),
        ("watch", "--notify-comand", "--notify-command"),
        ("watch", "--exitwhen", "--exit-when"),
        ("watch", "-x", None),
    ],
)
def test_of_options_the_dashes_do_not_count(command: str, typed: str, meant: str | None) -> None:
    assert nearest(typed, parser(command)._option_string_actions) == meant


def test_where_nothing_is_near_that_is_said_which_helps() -> None:
    assert advice("tre", COMMAND_NAMES, "see --help") == "did you mean tree?"
    assert advice("deploy", COMMAND_NAMES, "see --help") == "see --help"
