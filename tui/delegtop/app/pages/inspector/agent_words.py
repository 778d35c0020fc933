"""What the data itself says about going on, wherever it stood; the agent's own words apart from delegtop's."""

from collections.abc import Collection

from textual.content import Content

from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, foreign, heading, one_line
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.model import recovery_hints
from delegtop.model.notes import HANDOFF, LOOP, REVIEW

HEADING = "What the agent says about going on"
_OURS = "What delegtop says about going on"
_STYLES = {HANDOFF: "bold", LOOP: "$warning"}


def review(subject: PageSubject, *, places: bool = False) -> list[Block]:
    """Why a person must look, before anything else."""
    sign = Content.styled("R review" if subject.ascii else "⚑ review", "bold $warning")
    reasons = [hint for hint in recovery_hints.hints(subject.delegation) if hint.kind == REVIEW]
    shown = [block for hint in reasons for block in _hint(hint, sign, "bold $warning", places)]
    return [*shown, Content()] if shown else []


def blocks(subject: PageSubject, *, places: bool = False, told: Collection[str] = ()) -> list[Block]:
    """All other hints but those that have been told; with `places`, each with its line, to be opened."""
    wanted = [
        hint
        for hint in recovery_hints.hints(subject.delegation)
        if hint.kind != REVIEW and hint.text not in told and not hint.by_delegtop
    ]
    return [block for hint in wanted for block in _hint(hint, hint.title, _STYLES.get(hint.kind, ""), places)]


def _hint(hint: recovery_hints.Hint, title: str | Content, style: str, places: bool) -> list[Block]:
    words = LabelledFact(title, foreign(hint.text, style))
    if not places or hint.origin is None:
        return [words]
    return [words, LabelledFact("", one_line(str(hint.origin), MUTED), target=hint.origin)]


def section(subject: PageSubject) -> list[Block]:
    """All hints under a heading of their own, those that delegtop wrote under another; nothing if there are none."""
    shown = blocks(subject)
    ours = [hint for hint in recovery_hints.hints(subject.delegation) if hint.by_delegtop]
    own = [block for hint in ours for block in _hint(hint, hint.title, "", places=False)]
    return [
        *([Content(), heading(HEADING), *shown] if shown else []),
        *([Content(), heading(_OURS), *own] if own else []),
    ]
