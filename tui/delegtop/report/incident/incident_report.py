"""The incident report as one value: what hung, what led to it, and what to do. Every form of it is made from this.

The structs are also the contract of `delegtop report -o FILE.json`: fields are added, never renamed or removed, while
`schema_version` is 1. Text is that of the logs with its secrets masked; each form escapes it for its own kind.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from delegtop.diagnosis.verdicts import Certainty, Kind
from delegtop.model.delegation import Basis, Link
from delegtop.model.states import State
from delegtop.report.tree_json import Found, Place, Source, Time, Wrong

SCHEMA_VERSION: Literal[1] = 1

What = Literal["started", "ended", "error", "note", "resumed", "awaited", "heard", "deadline", "slept", "report"]


class Ref(Struct, frozen=True, forbid_unknown_fields=True):
    """A delegation, by its id and what to call it."""

    id: str
    name: str


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """What the agent itself said about going on."""

    title: Annotated[str, Meta(description="What it is, such as `recommends`, `to resume` or `needs review`.")]
    text: str
    place: Place | None


class Product(Struct, frozen=True, forbid_unknown_fields=True):
    """A file the delegation says it made."""

    path: str
    type: str | None
    summary: str | None
    exists: Annotated[bool | None, Meta(description="Whether it is there; null if that cannot be told.")]


class Excerpt(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a source, read again from disk."""

    place: Place
    shows: Annotated[list[str], Meta(description="What it is evidence for: `verdict`, `start`, `end` or a rule.")]
    text: Annotated[str | None, Meta(description="The line, secrets masked; null if it is no longer there.")]
    cut: Annotated[bool, Meta(description="Whether the line goes on.")]


class Judgement(Struct, frozen=True, forbid_unknown_fields=True):
    """The verdict on one that has not ended."""

    kind: Kind
    certainty: Certainty
    since: Time | None


class Trouble(Struct, frozen=True, forbid_unknown_fields=True):
    """One delegation that is not plainly running or done."""

    id: str
    name: str
    title: Annotated[str | None, Meta(description="Its work in a few words.")]
    project: Annotated[str | None, Meta(description="Where it works, if the report tells of several places.")]
    host: Annotated[str | None, Meta(description="The machine it is on, where several are looked at.")]
    path: Annotated[list[Ref], Meta(description="The delegations above it, the root first.")]
    state: State
    message: Annotated[str, Meta(description="What is wrong, in a sentence.")]
    verdict: Annotated[Judgement | None, Meta(description="Null for one that has ended.")]
    urgency: Annotated[int, Meta(ge=1, le=7, description="As in `tree --json`: 1 to 4 are problems of this moment.")]
    kind: Annotated[str, Meta(description="What is the matter in a few words: a verdict, else the state.")]
    todo: Annotated[list[str], Meta(description="What to do, ranked by use.")]
    command: Annotated[str | None, Meta(description="What to type. delegtop never runs it.")]
    root_blocker: Annotated[bool, Meta(description="Whether it is what the path above it is blocked by.")]
    blocks: Annotated[list[Ref], Meta(description="Those above it that wait for it, the nearest first.")]
    waits_on: Annotated[Ref | None, Meta(description="The delegation at the end of its path that it waits on.")]
    started_at: Time | None
    last_heard_at: Time | None
    ended_at: Time | None
    deadline: Time | None
    deadline_note: str | None
    doing: Annotated[str | None, Meta(description="What it was last heard doing.")]
    tool: str | None
    errors: list[Wrong]
    artifacts: Annotated[list[Product], Meta(description="What it says it made.")]
    own_words: Annotated[list[Words], Meta(description="The agent's own recommendations.")]
    findings: Annotated[list[Found], Meta(description="What delegtop found and advises, worst first.")]
    evidence: list[Excerpt]


class Event(Struct, frozen=True, forbid_unknown_fields=True):
    """One moment of the timeline."""

    at: Time
    what: What
    subject: Annotated[Ref | None, Meta(description="Null for what concerns all of them.")]
    text: Annotated[str, Meta(description="What happened, in words.")]
    derived: Annotated[bool, Meta(description="True for what no record says and delegtop concluded.")]
    place: Place | None


class Node(Struct, frozen=True, forbid_unknown_fields=True):
    """One delegation of the tree."""

    id: str
    name: str
    title: str | None
    project: Annotated[str | None, Meta(description="Where it works, if the report tells of several places.")]
    host: Annotated[str | None, Meta(description="The machine it is on, where several are looked at.")]
    parent: str | None
    link: Link
    level: int
    state: State
    started_at: Time | None
    ended_at: Time | None
    last_heard_at: Time | None
    deadline: Time | None
    deadline_from: Basis | None
    took_seconds: Annotated[float | None, Meta(description="From its start to its end, or to now while it is open.")]
    cost: Annotated[float | None, Meta(description="US dollars, of it alone, as in `tree --json`.")]
    cost_estimated: Annotated[bool, Meta(description="Whether they are by list prices.")]
    remark: Annotated[str, Meta(description="What is most worth knowing of it, in a line.")]
    in_trouble: bool
    root_blocker: bool


class LeftOut(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of each the report has no room for."""

    troubles: int = 0
    timeline: int = 0
    tree: int = 0
    findings: int = 0


class Incident(Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegtop report` writes."""

    schema_version: Literal[1]
    program: Annotated[str, Meta(description="What wrote the report, with its version.")]
    at: Annotated[Time, Meta(description="The moment the states are for.")]
    only: Annotated[str | None, Meta(description="The id the report is limited to, with all above and below it.")]
    headline: Annotated[str, Meta(description="The whole report in a sentence or two.")]
    counts: Annotated[dict[State, int], Meta(description="Delegations by state.")]
    tokens: Annotated[int | None, Meta(description="New tokens that all of them used.")]
    cost: Annotated[float | None, Meta(description="US dollars that all of them cost.")]
    cost_estimated: Annotated[bool, Meta(description="Whether some of these dollars are by list prices, or missing.")]
    troubles: Annotated[
        list[Trouble], Meta(description="What is stuck or went wrong in the order of looking, then who waits for it.")
    ]
    timeline: Annotated[list[Event], Meta(description="Oldest first.")]
    tree: Annotated[list[Node], Meta(description="Parents before children.")]
    findings: Annotated[list[Found], Meta(description="What else was found, of delegations that are not in trouble.")]
    left_out: LeftOut
    sources: list[Source]
