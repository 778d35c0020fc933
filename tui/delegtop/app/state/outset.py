"""What is known of what will be seen before any of it is opened: as much as a first picture needs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import Clock, FrozenClock

if TYPE_CHECKING:
    from delegtop.observation.observation import Observation
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Settings


class Outset(NamedTuple):
    """Where a dashboard begins."""

    settings: "Settings"
    clock: Clock
    places: "Places"
    open: "Callable[[], Observation]"

    @classmethod
    def of(cls, observation: "Observation") -> "Outset":
        """Of what is open already."""
        return cls(observation.settings, observation.clock, observation.places, lambda: observation)

    @property
    def is_watching(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.places.sources or self.places.hosts)

    @property
    def is_frozen(self) -> bool:
        """Whether one moment is looked at, for which time does not go on."""
        return isinstance(self.clock, FrozenClock)
