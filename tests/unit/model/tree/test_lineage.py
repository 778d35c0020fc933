"""Parents: declared, inferred by path and time, or ambiguous; never a circle."""

from random import Random
from typing import Any

import pytest
from tests.telling import forest_at, handle_of, place

from delegtop.base.clock import SECOND, Millis
from delegtop.model.delegation import Link
from delegtop.model.events import Ended, Ending, Event, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Ledger

COMMAND = ("orchestrator", "implement")
EXECUTOR = (*COMMAND, "executor")
IMPLEMENTER = (*EXECUTOR, "implementer")


def started(id: str, seconds: int = 0, path: tuple[str, ...] | None = None, **fields: Any) -> Started:
    return Started(id, Millis(seconds * SECOND), place(), path=path, **fields)


def ended(id: str, seconds: int) -> Ended:
    return Ended(id, Millis(seconds * SECOND), place(), Outcome.COMPLETED, Ending.RETURN)


def links(*events: Event) -> dict[str, tuple[str | None, Link]]:
    forest = Forest()
    for event in events:
        forest.apply([event])
    forest.advance(Millis(1000 * SECOND))
    return family(forest)


def family(forest: Forest) -> dict[str, tuple[str | None, Link]]:
    names = {handle: forest.delegation(handle).id for handle in forest.walk()}
    return {
        name: (names[parent] if (parent := forest.parent(handle)) is not None else None, forest.link(handle))
        for handle, name in names.items()
    }


def test_a_named_parent_is_explicit_even_if_it_is_seen_later() -> None:
    assert links(started("b", 1, parent="a"), started("a"))["b"] == ("a", Link.EXPLICIT)


def test_a_named_parent_that_is_never_seen_leaves_the_child_at_the_top() -> None:
    assert links(started("b", parent="a"))["b"] == (None, Link.EXPLICIT)


def test_the_open_delegation_on_the_path_above_is_the_inferred_parent() -> None:
    found = links(started("a", 0, EXECUTOR), started("b", 5, IMPLEMENTER))
    assert found == {"a": (None, Link.ROOT), "b": ("a", Link.INFERRED)}


def test_the_parent_may_be_read_after_its_child() -> None:
    assert links(started("b", 5, IMPLEMENTER), started("a", 0, EXECUTOR))["b"] == ("a", Link.INFERRED)


def test_a_path_that_leaves_out_the_agent_itself_is_completed() -> None:
    found = links(started("a", 0, EXECUTOR), started("b", 5, EXECUTOR, agent="implementer"))
    assert found["b"] == ("a", Link.INFERRED)


def test_one_that_ended_before_is_no_parent() -> None:
    found = links(started("a", 0, EXECUTOR), ended("a", 3), started("b", 5, IMPLEMENTER))
    assert found["b"] == (None, Link.ROOT)


def test_an_end_read_late_takes_the_link_back() -> None:
    found = links(started("a", 0, EXECUTOR), started("b", 5, IMPLEMENTER), ended("a", 3))
    assert found["b"] == (None, Link.ROOT)


def test_two_that_fit_make_it_ambiguous_and_the_later_is_drawn() -> None:
    found = links(started("a1", 0, EXECUTOR), started("a2", 2, EXECUTOR), started("b", 5, IMPLEMENTER))
    assert found["b"] == ("a2", Link.AMBIGUOUS)


def test_the_task_tells_two_apart() -> None:
    found = links(
        started("a1", 0, EXECUTOR, task="191"),
        started("a2", 2, EXECUTOR, task="195"),
        started("b", 5, IMPLEMENTER, task="191"),
    )
    assert found["b"] == ("a1", Link.INFERRED)


def test_a_gap_in_the_path_is_bridged_to_the_nearest_above() -> None:
    assert links(started("a", 0, COMMAND), started("b", 5, IMPLEMENTER))["b"] == ("a", Link.INFERRED)


def test_of_two_that_started_together_the_shorter_path_is_the_parent() -> None:
    found = links(started("z", 5, EXECUTOR), started("b", 5, IMPLEMENTER))
    assert found["b"] == ("z", Link.INFERRED)


def test_a_circle_of_named_parents_is_opened_at_its_least_id() -> None:
    circle = [started("c", parent="b"), started("b", parent="a"), started("a", parent="c")]
    for turn in range(3):
        found = links(*circle[turn:], *circle[:turn])
        assert found == {"a": (None, Link.EXPLICIT), "b": ("a", Link.EXPLICIT), "c": ("b", Link.EXPLICIT)}


def test_one_that_names_itself_is_at_the_top() -> None:
    assert links(started("a", parent="a"))["a"] == (None, Link.EXPLICIT)


def test_depth_far_beyond_any_recursion_limit_is_walked() -> None:
    forest = forest_at(0, [started(f"d{n:05d}", n, parent=f"d{n - 1:05d}" if n else None) for n in range(5000)])
    assert len(list(forest.walk())) == 5000
    deepest = handle_of(forest, "d04999")
    assert forest.level(deepest) == 4999


def a_crowd(chance: Random) -> list[Event]:
    """Some hundred on a few paths: some name a parent, who may be anybody, and some have ended."""
    names = [f"d{number}" for number in range(200)]
    told: list[Event] = []
    for name in names:
        path = chance.choice([None, COMMAND, EXECUTOR, IMPLEMENTER, (*EXECUTOR, "tester")])
        parent = chance.choice([None, None, chance.choice(names), "nobody"])
        begin = chance.randrange(400)
        told.append(started(name, begin, path, parent=parent, task=chance.choice([None, "1"])))
        if chance.random() < 0.5:
            told.append(ended(name, begin + chance.randrange(60)))
    chance.shuffle(told)
    return told


@pytest.mark.parametrize("seed", range(12))
def test_a_crowd_has_the_same_family_told_at_once_or_one_by_one(seed: int) -> None:
    told = a_crowd(Random(seed))
    cut = Random(seed).randrange(len(told))
    whole, ledger = Forest(), Ledger()
    whole.apply(told)
    whole.advance(Millis(1000 * SECOND))
    ledger.apply(told[:cut], set(), set(), set(), set())
    absorbed = Forest()
    absorbed.absorb(ledger)
    for event in told[cut:]:
        absorbed.apply([event])
    absorbed.advance(Millis(1000 * SECOND))
    assert links(*told) == family(whole) == family(absorbed)
    assert {whole.id(handle): sure(whole, handle) for handle in range(len(whole))} == {
        absorbed.id(handle): sure(absorbed, handle) for handle in range(len(absorbed))
    }


def sure(forest: Forest, handle: int) -> list[str]:
    return [forest.id(each) for each in forest.candidates(handle)]
