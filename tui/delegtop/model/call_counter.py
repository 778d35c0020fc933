"""What is asked of whoever counts how long calls took: a format tells it of every sign of life, also of those that it
leaves out."""

from collections.abc import Iterable
from typing import Protocol

from delegtop.base.clock import Millis
from delegtop.model.events import Event, Phase


class Doing(Protocol):
    """Whoever says what is done: a sign of life, or the call itself, whose words are read only if somebody asks."""

    @property
    def doing(self) -> str | None: ...


class CallsHeard(Protocol):
    """What one log tells of the calls of one delegation."""

    def hear(
        self, phase: Phase, tool: str | None, teller: Doing | None, at: Millis, since: Millis | None, asked: int
    ) -> None:
        """Take in what a sign of life says, whether or not it is told."""


class CallCounter(Protocol):
    """By log and by delegation."""

    def of(self, source: str, id: str) -> CallsHeard:
        """What that log tells of one."""

    def heed(self, events: Iterable[Event]) -> None:
        """Take in what is told, in the order in which each log tells it."""
