"""Overview: what it is, where it stands and why, by when, and what the sources do not agree on."""

from itertools import groupby

from textual.content import Content

from delegtop.app import theme
from delegtop.app.pages.inspector import agent_words, identity, matter
from delegtop.app.pages.inspector.page_words import (
    DASH,
    ENDINGS,
    MUTED,
    PHASES,
    PageSubject,
    ago,
    foreign,
    heading,
    named,
    one_line,
    said,
)
from delegtop.app.widgets.sheet import Beside, Block, LabelledFact
from delegtop.base.clock import Millis, duration
from delegtop.model import measures, phases
from delegtop.model.delegation import Basis
from delegtop.model.events import PROMPT, Ending, Phase, Trust
from delegtop.model.states import ACTIVE, State
from delegtop.model.tree.rollup import Totals

_BASES = {
    Basis.OPERATOR: "your settings",
    Basis.AGENT_FILE: "its agent file",
    Basis.WAIT: "somebody waits",
    Basis.USUAL: "an estimate, not a limit",
}
"""Where a deadline came from, if its own note does not say so."""
_TRUST = {Trust.MTIME: "by the file's time", Trust.EPOCH: "by its session id", Trust.MODEL: "as the model wrote it"}


def page(subject: PageSubject, spent: Totals | None = None) -> list[Block]:
    """`spent` is what it and everything below it used, if it has been added up."""
    return [
        *matter.blocks(subject),
        Beside(_standing(subject), identity.blocks(subject, spent)),
        *_words(subject),
        *agent_words.section(subject),
        *_claims(subject),
    ]


def _standing(subject: PageSubject) -> list[Block]:
    forest, handle = subject.forest, subject.handle
    delegation, state = subject.delegation, forest.state(handle)
    reason = forest.reason(handle)
    blocks: list[Block] = [
        LabelledFact("state", said(theme.state_content(state, ascii=subject.ascii), foreign(reason) if reason else "")),
        *_now(subject, state),
        LabelledFact("deadline", _deadline(subject)),
        LabelledFact("started", _time(delegation.started_at, subject, _TRUST.get(delegation.trust, ""))),
    ]
    if delegation.resumed_at is not None:
        blocks.append(LabelledFact("resumed", _time(delegation.resumed_at, subject)))
    blocks.append(LabelledFact("last heard", _time(delegation.heard_at, subject)))
    if delegation.listed_at is not None:
        left = "has left it since" if delegation.left_registry else ""
        # A registry that was written later is all there is of it: at a moment of the past it is listed then.
        blocks.append(LabelledFact("in registry", _time(min(delegation.listed_at, subject.now), subject, left)))
    if state not in ACTIVE and state is not State.IDLE:
        blocks.append(LabelledFact("ended", _ended(subject)))
    return blocks


def _now(subject: PageSubject, state: State) -> list[Block]:
    """What it is in the middle of: inside which tool and for how long, or what it waits for."""
    delegation = subject.delegation
    blocks: list[Block] = []
    if state in ACTIVE and (delegation.phase or delegation.doing or delegation.tool):
        blocks.append(LabelledFact("doing", _doing(subject)))
    elif work := phases.work(delegation):
        blocks.append(LabelledFact("last did", foreign(work)))
    blocker = subject.assessments.end_of_path(subject.handle) if state in ACTIVE else None
    if blocker is not None:
        doing = phases.now(subject.facts_of(blocker))
        blocks.append(LabelledFact("waits on", said(named(subject, blocker), one_line(doing) if doing else "")))
    if delegation.wait is not None and state in ACTIVE:
        until = _time(delegation.wait.until, subject)
        blocks.append(LabelledFact("awaited", said(one_line(subject.hide(delegation.wait.by)), until)))
    return blocks


def _doing(subject: PageSubject) -> Content:
    delegation, phase = subject.delegation, subject.delegation.phase
    doing = foreign(delegation.doing) if delegation.doing else ""
    tool = one_line(delegation.tool) if delegation.tool else ""
    if phase is None:
        return said(doing or tool, one_line(delegation.tool, MUTED) if doing and tool else "")
    begun = delegation.phase_since or delegation.heard_at
    since = f"for {duration(max(subject.now - begun, 0))}" if begun is not None else ""
    if phase is Phase.TOOL:
        return said(Content.styled("inside ", MUTED) + (tool or Content("a tool")), doing, since, _own_timeout(subject))
    style = "bold $warning" if phase in phases.FOR_PEOPLE else "bold"
    return said(Content.styled(PHASES[phase], style), tool, doing, since)


def _own_timeout(subject: PageSubject) -> str:
    """What is left of the time that the open call was given."""
    due, now = subject.delegation.call_deadline, subject.now
    if due is None:
        return ""
    return f"{duration(due - now)} to its own timeout" if due >= now else f"{duration(now - due)} past its own timeout"


def _time(at: Millis | None, subject: PageSubject, remark: str = "") -> Content:
    """A moment and how long ago it was; grey if a model wrote it, for that is no clock."""
    style = MUTED if subject.delegation.trust is Trust.MODEL else ""
    return said(Content.styled(subject.moment(at), style), ago(at, subject.now), remark)


def _words(subject: PageSubject) -> list[Block]:
    """What it was asked and what it came back with, in its own words."""
    prompt, answer = subject.delegation.prompt, subject.delegation.report.summary
    blocks: list[Block] = []
    if prompt:
        blocks.append(LabelledFact("prompt", foreign(_cut(prompt))))
    if answer:
        blocks.append(LabelledFact("answer", foreign(_cut(answer))))
    return [Content(), *blocks] if blocks else []


def _cut(text: str) -> str:
    """What fits on a page; a dialect has cut the text before, and the whole stands in the log."""
    text = text.strip()
    return text if len(text) < PROMPT else f"{text} (the whole stands in the log)"


def _deadline(subject: PageSubject) -> Content:
    deadline, delegation, now = subject.forest.deadline(subject.handle), subject.delegation, subject.now
    if deadline is None:
        unsure = "a model wrote its times" if delegation.trust is Trust.MODEL else "no default for this kind of work"
        return said(DASH, f"none declared, and {unsure}")
    left = ""
    if subject.forest.state(subject.handle) in ACTIVE:
        left = f"{duration(deadline.at - now)} left" if deadline.at >= now else f"{duration(now - deadline.at)} over"
    elif delegation.ended_at is not None and delegation.ended_at > deadline.at and deadline.is_firm:
        left = f"ended {duration(delegation.ended_at - deadline.at)} late"
    over = deadline.at < now and bool(left) and deadline.is_firm
    return said(
        Content(subject.moment(deadline.at)),
        Content.styled(left, "bold $error" if over else "bold" if deadline.is_firm else ""),
        _BASES.get(deadline.basis, ""),
        one_line(subject.hide(deadline.note), MUTED),
    )


def _ended(subject: PageSubject) -> Content:
    delegation = subject.delegation
    took = ""
    timed = delegation.trust is not Trust.MODEL
    if delegation.ended_at is not None and delegation.started_at is not None and timed:
        took = f"after {duration(delegation.ended_at - delegation.started_at)}"
    own = delegation.report.duration
    if delegation.ended_at is not None and measures.ended_at(delegation) is None:
        return said(DASH, f"{ENDINGS[Ending.GONE]}, found so at {subject.moment(delegation.ended_at)}")
    return said(
        Content(subject.moment(delegation.ended_at)),
        took,
        ENDINGS[delegation.ended_by] if delegation.ended_by is not None else "",
        f"{duration(own)} by its own account" if own is not None else "",
    )


def _claims(subject: PageSubject) -> list[Block]:
    claims = sorted(subject.delegation.claims, key=lambda claim: claim.field)
    if not claims:
        return []
    blocks: list[Block] = [Content(), heading("Sources disagree")]
    for field, group in groupby(claims, key=lambda claim: claim.field):
        for claim in group:
            blocks.append(LabelledFact(field, said(one_line(claim.value), one_line(str(claim.origin), MUTED))))
    return blocks
