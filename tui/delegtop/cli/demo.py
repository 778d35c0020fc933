"""`delegtop demo`: a simulated orchestrator writes real files, one tool really hangs, and the dashboard watches."""

import math
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.system_errors import reason_of
from delegtop.cli import options, output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.live import free_the_keyboard, require_terminal

if TYPE_CHECKING:
    from delegtop.act.acting import Acting
    from delegtop.demo.hung_tool import HungTool
    from delegtop.settings import Settings

DESCRIPTION = (
    "Watch a simulated orchestrator: completions, failures, a cycle, malformed returns and more, and one tool that "
    "hangs for real, in a process of the demo's own; K frees it."
)
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
    options.add(parser, "filter", "sort", "theme", "ascii", "no_color", "no_mouse", "readonly", "config")


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
            seen = opened(Places([folder]), settings, policy=settings.policy(), rewinds=True)
            return run_app(seen, query.text, acting=_acting(settings, tool))
        finally:
            simulation.stop()


def _acting(settings: "Settings", tool: "HungTool") -> "Acting":
    """Here acting is on, and for nothing but the demo's own processes; who wants only to look still only looks."""
    from delegtop.act.acting import Acting, acting

    if settings.act.readonly:
        return acting(settings)
    return Acting(enabled=True, only=tool.is_own, why_not_these="in the demo only its own processes are stopped")


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
        fail(f"--write {folder}: cannot be written: {reason_of(error)}")
    output.emit(text.line(str(path)) for path in (simulation.log, simulation.registry))
    return Exit.OK
