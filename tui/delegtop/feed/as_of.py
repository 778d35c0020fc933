"""What is known at a frozen moment: nothing that happened later, and nothing about those who were not there yet."""

from collections.abc import Iterator

from msgspec.structs import replace

from delegtop.base.clock import FrozenClock, Millis
from delegtop.model.events import Deviation, Event, Surveyed


def after(event: Event, moment: Millis) -> bool:
    """Whether it happened later. What has no time of its own did not."""
    if isinstance(event, (Surveyed, Deviation)):
        return False
    return event.at is not None and event.at > moment


class AsOf:
    """Lets events through as far as they were known at the moment.

    A word without a time, such as a title, waits until something with a time is known of the same delegation: it may
    be about one that starts later. A registry counts whenever it was written, for it is all there is, but not for
    those who started later.
    """

    def __init__(self, clock: FrozenClock) -> None:
        self._clock = clock
        self._known: set[str] = set()
        self._later: set[str] = set()
        self._held: dict[str, list[Event]] = {}
        self._surveys: list[Surveyed] = []

    def let(self, event: Event) -> tuple[Event, ...] | None:
        """What may be told now; None if the event is later."""
        if isinstance(event, Deviation):
            return (event,)
        if isinstance(event, Surveyed):
            self._surveys.append(event)
            return ()
        if after(event, self._clock.now()):
            self._later.add(event.id)
            return None
        if event.at is None and event.id not in self._known:
            self._held.setdefault(event.id, []).append(event)
            return ()
        self._known.add(event.id)
        return (*self._held.pop(event.id, ()), event)

    def settle(self) -> Iterator[Event]:
        """Once all is read: what waited and is about nobody who came later."""
        later = self._later - self._known
        for id in [id for id in self._held if id not in later]:
            yield from self._held.pop(id)
        surveys, self._surveys = self._surveys, []
        for survey in surveys:
            yield replace(survey, ids=tuple(id for id in survey.ids if id not in later))
