"""The options commands share, each defined once. A command names those that mean something to it."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delegtop.base.near_words import advice
from delegtop.cli.diagnostics import fail

if TYPE_CHECKING:
    from delegtop.base.clock import Millis
    from delegtop.model.query import FilterQuery
    from delegtop.settings import Loaded, Settings

OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "filter": (("-f", "--filter"), {"metavar": "FILTER", "help": "show only what fits: 'state:overdue depth>1'"}),
    "sort": (
        ("-s", "--sort"),
        {"metavar": "KEY", "help": "sort siblings by problems, start, name, project, state, depth, deadline, age, …"},
    ),
    "columns": (("--columns",), {"metavar": "NAMES", "help": "the columns, with commas between: state,age,cost,doing"}),
    "view": (("--view",), {"metavar": "NAME", "help": "look through a view that was kept under this name"}),
    "at": (("--at",), {"metavar": "TIME", "help": "look at this moment (ISO 8601) instead of now"}),
    "since": (
        ("--since",),
        {"metavar": "SPAN", "help": "read only sessions heard of within this time, such as 2h; all for everything"},
    ),
    "here": (("--here",), {"action": "store_true", "help": "only sessions of this folder and below"}),
    "all": (("--all",), {"action": "store_true", "help": "the whole history of every agent on this machine"}),
    "hosts": (("--hosts",), {"action": "store_true", "help": "also all [[hosts]] of your settings (docs/fleet.md)"}),
    "format": (("--format",), {"metavar": "NAME", "help": "read every source as this format, whatever its shape"}),
    "no_index": (("--no-index",), {"action": "store_true", "help": "read every log, and keep nothing of it"}),
    "theme": (("--theme",), {"metavar": "NAME", "help": "the colours of the dashboard"}),
    "ascii": (("--ascii",), {"action": "store_true", "help": "draw with ASCII characters only"}),
    "no_color": (("--no-color",), {"action": "store_true", "help": "no colour; so does a NO_COLOR that is not empty"}),
    "no_mouse": (("--no-mouse",), {"action": "store_true", "help": "leave the mouse to the terminal"}),
    "notify": (
        ("--notify",),
        {
            "metavar": "HOW",
            "help": "tell of trouble and of what is done: bell, desktop, command, ntfy, slack, …; with commas between",
        },
    ),
    "notify_command": (
        ("--notify-command",),
        {"metavar": "COMMAND", "help": "what --notify command runs, quoted as one argument; no shell is involved"},
    ),
    "act": (
        ("--act",),
        {"action": "store_true", "help": "let it stop what is stuck, not only show how (docs/acting.md)"},
    ),
    "readonly": (("--readonly",), {"action": "store_true", "help": "never act, whatever the settings and --act say"}),
    "config": (
        ("--config",),
        {"metavar": "FILE", "help": "read settings from this file instead of the user's and the project's"},
    ),
}
WITH_VALUE = frozenset(flag for flags, how in OPTIONS.values() if "action" not in how for flag in flags)
"""Flags that take the next argument as their value."""


def add(parser: ArgumentParser, *names: str) -> None:
    for name in names:
        flags, how = OPTIONS[name]
        parser.add_argument(*flags, dest=name, **how)


def load(arguments: Namespace) -> "Loaded":
    """The settings, with the flags that were given on top; a wrong one is a usage error."""
    given = vars(arguments)
    plain = ("theme", "sort", "columns", "notify", "notify_command")
    flags: dict[str, object] = {name: given[name] for name in plain if given.get(name) is not None}
    if given.get("ascii"):
        flags["ascii"] = True
    flags |= {name: False for name in ("color", "mouse", "index") if given.get(f"no_{name}")}
    flags |= {key: True for name, key in (("act", "act.enabled"), ("readonly", "act.readonly")) if given.get(name)}
    path = given.get("config")
    return checked(Path(path) if path else None, flags)


def checked(path: Path | None, flags: dict[str, object]) -> "Loaded":
    """The settings of a file, else of the user and the project; a wrong one is a usage error."""
    with _without_typing_extensions():
        from delegtop import settings

    try:
        loaded = settings.load(path, flags)
    except settings.ConfigError as error:
        fail(str(error))
    if loaded.settings.keymap:
        _check_keys(loaded)
    if loaded.settings.columns:
        _check_columns(loaded)
    return loaded


@contextmanager
def _without_typing_extensions() -> Iterator[None]:
    """It takes a tenth of the start of `tree`, and only for msgspec, which asks it for what is in `typing` since Python
    3.11, and takes that where there is none."""
    if "typing_extensions" in sys.modules:
        yield
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # how Python notes that there is none
    try:
        yield
    finally:
        del sys.modules["typing_extensions"]


def _check_keys(loaded: "Loaded") -> None:
    """A key of an action that does not exist is told by every command. Few settings have any, so few load the table."""
    from delegtop.app.keymap import IDS
    from delegtop.settings import blamed

    for action in loaded.settings.keymap:
        known(action, sorted(IDS), f"{blamed(loaded, 'keymap')}: action")


def _check_columns(loaded: "Loaded") -> None:
    """So is a column that does not exist."""
    from delegtop.report.table import cells  # noqa: F401 -- the columns are declared there
    from delegtop.report.table.columns import UnknownColumnError, chosen
    from delegtop.settings import blamed

    try:
        chosen(loaded.settings.columns)
    except UnknownColumnError as error:
        fail(f"{blamed(loaded, 'columns')}: {error}")


def known(name: str, names: Sequence[str], what: str) -> None:
    """A usage error if the name is none of these."""
    if name not in names:
        fail(f"{what} {name} does not exist; {advice(name, names, 'there are ' + ', '.join(names))}")


def moment(arguments: Namespace, settings: "Settings") -> "Millis | None":
    """The moment `--at` names; None for now."""
    if arguments.at is None:
        return None
    from delegtop.observation.observation import moment

    with refusals():
        return moment(arguments.at, settings.zone())


@contextmanager
def refusals() -> Iterator[None]:
    """What cannot be opened is a usage error, in the words of the option that asked for it."""
    from delegtop.observation.source_discovery import OpenError

    try:
        yield
    except OpenError as error:
        fail(f"--{error}" if error.option else str(error))


def query(arguments: Namespace, only: str = "") -> "FilterQuery":
    """The query `--filter` means, within `only`; without any, it matches everything."""
    from delegtop.model.query import QueryError, parse

    try:
        return parse(f"{only} {arguments.filter or ''}".strip())
    except QueryError as error:
        fail(f"--filter: {error}")


def check_format(name: str | None) -> None:
    """A usage error if there is no such format; no format is imported to find out."""
    if name is None:
        return
    from delegtop.dialects import names

    if name in names():
        return
    fail(f"--format {name}: no such format; {advice(name, names(), 'there are ' + ', '.join(names()))}")
