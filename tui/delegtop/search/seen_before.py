"""Whether this happened before: the last times that this error was met or this call stood still, and what ended it."""

from typing import NamedTuple

from delegtop.base.clock import DAY, Millis
from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase
from delegtop.search.error_shape import shape
from delegtop.search.search_file import Before, SearchFile
from delegtop.search.session_words import error_keys, still_keys
from delegtop.search.stand_stills import still_phase

SHOWN = 3
DAYS = 90


class SeenBefore(NamedTuple):
    """What is known of one problem."""

    what: str
    """What was looked for, in words: the shape of the error, or of the call."""
    often: int
    """Times in so many days."""
    times: list[Before]
    """The last of them, the newest first."""
    is_alike: bool
    """Whether they have the same words; else they are only of the same tool or code, and of the same agent."""
    searched: int
    """Delegations that were looked through."""


def seen_before(file: SearchFile, facts: Delegation, now: Millis) -> SeenBefore | None:
    """When the trouble of this delegation happened before; None if it is of no kind that is kept, or nothing is."""
    kind = _kind(facts)
    about = file.summary() if kind is not None else None
    if kind is None or about is None or not about.is_current or not about.delegations:
        return None
    exact, loose, what = kind
    since = Millis(now - DAYS * DAY)
    for key, is_loose in ((exact, False), (loose, True)):
        count, times = file.before(key, loose=is_loose, since=since, unless=facts.id, limit=SHOWN)
        if count:
            return SeenBefore(what, count, times, not is_loose, about.delegations)
    return SeenBefore(what, 0, [], True, about.delegations)


def _kind(facts: Delegation) -> tuple[int, int, str] | None:
    """By what it is found again, and in words."""
    phase = still_phase(facts.phase, facts.tool, facts.doing) if facts.ended_at is None else None
    if phase is None:
        error = next(iter(facts.errors), None)
        return None if error is None else (*error_keys(error, facts.agent), shape(error.message or error.code or ""))
    exact, loose = still_keys(phase, facts.tool or "", facts.doing or "", facts.agent)
    if phase is Phase.TOOL:
        return exact, loose, " ".join(filter(None, (facts.tool, shape(facts.doing or ""))))
    waits = {Phase.MODEL: "waiting for the model", Phase.PERMISSION: "waiting for a permission"}
    return exact, loose, waits.get(phase, "waiting for an answer")
