"""Activity: what happened when, newest first, read again from the log."""

from collections.abc import Callable, Sequence
from itertools import groupby

from textual.content import Content

from delegtop.app.pages.inspector.page_words import ENDINGS, MUTED, PHASES, PageSubject, foreign, one_line, said
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.base.clock import Millis, duration
from delegtop.model import process_words
from delegtop.model.events import (
    Awaited,
    Described,
    Deviation,
    Ended,
    Erred,
    Event,
    Heard,
    HostBeat,
    HostMet,
    Noted,
    ProcessSeen,
    Resumed,
    Sighted,
    Started,
    Surveyed,
)
from delegtop.sources.records import Line

_TIME = 10
_DAY_AND_TIME = 21
History = Sequence[tuple[Line, list[Event]]]
Row = tuple[str, Content]


def page(subject: PageSubject, history: History | None) -> list[Block]:
    if history is None:
        return [Content.styled("Reading the log …", MUTED)]
    events = [
        event for _, events in reversed(history) for event in reversed(events) if _about(event, subject.delegation.id)
    ]
    if not events:
        return [Content.styled("Nothing is written about it.", MUTED)]
    rows = _without_repeats([(_when(event, subject), _what(event, subject.hide)) for event in events])
    indent = _TIME if all(len(when) < _TIME for when, _ in rows) else _DAY_AND_TIME
    return [LabelledFact(when, what, indent) for when, what in rows]


def _without_repeats(rows: list[Row]) -> list[Row]:
    """What several lines of the log say of one moment is told once, with how many they were."""
    told: list[Row] = []
    for (when, _), group in groupby(rows, key=lambda row: (row[0], row[1].plain)):
        first, *again = (what for _, what in group)
        told.append((when, said(first, f"{len(again) + 1} times") if again else first))
    return told


def _about(event: Event, id_: str) -> bool:
    if isinstance(event, Surveyed):
        return id_ in event.ids
    if isinstance(event, (HostMet, HostBeat)):
        return False
    return isinstance(event, Deviation) or event.id == id_


def _when(event: Event, subject: PageSubject) -> str:
    at: Millis | None = None if isinstance(event, Deviation) else event.at
    return subject.moment(at) or "–"


def _what(event: Event, hide: Callable[[str], str]) -> Content:
    match event:
        case Started():
            by = one_line(event.caller) if event.caller else ""
            allowed = f"{duration(event.timeout)} allowed" if event.timeout is not None else ""
            return said(Content.styled("started", "bold"), by, allowed)
        case Heard():
            tokens = f"{event.tokens:,} tokens" if event.tokens else ""
            phase = PHASES.get(event.phase, event.phase) if event.phase else "heartbeat"
            return said(
                foreign(hide(event.doing)) if event.doing else phase,
                one_line(event.tool, MUTED) if event.tool else "",
                tokens,
            )
        case Erred():
            return said(
                Content.styled("error", "bold $error"),
                one_line(event.fault.type),
                foreign(hide(event.fault.message or "")),
            )
        case Ended():
            return said(
                Content.styled(event.outcome.value, "bold"),
                ENDINGS[event.by],
                foreign(hide(event.report.summary)) if event.report.summary else "",
            )
        case Described():
            facts = {"title": event.title, "name": event.name, "model": event.model}
            told = [Content.styled(f"{what} ", MUTED) + one_line(hide(word)) for what, word in facts.items() if word]
            return said(*told) if told else Content.styled("described", MUTED)
        case Noted():
            return said(one_line(event.kind, "bold"), foreign(hide(event.text)) if event.text else "no longer so")
        case Awaited():
            return said(Content.styled("awaited", "bold"), one_line(hide(event.by)))
        case Sighted():
            return said("at work" if event.phase is None else PHASES.get(event.phase, "at work"))
        case ProcessSeen():
            return said(Content.styled("kernel", "bold"), foreign(hide(process_words.seen(event))))
        case Resumed():
            return Content.styled("given work again", "bold")
        case Surveyed():
            return Content.styled("listed in the registry", MUTED)
        case HostMet() | HostBeat():
            return Content.styled("its host was heard of", MUTED)
        case Deviation():
            words = Content.styled("does not fit the format", "$warning")
            return said(words, one_line(event.kind), one_line(hide(event.detail)))
