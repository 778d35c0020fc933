"""The children of one wide parent: an ordered sequence in blocks that knows how many rows stand before any of them.

A parent with a million children must not cost a million steps to look at. The nodes lie in small blocks and a Fenwick
tree sums the rows of the blocks, so every question is one short walk over the tree and one over a block. The tree is
made when somebody asks, so that loading does not pay for it.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence

_FILL = 64
_FULL = 2 * _FILL


class Siblings:
    """Nodes in order. `rows[node]` is how many rows a node takes; `place[node]` is the number of its block.

    Both arrays belong to the outline and are shared by all wide parents: a node has only one parent.
    """

    __slots__ = ("_blocks", "_order", "_place", "_position", "_rows", "_sums", "_totals")

    def __init__(self, nodes: Sequence[int], rows: "array[int]", place: "array[int]") -> None:
        self._rows = rows
        self._place = place
        self.arrange(nodes)

    def __iter__(self) -> Iterator[int]:
        for number in self._order:
            yield from self._blocks[number]

    def arrange(self, nodes: Sequence[int]) -> None:
        """Take these nodes, in this order, in place of what was there."""
        self._blocks = [array("i", nodes[start : start + _FILL]) for start in range(0, len(nodes), _FILL)]
        self._order = list(range(len(self._blocks)))  # the numbers of the blocks, first to last
        for number in self._order:
            self._settle(number)
        self.recount()

    def recount(self) -> None:
        """Sum the rows of every block anew."""
        rows = self._rows
        self._totals = [sum(map(rows.__getitem__, block)) for block in self._blocks]
        self._forget_index()

    def add_rows(self, node: int, change: int) -> None:
        """A node takes so many rows more than it did."""
        number = self._place[node]
        self._totals[number] += change
        sums = self._sums
        if not sums:
            return
        index = self._position[number] + 1
        while index < len(sums):
            sums[index] += change
            index += index & -index

    def rows_before(self, node: int) -> int:
        """How many rows its elder siblings take."""
        self._index()
        number = self._place[node]
        block = self._blocks[number]
        elders = block[: block.index(node)]
        return self._sum(self._position[number]) + sum(map(self._rows.__getitem__, elders))

    def find(self, row: int) -> tuple[int, int]:
        """The node in which this row lies, and which of its rows it is."""
        self._index()
        sums, position = self._sums, 0
        step = 1 << (len(sums).bit_length() - 1)
        while step:
            ahead = position + step
            if ahead < len(sums) and sums[ahead] <= row:
                position = ahead
                row -= sums[ahead]
            step >>= 1
        if position == len(self._order):
            raise IndexError("row beyond the last sibling")
        rows = self._rows
        for node in self._blocks[self._order[position]]:
            taken = rows[node]
            if row < taken:
                return node, row
            row -= taken
        raise AssertionError("a block holds fewer rows than its total says")

    def after(self, node: int) -> int:
        """The next sibling that takes any row, 0 if there is none."""
        number = self._place[node]
        block, rows = self._blocks[number], self._rows
        for index in range(block.index(node) + 1, len(block)):
            if rows[block[index]]:
                return block[index]
        self._index()
        before = self._sum(self._position[number] + 1)
        return self.find(before)[0] if before < self._sum(len(self._order)) else 0

    def neighbours(self, node: int) -> tuple[int, int]:
        """The siblings right before and right after, 0 where there is none."""
        self._index()
        number = self._place[node]
        block, order, position = self._blocks[number], self._order, self._position[number]
        index = block.index(node)
        elder = block[index - 1] if index else self._blocks[order[position - 1]][-1] if position else 0
        if index + 1 < len(block):
            return elder, block[index + 1]
        return elder, self._blocks[order[position + 1]][0] if position + 1 < len(order) else 0

    def append(self, node: int) -> None:
        """Put a node that takes no rows yet at the end."""
        last = self._order[-1]
        if len(self._blocks[last]) < _FILL:
            self._blocks[last].append(node)
            self._place[node] = last
            return
        self._place[node] = number = len(self._blocks)
        self._blocks.append(array("i", (node,)))
        self._totals.append(0)
        self._order.append(number)
        if self._sums:
            index = len(self._order)
            self._position.append(index - 1)
            self._sums.append(self._sum(index - 1) - self._sum(index & (index - 1)))

    def insert(self, node: int, precedes: Callable[[int], bool]) -> None:
        """Put a node that takes no rows yet behind all those that precede it."""
        blocks, order = self._blocks, self._order
        if precedes(blocks[order[-1]][-1]):
            self.append(node)
            return
        position = _first_not(lambda index: precedes(blocks[order[index]][-1]), len(order) - 1)
        number = order[position]
        block = blocks[number]
        block.insert(_first_not(lambda index: precedes(block[index]), len(block) - 1), node)
        self._place[node] = number
        if len(block) > _FULL:
            self._split(position)

    def remove(self, node: int) -> None:
        """Take out a node that takes no rows any more."""
        number = self._place[node]
        self._blocks[number].remove(node)
        if not self._blocks[number] and len(self._order) > 1:
            self._order.remove(number)
            self._forget_index()

    def _split(self, position: int) -> None:
        number, new = self._order[position], len(self._blocks)
        block = self._blocks[number]
        self._blocks[number] = block[:_FILL]
        self._blocks.append(block[_FILL:])
        self._order.insert(position + 1, new)
        self._settle(new)
        moved = sum(map(self._rows.__getitem__, self._blocks[new]))
        self._totals[number] -= moved
        self._totals.append(moved)
        self._forget_index()

    def _settle(self, number: int) -> None:
        place = self._place
        for node in self._blocks[number]:
            place[node] = number

    def _forget_index(self) -> None:
        self._sums: list[int] = []
        self._position: list[int] = []

    def _index(self) -> None:
        """Where each block stands, and the Fenwick tree of their rows."""
        if self._sums:
            return
        self._position = [0] * len(self._blocks)
        for position, number in enumerate(self._order):
            self._position[number] = position
        self._sums = sums = [0, *map(self._totals.__getitem__, self._order)]
        for index in range(1, len(sums)):
            above = index + (index & -index)
            if above < len(sums):
                sums[above] += sums[index]

    def _sum(self, index: int) -> int:
        """The rows of the first so many blocks."""
        total, sums = 0, self._sums
        while index:
            total += sums[index]
            index &= index - 1
        return total


def _first_not(precedes: Callable[[int], bool], high: int) -> int:
    """The first index for which it is not so; `high` if it is so for all before."""
    low = 0
    while low < high:
        middle = (low + high) // 2
        if precedes(middle):
            low = middle + 1
        else:
            high = middle
    return low
