"""One delegation: the facts the logs tell of it, and the state they amount to at a moment."""

from enum import StrEnum

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import LOCALHOST, Artifact, Ending, Fault, Outcome, Phase, ProcessSeen, Report, Trust
from delegtop.model.facts import FactTable
from delegtop.model.usage import Usage
from delegtop.protocols.standard.contract.delegation_paths import own_path


class Basis(StrEnum):
    """Where a deadline came from."""

    DEADLINE = "deadline"
    TIMEOUT = "timeout"
    OPERATOR = "operator"
    """A timeout from the settings."""
    AGENT_FILE = "agent file"
    WAIT = "wait"
    """Somebody waits for it until then, and then does something else. No promise either."""
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
        return self.basis not in (Basis.USUAL, Basis.WAIT)


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


AGAIN = 2
"""A model that was asked so often since it last answered was asked again: that is no sign that it does."""

_table = FactTable()
_fact = _table.row


class Identity(msgspec.Struct, frozen=True):
    """The first half of the table: what a delegation is. The facts that many have in common (`Shape`), then those it is
    described by, each in the order of its column: the ledger gives them by position."""

    id: str = _fact("Its session id.", "identity", default=msgspec.field(), filter="id:def456")
    agent: str | None = _fact(
        "The agent that does the work.", "first", contested=True, filter="agent:impl*", masked=True
    )
    command: str | None = _fact(
        "The command that asked for it.", "first", contested=True, filter="command:implement", masked=True
    )
    caller: str | None = _fact("Who called it.", "first", contested=True, masked=True)
    path: tuple[str, ...] | None = _fact(
        "The delegation path down to this agent.",
        "first",
        contested=True,
        form="own",
        filter="path:*/implement/*",
        filter_meaning="The delegation path, its steps joined by `/`.",
    )
    depth: int | None = _fact(
        "How deep it is, as it claims.",
        "first",
        "What the tree says is `depth_derived`, so that a contradiction can be seen.",
        contested=True,
        json="depth_claimed",
    )
    timeout: int | None = _fact(
        "The timeout as declared.", "first", contested=True, json="timeout_seconds", form="seconds"
    )
    host: str | None = _fact("The machine it runs on.", "first", contested=True, filter="host:build-*")
    trust: Trust = _fact(
        "Who told its times; what a model wrote is no clock.",
        "first",
        "`script` is a program's clock, `mtime` the file's time, `epoch` its session id.",
        default=Trust.SCRIPT,
        json="times_by",
        form="own",
    )
    product: str | None = _fact(
        "The program whose files tell of it.",
        "first",
        "Null for what follows the delegation protocol.",
        filter="product:claude-code",
        label="program",
    )
    title: str | None = _fact("Its work in a few words.", "earliest", filter="title:parser", label="title", masked=True)
    own_name: str | None = _fact("The agent's own name, beside its kind.", "earliest", told_as="name", masked=True)
    model: str | None = _fact("The model it runs on.", "earliest", filter="model:opus", label="model")
    version: str | None = _fact("The version of the program that wrote the log.", "earliest", label="program")
    prompt: str | None = _fact(
        "What it was asked to do.",
        "earliest",
        "Null without `--prompts`, because a prompt says more than a monitor needs to pass on.",
        masked=True,
    )
    cwd: str | None = _fact("Its working directory.", "earliest", label="folder")
    branch: str | None = _fact("The git branch it began on.", "earliest", filter="branch:feature/*", label="branch")


class Delegation(Identity, frozen=True, kw_only=True):
    """Everything the logs say of one delegation, and the table of what can be said: a field, and what is declared of
    it. Nothing in here depends on the time of looking."""

    task: str | None = _fact("The number or name of the task.", "first", contested=True, filter="task=191")
    deadline: Millis | None = _fact("The moment it must be done, as declared.", "first", contested=True, form="none")
    parent: str | None = _fact(
        "The id of its parent, as declared; it may never have been seen.", "first", contested=True, form="none"
    )
    pid: int | None = _fact("The process it runs in.", "first", contested=True)
    refs: tuple[tuple[str, str], ...] = _fact(
        "Foreign ids by name.", "union", "Such names are `task` and `tool_use_id`.", default=(), form="own"
    )
    started_at: Millis | None = _fact("When it started.", "first", told_as="at", contested=True, form="moment")
    heard_at: Millis | None = _fact(
        "The last sign of life in a log: its start, a heartbeat, an error or its end.",
        "largest",
        json="last_heard_at",
        form="moment",
    )
    doing: str | None = _fact("What it said last that it is doing.", "latest", filter='doing:"lake build"', masked=True)
    tool: str | None = _fact("The tool it was last heard to be in.", "latest")
    phase: Phase | None = _fact(
        "What it is in the middle of.",
        "latest",
        "`model`: it waits for the model; `permission`, `answer`: for a person; `child`: for what it handed on.",
        filter="phase:permission",
    )
    phase_since: Millis | None = _fact(
        "Since when it is in the middle of that.",
        "latest",
        "Inside a tool: when the call was made that has not come back; waiting for the model: when the model was first "
        "asked that has not answered, however often it was asked again.",
        told_as="since",
        form="moment",
    )
    asked: int | None = _fact(
        "How often the model was asked since then, where the log tells.", "latest", filter="asked>1"
    )
    call_deadline: Millis | None = _fact(
        "When the open call runs out of the time that it was given as an argument.",
        "latest",
        "It ends the call and not the delegation: passing it makes nothing overdue.",
        told_as="due",
        form="moment",
    )
    permission_mode: str | None = _fact(
        "The permission mode it works in, as its program calls it.",
        "latest",
        told_as="mode",
        filter="mode:acceptEdits",
        label="permissions",
    )
    tokens: int | None = _fact(
        "Tokens used so far.",
        "largest",
        "By it alone, and those that were new: input and output, without what was read from a cache, which every call "
        "reads again. Where a program tells only one sum (Copilot, Goose, the state database of Codex), it is that.",
        filter="tokens>1000",
    )
    cost: float | None = _fact(
        "US dollars spent so far.",
        "largest",
        "As its program tells them, else by the list prices of its models, if all are known. Claude Code tells one "
        "cost for a session with all its agents, so that stands at the session.",
        filter="cost>1",
    )
    cost_estimated: bool = _fact(
        "Whether nobody told these dollars.",
        "largest",
        "They are what its tokens cost by the list prices of its models or those of the settings (docs/cost.md).",
        default=False,
    )
    usage: tuple[Usage, ...] = _fact(
        "What it used, by model and kind of tokens, where its log tells them apart.",
        "largest",
        "By it alone, and all of it: what was read from a cache, too.",
        told_as="used",
        default=(),
        form="own",
    )
    notes: tuple[Note, ...] = _fact(
        "What sources note about it.",
        "union",
        "The `kind` is `review`, `resume`, `blocker`, `handoff`, `followup`, `next`, `loop`, `parked`, `defect`, "
        "`progress`, `day`, `salvage` or another word.",
        default=(),
        form="own",
        filter="note:review",
        filter_meaning="The kinds of notes it has, such as `review` or `blocker`.",
        masked=True,
    )
    wait: Wait | None = _fact("Somebody waits for its return: `until` when, and `by` what.", "latest", form="own")
    process: ProcessSeen | None = _fact(
        "What the kernel shows of the process that its call runs in.",
        "latest",
        "Null unless somebody looked since it was last heard of, on the machine it runs on.",
        form="own",
        masked=True,
    )
    resumed_at: Millis | None = _fact("When it was last given work again.", "largest", form="moment")
    ended_at: Millis | None = _fact("When it ended.", "strongest", contested=True, form="own")
    outcome: Outcome | None = _fact("How it ended.", "strongest", contested=True, form="none")
    ended_by: Ending | None = _fact("What told that it ended.", "strongest", form="none")
    report: Report = _fact("What it returned.", "strongest", default=Report(), form="none", masked=True)
    faults: tuple[Fault, ...] = _fact(
        "Errors reported apart from the return.", "union", default=(), form="none", masked=True
    )
    listed_at: Millis | None = _fact("When it was last seen in a registry.", "largest", form="none")
    left_registry: bool = _fact(
        "Every registry that listed it has been written since without it.", "latest", default=False, form="none"
    )
    claims: tuple[Claim, ...] = _fact(
        "Fields on which sources disagree.",
        "union",
        "Every claim has its `field`, its `value`, and its place: `source`, `line`.",
        default=(),
        form="own",
        masked=True,
    )
    started_origin: Origin | None = _fact("What tells of its start.", "first", form="none")
    heard_origin: Origin | None = _fact("What tells of its last sign of life.", "latest", form="none")
    ended_origin: Origin | None = _fact("What tells of its end.", "strongest", form="none")
    origins: tuple[Origin, ...] = _fact(
        "Every place that tells of it, but for heartbeats before the last.", "union", default=(), form="none"
    )

    @property
    def name(self) -> str:
        """What to call it in one word: the agent, else the last of its path, else the command, else its id."""
        return name_of(self.id, self.agent, self.path, self.command)

    @property
    def told_by(self) -> str:
        """The host whose sources tell of it; empty for this machine."""
        place = self.started_origin or self.heard_origin or self.ended_origin
        if place is None and self.origins:
            place = self.origins[0]
        return "" if place is None else place.host

    @property
    def elsewhere(self) -> str:
        """The machine it runs on, if that may be another than this one: as its log says, else whose log that is."""
        return self.told_by if self.host in (None, LOCALHOST) else self.host

    @property
    def is_command(self) -> bool:
        """It is what somebody typed, not an agent. The outermost that `delegtop run` starts is named as both: with a
        task it is a command that can be typed again."""
        if not self.command or not self.agent:
            return bool(self.command)
        return self.agent == self.command and self.depth == 0 and self.task is not None

    @property
    def quiet_since(self) -> Millis | None:
        """Since when nothing came of it: that its model is asked once more is no answer."""
        return self.phase_since or self.heard_at if self.asks_again else self.heard_at

    @property
    def asks_again(self) -> bool:
        """Whether it asks its model again and again, without an answer."""
        return self.phase is Phase.MODEL and (self.asked or 0) >= AGAIN

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


FACTS = _table.named(Identity, Delegation)
"""Every fact by its name, in the order of the table."""
WORDS = tuple(fact for fact in FACTS.values() if fact.merge == "earliest")
"""What a delegation is described by."""


def name_of(id: str, agent: str | None, path: tuple[str, ...] | None, command: str | None) -> str:
    """What to call one of whom that is known, in one word."""
    if agent:
        return agent
    if path:
        return path[-1]
    return f"/{command.lstrip('/')}" if command else id
