"""What was read and is kept nowhere, beside what is kept: both are looked through in one way, whoever asks."""

from collections.abc import Collection, Sequence
from sqlite3 import Connection

from msgspec import Struct

from delegtop.search.search_file import Hit, SearchFile, look
from delegtop.search.search_query import SearchQuery


class ReadCount(Struct, frozen=True, tag="count"):
    """What a process that reads on says first: so many sessions and logs are not read yet."""

    units: int


class ReadWords(Struct, frozen=True, tag="words"):
    """What it says in the end."""

    passing: bytes
    """A database of what is kept nowhere: of what is at work, or was written to a moment ago."""
    stale: frozenset[int]
    """The units it is of: what is kept of them is of before."""
    closed: int
    """How many sources cannot be read."""


def hits(
    query: SearchQuery,
    file: SearchFile | None,
    passing: Connection | None,
    stale: Collection[int],
    patience: float | None = None,
) -> Sequence[Hit] | None:
    """What has the words, each delegation once; None if the file cannot be asked, or that takes too long."""
    kept = [] if file is None else file.find(query, stale, patience)
    if kept is None:
        return None
    # What was just read goes before what is kept of the same.
    found = [*(look(passing, query, patience=patience) if passing is not None else ()), *kept]
    found.sort(key=lambda hit: (hit.score, hit.at is None, -(hit.at or 0), hit.id, hit.host))
    return list({hit.id: hit for hit in reversed(found)}.values())[::-1]
