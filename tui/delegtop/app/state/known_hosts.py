"""The hosts that the board shows, and how each stands: as they are now, or as they were at the moment that is shown."""

from typing import TYPE_CHECKING, NamedTuple

from delegtop.app.state.board import Board
from delegtop.base import machine
from delegtop.base.clock import SECOND, Millis
from delegtop.base.text import line
from delegtop.feed.host_states import HostState, HostStatus
from delegtop.model.forest import HostWord

if TYPE_CHECKING:
    from delegtop.feed.fleet import Fleet

_NAME = 40


class KnownHost(NamedTuple):
    """One host."""

    host: str
    """As delegations name it: empty for this machine."""
    called: str
    state: HostState
    text: str
    seconds: float
    """How long it stands so."""
    version: str = ""
    news: int | None = None
    """How old its news is, in milliseconds."""
    offset: int = 0

    @property
    def is_there(self) -> bool:
        return self.state in (HostState.LIVE, HostState.BEHIND)


class KnownHosts:
    """Asks the fleet for the present; of the past, and of recordings, the forest tells."""

    def __init__(self, board: Board, fleet: "Fleet | None") -> None:
        self._board, self.fleet = board, fleet

    def all(self) -> list[KnownHost]:
        """All of them; none if there is only this machine."""
        if self.fleet is not None and self._board.moment is None:
            return [self._present(each) for each in self.fleet.hosts() if each.state is not HostState.SAME]
        words = self._board.forest.hosts
        return [self._past(host, word) for host, word in words.items()] if len(words) > 1 else []

    def _present(self, told: HostStatus) -> KnownHost:
        now = self._board.forest.shown_at
        news = max(now - told.offset - told.news_at, 0) if told.news_at is not None and told.name else None
        return KnownHost(
            told.name, called(told.name), told.state, told.text, told.seconds, told.version, news, told.offset
        )

    def _past(self, host: str, word: HostWord) -> KnownHost:
        silence = word.silence(self._board.forest.shown_at)
        state = HostState.STALE if word.is_stale(self._board.forest.shown_at) else HostState.LIVE
        news = None if word.beaten_at is None else silence
        return KnownHost(host, called(host), state, "", silence / SECOND, news=news, offset=word.offset)


def called(host: str) -> str:
    return line(host or machine.name(), _NAME)


def as_of(word: HostWord) -> Millis | None:
    """By this machine's clock, the moment that a host was last heard of."""
    return None if word.beaten_at is None else Millis(word.beaten_at + word.offset)
