"""Whatever the times say, the path is one line from the start of the root to its end."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.telling import forest_at, handle_of

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started
from delegtop.model.history.critical_path import SKEW, critical_path
from delegtop.model.states import ACTIVE

MOST = 40_000
moments = st.one_of(st.none(), st.integers(0, MOST))
delegations = st.lists(st.tuples(st.integers(0, 30), moments, moments, moments, st.booleans()), min_size=1, max_size=14)
"""For each: a number that chooses its parent among those before it, start, last sign, end, and whether it ended."""


def events_of(told: list[tuple[int, int | None, int | None, int | None, bool]]) -> list[Event]:
    events: list[Event] = []
    for number, (choice, start, heard, end, is_over) in enumerate(told):
        id, parent = f"d{number}", f"d{choice % number}" if number else None
        place = Origin("run.jsonl", number + 1, number * 100)
        events.append(Started(id, _at(start), place, agent=id, parent=parent))
        if heard is not None:
            events.append(Heard(id, Millis(heard), place, "work"))
        if is_over:
            events.append(Ended(id, _at(end), place, Outcome.COMPLETED, Ending.RETURN))
    return events


def _at(moment: int | None) -> Millis | None:
    return None if moment is None else Millis(moment)


@given(delegations, st.integers(0, MOST))
def test_its_pieces_tile_the_span_of_the_root(
    told: list[tuple[int, int | None, int | None, int | None, bool]], now: int
) -> None:
    forest = forest_at(now, events_of(told))
    root = handle_of(forest, "d0")
    found = critical_path(forest, root)

    assert all(piece.start < piece.end for piece in found.pieces)
    assert all(before.end == after.start for before, after in pairwise(found.pieces))
    start, seen, end = forest.times(root)
    until = end if end is not None else forest.shown_at if forest.state(root) in ACTIVE else None
    if start is not None and until is not None and start < until:
        assert (found.start, found.end) == (start, until)
    elif start is not None and until is None and seen is not None and start < seen:
        assert found.start == start
        assert (found.end or 0) >= seen  # it lasted at least that long; its children may tell more
    for piece in found.pieces:
        began, _, ended = forest.times(piece.handle)
        assert began is None or began <= piece.start
        assert ended is None or piece.end <= ended


@given(delegations, st.integers(0, MOST))
def test_who_is_on_it_hangs_on_another_one_that_is_not_over_before_it(
    told: list[tuple[int, int | None, int | None, int | None, bool]], now: int
) -> None:
    forest = forest_at(now, events_of(told))
    root = handle_of(forest, "d0")
    by_handle = critical_path(forest, root).by_delegation()
    for handle, pieces in by_handle.items():
        if handle == root:
            continue
        parent = forest.parent(handle)
        assert parent is not None
        _, _, ended = forest.times(parent)
        assert ended is None or pieces[-1].end <= ended + SKEW
