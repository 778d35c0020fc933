"""Overview: what it is, where it stands and why, by when, and what the sources do not agree on."""

from itertools import groupby

from textual.content import Content

from delegtop.app import theme
from delegtop.app.inspector.words import (
    DASH,
    MUTED,
    Subject,
    ago,
    foreign,
    heading,
    moment,
    named,
    one_line,
    path_of,
    said,
)
from delegtop.app.widgets.sheet import Beside, Block, Fact
from delegtop.clock import duration
from delegtop.model.delegation import ACTIVE, Link
from delegtop.model.events import Ending, Trust
from delegtop.model.measures import derived_depth
from delegtop.text import line

_LINKS = {
    Link.ROOT: "no parent",
    Link.EXPLICIT: "named by the log",
    Link.INFERRED: "inferred from path and time",
    Link.AMBIGUOUS: "unsure: more than one fits",
}
_ENDINGS = {
    Ending.ERROR: "a non-recoverable error without a return",
    Ending.GONE: "its process is gone",
    Ending.TIMEOUT: "a timeout was recorded",
    Ending.CANCEL: "it was cancelled",
    Ending.REGISTRY: "the registry said so",
    Ending.RETURN: "it returned",
}
_TRUST = {Trust.MTIME: "by the file's time", Trust.EPOCH: "by its session id", Trust.MODEL: "as the model wrote it"}


def page(subject: Subject) -> list[Block]:
    return [Beside(_standing(subject), _identity(subject)), *_claims(subject)]


def _standing(subject: Subject) -> list[Block]:
    forest, handle, now = subject.forest, subject.handle, subject.forest.now
    delegation, state = subject.delegation, forest.state(handle)
    blocks: list[Block] = [
        Fact(
            "state",
            said(
                theme.state_content(state, ascii=subject.ascii),
                foreign(forest.reason(handle)) if forest.reason(handle) else "",
            ),
        )
    ]
    if (blocker := forest.blocker(handle)) is not None:
        blocks.append(
            Fact(
                "waits on",
                said(
                    named(subject, blocker),
                    one_line(forest.delegation(blocker).doing) if forest.delegation(blocker).doing else "",
                ),
            )
        )
    if delegation.doing or delegation.tool:
        blocks.append(
            Fact("doing", said(foreign(delegation.doing), one_line(delegation.tool, MUTED) if delegation.tool else ""))
        )
    blocks.append(Fact("deadline", _deadline(subject)))
    trust = _TRUST.get(delegation.trust, "")
    blocks += [
        Fact(
            "started",
            said(Content(moment(delegation.started_at, subject)), ago(delegation.started_at, now), trust),
        ),
        Fact("last heard", said(Content(moment(delegation.heard_at, subject)), ago(delegation.heard_at, now))),
    ]
    if delegation.listed_at is not None:
        left = "has left it since" if delegation.left_registry else ""
        blocks.append(
            Fact(
                "in registry",
                said(Content(moment(delegation.listed_at, subject)), ago(delegation.listed_at, now), left),
            )
        )
    if state not in ACTIVE:
        blocks.append(Fact("ended", _ended(subject)))
    return blocks


def _deadline(subject: Subject) -> Content:
    deadline = subject.forest.deadline(subject.handle)
    if deadline is None:
        return said(DASH, "none declared, and no default for this kind of work")
    delegation, now = subject.delegation, subject.forest.now
    left = ""
    if subject.forest.state(subject.handle) in ACTIVE:
        left = f"{duration(deadline.at - now)} left" if deadline.at >= now else f"{duration(now - deadline.at)} over"
    elif delegation.ended_at is not None and delegation.ended_at > deadline.at:
        left = f"ended {duration(delegation.ended_at - deadline.at)} late"
    over = deadline.at < now and bool(left)
    return said(
        Content(moment(deadline.at, subject)),
        Content.styled(left, "bold $error" if over else "bold"),
        one_line(deadline.note, MUTED),
    )


def _ended(subject: Subject) -> Content:
    delegation = subject.delegation
    took = ""
    if delegation.ended_at is not None and delegation.started_at is not None:
        took = f"after {duration(delegation.ended_at - delegation.started_at)}"
    own = delegation.report.duration
    return said(
        Content(moment(delegation.ended_at, subject)),
        took,
        _ENDINGS[delegation.ended_by] if delegation.ended_by else "",
        f"{duration(own)} by its own account" if own is not None else "",
    )


def _identity(subject: Subject) -> list[Block]:
    forest, handle, delegation = subject.forest, subject.handle, subject.delegation
    level = derived_depth(forest, handle)
    claimed = delegation.depth
    depth = (
        Content(str(level))
        if claimed == level
        else said(
            Content(f"{claimed if claimed is not None else '–'} claimed"),
            Content.styled(f"{level} derived", "bold $warning" if claimed is not None else ""),
        )
    )
    blocks: list[Block] = [
        Fact("session", one_line(delegation.id, "bold")),
        Fact(
            "agent",
            said(
                one_line(delegation.agent),
                *_labelled(
                    delegation.command and f"/{delegation.command.lstrip('/')}",
                    delegation.task and f"task {delegation.task}",
                ),
            ),
        ),
        Fact("path", Content(path_of(delegation)) if delegation.path else DASH),
        Fact("depth", depth),
        Fact("parent", _parent(subject)),
    ]
    if children := len(forest.children(handle)):
        blocks.append(Fact("children", Content(f"{children:,}")))
    if delegation.caller:
        blocks.append(Fact("caller", one_line(delegation.caller)))
    if delegation.pid is not None or delegation.host:
        blocks.append(
            Fact(
                "process",
                said(*_labelled(f"pid {delegation.pid}" if delegation.pid is not None else None, delegation.host)),
            )
        )
    blocks.append(Fact("used", _used(subject)))
    blocks += [Fact(f"{name}"[:12], one_line(value)) for name, value in _refs(subject)]
    return blocks


def _labelled(*parts: str | None) -> list[Content]:
    return [one_line(part) for part in parts if part]


def _refs(subject: Subject) -> list[tuple[str, str]]:
    return [(line(name, 12), value) for name, value in subject.delegation.refs if name not in ("session_id", "task")]


def _parent(subject: Subject) -> Content:
    forest, handle = subject.forest, subject.handle
    link, parent, declared = forest.link(handle), forest.parent(handle), subject.delegation.parent
    if parent is not None:
        who = named(subject, parent)
    elif declared:
        return said(one_line(declared), "named by the log, never seen itself")
    else:
        return said(DASH, _LINKS[link])
    if link is not Link.AMBIGUOUS:
        return said(who, _LINKS[link])
    others = [named(subject, candidate) for candidate in forest.candidates(handle)[:8]]
    return said(who, Content.styled(_LINKS[link], "$warning"), *others)


def _used(subject: Subject) -> Content:
    tokens, cost = subject.delegation.tokens, subject.delegation.cost
    return said(
        Content(f"{tokens:,} tokens") if tokens is not None else "",
        Content(f"${cost:,.2f}") if cost is not None else "",
    )


def _claims(subject: Subject) -> list[Block]:
    claims = sorted(subject.delegation.claims, key=lambda claim: claim.field)
    if not claims:
        return []
    blocks: list[Block] = [Content(), heading("Sources disagree")]
    for field, group in groupby(claims, key=lambda claim: claim.field):
        for claim in group:
            blocks.append(Fact(field, said(one_line(claim.value), one_line(str(claim.origin), MUTED))))
    return blocks
