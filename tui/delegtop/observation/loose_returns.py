"""Files that are no log but a return: the object itself, or an agent's output that holds one."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.observation.unread_sources import unread

if TYPE_CHECKING:
    from delegtop.feed.live_feed import SourceStatus
    from delegtop.model.events import Event
    from delegtop.model.forest import Forest

DIALECT = "return"
"""What the format of such a file is called among the sources."""
_LARGEST = 16 * 1024 * 1024


def take_in(forest: "Forest", named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> "tuple[SourceStatus, ...]":
    """Add the returns of those named files that no format recognised to the forest; gives how the sources are then."""
    taken: dict[str, SourceStatus] = {}
    for source in unread(named, statuses):
        if source.status == "unrecognised" and (events := _events(source.path)):
            forest.apply(events)
            taken[source.path] = _status(source, events)
    if taken:
        forest.advance(forest.shown_at)
    return tuple(taken.get(source.path, source) for source in statuses)


def among(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> list[str]:
    """Those named files that no format recognised and that hold a return."""
    return [each.path for each in unread(named, statuses) if each.status == "unrecognised" and _events(each.path)]


def _events(path: str) -> "list[Event]":
    """The end that the last return in the file tells of, and how it departs from the standard."""
    from delegtop.base.origin import Origin
    from delegtop.delegate.return_validation import placed_returns
    from delegtop.dialects.kit.salvage import Notes
    from delegtop.model.events import Ended, Ending, Outcome
    from delegtop.protocols.standard.dialects.return_reading import OUTCOMES, repair_return, report

    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST)
    except OSError:
        return []
    text = data.removeprefix(BOM_UTF8).decode("utf-8", "replace")
    found, place = next((each for each in placed_returns(text) if isinstance(each[0], dict)), (None, 0))
    if found is None:
        return []
    line = 1 + text.count("\n", 0, place)
    offset = len(text[:place].encode("utf-8", "replace")) + (len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0)
    notes = Notes(Origin(path, line, offset))
    told = report(repair_return(found, notes, "return"))
    id = told.session_id or f"no-session-id@{Path(path).name}:{line}"
    ended = Ended(id, None, notes.origin, OUTCOMES.get(told.status, Outcome.UNKNOWN), Ending.RETURN, told)
    return [ended, *notes.deviations()]


def _status(source: "SourceStatus", events: "list[Event]") -> "SourceStatus":
    from delegtop.feed.live_feed import SourceStatus
    from delegtop.model.events import Deviation

    deviations = [event for event in events if isinstance(event, Deviation)]
    reasons = dict(Counter(deviation.kind for deviation in deviations))
    return SourceStatus(
        source.path,
        DIALECT,
        records=1,
        unreadable=0,
        status="live",
        deviations=len(deviations),
        reasons=reasons,
        examples=tuple(deviations),
        size=source.size,
        read=source.size,
    )
