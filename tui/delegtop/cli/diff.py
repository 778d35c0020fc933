"""`delegtop diff`: two runs side by side."""

import shutil
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from delegtop.cli import options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.observation.observation import Observation
    from delegtop.settings import Settings

DESCRIPTION = (
    "Compare two runs: what was delegated in one and not in the other, durations, outcomes and findings "
    "(docs/stats.md). The exit code is 1 if they differ."
)
PAGE = "docs/stats.md"
EXAMPLES = {
    "delegtop diff before/ after/": "two runs; exits 1 if they differ",
    "delegtop diff before/ after/ --json": "for scripts",
}
PIPE_WIDTH = 120


def add(parser: ArgumentParser) -> None:
    parser.add_argument("runs", nargs="*", metavar="RUN", help="two of them: a file, a folder or a glob each")
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/stats.md)")
    parser.add_argument("--changed", action="store_true", help="print only what differs, and what stands above it")
    parser.add_argument(
        "--slower",
        metavar="PERCENT",
        help="a delegation that took so much longer, and at least a second, differs; else durations are only shown",
    )
    options.add(parser, "at", "format", "no_index", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    slower = _share(arguments.slower)
    if len(arguments.runs) != 2:
        fail(f"two runs are compared, and {len(arguments.runs) or 'none'} named: delegtop diff RUN_A RUN_B")
    first, second = (_read(run, arguments, settings) for run in arguments.runs)
    unread = [reading.complain(seen.sources, seen.statuses) for seen in (first, second)]
    if any(unread) and not (len(first.forest) or len(second.forest) or arguments.json):
        return Exit.UNREADABLE

    from delegtop.report import comparison, comparison_text

    found = comparison.compare(
        first.forest,
        second.forest,
        (arguments.runs[0], arguments.runs[1]),
        slower,
        masked=settings.mask_secrets,
    )
    if arguments.json:
        output.emit(comparison.as_json(found))
    else:
        width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns if output.is_terminal() else None
        output.emit(comparison_text.lines(found, width, whole=not arguments.changed))
    if any(unread):
        return Exit.UNREADABLE
    return Exit.FINDINGS if found.differ else Exit.OK


def _read(run: str, arguments: Namespace, settings: "Settings") -> "Observation":
    alone = Namespace(**vars(arguments), sources=[run], since=None, here=False, all=False)
    return reading.read(alone, settings)


def _share(percent: str | None) -> float | None:
    if percent is None:
        return None
    try:
        share = float(percent.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < float("inf"):
        fail(f"--slower {percent}: that is no percentage; write it like 50")
    return share
