"""The tree as JSON: a stable contract. Fields are added, never renamed or removed, while `schema_version` is 1.

The structs below are the contract; `docs/schema/tree.schema.json` is made from them. Text is raw data, its secrets
masked unless they are asked for, and escaped so that printing it to a terminal does nothing.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.clock import Millis, iso
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.pressing import Pressing
from delegtop.diagnosis.verdicts import Certainty
from delegtop.model import measures
from delegtop.model.delegation import Basis, Delegation, Link
from delegtop.model.events import Phase, Trust
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.order import order
from delegtop.model.rollup import Totals, totals
from delegtop.model.states import State
from delegtop.report import privacy
from delegtop.report.health import Health
from delegtop.report.walk import rows

SCHEMA_VERSION = 1

_UNNAMED = "no-session-id@"
"""How the id begins that a delegation is given when its records name none: the place where it stands."""

_TRUSTS: dict[Trust, Literal["script", "mtime", "epoch", "model"]] = {
    Trust.SCRIPT: "script",
    Trust.MTIME: "mtime",
    Trust.EPOCH: "epoch",
    Trust.MODEL: "model",
}

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


class Remark(Struct, frozen=True, forbid_unknown_fields=True):
    """Something to know of it, in the words of the source."""

    kind: Annotated[str, Meta(description="What it is about, such as `review`, `resume` or `blocker`.")]
    text: str
    source: str
    line: int
    at: Time | None


class Awaits(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody waits for its return."""

    until: Time
    by: Annotated[str, Meta(description="What waits, in words.")]


class Said(Struct, frozen=True, forbid_unknown_fields=True):
    """One of several values that sources give for the same field."""

    field: str
    value: str
    source: str
    line: int


class Assessed(Struct, frozen=True, forbid_unknown_fields=True):
    """What is the matter with it: the one answer that every screen, command and exit code gives."""

    problem: Annotated[bool, Meta(description="Whether somebody should look: urgency 1 to 4, or 6.")]
    urgency: Annotated[
        int,
        Meta(
            ge=1,
            le=7,
            description="1 stuck now, or suspicious and holding up others; 2 a person is needed now; 3 ended badly a "
            "moment ago and not answered; 4 suspicious; 5 running or waiting; 6 earlier trouble; 7 the rest.",
        ),
    ]
    kind: Annotated[str, Meta(description="What is the matter in a few words: a verdict, else the state.")]
    certainty: Certainty
    sentence: Annotated[str, Meta(description="What is the matter, since when, and whom it holds up.")]
    since: Time | None
    blocks: Annotated[list[str], Meta(description="The ids of all above that wait for it alone, the nearest first.")]
    todo: Annotated[list[str], Meta(description="What to do, ranked by use; empty where nothing is the matter.")]
    command: Annotated[str | None, Meta(description="What to type. delegtop never runs it.")]


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
    product: Annotated[
        str | None, Meta(description="The program whose files tell of it; null for the delegation protocol.")
    ]
    version: Annotated[str | None, Meta(description="The version of that program.")]
    title: Annotated[str | None, Meta(description="The work in a few words.")]
    own_name: Annotated[str | None, Meta(description="The agent's own name, beside its kind.")]
    model: str | None
    phase: Annotated[Phase | None, Meta(description="What it was last heard to be in the middle of.")]
    prompt: Annotated[str | None, Meta(description="What it was asked to do; only with `--prompts`, else null.")]
    cwd: Annotated[str | None, Meta(description="Its working directory.")]
    notes: Annotated[list[Remark], Meta(description="What sources note about it.")]
    wait: Awaits | None
    resumed_at: Annotated[Time | None, Meta(description="When it was last given work again.")]
    subtree_tokens: Annotated[int | None, Meta(description="Tokens used by it and all below it, each counted once.")]
    subtree_cost: Annotated[float | None, Meta(description="US dollars, of it and all below it.")]
    times_by: Annotated[
        Literal["script", "mtime", "epoch", "model"],
        Meta(description="Who told its times; what a model wrote is no clock."),
    ]
    deadline_note: Annotated[str | None, Meta(description="Where the deadline comes from, in words.")]
    assessment: Assessed
    rank: Annotated[
        int, Meta(ge=1, description="1 is what an operator should look at first, of all delegations that were read.")
    ]


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
    masked: bool = True,
    prompts: bool = False,
) -> Iterator[str]:
    """The document, one delegation a line. With `matches`, only those are in it; prompts only where asked for."""
    yield f'{{"schema_version": {SCHEMA_VERSION},'
    yield f' "at": {to_json(_time(forest.now))},'
    yield from array("sources", (to_json(source_of(source)) for source in sources), ",")
    writer = _Writer(forest, totals(forest), masked=masked, prompts=prompts)
    wanted = (row for row in rows(forest, None, writer.order(sort)) if matches is None or row.handle in matches)
    yield from array("delegations", (to_json(writer.node(row.handle, row.level)) for row in wanted), "}")


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


class _Writer:
    """Makes the nodes of one document."""

    def __init__(self, forest: Forest, spent: Sequence[Totals], *, masked: bool, prompts: bool) -> None:
        self._forest, self._spent = forest, spent
        self._masked, self._prompts = masked, prompts
        self._assessments = Assessments(forest)
        self._ranks = {handle: rank for rank, handle in enumerate(self._assessments.ranked(), 1)}

    def order(self, sort: str) -> Callable[[Handle], Any]:
        return order(self._forest, sort, pressing=Pressing(self._assessments).key)

    def _facts(self, handle: Handle) -> Delegation:
        facts = self._forest.delegation(handle)
        if not self._prompts:
            facts = msgspec.structs.replace(facts, prompt=None)
        return privacy.masked(facts) if self._masked else facts

    def _assessed(self, assessment: Assessment, found: Sequence[Finding]) -> Assessed:
        forest, hide = self._forest, privacy.hiding(self._masked)
        steps = self._assessments.todo(assessment.handle, found) if assessment.problem else ()
        command = next((step.command for step in steps if step.command), None)
        return Assessed(
            problem=assessment.problem,
            urgency=assessment.urgency,
            kind=assessment.kind,
            certainty=assessment.certainty,
            sentence=hide(assessment.sentence(forest.now)),
            since=_time(assessment.since),
            blocks=[forest.id(handle) for handle in assessment.blocks],
            todo=[hide(step.words) for step in steps],
            command=hide(command) if command else None,
        )

    def node(self, handle: Handle, level: int) -> Node:
        forest, spent, facts = self._forest, self._spent[handle], self._facts(handle)
        found = self._assessments.findings(handle)
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
            ended_at=_time(measures.ended_at(facts)),
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
            findings=[found_of(privacy.masked_finding(one) if self._masked else one) for one in found],
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
            product=facts.product,
            version=facts.version,
            title=facts.title,
            own_name=facts.own_name,
            model=facts.model,
            phase=facts.phase,
            prompt=facts.prompt,
            cwd=facts.cwd,
            notes=[Remark(n.kind, n.text, n.origin.source, n.origin.line, _time(n.at)) for n in facts.notes],
            wait=Awaits(iso(facts.wait.until), facts.wait.by) if facts.wait else None,
            resumed_at=_time(facts.resumed_at),
            subtree_tokens=spent.tokens,
            subtree_cost=spent.cost,
            times_by=_TRUSTS[facts.trust],
            deadline_note=deadline.note if deadline else None,
            assessment=self._assessed(self._assessments.of(handle), found),
            rank=self._ranks[handle],
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
