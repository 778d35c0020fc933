"""What was found, as people and programs are told: where the words stand, and what opens it."""

import glob
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from delegtop.base.clock import SECOND, WallClock, iso
from delegtop.base.paths import is_there
from delegtop.base.text import brief, first_line
from delegtop.diagnosis.session_commands import session_command
from delegtop.dialects.products import product
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.recent_window import session_of
from delegtop.model.delegation import Delegation
from delegtop.model.states import ACTIVE
from delegtop.observation.source_discovery import Places
from delegtop.report.found_sessions import SCHEMA_VERSION, Field, FoundSession, FoundSessions, Match
from delegtop.search.passing_words import hits
from delegtop.search.reading_on import Update, read_on, silent
from delegtop.search.search_file import Hit, SearchFile, in_memory, look
from delegtop.search.search_query import SearchQuery
from delegtop.settings import Settings

FIELDS: tuple[Field, ...] = ("title", "error", "files", "prompt", "answer", "agent")
"""Where words are looked for, the most telling first."""
_AROUND = 60
"""Characters before and after the words that are shown with them."""
_TITLE = 160
_MATCHES = 3


class Search(NamedTuple):
    """What came of it."""

    sessions: FoundSessions
    unread: Sequence[SourceStatus]
    """The sources that should have been read and could not be."""


def find(
    text: str, query: SearchQuery, places: Places, settings: Settings, file: SearchFile | None, update: Update = silent
) -> Search:
    """Read what is not in the file, and look in both, for one more than is wanted, to know whether there are more. If
    the file turns out to be damaged, all is read."""
    more = query._replace(limit=query.limit + 1)
    read = read_on(places, settings, file, update)
    passing = [*chain.from_iterable(read.passing.values())]
    with in_memory(passing) as database:
        once = hits(more, file, database, read.stale)
    if once is None:
        file, read = None, read_on(places, settings, None, update)
        passing = [*chain.from_iterable(read.passing.values())]
        with in_memory(passing) as database:
            once = look(database, more)
    since = query.since
    ids = {each.id for each in passing if since is None or (each.heard is not None and each.heard >= since)}
    kept_count = file.count(since, read.stale, ids) if file is not None else 0
    sessions = FoundSessions(
        SCHEMA_VERSION,
        iso(WallClock().now()),
        text,
        "relevance" if query.best else "newest",
        kept_count + len(ids),
        len(once) > query.limit,
        [told(hit, query.marks) for hit in once[: query.limit]],
    )
    return Search(sessions, read.unread)


def told(hit: Hit, marks: Sequence[str]) -> FoundSession:
    """One that was found, in words."""
    words = hit.words
    source = words.source if words.source and (hit.host or is_there(words.source)) else None
    can_resume = not hit.host and hit.state not in {state.value for state in ACTIVE} and (source or not words.source)
    return FoundSession(
        id=hit.id,
        session=words.session,
        started_at=None if hit.at is None else iso(hit.at),
        last_heard_at=None if hit.heard is None else iso(hit.heard),
        took_seconds=None if hit.took is None else hit.took / SECOND,
        state=hit.state,
        agent=hit.agent,
        product=hit.product or None,
        project=hit.folder or None,
        host=hit.host or None,
        title=brief(words.title or first_line(words.prompt), _TITLE) or None,
        matches=list(_matches(hit, marks))[:_MATCHES],
        source=source,
        replay=None if source is None or hit.host else replay_command(source, hit.id),
        resume=resume_command(hit) if can_resume else None,
    )


def replay_command(source: str, id: str) -> str:
    """What shows it again: all files of its session, or of a file with many sessions that one."""
    session = session_of(source)
    if session is not None:
        begins = glob.escape(source[: source.index(session) + len(session)])
        return f"delegtop replay {shlex.quote(begins + '*')}"
    return shlex.join(("delegtop", "replay", source, "--filter", f"id={id}"))


def resume_command(hit: Hit) -> str | None:
    """What its program calls to open the session again."""
    words, program = hit.words, product(hit.product or None)
    if program is None or not words.named:
        return None
    refs = tuple((name, words.named) for name in program.session_refs)
    return session_command(Delegation(id=words.named, product=hit.product, cwd=words.cwd or None, refs=refs))


def _matches(hit: Hit, marks: Sequence[str]) -> Iterator[Match]:
    """Where the words stand."""
    if not marks:
        return
    pattern = marked(marks)
    for field in FIELDS:
        text = hit.agent if field == "agent" else getattr(hit.words, field)
        if (found := pattern.search(text)) is not None:
            yield Match(field, _around(text, found.start(), found.end()))


def marked(marks: Sequence[str]) -> re.Pattern[str]:
    """Finds any of the words, at the beginning of a word."""
    either = "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))
    return re.compile(rf"(?<![^\W_])(?:{either})", re.IGNORECASE)


def _around(text: str, begin: int, end: int) -> str:
    first, last = max(begin - _AROUND, 0), end + _AROUND
    if first:
        first = text.find(" ", first, begin) + 1 or first
    return f"{'… ' if first else ''}{brief(text[first:last], 400)}{' …' if last < len(text) else ''}"
