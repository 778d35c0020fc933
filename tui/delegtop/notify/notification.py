"""A notice: an alert in words that are safe to show anywhere, and the same as variables and as JSON.

The JSON is a stable contract (docs/notifications.md): fields are added, never renamed or removed, while
`schema_version` is 1.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from delegtop.base import text
from delegtop.base.clock import SECOND, Millis, iso, wall
from delegtop.base.secrets import mask_beginning
from delegtop.diagnosis.alerts import PROBLEMS, Alert, Cause
from delegtop.model.states import ACTIVE, State

VERSION = 1
RESOLVED, DONE, SUMMARY, TEST = Cause.RESOLVED.value, Cause.DONE.value, "summary", "test"
EVENTS = (*(cause.value for cause in Cause), SUMMARY, TEST)
_PROBLEMS = frozenset(cause.value for cause in PROBLEMS)
_NAME, _SENTENCE, _ID = 80, 400, 200
_NAMED = 5


class Notification(NamedTuple):
    """One thing to tell. All of it is safe to show, and short."""

    event: str
    headline: str
    """Who, and what is the matter: `implementer is hung`."""
    sentence: str
    at: Millis
    todo: str = ""
    id: str = ""
    name: str = ""
    title: str = ""
    """The work in a few words."""
    state: str = ""
    project: str = ""
    session: str = ""
    """The id of the delegation at the top of its tree."""
    since: Millis | None = None
    was: str = ""
    """Of what is over, what was the matter."""
    open: tuple[str, ...] = ()
    """Of a summary, the ids of what is still the matter."""
    host: str = ""
    """The machine it is on, where several are looked at."""

    @property
    def is_problem(self) -> bool:
        return self.event in _PROBLEMS

    @property
    def is_urgent(self) -> bool:
        return self.is_problem or bool(self.open)

    @property
    def subject(self) -> str:
        """The headline of a message that stands alone: it says where, too."""
        return f"{self.project}: {self.headline}" if self.project else self.headline

    @property
    def body(self) -> str:
        return f"{self.title}: {self.sentence}" if self.title else self.sentence

    def lines(self, more: int = 0) -> list[str]:
        """What a message says below its headline; `more` before it were not told."""
        since = f"since {wall(self.since)}" if self.since is not None and self.is_problem else ""
        about = ", ".join(filter(None, (since, self.id)))
        held_back = f"{more} more {'was' if more == 1 else 'were'} held back." if more else ""
        return [line for line in (self.body, f"What to do: {self.todo}" if self.todo else "", about, held_back) if line]

    def environment(self, more: int = 0) -> dict[str, str]:
        """The facts, as variables for a command of the user's own; `more` before it were not told."""
        return {
            "DELEGTOP_EVENT": self.event,
            "DELEGTOP_ID": self.id,
            "DELEGTOP_STATE": self.state,
            "DELEGTOP_NAME": self.name,
            "DELEGTOP_TITLE": self.title,
            "DELEGTOP_MESSAGE": self.sentence,
            "DELEGTOP_TODO": self.todo,
            "DELEGTOP_PROJECT": self.project,
            "DELEGTOP_HOST": self.host,
            "DELEGTOP_SESSION": self.session,
            "DELEGTOP_WAS": self.was,
            "DELEGTOP_PROBLEM_SINCE": "" if self.since is None else iso(self.since),
            "DELEGTOP_NOTICED_AT": iso(self.at),
            "DELEGTOP_MORE": str(more),
        }

    def facts(self, delivery: str, more: int = 0) -> dict[str, Any]:
        """The same as JSON has it; `delivery` is the same if it is sent again."""
        over = self.event == RESOLVED and self.since is not None
        return {
            "schema_version": VERSION,
            "delivery": delivery,
            "event": self.event,
            "at": iso(self.at),
            "headline": self.headline,
            "message": self.sentence,
            "todo": self.todo or None,
            "id": self.id or None,
            "name": self.name or None,
            "title": self.title or None,
            "state": self.state or None,
            "project": self.project or None,
            "host": self.host or None,
            "session": self.session or None,
            "since": None if self.since is None else iso(self.since),
            "was": self.was or None,
            "seconds": (self.at - self.since) // SECOND if over and self.since is not None else None,
            "still_open": list(self.open) if self.event == SUMMARY else None,
            "held_back": more,
        }


def in_words(alert: Alert, *, masked: bool = True) -> Notification:
    """The alert in words."""
    safe = partial(_safe, masked=masked)
    name, host = safe(alert.name, _NAME), safe(alert.host, _NAME)
    return Notification(
        alert.cause.value,
        f"{name}{f' on {host}' if host else ''} {_what(alert)}",
        safe(alert.message),
        alert.at,
        safe(alert.todo),
        safe(alert.id, _ID),
        name,
        safe(alert.title or "", _NAME),
        alert.state.value,
        safe(_project(alert.folder), _NAME),
        safe(alert.root, _ID),
        alert.since,
        alert.was.value if alert.was else "",
        host=host,
    )


def summary(held: Iterable[Notification], hours: str, at: Millis) -> Notification:
    """What happened in quiet hours, in one message."""
    problems, still, over, done = 0, dict[str, Notification](), 0, 0
    for each in held:
        if each.is_problem:
            problems += each.id not in still
            still[each.id] = each
        elif each.event == RESOLVED:
            over += 1
            still.pop(each.id, None)
        else:
            done += each.event == DONE
    counts = ((problems, "problem", "problems"), (over, "resolved", "resolved"), (done, "tree done", "trees done"))
    told = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    named = [each.headline for each in still.values()][:_NAMED]
    if len(still) > _NAMED:
        named.append(f"and {len(still) - _NAMED} more")
    names = ", ".join(named)
    sentence = f"In the quiet hours {hours}: {told}.{f' Still so: {names}.' if named else ''}"
    headline = f"{len(still)} still stuck after quiet hours" if still else "all is well after quiet hours"
    return Notification(SUMMARY, headline, sentence, at, open=tuple(still))


def trial(at: Millis) -> Notification:
    """What is sent to see whether it arrives."""
    sentence = "This is a test: so it looks when an agent is stuck or needs you."
    return Notification(TEST, "delegtop can reach you", sentence, at)


def delivery() -> str:
    """A word of its own for each message."""
    return os.urandom(8).hex()


def resolves(notice: Notification, waiting: Sequence[Notification]) -> Notification | None:
    """Which of those that wait is over by this one."""
    return next((each for each in waiting if each.is_problem and each.id == notice.id), None)


def _what(alert: Alert) -> str:
    if alert.cause is Cause.RESOLVED:
        return _now(alert)
    if alert.cause is Cause.PERSON:
        return "needs a person"
    return "failed" if alert.cause is Cause.FAILED else f"is {alert.cause}"


def _now(alert: Alert) -> str:
    if alert.state in ACTIVE:
        return "was answered" if alert.was is Cause.PERSON else "goes on"
    ways = {State.COMPLETED: "completed", State.IDLE: "is done with its turn", State.LOST: "is lost"}
    return ways.get(alert.state, f"ended {alert.state}")


def _project(folder: str | None) -> str:
    """The last part of the folder it works in."""
    return re.split(r"[/\\]", (folder or "").rstrip("/\\"))[-1]


def _safe(foreign: str, limit: int = _SENTENCE, *, masked: bool) -> str:
    return text.line(mask_beginning(foreign, 2 * limit) if masked else foreign, limit)
