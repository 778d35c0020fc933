"""Who is whose child, and in which order.

A node is a number; 0 is the parent of all roots and also stands for "none". Siblings are a chain from `first[parent]`
along `next`, or lie in blocks if they are many. They are sorted only where somebody looks: a parent is stale until one
of its children is asked for. All columns are compact arrays, some thirty bytes a node.
"""

from array import array
from collections.abc import Callable, Iterable
from typing import Any

from delegtop.model.tree.siblings import Siblings

TOP = 0
ABSENT = -1
"""The parent of a node that nobody has added yet."""
_WIDE = 32
"""More children than this are kept in blocks instead of a chain."""

Key = Callable[[int], Any]


class Families:
    """The family of every node. `rows[node]` says how many rows a node takes; the outline keeps it."""

    def __init__(self, rows: "array[int]") -> None:
        self.parent = array("i", (ABSENT,))
        self.children = array("i", (0,))
        """How many each node has."""
        self._rows = rows
        self._first = array("i", (0,))
        self._next = array("i", (0,))
        """The next sibling, or where siblings are many the number of the node's block."""
        self._stale = bytearray(b"\1")
        self._wide: dict[int, Siblings] = {}
        self._key: Key | None = None
        self._reverse = False
        self._elders_first = True

    def __contains__(self, node: int) -> bool:
        return node < len(self.parent) and self.parent[node] != ABSENT

    def grow(self, count: int) -> None:
        """Make room for so many nodes more."""
        self.parent.extend(array("i", (ABSENT,)) * count)
        for column in (self.children, self._first, self._next):
            column.frombytes(bytes(column.itemsize * count))
        self._stale.extend(b"\1" * count)

    def plant(self, parents: "array[int]") -> None:
        """Begin again with all these, each under its parent; none takes a row yet."""
        count = len(parents)
        children, first, following = [0] * count, [0] * count, [0] * count
        elders_first = True
        for node in range(count - 1, TOP, -1):
            parent = parents[node]
            if parent == ABSENT:
                continue
            children[parent] += 1
            following[node] = first[parent]
            first[parent] = node
            elders_first = elders_first and parent < node
        self.parent = parents
        self.children, self._first, self._next = array("i", children), array("i", first), array("i", following)
        self._stale = bytearray(b"\1") * count
        self._elders_first = elders_first
        wide = [parent for parent, many in enumerate(children) if many > _WIDE]
        self._wide = {parent: Siblings(self._chain(parent), self._rows, self._next) for parent in wide}

    # Linking. A node must take no rows while it is linked or unlinked; the outline counts it before and after.

    def attach(self, node: int, parent: int) -> None:
        self.parent[node] = parent
        self._elders_first = self._elders_first and parent < node
        wide = self._wide.get(parent)
        if wide is None:
            self._insert_in_chain(node, parent)
        elif self._stale[parent]:
            wide.append(node)
        else:
            wide.insert(node, self._elder_than(node))
        self.children[parent] += 1

    def attach_all(self, nodes: range, parents: Iterable[int]) -> None:
        """New nodes without children; their parents are there already, or stand before them."""
        above, first, following, children, stale, wide = (
            self.parent,
            self._first,
            self._next,
            self.children,
            self._stale,
            self._wide,
        )
        for node, parent in zip(nodes, parents, strict=True):
            if parent in wide or (children[parent] and not stale[parent]) or children[parent] >= _WIDE:
                self.attach(node, parent)
                continue
            above[node] = parent
            following[node] = first[parent]
            first[parent] = node
            children[parent] += 1

    def can_take(self, nodes: range, parents: Iterable[int]) -> bool:
        """Whether these are all new, and their parents are there already or among them."""
        above, first = self.parent, nodes.start
        is_new = above[first : nodes.stop].count(ABSENT) == len(nodes)
        return is_new and all(above[parent] != ABSENT or parent >= first for parent in parents if parent)

    def detach(self, node: int) -> None:
        parent, following = self.parent[node], self._next
        if parent in self._wide:
            self._wide[parent].remove(node)
        elif self._first[parent] == node:
            self._first[parent] = following[node]
        else:
            elder = self._first[parent]
            while following[elder] != node:
                elder = following[elder]
            following[elder] = following[node]
        self.children[parent] -= 1
        self.parent[node] = ABSENT
        if not self.children[parent]:
            self._wide.pop(parent, None)
            self._first[parent] = 0

    def branch_towards(self, node: int, below: int) -> int:
        """The child of `node` on the way down to `below`, 0 if `below` is not under it."""
        while below > TOP:
            parent = self.parent[below]
            if parent == node:
                return below
            below = parent
        return 0

    def _insert_in_chain(self, node: int, parent: int) -> None:
        elder, following = 0, self._first[parent]
        if following and not self._stale[parent]:
            precedes = self._elder_than(node)
            while following and precedes(following):
                elder, following = following, self._next[following]
        self._next[node] = following
        if elder:
            self._next[elder] = node
        else:
            self._first[parent] = node
        if self.children[parent] >= _WIDE:
            self._wide[parent] = Siblings(self._chain(parent), self._rows, self._next)

    # Order

    def sort_by(self, key: Key | None, reverse: bool) -> None:
        """Order siblings by the key, equal ones by number; without a key by number alone."""
        self._key, self._reverse = key, reverse
        self._stale = bytearray(b"\1") * len(self.parent)

    def misplaced(self, nodes: Iterable[int]) -> list[int]:
        """The keys of these changed: which must be taken out and put in again? Short chains are just sorted anew."""
        if self._key is None:
            return []
        by_parent: dict[int, list[int]] = {}
        for node in set(nodes):
            parent = self.parent[node]
            if parent == ABSENT or self._stale[parent]:
                continue
            if parent in self._wide:
                by_parent.setdefault(parent, []).append(node)
            else:
                self._stale[parent] = 1
        # One that stands wrong makes its neighbours' places doubtful too, so then all that changed are taken out.
        return [n for group in by_parent.values() if not all(map(self._stands_right, group)) for n in group]

    def _stands_right(self, node: int) -> bool:
        elder, younger = self._wide[self.parent[node]].neighbours(node)
        precedes = self._elder_than(node)
        return (not elder or precedes(elder)) and not (younger and precedes(younger))

    def _elder_than(self, node: int) -> Callable[[int], bool]:
        """Does a sibling come before this node?"""
        rank = self._rank
        own = rank(node)
        if self._reverse:
            return lambda sibling: rank(sibling) > own
        return lambda sibling: rank(sibling) < own

    def _rank(self, node: int) -> Any:
        return node if self._key is None else (self._key(node), node)

    def _sort(self, parent: int) -> None:
        self._stale[parent] = 0
        wide = self._wide.get(parent)
        nodes = sorted(wide or self._chain(parent), key=self._rank, reverse=self._reverse)
        if wide:
            wide.arrange(nodes)
            return
        following = 0
        for node in reversed(nodes):
            self._next[node] = following
            following = node
        self._first[parent] = following

    def _chain(self, parent: int) -> list[int]:
        nodes: list[int] = []
        node = self._first[parent]
        while node:
            nodes.append(node)
            node = self._next[node]
        return nodes

    # Rows

    def add_rows(self, node: int, parent: int, change: int) -> None:
        """A child takes so many rows more than it did."""
        wide = self._wide.get(parent)
        if wide is not None and not self._stale[parent]:
            wide.add_rows(node, change)

    def recount(self) -> None:
        """The rows of all nodes may have changed."""
        for parent, siblings in self._wide.items():
            if not self._stale[parent]:
                siblings.recount()

    def following(self, node: int) -> int:
        """The next sibling that takes any row, 0 if there is none."""
        parent = self.parent[node]
        if self._stale[parent]:
            self._sort(parent)
        if parent in self._wide:
            return self._wide[parent].after(node)
        node = self._next[node]
        while node and not self._rows[node]:
            node = self._next[node]
        return node

    def child_at(self, parent: int, row: int) -> tuple[int, int]:
        """The child in which this row lies, counted from the first child, and which of its rows it is."""
        if self._stale[parent]:
            self._sort(parent)
        if parent in self._wide:
            return self._wide[parent].find(row)
        rows, following = self._rows, self._next
        node = self._first[parent]
        while row >= rows[node]:
            row -= rows[node]
            node = following[node]
        return node, row

    def rows_before(self, node: int) -> int:
        """How many rows its elder siblings take."""
        parent = self.parent[node]
        if self._stale[parent]:
            self._sort(parent)
        if parent in self._wide:
            return self._wide[parent].rows_before(node)
        rows, following = self._rows, self._next
        row, elder = 0, self._first[parent]
        while elder != node:
            row += rows[elder]
            elder = following[elder]
        return row

    def bottom_up(self) -> Iterable[int]:
        """All nodes that are present, but the top, children before their parents."""
        count, parents = len(self.parent), self.parent
        if self._elders_first:  # every parent has a smaller number than its children
            return (node for node in range(count - 1, TOP, -1) if parents[node] != ABSENT)
        uncounted = self.children.tolist()
        ready = [node for node in range(1, count) if not uncounted[node] and parents[node] != ABSENT]
        for node in ready:
            parent = parents[node]
            uncounted[parent] -= 1
            if parent and not uncounted[parent]:
                ready.append(parent)
        return ready
