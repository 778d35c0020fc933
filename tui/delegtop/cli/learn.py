"""`delegtop learn`: read the history once and remember how long each kind of agent, each tool and the model take."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from delegtop.base.paths import make_private
from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, kept_files, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from delegtop.model.policy import Counts, Kind, Usual

DESCRIPTION = (
    "Read the history of every agent on this machine once and remember how long each kind of agent, each tool and the "
    "model usually take. The countdown of an agent that records no deadline runs against it, and silence is judged by "
    "it. The dashboard does this by itself once a day (learn = false turns it off)."
)
PAGE = "docs/stats.md"
EXAMPLES = {
    "delegtop learn": "from the last 30 days",
    "delegtop learn --since 90d --quiet": "from longer, for a timer",
}
HISTORY = "30d"


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--since", default=HISTORY, metavar="SPAN", help=f"how far back to read; default {HISTORY}")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    options.add(parser, "no_index", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings

    from delegtop import learned_durations
    from delegtop.base import leftovers, text

    place = learned_durations.place()
    wanted = Namespace(sources=[], since=arguments.since, format=None, at=None, here=False, all=False)
    wanted.sources = reading.places(wanted, settings, place.parent).sources  # what lies in this folder is not history
    if not wanted.sources:
        diagnostics.say("no logs of agents are found on this machine, so there is nothing to learn from")
        return Exit.OK

    from delegtop.model.call_durations import CallCounts, CallDurations

    calls, usual = CallCounts(), CallDurations()
    with reading.opened(wanted, settings, calls=calls) as seen:
        forest = seen.forest
    usual.calls(forest, calls.all())
    for (product, agent), spans in forest.spans():
        usual.agents(product, agent, spans)
    known, counts = forest.learned(), usual.all()
    try:
        make_private(place.parent)
    except OSError as error:
        fail(f"{place.parent}: {reason_of(error)}")
    leftovers.clear(place)
    with kept_files.whole(place, force=True) as file:
        file.write(learned_durations.dump(known, counts, forest.shown_at))
    if not arguments.quiet:
        output.emit([*_lines(known, len(forest)), *_calls(counts), f"kept in {text.line(str(place))}"])
    return Exit.OK


def _lines(known: "Mapping[Kind, Usual]", seen: int) -> "Iterator[str]":
    from delegtop.base import text
    from delegtop.base.clock import duration
    from delegtop.base.secrets import mask
    from delegtop.model.typical_durations import ENOUGH

    yield f"{seen} delegations of the history were read; a kind is known from {ENOUGH} that completed"
    for (product, agent), (took, count) in sorted(known.items()):
        yield f"{text.line(mask(agent))} ({text.line(product)}): 95 % of {count} within {duration(took)}"


def _calls(known: "Mapping[Kind, Counts]") -> "Iterator[str]":
    """The kinds of calls of which enough are known to judge by them."""
    from delegtop.base import text
    from delegtop.base.clock import duration
    from delegtop.base.secrets import mask
    from delegtop.model.duration_curve import DurationCurve
    from delegtop.model.normal_durations import ENOUGH

    many = {kind: counts for kind, counts in known.items() if sum(counts) >= ENOUGH}
    for (product, name), counts in sorted(many.items()):
        within = DurationCurve().refined(counts).exceeded_by(1 / 100)
        yield f"{text.line(mask(name))} ({text.line(product)}): 99 % of {sum(counts):,} within {duration(within)}"
