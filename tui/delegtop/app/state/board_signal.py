"""A signal: tells all who listen, and the one who tells knows nobody of them."""

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Signal(Generic[P]):
    """Listeners are told in the order in which they came. Whoever comes or leaves meanwhile counts from the next time
    on."""

    def __init__(self) -> None:
        self._listeners: list[Callable[P, object]] = []

    def subscribe(self, listener: Callable[P, object]) -> None:
        if listener not in self._listeners:
            self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[P, object]) -> None:
        """It is told no more; nothing happens if it never listened."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def publish(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in tuple(self._listeners):
            listener(*args, **kwargs)
