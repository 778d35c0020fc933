"""Follows the sources for a page, and gathers it while somebody looks.

All that knows the delegations happens in one thread, that of `run`. The server, in another, takes the picture that was
gathered last, and asks for what has to be gathered anew.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Event, Lock
from typing import TypeVar

from delegtop.base.clock import monotonic
from delegtop.model.query import FilterQuery
from delegtop.observation.observation import PACE, Observation
from delegtop.report.health import Health
from delegtop.report.live_page.page_gather import PageGathering, PagePicture

ALONE = 10.0
"""Seconds between two looks while nobody looks at the page: the logs grow, and what the kernel shows is of use only if
it was asked before."""
_PACE = 1.0
"""Seconds between two looks when nothing stirs: deadlines pass by themselves."""
_STILL_THERE = 30.0
"""Seconds for which somebody is held to be there who asked for the page and keeps no stream open."""
_FRESH = 0.5
"""A picture is good for so many seconds."""
_HEALTH = 5.0
"""Seconds between two looks at how well the sources are read."""

Answer = TypeVar("Answer")
Changed = Callable[[], None]


class PageWatch:
    """The observation behind the page. `ask`, `enter`, `leave` and `picture` are for other threads."""

    def __init__(self, seen: Observation, query: FilterQuery | None = None) -> None:
        self._seen = seen
        self._gathering = PageGathering(seen.assessments, query)
        self.on_change: Changed = lambda: None
        """Called when there is another picture."""
        self.looked_at = monotonic()
        """When the sources were last looked at."""
        self._gathered_at = float("-inf")
        self._sources: Sequence[Health] = ()
        self._sources_at = float("-inf")
        self._unseen: tuple[set[int], set[int]] = (set(), set(range(len(seen.forest))))
        """What changed since the last gathering: who is assessed otherwise, and who lives otherwise."""
        self._stirred = True
        self._questions: deque[Callable[[], None]] = deque()
        self._rung, self._lock = Event(), Lock()
        self._visitors, self._visited_at = 0, float("-inf")
        self._ended = False

    # -- for the server ----------------------------------------------------------------------------------------------

    @property
    def picture(self) -> PagePicture:
        """The page as it was last gathered."""
        return self._gathering.picture

    def enter(self) -> None:
        """Somebody keeps looking."""
        with self._lock:
            self._visitors += 1
        self._ring()

    def leave(self) -> None:
        with self._lock:
            self._visitors -= 1
            self._visited_at = monotonic()

    def ask(self, question: Callable[["PageWatch"], Answer]) -> "Future[Answer]":
        """Have this done where the delegations are known."""
        future: Future[Answer] = Future()

        def answer() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(question(self))
            except Exception as error:  # noqa: BLE001 -- it is told to whoever asked
                future.set_exception(error)

        self._visited_at = monotonic()
        self._questions.append(answer)
        self._ring()
        return future

    def end(self) -> None:
        self._ended = True
        self._ring()

    def _ring(self) -> None:
        self._rung.set()
        self._seen.feed.wake()

    # -- in its own thread -------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Follow and gather until the end."""
        while not self._ended:
            self.step()
            if self._questions or self._ended:
                continue
            if self.is_watched:
                self._seen.wait(_PACE, self._rung.wait)
            else:
                self._rung.wait(ALONE)
            self._rung.clear()

    @property
    def is_watched(self) -> bool:
        return self._visitors > 0 or monotonic() - self._visited_at < _STILL_THERE

    def step(self) -> None:
        """Look unless that was just done, gather if somebody looks, and answer: nobody who asks waits for a look."""
        if monotonic() - self.looked_at >= PACE:
            self._look()
        if self.is_watched:
            self._gather()
        while self._questions:
            self._questions.popleft()()

    def fresh(self) -> PagePicture:
        """The page as it is now, for whoever opens it."""
        if monotonic() - self._gathered_at > _FRESH:
            self._look()
            self._gather()
        return self.picture

    def details(self, handle: int) -> list[str] | None:
        """All that is known of one delegation; None if none of that number is shown."""
        if not self._gathering.shows(handle):
            return None
        return list(self._gathering.details(handle, self._seen.feed.raw))

    def _look(self) -> None:
        changes = self._seen.look()
        self._unseen[0].update(changes.assessed)
        self._unseen[1].update(changes.lives)
        self._stirred = self._stirred or bool(changes)
        self.looked_at = monotonic()

    def _gather(self) -> None:
        """Gather, unless nothing can be another."""
        self._gathered_at = monotonic()
        if self._gathered_at - self._sources_at > _HEALTH:
            self._sources, self._sources_at = self._seen.statuses, self._gathered_at
        elif not self._stirred and not self._gathering.is_behind:
            return
        (assessed, lives), self._unseen, self._stirred = self._unseen, (set(), set()), False
        if self._gathering.update(assessed, lives, self._sources, self._seen.hosts):
            self.on_change()
