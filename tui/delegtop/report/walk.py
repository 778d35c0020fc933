"""The rows of a printed tree, in order."""

from collections.abc import Callable, Collection, Iterator
from typing import Any

from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import OutlineRow

_GUIDED = 32
"""Levels whose lines are known: of a long chain nobody draws all."""


def rows(
    forest: Forest, shown: Collection[Handle] | None = None, key: Callable[[Handle], Any] | None = None
) -> Iterator[OutlineRow]:
    """Parents before children, siblings by `key`, else by start; only those in `shown`, if it is given."""

    def ordered(handles: list[Handle]) -> list[Handle]:
        if shown is not None:
            handles = [handle for handle in handles if handle in shown]
        return sorted(handles, key=key or forest.birth)

    def stacked(handles: list[Handle], level: int, guides: tuple[bool, ...]) -> list[OutlineRow]:
        last = len(handles) - 1
        return [OutlineRow(handle, level, guides, index == last, 0, 0, True) for index, handle in enumerate(handles)][
            ::-1
        ]

    pending = stacked(ordered(forest.roots()), 0, ())
    while pending:
        row = pending.pop()
        yield row
        if children := forest.children(row.handle):  # most have none
            guides = (*row.guides, not row.last)[-_GUIDED:]
            pending += stacked(ordered(children), row.level + 1, guides)


def with_ancestors(forest: Forest, matches: Collection[Handle]) -> set[Handle]:
    """The matches and everything above them, so that each is seen in its place."""
    shown: set[Handle] = set()
    for match in matches:
        handle: Handle | None = match
        while handle is not None and handle not in shown:
            shown.add(handle)
            handle = forest.parent(handle)
    return shown
