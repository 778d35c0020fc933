"""`delegtop index show|update|clear`: what is kept of finished sessions, so that they are not read again."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from delegtop.base.paths import index_place
from delegtop.base.system_errors import reason_of
from delegtop.cli import options, output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTION = (
    "What sessions told that have been quiet for an hour is kept in the cache folder, so that the dashboard, tree, "
    "stats, report, diff and learn need not read their logs again, and so that find finds it (docs/privacy.md). show: "
    "how much, and where. update: read what is not kept yet. clear: delete it."
)
PAGE = "docs/privacy.md"
EXAMPLES = {
    "delegtop index show": "how many sessions are kept, and where",
    "delegtop index update --quiet": "read what is new, for a timer",
    "delegtop index clear": "delete all of it; the next look reads every log",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=("show", "update", "clear"), metavar="show|update|clear", help="what to do")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    options.add(parser, "config")


def run(arguments: Namespace) -> int:
    from delegtop.base.private_database import remove
    from delegtop.search import search_file

    if arguments.what == "update":
        return _update(arguments)
    if arguments.what == "show":
        output.emit(_summary(arguments))
        return Exit.OK
    there, wrong = False, list[str]()
    for place in (index_place(), search_file.place()):
        try:
            there |= remove(place)
        except OSError as error:  # the other one goes all the same
            wrong.append(f"{place}: {reason_of(error)}")
    if wrong:
        fail("; ".join(wrong))
    output.emit(["deleted" if there else "there is none"])
    return Exit.OK


def _update(arguments: Namespace) -> int:
    from delegtop.observation.source_discovery import everywhere
    from delegtop.search.reading_on import read_on
    from delegtop.search.search_file import NoFullTextError, SearchFile, check_full_text, place

    settings = options.load(arguments).settings
    if not settings.index:
        fail("index = false in the settings, so nothing is kept")
    try:
        check_full_text()
    except NoFullTextError as error:
        fail(str(error))
    file = SearchFile()
    with Progress("reading") as progress:
        done = read_on(everywhere(settings)._replace(since=None), settings, file, progress.update)
    if done.refused or (done.read and not done.kept and not file.write(())):
        fail(
            f"{place()}: {file.refusal}: {done.refused or done.read:,} sessions and logs could not be written down, so "
            "they are read again each time; make room there, or delete that file if it is not delegtop's"
        )
    if not arguments.quiet:
        others = "; the others go on, were written to within the hour, or may not be kept"
        told = f"{done.read:,} sessions and logs were read, and {done.kept:,} of them are kept"
        output.emit([told + (others if done.read > done.kept else "")])
    return Exit.OK


def _summary(arguments: Namespace) -> "Iterator[str]":
    from delegtop.base import text
    from delegtop.feed.index_file import IndexFile
    from delegtop.feed.session_index import context
    from delegtop.search.search_file import SearchFile
    from delegtop.search.search_file import place as search_place

    if not options.load(arguments).settings.index:
        yield "off: index = false in the settings"
        return
    found = IndexFile(index_place(), context()).summary()
    if found is None:
        yield f"{text.line(str(index_place()))}: nothing is kept"
    else:
        old = found.sessions - found.current
        others = f", {old:,} by another version" if old else ""
        size = f"{found.size / 1e6:,.1f} MB"
        yield f"{text.line(str(index_place()))}: {found.sessions:,} sessions and logs{others}, {size}"
    searched = SearchFile().summary()
    if searched is not None:
        told = f"{searched.delegations:,} delegations of {searched.units:,} sessions and logs to be found"
        others = "" if searched.is_current else ", by another version"
        yield f"{text.line(str(search_place()))}: {told}{others}, {searched.size / 1e6:,.1f} MB"
