"""How long calls and answers took, by the events that told of them. Only `learn` counts: nobody else pays for it."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from delegtop.base.clock import HOUR, Millis
from delegtop.model.call_names import names_of_agent, names_of_answer, names_of_call
from delegtop.model.delegation import AGAIN
from delegtop.model.duration_curve import add
from delegtop.model.events import Described, Ended, Event, Heard, Phase, Resumed, Started
from delegtop.model.policy import Counts, Kind

FEW = 20
"""Fewer of a kind are not kept."""
NO_ANSWER = HOUR
"""After so long nobody has been waiting for the model: the machine slept, or the log goes on where it was left."""
MOST = 300
"""So many kinds are kept, those with the most calls."""


class Busy(msgspec.Struct, gc=False):
    """What one was last heard to be in the middle of."""

    phase: Phase | None
    tool: str | None
    doing: str | None
    at: Millis
    since: Millis
    """When that call was made."""


class CallDurations:
    """Counts by program and by name. A call counts if it came back and the model went on: what was broken off says
    nothing, and of several at once only the last one's end is seen."""

    def __init__(self) -> None:
        self._counts: dict[Kind, list[int]] = {}
        self._busy: dict[str, Busy] = {}
        self._product: dict[str, str] = {}
        self._model: dict[str, str] = {}

    def heed(self, events: Iterable[Event]) -> None:
        """Take in what happened, in the order in which each log tells it."""
        for event in events:
            if isinstance(event, Heard):
                if event.at is not None and event.phase is not None:
                    self._heard(event, event.at)
            elif isinstance(event, Started):
                if event.product is not None:
                    self._product[event.id] = event.product
            elif isinstance(event, Described):
                if event.model is not None:
                    self._model.setdefault(event.id, event.model)
            elif isinstance(event, Ended | Resumed):
                self._busy.pop(event.id, None)

    def _heard(self, event: Heard, at: Millis) -> None:
        before, since = self._busy.get(event.id), event.since or at
        if before is not None and at >= before.at:
            if before.phase is event.phase is Phase.MODEL and (event.asked or 0) >= AGAIN:
                return  # it was asked once more: that is no answer
            if before.phase is Phase.MODEL:
                if at - before.at < NO_ANSWER:
                    self._count(event.id, names_of_answer(self._model.get(event.id)), at - before.at)
            elif before.phase is Phase.TOOL and before.tool and event.phase is Phase.MODEL:
                self._count(event.id, names_of_call(before.tool, before.doing), at - before.since)
            elif (before.phase, before.tool, before.doing) == (event.phase, event.tool, event.doing):
                since = event.since or before.since
        self._busy[event.id] = Busy(event.phase, event.tool, event.doing, at, since)

    def agents(self, product: str, agent: str, spans: Iterable[int]) -> None:
        """Agents of that kind took so long from their start to their end."""
        for took in spans:
            self._add(product, names_of_agent(agent), took)

    def _count(self, id: str, names: Iterator[str], took: int) -> None:
        if (product := self._product.get(id)) is not None:
            self._add(product, names, took)

    def _add(self, product: str, names: Iterator[str], took: int) -> None:
        for name in names:
            add(self._counts.setdefault((product, name), []), took)

    def all(self) -> dict[Kind, Counts]:
        """What is worth keeping."""
        many = Counter({kind: sum(counts) for kind, counts in self._counts.items()})
        return {kind: tuple(self._counts[kind]) for kind, count in many.most_common(MOST) if count >= FEW}
