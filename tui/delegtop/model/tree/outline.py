"""Which delegations are shown, in which order: the tree, flattened, without ever being flattened.

Every node knows how many rows its subtree takes. To find a row, walk down past the subtrees that end before it; to
find the row of a node, walk up. Folding, adding and moving change one number in each ancestor. So a million
delegations cost what a hundred do: nothing here looks at more nodes than lie on one path, and only `filter`,
`expand_all` and `collapse_all` look at all of them. Nothing is recursive, for logs can be any depth.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from operator import gt
from typing import Any

import msgspec

from delegtop.model.store.ledger import Handle
from delegtop.model.tree.families import ABSENT, TOP, Families


class OutlineRow(msgspec.Struct, frozen=True, gc=False):
    """One row as it is to be drawn."""

    handle: Handle
    level: int
    guides: tuple[bool, ...]
    """For each ancestor, outermost first: does another of its siblings follow, so that its line runs on below."""
    last: bool
    """No sibling follows."""
    children: int
    """All direct children, also those a filter hides."""
    descendants: int
    """What a fold of this row hides or would hide."""
    expanded: bool


class Outline:
    """The rows of a forest: folded, filtered, sorted and re-rooted. The node of a handle is the handle plus one."""

    def __init__(self) -> None:
        self.revision = 0
        """Grows with everything that can move a row."""
        self.newest: Handle | None = None
        """The delegation that was added last."""
        self._size = array("i", (1,))  # shown nodes of the subtree with itself, 0 if a filter hides it
        self._inner = array("i", (0,))  # rows of all children together, folded or not
        self._rows = array("i", (1,))  # rows of the subtree when its parent is open
        self._folded = bytearray(1)
        self._matching = bytearray(b"\1")
        self._families = Families(self._rows)
        self._matches: Callable[[Handle], bool] | None = None
        self._unfolds = True
        self._hidden: dict[int, int] = {}  # trees that are put away, and the rows they would take
        self._unfiltered_folds: bytearray | None = None
        self._root = TOP

    # Building

    def replant(self, parents: Iterable[int], folded: Iterable[Handle]) -> None:
        """Show other delegations instead, each under its parent (-1 is none), in the same order and the same filter."""
        above = array("i", (ABSENT, *(parent + 1 for parent in parents)))
        newest = len(above) - 2
        count = max(len(above), len(self._rows))  # never less room: someone may still ask for what was there
        above.extend([ABSENT] * (count - len(above)))
        folds = bytearray(count)
        for handle in folded:
            folds[handle + 1] = 1
        for column in (self._size, self._inner, self._rows):
            column[:] = array("i", bytes(column.itemsize * count))
        self._families.plant(above)
        self.newest = newest if newest >= 0 else None
        self._root = TOP
        self._folded, self._unfiltered_folds = folds, None
        self._hidden.clear()
        self.filter(self._matches, unfolds=self._unfolds)

    @property
    def folded(self) -> list[Handle]:
        """All that were folded without a filter; a filter has folds of its own."""
        folds = self._folded if self._unfiltered_folds is None else self._unfiltered_folds
        return [node - 1 for node, fold in enumerate(folds) if fold]

    def add(self, handle: Handle, parent: Handle | None, *, folded: bool = False) -> None:
        """A new delegation. Its parent may follow later; until then the parent is a root without facts."""
        node, families = handle + 1, self._families
        if node in families:
            self.move(handle, parent)
            return
        if parent is not None and parent + 1 not in families:
            self.add(parent, None)
        self.newest = handle
        if node >= len(self._rows):
            self._make_room(node)
        matching = self._matches is None or bool(self._matches(handle))
        self._matching[node] = matching
        if folded:
            (self._folded if self._unfiltered_folds is None else self._unfiltered_folds)[node] = 1
        self._attach(node, TOP if parent is None else parent + 1, matching, matching)

    def add_all(self, handles: Sequence[Handle], parents: Sequence[int]) -> None:
        """New delegations in their order, each with its parent; -1 is none. In one go where parents come before their
        children, nothing is folded, and all is shown."""
        families = self._families
        first, last = handles[0] + 1, handles[-1] + 1
        if last >= len(self._rows):
            self._make_room(last)
        nodes, above = range(first, last + 1), [parent + 1 for parent in parents]
        is_plain = len(nodes) == len(handles) and all(map(gt, nodes, above)) and families.can_take(nodes, above)
        if not is_plain or self._matches is not None or self._hidden or self._folded.find(1, first, last + 1) >= 0:
            for handle, parent in zip(handles, parents, strict=True):
                self.add(handle, None if parent < 0 else parent)
            return
        self.newest = handles[-1]
        self._matching[first : last + 1] = b"\1" * len(nodes)
        families.attach_all(nodes, above)
        sizes, inners, all_rows = self._size, self._inner, self._rows
        for node, parent in zip(reversed(nodes), reversed(above), strict=True):  # children before their parents
            sizes[node] = size = sizes[node] + 1
            all_rows[node] = rows = 1 + inners[node]
            if parent >= first:
                sizes[parent] += size
                inners[parent] += rows
            else:
                self._climb(node, size, rows)
        self.revision += 1

    def move(self, handle: Handle, parent: Handle | None) -> None:
        """Its parent is another one now, or none."""
        if parent is not None and parent not in self:
            self.add(parent, None)
        node, above = handle + 1, TOP if parent is None else parent + 1
        old = self._families.parent[node]
        if old == above:
            return
        if node in self._hidden:  # it is no longer a tree of its own, or of another
            self.put_away(handle, False)
        branch = self._families.branch_towards(node, above)
        if branch:
            # Two that swap places are told one after the other: the new parent leaves its old one first.
            self._attach(branch, old, *self._detach(branch))
        self._attach(node, above, *self._detach(node))

    def __contains__(self, handle: Handle) -> bool:
        return handle + 1 in self._families

    # Choosing

    def sort(self, key: Callable[[Handle], Any] | None, reverse: bool = False) -> None:
        """Order siblings by `key`, equal ones by handle; without a key, in the order they were first seen."""
        self._families.sort_by(None if key is None else lambda node: key(node - 1), reverse)
        self.revision += 1

    def resort(self, handles: Iterable[Handle]) -> None:
        """The keys of these may have changed."""
        self.revision += 1
        moving = self._families.misplaced(handle + 1 for handle in handles if handle in self)
        counted = [(node, self._families.parent[node], *self._detach(node)) for node in moving]
        for each in counted:
            self._attach(*each)

    def filter(self, matches: Callable[[Handle], bool] | None, *, unfolds: bool = True) -> None:
        """Show only what matches, and its ancestors. If that unfolds everything, to be seen at once, folds made
        meanwhile are forgotten with the filter, and those from before are there again."""
        count = len(self._rows)
        self._matches, self._unfolds = matches, unfolds
        if matches is None:
            self._matching = bytearray(b"\1") * count
        else:
            parents = self._families.parent
            self._matching = bytearray(parents[node] != ABSENT and matches(node - 1) for node in range(count))
            self._matching[TOP] = 1
        if matches is not None and unfolds:
            if self._unfiltered_folds is None:
                self._unfiltered_folds = self._folded
            self._folded = bytearray(count)
        elif self._unfiltered_folds is not None:
            self._folded, self._unfiltered_folds = self._unfiltered_folds, None
        self._count_all()

    def refilter(self, handles: Iterable[Handle]) -> None:
        """Whether these match may have changed."""
        if self._matches is None:
            return
        for handle in handles:
            if handle not in self:
                continue
            node, matching = handle + 1, bool(self._matches(handle))
            if matching == self._matching[node]:
                continue
            self._matching[node] = matching
            below = max(self._size[node] - 1, 0)
            size = below + 1 if matching or below else 0
            self._change(node, size, self._open_rows(node) if size else 0)

    def put_away(self, handle: Handle, away: bool) -> None:
        """Give a whole tree no rows, or give them back. That costs nothing however large the tree is: only what its
        root takes is counted otherwise. Only the outermost can be put away, and a focus on it shows it."""
        node = handle + 1
        if handle not in self or away == (node in self._hidden) or self._families.parent[node] != TOP:
            return
        if away:
            rows = self._rows[node]
            self._change(node, self._size[node], 0)
            self._hidden[node] = rows
        else:
            rows = self._hidden.pop(node)
            self._change(node, self._size[node], rows)

    def focus(self, handle: Handle | None) -> None:
        """Show only this delegation and what is below it; None shows all again."""
        self._root = TOP if handle is None else handle + 1
        self.revision += 1

    @property
    def roots(self) -> int:
        """How many trees there are, shown or not."""
        return self._families.children[TOP]

    @property
    def focused(self) -> Handle | None:
        return self._root - 1 if self._root else None

    # Folding

    def expand(self, handle: Handle) -> None:
        self._fold(handle + 1, False)

    def collapse(self, handle: Handle) -> None:
        """Hide what is below. A delegation without children stays open for those to come."""
        if self._families.children[handle + 1]:
            self._fold(handle + 1, True)

    def toggle(self, handle: Handle) -> None:
        if self._folded[handle + 1]:
            self.expand(handle)
        else:
            self.collapse(handle)

    def expand_all(self) -> None:
        self._folded = bytearray(len(self._folded))
        self._count_all()

    def collapse_all(self) -> None:
        """Fold everything but the focused delegation."""
        self._folded = bytearray(map(bool, self._families.children))
        self._folded[self._root] = self._folded[TOP] = 0
        self._count_all()

    def reveal(self, handle: Handle) -> None:
        """Open all its ancestors."""
        self._climb(handle + 1, 0, 0, unfold=True)

    # Asking

    def __len__(self) -> int:
        return self._hidden.get(self._root, self._rows[self._root]) if self._root else self._inner[TOP]

    def at(self, row: int) -> Handle:
        """The delegation in this row."""
        if not 0 <= row < len(self):
            raise IndexError(f"no row {row}")
        node, child_at = self._root, self._families.child_at
        if node == TOP:
            row += 1
        while row:
            node, row = child_at(node, row - 1)
        return node - 1

    def row_of(self, handle: Handle) -> int | None:
        """The row of this delegation, None if it is not shown."""
        if handle not in self or not self._hidden.get(handle + 1, self._rows[handle + 1]):
            return None
        families, node, row = self._families, handle + 1, 0
        while node != self._root:
            parent = families.parent[node]
            if parent == ABSENT or self._folded[parent] or node in self._hidden:
                return None
            row += 1 + families.rows_before(node)
            node = parent
        return row if self._root else row - 1

    def shows(self, handle: Handle) -> bool:
        """Does it pass the filter, and is its tree not put away? It may still hide in a fold."""
        return handle in self and self._size[handle + 1] > 0 and not self._is_away(handle + 1)

    def _is_away(self, node: int) -> bool:
        if not self._hidden:
            return False
        while (above := self._families.parent[node]) > TOP and node != self._root:
            node = above
        return node in self._hidden and node != self._root

    def parent(self, handle: Handle) -> Handle | None:
        """The delegation one level up in what is shown, None for the outermost."""
        above = self._families.parent[handle + 1]
        return above - 1 if above > TOP and handle + 1 != self._root else None

    def window(self, top: int, height: int) -> list[OutlineRow]:
        """The rows from `top` on, as many as there are, at most `height`."""
        count = min(len(self) - top, height)
        if count <= 0:
            return []
        families, children = self._families, self._families.children
        node = self.at(top) + 1
        followers = self._followers_of_ancestors(node)
        guides = tuple(map(bool, followers))
        found: list[OutlineRow] = []
        while True:
            following = families.following(node) if node != self._root else 0
            opened, below = not self._folded[node], self._size[node] - 1
            found.append(OutlineRow(node - 1, len(guides), guides, not following, children[node], below, opened))
            if len(found) == count:
                return found
            if below and opened:
                followers.append(following)
                guides = (*guides, bool(following))
                node = families.child_at(node, 0)[0]
                continue
            climbed = 0
            while not following:
                following = followers.pop()
                climbed += 1
            if climbed:
                guides = guides[:-climbed]
            node = following

    def _followers_of_ancestors(self, node: int) -> list[int]:
        """For each ancestor of a shown node, outermost first, the sibling that follows it."""
        parents = self._families.parent
        followers: list[int] = []
        while node != self._root and parents[node] != TOP:
            node = parents[node]
            followers.append(self._families.following(node) if node != self._root else 0)
        followers.reverse()
        return followers

    # Counting

    def _make_room(self, node: int) -> None:
        count = len(self._rows)
        missing = node + 1 - count + count // 8
        self._families.grow(missing)
        for column in (self._size, self._inner, self._rows):
            column.frombytes(bytes(column.itemsize * missing))
        for flags in (self._folded, self._matching, self._unfiltered_folds):
            if flags is not None:
                flags.extend(bytes(missing))

    def _attach(self, node: int, parent: int, size: int, rows: int) -> None:
        """Hang a node with all that is below it under a parent."""
        self._families.attach(node, parent)
        self._change(node, size, rows)

    def _detach(self, node: int) -> tuple[int, int]:
        """Take a node from its parent; returns what its subtree counts."""
        counted = self._size[node], self._hidden.get(node, self._rows[node])
        self._change(node, 0, 0)
        self._families.detach(node)
        return counted

    def _fold(self, node: int, folded: bool) -> None:
        self._folded[node] = folded
        self.revision += 1
        if self._size[node]:
            self._change(node, self._size[node], self._open_rows(node))

    def _open_rows(self, node: int) -> int:
        """The rows of a subtree that is shown."""
        return 1 if self._folded[node] else 1 + self._inner[node]

    def _change(self, node: int, size: int, rows: int) -> None:
        """Set what a subtree counts and tell its ancestors."""
        if node in self._hidden:
            self._hidden[node], rows = rows, 0
        more_size, more_rows = size - self._size[node], rows - self._rows[node]
        self._size[node], self._rows[node] = size, rows
        self._climb(node, more_size, more_rows)

    def _climb(self, node: int, size: int, rows: int, unfold: bool = False) -> None:
        """A subtree counts so much more than before: add it up through the ancestors until nothing changes."""
        parents, sizes, inners, all_rows, folds = (
            self._families.parent,
            self._size,
            self._inner,
            self._rows,
            self._folded,
        )
        add_rows = self._families.add_rows
        self.revision += 1
        parent = parents[node]
        while parent != ABSENT and (size or rows or unfold):
            if rows:
                inners[parent] += rows
                add_rows(node, parent, rows)
            old = sizes[parent]
            if parent in self._hidden:
                size, rows = self._count_hidden(parent, size, unfold), 0
            elif old and old + size > 1 and not unfold:  # shown before and after
                sizes[parent] = old + size
                if folds[parent]:
                    rows = 0
                else:
                    all_rows[parent] += rows
            else:
                if unfold:
                    folds[parent] = 0
                new = (old or 1) + size
                if new == 1 and not self._matching[parent]:
                    new = 0
                taken = self._open_rows(parent) if new else 0
                size, rows = new - old, taken - all_rows[parent]
                sizes[parent], all_rows[parent] = new, taken
            node, parent = parent, parents[parent]

    def _count_hidden(self, node: int, more: int, unfold: bool) -> int:
        """A tree that is put away has so many more nodes; returns how many more it counts."""
        if unfold:
            self._folded[node] = 0
        old = self._size[node]
        new = (old or 1) + more
        if new == 1 and not self._matching[node]:
            new = 0
        self._size[node] = new
        self._hidden[node] = self._open_rows(node) if new else 0
        return new - old

    def _count_all(self) -> None:
        """Count the rows and sizes of all subtrees anew, children before their parents."""
        count = len(self._rows)
        parents, folds, matching = self._families.parent, self._folded, self._matching
        sizes, inners, all_rows = [0] * count, [0] * count, [0] * count
        for node in self._families.bottom_up():
            size = sizes[node]
            if not (size or matching[node]):
                if node in self._hidden:
                    self._hidden[node] = 0
                continue
            sizes[node] = size = size + 1
            rows = 1 if folds[node] else 1 + inners[node]
            if node in self._hidden:
                self._hidden[node], rows = rows, 0
            all_rows[node] = rows
            parent = parents[node]
            sizes[parent] += size
            inners[parent] += rows
        sizes[TOP] += 1
        all_rows[TOP] = 1 + inners[TOP]
        for column, values in ((self._size, sizes), (self._inner, inners), (self._rows, all_rows)):
            column[:] = array("i", values)
        self._families.recount()
        self.revision += 1
