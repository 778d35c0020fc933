"""Findings: what the rules say of the delegation, worst first, and what to do about it."""

from collections.abc import Mapping

from textual.content import Content

from delegtop.app.artifacts import Presence
from delegtop.app.inspector.words import MUTED, Subject, ago, foreign, moment, one_line, said
from delegtop.app.widgets.sheet import Block, Fact
from delegtop.diagnosis.finding import Finding, Severity

_STYLES = {Severity.ERROR: "bold $error", Severity.WARNING: "bold $warning", Severity.INFO: "bold"}
_AS_TOLD = {Presence.THERE: True, Presence.MISSING: False}


def found(subject: Subject, presence: Mapping[str, Presence]) -> tuple[Finding, ...]:
    """What the rules find now; an artifact that was not looked at, or must not be, is neither there nor missing."""
    from delegtop.diagnosis.engine import diagnose  # fifty rules take time to load, and the first picture needs none

    def exists(path: str) -> bool | None:
        seen = presence.get(path)
        return None if seen is None else _AS_TOLD.get(seen)

    return diagnose(subject.forest, subject.handle, subject.forest.now, exists)


def page(subject: Subject, presence: Mapping[str, Presence]) -> list[Block]:
    blocks: list[Block] = []
    for finding in found(subject, presence):
        blocks += [*_finding(finding, subject), Content()]
    return blocks or [Content.styled("Nothing to find fault with.", MUTED)]


def _finding(finding: Finding, subject: Subject) -> list[Block]:
    since = said(moment(finding.since, subject), ago(finding.since, subject.forest.now)) if finding.since else None
    evidence = [
        Fact("" if number else "evidence", one_line(str(o), MUTED)) for number, o in enumerate(finding.evidence)
    ]
    whose = "the agent recommends" if finding.by == "agent" else ""
    return [
        Fact(
            Content.styled(finding.severity.value, _STYLES[finding.severity]),
            said(whose, foreign(finding.message, "bold"), finding.rule),
        ),
        *([Fact("do this", foreign(finding.advice))] if finding.advice else []),
        *([Fact("command", one_line(finding.command, "bold $accent"))] if finding.command else []),
        *([Fact("since", since)] if since else []),
        *evidence,
    ]
