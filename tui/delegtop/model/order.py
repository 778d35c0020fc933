"""The orders siblings can be sorted in."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from delegtop.model import measures

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.ledger import Handle

SORTS = ("start", "deadline", "age", "quiet", "name", "problems")


def order(forest: "Forest", sort: str) -> Callable[["Handle"], Any]:
    """The key to sort siblings by: what presses most comes first, what is not known last, ties by start."""
    birth = forest.birth
    match sort:
        case "deadline":
            return lambda handle: (_known(measures.left(forest, handle)), birth(handle))
        case "age":
            return lambda handle: (_longest(measures.age(forest, handle)), birth(handle))
        case "quiet":
            return lambda handle: (_longest(measures.quiet(forest, handle)), birth(handle))
        case "name":
            return lambda handle: (measures.label(forest.delegation(handle)).lower(), birth(handle))
        case "problems":
            return lambda handle: (_severity(forest, handle), birth(handle))
    return birth


def _known(span: int | None) -> tuple[bool, int]:
    return span is None, span or 0


def _longest(span: int | None) -> tuple[bool, int]:
    return span is None, -(span or 0)


def _severity(forest: "Forest", handle: "Handle") -> int:
    """Its own severity, or that of what it waits on: a patient parent comes up with the child that hangs."""
    blocker = forest.blocker(handle)
    own = measures.severity(forest, handle)
    return own if blocker is None else min(own, measures.severity(forest, blocker))
