"""What a delegation and all below it used. Each node's figures are its own alone, so adding counts none twice."""

from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

Number = TypeVar("Number", int, float)


class Totals(msgspec.Struct, frozen=True):
    """Sums over a subtree; None where no node of it tells."""

    tokens: int | None = None
    cost: float | None = None
    nodes: int = 1
    """Delegations in it, its root among them."""

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(_sum(self.tokens, other.tokens), _sum(self.cost, other.cost), self.nodes + other.nodes)


def total(forest: "Forest", handle: "Handle") -> Totals:
    """The sum over one subtree."""
    tokens: int | None = None
    cost: float | None = None
    nodes, pending = 0, [handle]
    while pending:
        node = pending.pop()
        own_tokens, own_cost = forest.used(node)
        tokens, cost, nodes = _sum(tokens, own_tokens), _sum(cost, own_cost), nodes + 1
        pending += forest.offspring(node)
    return Totals(tokens, cost, nodes)


def totals(forest: "Forest") -> list[Totals]:
    """The sum over every subtree, by handle, in one pass: children add themselves to their parents."""
    found = [Totals(*forest.used(handle)) for handle in range(len(forest))]
    for handle in reversed(list(forest.walk())):
        parent = forest.parent(handle)
        if parent is not None:
            found[parent] += found[handle]
    return found


def _sum(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
