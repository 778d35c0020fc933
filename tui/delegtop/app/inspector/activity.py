"""Activity: what happened when, newest first, read again from the log."""

from collections.abc import Sequence

from textual.content import Content

from delegtop.app.inspector.words import MUTED, Subject, foreign, moment, one_line, said
from delegtop.app.widgets.sheet import Block, Fact
from delegtop.clock import Millis, duration
from delegtop.model.events import Deviation, Ended, Erred, Event, Heard, Started, Surveyed
from delegtop.sources.record import Line

_TIME = 10
_DAY_AND_TIME = 21
History = Sequence[tuple[Line, list[Event]]]


def page(subject: Subject, history: History | None) -> list[Block]:
    if history is None:
        return [Content.styled("Reading the log …", MUTED)]
    events = [
        event for _, events in reversed(history) for event in reversed(events) if _about(event, subject.delegation.id)
    ]
    if not events:
        return [Content.styled("Nothing is written about it.", MUTED)]
    rows = [(_when(event, subject), _what(event)) for event in events]
    indent = _TIME if all(len(when) < _TIME for when, _ in rows) else _DAY_AND_TIME
    return [Fact(when, what, indent) for when, what in rows]


def _about(event: Event, id_: str) -> bool:
    if isinstance(event, Surveyed):
        return id_ in event.ids
    return isinstance(event, Deviation) or event.id == id_


def _when(event: Event, subject: Subject) -> str:
    at: Millis | None = None if isinstance(event, Deviation) else event.at
    return moment(at, subject) or "–"


def _what(event: Event) -> Content:
    match event:
        case Started():
            by = one_line(event.caller) if event.caller else ""
            allowed = f"{duration(event.timeout)} allowed" if event.timeout is not None else ""
            return said(Content.styled("started", "bold"), by, allowed)
        case Heard():
            tokens = f"{event.tokens:,} tokens" if event.tokens is not None else ""
            return said(
                foreign(event.doing) if event.doing else "heartbeat",
                one_line(event.tool, MUTED) if event.tool else "",
                tokens,
            )
        case Erred():
            return said(
                Content.styled("error", "bold $error"), one_line(event.fault.type), foreign(event.fault.message)
            )
        case Ended():
            return said(
                Content.styled(event.outcome.value, "bold"),
                f"by {event.by.name.lower()}",
                foreign(event.report.summary) if event.report.summary else "",
            )
        case Surveyed():
            return Content.styled("listed in the registry", MUTED)
        case Deviation():
            return said(
                Content.styled("does not fit the format", "$warning"), one_line(event.kind), one_line(event.detail)
            )
