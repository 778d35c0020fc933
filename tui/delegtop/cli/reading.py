"""The sources that the arguments mean, opened and read: what the commands have in common."""

import gc
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.clock import clock_at
from delegtop.base.hub_address import HubAddress
from delegtop.base.ssh_command import SCHEME
from delegtop.cli import diagnostics, options
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
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
def followed(arguments: Namespace, settings: "Settings", *, waits: bool = True) -> "Iterator[Observation]":
    """The sources as they grow: read to the end once, and then whatever comes; with `waits` also those that come."""
    options.check_format(arguments.format)
    found = settle(arguments, settings, waits=waits)

    from delegtop.observation import observation

    with observation.opened(found, settings, format=arguments.format) as seen:
        gc.disable()  # what is there now stays
        with Progress("reading") as progress:
            seen.catch_up(lambda: progress.update(seen.feed.progress))
        gc.freeze()
        gc.enable()
        complain(seen.sources, seen.statuses)
        yield seen


def all_there(named: Sequence[str]) -> bool:
    """Whether there is something at each name that is given: whoever mistypes is told so before any work is done, and
    nothing is made of it."""
    from delegtop.observation.unread_sources import absent, unmatched

    patterns, gone = unmatched(named), absent(named)
    for each in patterns:
        diagnostics.say(f"{each}: no file matches")
    for each in gone:
        diagnostics.say(f"{each}: not found")
    return not (patterns or gone)


def complain(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> bool:
    """Say which sources could not be read; True if there was one."""
    found = complaints(named, statuses)
    for each in found:
        diagnostics.say(each)
    return bool(found)


def complaints(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> list[str]:
    """Which sources could not be read, a sentence each."""
    from delegtop.observation.unread_sources import unmatched, unread
    from delegtop.report import health

    failed = unread(named, statuses)
    closed = [source for source in failed if health.unread(source)]
    more = len(closed) - _TOLD
    return [
        *(f"{pattern}: no file matches" for pattern in unmatched(named)),
        *(health.unread_words(source) for source in closed[:_TOLD]),
        *([f"{more} more cannot be read: delegtop sources lists them"] if more > 0 else ()),
        *(f"{_shown(source.path)}: {source.detail or source.status}" for source in failed if source not in closed),
    ]


def _shown(source: str) -> str:
    """A host is called by its name."""
    return source.removeprefix(SCHEME).removeprefix("nats://")


def code_at_end(seen: "Observation", said: Collection[str], code: int) -> int:
    """The exit code of who has watched for a while, when it would be this one if all could be read: a source that was
    named may come later, and one that cannot be read to the end counts. What was `said` before is not said again."""
    found = complaints(seen.sources, seen.statuses) if seen.places.named else []
    for each in found:
        if each not in said:
            diagnostics.say(each)
    return Exit.UNREADABLE if found else code
