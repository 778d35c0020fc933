"""Logs of sessions at work that nobody may open, or whose folder nobody may look into.

That nothing is heard of an agent means little then. So it is noted on those of whom such a log could tell, and
withdrawn once it can be read.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator

from delegtop.base.clock import Clock
from delegtop.base.origin import kernel
from delegtop.base.text import line
from delegtop.feed.open_sessions import SessionFacts
from delegtop.feed.recent_window import session_of
from delegtop.model.events import Event, Noted
from delegtop.model.notes import UNREAD

_LONGEST = 300
"""Characters of a path."""


class UnreadLogs:
    """Of one feed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, str] = {}

    def tell(self, closed: Collection[str], sessions: Callable[[], Iterable[SessionFacts]]) -> Iterator[Event]:
        """What is new of it: `closed` are the files and folders that cannot be read now."""
        if not closed and not self._told:
            return
        found = {id: path for session in sessions() if (path := _of(session, closed)) for id in _ids(session)}
        for id in found | self._told:
            if (path := found.get(id, "")) != self._told.get(id, ""):
                yield Noted(id, self._clock.now(), kernel(), UNREAD, line(path, _LONGEST))
        self._told = found


def _ids(session: SessionFacts) -> list[str]:
    return [session.id, *(member for member, _ in session.members)]


def _of(session: SessionFacts, closed: Collection[str]) -> str:
    """What of a session cannot be read; empty if nothing is known of that."""
    beside, known = os.path.join(os.path.dirname(session.log), ""), {session_of(session.log), *_ids(session)}  # noqa: PTH118, PTH120 - strings
    for path in closed:
        named = session_of(path)
        if named in known if named is not None else path.startswith(beside):
            return path
    return ""
