"""The rows of a printed tree, in order."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.order import order

GUIDED = 24
"""Levels that get guide lines. Deeper ones say their level instead, or a long chain would fill the page with lines."""


class Row(NamedTuple):
    handle: Handle
    level: int
    open: tuple[bool, ...]
    """For each guided level above: does its line run on below this row?"""
    last: bool
    """Is it the last among the siblings shown?"""


def rows(forest: Forest, shown: Collection[Handle] | None, sort: str) -> Iterator[Row]:
    """Parents before children, siblings by `sort`; only those in `shown`, if it is given."""
    key = order(forest, sort)

    def ordered(handles: list[Handle]) -> list[Handle]:
        if shown is not None:
            handles = [handle for handle in handles if handle in shown]
        return sorted(handles, key=key)

    def stacked(handles: list[Handle], level: int, lines: tuple[bool, ...]) -> list[Row]:
        last = len(handles) - 1
        return [Row(handle, level, lines, index == last) for index, handle in enumerate(handles)][::-1]

    pending = stacked(ordered(forest.roots()), 0, ())
    while pending:
        row = pending.pop()
        yield row
        lines = (*row.open, not row.last) if 0 < row.level <= GUIDED else row.open
        pending += stacked(ordered(forest.children(row.handle)), row.level + 1, lines)


def with_ancestors(forest: Forest, matches: Collection[Handle]) -> set[Handle]:
    """The matches and everything above them, so that each is seen in its place."""
    shown: set[Handle] = set()
    for match in matches:
        handle: Handle | None = match
        while handle is not None and handle not in shown:
            shown.add(handle)
            handle = forest.parent(handle)
    return shown
