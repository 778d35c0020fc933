"""`delegtop tree`: the tree of delegations, printed once."""

import os
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from delegtop.cli import hints, options, output, reading
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.config import Settings
    from delegtop.feed import SourceStatus
    from delegtop.model.forest import Forest
    from delegtop.model.ledger import Handle
    from delegtop.report.text import Look

DESCRIPTION = "Read the sources once and print the tree of delegations as it is at a moment."
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
    parser.add_argument("--claims", action="store_true", help="also print what the sources disagree about")
    options.add(parser, "filter", "sort", "columns", "at", "format", "ascii", "no_color", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    options.query(arguments)  # a wrong filter is told before anything is read
    options.check_columns(settings)
    named = bool(arguments.sources)
    forest, statuses = reading.read(arguments, settings)
    query = options.query(arguments)
    matches = {handle for handle in forest.walk() if query.matches(forest, handle)} if query else None
    output.emit(_lines(arguments, settings, forest, statuses, matches))
    if reading.complain(arguments.sources, statuses):
        return Exit.UNREADABLE
    hints.say(arguments, forest, statuses, named=named)
    return _outcome(forest, matches) if arguments.exit_code else Exit.OK


def _lines(
    arguments: Namespace,
    settings: "Settings",
    forest: "Forest",
    statuses: "tuple[SourceStatus, ...]",
    matches: "Collection[Handle] | None",
) -> Iterable[str]:
    # What the dashboard sorts by does not turn what scripts read round.
    sort = settings.sort if arguments.sort else "start"
    if arguments.json:
        from delegtop.report import tree_json

        return tree_json.tree(
            forest, statuses, matches=matches, sort=sort, masked=settings.mask_secrets, prompts=arguments.prompts
        )
    from delegtop.report import gantt, text

    look = _look(arguments.plain, settings)
    if arguments.gantt:
        return gantt.gantt(forest, matches=matches, sort=sort, look=look)
    return text.tree(
        forest,
        statuses,
        matches=matches,
        sort=sort,
        look=look,
        columns=settings.columns if arguments.columns else text.USUAL,
        health=arguments.health,
        claims=arguments.claims,
    )


def _look(plain: bool, settings: "Settings") -> "Look":
    from delegtop.report.table.drawing import ASCII, SPOKEN, UNICODE, characters
    from delegtop.report.text import Look

    terminal = output.is_terminal()
    ascii_only = settings.ascii or not output.takes(characters(UNICODE))
    drawing = SPOKEN if plain else ASCII if ascii_only else UNICODE
    colourless = plain or not settings.color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns if terminal else PIPE_WIDTH
    return Look(drawing, width, color=terminal and not colourless, cuts=terminal, masked=settings.mask_secrets)


def _outcome(forest: "Forest", matches: "Collection[Handle] | None") -> Exit:
    from delegtop.cli.standing import outcome
    from delegtop.diagnosis.assessments import Assessments

    return outcome(Assessments(forest), matches)
