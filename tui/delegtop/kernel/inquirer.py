"""Who finds out why processes stand still, on whichever system."""

from collections.abc import Callable, Iterable
from typing import Protocol

from delegtop.kernel.blocked import Blocked
from delegtop.kernel.open_call import OpenCall

Moves = Callable[[int], bool | None]
"""Whether a process, or one that it started, did anything since the last look; None if that is not known yet."""


class Inquirer(Protocol):
    """One look at why processes stand still."""

    def about(self, pid: int) -> tuple[Blocked, frozenset[int]]:
        """Why it stands still, and who else was met on the way: if one of these does something, it may be otherwise."""
        ...

    def outputs(self, pid: int) -> frozenset[str]:
        """Where what it writes goes, if somebody may wait for the end of that."""
        ...

    def heirs(self, outputs: Iterable[str], call: OpenCall) -> list[int]:
        """Who could still write there; where that is not told, who may be what the call put into the background."""
        ...
