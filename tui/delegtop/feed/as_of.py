"""What is known at a frozen moment: nothing that happened later, and nothing about those who were not there yet."""

from collections.abc import Iterator

from msgspec.structs import replace

from delegtop.base.clock import FrozenClock, Millis
from delegtop.model.events import Deviation, Event, HostBeat, HostMet, Surveyed


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
        self._known: set[tuple[str, str]] = set()
        """The hosts and ids of those of whom something is known by then, and of whom there is something later."""
        self._later: set[tuple[str, str]] = set()
        self._held: dict[tuple[str, str], list[Event]] = {}
        self._surveys: list[Surveyed] = []

    def let(self, event: Event) -> tuple[Event, ...] | None:
        """What may be told now; None if the event is later."""
        if isinstance(event, Deviation):
            return (event,)
        if isinstance(event, Surveyed):
            self._surveys.append(event)
            return ()
        is_later = after(event, self._clock.now())
        if isinstance(event, (HostMet, HostBeat)):
            return None if is_later else (event,)
        about = event.origin.host, event.id
        if is_later:
            self._later.add(about)
            return None
        if event.at is None and about not in self._known:
            self._held.setdefault(about, []).append(event)
            return ()
        self._known.add(about)
        return (*self._held.pop(about, ()), event)

    def settle(self) -> Iterator[Event]:
        """Once all is read: what waited and is about nobody who came later."""
        later = self._later - self._known
        for about in [about for about in self._held if about not in later]:
            yield from self._held.pop(about)
        surveys, self._surveys = self._surveys, []
        for survey in surveys:
            host = survey.origin.host
            yield replace(survey, ids=tuple(id for id in survey.ids if (host, id) not in later))
