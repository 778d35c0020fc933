"""Errors: what to do first, then what went wrong."""

from textual.content import Content

from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, foreign, heading, one_line, said
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.model.events import Fault
from delegtop.protocols.standard.contract.own_words import is_own

_SHOWN = 100


def page(subject: PageSubject) -> list[Block]:
    errors = subject.delegation.errors
    if not errors:
        return [Content.styled("No errors reported.", MUTED)]
    blocks = [block for number, fault in enumerate(errors[:_SHOWN], 1) for block in _error(fault, number, len(errors))]
    if len(errors) > _SHOWN:
        blocks.append(Content.styled(f"… and {len(errors) - _SHOWN:,} more", MUTED))
    return blocks


def _error(fault: Fault, number: int, of: int) -> list[Block]:
    advice = foreign(fault.recommendation, "bold") if fault.recommendation else Content.styled("none given", MUTED)
    return [
        *([heading(f"Error {number} of {of}")] if of > 1 else []),
        LabelledFact("do this", advice),
        LabelledFact(
            "what",
            said(
                one_line(fault.type, "bold $error"),
                one_line(fault.code) if fault.code else "",
                _recoverable(fault),
                "written by delegtop" if is_own(fault) else "",
            ),
        ),
        LabelledFact("message", foreign(fault.message)),
        Content(),
    ]


def _recoverable(fault: Fault) -> str:
    if fault.recoverable is None:
        return "recoverable or not: –"
    return "recoverable" if fault.recoverable else "not recoverable"
