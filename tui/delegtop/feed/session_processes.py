"""The processes in which delegations run: those that logs name are watched, those that no log names are looked for.

`ask` before reading and `tell` after it: what the system said is judged with all that was written before it said so.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from delegtop.base.clock import Clock, WallClock
from delegtop.base.origin import Origin, kernel
from delegtop.feed.open_sessions import OpenSessions, SessionFacts
from delegtop.feed.process_watch import ProcessWatch
from delegtop.kernel import process_source
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Ended, Event, Noted, Started
from delegtop.model.notes import OUT_OF_SIGHT
from delegtop.model.store.ledger import Ledger

if TYPE_CHECKING:
    from delegtop.feed.process_search import Answer, ProcessSearch


class AskedProcesses(msgspec.Struct, frozen=True):
    """What the system said at one moment."""

    missing: Sequence[Started] = ()
    """Those whose process is gone."""
    answers: "Sequence[Answer]" = ()
    """What is known of the processes of others."""

    @property
    def is_telling(self) -> bool:
        """Whether somebody is gone."""
        return bool(self.missing) or any(answer.gone for answer in self.answers)


NOT_ASKED = AskedProcesses()


class SessionProcesses:
    """Asks about processes while time is real, and only about those of whom somebody is at work."""

    def __init__(self, clock: Clock, is_first_hand: Callable[[Origin], bool]) -> None:
        self._watch = ProcessWatch(clock)
        self._clock = clock
        asks = isinstance(clock, WallClock) and process_source.can_tell()
        self._sessions = OpenSessions(is_first_hand) if asks else None
        self._search: ProcessSearch | None = None
        self._unseen: dict[str, str] = {}
        """Of whom it was told that their processes cannot be seen, and why."""

    # -- what logs tell --------------------------------------------------------------------------------------------

    @property
    def has_any(self) -> bool:
        """Whether anybody's process is known whose end would matter."""
        return self._watch.has_any

    def mind(self, event: Started | Ended) -> None:
        """A first-hand log tells of a start or an end."""
        self._watch.mind(event)

    def take(self, events: Sequence[Event | EventRun]) -> None:
        """What was read, before others learn of it."""
        if self._sessions is not None:
            self._sessions.take(events)

    def take_whole(self, ledger: Ledger) -> None:
        """The same of what was folded apart."""
        if self._sessions is not None:
            self._sessions.take_whole(ledger)

    def sign_off(self, events: Sequence[Event]) -> Iterator[Event]:
        """A process took its entry in a registry away, which means these."""
        return self._watch.sign_off(events)

    # -- what the system tells -------------------------------------------------------------------------------------

    @property
    def is_new(self) -> bool:
        """Whether there is somebody about whose process nobody has asked yet."""
        return self._watch.is_new or any(self._searching().is_new(session) for session in self._at_work())

    def ask(self) -> AskedProcesses:
        """What the system says now of those it is time to ask about."""
        missing = self._watch.missing()
        due = [session for session in self._at_work() if self._searching().is_due(session)]
        return AskedProcesses(missing, self._searching().ask(due) if due else ())

    def there(self) -> Iterator[Started]:
        """The sessions whose process is there for certain; the system is asked when the first is wanted."""
        yield from self._watch.there()

    def tell(self, asked: AskedProcesses) -> Iterator[Event]:
        """What that means, now that everything was read."""
        told = list(self._watch.ends(asked.missing))
        if asked.answers:
            now = {session.id: session.heard_at for session in self._at_work()}
            told += self._searching().tell(asked.answers, lambda session: now.get(session.id) == session.heard_at)
        unseen = {answer.session.id: answer.why for answer in asked.answers if answer.why}
        told += self._out_of_sight({**unseen, **self._watch.out_of_sight()})
        told = [self._after_last_words(event) for event in told]
        for event in told:
            if isinstance(event, (Started, Ended)):
                self._watch.mind(event, is_there=True)
        told += self._watch.met()
        if self._sessions is not None:
            self._sessions.take(told)
        return iter(told)

    def _after_last_words(self, event: Event) -> Event:
        """Whoever is found gone once all was read has said nothing since, even where its log is ahead of our clock."""
        if self._sessions is None or not isinstance(event, Ended) or event.at is None:
            return event
        heard = self._sessions.heard_at(event.id)
        return event if heard <= event.at else replace(event, at=heard)

    def _out_of_sight(self, whys: dict[str, str]) -> Iterator[Event]:
        """What is new of whose processes cannot be seen; what was told of others is withdrawn once theirs is known."""
        for id, why in whys.items():
            if self._unseen.get(id) != why:
                self._unseen[id] = why
                yield Noted(id, self._clock.now(), kernel(), OUT_OF_SIGHT, why)
        for id in [id for id in self._unseen if id not in whys and self._watch.follows(id)]:
            del self._unseen[id]
            yield Noted(id, self._clock.now(), kernel(), OUT_OF_SIGHT, "")

    def sessions(self) -> list[SessionFacts]:
        """All sessions at work; none where nobody asks about them."""
        return [] if self._sessions is None else self._sessions.at_work()

    def _at_work(self) -> list[SessionFacts]:
        """The sessions at work whose process no log names."""
        if self._sessions is None:
            return []
        return [session for session in self._sessions.at_work() if not self._watch.follows(session.id)]

    def _searching(self) -> "ProcessSearch":
        if self._search is None:
            assert self._sessions is not None  # noqa: S101 # only while time is real anybody is at work
            from delegtop.feed.process_search import ProcessSearch  # most looks find nobody at work

            self._search = ProcessSearch(self._clock, self._sessions.neighbours)
        return self._search
