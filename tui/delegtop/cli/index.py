"""`delegtop index show|clear`: what is kept of finished sessions, so that they are not read again."""

from argparse import ArgumentParser, Namespace

from delegtop.cli import options, output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "What sessions told that have been quiet for an hour is kept in the cache folder, so that tree, stats, report and "
    "diff need not read their logs again (docs/privacy.md). show: how much, and where. clear: delete it."
)
PAGE = "docs/privacy.md"
EXAMPLES = {
    "delegtop index show": "how many sessions are kept, and where",
    "delegtop index clear": "delete all of it; the next look reads every log",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=("show", "clear"), metavar="show|clear", help="what to do")
    options.add(parser, "config")


def run(arguments: Namespace) -> int:
    from delegtop.feed.index_file import place, remove

    if arguments.what == "show":
        output.emit([_summary(arguments)])
        return Exit.OK
    try:
        there = remove(place())
    except OSError as error:
        fail(f"{place()}: {error.strerror}")
    output.emit(["deleted" if there else "there is none"])
    return Exit.OK


def _summary(arguments: Namespace) -> str:
    from delegtop.base import text
    from delegtop.feed.index_file import IndexFile, place
    from delegtop.feed.session_index import context

    if not options.load(arguments).settings.index:
        return "off: index = false in the settings"
    found = IndexFile(place(), context()).summary()
    if found is None:
        return f"{text.line(str(place()))}: nothing is kept"
    old = found.sessions - found.current
    others = f", {old:,} by another version" if old else ""
    return f"{text.line(str(place()))}: {found.sessions:,} sessions and logs{others}, {found.size / 1e6:,.1f} MB"
