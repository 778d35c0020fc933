"""Ends in columns: how delegations ended and what they returned, by the strongest word there is."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar, Self

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Outcome, Report
from delegtop.model.store.archive import IN_LOG, NO_WORDS, Archive, ArchivedWords, unsigned, unsigned_words, words
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.merge import contest, merge_ends
from delegtop.model.store.numbers import UNSET, known
from delegtop.model.store.origin_column import OriginColumn, SourceNumbers

OPEN = -1
"""Stands for the word that ended it where there is none."""

_OUTCOMES = tuple(Outcome)
_OUTCOME_CODE = {outcome: code for code, outcome in enumerate(_OUTCOMES)}
_ENDINGS = tuple(Ending)
"""By number."""
UNSETTLED = 0xFF
"""Stands for the number of an outcome where it may still become another."""
_UNSETTLED_BY = bytes(UNSETTLED * (by in (OPEN & 0xFF, Ending.GONE.value)) for by in range(0x100))


Retell = Callable[[Origin], Iterable[Event]]
"""Tells again what the line at a place told."""


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
        self.logs: dict[str, Retell] = {}
        """The logs in which what is not kept here stands."""

    def take(self, row: int, event: Ended, id: str, said: str | None) -> bool:
        """Fold one in, and keep what was said last; True if it tells something new."""
        if self.by[row] == OPEN:
            self._write_event(row, event, id, said)
            return True
        told = self.told(row, id)
        claims = contest(told, event)
        if claims is told:
            return False
        if len(claims) > 1:
            self.claims[row] = claims
        self._write_event(row, merge_ends(claims), id, said)
        return True

    def forget(self, row: int, undone: Callable[[Ended], bool], id: str, said: str | None) -> bool:
        """Let go of ends that no longer count; True if another stands, and then what was said last is kept with it."""
        left = tuple(event for event in self.told(row, id) if not undone(event))
        self.claims.pop(row, None)
        if len(left) > 1:
            self.claims[row] = left
        if left:
            self._write_event(row, merge_ends(left), id, said)
            return True
        self.by[row], self.at[row], self._archive[row] = OPEN, UNSET, NO_WORDS
        self.place.clear(row)
        return False

    def _write_event(self, row: int, event: Ended, id: str, said: str | None) -> None:
        origin = event.origin
        report, signed = unsigned(event.report, id)
        number = self.place.number(origin)
        self.write(row, event.at, number, origin.line, origin.offset, event.outcome, event.by, report, signed, said)

    def write(
        self,
        row: int,
        at: Millis | None,
        source: int,
        line: int,
        offset: int,
        outcome: Outcome,
        by: Ending,
        report: Report,
        signed: bool,
        said: str | None,
    ) -> None:
        """An end, in place of what was told before; the source by its number, and of a return that is signed with the
        delegation's own id the rest."""
        self.by[row] = by
        self.at[row] = UNSET if at is None else at
        self.place.put(row, source, line, offset)
        self._outcome[row] = _OUTCOME_CODE[outcome]
        self._archive[row] = unsigned_words(report, signed, said)

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        self.claims |= moved.table(other.claims)
        self.logs |= other.logs

    def is_whole(self) -> bool:
        """Whether all name what there is, in columns as narrow as that allows: they are looked through as bytes."""
        is_narrow = all(isinstance(each, array) and each.typecode == "b" for each in (self.by, self._outcome))
        return is_narrow and is_within(self.by, OPEN, len(_ENDINGS)) and is_within(self._outcome, 0, len(_OUTCOMES))

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

    def settled(self, rows: range) -> bytes:
        """For each of these by number how it ended, by more than that nobody found a process of it; else UNSETTLED."""
        by, outcome = (
            column[rows.start : rows.stop].tobytes()
            if isinstance(column, array)
            else bytes(column[row] & 0xFF for row in rows)
            for column in (self.by, self._outcome)
        )
        unsettled = int.from_bytes(by.translate(_UNSETTLED_BY))  # each byte of all of them at once
        return (int.from_bytes(outcome) | unsettled).to_bytes(len(rows))

    def report(self, row: int, id: str) -> Report:
        return self.words(row, id).told_by(id)

    def words(self, row: int, id: str) -> ArchivedWords:
        """The return, and what was said last before it; what stands in a log tells only of the return."""
        found = self._archive[row]
        return found if found is not IN_LOG else self._words_in_log(row, id)

    @property
    def has_loose_words(self) -> bool:
        return self._archive.is_loose

    def press_one(self) -> bool:
        """Press some of the words that wait for it; False if there are none."""
        return self._archive.press_one()

    def said(self, row: int) -> str | None:
        """What was said last before the end."""
        return self._archive[row].said

    def leave_in_log(self) -> None:
        """What was returned need not be kept, where one line told of it that can be read again."""
        self._archive.leave_in_log({*range(len(self.by))}.difference(self.claims))

    def archived(self) -> Iterator[ArchivedWords]:
        """All words that are kept here."""
        return self._archive.kept()

    def _words_in_log(self, row: int, id: str) -> ArchivedWords:
        place = self.place[row]
        told = self.told_again(place) if place is not None else ()
        return next(
            (words(id, each.report, None) for each in told if isinstance(each, Ended) and each.id == id), NO_WORDS
        )

    def told_again(self, place: Origin) -> Iterable[Event]:
        """What the line at a place told, if it can be read again."""
        retell = self.logs.get(place.source)
        return () if retell is None else retell(place)
