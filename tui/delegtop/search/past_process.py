"""A process that reads for a dashboard what cannot be found yet: `python -P -m delegtop.search.past_process`.

What may be kept is in the file then; all else it tells on standard output, in the form in which it is looked through,
so that nobody who types waits for that. It may end at any time.
"""

import os
import sys
from itertools import chain

from delegtop import settings
from delegtop.feed.process_messages import send
from delegtop.observation.source_discovery import everywhere
from delegtop.search.passing_words import ReadCount, ReadWords
from delegtop.search.reading_on import read_on
from delegtop.search.search_file import NoFullTextError, SearchFile, check_full_text, in_memory

_LAST = 19
"""Nice: whatever else wants to run comes first."""


def main() -> None:
    os.nice(_LAST)
    stream = sys.stdout.buffer
    try:
        check_full_text()
        loaded = settings.load().settings
        places = everywhere(loaded)._replace(since=None)
        found = read_on(places, loaded, SearchFile(), count=lambda units: send(stream, ReadCount(units)))
        with in_memory(chain.from_iterable(found.passing.values())) as database:
            send(stream, ReadWords(database.serialize(), frozenset(found.stale), len(found.unread)))
    except (NoFullTextError, settings.ConfigError, BrokenPipeError):
        return  # whoever asked finds what was kept before, or is gone


if __name__ == "__main__":
    main()
