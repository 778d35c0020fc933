"""The chronicle: all events of a recording in the order in which they became known.

An event stands at its own time. One without a time stands where the record before it in its file stands, else the
next one, else at the very beginning. A registry that was seen only once carries the time its file was last written,
which copying a file changes: it stands where the last delegation it lists was started, for since then it can have
looked like that. What another host tells stands where it was by this machine's clock, if it is known by how much they
differ. Nothing stands later than the moment of reading. What happened at one moment is ordered by its place.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from delegtop.base.clock import Millis
from delegtop.base.origin import HostFile, Origin
from delegtop.model.events import Deviation, Event, HostBeat, HostMet, Started, Surveyed

_origin = attrgetter("origin")


def in_order(events: Sequence[Event], until: Millis | None = None) -> tuple[list[Event], "array[int]"]:
    """The events as they became known, and when each did."""
    times = [None if isinstance(event, Deviation) else event.at for event in events]
    _place_surveys(events, times)
    _place_untimed(events, times)
    _place_hosts(events, times)
    _set_clocks(events, times)
    first = min((at for at in times if at is not None), default=Millis(0))
    moments = [first if at is None else at for at in times]
    if until is not None and max(moments, default=until) > until:
        moments = [min(at, until) for at in moments]
    order = sorted(range(len(events)), key=moments.__getitem__)
    told, at = [events[index] for index in order], array("q", map(moments.__getitem__, order))
    _settle_ties(told, at)
    return told, at


def _place_surveys(events: Sequence[Event], times: list[Millis | None]) -> None:
    surveys = {event.origin.file: index for index, event in enumerate(events) if isinstance(event, Surveyed)}
    if not surveys:
        return
    seen = Counter(event.origin.file for event in events if isinstance(event, Surveyed))
    starts: dict[HostFile, Millis] = {}
    for event in events:
        file = event.origin.file
        if isinstance(event, Started) and event.at is not None and seen[file] == 1:
            starts[file] = max(event.at, starts.get(file, event.at))
    for file, start in starts.items():
        times[surveys[file]] = min(start, times[surveys[file]] or start)


def _place_untimed(events: Sequence[Event], times: list[Millis | None]) -> None:
    untimed = [index for index, at in enumerate(times) if at is None]
    wanted = {events[index].origin.file for index in untimed}
    known: dict[HostFile, list[tuple[Origin, Millis]]] = {file: [] for file in wanted}
    for event, at in zip(events, times, strict=True) if wanted else ():
        if at is not None and event.origin.file in wanted:
            known[event.origin.file].append((event.origin, at))
    for neighbours in known.values():
        neighbours.sort()
    for index in untimed:
        neighbours = known[events[index].origin.file]
        if neighbours:
            before = bisect_right(neighbours, events[index].origin, key=lambda neighbour: neighbour[0])
            times[index] = neighbours[max(before - 1, 0)][1]


def _place_hosts(events: Sequence[Event], times: list[Millis | None]) -> None:
    """That a host begins to tell stands where it first has told all; what it told until then was there before."""
    met = [index for index, event in enumerate(events) if isinstance(event, HostMet)]
    if not met:
        return
    beats: dict[str, list[Millis]] = {}
    last: dict[str, Millis] = {}
    for event, at in zip(events, times, strict=True):
        host = event.origin.host
        if at is not None:
            last[host] = max(at, last.get(host, at))
        if isinstance(event, HostBeat):
            beats.setdefault(host, []).append(event.at)
    for host, told in beats.items():
        beats[host] = sorted(told)
    for index in met:
        host, at = events[index].origin.host, times[index] or Millis(0)
        following = bisect_left(beats.get(host, ()), at)
        times[index] = beats[host][following] if following < len(beats.get(host, ())) else last[host]


def _set_clocks(events: Sequence[Event], times: list[Millis | None]) -> None:
    """What hosts tell by clocks that are known to be otherwise stands where it was by this machine's."""
    beats = sorted((event.at, event.offset, event.origin.host) for event in events if isinstance(event, HostBeat))
    offsets = {host: offset for _, offset, host in beats}
    for index, event in enumerate(events) if any(offsets.values()) else ():
        at = times[index]
        if at is not None:
            times[index] = Millis(at + offsets.get(event.origin.host, 0))


def _settle_ties(events: list[Event], times: "array[int]") -> None:
    begin = 0
    for end in range(1, len(times) + 1):
        if end < len(times) and times[end] == times[begin]:
            continue
        if end - begin > 1:
            events[begin:end] = sorted(events[begin:end], key=_origin)
        begin = end
