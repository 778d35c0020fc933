"""The outline against a plain recursive flatten: after any sequence of operations both show the same rows."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.model.tree.outline import Outline, OutlineRow


class Naive:
    """What an outline means, said as simply as possible."""

    def __init__(self) -> None:
        self.parent: dict[int, int | None] = {}
        self.folded: set[int] = set()
        self.kept: set[int] | None = None
        self.key: Callable[[int], int] | None = None
        self.reverse = False
        self.matches: Callable[[int], bool] | None = None
        self.root: int | None = None
        self.away: set[int] = set()

    def children(self, parent: int | None) -> list[int]:
        key = self.key
        found = [handle for handle, above in self.parent.items() if above == parent]
        return sorted(found, key=lambda h: (key(h), h) if key else (0, h), reverse=self.reverse)

    def ancestors(self, handle: int) -> list[int]:
        found: list[int] = []
        above = self.parent[handle]
        while above is not None:
            found.append(above)
            above = self.parent[above]
        return found

    def shown(self) -> set[int]:
        if self.matches is None:
            return set(self.parent)
        matching = {handle for handle in self.parent if self.matches(handle)}
        return matching.union(*(self.ancestors(handle) for handle in matching))

    def rows(self) -> list[OutlineRow]:
        shown = self.shown()
        below = Counter(ancestor for handle in shown for ancestor in self.ancestors(handle))
        found: list[OutlineRow] = []

        def visit(siblings: list[int], guides: tuple[bool, ...]) -> None:
            siblings = [handle for handle in siblings if handle in shown]
            for handle in siblings:
                last = handle == siblings[-1]
                kids = self.children(handle)
                opened = handle not in self.folded
                found.append(OutlineRow(handle, len(guides), guides, last, len(kids), below[handle], opened))
                if opened:
                    visit(kids, (*guides, not last))

        roots = [root for root in self.children(None) if root not in self.away]
        visit(roots if self.root is None else [self.root], ())
        return found


class Pair:
    """An outline and its naive double, driven by the same operations."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.naive = Naive()
        self.values: dict[int, int] = {}

    def add(self, handle: int, parent: int | None) -> None:
        self.values.setdefault(handle, handle * 7919 % 13)
        self.outline.add(handle, parent)
        self.naive.parent[handle] = parent

    def add_all(self, parents: dict[int, int | None]) -> None:
        for handle, parent in parents.items():
            self.values.setdefault(handle, handle * 7919 % 13)
            self.naive.parent[handle] = parent
        self.outline.add_all([*parents], [-1 if parent is None else parent for parent in parents.values()])

    def move(self, handle: int, parent: int | None) -> None:
        self.outline.move(handle, parent)
        if self.naive.parent[handle] != parent:
            self.naive.away.discard(handle)
        self.naive.parent[handle] = parent

    def put_away(self, handle: int, away: bool) -> None:
        self.outline.put_away(handle, away)
        if self.naive.parent[handle] is None:
            (self.naive.away.add if away else self.naive.away.discard)(handle)

    def value_of(self, handle: int) -> int:
        return self.values[handle]

    def check(self) -> None:
        expected = self.naive.rows()
        assert len(self.outline) == len(expected)
        assert self.outline.window(0, len(expected) + 1) == expected
        for row, line in enumerate(expected):
            assert self.outline.at(row) == line.handle
            assert self.outline.row_of(line.handle) == row
        middle = len(expected) // 2
        assert self.outline.window(middle, 3) == expected[middle : middle + 3]
        visible = {line.handle for line in expected}
        for handle in self.naive.parent:
            if handle not in visible:
                assert self.outline.row_of(handle) is None


OPERATIONS = (
    *("add",) * 8,
    *("add many",) * 2,
    *("move", "change") * 4,
    *("toggle", "reveal") * 2,
    *("put away", "give back") * 2,
    *("expand", "sort", "sort-reverse", "unsort", "filter", "unfilter"),
    *("focus", "unfocus", "unfocus", "collapse all", "expand all", "replant"),
)


def replant(pair: Pair, rng: random.Random) -> None:
    """Other trees, in which a parent may have a greater number than its child; the order and the filter stay."""
    naive = pair.naive
    order = list(range(rng.randrange(60)))
    rng.shuffle(order)
    above = {handle: rng.choice([None, *order[:place]]) for place, handle in enumerate(order)}
    naive.parent = {handle: above[handle] for handle in range(len(order))}
    for handle in naive.parent:
        pair.values.setdefault(handle, handle * 7919 % 13)
    folded = set(rng.sample(order, len(order) // 4))
    naive.folded, naive.kept, naive.root, naive.away = folded, None, None, set()
    if naive.matches is not None:
        naive.folded, naive.kept = set(), folded
    pair.outline.replant((-1 if parent is None else parent for parent in naive.parent.values()), folded)
    assert set(pair.outline.folded) == folded


def operate(pair: Pair, rng: random.Random, operation: str, wide: bool) -> None:
    """One random operation, done to both."""
    outline, naive = pair.outline, pair.naive
    known = list(naive.parent)
    some = rng.choice(known) if known else None
    if operation == "add":
        parent = None if not known or rng.random() < 0.1 else known[0] if wide and rng.random() < 0.8 else some
        pair.add(len(known), parent)
        return
    if operation == "add many":
        new = [*range(len(known), len(known) + rng.choice((1, 5, 40)))]
        later = rng.random() < 0.2  # a parent may come after its child
        parents = {
            handle: rng.choice([None, *known[:2], *known[-2:], *(new[number + 1 :] if later else new[:number])])
            for number, handle in enumerate(new)
        }
        pair.add_all(parents)
        return
    if some is None:
        return
    if operation == "replant":
        replant(pair, rng)
        return
    match operation:
        case "move":
            targets = [h for h in known if h != some and some not in naive.ancestors(h)]
            pair.move(some, rng.choice([None, *targets]))
        case "toggle":
            if some in naive.folded:
                naive.folded.discard(some)
            elif naive.children(some):
                naive.folded.add(some)
            outline.toggle(some)
        case "expand":
            naive.folded.discard(some)
            outline.expand(some)
        case "sort" | "sort-reverse":
            naive.key, naive.reverse = pair.value_of, operation == "sort-reverse"
            outline.sort(pair.value_of, naive.reverse)
        case "unsort":
            naive.key, naive.reverse = None, rng.random() < 0.5
            outline.sort(None, naive.reverse)
        case "change":
            changed = rng.sample(known, min(len(known), 3))
            for handle in changed:
                pair.values[handle] = rng.randrange(13)
            outline.resort(changed)
            outline.refilter(changed)
        case "filter":
            limit = rng.randrange(13)
            naive.matches = lambda handle: pair.values[handle] < limit
            if naive.kept is None:
                naive.kept = naive.folded
            naive.folded = set()
            outline.filter(naive.matches)
        case "put away" | "give back":
            pair.put_away(some, operation == "put away")
        case "unfilter":
            naive.matches = None
            if naive.kept is not None:
                naive.folded, naive.kept = naive.kept, None
            outline.filter(None)
        case "focus":
            naive.root = some
            outline.focus(some)
        case "unfocus":
            naive.root = None
            outline.focus(None)
        case "collapse all":
            naive.folded = {handle for handle in known if naive.children(handle) and handle != naive.root}
            outline.collapse_all()
        case "expand all":
            naive.folded = set()
            outline.expand_all()
        case "reveal":
            naive.folded -= set(naive.ancestors(some))
            outline.reveal(some)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.lists(st.sampled_from(OPERATIONS), min_size=5, max_size=40), st.booleans())
def test_after_any_operations_the_rows_are_those_of_a_plain_flatten(seed: int, script: list[str], wide: bool) -> None:
    pair, rng = Pair(), random.Random(seed)
    for operation in script:
        operate(pair, rng, operation, wide)
        pair.check()


@pytest.mark.parametrize("seed", range(4))
def test_after_many_operations_on_wide_families_the_rows_are_those_of_a_plain_flatten(seed: int) -> None:
    pair, rng = Pair(), random.Random(seed)
    for _ in range(90):
        operate(pair, rng, "add", wide=True)
    for _ in range(120):
        operate(pair, rng, rng.choice(OPERATIONS), wide=True)
        if rng.random() < 0.5:  # so that changes also meet families that nobody has looked at
            pair.check()
    pair.check()


def test_blocks_of_a_very_wide_parent_split_and_stay_in_order() -> None:
    outline, rng = Outline(), random.Random(1)
    values = [rng.randrange(10_000) for _ in range(5_000)]
    outline.sort(values.__getitem__)
    for handle in range(5_000):
        outline.add(handle, None)
        if handle == 100:
            outline.at(0)  # from here on every newcomer is put in its place at once
    expected = sorted(range(5_000), key=lambda handle: (values[handle], handle))
    assert [outline.at(row) for row in range(5_000)] == expected
    assert [line.handle for line in outline.window(0, 5_000)] == expected
    assert [outline.row_of(handle) for handle in expected] == list(range(5_000))
    gone = rng.sample(range(1, 5_000), 3_000)
    for handle in gone:
        outline.move(handle, 0)
    outline.collapse(0)
    stayed = set(range(5_000)) - set(gone)
    assert [line.handle for line in outline.window(0, 5_000)] == [h for h in expected if h in stayed]


def test_a_parent_may_be_told_after_its_children() -> None:
    outline = Outline()
    outline.add(2, 5)
    outline.add(3, 5)
    outline.add(5, 1)
    outline.add(1, None)
    assert [(line.handle, line.level) for line in outline.window(0, 9)] == [(1, 0), (5, 1), (2, 2), (3, 2)]
    outline.collapse_all()
    outline.expand_all()
    assert [line.handle for line in outline.window(0, 9)] == [1, 5, 2, 3]


def test_two_that_swap_places_may_be_told_in_either_order() -> None:
    for moves in (((0, 1), (1, None)), ((1, None), (0, 1))):
        outline = Outline()
        outline.add(0, None)
        outline.add(1, 0)
        outline.add(2, 1)
        for handle, parent in moves:
            outline.move(handle, parent)
        assert [(line.handle, line.level) for line in outline.window(0, 9)] == [(1, 0), (0, 1), (2, 1)]


def test_a_chain_of_any_depth_is_walked_without_recursion() -> None:
    outline, depth = Outline(), 1_500
    for handle in range(depth):
        outline.add(handle, handle - 1 if handle else None)
    assert len(outline) == depth
    assert outline.row_of(depth - 1) == depth - 1
    assert outline.window(depth - 1, 5)[0].level == depth - 1
    outline.collapse_all()
    assert len(outline) == 1
    outline.reveal(depth - 1)
    assert outline.row_of(depth - 1) == depth - 1
    outline.filter(lambda handle: handle == depth - 1)
    assert len(outline) == depth


def test_folds_made_before_a_filter_come_back_after_it() -> None:
    outline = Outline()
    outline.add(0, None)
    outline.add(1, 0)
    outline.collapse(0)
    outline.filter(lambda handle: handle == 1)
    assert [line.handle for line in outline.window(0, 9)] == [0, 1]
    outline.filter(None)
    assert [line.handle for line in outline.window(0, 9)] == [0]


def test_a_row_that_does_not_exist_is_an_index_error() -> None:
    outline = Outline()
    with pytest.raises(IndexError):
        outline.at(0)
    assert outline.row_of(7) is None
    assert outline.window(0, 10) == []
