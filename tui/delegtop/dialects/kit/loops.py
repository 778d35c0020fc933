"""The same call again and again: an agent that does this looks alive and gets nowhere.

A heartbeat that repeats itself is no repeated call: it says that one call is still going on.
"""

import re
from collections.abc import Sequence

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.text import cut
from delegtop.model.events import Noted
from delegtop.model.notes import LOOP

ENOUGH = 5
"""So many calls in a row, with nothing else in between, are called a loop."""
PATIENT = 100
"""The same for a call that waits for something: it is made again and again by its nature."""
_SHOWN = 120
_SLEEPS = re.compile(r"\bsleep \d")


def words_of(given: object) -> str:
    """All that a call was given, to tell whether two are the same."""
    try:
        return given if isinstance(given, str) else repr(given)
    except RecursionError:
        return ""


class Repeats:
    """How often the last call of one delegation was made in a row, in the order of its records."""

    __slots__ = ("_count", "_key", "_last", "_noted")

    def __init__(self) -> None:
        self._key: int | None = None
        self._count = 0
        self._last = ""
        self._noted = False

    def is_new(self, call: str) -> bool:
        """Whether a call is a later one than all before; for logs that tell of one call several times, and whose ids
        grow."""
        if call <= self._last:
            return False
        self._last = call
        return True

    def is_other(self, tool: str, given: str | bytes) -> bool:
        """Count a call; True if it is another than the one before and there is nothing to tell, as of nearly all."""
        key = hash((tool, given))
        if key == self._key or self._noted:
            return False
        self._key, self._count = key, 1
        return True

    def called(
        self,
        id: str,
        at: Millis | None,
        origin: Origin,
        tool: str,
        given: str | bytes,
        what: str | None,
        *,
        waits: bool,
    ) -> Sequence[Noted]:
        """A tool was called with that input; `what` says it in words."""
        if self.is_other(tool, given):
            return ()
        key = hash((tool, given))
        if key != self._key:
            noted = self.over(id, at, origin)
            self._key, self._count = key, 1
            return noted
        self._count += 1
        if self._count < ENOUGH:
            return ()
        waits = waits or (what is not None and _SLEEPS.search(what) is not None)
        if waits and self._count < PATIENT:
            return ()
        self._noted = True
        words = ": ".join(filter(None, (tool, what and cut(what, _SHOWN))))
        return (Noted(id, at, origin, LOOP, f"the same call {self._count} times in a row, {words}"),)

    def over(self, id: str, at: Millis | None, origin: Origin) -> Sequence[Noted]:
        """Something else is done."""
        self._key, self._count = None, 0
        if not self._noted:
            return ()
        self._noted = False
        return (Noted(id, at, origin, LOOP, ""),)
