"""`delegtop mcp`: the questions of models, over the Model Context Protocol on standard input and output."""

import sys
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from pathlib import Path

from delegtop.cli import options, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "Answer an orchestrating agent over the Model Context Protocol (stdio): which of its delegations is stuck and why, "
    "and wait for what happens next. It only reads (docs/mcp.md)."
)
PAGE = "docs/mcp.md"
EXAMPLES = {
    "delegtop mcp": "what the program that asks is told to start",
    "delegtop mcp --all": "so that it may ask about every session of this machine, not only of this folder",
}
_SDK = "2"


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="these logs instead of those of this folder: a file, a folder, a glob",
    )
    options.add(parser, "since")
    parser.add_argument("--all", action="store_true", help="may be asked about every session of this machine")
    options.add(parser, "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    if find_spec("mcp") is None:
        from delegtop.base.own_extras import what_to_type

        fail(f"this needs the MCP SDK, which comes with the extra: {what_to_type('mcp')}")
    from importlib.metadata import PackageNotFoundError, version  # few need it

    try:
        found = version("mcp")
    except PackageNotFoundError:  # something else is called so
        found = "none"
    if found.partition(".")[0] != _SDK:
        from delegtop.base.own_extras import what_to_type

        fail(f"this needs version {_SDK} of the MCP SDK and finds {found}; the extra brings it: {what_to_type('mcp')}")
    if sys.stdin is None or sys.stdin.isatty():
        fail("this is started by the program that asks, and not by a person; docs/mcp.md tells how")
    options.check_format(arguments.format)

    from delegtop.mcp_server.followed_scope import FollowedScope
    from delegtop.mcp_server.stdio_server import serve
    from delegtop.observation import observation, source_discovery

    def open() -> observation.Observation:
        everything = Namespace(**{**vars(arguments), "all": False, "here": not (arguments.all or arguments.sources)})
        return observation.opened(reading.places(everything, settings), settings, format=arguments.format)

    whole = arguments.all and not arguments.sources
    serve(FollowedScope(open, source_discovery.of_folder(Path()) if whole else ""))
    return Exit.OK
