"""What is told again of delegations makes another ledger know the same of them."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.histories import distinct, events, here, moment
from tests.property.test_ledger_order import picture

from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.store.retelling import listed, retold

NOW = moment(22)


def all_told(forest: Forest) -> list[Event]:
    ((trees, _),) = forest.by_host()
    ledger = trees.stores[0]
    return [*(event for handle in ledger for event in retold(ledger, handle)), *listed(ledger)]


def of(batch: list[Event]) -> Forest:
    forest = Forest()
    forest.apply(batch)
    forest.advance(NOW)
    return forest


@settings(max_examples=150)
@given(st.lists(events, max_size=20), st.randoms(use_true_random=False))
def test_gives_the_same_forest_in_any_order(batch: list[Event], random: Any) -> None:
    forest = of(distinct(here(batch)))
    again = all_told(forest)
    random.shuffle(again)
    assert picture(of(again)) == picture(forest)
