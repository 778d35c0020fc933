"""`delegtop sources`: which logs are found on this machine, of which agents, and why something is left out."""

from argparse import ArgumentParser, Namespace

from delegtop.cli import options, output, reading
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "List what is read: its format and version, how big and how alive it is, and why something is left out. "
    "Without a SOURCE, what is found here and in the homes of the known agents."
)


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/sources.md)")
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    if not arguments.sources:
        from delegtop.cli.places import places
        from delegtop.text import line

        found = places(arguments, settings)
        if not found.sources and not arguments.json:
            output.emit(
                ["No logs of agents are found. They are looked for in", *(f"  {line(at)}" for at in found.awaited)]
            )
            return Exit.OK
    forest, statuses = reading.read(arguments, settings)

    from delegtop.report import sources

    output.emit(sources.as_json(forest, statuses) if arguments.json else sources.table(forest, statuses))
    return Exit.UNREADABLE if reading.complain(arguments.sources, statuses) else Exit.OK
