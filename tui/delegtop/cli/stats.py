"""`delegtop stats`: how long agents take, how they end, and which timeouts would fit."""

import shutil
from argparse import ArgumentParser, Namespace

from delegtop.cli import options, output, reading
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "Count the delegations by agent: durations, outcomes, timeouts against real durations with suggested ones, "
    "breaches of contract, tokens and cost; and by week (docs/stats.md)."
)
PAGE = "docs/stats.md"
EXAMPLES = {
    "delegtop stats --since 7d": "of the last week",
    "delegtop stats --since 90d": "of a quarter of a year, with how it went from week to week",
    "delegtop stats logs/ --json": "for scripts",
}
PIPE_WIDTH = 120


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/stats.md)")
    options.add(parser, "at", "format", "ascii", "no_index", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    seen = reading.read(arguments, settings)

    from delegtop.report import agent_stats, agent_stats_text
    from delegtop.report.plot import UNICODE

    found = agent_stats.gather(seen.forest, masked=settings.mask_secrets)
    if arguments.json:
        output.emit(agent_stats.as_json(found))
    else:
        terminal = output.is_terminal()
        width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns if terminal else PIPE_WIDTH
        ascii_only = settings.ascii or not output.takes("".join(UNICODE))
        output.emit(agent_stats_text.lines(found, width, ascii_only=ascii_only, cuts=terminal))
    return Exit.UNREADABLE if reading.complain(seen.sources, seen.statuses) else Exit.OK
