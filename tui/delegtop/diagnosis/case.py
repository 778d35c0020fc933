"""A case: one delegation to judge at the moment its host is known at, and everything that judging it may look at."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from delegtop.base.clock import Millis
from delegtop.model.delegation import Delegation
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions

Exists = Callable[[str], bool | None]
"""Whether the artifact at a path exists; None if that cannot be told."""
Read = Callable[[str], tuple[str, str] | None]
"""Where the artifact at a path lies, and its text; None if it cannot be had."""


def unseen(_path: str) -> bool | None:
    """Nothing can be told: nobody looks at the disk."""
    return None


def unread(_path: str) -> tuple[str, str] | None:
    """Nothing is read: where nobody waits for files, or they lie elsewhere."""
    return None


class PathEnds(Protocol):
    """The ends of all paths at one moment."""

    def of(self, handle: Handle) -> Handle | None:
        """Whom it waits on in the end; None if it waits for nobody."""

    def is_in_trouble(self, handle: Handle) -> bool:
        """Whether something is the matter with that one."""


class Case:
    """Judges and rules ask it. Whatever depends on the time is asked by `is_past`, so that it is known how long the
    answers hold."""

    def __init__(
        self,
        forest: Forest,
        handle: Handle,
        exists: Exists = unseen,
        read: Read = unread,
        *,
        ends: PathEnds | None = None,
    ) -> None:
        self.forest, self.handle = forest, handle
        self.exists, self.read = exists, read
        self.now = forest.judged_of(handle)
        self.known: dict[str, Any] = {}
        """What one rule found out about the delegation and others ask for too."""
        self.turns: Millis | None = None
        """The first moment at which time alone may change what was found; None if it cannot."""
        self._ends = ends

    @cached_property
    def ends(self) -> PathEnds:
        """Whom each one waits on: from whoever keeps that, else found by judging all that are waited for."""
        from delegtop.diagnosis.path_ends import JudgedEnds  # judges ask here whom one waits on

        return self._ends or JudgedEnds(self.forest)

    @cached_property
    def facts(self) -> Delegation:
        return self.forest.delegation(self.handle)

    @cached_property
    def state(self) -> State:
        return self.forest.state(self.handle)

    @property
    def policy(self) -> Policy:
        """What it is judged by: limits and habits are those of its own host."""
        return self.forest.policy_of(self.handle)

    @property
    def reading(self) -> ProtocolOptions:
        """How to read the protocols where they contradict each other."""
        return self.forest.policy.reading

    def is_past(self, moment: int) -> bool:
        """Whether it is later than that; if not, all that was found holds only until then."""
        if self.now > moment:
            return True
        self.look_again(moment + 1)
        return False

    def look_again(self, moment: int) -> None:
        """What was found may be otherwise from that moment on."""
        self.turns = Millis(moment if self.turns is None else min(self.turns, moment))
