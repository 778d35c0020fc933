"""Tokens without double counting.

One answer of the model is written as several records that repeat its usage while it grows, so tokens are summed by
message, and the largest word of each counts. Counted are the tokens that were new. What was read from the cache is left
out: every call reads the whole conversation again, and a sum of that says how long the conversation was, many times
over, and not how much work was done. Beside that sum the kinds of tokens are kept by model, for whoever knows prices:
there, what was read from the cache counts.
"""

from collections.abc import Iterable

from delegtop.model.usage import NO_COUNTS, Account, Counts, Usage, account_of, usage_of

_REMEMBERED = 4
"""Messages whose records may still come: records of one message stand close together."""
_FAST = "fast"
"""At which speed an answer has a price of its own."""
Charge = tuple[Account, Counts]
"""What one message used so far, and of which model."""


class Tokens:
    """The tokens of one conversation."""

    __slots__ = ("_account", "_accounts", "_counts", "_recent", "_used", "added", "total")

    def __init__(self) -> None:
        self.total: int | None = None
        self.added: Charge | None = None
        """What the message that was told last added to that."""
        self._recent: dict[str, tuple[int, Charge | None]] = {}
        self._accounts: dict[Account, Counts] = {}
        self._account: Account | None = None
        """The one that was used last, which is mostly the next one too. Its sums stand apart until another is."""
        self._counts = NO_COUNTS
        self._used: tuple[Usage, ...] | None = None

    @property
    def used(self) -> tuple[Usage, ...] | None:
        """By model and kind; the same tuple until more is used. It is made when it is asked for: not every message
        tells of it."""
        if self._used is None and self._account is not None:
            self._accounts[self._account] = self._counts
            self._used = tuple(map(usage_of, self._accounts.keys(), self._accounts.values()))
        return self._used

    def add(self, message: str, tokens: int, charge: Charge | None = None) -> int:
        """Count what the message used so far; how much of it is new."""
        self.added = None
        recent = self._recent
        known = recent.pop(message, None)
        if known is None:
            if charge is not None:
                self.charge(charge)
            if len(recent) == _REMEMBERED:
                del recent[next(iter(recent))]
            recent[message] = tokens, charge
            self.total = (self.total or 0) + tokens
            return tokens
        before, charged = known
        new = tokens - before if tokens > before else 0
        if charge is None or charge == charged:
            recent[message] = known if not new else (tokens, charged)
        else:
            recent[message] = before + new, self.grow(charge, charged)
        self.total = (self.total or 0) + new
        return new

    def charge(self, charge: Charge) -> None:
        """So much was used beside what was counted."""
        account, counts = charge
        if counts != NO_COUNTS:
            self.added = charge
            self._used = None
            if account != self._account:
                self._turn_to(account)
            into, out, read, write, hour = counts
            before = self._counts
            self._counts = before[0] + into, before[1] + out, before[2] + read, before[3] + write, before[4] + hour

    def _turn_to(self, account: Account) -> None:
        """Another account is used from now on."""
        if self._account is not None:
            self._accounts[self._account] = self._counts
        self._account, self._counts = account, self._accounts.get(account, NO_COUNTS)

    def grow(self, charge: Charge, charged: Charge | None) -> Charge:
        """A message that is told again has used what is more. It stays with the account it was first put to."""
        if charged is None:
            self.charge(charge)
            return charge
        account, before = charged
        largest: Counts = tuple(map(max, charge[1], before))  # type: ignore[assignment]  # still five
        self.charge((account, tuple(map(int.__sub__, largest, before))))  # type: ignore[arg-type]  # still five
        return account, largest


def together(used: tuple[Usage, ...] | None, charges: Iterable[Charge]) -> tuple[Usage, ...] | None:
    """What was used, and what others used for it."""
    accounts = {each.account: each.counts for each in used or ()}
    for account, counts in charges:
        accounts[account] = _sum(accounts.get(account, NO_COUNTS), counts)
    return tuple(map(usage_of, accounts.keys(), accounts.values())) or None


def _sum(one: Counts, other: Counts) -> Counts:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3], one[4] + other[4]


def charge_of(model: str | None, counts: Counts, speed: str | None = None) -> Charge | None:
    """What one request is charged to; None if nobody says to which model."""
    return None if not model or model[0] == "<" else (account_of(model, counts, fast=speed == _FAST), counts)
