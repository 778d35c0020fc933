"""The orders siblings can be sorted in. What is not known comes last, whichever way round it is sorted."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from delegtop.model import measures
from delegtop.model.tree.order_names import PROBLEMS

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

Value = Callable[["Forest", "Handle"], Any]


class Sort(NamedTuple):
    """One order."""

    value: Value
    largest: bool = False
    """Whether the largest comes first, as it does where more is what one looks for."""


SORTS: dict[str, Sort] = {
    PROBLEMS: Sort(lambda _forest, _handle: None),
    "start": Sort(lambda forest, handle: _start(*forest.birth(handle))),
    "name": Sort(lambda forest, handle: measures.label(forest.delegation(handle)).lower()),
    "project": Sort(measures.folder),
    "host": Sort(measures.host),
    "task": Sort(lambda forest, handle: forest.delegation(handle).task),
    "state": Sort(measures.state_rank),
    "depth": Sort(measures.depth, largest=True),
    "deadline": Sort(measures.left),
    "age": Sort(measures.age, largest=True),
    "quiet": Sort(measures.quiet, largest=True),
    "tokens": Sort(lambda forest, handle: forest.used(handle).tokens, largest=True),
    "cost": Sort(lambda forest, handle: forest.used(handle).cost, largest=True),
    "doing": Sort(lambda forest, handle: measures.remark(forest, handle).lower() or None),
}
"""By the names that `ORDERS` tells."""


def order(
    forest: "Forest",
    sort: str,
    *,
    reverse: bool = False,
    pressing: Callable[["Handle"], Any] | None = None,
) -> Callable[["Handle"], Any]:
    """The key to sort siblings by, ties by start; `pressing` tells what presses most."""
    birth, (value, largest) = forest.birth, SORTS[sort]
    if sort == PROBLEMS:
        assert pressing is not None  # noqa: S101 # who sorts by problems has assessed them
        return (lambda handle: _Reversed(pressing(handle))) if reverse else pressing
    turned = largest != reverse

    def key(handle: "Handle") -> Any:
        found = value(forest, handle)
        if found is None:
            return True, 0, birth(handle)
        return False, _Reversed(found) if turned else found, birth(handle)

    return key


def _start(unknown: bool, start: int, _id: str) -> int | None:
    """Of a birth, which costs less to ask for than all times."""
    return None if unknown else start


class _Reversed:
    """Compares the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: "_Reversed") -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)
