"""The page of the commands, the help of each and the parsers tell the same, and the examples work."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import Action
from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.cli.command_table import _ONGOING, COMMANDS, LIVE, Parser, epilog, module, parser
from delegtop.cli.exit_codes import MEANING, Exit

MANY = {"*": "[{}…]", "+": "{}…", "?": "[{}]"}
SCREENS = frozenset({LIVE, "replay"})
ENDLESS = frozenset({"--notify", "--every", "--appear", "run.delegtop", "--speed", "serve", "hub", "ship"})
"""What stands in examples that go on until somebody ends them, or need a screen."""
LINES = [(name, command) for name in (LIVE, *COMMANDS) for command in module(name).EXAMPLES]


def written(action: Action) -> str:
    value = f" {action.metavar}" if action.metavar and action.option_strings else ""
    names = [f"`{option}{value}`" for option in action.option_strings] or [f"`{action.metavar}`".replace("|", "\\|")]
    return f"| {', '.join(names)} | {action.help} |\n"


def section(name: str) -> str:
    made = parser(name)
    table = "".join(map(written, made._actions))
    description = (made.description or "").split("\n\n")[-1]
    examples = "".join(f"{command}  # {what}\n" for command, what in module(name).EXAMPLES.items())
    return f"## `{made.prog}`\n\n{description}\n\n```sh\n{examples}```\n\n| | |\n| --- | --- |\n{table}\n"


def usage(made: Parser) -> str:
    """The words that stand after the command: what it is about, and the options it cannot do without."""
    words = [made.prog]
    for action in made._actions:
        if not action.option_strings:
            words.append(MANY.get(str(action.nargs), "{}").format(action.metavar))
        elif action.required:
            words.append(f"{action.option_strings[0]} {action.metavar}")
    return " ".join(words)


def synopsis() -> str:
    summaries = {LIVE: "watch live", **COMMANDS}
    return "```\n" + "".join(f"{usage(parser(name)):<34}  {what}\n" for name, what in summaries.items()) + "```\n"


def commands() -> str:
    sections = "".join(map(section, (LIVE, *COMMANDS)))
    codes = "".join(f"| {code.value} | {meaning} |\n" for code, meaning in MEANING.items())
    return f"{sections}## Exit codes\n\n| code | what it means |\n| --- | --- |\n{codes}"


def test_the_page_describes_every_command_option_and_exit_code(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "commands.md"
    for part, generated in (("synopsis", synopsis()), ("commands", commands())):
        begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->"
        before, rest = page.read_text("utf-8").split(begin)
        if update_golden:
            page.write_text(before + begin + generated + end + rest.split(end)[1], "utf-8")
        assert rest.split(end)[0] == generated or update_golden


def test_every_word_that_is_typed_has_a_name_and_stands_apart_from_what_it_means(project: Path) -> None:
    """The page is compared with what it is made of: what is missing there is missing in both."""
    nameless = [
        (name, action.option_strings or action.dest)
        for name in (LIVE, *COMMANDS)
        for action in parser(name)._actions
        if action.metavar is None and action.nargs != 0
    ]
    assert nameless == []
    page = (project / "docs" / "commands.md").read_text("utf-8")
    rows = page.split("```\n")[1].splitlines()
    apart = [re.fullmatch(r"(delegtop\S*(?: \S+)*) {2,}(\S.*)", row) for row in rows]
    assert [row and row[2] for row in apart] == ["watch live", *COMMANDS.values()]
    assert "None" not in page + (project / "docs" / "delegtop.1").read_text("utf-8")


def test_every_exit_code_is_explained() -> None:
    assert list(MEANING) == list(Exit)


def test_every_option_is_explained() -> None:
    assert all(action.help for name in (LIVE, *COMMANDS) for action in parser(name)._actions)


# -- examples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [LIVE, *COMMANDS])
def test_every_help_ends_with_examples_and_a_page_that_is_there(name: str, project: Path) -> None:
    assert parser(name).format_help().endswith(f"{epilog(module(name))}\n")
    assert 2 <= len(module(name).EXAMPLES) <= 3
    assert (project / module(name).PAGE).is_file()


@pytest.fixture
def surroundings(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the examples name, and `delegtop` on the path."""
    for folder, sample in (("logs", "02_hang"), ("before", "02_hang"), ("after", "04_failed")):
        shutil.copytree(project / "sample_logs" / sample, tmp_path / folder)
    shutil.copytree(project / "tests" / "agent_files" / "agents", tmp_path / ".claude" / "agents")
    (tmp_path / "return.json").write_text('{"status": "completed", "summary": "All done."}')
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "delegtop"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m delegtop "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "command"), LINES, ids=[command for _, command in LINES])
def test_the_examples_are_understood(name: str, command: str) -> None:
    words = shlex.split(command.partition(" > ")[0].partition(" < ")[0].rpartition("| ")[2])
    program, *arguments = words
    assert program == "delegtop"
    assert name == LIVE or arguments.pop(0) == name
    parser(name).parse(arguments)


FINITE = [(name, command) for name, command in LINES if name not in SCREENS and not ENDLESS & set(shlex.split(command))]
FIRST = dict(reversed(FINITE)).values()
"""Of each command one is typed in a shell and starts a program of its own, and so are those that a shell has a part in
or that start others; for the rest of them it makes no difference."""
TYPED = [
    (name, command)
    for name, command in FINITE
    if command in FIRST or name in _ONGOING or {">", "<", "|"} & {*shlex.split(command)}
]
SAID = [command for name, command in FINITE if (name, command) not in TYPED]


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("command", [command for _, command in TYPED])
def test_the_examples_work(command: str) -> None:
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert told.returncode in (Exit.OK, Exit.FINDINGS, Exit.STUCK), told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("command", SAID)
def test_further_examples_work(command: str) -> None:
    assert main(shlex.split(command)[1:]) in (Exit.OK, Exit.FINDINGS, Exit.STUCK)
