"""Of all that a feed has read, what belongs to some delegations, to some moment, and into other hands."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.feed.as_of import after
from delegtop.model.events import (
    OF_NONE,
    Described,
    Deviation,
    Ended,
    Erred,
    Event,
    Fault,
    Heard,
    HostBeat,
    HostMet,
    Noted,
    Report,
    Surveyed,
)
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.sources.records import Line, Unreadable


class Read(NamedTuple):
    """One line of a source and what it tells; without a line, what no line tells."""

    line: Line | None
    told: Sequence[Event | Unreadable]


class Selection:
    """What is wanted; `left_out` counts what was there and is not."""

    def __init__(
        self,
        ids: frozenset[str] | None = None,
        beside: frozenset[str] = frozenset(),
        *,
        until: Millis | None = None,
        prompts: bool = False,
        lines: bool = False,
    ) -> None:
        self._ids = ids
        """None for all."""
        self._beside = beside
        """Those of which only when and how is told, not what: without them, who waits for them would seem to idle."""
        self._until = until
        self._prompts = prompts
        self._lines = lines
        self._sources: set[str] = set()
        """Those that tell of what is wanted."""
        self.left_out = {"prompts": 0, "lines": 0, "words of others": 0}

    def of(self, reads: Iterable[Read]) -> list[Read]:
        """What is wanted of everything that was read."""
        reads = list(reads)
        self._sources = {event.origin.source for read in reads for event in read.told if self._is_wanted(event)}
        return [chosen for read in reads if (chosen := self._of(read)) is not None]

    def has(self, source: str) -> bool:
        return self._ids is None or source in self._sources

    def _of(self, read: Read) -> Read | None:
        is_of_others = any(map(_is_about_one, read.told)) and not any(map(self._is_wanted, read.told))
        told = [chosen for event in read.told if (chosen := self._chosen(event, is_of_others)) is not None]
        line = self._line(read.line, whole=told == list(read.told))
        return Read(line, told) if told or (line is not None and line.data) else None

    def _is_wanted(self, event: Event | Unreadable) -> bool:
        """Whether it is about one that is wanted."""
        if isinstance(event, Unreadable | OF_NONE | Surveyed):
            return False
        return (self._ids is None or event.id in self._ids) and not self._is_later(event)

    def _is_later(self, event: Event) -> bool:
        return self._until is not None and after(event, self._until)

    def _chosen(self, event: Event | Unreadable, is_of_others: bool) -> Event | Unreadable | None:
        """The event as it is sent; None if it is not."""
        if isinstance(event, HostMet | HostBeat):
            return None if self._is_later(event) else event
        if isinstance(event, Unreadable | Deviation):
            return event if self.has(event.origin.source) and not is_of_others else None
        if isinstance(event, Surveyed):
            return self._surveyed(event) if self.has(event.origin.source) else None
        if not self._is_wanted(event):
            return self._beside_it(event)
        if isinstance(event, Described) and event.prompt is not None and not self._prompts:
            self.left_out["prompts"] += 1
            return replace(event, prompt=None)
        return event

    def _beside_it(self, event: Event) -> Event | None:
        if getattr(event, "id", None) not in self._beside or self._is_later(event):
            return None
        bare = _bare(event)
        self.left_out["words of others"] += bare != event
        return bare

    def _surveyed(self, event: Surveyed) -> Surveyed:
        if self._ids is None:
            return event
        return replace(event, ids=tuple(id for id in event.ids if id in self._ids or id in self._beside))

    def _line(self, line: Line | None, *, whole: bool) -> Line | None:
        """The line itself only if all it tells is wanted: it may tell of others."""
        if line is None or not line.data or (self._lines and whole and self.has(line.origin.source)):
            return line
        self.left_out["lines"] += 1
        return Line(line.origin, b"", line.at)


def _is_about_one(event: Event | Unreadable) -> bool:
    return not isinstance(event, Unreadable | OF_NONE | Surveyed)


def _bare(event: Event) -> Event | None:
    """When and how, without what: no words of one that is only there for the sake of others."""
    if isinstance(event, Described | Noted):
        return None
    if isinstance(event, Heard):
        return replace(event, doing=None)
    if isinstance(event, Ended):
        return replace(event, report=Report())
    if isinstance(event, Erred):
        return replace(event, fault=Fault(type=event.fault.type, recoverable=event.fault.recoverable))
    return event


def around(forest: Forest, handle: Handle) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of a delegation with all that are or may be above it and all below it, and of the rest of its tree."""
    above = _above(forest, handle)
    near = above | set(_below(forest, [handle]))
    tree = set(_below(forest, above))
    return _ids(forest, near), _ids(forest, tree - near)


def _ids(forest: Forest, handles: Iterable[Handle]) -> frozenset[str]:
    return frozenset(forest.delegation(handle).id for handle in handles)


def _above(forest: Forest, handle: Handle) -> set[Handle]:
    found: set[Handle] = set()
    waiting = [handle]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            parent = forest.parent(one)
            waiting += [*forest.candidates(one), *([] if parent is None else [parent])]
    return found


def _below(forest: Forest, tops: Iterable[Handle]) -> Iterator[Handle]:
    waiting = list(tops)
    while waiting:
        one = waiting.pop()
        yield one
        waiting += forest.children(one)
