"""`delegtop [SOURCE…]`: the dashboard, on what the sources say now and from now on."""

import gc
import os
import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from delegtop.base.clock import Clock, clock_at
from delegtop.base.near_words import advice
from delegtop.cli import options, output, reading
from delegtop.cli.diagnostics import fail

if TYPE_CHECKING:
    from delegtop.app.state.saved_views import View, Views
    from delegtop.observation.observation import Observation
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Loaded, Settings

_LINE_BY_LINE = frozenset({"dumb", "unknown"})
"""Terminals that cannot move their cursor, such as those of editors and builds."""
DESCRIPTION = "Watch delegations live. Without a SOURCE, what is found here and in the known places is watched."
PAGE = "README.md"
EXAMPLES = {
    "delegtop": "every agent that is at work on this machine",
    "my-orchestrator | delegtop - logs/": "a stream; folders, files, globs in quotes",
    "delegtop ssh://devbox ssh://gpu1": "other machines that have delegtop, by the ssh you have",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="a file, a folder, a glob, ssh://HOST, nats://HUB, or - for standard input",
    )
    options.add(parser, "since", "here", "all", "hosts")
    options.add(
        parser,
        "filter",
        "sort",
        "columns",
        "view",
        "at",
        "format",
        "theme",
        "ascii",
        "no_color",
        "no_mouse",
        "no_index",
    )
    options.add(parser, "config")
    options.add(parser, "notify", "notify_command", "act", "readonly")


def run(arguments: Namespace) -> int:
    require_terminal("delegtop tree SOURCE prints the tree once")
    gc.disable()  # what is imported and made to begin with stays; the reader turns it on when it begins
    loaded = options.load(arguments)
    options.check_format(arguments.format)
    at = options.moment(arguments, loaded.settings)
    filter = options.query(arguments).text if arguments.filter else ""

    if loaded.settings.notify:
        from delegtop.cli.telling import notifier_of

        notifier_of(loaded)  # what cannot work is said before the screen opens
    found = reading.places(arguments, loaded.settings)
    free_the_keyboard("-" in found.sources)

    clock = clock_at(at)
    opening = partial(_opened, found, loaded.settings, clock, arguments.format)
    # Other hosts are on their way while the screen is loaded; all else is opened behind the first picture.
    seen = opening() if found.hosts else None

    from delegtop.act.acting import acting
    from delegtop.app.main import run_app
    from delegtop.app.state.outset import Outset
    from delegtop.cli.status_reading import keeping

    views, view = view_for(arguments, loaded, f"{found.only} {filter}".strip())
    keeper = keeping(arguments, loaded, "dashboard")
    outset = Outset(loaded.settings, clock, found, opening)
    return run_app(seen or outset, view=view, views=views, keeping=keeper, acting=acting(loaded.settings))


def _opened(found: "Places", settings: "Settings", clock: Clock, format: str | None) -> "Observation":
    from delegtop.observation.observation import opened

    return opened(found, settings, clock, format=format, rewinds=True, indexed=True)


def view_for(arguments: Namespace, loaded: "Loaded", filter: str) -> "tuple[Views, View]":
    """How to look to begin with: what is asked for, else the view that is named, else as one looked last, as far as
    the settings do not say otherwise."""
    from delegtop.app.state.saved_views import View, Views

    views, (settings, origins) = Views(), loaded
    base = views.last
    if arguments.view is not None:
        named = views.named(arguments.view)
        if named is None:
            fail(f"--view: {advice_on_view(arguments.view, views.names)}")
        base = named
    own = {key: getattr(settings, key) for key in ("sort", "reverse", "columns") if origins[key] != "default"}
    asked = own if arguments.view is None else {key: own[key] for key in own if origins[key].startswith("--")}
    views.given = {**asked, **({"filter": filter} if filter else {})}
    return views, View(filter or base.filter, **{**_look(base), **asked}, only_open=base.only_open)


def _look(view: "View") -> dict[str, Any]:
    return {"sort": view.sort, "reverse": view.reverse, "columns": view.columns}


def advice_on_view(name: str, names: list[str]) -> str:
    if not names:
        return f"no view is kept as {name}; W in the dashboard keeps one"
    return f"no view is kept as {name}; {advice(name, names, 'there are ' + ', '.join(names))}"


def free_the_keyboard(reads_stdin: bool) -> None:
    """Where a log is piped in, keys come from the terminal itself, and the log moves to a descriptor of its own."""
    if sys.stdin is None:  # it was closed before the start (`<&-`)
        fail("the dashboard reads keys from standard input, and that is closed")
    if sys.stdin.isatty():
        if reads_stdin:
            fail("standard input is the keyboard; pipe a log into delegtop -")
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        fail("the dashboard needs a terminal to read keys from, and there is none")
    sys.stdin = os.fdopen(os.dup(0))
    os.dup2(terminal, 0)


def require_terminal(instead: str) -> None:
    """The dashboard needs a screen; say what does not."""
    if not output.is_terminal():
        fail(f"the dashboard needs a terminal, and standard output is none; {instead}")
    if (name := os.environ.get("TERM")) in _LINE_BY_LINE:
        lines = "delegtop watch prints a line for each change"
        fail(f"this terminal cannot show the dashboard (TERM={name}); {instead}, and {lines}")
