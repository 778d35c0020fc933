"""News, one line each: for people and logs, or as JSON.

The JSON is a stable contract. Fields are added, never renamed or removed, while `schema_version` is 1; the struct below
is the contract, and `docs/schema/watch.schema.json` is made from it.
"""

import json
import re
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta, Struct

from delegtop.base import text
from delegtop.base.clock import Millis, iso
from delegtop.diagnosis.alerts import Alert
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.news import Item, What
from delegtop.model.delegation import Delegation
from delegtop.model.forest import Forest
from delegtop.model.measures import folder, label, title, told_host
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy
from delegtop.report.check_report import told as said
from delegtop.report.projects import Projects
from delegtop.report.tree_json import Time, to_json

_MESSAGE, _WHO, _WHERE = 300, 80, 100
_BREAKS = re.compile(r"\s*\n\s*")
_ABOVE = 1_000


class News(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of `delegtop watch --json`. What is not known is null."""

    schema_version: Literal[1]
    event: Annotated[What, Meta(description="What happened: a row of the table of events.")]
    at: Annotated[Time, Meta(description="When it was noticed.")]
    id: Annotated[str, Meta(description="The id of the delegation.")]
    parent: Annotated[str | None, Meta(description="The id of its parent in the tree.")]
    root: Annotated[str, Meta(description="The id of the delegation at the top of its tree.")]
    name: Annotated[str, Meta(description="What to call it.")]
    agent: Annotated[str | None, Meta(description="The kind of agent.")]
    product: Annotated[str | None, Meta(description="The program whose files tell of it.")]
    title: Annotated[str | None, Meta(description="The work in a few words.")]
    project: Annotated[str | None, Meta(description="The last part of the folder it works in.")]
    host: Annotated[str | None, Meta(description="The machine it is on, where several are looked at.")]
    path: Annotated[list[str] | None, Meta(description="Its delegation path, itself last.")]
    state: Annotated[State, Meta(description="The state it is in now.")]
    was: Annotated[State | None, Meta(description="The state it was in before, if that changed.")]
    message: Annotated[str, Meta(description="What is to be said of it, in a sentence; may be empty.")]
    rule: Annotated[str | None, Meta(description="The id of the rule that found it; only of a finding.")]
    severity: Annotated[Severity | None, Meta(description="How grave it is; only of a finding.")]
    advice: Annotated[str | None, Meta(description="What to do; only of a finding.")]
    command: Annotated[str | None, Meta(description="What to type to recover. delegtop never runs it.")]
    since: Annotated[Time | None, Meta(description="Since when it is so; of an end, when it ended.")]
    source: Annotated[str | None, Meta(description="The source that says so, else that tells of its start.")]
    line: Annotated[int | None, Meta(description="The line there.")]


class HostNewsLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of `delegtop watch --json` that is about a host, and no delegation."""

    schema_version: Literal[1]
    event: Literal["host lost", "host back"]
    at: Annotated[Time, Meta(description="When it was noticed.")]
    host: str
    message: Annotated[str, Meta(description="Why, in a sentence.")]


def of_host(what: str, host: str, at: Millis, message: str, *, as_json: bool) -> str:
    """That a host is lost, or back."""
    if as_json:
        event = cast(Literal["host lost", "host back"], what)
        return to_json(HostNewsLine(1, event, iso(at), host, message))
    return f"{_second(at)} {what:<8} {text.line(host, _WHO)} | {_one_line(message, _MESSAGE)}"


def done(alert: Alert) -> Item:
    """A tree that is done, as news."""
    return Item(What.DONE, alert.handle, alert.at, alert.state, alert.message)


def as_text(forest: Forest, item: Item, *, masked: bool = True) -> str:
    """`TIME EVENT STATE NAME ID | title or path | what`, safe for terminals and logs."""
    facts = _facts(forest, item.handle, masked=masked)
    finding = item.finding
    word = finding.severity.value if finding else item.state.value
    who = text.line(label(facts), _WHO)
    id = text.line(facts.id, _WHO)
    work = title(facts) or " > ".join(facts.own_path or ())
    where = _one_line(": ".join(filter(None, (_project(forest, item.handle, masked=masked), work))), _WHERE)
    told = privacy.hiding(masked)(said(finding) if finding else item.message)
    what = [f"was {item.before}" if item.before else "", f"{finding.rule} {told}" if finding else told]
    host = text.line(told_host(forest, item.handle), _WHO)
    name = f"{who if who == id else f'{who} {id}'}{f' on {host}' if host else ''}"
    parts = [f"{_second(item.at)} {item.what:<8} {word:<11} {name}", where]
    parts.append(_one_line("; ".join(filter(None, what)), _MESSAGE))
    return " | ".join(filter(None, parts))


def as_json(forest: Forest, item: Item, *, masked: bool = True) -> str:
    """The same as one JSON object."""
    facts = _facts(forest, item.handle, masked=masked)
    finding = privacy.masked_finding(item.finding) if item.finding and masked else item.finding
    parent = forest.parent(item.handle)
    evidence = finding.evidence[0] if finding and finding.evidence else None
    end = facts.ended_origin if item.what is What.ENDED else None
    origin = evidence or end or facts.started_origin or facts.heard_origin
    since = finding.since if finding else facts.ended_at if item.what is What.ENDED else None
    return to_json(
        News(
            schema_version=1,
            event=item.what,
            at=iso(item.at),
            id=facts.id,
            parent=forest.delegation(parent).id if parent is not None else facts.parent,
            root=forest.delegation(_root(forest, item.handle)).id,
            name=label(facts),
            agent=facts.agent,
            product=facts.product,
            title=facts.title,
            project=_project(forest, item.handle, masked=masked) or None,
            host=told_host(forest, item.handle) or None,
            path=list(facts.own_path) if facts.own_path else None,
            state=item.state,
            was=item.before,
            message=privacy.hiding(masked)(item.message),
            rule=finding.rule if finding else None,
            severity=finding.severity if finding else None,
            advice=finding.advice or None if finding else None,
            command=finding.command if finding else None,
            since=_time(since),
            source=origin.name if origin else None,
            line=origin.line if origin else None,
        )
    )


def schema() -> str:
    """The JSON Schema of a line."""
    either, parts = msgspec.json.schema_components([News, HostNewsLine], ref_template="#/$defs/{name}")
    made = {"anyOf": list(either), "$defs": parts, "$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(made, indent=2) + "\n"


def _facts(forest: Forest, handle: Handle, *, masked: bool) -> Delegation:
    facts = forest.delegation(handle)
    return privacy.masked(facts) if masked else facts


def _project(forest: Forest, handle: Handle, *, masked: bool) -> str:
    """The last part of the folder it works in: a line stands for itself, so nothing else tells which one is meant."""
    return privacy.hiding(masked)(Projects().name(folder(forest, handle)))


def _one_line(foreign: str, limit: int) -> str:
    """Foreign text on one line, its own breaks made into blanks."""
    return text.line(_BREAKS.sub(" ", foreign[: 2 * limit]).strip(), limit)


def _second(at: Millis) -> str:
    return re.sub(r"\.\d+Z$", "Z", iso(at))


def _time(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def _root(forest: Forest, handle: Handle) -> Handle:
    for _ in range(_ABOVE):
        above = forest.parent(handle)
        if above is None:
            break
        handle = above
    return handle
