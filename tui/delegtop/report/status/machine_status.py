"""How everything stands, in a few figures: of the whole machine, of one session, of one folder.

A status bar asks every few seconds, so this needs nothing but Python.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from delegtop.base.clock import Millis

STUCK, PERSON, JUST_ENDED, SUSPICIOUS = "stuck", "person", "just ended", "suspicious"
URGENCIES = (STUCK, PERSON, JUST_ENDED, SUSPICIOUS)
"""How soon somebody should look at a problem of this moment, the soonest first; a test holds it against
`diagnosis.assessment`."""
_TELLING = 6
"""Characters of an id that may stand for all of it."""


class FirstProblem(NamedTuple):
    """One problem: what to look at first."""

    id: str
    name: str
    project: str
    """What its folder is called; empty if that is not known."""
    state: str
    urgency: str
    kind: str
    """What is the matter, in the words shown to people."""
    short: str
    """The same in at most 20 characters."""
    tool: str
    """The tool it stands still in; empty if it is no tool that it stands still in."""
    sure: bool
    """Whether that is at least likely."""
    since: Millis | None
    holds_up: int
    """How many above wait for it."""
    sentence: str
    """What is the matter, since when, and whom it holds up, as it read when somebody looked."""
    host: str = ""
    """The machine it is on, where several are looked at."""

    @property
    def is_pressing(self) -> bool:
        """Whether it stands still until somebody does something."""
        return self.urgency in (STUCK, PERSON)

    @property
    def key(self) -> tuple[int, int]:
        """The order of looking: the least comes first."""
        return URGENCIES.index(self.urgency), -(self.since or 0)


class Tally(NamedTuple):
    """Some delegations, counted."""

    states: Mapping[str, int] = MappingProxyType({})
    """How many are in which state, but for those that are done."""
    quiet: int = 0
    """How many of the silent ones are no problem: quiet is not hung."""
    problems: int = 0
    """Of this moment, not of an earlier one."""
    exit: int = 0
    """What they mean to a script, as every exit code says it."""
    first: FirstProblem | None = None


def total(tallies: Iterable[Tally]) -> Tally:
    """All of them together."""
    states: dict[str, int] = {}
    quiet = problems = code = 0
    troubles: list[FirstProblem] = []
    for tally in tallies:
        for state, count in tally.states.items():
            states[state] = states.get(state, 0) + count
        quiet, problems, code = quiet + tally.quiet, problems + tally.problems, max(code, tally.exit)
        if tally.first is not None:
            troubles.append(tally.first)
    return Tally(states, quiet, problems, code, min(troubles, key=lambda each: each.key, default=None))


class SessionStatus(NamedTuple):
    """One tree that is not all over: an agent's session, with what it handed on."""

    id: str
    also: tuple[str, ...]
    """Foreign ids by which it is known, too."""
    product: str
    name: str
    folder: str
    project: str
    tally: Tally
    host: str = ""


class UnreadPlace(NamedTuple):
    """A file or folder of logs that nobody can read: agents that it tells of may be missing, or seem silent."""

    path: str
    why: str


class MachineStatus(NamedTuple):
    """All that is at work on this machine, as it was at a moment."""

    at: Millis
    by: str
    """What looked: `dashboard`, `watch` or `status`."""
    cost: int
    """Milliseconds of the processor that were spent on reading the logs for this alone."""
    tally: Tally
    sessions: tuple[SessionStatus, ...] = ()
    left_out: int = 0
    """Sessions that are counted and not listed."""
    unread: tuple[UnreadPlace, ...] = ()
    """What cannot be read."""

    def of_session(self, id: str) -> "MachineStatus | None":
        """One session with all below it, by its id or the beginning of it; None if none is listed, or several are."""
        named = [session for session in self.sessions if id in (session.id, *session.also)]
        begun = [session for session in self.sessions if len(id) >= _TELLING and session.id.startswith(id)]
        found = named or begun
        if len(found) != 1:
            return None
        ids = (found[0].id, *found[0].also)
        unread = tuple(place for place in self.unread if any(id and id in place.path for id in ids))
        return self._of(found)._replace(unread=unread)

    def of_folder(self, folder: str) -> "MachineStatus":
        """The sessions of a folder and below."""
        below = f"{folder.rstrip('/')}/"
        return self._of([each for each in self.sessions if each.folder == folder or each.folder.startswith(below)])

    def _of(self, sessions: "list[SessionStatus]") -> "MachineStatus":
        return self._replace(tally=total(each.tally for each in sessions), sessions=tuple(sessions), left_out=0)
