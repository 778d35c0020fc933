"""Why one process stands still, in words, and whether that can come to an end."""

from collections.abc import Iterable
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.model.events import Outlook, WaitsFor

_UNSEEN = (WaitsFor.UNKNOWN, WaitsFor.HIDDEN)


class Blocked(NamedTuple):
    """One process that stands still, at the beginning of a chain of waits."""

    pid: int
    waits_for: WaitsFor
    on: str
    """In words that follow on "waits for"; where it says of itself what it does, on its name."""
    outlook: Outlook = Outlook.OPEN
    until: Millis | None = None
    """When it ends by itself, if it says so."""
    since: int | None = None
    """Milliseconds since the last data came in, of what waits for the network."""

    @property
    def endless(self) -> bool:
        return self.outlook is Outlook.ENDLESS


def gentlest(found: Iterable[Blocked]) -> Blocked:
    """Of several that are waited for, the one that may come to its end: only if none may, all is stuck. Who cannot be
    looked at may."""
    all_found = list(found)
    best = min(all_found, key=_hope)
    hidden = any(each.waits_for in _UNSEEN for each in all_found)
    return best._replace(outlook=Outlook.OPEN) if hidden and best.endless else best


def anothers(pid: int, owner: str, *, asks: bool) -> Blocked:
    """One that nobody but its user may look into. Who asks for a password has become that user to do so."""
    whose = f"another user's process ({owner or 'unknown'})"
    if asks:
        return Blocked(pid, WaitsFor.INPUT, f"a password, as it seems: it is {whose}, and cannot be looked into")
    return Blocked(pid, WaitsFor.HIDDEN, f"is {whose}, and cannot be looked into")


def does(reason: Blocked) -> str:
    own = (WaitsFor.STOPPED, WaitsFor.FROZEN, WaitsFor.TIMER, WaitsFor.PARENT, WaitsFor.HIDDEN)
    return reason.on if reason.waits_for in own else f"waits for {reason.on}"


def _hope(found: Blocked) -> int:
    if found.waits_for is WaitsFor.NOTHING or found.outlook is Outlook.AT_WORK:
        return 0
    if found.endless:
        return 5
    return 6 if found.waits_for is WaitsFor.UNKNOWN else 7 if found.waits_for is WaitsFor.HIDDEN else 1
