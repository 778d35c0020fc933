"""How long calls and answers took, by the signs of life that told of them. Only `learn` asks for it, and of sessions
that were read in an earlier run it is kept."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from delegtop.base.clock import HOUR, Millis
from delegtop.model.call_names import names_of_agent, names_of_answer, names_of_call, program_called
from delegtop.model.delegation import AGAIN
from delegtop.model.duration_curve import add, counted
from delegtop.model.events import Ended, Event, Heard, Phase, Resumed
from delegtop.model.forest import Forest
from delegtop.model.policy import Counts, Kind

FEW = 20
"""Fewer of a kind are not kept."""
NO_ANSWER = HOUR
"""After so long nobody has been waiting for the model: the machine slept, or the log goes on where it was left."""
MOST = 300
"""So many kinds are kept, those with the most calls."""
_MODEL, _TOOL = Phase.MODEL, Phase.TOOL


class Busy(msgspec.Struct, gc=False):
    """What one was last heard to be in the middle of, by one log."""

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
    counts: Counts


class CallsOfOne(msgspec.Struct, gc=False, array_like=True):
    """All calls and answers of one delegation."""

    id: str
    spreads: list[Spread]


class CallCounts:
    """Counts by delegation. A call counts if it came back and the model went on: what was broken off says nothing, and
    of several at once only the last one's end is seen.

    Each log is followed by itself, so it makes no difference in which order they are read."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str | None, str], list[int]] = {}
        """How many took how long, by id, tool and program."""
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
            if type(event) is Heard:
                if event.origin.source is not source:
                    source = event.origin.source
                    busy = self._busy.setdefault(source, {})
                phase, at = event.phase, event.at
                if phase is None or at is None:
                    continue
                before = busy.get(event.id)
                if before is None:
                    busy[event.id] = Busy(phase, event.tool, event.doing, at, event.since or at)
                    continue
                since: Millis | None = None
                if before.at <= at:
                    if before.phase is _MODEL:
                        if phase is _MODEL and (event.asked or 0) >= AGAIN:
                            continue
                        if at - before.at < NO_ANSWER:
                            self._count(event.id, None, "", at - before.at)
                    elif before.phase is _TOOL and before.tool and phase is _MODEL:
                        program = program_called(before.tool, before.doing)
                        self._count(event.id, before.tool, program, at - before.since)
                    elif before.phase is phase and before.tool == event.tool and before.doing == event.doing:
                        since = event.since or before.since  # it is still the same call
                before.phase, before.tool, before.doing = phase, event.tool, event.doing
                before.at, before.since = at, since or event.since or at
            elif isinstance(event, Ended | Resumed):
                self._busy.get(event.origin.source, {}).pop(event.id, None)

    def _count(self, id: str, tool: str | None, program: str, took: int) -> None:
        """One came to its end."""
        key = id, tool, program
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = []
        add(counts, took)

    def all(self) -> list[CallsOfOne]:
        """What each did."""
        own: dict[str, CallsOfOne] = {}
        for (id, tool, program), counts in self._counts.items():
            own.setdefault(id, CallsOfOne(id, [])).spreads.append(Spread(tool, program, tuple(counts)))
        return [*self._recalled, *own.values()]


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
        self._add(product, names_of_agent(agent), counted(spans))

    def _add(self, product: str, names: Iterator[str], counts: Counts) -> None:
        for name in names:
            known = self._counts.setdefault((product, name), [])
            known.extend([0] * (len(counts) - len(known)))
            for step, count in enumerate(counts):
                known[step] += count

    def all(self) -> dict[Kind, Counts]:
        """What is worth keeping."""
        many = Counter({kind: sum(self._counts[kind]) for kind in sorted(self._counts)})
        return {kind: tuple(self._counts[kind]) for kind, count in many.most_common(MOST) if count >= FEW}
