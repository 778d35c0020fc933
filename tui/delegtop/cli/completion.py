"""`delegtop completion SHELL`: the script by which a shell completes commands, options and files."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from delegtop.cli import output
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "Print the completion of a shell. The package brings it along for shells that look into its `share` folder; "
    "this is for all others."
)
PAGE = "README.md"
EXAMPLES = {
    "delegtop completion bash > delegtop.bash": "to be sourced by ~/.bashrc",
    "delegtop completion zsh > _delegtop": "to be put into a folder of fpath",
    "delegtop completion fish > delegtop.fish": "to be put into ~/.config/fish/completions",
}
FOLDER = Path(__file__).parent / "completions"
"""The scripts are generated (`pytest --update-golden`), so that whoever runs the program needs no generator."""
SHELLS = ("bash", "zsh", "fish")


def add(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="bash|zsh|fish", help="the shell that is to complete")


def run(arguments: Namespace) -> int:
    script = FOLDER / f"delegtop.{arguments.shell}"
    output.emit(script.read_text("utf-8").splitlines())
    return Exit.OK
