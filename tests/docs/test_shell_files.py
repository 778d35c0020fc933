"""What the package brings along for shells and for `man` is made of the parsers, by shtab and argparse-manpage."""

import subprocess
from argparse import Action
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import shtab
from argparse_manpage.manpage import Manpage  # type: ignore[import-untyped]  # it tells no types
from tests.docs.test_command_pages import usage

from delegtop import __version__
from delegtop.cli import main
from delegtop.cli.command_table import COMMANDS, LIVE, Parser, module, parser
from delegtop.cli.completion import FOLDER, SHELLS
from delegtop.cli.exit_codes import MEANING
from delegtop.model.tree.order import SORTS

SUMMARY = "top for AI-agent delegation"
FILES = {"FILE", "SOURCE", "PATH", "RUN", "RETURN", "GLOB"}
"""What is a file, by how the help calls it."""
CHOICES = {"sort": [*SORTS], "command": [*COMMANDS]}
ALSO_FILES = {
    # Without a command, what follows is a source: shtab knows no word that is a command or a file.
    "bash": ("complete -o bashdefault -F", "complete -o bashdefault -o default -F"),
    "zsh": ("'delegtop commands' _commands\n", "'delegtop commands' _commands\n  _files\n"),
    "fish": ("-c delegtop -f\n", "-c delegtop -f\ncomplete -c delegtop -n _shtab_delegtop_using -F\n"),
}


def whole(describe: Callable[[str], str]) -> Parser:
    """All commands in one parser, each described in those words."""
    live = parser(LIVE)
    root = Parser(prog=live.prog, description=describe(LIVE), formatter_class=live.formatter_class, add_help=False)
    for action in live._actions:
        if action.option_strings:
            root._add_action(completed(action))
    commands = root.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        own = parser(name)
        for action in own._actions:
            completed(action)
        commands.add_parser(
            name,
            parents=[own],
            help=summary,
            usage=usage(own),
            description=describe(name),
            formatter_class=own.formatter_class,
            add_help=False,
        )
    return root


def completed(action: Action) -> Action:
    """The option, with what a shell offers as its value."""
    if action.metavar in FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
    elif action.metavar == "DIR":
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as above
    elif action.dest in CHOICES:
        action.choices = CHOICES[action.dest]
    return action


def completion(shell: str) -> str:
    script = str(shtab.complete(whole(lambda name: COMMANDS.get(name, SUMMARY)), shell))
    plain, amended = ALSO_FILES[shell]
    assert script.count(plain) == 1
    return "\n".join(line.rstrip() for line in script.replace(plain, amended).splitlines()) + "\n"


def man_page() -> str:
    page = Manpage(whole(lambda name: parser(name).description or ""), format="single-commands-section")
    page.description = SUMMARY
    page.date = ""
    page.source = f"delegtop {__version__}"
    page.manual = "User Commands"
    page.synopsis = ["delegtop", "[OPTION...] [SOURCE...]", "\n.br\n.B delegtop\nCOMMAND [OPTION...]"]
    codes = "".join(f".TP\n.B {code.value}\n{meaning}\n" for code, meaning in MEANING.items())
    lines = [line for name in (LIVE, *COMMANDS) for line in module(name).EXAMPLES.items()]
    examples = "".join(f".TP\n.B {command}\n{what}\n" for command, what in lines)
    page.add_section("exit status", "=", codes)
    page.add_section("examples", "=", examples.replace("\\", "\\e").replace("-", "\\-"))
    return str(page)


MADE: dict[str, tuple[Path, Callable[[], str]]] = {
    **{shell: (FOLDER / f"delegtop.{shell}", partial(completion, shell)) for shell in SHELLS},
    "man": (Path(__file__).parents[2] / "docs" / "delegtop.1", man_page),
}


@pytest.mark.parametrize("name", MADE)
def test_the_file_on_disk_is_that_of_the_parsers(name: str, update_golden: bool) -> None:
    path, make = MADE[name]
    if update_golden:
        path.write_text(make(), "utf-8")
    assert path.read_text("utf-8") == make()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == (FOLDER / f"delegtop.{shell}").read_text("utf-8")


def test_an_unknown_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "ksh"]) == 2
    assert "ksh" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tr", "tree"),
        ("tree --js", "--json"),
        ("tree --sort dea", "deadline"),
        ("config s", "show"),
        ("tree lo", "logs"),
        ("help comp", "completion"),
    ],
)
def test_bash_completes_commands_options_and_files(typed: str, offered: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    script = (
        f"source '{FOLDER / 'delegtop.bash'}'; COMP_WORDS=(delegtop {typed}); COMP_CWORD={len(typed.split())}; "
        'COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; _shtab_delegtop; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (told.stdout.split(), told.stderr) == ([offered], "")
