"""How a tree of delegations grows: how many there are, how deep, how fast they were begun, what they used.

Only as many are looked at as are asked for: of a tree that has outgrown its limit nobody needs to know by how much, and
one of a million costs no more than one of some hundred.
"""

from collections.abc import Iterable
from itertools import chain

import msgspec

from delegtop.base.clock import MINUTE, Millis
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.tree.lineage import Lineage


class Growth(msgspec.Struct, frozen=True):
    """What is below one delegation, and what it used with all of them."""

    below: list[Handle]
    """One more than was asked for if there are more."""
    depth: int
    fastest: int
    """The most that were begun within one minute, of those that were begun lately."""
    fastest_at: Millis | None
    """When the last of these was begun."""
    newest: Handle | None
    tokens: int
    cost: float
    is_estimate: bool
    """Not all of the dollars were told."""


def growth(ledger: Ledger, lineage: Lineage, handle: Handle, most: int, lately: Millis) -> Growth:
    """The growth below one, of at most so many; how fast they are begun is asked of those since then."""
    levels = lineage.levels(handle, most)
    below = list(chain.from_iterable(levels))
    tokens, cost, is_estimate = _used(ledger, lineage, (handle, *below))
    starts = ledger.starts.at
    begun = sorted((starts[child], child) for child in below if starts[child] >= lately)
    fastest, fastest_at = _fastest(Millis(start) for start, _ in begun)
    return Growth(below, len(levels), fastest, fastest_at, begun[-1][1] if begun else None, tokens, cost, is_estimate)


def _used(ledger: Ledger, lineage: Lineage, handles: Iterable[Handle]) -> tuple[int, float, bool]:
    """Tokens and dollars of all, who come after their parents; of what a session's dollars hold nothing twice."""
    tokens, cost, is_estimate = 0, 0.0, False
    covered: set[Handle | None] = set()
    for handle in handles:
        spent = ledger.used(handle)
        tokens += spent.tokens or 0
        if lineage.parent(handle) in covered and not ledger.is_session(handle) and not ledger.covers(handle):
            covered.add(handle)
            continue
        cost, is_estimate = cost + (spent.cost or 0.0), is_estimate or spent.is_estimate
        if ledger.covers(handle):
            covered.add(handle)
    return tokens, cost, is_estimate


def _fastest(starts: Iterable[Millis]) -> tuple[int, Millis | None]:
    """The most within one minute, and when the last of these was."""
    window: list[Millis] = []
    best: tuple[int, Millis | None] = (0, None)
    for start in starts:
        window.append(start)
        while window[0] <= start - MINUTE:
            window.pop(0)
        if len(window) >= best[0]:
            best = len(window), start
    return best
