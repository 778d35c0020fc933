"""What a delegation is in the middle of, in a few words."""

from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase

FOR_PEOPLE = frozenset({Phase.PERMISSION, Phase.ANSWER})
"""It goes on only when a person acts."""

_WORDS = {
    Phase.MODEL: "waits for the model",
    Phase.PERMISSION: "asks permission",
    Phase.ANSWER: "waits for an answer",
    Phase.CHILD: "waits for its child",
    Phase.IDLE: "",
}


def word(phase: Phase | None) -> str:
    """What somebody in it does; nothing if that says nothing."""
    return _WORDS.get(phase, "") if phase is not None else ""


def work(facts: Delegation) -> str:
    """The tool and what it was called with."""
    tool, doing = facts.tool, facts.doing
    return f"{tool}: {doing}" if tool and doing and not doing.startswith(tool) else doing or tool or ""


def now(facts: Delegation) -> str:
    """What it does or waits for at this moment, as far as it said; nothing if it did not."""
    words = word(facts.phase)
    if facts.asks_again:
        words = f"{words}, asked {facts.asked} times"
    return work(facts) if not words else ": ".join(filter(None, (words, work(facts))))
