"""How a host that is watched from here stands, in a word and in a sentence: what, why, and what to do about it."""

from enum import StrEnum
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.base.text import line


class HostState(StrEnum):
    """In the order of how bad it is."""

    LIVE = "live"
    BEHIND = "behind"
    """It is there, and has not told all that there was."""
    CONNECTING = "connecting"
    STALE = "stale"
    """It was not heard of for a while, and the connection stands."""
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    UNKNOWN_KEY = "unknown key"
    CHANGED_KEY = "changed key"
    FAILS = "fails"
    """There is a delegtop, and it ends at once: its settings are wrong, or what it needs is missing."""
    NO_DELEGTOP = "no delegtop"
    TOO_OLD = "too old"
    NEWER = "newer"
    SAME = "same"
    """It is a place that is shown by another name already."""
    FLOOD = "flood"


THERE = frozenset({HostState.LIVE, HostState.BEHIND})
FINAL = frozenset(
    {
        HostState.CHANGED_KEY,
        HostState.NO_DELEGTOP,
        HostState.TOO_OLD,
        HostState.NEWER,
        HostState.SAME,
        HostState.FLOOD,
    }
)
"""It is not tried again before somebody says so."""
RETRIED = frozenset({HostState.UNREACHABLE, HostState.REFUSED, HostState.UNKNOWN_KEY, HostState.FAILS})
NEXT_TRY = "; next try in "
TELLS_VERSION = "0.2"
"""The first that can stream."""


class HostStatus(NamedTuple):
    """One host, as it stands."""

    name: str
    """Empty for this machine."""
    state: HostState
    text: str
    """The state, why, and what to do, in a sentence that begins with its name."""
    news_at: Millis | None = None
    """By its own clock, up to when all is told."""
    offset: int = 0
    """Milliseconds that this machine's clock is ahead of its own."""
    version: str = ""
    seconds: float = 0.0
    """How long it has been so."""

    @property
    def plain(self) -> str:
        """The same for who asks once: nothing is tried again."""
        return self.text.partition(NEXT_TRY)[0].removesuffix("; not tried again until R")


_KEY_CHANGED = ("REMOTE HOST IDENTIFICATION HAS CHANGED", "has changed and you have requested strict checking")
_KEY_UNKNOWN = ("Host key verification failed", "host key is known for")
_DENIED = "Permission denied ("
_LONGEST = 200


def failure(words: list[str]) -> tuple[HostState, str]:
    """What ssh means by its last words, and why in short."""
    said = "\n".join(words)
    if any(each in said for each in _KEY_CHANGED):
        return HostState.CHANGED_KEY, ""
    if any(each in said for each in _KEY_UNKNOWN):
        return HostState.UNKNOWN_KEY, ""
    if _DENIED in said:
        denied = said[said.rindex(_DENIED) :].partition("\n")[0]
        return HostState.REFUSED, line(denied.rstrip("."), _LONGEST)
    return HostState.UNREACHABLE, _reason(words)


def own_words(words: list[str]) -> str:
    """Why a delegtop ended, in its last words."""
    return line(words[-1].removeprefix("delegtop: ") if words else "it ends without a word", _LONGEST)


def _reason(words: list[str]) -> str:
    """`Connection timed out` of `ssh: connect to host gpu1 port 22: Connection timed out`."""
    last = line(words[-1], _LONGEST) if words else ""
    if last.startswith("ssh: "):
        last = last.rpartition(": ")[2]
    return last.rstrip(".") or "the connection ended"
