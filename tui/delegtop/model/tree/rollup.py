"""What a delegation and all below it used. Each node's tokens are its own alone, so adding counts none twice.

Dollars may be told of a session with all that it started within itself: what is estimated for these is then part of
them, and not added. A session of its own below it is no part of them.
"""

from typing import TYPE_CHECKING, TypeVar

import msgspec

from delegtop.model.usage import Spent

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

Number = TypeVar("Number", int, float)


class Dollars(msgspec.Struct, frozen=True):
    """A sum; None where no part of it is known."""

    cost: float | None = None
    is_estimate: bool = False
    """Some of it is estimated, or not known although tokens were used for it."""

    def __add__(self, other: "Dollars") -> "Dollars":
        return Dollars(_sum(self.cost, other.cost), self.is_estimate or other.is_estimate)


NOTHING = Dollars()


class Totals(msgspec.Struct, frozen=True):
    """Sums over a subtree; None where no node of it tells."""

    tokens: int | None = None
    cost: float | None = None
    nodes: int = 1
    """Delegations in it, its root among them."""
    is_estimate: bool = False
    """Not all of the dollars were told."""


def dollars(spent: Spent) -> Dollars:
    """Of one delegation alone."""
    return Dollars(spent.cost, spent.is_estimate or (spent.cost is None and bool(spent.tokens)))


def total(forest: "Forest", handle: "Handle") -> Totals:
    """The sum over one subtree."""
    tokens: int | None = None
    paid, nodes = NOTHING, 0
    pending = [(handle, False)]
    while pending:
        node, is_covered = pending.pop()
        is_covered = is_covered and not _stands_alone(forest, node)
        spent = forest.used(node)
        tokens, nodes = _sum(tokens, spent.tokens), nodes + 1
        if not is_covered:
            paid += dollars(spent)
        is_covered = is_covered or forest.covers(node)
        pending += ((child, is_covered) for child in forest.offspring(node))
    return _totals(tokens, paid, nodes)


def totals(forest: "Forest") -> list[Totals]:
    """The sum over every subtree, by handle, in one pass: children add themselves to their parents."""
    count = len(forest)
    found: list[Totals] = [Totals()] * count
    tokens: list[int | None] = [None] * count
    nodes = [1] * count
    below: dict[Handle, Dollars] = {}
    apart: dict[Handle, Dollars] = {}
    for handle in reversed(list(forest.walk())):
        spent, separate = forest.used(handle), apart.pop(handle, NOTHING)
        inner = below.pop(handle, NOTHING)
        paid = dollars(spent) + (separate if forest.covers(handle) else inner)
        tokens[handle] = _sum(tokens[handle], spent.tokens)
        found[handle] = _totals(tokens[handle], paid, nodes[handle])
        parent = forest.parent(handle)
        if parent is not None:
            tokens[parent], nodes[parent] = _sum(tokens[parent], tokens[handle]), nodes[parent] + nodes[handle]
            below[parent] = below.get(parent, NOTHING) + paid
            separate = paid if _stands_alone(forest, handle) else separate
            if separate is not NOTHING:
                apart[parent] = apart.get(parent, NOTHING) + separate
    return found


def shares(forest: "Forest") -> list[Dollars]:
    """What each delegation cost alone, by handle, so that they add up to what all cost: of dollars that are told of a
    session with all that it started, what is estimated for these is taken off, and the rest is an estimate too."""
    found = [dollars(forest.used(handle)) for handle in range(len(forest))]
    for handle in range(len(forest)):
        told = found[handle].cost
        if told is not None and forest.covers(handle):
            inner = [found[node].cost or 0.0 for node in _covered(forest, handle)]
            if any(inner):
                found[handle] = Dollars(max(told - sum(inner), 0.0), is_estimate=True)
    return found


def covered(forest: "Forest") -> "set[Handle]":
    """All whose dollars are among those that are told of a session above them."""
    return {node for handle in range(len(forest)) if forest.covers(handle) for node in _covered(forest, handle)}


def _covered(forest: "Forest", handle: "Handle") -> "list[Handle]":
    """All whose dollars are among those told of one."""
    found: list[Handle] = []
    pending = list(forest.offspring(handle))
    while pending:
        node = pending.pop()
        if not _stands_alone(forest, node):
            found.append(node)
            pending += forest.offspring(node)
    return found


def _stands_alone(forest: "Forest", handle: "Handle") -> bool:
    return forest.covers(handle) or forest.is_session(handle)


def _totals(tokens: int | None, paid: Dollars, nodes: int) -> Totals:
    return Totals(tokens, paid.cost, nodes, paid.is_estimate and paid.cost is not None)


def _sum(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
