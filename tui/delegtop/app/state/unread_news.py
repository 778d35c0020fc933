"""Who looks at a dashboard is told once of each place that cannot be read: what is missing shows nowhere else."""

from collections.abc import Sequence

from delegtop.base.text import line
from delegtop.feed.followed_file import SourceStatus
from delegtop.report.health import unread, unread_words

_LONGEST = 400


class UnreadNews:
    """Asked about once a second."""

    def __init__(self) -> None:
        self._seen: Sequence[SourceStatus] = ()
        self._told: frozenset[str] = frozenset()

    def look(self, statuses: Sequence[SourceStatus]) -> str:
        """What is to be said now; empty if that is nothing. What can be read again may be told of once more."""
        if statuses is self._seen:
            return ""
        self._seen = statuses
        closed = [status for status in statuses if unread(status)]
        new = [status for status in closed if status.path not in self._told]
        self._told = frozenset(status.path for status in closed)
        if not new:
            return ""
        more = f" ({len(new) - 1} more cannot be read, too)" if len(new) > 1 else ""
        return line(f"{unread_words(new[0])}{more}.", _LONGEST)
