"""What is said to whoever waits: what happened, or that nothing has yet."""

from typing import NamedTuple

import msgspec

from delegtop.base.clock import iso
from delegtop.diagnosis.assessment import Assessment
from delegtop.mcp_server import untrusted_text
from delegtop.mcp_server.change_journal import JournalEntry, status_of
from delegtop.mcp_server.followed_scope import FollowedScope, InScope
from delegtop.mcp_server.row_words import MOST, RowWords, shown_id
from delegtop.mcp_server.tool_contracts import Happened, WaitAnswer, WaitQuestion
from delegtop.model.states import ACTIVE

_SENTENCE = 400
_ROOM = 900
"""Characters that are left for what stands beside the changes."""
_NOBODY = "Nobody is known in this scope; what was started a moment ago may not be in the logs yet."
_UNKNOWN = "That cursor is not one of this server, so only what happens from now on is told."


class WaitingClient:
    """One question that is answered as soon as it can be. Look before each `answer`."""

    def __init__(self, followed: FollowedScope, asked: WaitQuestion) -> None:
        self._followed, self._asked, self._words = followed, asked, RowWords(followed)
        journal = followed.journal
        place = journal.number(asked.cursor)
        self._since = journal.number(journal.cursor) or 0 if place is None else place
        self._note = _UNKNOWN if asked.cursor is not None and place is None else ""
        self._is_first = asked.cursor is None
        """What is so already counts for whoever has not asked before."""

    def answer(self, *, time_is_up: bool = False) -> WaitAnswer | None:
        """What is to be said now; None if it is worth waiting on."""
        found = self._look()
        is_first, self._is_first = self._is_first, False
        met = self._is_met(found, is_first=is_first)
        stands_in_the_way = self._asked.until == "all_ended" and found.has("problem")
        if not (met or time_is_up or stands_in_the_way):
            return None
        if is_first and self._asked.until == "problem":
            found = found._replace(entries=[self._already(each) for each in found.problems])
        return self._told(found, met=met)

    def _look(self) -> "_Found":
        ids = self._asked.ids
        scope = (
            InScope(self._asked.scope, {self._words.meant(id) for id in ids})
            if ids
            else self._followed.scope(self._asked.scope)
        )
        forest, journal = self._words.forest, self._followed.journal
        entries = [
            entry
            for entry in journal.since(self._since)
            if (handle := forest.find(entry.id)) is not None and scope.holds(handle)
        ]
        problems = [each for each in self._words.assessments.now() if scope.holds(each.handle)]
        open = sum(scope.holds(handle) for handle, _ in forest.in_states(ACTIVE))
        return _Found(scope, entries, problems, open)

    def _is_met(self, found: "_Found", *, is_first: bool) -> bool:
        match self._asked.until:
            case "problem":
                return found.has("problem") or (is_first and bool(found.problems))
            case "ended":
                return found.has("ended") or (is_first and found.open < len(self._asked.ids))
            case _:
                return not found.open

    def _already(self, each: Assessment) -> JournalEntry:
        now = self._words.moment(each.handle)
        return JournalEntry(0, self._words.forest.id(each.handle), "problem", status_of(each), now, each.sentence(now))

    def _told(self, found: "_Found", *, met: bool) -> WaitAnswer:
        happened = self._as_many_as_fit(found.entries)
        journal = self._followed.journal
        return WaitAnswer(
            at=self._words.now,
            met=met,
            happened=happened,
            open=found.open,
            problems=len(found.problems),
            cursor=journal.cursor,
            next=self._next(found),
            left_out=len(found.entries) - len(happened) + journal.gone(self._since),
            note=" ".join(filter(None, (self._note, found.scope.note, self._nobody(found.scope)))) or None,
        )

    def _nobody(self, scope: InScope) -> str:
        """That there is nobody may only mean that they are not known yet."""
        return "" if scope.handles or (scope.handles is None and len(self._words.forest)) else _NOBODY

    def _as_many_as_fit(self, entries: list[JournalEntry]) -> list[Happened]:
        """The newest, in their order."""
        happened: list[Happened] = []
        room = MOST - _ROOM
        for entry in reversed(entries):
            told = self._happened(entry)
            room -= len(msgspec.json.encode(told))
            if room < 0:
                break
            happened.append(told)
        return happened[::-1]

    def _happened(self, entry: JournalEntry) -> Happened:
        handle = self._words.forest.find(entry.id)
        agent = "" if handle is None else self._words.agent(handle)
        sentence = None if entry.what == "started" else untrusted_text.line(entry.sentence, _SENTENCE)
        return Happened(iso(entry.at), shown_id(entry.id), agent, entry.what, entry.status, sentence)

    def _next(self, found: "_Found") -> str:
        problem = next((entry.id for entry in found.entries if entry.what == "problem"), None)
        if problem is not None:
            return f"explain(id={shown_id(problem)!r})"
        if not found.open:
            return "Nothing is at work any more, so there is nothing to wait for."
        asked, cursor = self._asked, self._followed.journal.cursor
        whom = f"ids={[shown_id(id) for id in asked.ids]!r}" if asked.ids else f"scope={found.scope.scope!r}"
        return f"wait({whom}, until={asked.until!r}, cursor={cursor!r}, max_seconds={asked.max_seconds})"


class _Found(NamedTuple):
    """How those stand who are waited for."""

    scope: InScope
    entries: list[JournalEntry]
    problems: list[Assessment]
    open: int

    def has(self, what: str) -> bool:
        return any(entry.what == what for entry in self.entries)
