"""The orders siblings can be sorted in: one table. What is not known comes last, whichever way round it is sorted."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from delegtop.model import measures

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

PROBLEMS = "problems"
"""By what presses most: whoever judges delegations knows that."""

Value = Callable[["Forest", "Handle"], Any]


class Sort(NamedTuple):
    """One order."""

    about: str
    """What comes first."""
    value: Value
    largest: bool = False
    """Whether the largest comes first, as it does where more is what one looks for."""


SORTS: dict[str, Sort] = {
    PROBLEMS: Sort("what to look at first", lambda _forest, _handle: None),
    "start": Sort("what began first", lambda forest, handle: _start(*forest.birth(handle))),
    "name": Sort("by name, from A", lambda forest, handle: measures.label(forest.delegation(handle)).lower()),
    "project": Sort("by the folder it works in", measures.folder),
    "host": Sort("by the machine it is on", measures.host),
    "task": Sort("by the number or name of the task", lambda forest, handle: forest.delegation(handle).task),
    "state": Sort("by state: what goes on, what went wrong, what is done", measures.state_rank),
    "depth": Sort("the deepest", measures.depth, largest=True),
    "deadline": Sort("the least time left", measures.left),
    "age": Sort("the longest at work", measures.age, largest=True),
    "quiet": Sort("the longest not heard of", measures.quiet, largest=True),
    "tokens": Sort("the most tokens", lambda forest, handle: forest.used(handle).tokens, largest=True),
    "cost": Sort("the most dollars, told or estimated", lambda forest, handle: forest.used(handle).cost, largest=True),
    "doing": Sort("by what they do, from A", lambda forest, handle: measures.remark(forest, handle).lower() or None),
}


def order(
    forest: "Forest",
    sort: str,
    *,
    reverse: bool = False,
    pressing: Callable[["Handle"], Any] | None = None,
) -> Callable[["Handle"], Any]:
    """The key to sort siblings by, ties by start; `pressing` tells what presses most."""
    birth, (_, value, largest) = forest.birth, SORTS[sort]
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
