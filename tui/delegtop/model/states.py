"""The states a delegation can be in: one table, and everything else about a state is asked of it.

To add one is to add a row here and to say in `lifecycle` when a delegation is in it. A colour is a role that every
palette knows; a new state takes that of one it resembles, or its role is added to the palettes.
"""

from enum import StrEnum


class Life(StrEnum):
    """Whether there is an end to a delegation."""

    ACTIVE = "active"
    """Held to be at work."""
    LOST = "lost"
    """Nothing says that it ended, and nobody works on it any more."""
    IDLE = "idle"
    """An agent's own session at rest: its turn is over, and another may follow."""
    ENDED = "ended"
    UNKNOWN = "unknown"
    """Nothing tells how it ended, or whether it has."""


class State(StrEnum):
    """What a delegation is, at a moment: what goes on, what went wrong, what is at rest, in the order they are told."""

    glyph: str
    ascii: str
    """The glyph where there is only ASCII."""
    colour: str
    """The role of its colour: `state-<colour>` in every theme."""
    life: Life
    problem: bool
    """Whether it is one by itself. What is open may be one without: its verdict tells."""
    exit: int
    """What it means to a script by itself: 0 nothing, 1 ended badly, 3 open and stuck."""
    meaning: str

    def __new__(
        cls, word: str, glyph: str, ascii: str, colour: str, life: Life, problem: bool, exit: int, meaning: str
    ) -> "State":
        state = str.__new__(cls, word)
        state._value_ = word
        state.glyph, state.ascii, state.colour, state.life = glyph, ascii, colour, life
        state.problem, state.exit, state.meaning = problem, exit, meaning
        return state

    RUNNING = "running", "▶", ">", "running", Life.ACTIVE, False, 0, "at work"
    WAITING = "waiting", "◐", "=", "waiting", Life.ACTIVE, False, 0, "on a child that is not done"
    SILENT = "silent", "◌", "_", "silent", Life.ACTIVE, False, 0, "wrote nothing for a while; quiet is not hung"
    OVERDUE = "overdue", "!", "!", "overdue", Life.ACTIVE, True, 0, "past its deadline and not done"
    LOST = "lost", "?", "?", "lost", Life.LOST, True, 1, "its process is gone, or it is silent for very long"
    FAILED = (
        *("failed", "✖", "x", "failed", Life.ENDED, True, 1),
        "returned a failure, or met an error it cannot recover from",
    )
    TIMEOUT = "timeout", "◷", "T", "timeout", Life.ENDED, True, 1, "its time ran out and someone recorded it"
    BLOCKED = "blocked", "■", "#", "blocked", Life.ENDED, True, 1, "returned: something else must happen first"
    PARTIAL = "partial", "◑", "%", "partial", Life.ENDED, True, 1, "returned with part of the work"
    INTERRUPTED = "interrupted", "⊘", "/", "interrupted", Life.ENDED, True, 1, "was cancelled"
    UNKNOWN = "unknown", "·", ".", "unknown", Life.UNKNOWN, False, 0, "nothing tells how it ended, or whether it has"
    IDLE = "idle", "○", "o", "idle", Life.IDLE, False, 0, "an agent's own session between two prompts"
    COMPLETED = "completed", "✔", "+", "completed", Life.ENDED, False, 0, "returned, all done"


def _living(*lives: Life) -> frozenset[State]:
    return frozenset(state for state in State if state.life in lives)


ACTIVE = _living(Life.ACTIVE)
OPEN = _living(Life.ACTIVE, Life.LOST)
"""Nothing says that these have ended: they are judged."""
UNENDED = _living(Life.ACTIVE, Life.LOST, Life.IDLE)
"""Of these no end is known: their age and their silence grow."""
ENDED = _living(Life.ENDED)
PROBLEMS = frozenset(state for state in State if state.problem)
ENDED_BADLY = ENDED & PROBLEMS
