"""A frozen store keeps its moment, shares what did not change, and goes on from there without touching it."""

from array import array
from typing import Any

import pytest
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Heard, Started
from delegtop.model.forest import Forest
from delegtop.model.store.frozen import PIECE, Borrowed, Freezer, Numbers, thaw


@pytest.mark.parametrize(
    "value",
    [
        array("q", range(3 * PIECE + 5)),
        array("b"),
        [None, "x", (1, 2)] * PIECE,
        [],
        {"a": 1, "b": 2},
        {1: {"x": 1}, 2: {"y": 2}},
        {("a",): array("i", [1, 2])},
        {"a": {1, 2}},
        {1, 2, 3},
        set(),
        7,
        None,
    ],
)
def test_what_is_thawed_is_equal_and_another(value: Any) -> None:
    frozen = Freezer().freeze(value)
    again = thaw(frozen)
    assert again == value
    assert type(again) is type(value)
    if isinstance(value, array | list):
        again.append(again[0] if again else 1)
        assert thaw(frozen) == value


def test_a_piece_that_did_not_change_is_the_same_in_both_moments_and_costs_nothing() -> None:
    column = array("q", range(4 * PIECE))
    before = Freezer().freeze(column)
    column[PIECE + 1] = -1
    freezer = Freezer()
    after = freezer.freeze(column, before)
    assert [new is old for new, old in zip(after.pieces, before.pieces, strict=True)] == [True, False, True, True]
    assert freezer.spent == 8 * PIECE
    assert thaw(before)[PIECE + 1] == PIECE + 1
    assert Freezer().freeze(column, after) is after


def test_what_was_not_touched_is_not_even_looked_at() -> None:
    store = {1: {"x": 1}, 2: {"y": 2}}
    before = Freezer().freeze(store)
    store[1]["x"], store[2]["y"] = 10, 20
    after = Freezer(touched={2}).freeze(store, before)
    assert thaw(after) == {1: {"x": 1}, 2: {"y": 20}}


def test_what_cannot_be_frozen_is_said_and_not_shared() -> None:
    with pytest.raises(TypeError, match="bytearray cannot be frozen"):
        Freezer().freeze(bytearray(b"x"))


@pytest.mark.parametrize("length", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
@pytest.mark.parametrize("more", [0, 1, PIECE, 2 * PIECE + 3])
def test_a_borrowed_column_does_what_its_own_would_and_leaves_the_frozen_one_alone(length: int, more: int) -> None:
    own = array("q", range(length))
    frozen = Freezer().freeze(own)
    borrowed = Borrowed(frozen)
    for column in (own, borrowed):
        column.extend([5] * more)
        column.append(9)
        column[0] = -3
        column[length // 2] = -4
    assert len(borrowed) == len(own)
    assert list(borrowed) == list(own)
    assert [borrowed[index] for index in range(len(own))] == list(own)
    assert list(thaw(frozen)) == list(range(length))


def test_numbers_know_only_the_names_of_their_moment_and_learn_others_for_themselves() -> None:
    known = {"a": 0, "b": 1, "c": 2}
    numbers = Numbers(known, 2)
    assert (numbers.get("a"), numbers.get("c"), numbers.get("d")) == (0, None, None)
    numbers["d"] = 2
    assert numbers.get("d") == 2
    assert "d" not in known


def origin(line: int) -> Origin:
    return Origin("log", line, 0)


def test_a_checkpoint_stays_as_it_was_whatever_is_done_with_the_forest_or_with_what_it_was_thawed_to() -> None:
    forest = forest_at(3, [Started("a", Millis(1), origin(1)), Heard("a", Millis(2), origin(2), "first")])
    checkpoint = forest.freeze()
    forest.apply([Heard("a", Millis(4), origin(3), "second"), Started("b", Millis(4), origin(4), parent="a")])
    forest.advance(Millis(5))
    branch = checkpoint.thaw()
    branch.apply([Heard("a", Millis(9), origin(5), "elsewhere"), Started("c", Millis(9), origin(6), parent="a")])
    branch.advance(Millis(9))
    again = checkpoint.thaw()
    assert (len(again), again.delegation(0).doing, again.shown_at, again.find("b")) == (1, "first", 3, None)
    assert (branch.delegation(0).doing, branch.find("c"), branch.children(0)) == ("elsewhere", 1, [1])
    assert (forest.delegation(0).doing, forest.find("b"), forest.find("c")) == ("second", 1, None)


def test_a_forest_that_becomes_another_gives_out_no_version_again_and_its_heir_goes_on() -> None:
    forest, other = Forest(), Forest()
    for each, doing in ((forest, "here"), (other, "there")):
        each.apply([Heard("a", Millis(1), origin(1), doing)])
        each.advance(Millis(2))
    version = forest.version(0)
    heir = forest.leave()
    forest.become(other)
    assert forest.delegation(0).doing == "there"
    assert forest.version(0) != version
    assert heir.delegation(0).doing == "here"
