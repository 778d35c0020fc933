"""`delegtop demo`: a simulated orchestrator writes real files, and the dashboard watches them."""

import math
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from delegtop.cli import options, output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.live import check_looks, free_the_keyboard, require_terminal

DESCRIPTION = "Watch a simulated orchestrator: completions, failures, a hang, a cycle, malformed returns and more."
PAGE = "README.md"
EXAMPLES = {
    "delegtop demo --speed 5": "five times as fast",
    "delegtop demo --write made": "only write the logs",
}
_WRITTEN = 120.0
"""Seconds of the story that --write writes: all of the fixed programme, and some chance after it."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which story is told (default 1)")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="how many times faster it goes (default 1)"
    )
    parser.add_argument(
        "--write", metavar="DIR", help="only write the log, the registry and the artifacts into this folder"
    )
    options.add(parser, "filter", "sort", "theme", "ascii", "no_color", "no_mouse", "config")


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not 0 < speed < math.inf:
        raise ArgumentTypeError(f"{text} is no speed; give a number above 0")
    return speed


def run(arguments: Namespace) -> int:
    if arguments.write is not None:
        return _write(arguments)
    require_terminal("delegtop demo --write DIR only writes the files")
    loaded = options.load(arguments)
    query = options.query(arguments)
    check_looks(loaded)
    free_the_keyboard(False)

    from delegtop.app.main import run_app
    from delegtop.base.clock import WallClock
    from delegtop.demo.hung_tool import HungTool
    from delegtop.demo.simulate import RECENT, Simulation
    from delegtop.observation.observation import opened
    from delegtop.observation.source_discovery import Places

    with tempfile.TemporaryDirectory(prefix="delegtop-demo-") as folder:
        tool = HungTool(Path(folder))
        simulation = Simulation(arguments.seed, arguments.speed, Path(folder), WallClock(), tool=tool)
        simulation.start()
        try:
            settings = loaded.settings.at_pace(RECENT)
            return run_app(opened(Places([folder]), settings, policy=settings.policy(), rewinds=True), query.text)
        finally:
            simulation.stop()


def _write(arguments: Namespace) -> int:
    from delegtop.base import text
    from delegtop.base.clock import SECOND, FrozenClock, Millis, WallClock
    from delegtop.demo.simulate import Simulation

    # The story ends now, so that nothing in it lies in the future.
    begin = Millis(WallClock().now() - int(_WRITTEN * SECOND))
    folder = Path(arguments.write)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        simulation = Simulation(arguments.seed, arguments.speed, folder, FrozenClock(begin))
        simulation.write_all(_WRITTEN)
    except OSError as error:
        fail(f"--write {folder}: cannot be written: {error.strerror}")
    output.emit(text.line(str(path)) for path in (simulation.log, simulation.registry))
    return Exit.OK
