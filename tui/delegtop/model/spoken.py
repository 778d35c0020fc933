"""What was said in an agent's conversation, for people to read: one vocabulary for all formats."""

from enum import StrEnum

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin


class Voice(StrEnum):
    """What one piece of a conversation is."""

    PROMPT = "prompt"
    """Utterance to the agent: by a person, or by the agent that called it."""
    ANSWER = "answer"
    """Utterance by the agent."""
    THINKING = "thinking"
    CALL = "call"
    """A tool is called, with what it is given."""
    RESULT = "result"
    """What the tool came back with."""
    ERROR = "error"
    NOTE = "note"
    """The program's own word: a notice, a compaction, a turn that was broken off."""


class Utterance(msgspec.Struct, frozen=True, gc=False):
    """One piece of a conversation."""

    voice: Voice
    text: str
    at: Millis | None
    origin: Origin
    name: str = ""
    """The tool, or the kind of an error."""
    call: str = ""
    """The id of the call that it makes or answers."""
    whose: str | None = None
    """The delegation whose conversation it belongs to, where a file holds several; None for the one that the file is
    about."""
