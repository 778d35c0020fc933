"""The tree as JSON: a stable contract. Fields are added, never renamed or removed, while `schema_version` is 1.

The structs below are the contract; `docs/schema/tree.schema.json` is made from them. Text is raw data, escaped so that
printing it to a terminal does nothing.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.clock import Millis, iso
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model import measures
from delegtop.model.delegation import Basis, Delegation, Link, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.report.health import Health
from delegtop.report.walk import rows

SCHEMA_VERSION = 1

_UNNAMED = "no-session-id@"
"""How the id begins that a delegation is given when its records name none: the place where it stands."""

Time = Annotated[str, Meta(description="A moment in UTC, such as 2025-12-26T10:00:00.000Z.")]


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """One file that was read, and how well."""

    path: str
    dialect: str | None
    records: int
    unreadable: int
    status: str
    detail: str
    deviations: int
    reasons: dict[str, int]


class Made(Struct, frozen=True, forbid_unknown_fields=True):
    """A file the delegation says it made."""

    path: str
    type: str | None
    summary: str | None


class Wrong(Struct, frozen=True, forbid_unknown_fields=True):
    """An error as the agent told it."""

    message: str | None
    type: str | None
    code: str | None
    recoverable: bool | None
    recommendation: str | None


class Place(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a source."""

    source: str
    line: int


class Found(Struct, frozen=True, forbid_unknown_fields=True):
    """One finding."""

    rule: Annotated[str, Meta(description="The id of the rule; `delegtop rules ID` explains it.")]
    severity: Severity
    subject: Annotated[str, Meta(description="The id of the delegation, or the path of the source.")]
    message: Annotated[str, Meta(description="What is wrong, in a sentence.")]
    evidence: Annotated[list[Place], Meta(description="The lines that say so.")]
    advice: Annotated[str, Meta(description="What to do; may be empty.")]
    command: Annotated[str | None, Meta(description="What to type to recover.")]
    by: Annotated[
        Literal["agent", "delegtop"],
        Meta(description="Whose words the message is; the agent's own are its recommendation."),
    ]
    since: Annotated[Time | None, Meta(description="Since when it is so.")]


class Said(Struct, frozen=True, forbid_unknown_fields=True):
    """One of several values that sources give for the same field."""

    field: str
    value: str
    source: str
    line: int


class Node(Struct, frozen=True, forbid_unknown_fields=True):
    """One delegation. What is not known is null."""

    id: str
    parent: Annotated[str | None, Meta(description="The id of its parent in the tree.")]
    link: Annotated[Link, Meta(description="How sure the parent is.")]
    agent: str | None
    depth: Annotated[int, Meta(description="As claimed, else by its path, else by its place in the tree.")]
    path: list[str] | None
    state: State
    started_at: Time | None
    ended_at: Time | None
    deadline: Annotated[Time | None, Meta(description="The moment it must be done, whatever that came from.")]
    deadline_from: Annotated[Basis | None, Meta(description="Declared, by timeout, by default, or by its parent.")]
    last_heard_at: Time | None
    doing: str | None
    summary: str | None
    artifacts: list[Made]
    errors: list[Wrong]
    next_steps: str | None
    tokens: int | None
    cost: Annotated[float | None, Meta(description="US dollars.")]
    source: Annotated[str | None, Meta(description="The source that tells of its start, else of it at all.")]
    refs: Annotated[dict[str, str], Meta(description="Foreign ids by name.")]
    findings: Annotated[
        list[Found], Meta(description="What the rules find, worst first; artifacts are not looked for.")
    ]
    command: str | None
    caller: str | None
    task: str | None
    depth_claimed: int | None
    depth_derived: int
    reason: Annotated[str, Meta(description="Why it is in that state, in words; may be empty.")]
    claims: Annotated[list[Said], Meta(description="Fields on which sources disagree.")]
    timeout_seconds: float | None
    host: str | None
    pid: int | None
    tool: str | None
    waiting_on: Annotated[str | None, Meta(description="The id of the open descendant that a waiting one waits on.")]
    parent_candidates: Annotated[list[str], Meta(description="The ids that could be its parent, if ambiguous.")]
    origin: Place | None


class Tree(Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegtop tree --json` prints."""

    schema_version: Literal[1]
    at: Annotated[Time, Meta(description="The moment the states are for.")]
    sources: list[Source]
    delegations: Annotated[list[Node], Meta(description="In the order of the tree, parents before children.")]


def tree(
    forest: Forest,
    sources: Sequence[Health],
    *,
    matches: Collection[Handle] | None = None,
    sort: str = "start",
) -> Iterator[str]:
    """The document, one delegation a line. With `matches`, only those are in it."""
    yield f'{{"schema_version": {SCHEMA_VERSION},'
    yield f' "at": {to_json(_time(forest.now))},'
    yield from array("sources", (to_json(source_of(source)) for source in sources), ",")
    wanted = (row for row in rows(forest, None, sort) if matches is None or row.handle in matches)
    yield from array("delegations", (to_json(_node(forest, row.handle, row.level)) for row in wanted), "}")


def schema() -> str:
    """The JSON Schema of the document."""
    made = msgspec.json.schema(Tree)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(made, indent=2) + "\n"


def array(name: str, items: Iterator[str], end: str) -> Iterator[str]:
    """One item a line, each sent on once it is known whether another follows."""
    yield f' "{name}": ['
    held = next(items, None)
    while held is not None:
        following = next(items, None)
        yield f"  {held}," if following is not None else f"  {held}"
        held = following
    yield f" ]{end}"


def to_json(value: object) -> str:
    # DEL is the one control character that JSON may carry unescaped.
    return json.dumps(msgspec.to_builtins(value)).replace("\x7f", "\\u007f")


def _time(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def source_of(source: Health) -> Source:
    return Source(
        path=source.path,
        dialect=source.dialect,
        records=source.records,
        unreadable=source.unreadable,
        status=source.status,
        detail=source.detail,
        deviations=source.deviations,
        reasons=dict(source.reasons),
    )


def _node(forest: Forest, handle: Handle, level: int) -> Node:
    facts = forest.delegation(handle)
    deadline = forest.deadline(handle)
    parent = forest.parent(handle)
    origin = facts.started_origin or facts.heard_origin or facts.ended_origin
    derived = measures.derived_depth(forest, handle, facts, level)
    blocker = forest.blocker(handle) if forest.state(handle) is State.WAITING else None
    return Node(
        id=facts.id,
        parent=facts.parent if parent is None else forest.delegation(parent).id,
        link=forest.link(handle),
        agent=facts.agent,
        depth=derived if facts.depth is None else facts.depth,
        path=list(facts.own_path) if facts.own_path else None,
        state=forest.state(handle),
        started_at=_time(facts.started_at),
        ended_at=_time(facts.ended_at),
        deadline=_time(deadline.at) if deadline else None,
        deadline_from=deadline.basis if deadline else None,
        last_heard_at=_time(facts.heard_at),
        doing=facts.doing,
        summary=facts.report.summary,
        artifacts=[Made(made.path, made.type, made.summary) for made in facts.artifacts],
        errors=_errors(facts),
        next_steps=facts.report.next_steps,
        tokens=facts.tokens,
        cost=facts.cost,
        source=origin.source if origin else None,
        refs=_refs(facts),
        findings=[found_of(finding) for finding in diagnose(forest, handle, forest.now, lambda _: None)],
        command=facts.command,
        caller=facts.caller,
        task=facts.task,
        depth_claimed=facts.depth,
        depth_derived=derived,
        reason=forest.reason(handle),
        claims=[Said(claim.field, claim.value, claim.origin.source, claim.origin.line) for claim in facts.claims],
        timeout_seconds=None if facts.timeout is None else facts.timeout / 1_000,
        host=facts.host,
        pid=facts.pid,
        tool=facts.tool,
        waiting_on=forest.delegation(blocker).id if blocker is not None else None,
        parent_candidates=[forest.delegation(other).id for other in forest.candidates(handle)],
        origin=Place(origin.source, origin.line) if origin else None,
    )


def _refs(facts: Delegation) -> dict[str, str]:
    refs = {} if facts.id.startswith(_UNNAMED) else {"session_id": facts.id}
    if facts.task is not None:
        refs["task"] = facts.task
    return refs | dict(facts.refs)


def _errors(facts: Delegation) -> list[Wrong]:
    return [
        Wrong(fault.message, fault.type, fault.code, fault.recoverable, fault.recommendation) for fault in facts.errors
    ]


def found_of(finding: Finding) -> Found:
    return Found(
        rule=finding.rule,
        severity=finding.severity,
        subject=finding.subject,
        message=finding.message,
        evidence=[Place(origin.source, origin.line) for origin in finding.evidence],
        advice=finding.advice,
        command=finding.command,
        by="agent" if finding.by == "agent" else "delegtop",
        since=None if finding.since is None else iso(finding.since),
    )
