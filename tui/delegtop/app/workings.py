"""What works behind the screens. Each part is loaded and made when it is first asked for, and the first picture asks
for none of it."""

from datetime import tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from textual.app import App

from delegtop.act.acting import Acting
from delegtop.app.state.outset import Outset

if TYPE_CHECKING:
    from delegtop.app.state.acts_under_way import ActsUnderWay
    from delegtop.app.state.board import Board
    from delegtop.app.state.intake import Intake
    from delegtop.app.state.known_hosts import KnownHosts
    from delegtop.app.state.long_over import Bygone
    from delegtop.app.state.past_sessions import PastSessions
    from delegtop.app.state.reader_thread import Reader
    from delegtop.app.state.unread_news import UnreadNews
    from delegtop.feed.replay_feed import Replay
    from delegtop.observation.call_watch import CallWatch
    from delegtop.observation.observation import Observation
    from delegtop.settings import Settings


class Workings(App[None]):
    """An application with a reader, a board and all that is around them."""

    settings: "Settings"
    outset: Outset
    acting: Acting
    zone: tzinfo | None

    def _wake(self) -> None:
        """Called from the reader's thread when there is something to look at."""
        raise NotImplementedError

    @cached_property
    def observation(self) -> "Observation":
        return self.outset.open()

    @cached_property
    def replay(self) -> "Replay":
        from delegtop.feed.replay_feed import NoReplay

        return self.observation.replay or NoReplay()

    @cached_property
    def board(self) -> "Board":
        from delegtop.app.state.board import Board

        return Board(self.settings, self.observation.clock, self.observation.policy)

    @cached_property
    def reader(self) -> "Reader":
        from delegtop.app.state.reader_thread import Reader

        return Reader(self.observation.feed, self._wake)

    @cached_property
    def calls(self) -> "CallWatch":
        from delegtop.observation.call_watch import CallWatch

        return CallWatch(self.observation.feed)

    @cached_property
    def intake(self) -> "Intake":
        from delegtop.app.state.intake import Intake

        return Intake(self.reader, self.board)

    @cached_property
    def bygone(self) -> "Bygone":
        from delegtop.app.state.long_over import Bygone

        return Bygone(self.board, self.observation.sources, replays=self.replay.possible)

    @cached_property
    def past(self) -> "PastSessions":
        from delegtop.app.state.past_sessions import PastSessions

        is_present = not (self.outset.places.named or self.outset.is_frozen)
        return PastSessions(kept=self.settings.index, updates=is_present)

    @cached_property
    def acts(self) -> "ActsUnderWay":
        from delegtop.app.state.acts_under_way import ActsUnderWay

        return ActsUnderWay(self.board, self.reader, self.acting, lambda: self.replay.recording, self.zone)

    @cached_property
    def unread(self) -> "UnreadNews":
        from delegtop.app.state.unread_news import UnreadNews

        return UnreadNews()

    @cached_property
    def hosts(self) -> "KnownHosts":
        from delegtop.app.state.known_hosts import KnownHosts

        return KnownHosts(self.board, self.observation.fleet)
