"""What a story of OpenCode remembers of sessions, of messages and of calls that have not come back."""

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.loops import Repeats
from delegtop.dialects.kit.tokens import Charge, Tokens
from delegtop.model.events import Fault, Outcome, Phase

Told = tuple[Phase | None, str | None, str | None]
"""Phase, tool and what is done with it."""


class StoryCall(msgspec.Struct, frozen=True):
    """A tool that has not come back."""

    message: str
    started: Millis
    told: Told
    due: Millis | None = None
    """When it runs out of its time."""


class StoryMessage(msgspec.Struct):
    session: str
    is_user: bool
    at: Millis | None
    is_over: bool = False
    outcome: Outcome | None = None
    """How it ended the turn."""
    ended_at: Millis | None = None
    fault: Fault | None = None
    answer: tuple[Origin, str] | None = None
    """Its last text so far, until it is over."""
    requests: dict[str, Millis] = {}
    """When the model was asked for it, by the part that says so."""
    answered: Millis | None = None
    """When the model last said something."""

    def unanswered(self) -> list[Millis]:
        """The requests since it last did, the first one first."""
        return sorted(at for at in self.requests.values() if self.answered is None or at > self.answered)


class StorySession(msgspec.Struct):
    id: str
    known: bool = False
    """Its own record was read."""
    parent: str | None = None
    depth: int | None = None
    newest: tuple[Millis, Origin, str] | None = None
    """The newest message."""
    calls: dict[str, StoryCall] = {}
    last: tuple[Millis, Origin, Told] | None = None
    """What was last told of it."""
    ended: Millis | None = None
    """When it first ended a turn."""
    asked: Millis | None = None
    """When it was last asked for something."""
    stepped: Millis = Millis(0)
    """When its newest answer began."""
    tasks: dict[str, Millis] = {}
    """The agents whose calls have not come back, and when the answers began that made them."""
    repeats: Repeats = msgspec.field(default_factory=Repeats)
    used: dict[str, tuple[int, float]] = {}
    """Tokens and cost by message."""
    total: tuple[int, float] = (0, 0.0)
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    """By model and kind."""
    charged: dict[str, Charge] = {}
    """The same by message: any of them may be written once more."""

    def outlived(self) -> list[str]:
        """The agents whose callers have begun another answer without theirs: the program was started again, for it
        waits for all calls of one. Each is told once."""
        found = [child for child, made in self.tasks.items() if made < self.stepped]
        for child in found:
            del self.tasks[child]
        return found
