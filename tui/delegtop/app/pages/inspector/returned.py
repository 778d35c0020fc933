"""Return: what the delegation gave back, and whether its artifacts are there."""

from collections.abc import Mapping

from textual.content import Content

from delegtop.app.pages.inspector import agent_words
from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, foreign, heading, one_line, said
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.model.states import ACTIVE
from delegtop.sources.artifact_files import Presence

SHOWN = 200
"""Artifacts listed and looked for, at most."""

PRESENCE = {
    Presence.THERE: ("✔", "+", "exists", "$success"),
    Presence.MISSING: ("✖", "x", "missing", "$error"),
    Presence.OUTSIDE: ("?", "?", "outside the project, not looked at", MUTED),
}


def page(subject: PageSubject, presence: Mapping[str, Presence]) -> list[Block]:
    delegation, report = subject.delegation, subject.delegation.report
    if delegation.outcome is None or not (report.status or report.summary or report.artifacts or report.next_steps):
        return [*agent_words.review(subject), Content.styled(_nothing(subject), MUTED), *agent_words.section(subject)]
    blocks: list[Block] = [
        *agent_words.review(subject),
        LabelledFact("status", one_line(report.status, "bold")),
        LabelledFact("summary", foreign(report.summary)),
        *agent_words.section(subject),
        Content(),
        heading(f"Artifacts {len(report.artifacts):,}") if report.artifacts else Content.styled("No artifacts.", MUTED),
    ]
    for artifact in report.artifacts[:SHOWN]:
        blocks.append(
            LabelledFact(
                (artifact.type and one_line(artifact.type, limit=12).plain) or "–",
                _artifact(subject, artifact.path, presence),
            )
        )
        if artifact.summary:
            blocks.append(LabelledFact("", foreign(artifact.summary, MUTED)))
    if len(report.artifacts) > SHOWN:
        blocks.append(Content.styled(f"… and {len(report.artifacts) - SHOWN:,} more", MUTED))
    return blocks


def _artifact(subject: PageSubject, path: str, presence: Mapping[str, Presence]) -> Content:
    if path not in presence:
        return said(one_line(path), "looking …")
    glyph, plain, words, style = PRESENCE[presence[path]]
    return said(one_line(path), Content.styled(f"{plain if subject.ascii else glyph} {words}", style))


def _nothing(subject: PageSubject) -> str:
    if subject.forest.state(subject.handle) in ACTIVE:
        return "It has not returned yet."
    return "No return was seen."
