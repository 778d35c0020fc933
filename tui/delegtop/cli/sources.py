"""`delegtop sources`: which logs are found on this machine, of which agents, and why something is left out."""

from argparse import ArgumentParser, Namespace

from delegtop.cli import options, output, reading
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "List what is read: its format and version, how big and how alive it is, and why something is left out. "
    "Without a SOURCE, what is found here and in the homes of the known agents."
)
PAGE = "docs/sources.md"
EXAMPLES = {
    "delegtop sources": "what is found, and what is left out and why",
    "delegtop sources --all": "the whole history",
    "delegtop sources logs/ --json": "for scripts",
}


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/sources.md)")
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    if not arguments.sources:
        from delegtop.base.text import line

        found = reading.places(arguments, settings)
        if not found.sources and not arguments.json:
            output.emit(
                ["No logs of agents are found. They are looked for in", *(f"  {line(at)}" for at in found.awaited)]
            )
            return Exit.OK
    seen = reading.read(arguments, settings)

    from delegtop.report import source_table

    lines = source_table.as_json if arguments.json else source_table.table
    output.emit(lines(seen.forest, seen.statuses))
    return Exit.UNREADABLE if reading.complain(seen.sources, seen.statuses) else Exit.OK
