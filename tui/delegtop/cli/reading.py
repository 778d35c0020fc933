"""The sources that the arguments mean, opened and read: what the commands have in common."""

import gc
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.clock import clock_at
from delegtop.base.hub_address import HubAddress
from delegtop.base.ssh_command import SCHEME
from delegtop.cli import diagnostics, options
from delegtop.cli.diagnostics import fail
from delegtop.cli.progress import Progress

if TYPE_CHECKING:
    from delegtop.base.ssh_command import SshAddress
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.feed.line_reading import Witness
    from delegtop.model.call_durations import CallCounts
    from delegtop.observation.observation import Heed, Observation
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Settings


_TOLD = 5
"""Places that cannot be read of which each is told of."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="a file, a folder, a glob, ssh://HOST, nats://HUB, or - for standard input; else what is found",
    )
    options.add(parser, "since", "here", "all", "hosts")


def places(arguments: Namespace, settings: "Settings", start: Path | None = None) -> "Places":
    """The sources that are named, else those that are found here (or at `start`) and in the known places."""
    from delegtop.observation import source_discovery

    given = vars(arguments)
    here, everything, sources = given.get("here", False), given.get("all"), given["sources"]
    if here and everything:
        fail("--here and --all contradict each other")
    since = "all" if everything and not sources else arguments.since
    with options.refusals():
        found = source_discovery.places(
            sources, settings, since=since, here=here, start=start, hosts=given.get("hosts", False)
        )
    check_hubs(found.hosts)
    return found


def check_hubs(hosts: "Sequence[SshAddress | HubAddress]") -> None:
    """A usage error if a hub is among them and what speaks to it is not installed."""
    if any(isinstance(each, HubAddress) for each in hosts):
        from delegtop.cli import hub_extra  # as few need it as look at a hub

        hub_extra.check()


def settle(arguments: Namespace, settings: "Settings", *, waits: bool = False) -> "Places":
    """The same, and it is said if there is nothing; with `waits`, that those which come later are taken too."""
    from delegtop.cli import suggestions

    found = places(arguments, settings)
    if not found.sources and not found.hosts:
        diagnostics.say(suggestions.NOTHING_YET if waits else suggestions.NOTHING_FOUND)
    return found


def read(arguments: Namespace, settings: "Settings", *, indexed: bool = True) -> "Observation":
    """Everything there is, as it is at `--at` or now."""
    with opened(arguments, settings, indexed=indexed) as seen:
        return seen


@contextmanager
def opened(
    arguments: Namespace,
    settings: "Settings",
    heed: "Heed | None" = None,
    witness: "Witness | None" = None,
    *,
    calls: "CallCounts | None" = None,
    indexed: bool = True,
) -> "Iterator[Observation]":
    """The same with the sources still open, so that a line can be read again; `heed` is told the events as they come,
    `witness` every line as well, `calls` how long calls took. Without `indexed` all of it is read, whatever is known
    from earlier runs."""
    options.check_format(arguments.format)
    at = options.moment(arguments, settings)
    found = settle(arguments, settings)

    from delegtop.observation import observation

    gc.disable()  # what is read stays until the end
    clock, format, patience = clock_at(at), arguments.format, getattr(arguments, "patience", None)
    with observation.opened(
        found.as_is(),
        settings,
        clock,
        format=format,
        heed=heed,
        calls=calls,
        witness=witness,
        patience=patience,
        indexed=indexed,
    ) as seen:
        with Progress("reading") as progress:
            seen.read(lambda: progress.update(seen.feed.progress))
        yield seen


@contextmanager
def followed(arguments: Namespace, settings: "Settings") -> "Iterator[Observation]":
    """The sources as they grow: read to the end once, and then whatever comes."""
    options.check_format(arguments.format)
    found = settle(arguments, settings, waits=getattr(arguments, "appear", True))

    from delegtop.observation import observation

    with observation.opened(found, settings, format=arguments.format) as seen:
        gc.disable()  # what is there now stays
        with Progress("reading") as progress:
            seen.catch_up(lambda: progress.update(seen.feed.progress))
        gc.freeze()
        gc.enable()
        complain(seen.sources, seen.statuses)
        yield seen


def complain(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> bool:
    """Say which sources could not be read; True if there was one."""
    from delegtop.observation.unread_sources import unmatched, unread
    from delegtop.report import health

    failed, patterns = unread(named, statuses), unmatched(named)
    for pattern in patterns:
        diagnostics.say(f"{pattern}: no file matches")
    closed = [source for source in failed if health.unread(source)]
    for source in closed[:_TOLD]:
        diagnostics.say(health.unread_words(source))
    if len(closed) > _TOLD:
        diagnostics.say(f"{len(closed) - _TOLD} more cannot be read: delegtop sources lists them")
    for source in failed:
        if source not in closed:
            shown = source.path.removeprefix(SCHEME).removeprefix("nats://")
            diagnostics.say(f"{shown}: {source.detail or source.status}")
    return bool(failed or patterns)
