"""What models cost: by the user's own prices, else by the list prices that the vendors published.

A model is known by its whole name. One that nobody published a price for has none, whatever its siblings cost: what it
used is then not known in dollars.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.model.usage import NO_COUNTS, Account, Counts

_MILLION = 1_000_000
_BEFORE = lazy_pattern(r"^.*/|^(?:[a-z]{2,6}\.)?anthropic\.")
"""Who passes it on: `anthropic/…`, `us.anthropic.…`."""
_BEHIND = lazy_pattern(r"\[1m\]$|-latest$|-v\d+(?::\d+)?$|[-@]20\d{6}$|-20\d\d-\d\d-\d\d$")
"""Of which day it is, and how it is asked."""


class Rates(msgspec.Struct, frozen=True, gc=False):
    """US dollars for a million tokens of each kind."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float

    def cost(self, counts: Counts) -> float:
        new, said, read, written, kept = counts
        sums = new * self.input + said * self.output + read * self.cache_read
        return (sums + written * self.cache_write + kept * self.cache_write_1h) / _MILLION


class ListPrice(msgspec.Struct, frozen=True, gc=False):
    """What a model costs from a day on."""

    rates: Rates
    source: str
    """Where it was read, and when."""
    since: Millis = Millis(0)
    over: tuple[tuple[int, Rates], ...] = ()
    """What requests cost whose prompts have more tokens than that."""
    fast: Rates | None = None
    """What its faster mode costs; None if it has none that a price was published for."""

    def at(self, over: int, *, fast: bool) -> Rates | None:
        if fast:
            return self.fast
        if not self.over:
            return self.rates
        return next((rates for least, rates in reversed(self.over) if over >= least), self.rates)


class PriceBook:
    """The prices that count: the user's own before the published ones."""

    def __init__(self, own: Mapping[str, Rates] | None = None) -> None:
        self._own = dict(own or {})
        self._known: dict[str, Rates | tuple[ListPrice, ...]] = {}
        self._lasting: dict[Account, Rates] = {}
        """Of what had one price on all days."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PriceBook) and self._own == other._own

    __hash__ = None  # type: ignore[assignment]  # nobody keeps them in sets, and two with the same prices are equal

    def cost(self, accounts: Iterable[tuple[Account, Counts]], at: Millis | None) -> float | None:
        """What was used costs so many dollars by the prices of that day; None if a price is not known."""
        total, found = 0.0, False
        for account, counts in accounts:
            if counts != NO_COUNTS:
                rates = self._lasting.get(account) or self.rates(account, at)
                if rates is None:
                    return None
                total, found = total + rates.cost(counts), True
        return round(total, 9) if found else None

    def rates(self, account: Account, at: Millis | None) -> Rates | None:
        """The price of that model then; the newest if nobody knows when. The user's own is for all requests alike."""
        model, over, fast = account
        known = self._known.get(model)
        if known is None:
            known = self._known[model] = self._look_up(model)
        if isinstance(known, Rates):
            return self._lasting.setdefault(account, known)
        if not known:
            return None
        place = len(known)
        if at is not None and place > 1:
            place = bisect_right(known, at, key=lambda price: price.since)
        found = known[max(place - 1, 0)].at(over, fast=fast)
        if found is not None and len(known) == 1:
            self._lasting[account] = found
        return found

    def _look_up(self, model: str) -> Rates | tuple[ListPrice, ...]:
        plain = plain_name(model)
        for pattern, rates in self._own.items():
            if fnmatchcase(model, pattern) or fnmatchcase(plain, pattern):
                return rates
        from delegtop.model.price_list import PRICES  # who is told dollars, or no models, needs none

        return PRICES.get(plain, ())


def plain_name(model: str) -> str:
    """The name by which a vendor lists it."""
    plain = _BEFORE.sub("", model.lower(), count=1)
    while (shorter := _BEHIND.sub("", plain)) != plain:
        plain = shorter
    return plain.replace(".", "-") if plain.startswith("claude-") else plain
