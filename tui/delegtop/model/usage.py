"""What was used of one model, by kinds of tokens that have prices of their own.

The sums are of one delegation and grow; what a price depends on beside the model stands with them, because it cannot be
told from a sum any more: how long the prompts were, and whether the answers were bought fast.
"""

from collections.abc import Collection
from functools import lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

BANDS = (0, 100_000, 200_000, 272_000)
"""Tokens of a prompt from which on some model has another price, beginning with none."""

_SHORT = BANDS[1]

Counts = tuple[int, int, int, int, int]
"""Input, output, cache read, cache written for minutes, and for an hour: in the order of the fields below."""
NO_COUNTS: Counts = (0, 0, 0, 0, 0)
Account = tuple[str, int, bool]
"""What one price is for: the model, the band of the prompts, whether fast."""


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """All that one delegation used of one model, in requests of one kind."""

    model: str
    input: Annotated[int, Meta(description="Tokens that no cache was asked for.")] = 0
    output: Annotated[int, Meta(description="Tokens the model wrote, with what it thought.")] = 0
    cache_read: Annotated[int, Meta(description="Tokens read from a cache.")] = 0
    cache_write: Annotated[int, Meta(description="Tokens written to a cache that keeps them for minutes.")] = 0
    cache_write_1h: Annotated[int, Meta(description="Tokens written to a cache that keeps them for an hour.")] = 0
    over: Annotated[
        int, Meta(description="The prompts had more tokens than this: 0, or from where on a model has another price.")
    ] = 0
    fast: Annotated[bool, Meta(description="The answers were bought at the price of a faster mode.")] = False

    @property
    def account(self) -> Account:
        return self.model, self.over, self.fast

    @property
    def counts(self) -> Counts:
        return self.input, self.output, self.cache_read, self.cache_write, self.cache_write_1h


def band(prompt: int) -> int:
    """The band of a prompt of so many tokens."""
    if prompt <= BANDS[1]:
        return 0
    return BANDS[2] if BANDS[2] < prompt <= BANDS[3] else BANDS[1] if prompt <= BANDS[2] else BANDS[3]


def account_of(model: str, counts: Counts, *, fast: bool = False) -> Account:
    """What one request is charged to."""
    into, _, read, write, hour = counts
    prompt = into + read + write + hour
    return _shared(model, 0 if prompt <= _SHORT else band(prompt), fast)


@lru_cache(maxsize=256)
def _shared(model: str, over: int, fast: bool) -> Account:
    """One account for all who use it: there are few, and many remember theirs."""
    return model, over, fast


def usage_of(account: Account, counts: Counts) -> Usage:
    model, over, fast = account
    return Usage(model, *counts, over, fast)


def usages(accounts: Collection[tuple[Account, Counts]]) -> tuple[Usage, ...]:
    """Of these accounts, in an order that does not depend on which was told first."""
    return tuple([usage_of(account, counts) for account, counts in sorted(accounts)])


class Spent(msgspec.Struct, frozen=True):
    """What was used, in tokens and US dollars; None where nobody knows."""

    tokens: int | None = None
    cost: float | None = None
    is_estimate: bool = False
    """The dollars, or some of them, are those of a list of prices: no program told them."""
