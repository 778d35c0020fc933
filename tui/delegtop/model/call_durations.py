"""How long calls and answers took, by the signs of life that told of them. Only `learn` asks for it, and of sessions
that were read in an earlier run it is kept."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from delegtop.base.clock import HOUR, Millis
from delegtop.model.call_names import names_of_agent, names_of_answer, names_of_call, program_called
from delegtop.model.delegation import AGAIN
from delegtop.model.duration_curve import add
from delegtop.model.events import Ended, Event, Heard, Phase, Resumed
from delegtop.model.forest import Forest
from delegtop.model.policy import Counts, Kind

FEW = 20
"""Fewer of a kind are not kept."""
NO_ANSWER = HOUR
"""After so long nobody has been waiting for the model: the machine slept, or the log goes on where it was left."""
MOST = 300
"""So many kinds are kept, those with the most calls."""


class Busy(msgspec.Struct, gc=False):
    """What one was last heard to be in the middle of."""

    phase: Phase
    tool: str | None
    doing: str | None
    at: Millis
    since: Millis
    """When that call was made."""


class Spread(msgspec.Struct, gc=False, array_like=True):
    """How many calls of one kind, or answers, took how long."""

    tool: str | None
    """None for answers of the model."""
    program: str
    """What a shell was called with."""
    counts: list[int]


class CallsOfOne(msgspec.Struct, gc=False, array_like=True):
    """All calls and answers of one delegation."""

    id: str
    spreads: list[Spread]


class CallCounts:
    """Counts by delegation. A call counts if it came back and the model went on: what was broken off says nothing, and
    of several at once only the last one's end is seen.

    Each log is followed by itself, so it makes no difference in which order they are read."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[tuple[str | None, str], list[int]]] = {}
        self._busy: dict[str, dict[str, Busy]] = {}
        """By log, and then by id."""
        self._recalled: list[CallsOfOne] = []

    def take(self, events: Iterable[Event], recalled: Iterable[CallsOfOne] | None) -> None:
        """What was told, and how long the calls took of which it does not tell."""
        if recalled is None:
            self.heed(events)
        else:
            self._recalled += recalled

    def heed(self, events: Iterable[Event]) -> None:
        """Take in what happened, in the order in which each log tells it."""
        source, busy = "", dict[str, Busy]()
        for event in events:
            kind = type(event)
            if kind is not Heard and kind is not Ended and kind is not Resumed:
                continue
            if event.origin.source is not source:
                source = event.origin.source
                busy = self._busy.setdefault(source, {})
            if isinstance(event, Heard):
                if event.at is not None and event.phase is not None:
                    self._heard(busy, event, event.phase, event.at)
            elif isinstance(event, Ended | Resumed):
                busy.pop(event.id, None)

    def _heard(self, busy: dict[str, Busy], event: Heard, phase: Phase, at: Millis) -> None:
        before, since = busy.get(event.id), event.since or at
        if before is None:
            busy[event.id] = Busy(phase, event.tool, event.doing, at, since)
            return
        if at >= before.at:
            if before.phase is Phase.MODEL:
                if phase is Phase.MODEL and (event.asked or 0) >= AGAIN:
                    return  # it was asked once more: that is no answer
                if at - before.at < NO_ANSWER:
                    self._count(event.id, None, "", at - before.at)
            elif before.phase is Phase.TOOL and before.tool and phase is Phase.MODEL:
                self._count(event.id, before.tool, program_called(before.tool, before.doing), at - before.since)
            elif before.phase is phase and (before.tool, before.doing) == (event.tool, event.doing):
                since = event.since or before.since
        before.phase, before.tool, before.doing, before.at, before.since = phase, event.tool, event.doing, at, since

    def _count(self, id: str, tool: str | None, program: str, took: int) -> None:
        add(self._counts.setdefault(id, {}).setdefault((tool, program), []), took)

    def all(self) -> list[CallsOfOne]:
        """What each did."""
        found = [*self._recalled]
        for id, kinds in self._counts.items():
            found.append(CallsOfOne(id, [Spread(tool, program, counts) for (tool, program), counts in kinds.items()]))
        return found


class CallDurations:
    """What is usual, by program and by name."""

    def __init__(self) -> None:
        self._counts: dict[Kind, list[int]] = {}

    def calls(self, forest: Forest, told: Iterable[CallsOfOne]) -> None:
        """Delegations of that forest made these calls; of which program they are, and of which model, it knows."""
        for one in told:
            handle = forest.find(one.id)
            product, model = (None, None) if handle is None else forest.made_by(handle)
            if product is not None:
                for each in one.spreads:
                    is_call = each.tool is not None
                    names = names_of_call(each.tool or "", each.program) if is_call else names_of_answer(model)
                    self._add(product, names, each.counts)

    def agents(self, product: str, agent: str, spans: Iterable[int]) -> None:
        """Agents of that kind took so long from their start to their end."""
        counts: list[int] = []
        for took in spans:
            add(counts, took)
        self._add(product, names_of_agent(agent), counts)

    def _add(self, product: str, names: Iterator[str], counts: list[int]) -> None:
        for name in names:
            known = self._counts.setdefault((product, name), [])
            known.extend([0] * (len(counts) - len(known)))
            for step, count in enumerate(counts):
                known[step] += count

    def all(self) -> dict[Kind, Counts]:
        """What is worth keeping."""
        many = Counter({kind: sum(self._counts[kind]) for kind in sorted(self._counts)})
        return {kind: tuple(self._counts[kind]) for kind, count in many.most_common(MOST) if count >= FEW}
