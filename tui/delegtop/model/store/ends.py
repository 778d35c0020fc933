"""Ends in columns: how delegations ended and what they returned, by the strongest word there is."""

from array import array
from collections.abc import Callable, Mapping
from typing import ClassVar

from delegtop.base.clock import Millis
from delegtop.model.events import Ended, Ending, Outcome, Report
from delegtop.model.store.archive import NO_WORDS, Archive, words
from delegtop.model.store.column_store import ColumnStore
from delegtop.model.store.merge import contest, merge_ends
from delegtop.model.store.numbers import UNSET, known
from delegtop.model.store.origin_column import OriginColumn, SourceNumbers

OPEN = -1
"""Stands for the word that ended it where there is none."""

_OUTCOMES = tuple(Outcome)
_OUTCOME_CODE = {outcome: code for code, outcome in enumerate(_OUTCOMES)}
_ENDINGS = tuple(Ending)
"""By number."""


class Ends(ColumnStore):
    """The end of every delegation that has one."""

    COLUMNS: ClassVar[Mapping[str, object]] = {"by": OPEN, "at": UNSET, "_outcome": 0}
    STORES = ("place", "_archive")
    BESIDE = ("claims",)

    def __init__(self, sources: SourceNumbers) -> None:
        self.by = array("b")
        """An `Ending`, or OPEN."""
        self.at = array("q")
        self.place = OriginColumn(sources)
        self._outcome = array("b")
        self._archive = Archive()
        """The return, and what was said last before the end: seldom read again."""
        self.claims: dict[int, tuple[Ended, ...]] = {}
        """All that is told, where it is not the same."""

    def take(self, row: int, event: Ended, id: str, said: str | None) -> bool:
        """Fold one in, and keep what was said last; True if it tells something new."""
        if self.by[row] == OPEN:
            self._write(row, event, id, said)
            return True
        told = self.told(row, id)
        claims = contest(told, event)
        if claims is told:
            return False
        if len(claims) > 1:
            self.claims[row] = claims
        self._write(row, merge_ends(claims), id, said)
        return True

    def forget(self, row: int, undone: Callable[[Ended], bool], id: str, said: str | None) -> bool:
        """Let go of ends that no longer count; True if another stands, and then what was said last is kept with it."""
        left = tuple(event for event in self.told(row, id) if not undone(event))
        self.claims.pop(row, None)
        if len(left) > 1:
            self.claims[row] = left
        if left:
            self._write(row, merge_ends(left), id, said)
            return True
        self.by[row], self.at[row], self._archive[row] = OPEN, UNSET, NO_WORDS
        self.place.clear(row)
        return False

    def _write(self, row: int, event: Ended, id: str, said: str | None) -> None:
        self.by[row] = event.by
        self.at[row] = UNSET if event.at is None else event.at
        self.place[row] = event.origin
        self._outcome[row] = _OUTCOME_CODE[event.outcome]
        self._archive[row] = words(id, event.report, said)

    def told(self, row: int, id: str) -> tuple[Ended, ...]:
        """All ends there are; a single one stands in the columns."""
        if row in self.claims:
            return self.claims[row]
        end, origin = self.of(row), self.place[row]
        if end is None or origin is None:
            return ()
        outcome, by, at = end
        return (Ended(id, at, origin, outcome, by, self.report(row, id)),)

    def of(self, row: int) -> tuple[Outcome, Ending, Millis | None] | None:
        """How it ended, by what word, and when."""
        by = self.by[row]
        return None if by == OPEN else (_OUTCOMES[self._outcome[row]], _ENDINGS[by], known(self.at[row]))

    def report(self, row: int, id: str) -> Report:
        return self._archive[row].told_by(id)

    @property
    def has_loose_words(self) -> bool:
        return self._archive.is_loose

    def press_one(self) -> bool:
        """Press some of the words that wait for it; False if there are none."""
        return self._archive.press_one()

    def said(self, row: int) -> str | None:
        """What was said last before the end."""
        return self._archive[row].said
