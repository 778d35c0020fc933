"""Whether anything may be done, and to which processes: asked before every act."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from delegtop.settings import Settings

HOW = "delegtop --act, or enabled = true below [act] in your own settings, lets it act"
READ_ONLY = "readonly is set, or --readonly was given: that wins over everything that would let it act"
NOT_THESE = "only processes that it started itself are stopped here"


class Acting(NamedTuple):
    """What may be done. Without anything said: nothing."""

    enabled: bool = False
    only: Callable[[int], bool] | None = None
    """Which processes may be stopped, by their number; None for every one that the rules allow. Where it is set,
    nothing but a signal to such a process is possible: no request and no command."""
    why_not: str = HOW
    """Why nothing may be done, or how it could be."""
    why_not_these: str = NOT_THESE
    """What is said of a process that is none of those."""

    def allows(self, pid: int) -> bool:
        return self.only is None or self.only(pid)


def acting(settings: "Settings") -> Acting:
    """What the user's own settings and flags allow."""
    if settings.act.readonly:
        return Acting(why_not=READ_ONLY)
    return Acting(enabled=settings.act.enabled)
