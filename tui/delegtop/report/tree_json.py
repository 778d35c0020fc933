"""The tree as JSON: a stable contract. Fields are added, never renamed or removed, while `schema_version` is 1.

The structs below are the contract; `docs/schema/tree.schema.json` is made from them. Text is raw data, its secrets
masked unless they are asked for, and escaped so that printing it to a terminal does nothing.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from operator import attrgetter
from types import GenericAlias
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.base.clock import Millis, iso
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.pressing import Pressing
from delegtop.diagnosis.verdicts import Certainty
from delegtop.model import measures
from delegtop.model.delegation import FACTS, Basis, Claim, Delegation, Link, Note
from delegtop.model.events import Outlook, ProcessSeen, Trust, WaitsFor
from delegtop.model.facts import Fact
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.order import order
from delegtop.model.tree.rollup import Totals, totals
from delegtop.report import host_table, privacy
from delegtop.report.health import Health
from delegtop.report.host_table import HostRow
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


class Host(Struct, frozen=True, forbid_unknown_fields=True):
    """One machine that was asked, and how it stands (docs/fleet.md)."""

    name: str
    state: str
    news_at: Annotated[Time | None, Meta(description="By its own clock, up to when all is told.")]
    offset_ms: Annotated[int, Meta(description="Milliseconds that this machine's clock is ahead of its own.")]
    version: str | None


class UsedOf(Struct, frozen=True, forbid_unknown_fields=True):
    """What it used of one model, in tokens of each kind."""

    model: str
    input: Annotated[int, Meta(description="What no cache was asked for.")]
    output: Annotated[int, Meta(description="What the model wrote and thought.")]
    cache_read: int
    cache_write: Annotated[int, Meta(description="Written to a cache that keeps it for minutes.")]
    cache_write_1h: Annotated[int, Meta(description="Written to a cache that keeps it for an hour.")]
    over: Annotated[int, Meta(description="In requests whose prompts had more tokens than this; 0 for short ones.")]
    fast: Annotated[bool, Meta(description="In a faster mode, which has a price of its own.")]


class Made(Struct, frozen=True, forbid_unknown_fields=True):
    """A file the delegation says it made."""

    path: str
    type: str | None
    summary: str | None


class Wrong(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An error as the agent told it."""

    message: str | None
    type: str | None
    code: str | None
    recoverable: bool | None
    recommendation: str | None
    made_by: Annotated[
        str | None, Meta(description="Who wrote it: `delegtop`, in the place of an agent. Else it is left out.")
    ] = None


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


class Seen(Struct, frozen=True, forbid_unknown_fields=True):
    """What the kernel shows of the process that a call runs in."""

    pid: Annotated[int, Meta(description="The process that the others of the call wait for, else the call's own.")]
    name: str | None
    command: Annotated[str | None, Meta(description="Its command line.")]
    waits_for: Annotated[WaitsFor, Meta(description="What it stands still for; `nothing` if it is at work.")]
    on: Annotated[str | None, Meta(description="The same in words, with who could end the wait.")]
    outlook: Annotated[
        Outlook,
        Meta(description="`endless`: nothing that can be seen could end the wait; `at work`: who could end it is."),
    ]
    seen_at: Time
    still_since: Annotated[Time | None, Meta(description="Since when none of the call's processes did anything.")]
    until: Annotated[Time | None, Meta(description="When it goes on by itself, if it says so.")]
    cpu: Annotated[float | None, Meta(description="Share of one processor, of all processes of the call.")]
    bytes_per_second: Annotated[int | None, Meta(description="What they read and write.")]
    memory: Annotated[int | None, Meta(description="Bytes, of all of them.")]
    fits: Annotated[
        list[str], Meta(description="What tells that it is the call's: `descendant`, `started`, `command`.")
    ]


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
    blocks: Annotated[list[str], Meta(description="The ids of all above that wait for it, the nearest first.")]
    todo: Annotated[list[str], Meta(description="What to do, ranked by use; empty where nothing is the matter.")]
    command: Annotated[str | None, Meta(description="What to type. delegtop never runs it.")]


class Field(Struct, frozen=True):
    """One field of a delegation in the document."""

    name: str
    type: Any
    value: "Callable[[_Row], object]"
    meaning: str = ""

    @property
    def annotated(self) -> Any:
        return Annotated[self.type, Meta(description=self.meaning)] if self.meaning else self.type


def tree(
    forest: Forest,
    sources: Sequence[Health],
    *,
    matches: Collection[Handle] | None = None,
    sort: str = "start",
    masked: bool = True,
    prompts: bool = False,
    hosts: Sequence[HostRow] = (),
) -> Iterator[str]:
    """The document, one delegation a line. With `matches`, only those are in it; prompts only where asked for. `hosts`
    are those that were asked, if others than this machine were."""
    yield f'{{"schema_version": {SCHEMA_VERSION},'
    yield f' "at": {to_json(_time(forest.shown_at))},'
    yield from array("hosts", (to_json(host_table.entry(host)) for host in hosts), ",") if hosts else ()
    yield from array("sources", (to_json(source_of(source)) for source in sources), ",")
    writer = _Writer(forest, totals(forest), masked=masked, prompts=prompts)
    wanted = (row for row in rows(forest, None, writer.order(sort)) if matches is None or row.handle in matches)
    yield from array("delegations", (to_json(writer.node(row.handle, row.level)) for row in wanted), "}")


def contract() -> type[Struct]:
    """The document as one type: no field of it may be missing, unknown or of another type."""
    strict: dict[str, Any] = {"frozen": True, "forbid_unknown_fields": True, "module": __name__}
    about = {"__doc__": "One delegation. What is not known is null."}
    node = msgspec.defstruct("Node", [(field.name, field.annotated) for field in NODE], namespace=about, **strict)
    nodes = GenericAlias(list, (node,))
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        ("schema_version", Literal[1]),
        ("at", Annotated[Time, Meta(description="The moment the states are for.")]),
        ("sources", list[Source]),
        ("delegations", Annotated[nodes, Meta(description="In the order of the tree, parents before children.")]),
        ("hosts", Annotated[list[Host], Meta(description="Only where other machines were asked.")], []),
    ]
    about = {"__doc__": "What `delegtop tree --json` prints."}
    return msgspec.defstruct("Tree", fields, namespace=about, **strict)


def schema() -> str:
    """The JSON Schema of the document."""
    made = msgspec.json.schema(contract())
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
        self.forest, self.spent = forest, spent
        self.masked, self._prompts = masked, prompts
        self.assessments = Assessments(forest)
        self.assessments.update()
        self.ranks = {handle: rank for rank, handle in enumerate(self.assessments.ranked(), 1)}

    def order(self, sort: str) -> Callable[[Handle], Any]:
        return order(self.forest, sort, pressing=Pressing(self.assessments).key)

    def facts(self, handle: Handle) -> Delegation:
        facts = self.forest.delegation(handle)
        if not self._prompts:
            facts = msgspec.structs.replace(facts, prompt=None)
        return privacy.masked(facts) if self.masked else facts

    def id(self, handle: Handle) -> str:
        """As its own host has it: on which that is each delegation says."""
        return self.forest.delegation(handle).id

    def assessed(self, handle: Handle, found: Sequence[Finding]) -> Assessed:
        assessment = self.assessments.of(handle)
        forest, hide = self.forest, privacy.hiding(self.masked)
        steps = self.assessments.todo(assessment.handle, found) if assessment.problem else ()
        command = next((step.command for step in steps if step.command), None)
        return Assessed(
            problem=assessment.problem,
            urgency=assessment.urgency,
            kind=assessment.kind,
            certainty=assessment.certainty,
            sentence=hide(assessment.sentence(forest.now_of(assessment.handle))),
            since=_time(assessment.since),
            blocks=[self.id(handle) for handle in assessment.blocks],
            todo=[hide(step.words) for step in steps],
            command=hide(command) if command else None,
        )

    def node(self, handle: Handle, level: int) -> dict[str, object]:
        row = _Row(self, handle, level)
        return {field.name: field.value(row) for field in NODE}


class _Row:
    """One delegation, and what several of its fields are made of."""

    def __init__(self, writer: _Writer, handle: Handle, level: int) -> None:
        self.writer, self.handle = writer, handle
        self.forest, self.facts = writer.forest, writer.facts(handle)
        self.spent = writer.spent[handle]
        self.found = writer.assessments.findings(handle)
        self.deadline = self.forest.deadline(handle)
        self.origin = self.facts.started_origin or self.facts.heard_origin or self.facts.ended_origin
        self.derived = measures.derived_depth(self.forest, handle, self.facts, level)

    def parent(self) -> str | None:
        parent = self.forest.parent(self.handle)
        return self.facts.parent if parent is None else self.writer.id(parent)

    def waiting_on(self) -> str | None:
        waits = self.forest.state(self.handle) is State.WAITING
        blocker = self.writer.assessments.end_of_path(self.handle) if waits else None
        return None if blocker is None else self.writer.id(blocker)

    def findings(self) -> list[Found]:
        masked = self.writer.masked
        return [found_of(privacy.masked_finding(finding) if masked else finding) for finding in self.found]


def _refs(facts: Delegation) -> dict[str, str]:
    refs = {} if facts.id.startswith(_UNNAMED) else {"session_id": facts.id}
    if facts.task is not None:
        refs["task"] = facts.task
    return refs | dict(facts.refs)


def _remark(note: Note) -> Remark:
    return Remark(note.kind, note.text, note.origin.name, note.origin.line, _time(note.at))


def _said(claim: Claim) -> Said:
    return Said(claim.field, claim.value, claim.origin.name, claim.origin.line)


def _errors(facts: Delegation) -> list[Wrong]:
    return [
        Wrong(fault.message, fault.type, fault.code, fault.recoverable, fault.recommendation, fault.made_by)
        for fault in facts.errors
    ]


def found_of(finding: Finding) -> Found:
    return Found(
        rule=finding.rule,
        severity=finding.severity,
        subject=finding.subject,
        message=finding.message,
        evidence=[Place(origin.name, origin.line) for origin in finding.evidence],
        advice=finding.advice,
        command=finding.command,
        by="agent" if finding.by == "agent" else "delegtop",
        since=None if finding.since is None else iso(finding.since),
    )


def _seen(seen: ProcessSeen) -> Seen:
    return Seen(
        seen.pid,
        seen.name,
        seen.command,
        seen.waits_for,
        seen.on,
        seen.outlook,
        iso(seen.at),
        _time(seen.still_since),
        _time(seen.until),
        seen.share,
        seen.flow,
        seen.memory,
        list(seen.fits),
    )


def _fact(name: str, kind: Any, value: Callable[[_Row], object]) -> Field:
    """The field of a fact that is written in a way of its own."""
    return Field(FACTS[name].json, kind, value, FACTS[name].description)


def _moment(read: Callable[[Delegation], Millis | None]) -> Callable[[_Row], str | None]:
    return lambda row: _time(read(row.facts))


def _seconds(read: Callable[[Delegation], int | None]) -> Callable[[_Row], float | None]:
    return lambda row: None if (span := read(row.facts)) is None else span / 1_000


def _written(fact: Fact) -> Field:
    """The field of any other fact."""
    if fact.form == "moment":
        return _fact(fact.name, Time | None, _moment(attrgetter(fact.name)))
    if fact.form == "seconds":
        return _fact(fact.name, float | None, _seconds(attrgetter(fact.name)))
    return _fact(fact.name, fact.type, attrgetter(f"facts.{fact.name}"))


def _in_order(*shown: str | Field) -> tuple[Field, ...]:
    """The fields of the facts where they are named, behind the last those that are not."""
    named = {field.name for field in shown if isinstance(field, Field)}
    told = (fact for fact in FACTS.values() if fact.form not in ("own", "none"))
    of_facts = {fact.json: _written(fact) for fact in told if fact.json not in named}
    fields = [of_facts.pop(field) if isinstance(field, str) else field for field in shown]
    return (*fields, *of_facts.values())


NODE = _in_order(
    "id",
    Field("parent", str | None, _Row.parent, "The id of its parent in the tree."),
    Field("link", Link, lambda row: row.forest.link(row.handle), "How sure the parent is."),
    "agent",
    Field(
        "depth",
        int,
        lambda row: row.derived if row.facts.depth is None else row.facts.depth,
        "As claimed, else by its path, else by its place in the tree.",
    ),
    _fact("path", list[str] | None, lambda row: list(row.facts.own_path) if row.facts.own_path else None),
    Field("state", State, lambda row: row.forest.state(row.handle)),
    "started_at",
    _fact("ended_at", Time | None, lambda row: _time(measures.ended_at(row.facts))),
    Field(
        "deadline",
        Time | None,
        lambda row: _time(row.deadline.at) if row.deadline else None,
        "The moment it must be done, whatever that came from.",
    ),
    Field(
        "deadline_from",
        Basis | None,
        lambda row: row.deadline.basis if row.deadline else None,
        "Declared, by timeout, by default, or by its parent.",
    ),
    *("last_heard_at", "doing"),
    Field("summary", str | None, lambda row: row.facts.report.summary),
    Field(
        "artifacts", list[Made], lambda row: [Made(made.path, made.type, made.summary) for made in row.facts.artifacts]
    ),
    Field("errors", list[Wrong], lambda row: _errors(row.facts)),
    Field("next_steps", str | None, lambda row: row.facts.report.next_steps),
    *("tokens", "cost", "cost_estimated"),
    Field(
        "source",
        str | None,
        lambda row: row.origin.name if row.origin else None,
        "The source that tells of its start, else of it at all.",
    ),
    _fact("refs", dict[str, str], lambda row: _refs(row.facts)),
    Field("findings", list[Found], _Row.findings, "What the rules find, worst first; artifacts are not looked for."),
    *("command", "caller", "task", "depth_claimed"),
    Field("depth_derived", int, lambda row: row.derived),
    Field("reason", str, lambda row: row.forest.reason(row.handle), "Why it is in that state, in words; may be empty."),
    _fact("claims", list[Said], lambda row: [_said(claim) for claim in row.facts.claims]),
    "timeout_seconds",
    _fact("host", str | None, lambda row: measures.host(row.forest, row.handle)),
    *("pid", "tool"),
    Field("waiting_on", str | None, _Row.waiting_on, "The id of the open descendant that a waiting one waits on."),
    Field(
        "parent_candidates",
        list[str],
        lambda row: [row.writer.id(other) for other in row.forest.candidates(row.handle)],
        "The ids that could be its parent, if ambiguous.",
    ),
    Field("origin", Place | None, lambda row: Place(row.origin.name, row.origin.line) if row.origin else None),
    *("product", "version", "title", "own_name", "model", "phase", "prompt", "cwd"),
    _fact("notes", list[Remark], lambda row: [_remark(note) for note in row.facts.notes]),
    _fact(
        "wait",
        Awaits | None,
        lambda row: Awaits(iso(row.facts.wait.until), row.facts.wait.by) if row.facts.wait else None,
    ),
    "resumed_at",
    _fact("process", Seen | None, lambda row: _seen(row.facts.process) if row.facts.process else None),
    Field(
        "subtree_tokens",
        int | None,
        lambda row: row.spent.tokens,
        "Tokens used by it and all below it, each counted once.",
    ),
    Field("subtree_cost", float | None, lambda row: row.spent.cost, "US dollars, of it and all below it."),
    Field(
        "subtree_cost_estimated",
        bool,
        lambda row: row.spent.is_estimate,
        "Whether some of these dollars are estimated, or missing although tokens were used.",
    ),
    _fact(
        "usage",
        list[UsedOf],
        lambda row: [UsedOf(each.model, *each.counts, each.over, each.fast) for each in row.facts.usage],
    ),
    _fact("trust", Literal["script", "mtime", "epoch", "model"], lambda row: _TRUSTS[row.facts.trust]),
    Field(
        "deadline_note",
        str | None,
        lambda row: row.deadline.note if row.deadline else None,
        "Where the deadline comes from, in words.",
    ),
    Field("assessment", Assessed, lambda row: row.writer.assessed(row.handle, row.found)),
    Field(
        "rank",
        Annotated[
            int,
            Meta(ge=1, description="1 is what an operator should look at first, of all delegations that were read."),
        ],
        lambda row: row.writer.ranks[row.handle],
    ),
)
"""The fields of a delegation, in their order. A name alone is that of a fact in the table of facts."""
