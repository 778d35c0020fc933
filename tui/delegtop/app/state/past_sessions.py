"""What is known of everything that ever was.

It is asked from threads, and brought up to date by a process of its own, when somebody first wants it.
"""

import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from delegtop.app.state import background_command
from delegtop.base.clock import Millis, monotonic
from delegtop.model.delegation import Delegation

if TYPE_CHECKING:
    from delegtop.report.found_sessions import FoundSession
    from delegtop.search.seen_before import SeenBefore

_AGAIN = 600.0
"""Seconds until what is new is read again, if it is wanted again."""
_PATIENCE = 2.0
"""Seconds that a search may take while somebody types."""
SHOWN = 200


class PastSessions:
    """One for the dashboard. With `updates` it lets what is new be read; else it knows what was kept before."""

    def __init__(self, *, kept: bool = False, updates: bool = False) -> None:
        self.is_kept = kept
        """Whether anything may be kept at all."""
        self._updates = kept and updates
        self._process: subprocess.Popen[bytes] | None = None
        self._again_at = float("-inf")
        self.version = 0
        """Another one once more is known."""
        self._told: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    @property
    def is_any(self) -> bool:
        """Whether there may be something to find."""
        from delegtop.base.paths import is_there
        from delegtop.search.search_file import place  # as below

        return self._updates or (self.is_kept and is_there(place()))

    @property
    def is_reading(self) -> bool:
        """Whether what is new is being read."""
        if self._process is not None and self._process.poll() is not None:
            self._process = None
            self.version += 1
        return self._process is not None

    def is_new_to(self, screen: object) -> bool:
        """Whether more is known than when the same one asked before."""
        is_new = not self.is_reading and self._told.get(screen, 0) != self.version
        if is_new:
            self._told[screen] = self.version
        return is_new

    def want(self) -> None:
        """Somebody looks: let what is new be read, if that was not done lately."""
        if self._updates and not self.is_reading and monotonic() >= self._again_at:
            self._again_at = monotonic() + _AGAIN
            self._process = background_command.start("index", "update", "--quiet")

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    # What any thread may ask; what is imported for it nobody else waits for.

    def seen_before(self, facts: Delegation, now: Millis) -> "SeenBefore | None":
        """When this happened before; None if nothing can be said."""
        if not self.is_kept:
            return None
        from delegtop.search.search_file import SearchFile
        from delegtop.search.seen_before import seen_before

        return seen_before(SearchFile(), facts, now)

    def find(self, text: str) -> "Sequence[FoundSession]":
        """What has these words; SearchError if they are none."""
        from delegtop.search.finding_words import told
        from delegtop.search.search_file import SearchFile
        from delegtop.search.search_query import SearchError, understood

        query = understood(text, typing=True)._replace(limit=SHOWN)
        hits = SearchFile().find(query, patience=_PATIENCE)
        if hits is None:
            raise SearchError("that took too long: type more of it")
        return [told(hit, query.marks) for hit in hits]
