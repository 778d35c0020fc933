"""Findings: what the agent itself says about going on, then what the rules find, worst first, and what to do."""

from collections.abc import Mapping, Sequence

from textual.content import Content

from delegtop.app.pages.inspector import agent_words
from delegtop.app.pages.inspector.matter import command_line
from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, ago, foreign, heading, one_line, said
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.report import privacy
from delegtop.sources.artifact_files import Presence

_STYLES = {Severity.ERROR: "bold $error", Severity.WARNING: "bold $warning", Severity.INFO: "bold"}
_AS_TOLD = {Presence.THERE: True, Presence.MISSING: False}


def found(subject: PageSubject, presence: Mapping[str, Presence]) -> tuple[Finding, ...]:
    """What the rules find now; an artifact that was not looked at, or must not be, is neither there nor missing."""
    from delegtop.diagnosis.engine import diagnose  # fifty rules take time to load, and the first picture needs none

    def exists(path: str) -> bool | None:
        seen = presence.get(path)
        return None if seen is None else _AS_TOLD.get(seen)

    told = diagnose(Case(subject.forest, subject.handle, exists))
    return tuple(map(privacy.masked_finding, told)) if subject.masked else told


def page(subject: PageSubject, findings: Sequence[Finding]) -> list[Block]:
    """What delegtop finds and what the agent itself says, told apart; what a person must look at before both."""
    ours = [finding for finding in findings if finding.by != "agent"]
    theirs = [finding for finding in findings if finding.by == "agent"]
    blocks: list[Block] = [
        *agent_words.review(subject, places=True),
        heading("What delegtop finds"),
        *_told(ours, subject),
    ]
    if not ours:
        blocks.append(Content.styled("Nothing to find fault with.", MUTED))
    told = {words for finding in theirs for words in (finding.message, finding.advice)}
    others = agent_words.blocks(subject, places=True, told=told)
    if theirs or others:
        blocks += [Content(), heading(agent_words.HEADING), *_told(theirs, subject)]
    if theirs and others:
        blocks.append(Content())
    return [*blocks, *others]


def _told(findings: Sequence[Finding], subject: PageSubject) -> list[Block]:
    blocks = [block for finding in findings for block in (*_finding(finding, subject), Content())]
    return blocks[:-1]


def _finding(finding: Finding, subject: PageSubject) -> list[Block]:
    since = said(subject.moment(finding.since), ago(finding.since, subject.now)) if finding.since else None
    return [
        LabelledFact(
            Content.styled(finding.severity.value, _STYLES[finding.severity]),
            said(foreign(finding.message, "bold"), finding.rule),
        ),
        *([LabelledFact("do this", foreign(finding.advice))] if finding.advice else []),
        *([command_line("command", finding.command)] if finding.command else []),
        *([LabelledFact("since", since)] if since else []),
        *(
            LabelledFact("" if number else "evidence", one_line(str(origin), MUTED), target=origin)
            for number, origin in enumerate(finding.evidence)
        ),
    ]
