"""What a conversation is in the middle of, since when, and how often its model was asked for it."""

from types import EllipsisType
from typing import Any, Protocol

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.coerce import title
from delegtop.dialects.kit.tokens import Tokens
from delegtop.model.events import Heard, Phase

When = Millis | None | EllipsisType
"""A moment, or that of the record."""


class Call(msgspec.Struct, frozen=True):
    """A call that has not come back yet."""

    tool: str
    doing: str | None
    phase: Phase
    arguments: dict[str, Any]
    at: Millis | None
    due: Millis | None = None
    """When it runs out of the time that it was given."""


class OpenRecord(Protocol):
    """The record that is read: when and where it was written, and the signs of life that it tells."""

    at: Millis | None
    origin: Origin
    heard: dict[str, Heard]

    def moment_of(self, at: When) -> Millis | None: ...


class Occupation:
    """What one agent is at, and the signs of life that tell it."""

    def __init__(self, chat: OpenRecord, id: str) -> None:
        self.chat = chat
        self.id = id
        self._forget()

    def _forget(self) -> None:
        self.tokens = Tokens()
        self.state: tuple[Phase | None, str | None, str | None] = (None, None, None)
        """The phase, what is done and the tool, as they were last told."""
        self.since: Millis | None = None
        """Since when it waits for what it is in the middle of."""
        self.asked = 0
        """How often its model was asked since it last answered."""
        self.mode: str | None = None
        """Its permission mode."""
        self.heard_at: Millis | None = None
        self.due: Millis | None = None
        """When the open call runs out of its time."""

    def hear(
        self,
        phase: Phase | None,
        doing: str | None = None,
        tool: str | None = None,
        at: When = ...,
        *,
        call: Call | None = None,
    ) -> None:
        """A sign of life, with what it is in the middle of: of that call, or from now on."""
        when = self.chat.moment_of(at)
        self.state = (phase, doing, tool)
        self.since, self.due = (call.at, call.due) if call else (when, None)
        self.asked = 0
        self._say(when)

    def hear_again(self) -> None:
        """A sign of life that changes nothing."""
        self._say(self.chat.at)

    def ask(self) -> None:
        """Its model is asked: for the first time, or again, and then it waits for as long as it did before."""
        if self.state[0] is not Phase.MODEL:
            self.hear(Phase.MODEL)
        self.asked += 1
        self._say(self.chat.at)

    def _say(self, when: Millis | None) -> None:
        chat, (phase, doing, tool) = self.chat, self.state
        if when is not None:
            self.heard_at = when
        chat.heard[self.id] = Heard(
            self.id,
            when,
            chat.origin,
            doing,
            tool,
            self.tokens.total or None,
            None,
            phase,
            None if self.since == when else self.since,
            self.asked or None,
            self.due,
            self.mode,
            self.tokens.used,
        )

    def permission(self, wanted: str | None, tool: str | None = None) -> None:
        """A person must allow something."""
        self.hear(Phase.PERMISSION, wanted, tool)

    def question(self, asked: str | None, tool: str | None = None) -> None:
        """A person must answer something."""
        self.hear(Phase.ANSWER, asked, tool)

    def retry(self, reason: str | None = None) -> None:
        """Its model did not answer, and is asked again, where only this says that it is asked."""
        self.asked = max(self.asked, 1)
        self.ask()
        if reason:
            self.state = (Phase.MODEL, title(reason), None)
            self._say(self.chat.at)
