"""`delegtop help [COMMAND]`: what `--help` prints."""

from argparse import ArgumentParser, Namespace

from delegtop.base.near_words import advice
from delegtop.cli import output
from delegtop.cli.command_table import COMMANDS, LIVE, parser
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

DESCRIPTION = "Show the help of a command; without one, the overview of all commands."
PAGE = "docs/commands.md"
EXAMPLES = {
    "delegtop help": "all commands",
    "delegtop help watch": "one of them",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("command", nargs="?", metavar="COMMAND", help="one of those that `delegtop --help` lists")


def run(arguments: Namespace) -> int:
    name = arguments.command or LIVE
    if name not in (LIVE, *COMMANDS):
        fail(f"{name} is no command; {advice(name, COMMANDS, 'the commands are ' + ', '.join(COMMANDS))}")
    output.emit([parser(name).format_help().rstrip("\n")])
    return Exit.OK
