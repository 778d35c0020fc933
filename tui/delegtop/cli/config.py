"""`delegtop config path|show|default`: the settings, and where they came from."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from delegtop.cli import options, output
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "path: the files settings are read from. show: every setting with where its value came from. "
    "default: a file with all defaults, explained."
)
PAGE = "docs/configuration.md"
EXAMPLES = {
    "delegtop config show": "every setting, and where it came from",
    "delegtop config default > delegtop.toml": "a file to start from",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=("path", "show", "default"), metavar="path|show|default", help="what to print")
    options.add(parser, "sort", "theme", "ascii", "no_color", "no_mouse", "config")


def run(arguments: Namespace) -> int:
    output.emit({"path": _path, "show": _show, "default": _default}[arguments.what](arguments))
    return Exit.OK


def _path(arguments: Namespace) -> Iterator[str]:
    from pathlib import Path

    from delegtop.base import text
    from delegtop.base.paths import is_there
    from delegtop.settings import candidates

    for path in [Path(arguments.config)] if arguments.config else candidates():
        yield f"{text.line(str(path))}  {'exists' if is_there(path) else 'does not exist'}"


def _show(arguments: Namespace) -> Iterator[str]:
    from delegtop.base import text
    from delegtop.settings import toml, value_of

    settings, origins = options.load(arguments)
    lines = {key: text.line(toml(key, value_of(settings, key))) for key in origins}
    width = min(max(map(len, lines.values())), 72)
    for key, line in lines.items():
        yield f"{line:<{width}}  # {text.line(origins[key])}"


def _default(_arguments: Namespace) -> Iterator[str]:
    from delegtop.report.table import cells  # noqa: F401 -- the columns are declared there
    from delegtop.report.table.columns import choice
    from delegtop.settings import Settings, documentation, toml, value_of

    yield "# Every setting of delegtop with its default. Later wins: this file, ./delegtop.toml, DELEGTOP_*, flags."
    defaults = Settings()
    for key, meaning in documentation(choice()).items():
        yield ""
        yield f"# {meaning}"
        yield toml(key, value_of(defaults, key))
