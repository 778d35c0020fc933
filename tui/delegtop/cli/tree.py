"""`delegtop tree`: the tree of delegations, printed once."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from delegtop.cli import diagnostics, options, output, reading, suggestions
from delegtop.cli.exit_codes import Exit, outcome
from delegtop.cli.watch import seconds

if TYPE_CHECKING:
    from delegtop.model.store.ledger import Handle
    from delegtop.observation.observation import Observation
    from delegtop.report.tree_text import Look
    from delegtop.settings import Settings

DESCRIPTION = "Read the sources once and print the tree of delegations as it is at a moment."
PAGE = "docs/tree-json.md"
EXAMPLES = {
    "delegtop tree": "what is at work on this machine",
    "delegtop tree logs/ --at 2026-03-03T10:59:40Z": "as it was at that moment",
    "delegtop tree logs/ --filter 'state:overdue,lost' --exit-code": "for scripts: exits 3 if there is one",
}
PIPE_WIDTH = 120


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/tree-json.md)")
    parser.add_argument("--prompts", action="store_true", help="with --json: also what each agent was asked to do")
    parser.add_argument(
        "--exit-code", action="store_true", help="exit 3 if something is stuck or needs you, 1 if something ended badly"
    )
    parser.add_argument(
        "--plain", action="store_true", help="indent only: no lines, no colour, good for screen readers"
    )
    parser.add_argument(
        "--gantt", action="store_true", help="print each tree over time, with deadlines and its critical path"
    )
    parser.add_argument("--sources", dest="health", action="store_true", help="also print how well each source is read")
    parser.add_argument(
        "--timeout",
        dest="patience",
        type=seconds,
        metavar="TIME",
        help="wait so long for each other host, 15s if not said; what is missing then is told, and exits 4",
    )
    parser.add_argument("--claims", action="store_true", help="also print what the sources disagree about")
    options.add(parser, "filter", "sort", "columns", "at", "format", "ascii", "no_color", "no_index", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    if arguments.filter:
        options.query(arguments)  # a wrong filter is told before anything is read
    seen = reading.read(arguments, settings)
    forest, only = seen.forest, seen.places.only
    query = options.query(arguments, only) if arguments.filter or only else None  # the keys take time to load
    matches = query.among(forest) if query else None
    output.emit(_lines(arguments, seen, matches))
    if reading.complain(seen.sources, seen.statuses):
        from delegtop.observation import loose_returns

        for path in loose_returns.among(seen.sources, seen.statuses):
            diagnostics.say(f"{path}: it is a return and no log; delegtop check judges it")
        return Exit.UNREADABLE
    suggestions.say(seen, now=arguments.at is None)
    return outcome(seen.assessments, matches) if arguments.exit_code else Exit.OK


def _lines(arguments: Namespace, seen: "Observation", matches: "Collection[Handle] | None") -> Iterable[str]:
    settings, forest, statuses = seen.settings, seen.forest, seen.statuses
    # What the dashboard sorts by does not turn what scripts read round.
    sort = settings.sort if arguments.sort else "start"
    if arguments.json:
        from delegtop.report import tree_json

        return tree_json.tree(
            forest,
            statuses,
            matches=matches,
            sort=sort,
            masked=settings.mask_secrets,
            prompts=arguments.prompts,
            hosts=seen.hosts,
        )
    from delegtop.feed.source_statuses import odd
    from delegtop.report import tree_text

    look = _look(arguments.plain, settings)
    if arguments.gantt:
        from delegtop.report import printed_gantt

        return printed_gantt.gantt(forest, matches=matches, sort=sort, look=look)
    return tree_text.tree(
        forest,
        statuses if arguments.health else odd(statuses),
        matches=matches,
        sort=sort,
        look=look,
        columns=settings.columns if arguments.columns else tree_text.USUAL,
        health=arguments.health,
        claims=arguments.claims,
    )


def _look(plain: bool, settings: "Settings") -> "Look":
    from delegtop.report.table.drawing import ASCII, SPOKEN, UNICODE, characters
    from delegtop.report.tree_text import Look

    terminal = output.is_terminal()
    ascii_only = settings.ascii or not output.takes(characters(UNICODE))
    drawing = SPOKEN if plain else ASCII if ascii_only else UNICODE
    colourless = plain or not settings.color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    width = _terminal_width() if terminal else PIPE_WIDTH
    return Look(drawing, width, color=terminal and not colourless, cuts=terminal, masked=settings.mask_secrets)


def _terminal_width() -> int:
    from shutil import get_terminal_size  # it brings four compressors

    return get_terminal_size((PIPE_WIDTH, 24)).columns
