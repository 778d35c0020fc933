"""What the live sources of Claude Code have in common: its words for ends, refusals, texts and tokens."""

from typing import Any

from delegtop.dialects.kit.coerce import clip, gist, items, number, obj, prose, word
from delegtop.dialects.kit.tokens import Charge, charge_of
from delegtop.model.events import Outcome

AGENT = "claude"

_REFUSED = ("The user doesn't want to", "User rejected tool use", "[Request interrupted by user")
_MASKED = "API Error"
_HARNESS = "<tools-used-before-summary>"
_KINDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_NEW = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
"""What was read from the cache is left out: every call reads the whole conversation again."""


def blocks(content: object) -> list[dict[str, Any]]:
    """The blocks of a message; a bare text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in items(content) if isinstance(block, dict)]


def answer(content: object) -> str | None:
    """The text of a message or a result, without the lines the program itself put before it."""
    own = [block for block in blocks(content) if not str(block.get("text")).startswith(_HARNESS)]
    return clip(prose(own))


def doing(tool: str, given: object) -> str:
    """What a tool was called with, in a few words."""
    return gist(obj(given)) or tool


def is_refusal(said: str | None) -> bool:
    """A person said no, or stopped it."""
    return said is not None and said.startswith(_REFUSED)


def outcome_of(status: object, said: str | None) -> Outcome | None:
    """How an agent ended, by its status and by what it came back with; None while it has not."""
    match status:
        case "completed":
            return Outcome.FAILED if said and said.startswith(_MASKED) else Outcome.COMPLETED
        case "failed" | "error":
            return Outcome.FAILED
        case "killed" | "stopped" | "cancelled":
            return Outcome.INTERRUPTED
        case _:
            return None


def charge(message: dict[str, Any]) -> Charge | None:
    """What one answer used, by kind and model."""
    usage = obj(message.get("usage"))
    into, out, read, written = (number(usage.get(key)) or 0 for key in _KINDS)
    hour = min(number(obj(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")) or 0, written)
    counts = into, out, read, written - hour, hour
    return charge_of(word(message.get("model")), counts, word(usage.get("speed"))) if any(counts) else None


def new_tokens(usage: object) -> int | None:
    """The new tokens of one account of use."""
    found = [count for key in _NEW if (count := number(obj(usage).get(key))) is not None]
    return sum(found) if found else None
