"""What delegations used, by model: the same in any order and any number of times, and what it costs."""

from itertools import permutations

import pytest
from tests.telling import at, forest_at, place, started

from delegtop.model.events import Event, Heard
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.prices import PriceBook, Rates
from delegtop.model.usage import Usage

POLICY = Policy(prices=PriceBook({"a": Rates(1, 2, 0.1, 1.25, 2), "b": Rates(10, 20, 1, 12.5, 20)}))
MILLION = 1_000_000


def used(*usages: Usage, id: str = "a", cost: float | None = None, whole: bool = False) -> Heard:
    return Heard(id, at(1), place(), cost=cost, used=usages or None, whole=whole)


def grown(*events: Event) -> Forest:
    return forest_at(at(2), events, POLICY)


def test_what_was_used_of_several_models_is_kept_apart_and_told_again_adds_nothing() -> None:
    less, more, other = Usage("a", 10, 5), Usage("a", 30, 5, 7), Usage("b", 1)
    long, fast = Usage("a", 2, over=200_000), Usage("a", 3, fast=True)
    told = [used(less), used(more, other), used(less, long), used(fast)]
    for events in permutations(told):
        facts = grown(started(), *events, *events).delegation(0)
        assert facts.usage == (more, fast, long, other)


def test_dollars_that_nobody_told_are_those_of_the_prices_and_say_so() -> None:
    forest = grown(started(), used(Usage("a", MILLION, MILLION), Usage("b", 0, 0, MILLION)))
    facts, spent = forest.delegation(0), forest.used(0)
    assert (facts.cost, facts.cost_estimated) == (4.0, True)
    assert (spent.cost, spent.is_estimate) == (4.0, True)


def test_told_dollars_go_before_the_prices() -> None:
    facts = grown(started(), used(Usage("a", MILLION), cost=0.5)).delegation(0)
    assert (facts.cost, facts.cost_estimated) == (0.5, False)


def test_a_model_without_a_price_leaves_the_dollars_open() -> None:
    facts = grown(started(), used(Usage("a", MILLION), Usage("nobody knows", 1))).delegation(0)
    assert (facts.cost, facts.cost_estimated, len(facts.usage)) == (None, False, 2)


def test_another_moment_of_a_recording_has_its_own_sums_and_goes_on_from_there() -> None:
    forest = grown(started(), used(Usage("a", 10)))
    then = forest.freeze()
    forest.apply([used(Usage("a", 99), Usage("b", 1)), started("z"), used(Usage("b", 5), id="z")])
    again = then.thaw()
    assert again.delegation(0).usage == (Usage("a", 10),)
    again.apply([used(Usage("b", 2)), used(Usage("a", 11))])
    assert again.delegation(0).usage == (Usage("a", 11), Usage("b", 2))
    assert forest.delegation(0).usage == (Usage("a", 99), Usage("b", 1))
    assert forest.delegation(1).usage == (Usage("b", 5),)
    assert again.used(0).cost == pytest.approx(31 / MILLION), "by the same prices"
