"""`delegtop replay SOURCE…`: the dashboard over recorded logs, in the time in which they were written."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from delegtop.cli import options, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.live import free_the_keyboard, require_terminal

if TYPE_CHECKING:
    from delegtop.base.clock import Millis
    from delegtop.settings import Settings

DESCRIPTION = (
    "Watch what happened, as it was then: states, countdowns and findings are those of the moment shown.\n"
    "space plays and pauses, [ and ] change the speed, comma and full stop step from event to event, n and N go to\n"
    "the next and the previous problem, g goes to a time, and the timeline can be clicked and dragged on."
)
PAGE = "docs/replay.md"
EXAMPLES = {
    "delegtop replay logs/ --speed 60": "a minute a second",
    "delegtop replay incident.zip --from 20m": "from 20 minutes after the beginning",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a file, a folder or a glob")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="how many times faster, from 0.1 to 1000 (default 1)"
    )
    parser.add_argument(
        "--from",
        dest="start",
        metavar="TIME",
        help="begin there: ISO 8601, a time of the first day such as 10:41, or a span after the beginning such as 20m",
    )
    options.add(parser, "since")
    options.add(parser, "filter", "sort", "format", "theme", "ascii", "no_color", "no_mouse", "config")


def _speed(text: str) -> float:
    from delegtop.base.clock import FASTEST, SLOWEST

    try:
        speed = float(text.removesuffix("x"))
    except ValueError:
        speed = 0.0
    if not SLOWEST <= speed <= FASTEST:
        raise ArgumentTypeError(f"{text} is no speed; give a number from {SLOWEST:g} to {FASTEST:g}")
    return speed


def run(arguments: Namespace) -> int:
    require_terminal("delegtop tree SOURCE --at TIME prints the tree of a moment")
    loaded = options.load(arguments)
    options.check_format(arguments.format)
    query = options.query(arguments)
    start = _start(arguments.start, loaded.settings) if arguments.start is not None else None
    if "-" in arguments.sources:
        fail("a replay goes back in what it reads, so it takes files, not standard input")
    if not reading.all_there(arguments.sources):
        return Exit.UNREADABLE
    found = reading.places(arguments, loaded.settings)
    free_the_keyboard(False)

    from delegtop.app.main import run_app
    from delegtop.observation.observation import replayed

    with options.refusals():
        seen = replayed(found, loaded.settings, format=arguments.format, speed=arguments.speed, start=start)
    return run_app(seen, query.text)


def _start(text: str, settings: "Settings") -> "Callable[[Millis], Millis]":
    """The place that is meant, once the first moment is known."""
    from delegtop.base.clock import Millis, parse_place

    def place(first: Millis) -> Millis:
        return parse_place(text, first, first, settings.zone()) or first

    if parse_place(text, Millis(0), Millis(0), settings.zone()) is None:
        fail(f"--from {text}: that is no time; write it like 2025-12-26T10:00:00Z, 10:41 or 20m")
    return place
