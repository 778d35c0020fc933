"""The vocabulary: what can happen to a delegation, whatever the log format said it in.

Events are msgspec Structs: a frozen dataclass costs 0.9 µs to make and these cost 0.1 µs, which at a million lines
is the difference between loading and waiting. They are frozen, comparable, and carry their origin.
"""

from enum import IntEnum, StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.usage import Usage

LOCALHOST = "localhost"
"""The host of a process in a log that only its own machine writes."""


class Outcome(StrEnum):
    """How a delegation ended."""

    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    LOST = "lost"
    UNKNOWN = "unknown"


class Ending(IntEnum):
    """What told us that it ended, the strongest word last: a late return outweighs the timeout before it."""

    UNSEEN = 0
    """Nothing did: its log shows a thing only once it is over, so nobody can say that it is still at work."""
    ERROR = 1
    """A non-recoverable error without a return."""
    GONE = 2
    """The process is gone."""
    TIMEOUT = 3
    CANCEL = 4
    REGISTRY = 5
    """The registry said so before the entry was deleted."""
    RETURN = 6


class Phase(StrEnum):
    """What a running delegation is in the middle of."""

    TOOL = "tool"
    """Inside a tool; `Heard.tool` names it and `Heard.doing` says with what."""
    MODEL = "model"
    """Waiting for the model's answer."""
    PERMISSION = "permission"
    """Waiting until a person allows something."""
    ANSWER = "answer"
    """Waiting for a person's answer."""
    CHILD = "child"
    """Waiting for what it handed on."""
    IDLE = "idle"
    """Its turn is over and nobody has given it another: an agent's own session between two prompts."""


class WaitsFor(StrEnum):
    """What the process of a call stands still for, by what the kernel shows."""

    NOTHING = "nothing"
    """It is at work: it uses the processor, or bytes move."""
    INPUT = "input"
    OUTPUT = "output"
    """Somebody who reads what it writes."""
    LOCK = "lock"
    NETWORK = "network"
    CLIENTS = "clients"
    """It is a server: connections."""
    TIMER = "timer"
    STOPPED = "stopped"
    FROZEN = "frozen"
    """Somebody to thaw its control group."""
    CHILD = "child"
    """To hear of a child that has ended."""
    PARENT = "parent"
    """It has ended, and whoever started it has not noticed."""
    THREADS = "threads"
    SIGNAL = "signal"
    QUEUE = "queue"
    DEVICE = "device"
    ENDED = "ended"
    """Nothing any more: it has ended, and no result came."""
    KEEPS = "keeps"
    """The call has ended, and this process of it keeps its output open, which the agent reads to the end."""
    HIDDEN = "hidden"
    """Nobody can see: it is another user's process."""
    UNKNOWN = "unknown"


class Outlook(StrEnum):
    """Whether a wait can come to its end."""

    ENDLESS = "endless"
    """Nothing that can be seen could end it."""
    OPEN = "open"
    """It may end, or not."""
    AT_WORK = "at work"
    """Who could end it is at work."""


class Trust(IntEnum):
    """How far a time can be believed, best first; what a model wrote is shown but never counted down from."""

    SCRIPT = 0
    MTIME = 1
    EPOCH = 2
    MODEL = 3


class Artifact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A file the delegation says it made."""

    path: Annotated[str, Meta(description="Where it is, relative to the root of the project.")]
    type: Annotated[
        str | None, Meta(description="`research`, `plan`, `implementation`, `summary` or `documentation`.")
    ] = None
    summary: Annotated[str | None, Meta(description="What it is, in a sentence.")] = None


class Fault(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """One error as the agent told it."""

    message: Annotated[str | None, Meta(description="What went wrong, for people.")] = None
    type: Annotated[
        str | None, Meta(description="`timeout`, `validation`, `execution`, `tool_unavailable` or another word.")
    ] = None
    code: Annotated[str | None, Meta(description="The code to tell it by, such as `BUILD_ERROR`.")] = None
    recoverable: Annotated[bool | None, Meta(description="Whether trying again can help.")] = None
    recommendation: Annotated[str | None, Meta(description="What to do about it.")] = None
    made_by: Annotated[
        str | None, Meta(description="Who wrote it, if it was not the agent itself: `delegtop`, in its place.")
    ] = None


class Report(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The return object as the agent gave it, its words kept as they are."""

    status: str | None = None
    summary: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    errors: tuple[Fault, ...] = ()
    next_steps: str | None = None
    session_id: str | None = None
    agent: str | None = None
    depth: int | None = None
    path: tuple[str, ...] | None = None
    duration: int | None = None
    """Milliseconds, by the agent's own account."""
    absent: tuple[str, ...] = ()
    """Fields of the standard return it does not have at all: an empty list of artifacts is not an absent one."""
    beside: str | None = None
    """The session id that stands beside the metadata, where another document has it."""


class Started(msgspec.Struct, frozen=True, gc=False):
    """A delegation was handed out."""

    id: str
    at: Millis | None
    origin: Origin
    agent: str | None = None
    command: str | None = None
    caller: str | None = None
    task: str | None = None
    path: tuple[str, ...] | None = None
    depth: int | None = None
    timeout: int | None = None
    """Milliseconds."""
    deadline: Millis | None = None
    parent: str | None = None
    pid: int | None = None
    host: str | None = None
    refs: tuple[tuple[str, str], ...] = ()
    """Foreign ids by name beside the id and the task, such as ("agent_id", "a1b2c3")."""
    trust: Trust = Trust.SCRIPT
    listed: bool = False
    """A registry says so: it proves the entry, but it is no sign of life."""
    product: str | None = None
    """The program whose files tell of it, such as "claude-code"; None for what follows the delegation protocol."""
    guessed: bool = False
    """The parent is a guess, drawn as inferred: whoever names one outweighs it and does not contradict it."""


class Heard(msgspec.Struct, frozen=True, gc=False):
    """A sign of life, with what it is doing now."""

    id: str
    at: Millis | None
    origin: Origin
    doing: str | None = None
    tool: str | None = None
    tokens: int | None = None
    """Tokens used so far, in all."""
    cost: float | None = None
    """US dollars so far, in all, as the program itself tells them."""
    phase: Phase | None = None
    since: Millis | None = None
    """Since when it is in the middle of that, where it is longer than since `at`: when the call was made that has not
    come back, or when the model was first asked that has not answered. Of a turn that is idle: when it counts as over
    if nothing more comes, where nothing says that it is."""
    asked: int | None = None
    """How often the model was asked since then, where the log tells."""
    due: Millis | None = None
    """When the call runs out of the time that it was given."""
    mode: str | None = None
    """The permission mode it works in, as its program calls it."""
    used: tuple[Usage, ...] | None = None
    """All that it used so far, by model and kind of tokens, where the log tells them apart. The same tuple while
    nothing is added, so that telling it again costs nothing."""
    whole: bool = False
    """The dollars are those of all that it started within itself, too."""


class Described(msgspec.Struct, frozen=True, gc=False):
    """What a delegation is, as far as one record says so. Of two words for one thing the earlier record's stays."""

    id: str
    at: Millis | None
    origin: Origin
    title: str | None = None
    """The work in a few words."""
    name: str | None = None
    """The agent's own name, beside its kind."""
    model: str | None = None
    prompt: str | None = None
    """What it was asked to do; a dialect cuts it at `PROMPT` characters."""
    cwd: str | None = None
    version: str | None = None
    """The version of the program that wrote the log."""
    branch: str | None = None


PROMPT = 4_000
"""Characters of a prompt or an answer that are kept; the whole stands in the log."""


class Noted(msgspec.Struct, frozen=True, gc=False):
    """Something a rule or a person wants to know of a delegation: `kind` is a short stable word, such as "review" or
    "resume". A later note of the same kind from the same source replaces the earlier; an empty text withdraws it."""

    id: str
    at: Millis | None
    origin: Origin
    kind: str
    text: str


class Awaited(msgspec.Struct, frozen=True, gc=False):
    """Somebody waits for its return, and says until when. The latest wait counts."""

    id: str
    at: Millis | None
    origin: Origin
    until: Millis
    by: str
    """What waits, for people: `wait_agent 30 s`."""


class Sighted(msgspec.Struct, frozen=True, gc=False):
    """A sign of life by somebody who sees whether it works or waits, but not at what: that its own log tells."""

    id: str
    at: Millis | None
    origin: Origin
    phase: Phase | None = None
    """What it waits for; None if it is at work."""


class ProcessSeen(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the kernel shows of the process that a delegation's call runs in. It is no sign of life in a log."""

    id: str
    at: Millis
    origin: Origin
    pid: int
    """The process that all others of the call wait for, or the call's own if nothing stands still."""
    waits_for: WaitsFor
    on: str | None = None
    """In words: `a lock on x that pid 4702 `sleep 100` holds`."""
    outlook: Outlook = Outlook.OPEN
    still_since: Millis | None = None
    """Since when none of the processes of the call did anything, as far as they were looked at."""
    until: Millis | None = None
    """When it goes on by itself, if it says so."""
    name: str | None = None
    command: str | None = None
    fits: tuple[str, ...] = ()
    """What tells that it is the process of the call: `descendant`, `started`, `command`."""
    share: float | None = None
    """Of one processor, since the look before."""
    flow: int | None = None
    """Bytes a second that it reads and writes."""
    memory: int | None = None
    """Bytes, of all processes of the call."""
    call_pid: int | None = None
    """The process of the call itself, where `pid` is none of its processes but one that they wait for."""


class Resumed(msgspec.Struct, frozen=True, gc=False):
    """It was given work again: every end before this moment no longer counts."""

    id: str
    at: Millis
    origin: Origin


class Erred(msgspec.Struct, frozen=True, gc=False):
    """An error was reported. It ends the delegation only if it is not recoverable and nothing else ended it."""

    id: str
    at: Millis | None
    origin: Origin
    fault: Fault


class Ended(msgspec.Struct, frozen=True, gc=False):
    """The delegation ended: it returned, timed out, was cancelled, or its process is gone."""

    id: str
    at: Millis | None
    origin: Origin
    outcome: Outcome
    by: Ending
    report: Report = Report()


class Surveyed(msgspec.Struct, frozen=True, gc=False):
    """One whole registry snapshot: these ids were in it at that moment, and no others."""

    at: Millis
    origin: Origin
    ids: tuple[str, ...]


class HostMet(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A host begins to tell, or does so again; which one the origin says."""

    at: Millis
    origin: Origin
    beats: bool = False
    """It says every few seconds that all is told (`HostBeat`); until it first has, no time passes there."""
    limits: str = ""
    """What the agent files there say that deadlines come from, as JSON."""
    via: str = ""
    """By what name ssh reaches it."""


class HostBeat(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A host says that all it knows up to this moment, by its own clock, is told."""

    at: Millis
    origin: Origin
    lasts: int
    """Milliseconds for which that may be taken to go on."""
    offset: int = 0
    """Milliseconds that the clock of whoever received it is ahead of the host's."""


class Deviation(msgspec.Struct, frozen=True, gc=False):
    """Something in a readable record that does not fit its format. It is counted and shown; it stops nothing."""

    origin: Origin
    kind: str
    """A short stable word such as "unknown key", by which deviations are counted."""
    detail: str


OF_NONE = HostMet | HostBeat | Deviation
"""What is about no delegation."""

Event = (
    Started
    | Heard
    | Described
    | Noted
    | Awaited
    | Sighted
    | ProcessSeen
    | Resumed
    | Erred
    | Ended
    | Surveyed
    | HostMet
    | HostBeat
    | Deviation
)
