"""What to try next, in one line on stderr: when there is nothing to show, or only what is long over."""

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from delegtop.base.clock import DAY, Millis, WallClock, age, duration, iso
from delegtop.cli import diagnostics

if TYPE_CHECKING:
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.model.forest import Forest
    from delegtop.observation.observation import Observation

OFFERED = 3
"""Places that are named one by one."""
NOTHING_FOUND = (
    "no logs of agents are found here or in the known places; name a SOURCE, or make a command visible with "
    "`delegtop run` (delegtop sources tells where it looked)"
)
NOTHING_YET = "no logs of agents are found yet; waiting for the first (delegtop sources tells where)"


def offer(statuses: "Sequence[SourceStatus]", now: Millis) -> str:
    """Which logs could be replayed; empty if there are none."""
    from delegtop.feed.source_statuses import offers

    found = offers(statuses)
    if not found:
        return ""
    first = found[0]
    rest = [quote(status.path) for status in found[1:OFFERED]]
    more = f", {len(found) - OFFERED} more" if len(found) > OFFERED else ""
    others = f" (also {', '.join(rest)}{more})" if rest else ""
    ago = age(now - (first.told_at or now))
    return f"{first.path}: last record {ago} ago; `delegtop replay {quote(first.path)}` shows it{others}"


def last_moment(sources: Sequence[str], forest: "Forest") -> Millis | None:
    """The moment to look at: that of a recording, which knows its own, else that of the last record."""
    from delegtop.feed.recordings import recorded_at

    recorded = [at for source in sources if (at := recorded_at(source)) is not None]
    return max(recorded, default=forest.last_heard())


def past(sources: Sequence[str], forest: "Forest") -> str:
    """That all is long over, and how to look at it as it was; empty if it is not."""
    at, now = last_moment(sources, forest), WallClock().now()
    if at is None or now - at <= DAY:
        return ""
    return f"the last record is {age(now - at)} old; --at {iso(at).replace('.000Z', 'Z')} looks at that moment"


def ahead(forest: "Forest") -> str:
    """That a log is ahead of the clock; empty if none is."""
    by = forest.furthest_ahead()
    return f"the last record is {duration(by)} ahead of the clock; delegtop sources tells whose it is" if by else ""


def empty(seen: "Observation") -> str:
    """Why there is no delegation, and what to do about it."""
    from delegtop.feed.source_statuses import offers

    statuses = seen.statuses
    if not seen.places.named:
        if not statuses or offers(statuses):
            return ""  # said already, or an offer is made
        return "no agent was at work lately; --since 7d looks further back, --all at everything"
    read = [status for status in statuses if status.dialect is not None]
    where = " ".join(map(quote, seen.sources))
    if read:
        return f"{where}: no delegation in it, or none yet; `delegtop sources {where}` tells what was read"
    return f"{where}: no log that delegtop knows; `delegtop sources {where}` tells more, --format NAME reads it as one"


def say(seen: "Observation", *, now: bool) -> None:
    """Say on stderr what helps to go on, if anything does; with `now`, no moment was asked for."""
    lines = [offer(seen.statuses, WallClock().now())]
    if not len(seen.forest):
        lines.append(empty(seen))
    elif now:
        lines += [past(seen.sources, seen.forest) if seen.places.named else "", ahead(seen.forest)]
    for line in filter(None, lines):
        diagnostics.say(line)
