"""What is the matter, what to do, and what to type: the first lines of a page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from delegtop.app import clipboard
from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, foreign, named, one_line, said
from delegtop.app.widgets.sheet import LABEL as _LABEL
from delegtop.app.widgets.sheet import Block, CopyableCommand, LabelledFact
from delegtop.diagnosis.assessment import Assessment, Urgency

if TYPE_CHECKING:
    from delegtop.diagnosis.recovery import Step

LABEL = 22
"""Cells for the name of what is the matter."""
_STYLES = {
    Urgency.STUCK: "bold $stuck",
    Urgency.PERSON: "bold $stuck",
    Urgency.SUSPICIOUS: "bold $warning",
}


def style(found: Assessment) -> str:
    """The colour of what is the matter."""
    return _STYLES.get(found.urgency, f"bold $state-{found.state.colour}" if found.problem else "")


def blocks(subject: PageSubject) -> list[Block]:
    """Three lines for what is a problem; for who waits on one, where to look."""
    found = subject.assessment
    if not found.problem:
        return _waits(subject, found)
    steps = subject.assessments.todo(subject.handle)
    first = next((step for step in steps if step.words), None)
    command = next((step for step in steps if step.command), None)
    return [
        LabelledFact(Content.styled(found.short, style(found)), sentence(subject, found), LABEL),
        *([LabelledFact("do this", foreign(subject.hide(first.words), "bold"), LABEL)] if first else []),
        *_command(subject, command, first),
        Content(),
    ]


def sentence(subject: PageSubject, found: Assessment) -> Content:
    """What is the matter, and how sure that is where it is not certain."""
    words = foreign(subject.hide(found.sentence(subject.forest.now_of(found.handle))), style(found))
    return said(words, found.certainty.value if found.certainty != "certain" else "")


def _command(subject: PageSubject, step: "Step | None", first: "Step | None") -> Sequence[Block]:
    if step is None or step.command is None:
        return ()
    when = "" if step is first else subject.hide(step.words)
    return (command_line("command", subject.hide(step.command), when, LABEL),)


def command_line(title: str, text: str, remark: str = "", indent: int = _LABEL, how: str = "y copies") -> LabelledFact:
    """A command as it is; it is copied only if it hides nothing, and never run."""
    if refused := clipboard.refusal(text):
        how = f"cannot be copied: {refused}"
    shown = said(one_line(text, "bold $accent"), one_line(remark, MUTED) if remark else "", how)
    return LabelledFact(title, shown, indent, CopyableCommand(text))


def _waits(subject: PageSubject, found: Assessment) -> list[Block]:
    if found.waits_on is None or not (below := subject.assessments.of(found.waits_on)).problem:
        return []
    first = subject.assessments.first()
    goes = (
        " goes to it."
        if first is not None and first.is_now and first.handle == found.waits_on
        else " goes through all problems."
    )
    return [
        LabelledFact(
            Content.styled("waits on", style(below)),
            said(named(subject, found.waits_on), sentence(subject, below)),
            LABEL,
        ),
        LabelledFact("do this", Content.assemble("Look there: ", ("e", "bold $accent"), goes), LABEL),
        Content(),
    ]
