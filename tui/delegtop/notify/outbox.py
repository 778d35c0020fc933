"""What waits to be told by one way: not too much a minute, nothing of what nobody was told, and what is held back is
counted and told with the next.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from delegtop.base.clock import monotonic
from delegtop.notify.notification import RESOLVED, SUMMARY, Notification, resolves

PER_MINUTE, WINDOW = 10, 60.0
"""So many are told in so many seconds, unless the user sets another number."""
WAITING = 100
"""So many wait; of more the oldest are dropped."""


class Taken(NamedTuple):
    notice: Notification
    more: int
    """How many before it were not told."""


class Outbox:
    """The notices of one way."""

    def __init__(self, per_minute: int = PER_MINUTE, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._waiting: deque[Notification] = deque()
        self._taken: deque[float] = deque(maxlen=per_minute)
        self._held_back = 0
        self._told: set[str] = set()
        """The ids of problems that were told and are not over."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, notices: Iterable[Notification]) -> None:
        for each in notices:
            if each.event != RESOLVED or self._is_worth_telling(each):
                self._waiting.append(each)
        while len(self._waiting) > WAITING:
            self._waiting.popleft()
            self._held_back += 1

    def _is_worth_telling(self, over: Notification) -> bool:
        """That something is over is told to whoever was told that it was so; what nobody heard of yet is dropped."""
        while (unheard := resolves(over, tuple(self._waiting))) is not None:
            self._waiting.remove(unheard)
            self._held_back += 1
        known = over.id in self._told
        self._told.discard(over.id)
        return known

    def take(self) -> Taken | None:
        """The next one, if there is one and it may be told now."""
        if not self._waiting or self.delay() > 0:
            return None
        self._taken.append(self._now())
        found = self._waiting.popleft()
        if found.is_problem:
            self._told.add(found.id)
        elif found.event == SUMMARY:
            self._told.update(found.open)
        more, self._held_back = self._held_back, 0
        return Taken(found, more)

    def failed(self, taken: Taken, _answer: object = None) -> None:
        """It did not arrive: it is counted, and nobody is told that it is over."""
        self._held_back += taken.more + 1
        self._told -= {taken.notice.id, *taken.notice.open}

    def delay(self) -> float:
        """Seconds until another one may be told."""
        if len(self._taken) < (self._taken.maxlen or 0):
            return 0.0
        return max(self._taken[0] + WINDOW - self._now(), 0.0)

    def clear(self) -> int:
        """Drop what waits; how many were not told, with those held back before."""
        dropped = len(self._waiting) + self._held_back
        self._waiting.clear()
        self._held_back = 0
        return dropped
