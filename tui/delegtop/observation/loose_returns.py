"""Files that are no log but a return: the object itself, or an agent's output that holds one."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.observation.unread_sources import unread

if TYPE_CHECKING:
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.model.events import Event
    from delegtop.model.forest import Forest

DIALECT = "return"
"""What the format of such a file is called among the sources."""
_LARGEST = 16 * 1024 * 1024


def take_in(forest: "Forest", named: Sequence[str], statuses: "Sequence[SourceStatus]") -> "Sequence[SourceStatus]":
    """Add the returns of those named files that no format recognised to the forest; gives how the sources are then."""
    taken: dict[str, SourceStatus] = {}
    for source in unread(named, statuses):
        if source.status == "unrecognised" and (events := _events(source.path)):
            forest.apply(events)
            taken[source.path] = _status(source, events)
    if taken:
        forest.advance(forest.shown_at)
    return tuple(taken.get(source.path, source) for source in statuses)


def take_in_empty(forest: "Forest", statuses: "Sequence[SourceStatus]", format: str | None) -> "Sequence[SourceStatus]":
    """Add to the forest those files that are empty and said to be what an agent answered: that is an answer, too."""
    from delegtop.base.origin import Origin
    from delegtop.dialects import load
    from delegtop.sources.records import Line, Unreadable

    empty = [source for source in statuses if source.status == "empty"]
    if format is None or not empty or not load(format).is_answer:
        return statuses
    taken: dict[str, SourceStatus] = {}
    for source in empty:
        read = load(format)().read(Line(Origin(source.path, 1, 0), b""))
        events = [event for event in read if not isinstance(event, Unreadable)]
        forest.apply(events)
        taken[source.path] = _status(source, events, format)
    forest.advance(forest.shown_at)
    return tuple(taken.get(source.path, source) for source in statuses)


def among(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> list[str]:
    """Those named files that no format recognised and that hold a return."""
    return [each.path for each in unread(named, statuses) if each.status == "unrecognised" and _events(each.path)]


def _events(path: str) -> "list[Event]":
    """What the last return in the file tells."""
    from delegtop.protocols.standard.dialects.return_file import return_events

    try:
        with Path(path).open("rb") as file:
            return return_events(file.read(_LARGEST), path)
    except OSError:
        return []


def _status(source: "SourceStatus", events: "list[Event]", format: str = DIALECT) -> "SourceStatus":
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.model.events import Deviation

    deviations = [event for event in events if isinstance(event, Deviation)]
    reasons = dict(Counter(deviation.kind for deviation in deviations))
    return SourceStatus(
        source.path,
        format,
        records=1,
        unreadable=0,
        status="live",
        deviations=len(deviations),
        reasons=reasons,
        examples=tuple(deviations),
        size=source.size,
        read=source.size,
    )
