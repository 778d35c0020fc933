"""One delegation: the facts the logs tell of it, and the state they amount to at a moment."""

from enum import StrEnum

import msgspec

from delegtop.clock import Millis
from delegtop.model.events import Artifact, Ending, Fault, Outcome, Phase, Report, Trust
from delegtop.origin import Origin


class Basis(StrEnum):
    """Where a deadline came from."""

    DEADLINE = "deadline"
    TIMEOUT = "timeout"
    OPERATOR = "operator"
    """A timeout from the settings."""
    AGENT_FILE = "agent file"
    WAIT = "wait"
    """Somebody said how long they wait for it."""
    USUAL = "usual"
    """What is usual for its kind. No promise: passing it makes nothing overdue."""
    DEFAULT = "default"
    PARENT = "parent"
    """The parent runs out of time earlier."""


class Deadline(msgspec.Struct, frozen=True, gc=False):
    """The moment a delegation must be done, and why that moment."""

    at: Millis
    basis: Basis
    note: str
    """For people: `declared`, `timeout 3600 s`, `default for research`, `parent sess_…`."""

    @property
    def is_firm(self) -> bool:
        """Whether passing it makes the delegation overdue."""
        return self.basis is not Basis.USUAL


class Link(StrEnum):
    """How sure the line between a delegation and its parent is."""

    ROOT = "root"
    EXPLICIT = "explicit"
    INFERRED = "inferred"
    AMBIGUOUS = "ambiguous"


class Claim(msgspec.Struct, frozen=True):
    """One field on which the sources disagree: this origin says this value."""

    field: str
    value: str
    origin: Origin


class Note(msgspec.Struct, frozen=True):
    """Something to know of a delegation, as one source tells it."""

    kind: str
    """One of the words of `model.notes`, or another's."""
    text: str
    origin: Origin
    at: Millis | None = None


class Wait(msgspec.Struct, frozen=True):
    """Somebody waits for the return until then."""

    until: Millis
    by: str
    origin: Origin


class Delegation(msgspec.Struct, frozen=True):
    """Everything the logs say of one delegation. Nothing in here depends on the time of looking."""

    id: str
    agent: str | None = None
    command: str | None = None
    caller: str | None = None
    task: str | None = None
    path: tuple[str, ...] | None = None
    depth: int | None = None
    """As claimed. What the tree says is the number of its ancestors."""
    timeout: int | None = None
    deadline: Millis | None = None
    """As declared."""
    parent: str | None = None
    """As declared; it may never have been seen."""
    pid: int | None = None
    host: str | None = None
    refs: tuple[tuple[str, str], ...] = ()
    trust: Trust = Trust.SCRIPT
    started_at: Millis | None = None
    heard_at: Millis | None = None
    """The last sign of life in a log: its start, a heartbeat, an error or its end."""
    doing: str | None = None
    tool: str | None = None
    phase: Phase | None = None
    tokens: int | None = None
    cost: float | None = None
    product: str | None = None
    """The program whose files tell of it; None for what follows the delegation protocol."""
    title: str | None = None
    own_name: str | None = None
    """The agent's own name, beside its kind."""
    model: str | None = None
    prompt: str | None = None
    cwd: str | None = None
    version: str | None = None
    notes: tuple[Note, ...] = ()
    wait: Wait | None = None
    resumed_at: Millis | None = None
    ended_at: Millis | None = None
    outcome: Outcome | None = None
    ended_by: Ending | None = None
    report: Report = Report()
    faults: tuple[Fault, ...] = ()
    """Errors reported apart from the return."""
    listed_at: Millis | None = None
    """When it was last seen in a registry."""
    left_registry: bool = False
    claims: tuple[Claim, ...] = ()
    """Fields on which sources disagree, every claim with its origin."""
    started_origin: Origin | None = None
    heard_origin: Origin | None = None
    ended_origin: Origin | None = None
    origins: tuple[Origin, ...] = ()
    """Every place that tells of it, but for heartbeats before the last."""

    @property
    def name(self) -> str:
        """What to call it in one word: the agent, else the last of its path, else the command, else its id."""
        if self.agent:
            return self.agent
        if self.path:
            return self.path[-1]
        return f"/{self.command.lstrip('/')}" if self.command else self.id

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        return self.report.artifacts

    @property
    def errors(self) -> tuple[Fault, ...]:
        """All errors, the return's own first; one told twice is shown once."""
        return tuple(dict.fromkeys((*self.report.errors, *self.faults)))

    @property
    def own_path(self) -> tuple[str, ...] | None:
        """The path down to and including this agent."""
        return own_path(self.path, self.agent)


def own_path(path: tuple[str, ...] | None, agent: str | None) -> tuple[str, ...] | None:
    """The path down to and including the agent: some logs leave the agent itself out."""
    if path and agent and path[-1] != agent:
        return (*path, agent)
    return path or None
