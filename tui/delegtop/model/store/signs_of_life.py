"""Signs of life in columns: when each delegation was last heard and what it was in the middle of, and the most that
was told of what it used."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar, Self

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.model.event_runs import SignRow
from delegtop.model.events import Heard, Phase
from delegtop.model.sleep_detector import Minutes
from delegtop.model.store.accounts import MOST, NO_ACCOUNT, Accounts
from delegtop.model.store.column_store import ColumnStore, RowsMoved, is_within
from delegtop.model.store.details import NOWHERE
from delegtop.model.store.numbers import NO_WORD, UNSET, WordNumbers, known
from delegtop.model.store.origin_column import NO_SOURCE, OriginColumn, SourceNumbers
from delegtop.model.usage import Account, Counts, Usage, usages

PHASES: tuple[Phase | None, ...] = (None, *Phase)
"""By number."""
_PHASE_CODE = {phase: code for code, phase in enumerate(PHASES)}
_OFTEN = 0xFFFF
"""More requests are not counted."""
ARCHIVED = "\0archived"
"""Stands for what was said last where it is kept with the end."""
IN_LOG = "\0in a log"
"""The same where it is kept nowhere but in the line of a log that told of it."""


def row_of(event: Heard) -> SignRow:
    """A sign of life as runs have it; what it tells beside that is in the event."""
    at, origin = event.at, event.origin
    return event.id, at, origin.line, origin.offset, event.doing, event.tool, event.tokens, event.cost, event


class SignsOfLife(ColumnStore):
    """The last sign of life of every delegation."""

    COLUMNS: ClassVar[Mapping[str, object]] = {
        "at": UNSET,
        "doing": None,
        "_tool": NO_WORD,
        "phase": 0,
        "since": UNSET,
        "asked": 0,
        "_mode": NO_WORD,
        "_tokens": UNSET,
        "account": NO_ACCOUNT,
    }
    STORES = ("place",)
    BESIDE = ("_words", "accounts", "costs", "whole", "due")

    def __init__(self, sources: SourceNumbers) -> None:
        self.at = array("q")
        self.place = OriginColumn(sources)
        self.doing: list[str | None] = []
        """What it said last, or what stands for that."""
        self._words = WordNumbers()
        """Names of tools and modes."""
        self._tool = array("b")
        self.phase = array("b")
        """Which of the phases it was in."""
        self.since = array("q")
        self.asked = array("H")
        self._mode = array("b")
        self._tokens = array("q")
        self.account = array("i")
        """The first of its accounts."""
        self.accounts = Accounts()
        # What only few have.
        self.costs: dict[int, float] = {}
        """Dollars, as told."""
        self.whole: set[int] = set()
        """Those whose dollars are also those of all that they started within themselves."""
        self.due: dict[int, Millis] = {}
        """When the open call runs out of its time."""

    def take(
        self,
        signs: Iterable[SignRow],
        source: str,
        handles: Callable[[str], int | None],
        new: Callable[[str], int],
        minutes: Minutes,
        touched: set[int],
    ) -> None:
        """Fold them in: of that source, where they are no events with a place of their own. `handles` gives the row of
        an id, and `new` makes one; `minutes` gains those in which something was heard."""
        at_all, place, doing, tool, mode = self.at, self.place, self.doing, self._tool, self._mode
        phase, since, asked, due = self.phase, self.since, self.asked, self.due
        tokens, words = self._tokens, self._words
        numbers, sources, lines, offsets = place.numbers, place.sources, place.lines, place.offsets
        minute = -1
        used: tuple[Usage, ...] | None = None
        user = -1
        number = numbers[source] if source else NO_SOURCE
        for id, at, line, offset, does, uses, spent, cost, event in signs:
            row = handles(id)
            if row is None:
                row = new(id)
            if at is not None and (
                at > (last := at_all[row])
                or (at == last and self._outdoes(row, Origin(source, line, offset) if event is None else event.origin))
            ):
                at_all[row] = at
                if event is not None:
                    origin = event.origin
                    number = numbers[origin.source if not origin.host else origin.file]
                try:  # as the column itself does it, for less
                    sources[row] = number
                    lines[row] = line
                    offsets[row] = offset
                except OverflowError:
                    place.put(row, number, line, offset)
                    sources, offsets = place.sources, place.offsets
                doing[row] = does
                try:
                    tool[row] = words[uses]
                except OverflowError:
                    self.put_wide("_tool", row, words[uses])
                    tool = self._tool
                if event is None:
                    mode[row] = NO_WORD
                    phase[row] = 0
                    since[row] = UNSET
                    asked[row] = 0
                    if due:
                        due.pop(row, None)
                else:
                    try:
                        mode[row] = NO_WORD if event.mode is None else words[event.mode]
                    except OverflowError:
                        self.put_wide("_mode", row, words[event.mode])
                        mode = self._mode
                    phase[row] = 0 if event.phase is None else _PHASE_CODE[event.phase]
                    since[row] = UNSET if event.since is None else event.since
                    # a recording may say anything
                    asked[row] = 0 if event.asked is None else min(max(event.asked, 0), _OFTEN)
                    if event.due is not None:
                        due[row] = event.due
                    elif due:
                        due.pop(row, None)
            if at is not None and at // MINUTE != minute:
                minute = at // MINUTE
                minutes.add(minute)
            if spent is not None and spent > tokens[row]:
                tokens[row] = spent if spent < MOST else MOST
            if cost is not None:
                self.costs[row] = max(cost, self.costs.get(row, 0.0))
                if event is not None and event.whole:
                    self.whole.add(row)
            if event is not None and event.used is not None and (event.used is not used or row != user):
                before = used if row == user and used is not None else ()
                used, user = event.used, row
                self.account[row] = self.accounts.take(self.account[row], used, before)
            touched.add(row)

    def _outdoes(self, row: int, origin: Origin) -> bool:
        """Of two at one moment the later record counts."""
        before = self.place[row]
        return before is None or origin > before

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        if len(other.accounts):
            self.account[moved.at :] = array("i", self.accounts.append(other.accounts, self.account[moved.at :]))
        used = {*self._tool[moved.at :], *self._mode[moved.at :]} - {NO_WORD}  # another may be a secret
        words = {NO_WORD: NO_WORD, **{number: self._words[other._words.things[number]] for number in sorted(used)}}
        for name in ("_tool", "_mode"):
            self.renumber(name, moved.at, words)
        self.costs |= moved.table(other.costs)
        self.whole.update(moved.table(dict.fromkeys(other.whole)))
        self.due |= moved.table(other.due)

    def is_whole(self) -> bool:
        words = len(self._words.things)
        named = is_within(self._tool, NO_WORD, words) and is_within(self._mode, NO_WORD, words)
        return named and self.accounts.is_whole() and is_within(self.account, NO_ACCOUNT, len(self.accounts))

    def leave_in_log(self, kept: Mapping[int, object]) -> None:
        """What was said last can be had from the line that told of it, but for those of whom it is kept with an end."""
        for row, doing in enumerate(self.doing):
            if doing is not None and not (doing is ARCHIVED and row in kept):
                self.doing[row] = IN_LOG

    def words_here(self) -> Iterator[str | None]:
        """What any of them said, with which tool and in which mode, as far as that stands here."""
        yield from self._words.things
        yield from (doing for doing in self.doing if doing is not IN_LOG and doing is not ARCHIVED)

    def tool(self, row: int) -> str | None:
        return self._words.word(self._tool[row])

    def mode(self, row: int) -> str | None:
        return self._words.word(self._mode[row])

    def tokens(self, row: int) -> int | None:
        return known(self._tokens[row])

    def accounts_of(self, row: int) -> list[tuple[Account, Counts]]:
        """What it used, by model and kind."""
        return self.accounts.of(self.account[row])

    def told(self, row: int, id: str, doing: str | None) -> Heard:
        """The last one as an event again, with the most that was told of what was used, and with what was said then;
        without a time if there was none."""
        return Heard(
            id,
            known(self.at[row]),
            self.place[row] or NOWHERE,
            doing,
            self.tool(row),
            self.tokens(row),
            self.costs.get(row),
            PHASES[self.phase[row]],
            known(self.since[row]),
            self.asked[row] or None,
            self.due.get(row),
            self.mode(row),
            usages(self.accounts_of(row)) or None,
            row in self.whole,
        )
