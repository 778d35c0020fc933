"""The page of the commands and the parsers tell the same."""

from argparse import Action
from pathlib import Path

from delegtop.cli.commands import COMMANDS, LIVE, parser
from delegtop.cli.exit_codes import MEANING, Exit

BEGIN, END = "<!-- commands: begin -->\n", "<!-- commands: end -->"


def written(action: Action) -> str:
    value = f" {action.metavar}" if action.metavar and action.option_strings else ""
    names = [f"`{option}{value}`" for option in action.option_strings] or [f"`{action.metavar}`"]
    return f"| {', '.join(names)} | {action.help} |\n".replace("path|show|default", "path\\|show\\|default")


def section(name: str) -> str:
    made = parser(name)
    table = "".join(map(written, made._actions))
    description = (made.description or "").split("\n\n")[-1]
    return f"## `{made.prog}`\n\n{description}\n\n| | |\n| --- | --- |\n{table}\n"


def generated() -> str:
    commands = "".join(map(section, (LIVE, *COMMANDS)))
    codes = "".join(f"| {code.value} | {meaning} |\n" for code, meaning in MEANING.items())
    return f"{commands}## Exit codes\n\n| code | what it means |\n| --- | --- |\n{codes}"


def test_the_page_describes_every_command_option_and_exit_code(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "commands.md"
    before, rest = page.read_text("utf-8").split(BEGIN)
    if update_golden:
        page.write_text(before + BEGIN + generated() + END + rest.split(END)[1], "utf-8")
    assert rest.split(END)[0] == generated() or update_golden


def test_every_exit_code_is_explained() -> None:
    assert list(MEANING) == list(Exit)


def test_every_option_is_explained() -> None:
    assert all(action.help for name in (LIVE, *COMMANDS) for action in parser(name)._actions)
