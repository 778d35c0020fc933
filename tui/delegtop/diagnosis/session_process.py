"""Which session a delegation belongs to, whether the process of that session is there, and how it was started.

What can be done about something that is stuck depends on it: a session that lives is stopped, answered or attached to,
one whose process is gone is taken up again. Everything here is what was told by the moment that is shown: nothing is
asked of the system, so a recording answers as the moment did.
"""

from enum import StrEnum
from typing import NamedTuple

from delegtop.dialects.products import product
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ending
from delegtop.model.forest import Forest
from delegtop.model.notes import OUT_OF_SIGHT, VANISHED
from delegtop.model.session_manner import JOB, PROC_START, SEEN, Manner, manner
from delegtop.model.store.ledger import Handle

_ABOVE = 50
"""So many levels are climbed; a circle ends too."""


class Process(StrEnum):
    """Whether the program that a session runs in is still there, as far as its records and the system told."""

    THERE = "there"
    """The system showed it, and has not said since that it is gone."""
    GONE = "gone"
    UNSEEN = "unseen"
    """Nothing tells: no process of it is known, or nobody could look."""


class SessionProcess(NamedTuple):
    """The session that a delegation belongs to, which may be itself, and the process that runs it."""

    session: Handle
    process: Process
    facts: Delegation
    """Of the session."""
    runs_as: Manner
    why: str = ""
    """Why nobody can tell whether it is there."""

    @property
    def pid(self) -> int | None:
        return self.facts.pid

    @property
    def start_ticks(self) -> int | None:
        """When the process started, as the kernel counts: with its number that names one process for good."""
        told = dict(self.facts.refs).get(PROC_START, "")
        return int(told) if told.isdecimal() else None

    @property
    def is_there(self) -> bool:
        return self.process is Process.THERE

    @property
    def is_gone(self) -> bool:
        return self.process is Process.GONE

    @property
    def background_id(self) -> str | None:
        """What the commands of its program for sessions in the background call it."""
        return dict(self.facts.refs).get(JOB) if self.runs_as is Manner.BACKGROUND else None


def session_process(forest: Forest, handle: Handle) -> SessionProcess | None:
    """Of that delegation; None if it belongs to no agent program, so that there is no session to talk to."""
    session = session_of(forest, handle)
    if session is None:
        return None
    facts = forest.delegation(session)
    process, why = _process(forest, session, facts)
    return SessionProcess(session, process, facts, manner(facts.refs), why)


def session_of(forest: Forest, handle: Handle) -> Handle | None:
    """Whom a person talks to: the nearest session above it, or the topmost of the same program if none is known to be
    one. Agents within it cannot be opened by themselves."""
    name = forest.delegation(handle).product
    if product(name) is None:
        return None
    found = handle
    for above in upwards(forest, handle):
        if forest.delegation(above).product != name:
            break
        found = above
        if forest.is_session(above):
            break
    return found


def upwards(forest: Forest, handle: Handle) -> list[Handle]:
    """It and all above it, the nearest first."""
    path: list[Handle] = []
    climber: Handle | None = handle
    while climber is not None and len(path) < _ABOVE:
        path.append(climber)
        climber = forest.parent(climber)
    return path


def _process(forest: Forest, session: Handle, facts: Delegation) -> tuple[Process, str]:
    if forest.is_gone(session) or facts.ended_by is Ending.GONE:
        return Process.GONE, ""
    hidden = next((note.text for note in facts.notes if note.kind == OUT_OF_SIGHT), "")
    if hidden:
        return Process.UNSEEN, hidden
    if facts.pid is None:
        return Process.UNSEEN, "nothing tells which process it is"
    if any(note.kind == VANISHED and note.origin.pid == facts.pid for note in facts.notes):
        return Process.UNSEEN, f"it went on after its process (pid {facts.pid}) went, nobody knows where"
    if facts.ended_at is not None:
        return Process.UNSEEN, "it has ended, and nobody looks at its process any more"
    if SEEN in dict(facts.refs):
        return Process.THERE, ""
    return Process.UNSEEN, f"it is on {facts.elsewhere}" if facts.elsewhere else "nobody has looked at its process"
