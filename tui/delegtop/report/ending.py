"""How one delegation ended, in a few lines."""

from collections.abc import Iterator

from delegtop.base import text
from delegtop.base.clock import duration
from delegtop.model.forest import Forest
from delegtop.model.measures import ended_at, label
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy

_LINE, _SUMMARY, _SHOWN = 300, 4_000, 20


def lines(forest: Forest, handle: Handle, *, masked: bool = True) -> Iterator[str]:
    """`completed implementer sess_… after 12:03`, its summary, what it made and what went wrong."""
    facts = forest.delegation(handle)
    facts = privacy.masked(facts) if masked else facts
    name = text.line(label(facts), _LINE)
    id = text.line(facts.id, _LINE)
    took = ""
    ended = ended_at(facts)
    if ended is not None and facts.started_at is not None:
        took = f" after {duration(ended - facts.started_at)}"
    reason = forest.reason(handle)
    why = f": {text.line(reason, _LINE)}" if reason else ""
    yield f"{forest.state(handle)} {name if name == id else f'{name} {id}'}{took}{why}"
    if facts.report.summary:
        yield text.safe(facts.report.summary, _SUMMARY)
    for fault in facts.errors[:_SHOWN]:
        yield f"error: {text.line(fault.message or fault.type or 'without a message', _LINE)}"
    for artifact in facts.artifacts[:_SHOWN]:
        yield f"made: {text.line(artifact.path, _LINE)}"
    if facts.report.next_steps:
        yield f"next: {text.line(facts.report.next_steps, _LINE)}"
