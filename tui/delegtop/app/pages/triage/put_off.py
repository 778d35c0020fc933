"""Until when something is put off, as people say it."""

import re
from datetime import datetime, timedelta, tzinfo

from delegtop.base.clock import LocalZone, Millis, millis, parse_span, parse_time

_MORNING = 9
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3])[:.]([0-5][0-9])")

EXAMPLES = "30m, 2h, 14:30, tomorrow"


def until(text: str, now: Millis, zone: tzinfo | None = None) -> Millis | None:
    """The moment to come that the words mean: a span, a time of day, `tomorrow`, a whole time; None if they mean none.

    A bare number is minutes. `zone` None is that of this machine.
    """
    words = text.strip().lower()
    if words.isdecimal():
        words += "m"
    span = parse_span(words)
    found = Millis(now + span) if span else _named(words, now, zone) or parse_time(text.strip(), zone or LocalZone())
    return found if found is not None and found > now else None


def _named(words: str, now: Millis, zone: tzinfo | None) -> Millis | None:
    here = datetime.fromtimestamp(now / 1_000, zone).astimezone(zone)
    if words == "tomorrow":
        return millis(_at(here + timedelta(days=1), _MORNING, 0))
    told = _CLOCK.fullmatch(words)
    if told is None:
        return None
    moment = _at(here, int(told[1]), int(told[2]))
    return millis(moment if moment > here else moment + timedelta(days=1))


def _at(day: datetime, hour: int, minute: int) -> datetime:
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)
