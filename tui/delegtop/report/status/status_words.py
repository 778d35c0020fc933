"""How things stand, in one line: in words, in glyphs, or in a form of one's own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from delegtop.base import text
from delegtop.base.clock import Millis, age, duration
from delegtop.report.status.machine_status import PERSON, FirstProblem, Tally, UnreadPlace
from delegtop.report.status.status_places import PLACES, PLAIN, RED, YELLOW, ShownIn

BROKEN = "config broken"
"""What is said of settings that will not do, where there is little room."""
_ACTIVE = ("running", "waiting", "silent", "overdue")
"""The states of what is held to be at work; a test holds it against `model.states`."""


class Glyphs(NamedTuple):
    """The same as in the dashboard; a test holds that."""

    running: str
    quiet: str
    problem: str
    blocker: str
    unknown: str
    cut: str


UNICODE = Glyphs("▶", "◌", "!", "◀", "–", "…")
ASCII = Glyphs(">", "_", "!", "<", "-", "~")


class StatusLine(NamedTuple):
    """What is to be said, at which moment, and where it is shown."""

    tally: Tally | None
    """None if nobody knows."""
    at: Millis
    """When somebody looked."""
    now: Millis
    is_old: bool = False
    """Whether that is too long ago to be taken for now."""
    glyphs: Glyphs = UNICODE
    shown: ShownIn = PLACES[PLAIN]
    wrong: str = ""
    """Why the settings will not do, so that nobody can say how things stand; nothing if they will."""
    unread: Sequence[UnreadPlace] = ()
    """What cannot be read."""

    @property
    def moment(self) -> Millis:
        """What is known of then is told of then."""
        return self.at if self.is_old else self.now

    @property
    def ago(self) -> str:
        """`3m ago`; nothing if it is how things stand now."""
        return f"{age(self.now - self.at)} ago" if self.is_old else ""

    # -- for bars ----------------------------------------------------------------------------------------------------

    def short(self) -> str:
        """`▶8 !1 ◀bash 4:51 webapp`."""
        if self.wrong:
            return self.shown.painted(self._written(f"{self.glyphs.problem}{BROKEN}"), self.colour)
        if self.tally is None:
            return self._written(self.glyphs.unknown)
        return " ".join(self._parts(self.tally))

    def _parts(self, tally: Tally) -> Iterator[str]:
        yield self._written(f"{self.glyphs.running}{tally.states.get('running', 0)}")
        if tally.quiet:
            yield self._written(f"{self.glyphs.quiet}{tally.quiet}")
        if tally.first is not None:
            told = f"{self.glyphs.problem}{tally.problems} {self._blocker(tally.first)}"
            yield self.shown.painted(self._written(told), self.colour)
        if self.unread:
            yield self.shown.painted(self._written(f"{len(self.unread)} unread"), YELLOW)
        if self.ago:
            yield self._written(f"({self.ago})")

    def _blocker(self, first: FirstProblem) -> str:
        """`◀bash 4:51 webapp`; without the mark where it is over, with a question mark where it is only possible."""
        what = f"{first.tool or first.short}{'' if first.sure else '?'}"
        mark = self.glyphs.blocker if first.is_pressing else ""
        return " ".join(filter(None, (f"{mark}{what}", self._span(first), first.project, first.host)))

    def _written(self, words: str) -> str:
        if self.glyphs is ASCII:
            words = words.encode("ascii", "replace").decode()
        return self.shown.escaped(words)

    def _span(self, first: FirstProblem) -> str:
        return "" if first.since is None else duration(max(self.moment - first.since, 0))

    @property
    def colour(self) -> str:
        """Red for what stands still for sure, yellow for any other problem."""
        first = self.tally.first if self.tally is not None else None
        return RED if first is not None and first.is_pressing and first.sure else YELLOW

    @property
    def level(self) -> str:
        """How it stands in one word, for what is coloured by others."""
        if self.wrong:
            return "broken"
        if self.tally is None:
            return "unknown"
        first = self.tally.first
        if first is None:
            return "working" if _open(self.tally) else "idle"
        return first.urgency.replace(" ", "-") if first.sure else "suspicious"

    # -- for people --------------------------------------------------------------------------------------------------

    def words(self) -> str:
        """`8 running, 3 waiting; 1 problem: implementer in webapp: hung in a tool, bash, for 4:51`."""
        if self.wrong:
            return self.shown.painted(self._written(f"{BROKEN}: {text.line(self.wrong)}"), self.colour)
        if self.tally is None:
            return self._written("nobody knows yet")
        told = self._written(self._at_work(self.tally))
        first = self.tally.first
        if first is not None:
            count = self.tally.problems
            which = "1 problem" if count == 1 else f"{count} problems, first"
            told += "; " + self.shown.painted(self._written(f"{which}: {self._matter(first)}"), self.colour)
        if self.unread:
            told += "; " + self.shown.painted(self._written(self._closed()), YELLOW)
        return told + (f" ({self.ago})" if self.ago else "")

    def _closed(self) -> str:
        """That something cannot be read, what, and what follows from it."""
        path, why = self.unread[0]
        more = len(self.unread) - 1
        others = f" and {more} more" if more else ""
        return f"{path}{others} cannot be read ({why}), so agents may be missing or seem silent"

    def _at_work(self, tally: Tally) -> str:
        counted = [f"{tally.states[state]} {state}" for state in _ACTIVE if tally.states.get(state)]
        return ", ".join(counted) or "nothing is at work"

    def _matter(self, first: FirstProblem) -> str:
        who = f"{first.name} in {first.project}" if first.project else first.name
        who += f" on {first.host}" if first.host else ""
        what = first.kind if first.sure else f"possibly {first.kind}"
        needed = "a person is needed" if first.urgency == PERSON else ""
        span = self._span(first)
        return f"{who}: " + ", ".join(filter(None, (what, first.tool, f"for {span}" if span else "", needed)))

    # -- for forms of one's own --------------------------------------------------------------------------------------

    def fields(self) -> dict[str, str]:
        """What stands in the place of each name of `FIELDS`."""
        tally = Tally() if self.tally is None else self.tally
        first = tally.first
        numbers = {
            **{state: tally.states.get(state, 0) for state in (*_ACTIVE, "idle")},
            "quiet": tally.quiet,
            "open": _open(tally),
            "problems": tally.problems,
            "unread": len(self.unread),
            "exit": tally.exit,
            "holds_up": first.holds_up if first is not None else 0,
        }
        unknown = self.glyphs.unknown
        told = {name: unknown if self.tally is None else str(number) for name, number in numbers.items()}
        told |= dict.fromkeys(FIELDS.keys() - told.keys(), "")
        told |= {"ago": self.ago, "level": self.level}
        if self.wrong:
            told |= dict.fromkeys(("in", "what", "kind"), BROKEN) | {"sentence": text.line(self.wrong)}
        if first is not None:
            told |= {"blocker": first.name, "what": first.short, "kind": first.kind, "tool": first.tool}
            told |= {
                "in": first.tool or first.short,
                "for": self._span(first),
                "project": first.project,
                "host": first.host,
            }
            told |= {"id": first.id, "state": first.state, "sentence": first.sentence}
            told |= {"doubt": "" if first.sure else "?"}
        return {name: self._written(word) for name, word in told.items()}


def _open(tally: Tally) -> int:
    return sum(tally.states.get(state, 0) for state in _ACTIVE)


FIELDS: Mapping[str, str] = {
    "running": "how many are at work",
    "waiting": "how many wait for a child",
    "silent": "how many wrote nothing for a while, hung or not",
    "overdue": "how many are past their deadline",
    "idle": "how many sessions are between two prompts",
    "open": "running, waiting, silent and overdue together",
    "quiet": "how many are silent, and that is no problem",
    "problems": "how many problems there are now",
    "blocker": "who is to be looked at first",
    "in": "what it stands still in: the tool, else `what`",
    "tool": "the tool, if it is one that it stands still in",
    "what": "what is the matter, in at most 20 characters",
    "kind": "the same in the words of the dashboard",
    "for": "for how long",
    "project": "its folder, by name",
    "host": "the machine it is on, where several are looked at",
    "holds_up": "how many wait for it",
    "unread": "how many files and folders of logs cannot be read",
    "doubt": "`?` where it is only possible",
    "sentence": "what is the matter, in a sentence",
    "id": "its id",
    "state": "its state",
    "level": "`stuck`, `person`, `just-ended`, `suspicious`, `working`, `idle`, `unknown` or `broken` (the settings)",
    "exit": "the exit code: 0, 1 or 3",
    "ago": "how old this is, such as `3m ago`; empty if it is how things stand now",
}
"""The names a form may hold, and what stands in their place."""
