"""The delegations that may be asked about: opened when somebody asks, let go of when nobody has for a while.

A server runs for as long as its client does, which may be days, and most of that time nobody asks. So it reads nothing
until a question comes, and follows the logs only between questions that come soon after each other.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from delegtop.base.clock import monotonic
from delegtop.mcp_server.change_journal import ChangeJournal
from delegtop.mcp_server.client_session import client_session
from delegtop.mcp_server.tool_contracts import ScopeName
from delegtop.model.query import FilterQuery, parse
from delegtop.model.states import ENDED_BADLY, UNENDED
from delegtop.model.store.ledger import Handle
from delegtop.observation.observation import Observation

LET_GO = 90.0
"""Seconds without a question."""

Open = Callable[[], Observation]


class QuestionError(ValueError):
    """A question that cannot be answered; the message says why, and what to ask instead."""


class InScope(NamedTuple):
    """Whom a question is about."""

    scope: ScopeName
    handles: Collection[Handle] | None
    """None for all."""
    note: str = ""

    def holds(self, handle: Handle) -> bool:
        return self.handles is None or handle in self.handles


class FollowedScope:
    """Whoever asks calls `look` first. It is not for several threads at once."""

    def __init__(self, open: Open, folder: str = "") -> None:
        self._open, self._folder = open, folder
        """The filter for this folder, if the whole machine is known; nothing if no more is known than may be asked."""
        self._seen: Observation | None = None
        self._asked_at = float("-inf")
        self.journal = ChangeJournal()

    @property
    def seen(self) -> Observation:
        assert self._seen is not None  # noqa: S101 # whoever asks has looked
        return self._seen

    def look(self) -> None:
        """Bring everything to this moment."""
        self._asked_at = monotonic()
        if self._seen is None:
            self._begin()
            return
        changes = self._seen.look()
        if changes:
            self.journal.look(self._seen.assessments, changes.touched | changes.assessed)

    def _begin(self) -> None:
        self._seen = seen = self._open()
        try:
            seen.catch_up()
        except BaseException:
            self.close()
            raise
        forest = seen.forest
        # What has ended well since the last time is a change, too, so all that may have been open then are compared.
        handles = {handle for handle, _ in forest.in_states(UNENDED | ENDED_BADLY)}
        handles.update(each.handle for each in seen.assessments.now())
        handles.update(handle for id in self.journal.known if (handle := forest.find(id)) is not None)
        self.journal.look(seen.assessments, handles)

    def rest(self) -> None:
        """Let go of the logs if nobody has asked for a while."""
        if self._seen is not None and monotonic() - self._asked_at > LET_GO:
            self.close()

    def close(self) -> None:
        if self._seen is not None:
            self._seen.close()
            self._seen = None

    # -- who is meant ------------------------------------------------------------------------------------------------

    def scope(self, wanted: ScopeName) -> InScope:
        """Those of a scope. Where it cannot be told which are yours, those of this folder, and why."""
        if wanted == "all" and not self._folder:
            raise QuestionError(
                "this server only knows the sessions of its folder; started as `delegtop mcp --all` it knows those of "
                'the whole machine. Ask with scope="here" or scope="mine".'
            )
        if wanted == "mine":
            asking = client_session(self.seen.forest)
            if asking.session is not None:
                return InScope(wanted, self._below(asking.session))
            note = f"Which of these are yours cannot be told ({asking.why}), so these are all of this folder."
            return self._here()._replace(note=note)
        return self._here() if wanted == "here" else InScope(wanted, None)

    def _here(self) -> InScope:
        only = parse(self._folder or self.seen.places.only)
        return InScope("here", self.fitting(only) if only else None)

    def allowed(self, handles: Collection[Handle]) -> list[Handle]:
        """Those of them that may be asked about at all. Programs that keep all sessions in one place are read whole."""
        if self._folder or not handles:
            return list(handles)
        here, mine = self._here(), self.scope("mine")
        return [handle for handle in handles if here.holds(handle) or mine.holds(handle)]

    def fitting(self, query: FilterQuery) -> set[Handle]:
        forest = self.seen.forest
        return query.among(forest)

    def _below(self, session: Handle) -> set[Handle]:
        """All that it handed on, and that these handed on."""
        found: set[Handle] = set()
        pending = [session]
        while pending:
            for child in self.seen.forest.offspring(pending.pop()):
                if child not in found:
                    found.add(child)
                    pending.append(child)
        return found
