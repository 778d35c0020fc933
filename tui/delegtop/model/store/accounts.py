"""What delegations used, by model: an account for each model a delegation used, in columns.

Tokens are kept and not dollars, because prices belong to whoever looks: a recording holds none, and other settings give
other dollars for the same log. An account takes fifty bytes, a delegation without one four; priced as it is asked for,
which takes a microsecond.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator

from delegtop.model.store.column_store import ColumnStore, is_within
from delegtop.model.usage import Account, Counts, Usage

NO_ACCOUNT = -1
MOST = 1 << 62
"""What a column can hold; a log may say anything."""


class Accounts(ColumnStore):
    """Accounts in the order in which they were opened; those of one delegation are chained."""

    BESIDE = ("_kinds", "_kind", "_next", "_input", "_output", "_read", "_write", "_write_1h")

    def __init__(self) -> None:
        self._kinds: list[Account] = []
        self._kind = array("I")
        self._next = array("i")
        self._input, self._output, self._read = array("q"), array("q"), array("q")
        self._write, self._write_1h = array("q"), array("q")
        self._numbers: dict[Account, int] = {}

    def take(self, first: int, used: tuple[Usage, ...], before: tuple[Usage, ...] = ()) -> int:
        """Fold in what a delegation used so far, whose first account is that; every sum is a maximum. Its first
        account then. What is the same as what was taken `before` of it is not looked at again."""
        for each in used:
            if each in before:
                continue
            kind, at = self._number(each.account), first
            while at != NO_ACCOUNT and self._kind[at] != kind:
                at = self._next[at]
            if at == NO_ACCOUNT:
                first = self._open(kind, each.counts, first)
            else:
                self._raise(at, each)
        return first

    def __len__(self) -> int:
        return len(self._kind)

    def append(self, other: "Accounts", firsts: Collection[int]) -> Iterator[int]:
        """The accounts of others, of whom these are the first ones, behind those that are here; which these are now."""
        before, chosen = len(self._kind), other._chained(firsts)
        now = {NO_ACCOUNT: NO_ACCOUNT, **{at: number for number, at in enumerate(chosen, before)}}
        kinds = {kind: self._number(other._kinds[kind]) for kind in sorted({other._kind[at] for at in chosen})}
        self._kind.extend(kinds[other._kind[at]] for at in chosen)
        self._next.extend(now[other._next[at]] for at in chosen)
        for column, more in zip(self._columns(), other._columns(), strict=True):
            column.extend(map(more.__getitem__, chosen))
        return map(now.__getitem__, firsts)

    def _chained(self, firsts: Iterable[int]) -> list[int]:
        """These accounts and those that follow them."""
        found: list[int] = []
        for at in firsts:
            while at != NO_ACCOUNT:
                found.append(at)
                at = self._next[at]
        return found

    def is_whole(self) -> bool:
        count, kinds = len(self._kind), is_within(self._kind, 0, len(self._kinds))
        return (
            kinds and is_within(self._next, NO_ACCOUNT, count) and all(len(each) == count for each in self._columns())
        )

    def of(self, first: int) -> list[tuple[Account, Counts]]:
        """The accounts of a delegation, the one that was opened last first."""
        found: list[tuple[Account, Counts]] = []
        at = first
        while at != NO_ACCOUNT:
            counts = self._input[at], self._output[at], self._read[at], self._write[at], self._write_1h[at]
            found.append((self._kinds[self._kind[at]], counts))
            at = self._next[at]
        return found

    def _number(self, account: Account) -> int:
        if len(self._numbers) != len(self._kinds):
            self._numbers = {each: number for number, each in enumerate(self._kinds)}
        number = self._numbers.get(account)
        if number is None:
            number = self._numbers[account] = len(self._kinds)
            self._kinds.append(account)
        return number

    def _open(self, kind: int, counts: Counts, following: int) -> int:
        self._kind.append(kind)
        self._next.append(following)
        for column, count in zip(self._columns(), counts, strict=True):
            column.append(max(0, min(count, MOST)))
        return len(self._kind) - 1

    def _raise(self, at: int, used: Usage) -> None:
        # Column by column: this is done for every answer of a model, and a loop over them costs twice as much.
        if used.input > self._input[at]:
            self._input[at] = min(used.input, MOST)
        if used.output > self._output[at]:
            self._output[at] = min(used.output, MOST)
        if used.cache_read > self._read[at]:
            self._read[at] = min(used.cache_read, MOST)
        if used.cache_write > self._write[at]:
            self._write[at] = min(used.cache_write, MOST)
        if used.cache_write_1h > self._write_1h[at]:
            self._write_1h[at] = min(used.cache_write_1h, MOST)

    def _columns(self) -> "tuple[array[int], ...]":
        return self._input, self._output, self._read, self._write, self._write_1h
