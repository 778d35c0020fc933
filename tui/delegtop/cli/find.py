"""`delegtop find WORDS`: everything this machine's agents ever did, by words."""

import shutil
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from delegtop.cli import diagnostics, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.progress import Progress

if TYPE_CHECKING:
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Settings

DESCRIPTION = (
    "Look for words in everything this machine's agents ever did: agent, title, prompt, error, answer, files touched; "
    "with when it was, how it ended, and what opens it (docs/find.md). What was not read yet is read first, and kept "
    "masked in the cache folder, so that the next time it is found at once."
)
PAGE = "docs/find.md"
EXAMPLES = {
    "delegtop find migration orders": "all words, in any order; the newest first",
    "delegtop find '\"unknown identifier\" state:failed' --since 90d": "a phrase, in what failed",
    "delegtop find 'file:session_index* agent:impl*' --json": "who touched a file, for scripts",
}
LIMIT = 20
_MOST = 10_000


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="WORDS",
        help='words, "a phrase", begin*, !without, one|other, error:word, agent:impl*',
    )
    parser.add_argument("--agent", metavar="NAME", help="only of agents that are called so; * stands for any text")
    parser.add_argument("--limit", type=_limit, default=LIMIT, metavar="N", help=f"at most so many; default {LIMIT}")
    parser.add_argument("--best", action="store_true", help="those first that say most of the words, not the newest")
    parser.add_argument(
        "--in", dest="sources", action="append", metavar="SOURCE", help="only in this file or folder, which is read"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/find.md)")
    options.add(parser, "since", "here", "hosts", "no_index", "config")


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST:
        raise ArgumentTypeError(f"{text} is no number from 1 to {_MOST:,}")
    return int(text)


def run(arguments: Namespace) -> int:
    from delegtop.search.search_file import NoFullTextError, SearchFile, check_full_text
    from delegtop.search.search_query import SearchError, understood

    settings = options.load(arguments).settings
    text = " ".join(arguments.words)
    agent = (arguments.agent or "").replace('"', " ").strip()
    try:
        check_full_text()
        query = understood(f'{text} agent:"{agent}"' if agent else text)
    except (SearchError, NoFullTextError) as error:
        fail(str(error))
    places = _places(arguments, settings)

    from delegtop.report import found_sessions
    from delegtop.search.finding_words import find

    file = SearchFile() if settings.index and not arguments.sources else None
    query = query._replace(
        limit=arguments.limit, since=places.since, below=_here() if arguments.here else None, best=arguments.best
    )
    with Progress("reading") as progress:
        found, unread = find(text, query, places, settings, file, progress.update)
    is_unreadable = bool(arguments.sources) and reading.complain(places.sources, unread)
    if arguments.json:
        output.emit(found_sessions.as_json(found))
    elif found.found:
        from pathlib import Path

        width = shutil.get_terminal_size().columns if output.is_terminal() else None
        output.emit(found_sessions.lines(found, width, None, str(Path.home())))
    elif not is_unreadable:  # who mistypes where to look is told so, and not that nothing was found there
        from delegtop.report.figures import count

        searched = count(found.searched, "delegation")
        diagnostics.say(
            f"nothing of {searched}{_narrowed(arguments)}; words are whole words, and begin* finds beginnings"
        )
    if is_unreadable:
        return Exit.UNREADABLE
    return Exit.OK if found.found else Exit.FINDINGS


def _narrowed(arguments: Namespace) -> str:
    """By which options not all of them could be found."""
    given = (f"--{name} {value}" for name in ("since", "agent") if (value := getattr(arguments, name)))
    told = " ".join((*given, *(["--here"] if arguments.here else [])))
    return f" with {told}" if told else ""


def _here() -> str:
    from pathlib import Path

    from delegtop.base.text import as_utf8

    return as_utf8(str(Path.cwd()))  # as folders are kept


def _places(arguments: Namespace, settings: "Settings") -> "Places":
    """All there is, however old and wherever one stands, unless something else is said."""
    wanted = Namespace(sources=arguments.sources or [], since=arguments.since or "all", hosts=arguments.hosts)
    found = reading.places(wanted, settings)
    if arguments.sources:
        return found

    from delegtop.observation.source_discovery import everywhere

    return everywhere(settings)._replace(since=found.since, hosts=found.hosts)
