"""Events in a line each, in minutes from one moment and each at a place of its own, and the forest they grow."""

from collections.abc import Iterable
from itertools import count
from typing import Any

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Phase, Report, Started
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.store.ledger import Handle

T0 = Millis(1_700_000_000_000)
_lines = count(1)


def at(minutes: float) -> Millis:
    return Millis(int(T0 + minutes * MINUTE))


def place(source: str = "run.jsonl") -> Origin:
    line = next(_lines)
    return Origin(source, line, line * 100)


def started(id: str = "a", minute: float = 0, **facts: Any) -> Started:
    return Started(id, at(minute), place(), **({"product": "codex", "agent": "worker"} | facts))


def heard(id: str, minute: float, phase: Phase | None = None, tool: str | None = None, doing: str = "") -> Heard:
    return Heard(id, at(minute), place(), doing or None, tool, phase=phase)


def ended(id: str, minute: float, outcome: Outcome = Outcome.COMPLETED, by: Ending = Ending.RETURN) -> Ended:
    report = Report(status=outcome.value, summary="so it went")
    return Ended(id, at(minute), place(), outcome, by, report)


def forest_at(now: int, events: Iterable[Event], policy: Policy | None = None) -> Forest:
    """What they amount to at that moment."""
    forest = Forest(policy)
    forest.apply(events)
    forest.advance(Millis(now))
    return forest


def handle_of(forest: Forest, id: str) -> Handle:
    """The handle of one that must be known."""
    handle = forest.find(id)
    assert handle is not None, f"{id} is not known"
    return handle
