"""Which delegations determined when a tree ended, and which still do."""

from collections.abc import Iterable

from tests.telling import forest_at, handle_of, place

from delegtop.base.clock import Millis
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.model.history.critical_path import SKEW, CriticalPath, Piece, critical_path

SECOND = 1_000
NOW = 1_000_000


def started(id: str, at: int | None, parent: str | None = None, **facts: int) -> Started:
    return Started(id, None if at is None else Millis(at), place(), agent=id, parent=parent, **facts)  # type: ignore[arg-type]  # facts by name


def ended(id: str, at: int | None) -> Ended:
    return Ended(id, None if at is None else Millis(at), place(), Outcome.COMPLETED, Ending.RETURN)


def ran(id: str, start: int | None, end: int | None, parent: str | None = None) -> list[Event]:
    return [started(id, start, parent), ended(id, end)]


def forest_of(events: Iterable[Event], now: int = NOW) -> Forest:
    return forest_at(now, events)


def path(events: Iterable[Event], root: str = "root", now: int = NOW) -> list[tuple[str, int, int]]:
    forest = forest_of(events, now)
    handle = handle_of(forest, root)
    found = critical_path(forest, handle)
    return [(forest.delegation(piece.handle).id, piece.start, piece.end) for piece in found.pieces]


def test_one_without_children_is_its_own_path() -> None:
    assert path(ran("root", 100, 900)) == [("root", 100, 900)]


def test_the_child_that_ended_last_is_on_it_and_the_one_beside_it_is_not() -> None:
    events = [*ran("root", 0, 1000), *ran("slow", 100, 900, "root"), *ran("quick", 100, 400, "root")]
    assert path(events) == [("root", 0, 100), ("slow", 100, 900), ("root", 900, 1000)]


def test_children_one_after_the_other_are_all_on_it() -> None:
    events = [*ran("root", 0, 1000), *ran("first", 100, 400, "root"), *ran("second", 450, 900, "root")]
    assert path(events) == [
        ("root", 0, 100),
        ("first", 100, 400),
        ("root", 400, 450),
        ("second", 450, 900),
        ("root", 900, 1000),
    ]


def test_it_goes_down_to_the_grandchild_that_held_everything_up() -> None:
    events = [*ran("root", 0, 1000), *ran("child", 100, 900, "root"), *ran("leaf", 200, 800, "child")]
    assert path(events) == [
        ("root", 0, 100),
        ("child", 100, 200),
        ("leaf", 200, 800),
        ("child", 800, 900),
        ("root", 900, 1000),
    ]


def test_one_that_was_still_at_work_when_the_next_began_did_not_hold_it_up() -> None:
    events = [
        *ran("root", 0, 1000),
        *ran("before", 0, 300, "root"),
        *ran("beside", 100, 600, "root"),
        *ran("last", 500, 1000, "root"),
    ]
    assert path(events) == [("before", 0, 300), ("root", 300, 500), ("last", 500, 1000)]


def test_while_the_root_is_open_the_path_ends_with_the_active_chain_at_this_moment() -> None:
    events = [
        started("root", 0),
        *ran("done", 100, 500, "root"),
        started("child", 600, "root"),
        started("leaf", 700, "child"),
    ]
    assert path(events, now=2000) == [
        ("root", 0, 100),
        ("done", 100, 500),
        ("root", 500, 600),
        ("child", 600, 700),
        ("leaf", 700, 2000),
    ]


def test_of_several_open_children_it_takes_the_one_the_tree_says_the_root_waits_on() -> None:
    events = [started("root", 0), started("a", 100, "root"), started("b", 200, "root", timeout=300)]
    forest = forest_of(events, 2000)
    root, late = forest.find("root"), forest.find("b")
    assert root is not None
    assert forest.blocker(root) == late
    assert critical_path(forest, root).pieces[-1].handle == late


def test_one_nobody_has_heard_of_for_days_counts_up_to_its_last_sign_of_life() -> None:
    events: list[Event] = [started("root", 0), Heard("root", Millis(500), place(), "work")]
    assert path(events, now=10 * 86_400_000) == [("root", 0, 500)]


def test_one_that_fell_silent_lasted_as_long_as_there_was_a_sign_of_anything_below_it() -> None:
    events: list[Event] = [
        started("root", 0),
        started("child", 100, "root"),
        *ran("done", 150, 300, "child"),
        started("leaf", 200, "child"),
        Heard("leaf", Millis(700), place(), "work"),
    ]
    found = path(events, now=10 * 86_400_000)
    assert found == [("root", 0, 100), ("child", 100, 200), ("leaf", 200, 700)]


def test_an_end_a_moment_after_the_parents_is_a_difference_of_clocks() -> None:
    events = [*ran("root", 0, 10_000), *ran("child", 1000, 10_000 + SKEW, "root")]
    assert path(events) == [("root", 0, 1000), ("child", 1000, 10_000)]


def test_one_that_long_outlived_its_parent_did_not_hold_it_up() -> None:
    events = [*ran("root", 0, 10_000), *ran("child", 1000, 10_001 + SKEW, "root")]
    assert path(events) == [("root", 0, 10_000)]


def test_a_child_that_started_before_its_parent_counts_from_the_parents_start() -> None:
    events = [*ran("root", 500, 1000), *ran("child", 100, 800, "root")]
    assert path(events) == [("child", 500, 800), ("root", 800, 1000)]


def test_a_child_that_began_after_the_parent_ended_is_not_on_it() -> None:
    assert path([*ran("root", 0, 1000), *ran("child", 1000, 1200, "root")]) == [("root", 0, 1000)]


def test_a_child_that_never_ended_counts_up_to_its_last_sign_where_the_parent_went_on() -> None:
    events = [
        *ran("root", 0, 10_000),
        started("child", 1000, "root"),
        Heard("child", Millis(4000), place(), "work"),
    ]
    assert path(events) == [("root", 0, 1000), ("child", 1000, 4000), ("root", 4000, 10_000)]


def test_a_root_without_a_start_begins_with_its_first_child() -> None:
    events = [*ran("root", None, 1000), *ran("child", 300, 600, "root"), *ran("other", 700, 900, "root")]
    assert path(events)[0] == ("child", 300, 600)


def test_a_child_without_any_start_is_left_out() -> None:
    assert path([*ran("root", 0, 1000), *ran("child", None, 600, "root")]) == [("root", 0, 1000)]


def test_a_root_of_which_no_time_is_known_has_no_path() -> None:
    assert path(ran("root", None, None)) == []
    assert path(ran("root", 100, None), now=50) == []


def test_an_end_before_the_start_takes_no_time_and_breaks_nothing() -> None:
    assert path(ran("root", 900, 100)) == []
    assert path([*ran("root", 0, 1000), *ran("child", 800, 200, "root")]) == [("root", 0, 1000)]


def test_the_pieces_of_a_delegation_are_found_by_its_handle() -> None:
    found = CriticalPath(
        (Piece(0, Millis(0), Millis(1)), Piece(1, Millis(1), Millis(2)), Piece(0, Millis(2), Millis(3)))
    )
    assert found.by_delegation() == {0: (found.pieces[0], found.pieces[2]), 1: (found.pieces[1],)}
    assert (found.start, found.end) == (0, 3)


def test_a_chain_deeper_than_any_stack() -> None:
    depth = 3_000
    events: list[Event] = ran("root", 0, 2 * depth + 1)
    parent = "root"
    for level in range(1, depth):
        events += ran(f"n{level}", level, 2 * depth + 1 - level, parent)
        parent = f"n{level}"
    found = path(events, now=4 * depth)
    assert len(found) == 2 * depth - 1
    assert found[depth - 1][0] == parent


def test_very_many_children_of_one_parent() -> None:
    width = 20_000
    events: list[Event] = ran("root", 0, 10 * width)
    for number in range(width):
        events += ran(f"n{number}", 10 * number, 10 * number + 9, "root")
    found = critical_path(forest_of(events, 20 * width), 0).pieces
    assert len(found) == 2 * width
    assert found[:2] == (Piece(1, Millis(0), Millis(9)), Piece(0, Millis(9), Millis(10)))
