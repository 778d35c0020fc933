"""How long calls and answers took, by the signs of life that told of them. Only `learn` asks for it, and of sessions
that were read in an earlier run it is kept."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from delegtop.base.clock import HOUR, Millis
from delegtop.model.call_names import is_shell, names_of_agent, names_of_answer, names_of_call, program_called
from delegtop.model.delegation import AGAIN
from delegtop.model.duration_curve import add, add_all, counted
from delegtop.model.events import Ended, Event, Heard, Phase, Resumed
from delegtop.model.forest import Forest
from delegtop.model.policy import Counts, Kind

if TYPE_CHECKING:
    from delegtop.model.call_counter import Doing

FEW = 20
"""Fewer of a kind are not kept."""
NO_ANSWER = HOUR
"""After so long nobody has been waiting for the model: the machine slept, or the log goes on where it was left."""
MOST = 300
"""So many kinds are kept, those with the most calls."""
_MODEL, _TOOL = Phase.MODEL, Phase.TOOL
_ANSWER = None, ""
"""The kind of what the model says."""


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


class CallsOfLog:
    """The calls and answers of one delegation as one log tells of them. A call counts if it came back and the model
    went on: what was broken off says nothing, and of several at once only the last one's end is seen."""

    __slots__ = ("_answers", "_at", "_calls", "_phase", "_since", "_teller", "_tool")

    def __init__(self) -> None:
        self._answers: list[int] = []
        self._calls: dict[tuple[str, str], list[int]] = {}
        """How many took how long, by tool and program."""
        self._phase: Phase | None = None
        """What it was last heard to be in the middle of; None if that is not known."""
        self._tool: str | None = None
        self._teller: Doing | None = None
        self._at = self._since = Millis(0)
        """When it was heard, and when that call was made."""

    def hear(
        self, phase: Phase, tool: str | None, teller: "Doing | None", at: Millis, since: Millis | None, asked: int
    ) -> None:
        before, begun = self._phase, self._at
        if before is not None and begun <= at:
            if before is _MODEL:
                if phase is _MODEL and asked >= AGAIN:
                    return
                if at - begun < NO_ANSWER:
                    add(self._answers, at - begun)
            elif before is _TOOL and phase is _MODEL:
                if was := self._tool:
                    called = was, program_called(was, self._doing) if is_shell(was) else ""
                    counts = self._calls.get(called)
                    if counts is None:
                        counts = self._calls[called] = []
                    add(counts, at - self._since)
            elif not since and before is phase and self._tool == tool and self._doing == (teller and teller.doing):
                since = self._since  # it is still the same call
        self._phase, self._tool, self._teller, self._at = phase, tool, teller, at
        self._since = since or at

    def counts(self) -> Iterator[tuple[tuple[str | None, str], list[int]]]:
        """How many took how long, by tool and program."""
        if self._answers:
            yield _ANSWER, self._answers
        yield from self._calls.items()

    def end(self) -> None:
        """What it was in the middle of is over."""
        self._phase = self._teller = None

    @property
    def _doing(self) -> str | None:
        return None if self._teller is None else self._teller.doing


class CallCounts:
    """Counts by delegation. Each log is followed by itself, so it makes no difference in which order they are read."""

    def __init__(self) -> None:
        self._heard: dict[str, dict[str, CallsOfLog]] = {}
        """By log, and then by id."""
        self._recalled: list[CallsOfOne] = []

    def take(self, events: Iterable[Event], recalled: Iterable[CallsOfOne] | None) -> None:
        """What was told, and how long the calls took of which it does not tell."""
        if recalled is None:
            self.heed(events)
        else:
            self._recalled += recalled

    def of(self, source: str, id: str) -> CallsOfLog:
        """What that log tells of one."""
        log = self._heard.get(source)
        if log is None:
            log = self._heard[source] = {}
        heard = log.get(id)
        if heard is None:
            heard = log[id] = CallsOfLog()
        return heard

    def heed(self, events: Iterable[Event]) -> None:
        """Take in what happened, in the order in which each log tells it."""
        for event in events:
            if type(event) is Heard:
                if event.phase is not None and event.at is not None:
                    said = event.phase, event.tool, event, event.at, event.since, event.asked or 0
                    self.of(event.origin.source, event.id).hear(*said)
            elif type(event) is Ended or type(event) is Resumed:  # a union would be made for each
                heard = self._heard.get(event.origin.source, {}).get(event.id)
                if heard is not None:
                    heard.end()

    def all(self) -> list[CallsOfOne]:
        """What each did."""
        counts: dict[str, dict[tuple[str | None, str], list[int]]] = {}
        for log in self._heard.values():
            for id, heard in log.items():
                for kind, more in heard.counts():
                    add_all(counts.setdefault(id, {}).setdefault(kind, []), more)
        own = ((id, [Spread(*kind, tuple(each)) for kind, each in found.items()]) for id, found in counts.items())
        return [*self._recalled, *(CallsOfOne(id, spreads) for id, spreads in own)]


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
            add_all(self._counts.setdefault((product, name), []), counts)

    def all(self) -> dict[Kind, Counts]:
        """What is worth keeping."""
        many = Counter({kind: sum(self._counts[kind]) for kind in sorted(self._counts)})
        return {kind: tuple(self._counts[kind]) for kind, count in many.most_common(MOST) if count >= FEW}
